//! Synchronisations, each as one of its members saw it.

use super::{from_optional, narrow, optional};
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// A location's part in a synchronisation: a fork, a barrier, a region's end, a collective. The parts with
/// the same (group, instance) are one synchronisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synchronisation {
    /// When the location arrived, ns.
    pub arrival_ns: u64,
    /// When it departed, ns.
    pub departure_ns: u64,
    /// Where in the program.
    pub site: u32,
    /// The communicator or team, by the caller's numbers.
    pub group: u64,
    /// Which synchronisation of the group, counted from its first.
    pub instance: u64,
    /// How many locations take part; 0 = not known.
    pub members: u32,
    /// The location that arrived last, once that is known.
    pub last: Option<u32>,
    /// What it is, by the caller's numbers.
    pub class: u8,
}

impl Record for Synchronisation {
    const KIND: Kind = Kind(6);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Exclusive;
    const COLUMNS: &'static [Column] = &[
        Column::Dictionary, // site
        Column::Dictionary, // group
        Column::Difference, // instance
        Column::Dictionary, // members
        Column::Dictionary, // last
        Column::Dictionary, // class
    ];

    #[inline]
    fn begin_ns(&self) -> u64 {
        self.arrival_ns
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.departure_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = u64::from(self.site);
        values[1] = self.group;
        values[2] = self.instance;
        values[3] = u64::from(self.members);
        values[4] = optional(self.last.map(u64::from));
        values[5] = u64::from(self.class);
    }

    #[inline]
    fn load(begin_ns: u64, end_ns: u64, values: &[u64; MAX_COLUMNS]) -> Option<Synchronisation> {
        let last = match from_optional(values[4]) {
            Some(last) => Some(narrow(last)?),
            None => None,
        };
        Some(Synchronisation {
            arrival_ns: begin_ns,
            departure_ns: end_ns,
            site: narrow(values[0])?,
            group: values[1],
            instance: values[2],
            members: narrow(values[3])?,
            last,
            class: narrow(values[5])?,
        })
    }
}
