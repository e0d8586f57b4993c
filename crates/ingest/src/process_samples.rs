//! Samples of whole processes, from the records of all lanes.

use proust_log::records::{PROCESS_SAMPLE_ASKED_PROC, ProcessSample, SampleReason, Subject};
use proust_profile::{ProcessId, ProcessSampleRow};

use super::clock::RunClock;
use super::log::LogHarvest;

/// The samples of process number `number`, by time.
pub(super) fn rows(number: usize, log: &LogHarvest, clock: &RunClock) -> Vec<ProcessSampleRow> {
    let mut rows: Vec<ProcessSampleRow> = Vec::new();
    for lane in &log.lanes {
        for (reason, asked, sample) in &lane.process_samples {
            let Some(reason) = SampleReason::from_number(*reason) else { continue };
            let label = lane.texts.of(Subject::SampleLabel).find(|text| text.id == sample.label);
            let asked_proc = asked & PROCESS_SAMPLE_ASKED_PROC != 0;
            rows.push(ProcessSampleRow {
                process: ProcessId::from_index(number),
                time_ns: clock.since_start_ns(number, sample.time_ns),
                reason: reason.id().into(),
                label: label.filter(|_| sample.label != 0).map(|text| text.text()).unwrap_or_default(),
                ..row(sample, asked_proc)
            });
        }
    }
    rows.sort_by_key(|row| row.time_ns);
    rows
}

fn row(sample: &ProcessSample, asked_proc: bool) -> ProcessSampleRow {
    let asked = |value: u64| asked_proc.then_some(value);
    let asked32 = |value: u32| asked_proc.then_some(value);
    ProcessSampleRow {
        cpu_ns: sample.cpu_ns,
        user_ns: sample.user_us.saturating_mul(1000),
        system_ns: sample.system_us.saturating_mul(1000),
        minor_faults: sample.minor_faults,
        major_faults: sample.major_faults,
        voluntary_switches: sample.voluntary_switches,
        involuntary_switches: sample.involuntary_switches,
        peak_resident_bytes: sample.peak_resident_bytes,
        resident_bytes: asked(sample.resident_bytes),
        read_bytes: asked(sample.read_bytes),
        written_bytes: asked(sample.written_bytes),
        read_by_calls_bytes: asked(sample.read_by_calls_bytes),
        written_by_calls_bytes: asked(sample.written_by_calls_bytes),
        read_calls: asked(sample.read_calls),
        write_calls: asked(sample.write_calls),
        threads: asked32(sample.threads),
        runnable: asked32(sample.runnable),
        load_milli: asked32(sample.load_milli),
        frequency_khz: asked32(sample.frequency_khz).filter(|&khz| khz != 0),
        temperature_milli: asked32(sample.temperature_milli).filter(|&milli| milli != 0),
        ..ProcessSampleRow::default()
    }
}
