//! What the collector spent in each sample, and what the records take: for the benchmarks.
//!
//! `cargo run --release -p proust-log --example own_time LOG…`
//!
//! Prints one JSON object per log: facts of the header, records and bytes by kind (shapes and bases with the
//! record for which they were written), the time to read them, and
//! for every lane its samples as `[time_ns, cpu_ns, depth, own_ns, flags]`. `own_ns` is what *this* sample's
//! handler took, which the collector writes into the thread's next sample; the last sample of a thread has
//! none.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

use proust_log::layout::UNIT_BYTES;
use proust_log::records::Sample;
use proust_log::{Log, Record};

fn kind_of(record: &Record) -> &'static str {
    match record {
        Record::ThreadBegin(..) => "thread_begin",
        Record::ThreadEnd(_) => "thread_end",
        Record::Node(_) => "node",
        Record::Sample(..) => "sample",
        Record::Module(..) => "module",
        Record::ModuleEnd(_) => "module_end",
        Record::Text { .. } => "text",
        Record::SchedStat(_) => "sched_stat",
        Record::Child(..) => "child",
        Record::Note(..) => "note",
        Record::Event(..) => "event",
        Record::Sum(..) => "sum",
        Record::Release(..) => "release",
        Record::Stay(..) => "stay",
        Record::Segments(..) => "segments",
        _ => "other",
    }
}

fn describe(bytes: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let log = Log::parse(bytes)?;
    let begin = Instant::now();
    let read: usize = log.lanes.iter().map(|lane| lane.records().count()).sum();
    let read_ns = begin.elapsed().as_nanos();

    let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut lanes = Vec::new();
    let (mut thread_ends, mut cpu_ns) = (0_u64, 0_u64);
    for lane in &log.lanes {
        let mut depths = vec![0_u32];
        let mut samples: Vec<(Sample, u16, Option<u32>)> = Vec::new();
        let mut open = false;
        // Thread CPU clock at the begin of the thread that has not ended yet.
        let mut running_since = None;
        let mut records = lane.records();
        let mut read_bytes = 0;
        while let Some(record) = records.next() {
            let entry = kinds.entry(kind_of(&record)).or_default();
            entry.0 += 1;
            entry.1 += records.read_bytes() - read_bytes;
            read_bytes = records.read_bytes();
            match record {
                Record::Node(node) => {
                    let depth = depths.get(node.parent as usize).copied().unwrap_or(0) + 1;
                    let id = node.id as usize;
                    if id >= depths.len() && id < depths.len() + (1 << 24) {
                        depths.resize(id + 1, 0);
                    }
                    if let Some(place) = depths.get_mut(id) {
                        *place = depth;
                    }
                }
                Record::Sample(flags, sample) => {
                    if open && let Some(last) = samples.last_mut() {
                        last.2 = Some(sample.own_ns);
                    }
                    samples.push((sample, flags, None));
                    open = true;
                }
                Record::ThreadBegin(_, thread) => {
                    open = false;
                    running_since = Some(thread.cpu_ns);
                }
                Record::ThreadEnd(end) => {
                    open = false;
                    thread_ends += 1;
                    cpu_ns += end.cpu_ns.saturating_sub(running_since.take().unwrap_or(0));
                }
                Record::Gap => open = false,
                _ => {}
            }
        }
        if let (Some(since), Some(header)) = (running_since, lane.header) {
            // Closed by another thread at the process's end, or not at all.
            cpu_ns += header.final_cpu_ns.max(header.last_cpu_ns).saturating_sub(since);
        }
        let mut text = String::from("[");
        for (number, (sample, flags, own)) in samples.iter().enumerate() {
            let depth = depths.get(sample.node as usize).copied().unwrap_or(0);
            let own = own.map_or("null".to_owned(), |own| own.to_string());
            let comma = if number == 0 { "" } else { "," };
            write!(text, "{comma}[{},{},{depth},{own},{flags}]", sample.time_ns, sample.cpu_ns)?;
        }
        text.push(']');
        lanes.push(text);
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, (count, bytes))| format!("\"{kind}\":{{\"count\":{count},\"bytes\":{bytes}}}"))
        .collect();
    let header = &log.header;
    Ok(format!(
        "{{\"pid\":{},\"tick_ns\":{},\"asked_rate_hz\":{},\"startup_ns\":{},\"arena_bytes\":{},\"units\":{},\
         \"unit_bytes\":{UNIT_BYTES},\"file_bytes\":{},\"skipped_samples\":{},\"path_mismatches\":{},\
         \"paths_compared\":{},\"records\":{read},\"read_ns\":{read_ns},\"thread_ends\":{thread_ends},\
         \"cpu_ns\":{cpu_ns},\"kinds\":{{{}}},\"lanes\":[{}]}}",
        header.pid,
        header.tick_ns,
        header.asked_rate_hz,
        header.startup_ns,
        header.arena_bytes,
        header.units,
        bytes.len(),
        header.skipped_samples,
        header.path_mismatches,
        header.paths_compared,
        kinds.join(","),
        lanes.join(",")
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in std::env::args().skip(1) {
        let bytes = std::fs::read(&name)?;
        println!("{}", describe(&bytes).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(())
}
