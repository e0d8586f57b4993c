//! The parallel regions of all processes, and the work in them.

use std::collections::BTreeMap;

use proust_profile::{
    ContextId, LocationId, OperationId, ProcessId, Profile, RegionId, RegionInfo, SegmentRow, StayRow,
};
use rustc_hash::FxHashMap;

use super::log::LogHarvest;
use super::paths::{LaneContexts, Paths};

/// Regions in the making.
#[derive(Default)]
pub(super) struct Regions {
    regions: Vec<RegionInfo>,
    /// By log and the process's number.
    ids: FxHashMap<(usize, u32), RegionId>,
    known: FxHashMap<RegionInfo, RegionId>,
    segments: BTreeMap<(LocationId, RegionId, OperationId, ContextId), SegmentRow>,
    stays: Vec<StayRow>,
}

impl Regions {
    /// Finds the places of a log's regions; outer ones are first.
    pub(super) fn find(
        &mut self,
        paths: &mut Paths<'_>,
        log_number: usize,
        log: &LogHarvest,
        contexts: &mut [LaneContexts],
    ) {
        let of_lanes = log.lanes.iter().enumerate();
        let mut all: Vec<_> = of_lanes
            .flat_map(|(lane, harvest)| harvest.regions.iter().map(move |raw| (raw.id, lane, *raw)))
            .collect();
        all.sort_by_key(|&(id, lane, _)| (id, lane));
        all.dedup_by_key(|&mut (id, ..)| id);
        for (id, lane, raw) in all {
            let (Some(harvest), Some(contexts)) = (log.lanes.get(lane), contexts.get_mut(lane)) else {
                continue;
            };
            let info = RegionInfo {
                process: ProcessId::from_index(log_number),
                context: paths.region(contexts, log_number, &harvest.nodes, &raw),
                parent: self.ids.get(&(log_number, raw.parent)).copied(),
                told: raw.told,
            };
            let regions = &mut self.regions;
            let region = *self.known.entry(info).or_insert_with(|| {
                regions.push(info);
                RegionId::from_index(regions.len() - 1)
            });
            self.ids.insert((log_number, id), region);
        }
    }

    /// Adds work and waits at a site; its region is the process's number.
    pub(super) fn segment(&mut self, log: usize, row: SegmentRow) {
        let Some(&region) = self.ids.get(&(log, row.region.0)) else { return };
        let key = (row.location, region, row.operation, row.context);
        let sum = self.segments.entry(key).or_insert(SegmentRow {
            location: row.location,
            region,
            operation: row.operation,
            context: row.context,
            team_min: row.team_min,
            ..SegmentRow::default()
        });
        sum.executions = sum.executions.saturating_add(row.executions);
        sum.unmeasured = sum.unmeasured.saturating_add(row.unmeasured);
        sum.known = sum.known.saturating_add(row.known);
        sum.last = sum.last.saturating_add(row.last);
        // Of one thread and site: the measured instances are drawn independently for each record.
        sum.wait_error_ns = (sum.wait_error_ns as f64).hypot(row.wait_error_ns as f64) as u64;
        sum.contended = sum.contended.saturating_add(row.contended);
        sum.work_ns = sum.work_ns.saturating_add(row.work_ns);
        sum.wait_ns = sum.wait_ns.saturating_add(row.wait_ns);
        sum.latency_ns = sum.latency_ns.saturating_add(row.latency_ns);
        sum.spreads = sum.spreads.saturating_add(row.spreads);
        sum.spread_ns = sum.spread_ns.saturating_add(row.spread_ns);
        sum.iterations = sum.iterations.saturating_add(row.iterations);
        sum.added_ns = sum.added_ns.saturating_add(row.added_ns);
        sum.added_error_ns = sum.added_error_ns.saturating_add(row.added_error_ns);
        sum.added_behind_ns = sum.added_behind_ns.saturating_add(row.added_behind_ns);
        sum.trials += &row.trials;
        // 0 = not known.
        sum.team_min = match (sum.team_min, row.team_min) {
            (0, other) | (other, 0) => other,
            (a, b) => a.min(b),
        };
        sum.team_max = sum.team_max.max(row.team_max);
    }

    /// Adds a stay; its region is the process's number.
    pub(super) fn stay(&mut self, log: usize, row: StayRow) {
        if let Some(&region) = self.ids.get(&(log, row.region.0)) {
            self.stays.push(StayRow { region, ..row });
        }
    }

    pub(super) fn give_to(self, profile: &mut Profile) {
        profile.regions = self.regions.into();
        profile.segments = self.segments.into_values().collect();
        profile.stays = self.stays.into();
    }
}
