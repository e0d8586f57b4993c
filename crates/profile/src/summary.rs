//! What the amounts of many locations are together: whole numbers.

use crate::{ContextId, Kind, LocationId};

/// Amounts of locations, summed up: what statistics over all of them are computed of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares; what is larger than 128 bits hold stays at the end of the range.
    pub squares: u128,
    /// The smallest one.
    pub min: u128,
    /// The first location that has it.
    pub min_location: Option<LocationId>,
    /// The largest one.
    pub max: u128,
    /// The first location that has it.
    pub max_location: Option<LocationId>,
}

impl Summary {
    /// Of amounts given for some of the locations, both ascending; the others have nothing.
    pub fn of(given: &[(LocationId, u128)], locations: &[LocationId]) -> Summary {
        let mut running = Running::of(Kind::Sum);
        for &(location, amount) in given {
            if let Ok(place) = locations.binary_search(&location) {
                running.add(place, location, amount);
            }
        }
        running.finish(locations)
    }

    fn enter(&mut self, location: LocationId, amount: u128) {
        let before = |first: Option<LocationId>| first.is_none_or(|first| location < first);
        if self.min_location.is_none() || amount < self.min || amount == self.min && before(self.min_location)
        {
            (self.min, self.min_location) = (amount, Some(location));
        }
        if self.max_location.is_none() || amount > self.max || amount == self.max && before(self.max_location)
        {
            (self.max, self.max_location) = (amount, Some(location));
        }
        self.sum += amount;
        self.squares = self.squares.saturating_add(amount.saturating_mul(amount));
    }

    /// The standard deviation of so many locations as they are, not an estimate for others. Whole numbers
    /// lose no digits where the spread is small.
    pub fn deviation(&self, locations: usize) -> f64 {
        let n = locations as u128;
        let around = || n.checked_mul(self.squares)?.checked_sub(self.sum.checked_mul(self.sum)?);
        match around() {
            _ if n == 0 => 0.0,
            Some(around) => (around as f64).sqrt() / n as f64,
            None => {
                let mean = self.sum as f64 / n as f64;
                (self.squares as f64 / n as f64 - mean * mean).max(0.0).sqrt()
            }
        }
    }
}

/// A summary in the making. Locations are added in ascending order; those that have nothing are left out.
#[derive(Clone, Debug)]
pub struct Running {
    kind: Kind,
    summary: Summary,
    /// The location that was added last, and its amount so far.
    last: Option<(LocationId, u128)>,
    /// How many have something.
    entered: usize,
    /// The place of the first one that has nothing, as far as it is before one that has something.
    gap: Option<usize>,
}

impl Running {
    /// Of amounts of this kind: how several of one location become one.
    pub fn of(kind: Kind) -> Running {
        Running { kind, summary: Summary::default(), last: None, entered: 0, gap: None }
    }

    /// Adds an amount of the location at this place among all; several of one in a row are one.
    pub fn add(&mut self, place: usize, location: LocationId, amount: u128) {
        if amount == 0 {
            return;
        }
        match &mut self.last {
            Some((last, sum)) if *last == location => *sum = self.kind.joined(*sum, amount),
            _ => {
                self.enter_last();
                if place != self.entered && self.gap.is_none() {
                    self.gap = Some(self.entered);
                }
                self.entered += 1;
                self.last = Some((location, amount));
            }
        }
    }

    fn enter_last(&mut self) {
        if let Some((location, amount)) = self.last.take() {
            self.summary.enter(location, amount);
        }
    }

    /// The summary over these locations.
    pub fn finish(mut self, locations: &[LocationId]) -> Summary {
        self.enter_last();
        if let Some(&without) = locations.get(self.gap.unwrap_or(self.entered)) {
            self.summary.enter(without, 0);
        }
        self.summary
    }
}

/// A row of what is kept so that pages about a whole run need no amount of a single location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryRow {
    /// Where in the program.
    pub context: ContextId,
    /// What is counted, by its place among the names of all that is counted.
    pub measure: u32,
    /// Its own amount at all locations.
    pub own: u128,
    /// The inclusive amounts of the locations that compute.
    pub inclusive: Summary,
    /// Their exclusive amounts.
    pub exclusive: Summary,
}

/// The rows, by what is counted and context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryRows {
    /// The names of what is counted.
    pub measures: Vec<String>,
    /// The rows.
    pub rows: Vec<SummaryRow>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_of_many_large_amounts_are_exact() {
        let large = (1_u128 << 62) - 3;
        let given: Vec<(LocationId, u128)> = (0..1_000_000).map(|id| (LocationId(id), large)).collect();
        let locations: Vec<LocationId> = given.iter().map(|(id, _)| *id).collect();
        let summary = Summary::of(&given, &locations);
        assert_eq!(summary.sum, large * 1_000_000);
        assert_eq!((summary.min, summary.max), (large, large));
        assert!(summary.deviation(given.len()) < 1e-3 * large as f64);
    }

    #[test]
    fn a_small_spread_of_large_amounts_keeps_its_digits() {
        let hour_ns = 3_600_000_000_000;
        let given = [(LocationId(0), hour_ns), (LocationId(1), hour_ns + 2)];
        assert_eq!(Summary::of(&given, &[LocationId(0), LocationId(1)]).deviation(2), 1.0);
    }

    proptest! {
        /// As each location by itself, with those that have nothing.
        #[test]
        fn it_is_that_of_the_single_locations(amounts in prop::collection::vec(0..5_u128, 1..9)) {
            let locations: Vec<LocationId> = (0..).take(amounts.len()).map(|id| LocationId(2 * id)).collect();
            let all: Vec<(LocationId, u128)> = locations.iter().copied().zip(amounts).collect();
            let given: Vec<(LocationId, u128)> = all.iter().copied().filter(|of| of.1 > 0).collect();
            let first = |wanted: u128| all.iter().find(|of| of.1 == wanted).map(|of| of.0);
            let amounts = || all.iter().map(|of| of.1);
            let (min, max) = (amounts().min().unwrap(), amounts().max().unwrap());
            let expected = Summary {
                sum: amounts().sum(),
                squares: amounts().map(|amount| amount * amount).sum(),
                min,
                min_location: first(min),
                max,
                max_location: first(max),
            };
            prop_assert_eq!(Summary::of(&given, &locations), expected);
        }
    }
}
