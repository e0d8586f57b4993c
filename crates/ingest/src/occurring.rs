//! The operations that occur in a run: only these get a number in its profile.

use proust_log::operations::OPERATIONS;
use proust_profile::{OperationId, OperationInfo};
use rustc_hash::FxHashSet;

use super::log::LogHarvest;
use super::operations;

/// Numbers for them, in the order of the log's numbers.
pub(super) fn numbers(logs: &[LogHarvest]) -> Vec<Option<OperationId>> {
    let mut numbers = vec![None; OPERATIONS];
    for log in logs {
        let regions: FxHashSet<u32> =
            log.lanes.iter().flat_map(|lane| &lane.regions).map(|region| region.id).collect();
        for thread in log.threads() {
            let events = thread.events.rows.iter().map(|event| event.row.operation);
            let releases = thread.releases.iter().map(|release| release.row.operation);
            // Those of a region without a record are of no use.
            let segments = thread.in_regions.segments.iter().map(|segments| segments.row);
            let segments = segments.filter(|row| regions.contains(&row.region.0)).map(|row| row.operation);
            let inside = thread.events.inside.iter().flat_map(|row| [row.operation, row.outer]);
            for operation in events.chain(releases).chain(segments).chain(inside) {
                if let Some(number) = numbers.get_mut(operation.index()) {
                    *number = Some(OperationId(0));
                }
            }
        }
    }
    for (id, number) in numbers.iter_mut().flatten().enumerate() {
        *number = OperationId::from_index(id);
    }
    numbers
}

/// What they are, by those numbers.
pub(super) fn infos(numbers: &[Option<OperationId>]) -> Vec<OperationInfo> {
    let used = numbers.iter().enumerate().filter(|(_, id)| id.is_some());
    used.map(|(number, _)| operations::info(number)).collect()
}
