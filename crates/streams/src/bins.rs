//! Bins of a picture: exact time by whatever a caller tells apart, in equal stretches of time.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::file::StreamFile;
use crate::lost::Lost;
use crate::record::{Key, Location, Summed};
use crate::source::ReadAt;

/// Where bins lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinsIn {
    /// Begin of the first one, ns.
    pub begin_ns: u64,
    /// How long each is, ns; at least 1.
    pub width_ns: u64,
    /// How many there are.
    pub count: usize,
}

impl BinsIn {
    /// All of them.
    pub fn range_ns(&self) -> Range<u64> {
        let width = self.width_ns.max(1).saturating_mul(self.count as u64);
        self.begin_ns..self.begin_ns.saturating_add(width)
    }
}

/// Time by bin, while it is added up.
pub(crate) struct Bins<K, F> {
    place: BinsIn,
    /// What a key's time counts as; none where it is left out.
    counts_as: F,
    sums: Vec<BTreeMap<K, u128>>,
}

impl<K: Ord, F: Fn(Key) -> Option<K>> Bins<K, F> {
    pub fn new(place: BinsIn, counts_as: F) -> Bins<K, F> {
        let place = BinsIn { width_ns: place.width_ns.max(1), ..place };
        Bins { place, counts_as, sums: (0..place.count).map(|_| BTreeMap::new()).collect() }
    }

    pub fn range_ns(&self) -> Range<u64> {
        self.place.range_ns()
    }

    /// Whether bins of another kind, 2ᵏ ns long from 0 on, fit into these.
    pub fn fits(&self, bin_ns: u64) -> bool {
        self.place.begin_ns.is_multiple_of(bin_ns) && self.place.width_ns.is_multiple_of(bin_ns)
    }

    /// The one bin in which all of a stretch lies.
    pub fn only_bin(&self, begin_ns: u64, end_ns: u64) -> Option<usize> {
        let range_ns = self.range_ns();
        if begin_ns < range_ns.start || end_ns > range_ns.end {
            return None;
        }
        let first = (begin_ns - range_ns.start) / self.place.width_ns;
        let last = (end_ns.max(begin_ns + 1) - 1 - range_ns.start) / self.place.width_ns;
        (first == last && (first as usize) < self.sums.len()).then_some(first as usize)
    }

    /// Adds time to a bin.
    pub fn add(&mut self, bin: usize, key: Key, ns: u128) {
        if ns > 0
            && let Some(as_what) = (self.counts_as)(key)
        {
            *self.sums[bin].entry(as_what).or_default() += ns;
        }
    }

    /// Adds a record to the bins that it overlaps.
    pub fn add_record(&mut self, record: &impl Summed) {
        let range_ns = self.range_ns();
        let (begin_ns, end_ns) = (record.begin_ns().max(range_ns.start), record.end_ns().min(range_ns.end));
        if begin_ns >= end_ns {
            return;
        }
        let width_ns = self.place.width_ns;
        let first = (begin_ns - range_ns.start) / width_ns;
        let last = (end_ns - 1 - range_ns.start) / width_ns;
        for at in first..=last {
            let from_ns = range_ns.start + at * width_ns;
            record.charge(from_ns, from_ns.saturating_add(width_ns), |key, ns| {
                self.add(at as usize, key, u128::from(ns));
            });
        }
    }

    pub fn into_sums(self) -> Vec<BTreeMap<K, u128>> {
        self.sums
    }
}

/// The time of a location in bins, by reading all its records there: what
/// [`Levels::bins_by`](crate::Levels::bins_by) answers. Second, the blocks that could not be read.
pub fn bins_by_scan<R: Summed, S: ReadAt, K: Ord>(
    file: &StreamFile<S>,
    location: Location,
    place: BinsIn,
    counts_as: impl Fn(Key) -> Option<K>,
) -> (Vec<BTreeMap<K, u128>>, Vec<Lost>) {
    let mut bins = Bins::new(place, counts_as);
    let mut lost = Vec::new();
    for record in file.stream::<R>(location).overlapping(bins.range_ns()) {
        match record {
            Ok(record) => bins.add_record(&record),
            Err(one) => lost.push(one),
        }
    }
    (bins.into_sums(), lost)
}
