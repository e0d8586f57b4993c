//! How far the numbers can be trusted, in numbers.

use proust_profile::{Ns, Quality};

use super::log::LogHarvest;
use super::thread::Closing;

/// All of [`Quality`] but its notes.
pub(super) fn quality(logs: &[LogHarvest]) -> Quality {
    let mut quality = Quality::default();
    let (mut cpu_ns, mut dropped_samples) = (0_u64, 0_u64);
    let (mut clocks_ns, mut differences_ns) = (0_u64, 0_u64);
    for log in logs {
        let header = &log.header;
        for thread in log.threads() {
            quality.samples += thread.samples;
            quality.partial_paths += thread.partial;
            quality.implausible_records = quality.implausible_records.saturating_add(thread.implausible);
            quality.late_samples += thread.late;
            quality.tick_samples += thread.at_tick;
            quality.overruns = quality.overruns.saturating_add(thread.overruns);
            quality.events = quality.events.saturating_add(thread.events.operations);
            dropped_samples = dropped_samples.saturating_add(thread.unrecorded_samples);
        }
        for lane in &log.lanes {
            quality.dropped = quality.dropped.saturating_add(lane.unrecorded_operations);
        }
        dropped_samples = dropped_samples.saturating_add(header.lost_thread_ends);
        quality.skipped_samples = quality.skipped_samples.saturating_add(header.skipped_samples);
        quality.paths_compared = quality.paths_compared.saturating_add(header.paths_compared);
        quality.path_mismatches = quality.path_mismatches.saturating_add(header.path_mismatches);
        quality.log_bytes += log.bytes;
        quality.damaged_bytes += log.damage.skipped_bytes;
        let weights = log.weights;
        quality.measurement += Ns::of(weights.measurement_ns);
        cpu_ns = cpu_ns.saturating_add(weights.all_ns);
        let unnamed_ns = log.unnamed_cpu_ns();
        quality.lost_records += Ns::of(weights.lost_ns);
        quality.unrecorded += Ns::of(weights.unrecorded_ns.saturating_add(unnamed_ns));
        if let Some(process_ns) = log.process_cpu_ns() {
            let clock_ns = log.threads().fold(0_u64, |sum, thread| sum.saturating_add(thread.clock_ns));
            if clock_ns > 0 {
                let residual = clock_ns.abs_diff(weights.all_ns) as f64 / clock_ns as f64;
                quality.cpu_residual = quality.cpu_residual.max(residual);
            }
            clocks_ns = clocks_ns.saturating_add(process_ns);
            let difference = weights.all_ns.saturating_add(unnamed_ns).abs_diff(process_ns);
            differences_ns = differences_ns.saturating_add(difference);
        }
    }
    quality.dropped = quality.dropped.saturating_add(dropped_samples);
    if cpu_ns > 0 {
        let taken = quality.samples.saturating_add(dropped_samples);
        quality.delivered_rate = taken as f64 / Ns::of(cpu_ns).as_seconds();
    }
    if clocks_ns > 0 {
        quality.process_residual = differences_ns as f64 / clocks_ns as f64;
    }
    complete(&mut quality, 0);
    quality
}

/// So many samples more have a complete path.
pub(super) fn complete(quality: &mut Quality, more: u64) {
    quality.partial_paths = quality.partial_paths.saturating_sub(more);
    quality.complete_paths = match quality.samples {
        0 => 1.0,
        samples => 1.0 - quality.partial_paths as f64 / samples as f64,
    };
}

/// Threads of a log whose record ended in this way.
pub(super) fn closed(log: &LogHarvest, closing: Closing) -> usize {
    log.threads().filter(|thread| thread.closing == closing).count()
}
