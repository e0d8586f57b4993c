//! How fast logs are read and analysed, and how fast a kept profile is opened.
//!
//! `cargo run --release -p proust-store --example ingest-throughput [SAMPLES [LANES [OPERATIONS]]]`
//!
//! Writes synthetic logs in memory (paths 20 deep, some new nodes all the time, as a collector writes them;
//! before each sample so many operations, half of them sums), and prints, for one processor and for all: bare
//! reading of records, the analysis to a profile, and what timelines and ledger take, and writing and opening
//! the profile. Names come from a table, so that the time is the analysis's own.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use proust_account::accounted;
use proust_account::stored::StoredTimelines;
use proust_ingest::{Counter, LogBytes, ingest_logs};
use proust_log::Log;
use proust_log::operations::Operation;
use proust_log::records::{Event, Sample, Sum};
use proust_profile::Profile;
use proust_profile::tables::{self, Kept, Provenance};
use synthetic::{LaneBuilder, MS, header, log, names};

const DEPTH: u32 = 20;
const LEAVES: u32 = 2000;

/// A lane with `samples` samples, `operations` before each, and the nodes they need.
fn lane(number: u32, samples: u64, operations: u64) -> LaneBuilder {
    let mut lane = LaneBuilder::new(number);
    lane.module(1, "solver", 7, 0x40_0000).begin(10 + number, 1000, 0);
    for id in 1..DEPTH {
        lane.node(id, id - 1, 1, u64::from(id) << 8 | 5);
    }
    for i in 0..samples {
        let leaf = (i * 7919 % u64::from(LEAVES)) as u32;
        if i < u64::from(LEAVES) {
            // Met in the order in which they are numbered.
            let id = DEPTH + i as u32;
            lane.node(id, 1 + id % (DEPTH - 1), 1, u64::from(id % 200) << 8 | u64::from(id / 200 + 1));
        }
        for k in 0..operations {
            // Each takes a tenth of a millisecond, and one in four has a clock.
            let begin_ns = 1000 * MS + i * 5 * MS + (k + 1) * 4 * MS / operations.max(1);
            operation(&mut lane, k, begin_ns, DEPTH + leaf.min(i as u32));
        }
        let sample = Sample {
            time_ns: 1000 * MS + (i + 1) * 5 * MS + i % 1000,
            cpu_ns: (i + 1) * 5 * MS,
            node: DEPTH + leaf.min(i as u32),
            own_ns: 1500,
            user_us: 4000,
            system_us: 1000,
            processor: (i / 100 % 16) as u16,
            ..Sample::default()
        };
        lane.push(0, &sample);
    }
    lane.end(10 + number, 1000 + (samples + 1) * 5, samples * 5 + 1);
    lane
}

fn operation(lane: &mut LaneBuilder, number: u64, begin_ns: u64, node: u32) {
    if number.is_multiple_of(2) {
        let cpu_ns = if number.is_multiple_of(4) { begin_ns - 1000 * MS } else { 0 };
        let event = Event { begin_ns, end_ns: begin_ns + MS / 10, cpu_ns, node, ..Event::default() };
        lane.push(Operation::MutexLock as u16, &event);
    } else {
        let until_ns = begin_ns + MS / 10;
        let sum = Sum { since_ns: begin_ns, until_ns, ns: MS / 20, calls: 9, node, ..Sum::default() };
        lane.push(Operation::Write as u16, &sum);
    }
}

/// The fastest of five, and the slowest, which shows how far to trust it.
fn timed<T>(mut work: impl FnMut() -> T) -> (Duration, Duration, T) {
    let mut times = Vec::new();
    let mut result = None;
    for _ in 0..5 {
        // The result of the turn before is dropped outside the measured time.
        drop(result.take());
        let begin = Instant::now();
        result = Some(black_box(work()));
        times.push(begin.elapsed());
    }
    times.sort();
    (times[0], times[4], result.expect("five turns were made"))
}

fn print(what: &str, amount: u64, unit: &str, (best, worst): (Duration, Duration)) {
    let rate = |time: Duration| amount as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{what:<44} {:>8.1} ms  {:>7.1} M {unit}/s  (slowest of 5: {:.1})",
        best.as_secs_f64() * 1e3,
        rate(best),
        rate(worst)
    );
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool").install(work)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().expect("a number"));
    let samples = arguments.next().unwrap_or(2_000_000);
    let lanes = arguments.next().unwrap_or(4).max(1);
    let operations = arguments.next().unwrap_or(0);
    let built: Vec<LaneBuilder> = (0..lanes).map(|n| lane(n as u32, samples / lanes, operations)).collect();
    let bytes = log(header(9), &built);
    drop(built);
    let records: u64 =
        Log::parse(&bytes).expect("a log").lanes.iter().map(|l| l.records().count() as u64).sum();
    println!("{samples} samples in {lanes} lanes, {records} records, {} MB", bytes.len() / 1_000_000);

    let (best, worst, _) = timed(|| {
        let log = Log::parse(&bytes).expect("a log");
        log.lanes.iter().map(|lane| lane.records().count()).sum::<usize>()
    });
    print("reading records, one processor", records, "records", (best, worst));

    let analyse = || -> Profile {
        let logs = [LogBytes::alone("log/9.plog", Ok(&bytes))];
        ingest_logs("run", &logs, None, &names, &Counter::default()).expect("a profile")
    };
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, all] {
        let (best, worst, _) = in_pool(threads, || timed(analyse));
        print(&format!("logs to profile, {threads} processors"), samples, "samples", (best, worst));
    }

    let profile = analyse();
    println!("{} contexts, {} values", profile.contexts.len(), profile.values.len());
    let rows = (profile.samples.len() + profile.events.len()) as u64;
    for threads in [1, all] {
        let (best, worst, _) = in_pool(threads, || timed(|| StoredTimelines::of(&profile)));
        print(&format!("profile to timelines, {threads} processors"), rows, "rows", (best, worst));
    }
    let (best, worst, _) = timed(|| accounted::ledger(&profile));
    print("profile to ledger", rows, "rows", (best, worst));
    let dir = std::env::temp_dir().join(format!("ingest-throughput-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a temporary folder");
    let folder = dir.join("profile");
    let (best, worst, _) = timed(|| tables::write(&folder, &profile, &Provenance::default()));
    print("writing the profile", samples, "samples", (best, worst));
    let kept = Kept::open(&folder).expect("a profile");
    let (best, worst, without) = timed(|| kept.profile_without_rows().expect("a profile"));
    print("opening the profile without samples", profile.values.len() as u64, "values", (best, worst));
    let (best, worst, _) = timed(|| kept.rows(&without).expect("rows"));
    print("reading the rows", samples, "samples", (best, worst));
    let size = fs::metadata(kept.folder().join("samples.streams")).map_or(0, |file| file.len());
    println!("{:.1} bytes a sample in the profile", size as f64 / samples as f64);
    fs::remove_dir_all(&dir).expect("the temporary folder is removed");
}
