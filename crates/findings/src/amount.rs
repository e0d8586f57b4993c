//! Numbers with their units, as evidence of findings and in comparisons with thresholds.

use proust_profile::Ns;
use serde::{Deserialize, Serialize};

/// How much of something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// A time.
    Time(Ns),
    /// A number of things, or of things for each of others.
    Count(f64),
    /// Bytes.
    Bytes(f64),
    /// How often in a second.
    Rate(f64),
    /// A part of a whole, 0 to 1.
    Share(f64),
}

impl Amount {
    /// Its unit, as people read it.
    pub const fn unit(self) -> &'static str {
        match self {
            Amount::Time(_) => "s",
            Amount::Count(_) => "count",
            Amount::Bytes(_) => "bytes",
            Amount::Rate(_) => "1/s",
            Amount::Share(_) => "share",
        }
    }

    /// The number in this unit.
    pub fn in_unit(self) -> f64 {
        match self {
            Amount::Time(time) => time.as_seconds(),
            Amount::Count(number) | Amount::Bytes(number) | Amount::Rate(number) | Amount::Share(number) => {
                number
            }
        }
    }
}

/// What can be compared with a threshold: times with times, numbers with numbers.
pub trait Comparable: Copy + PartialOrd {
    /// It with the unit of `like`.
    fn amount(self, like: Amount) -> Amount;
}

impl Comparable for Ns {
    fn amount(self, _: Amount) -> Amount {
        Amount::Time(self)
    }
}

impl Comparable for f64 {
    fn amount(self, like: Amount) -> Amount {
        match like {
            Amount::Time(_) | Amount::Count(_) => Amount::Count(self),
            Amount::Bytes(_) => Amount::Bytes(self),
            Amount::Rate(_) => Amount::Rate(self),
            Amount::Share(_) => Amount::Share(self),
        }
    }
}
