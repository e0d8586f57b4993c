//! How many locations are explained at once: in memory is what explains each of them, for as many as there
//! are threads of the analysis, but for those with so many operations that two would be too much.

use std::ops::Range;

use proust_profile::{LocationId, Profile};
use rayon::prelude::*;

/// What explains a location takes about so many bytes for an operation (with the encoded states that are made
/// of it) and for a sample, measured at runs of 10⁷ and 10⁸ waits.
const OPERATION_BYTES: u64 = 40;
const SAMPLE_BYTES: u64 = 350;

/// Memory for all locations that are explained at once, bytes. One that needs more has it all the same, and
/// is alone.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce(pub u64);

impl Default for AtOnce {
    /// As much as there is.
    fn default() -> AtOnce {
        AtOnce(u64::MAX)
    }
}

impl AtOnce {
    /// Makes something of each of some locations, and answers that in their order.
    pub(super) fn of_each<T: Send>(
        self,
        profile: &Profile,
        locations: Range<usize>,
        made: impl Fn(LocationId) -> T + Sync,
    ) -> Vec<T> {
        let part_bytes = self.0 / rayon::current_num_threads() as u64;
        let is_heavy = |id: LocationId| {
            let bytes_of = |rows: usize, bytes: u64| (rows as u64).saturating_mul(bytes);
            let operations_bytes = bytes_of(profile.events.count_of(id), OPERATION_BYTES);
            operations_bytes.saturating_add(bytes_of(profile.samples.count_of(id), SAMPLE_BYTES)) > part_bytes
        };
        let light = |id: usize| {
            let id = LocationId::from_index(id);
            (!is_heavy(id)).then(|| made(id))
        };
        let first = locations.start;
        let done: Vec<Option<T>> = locations.into_par_iter().map(light).collect();
        let rest = |(number, done): (usize, Option<T>)| {
            done.unwrap_or_else(|| made(LocationId::from_index(first + number)))
        };
        done.into_iter().enumerate().map(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proust_profile::{EventRow, Location};

    use super::*;

    #[test]
    fn those_with_most_operations_are_alone_and_all_are_in_order() {
        let heavy = [LocationId(2), LocationId(5)];
        let row = |location: LocationId, end_ns| EventRow { location, end_ns, ..EventRow::default() };
        let rows = |id: u32| {
            let count = if heavy.contains(&LocationId(id)) { 100 } else { 10 };
            (0..count).map(move |end_ns| row(LocationId(id), end_ns))
        };
        let profile = Profile {
            locations: vec![Location::default(); 8].into(),
            events: (0..8).flat_map(rows).collect(),
            ..Profile::default()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let (working, together) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let made = |id: LocationId| {
            let others = working.fetch_add(1, Ordering::SeqCst);
            if others > 0 && heavy.contains(&id) {
                together.fetch_add(1, Ordering::SeqCst);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
            working.fetch_sub(1, Ordering::SeqCst);
            id.index() * 3
        };
        for range in [0..8, 3..6, 7..7] {
            let limit = AtOnce(4 * 50 * OPERATION_BYTES);
            let found = pool.install(|| limit.of_each(&profile, range.clone(), made));
            assert_eq!(found, range.map(|id| id * 3).collect::<Vec<_>>());
        }
        assert_eq!(together.into_inner(), 0);
    }
}
