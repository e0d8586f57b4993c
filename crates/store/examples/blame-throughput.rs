//! How fast the causes of waits are found: `cargo run --release -p proust-store --example blame-throughput
//! [WAITS [findings | DIR]]`.
//!
//! Eight threads take turns at four locks and meet at a barrier after every 100 waits; the profile is made in
//! memory. What is timed is all from the profile to the ledger with its blame, the same without blame, and
//! the same with findings; or the last one alone. Printed beside it: events per second of the ledger with
//! blame, and its peak memory beyond what was there before, which should not grow with the waits. With a
//! folder nothing is timed: it becomes a run with this profile, without logs.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use proust_account::blame::Blame;
use proust_account::ledger::{Ledger, Processors, Windows};
use proust_account::stored::StoredTimelines;
use proust_account::timelines::OperationStates;
use proust_findings::findings;
use proust_ingest::ANALYSIS_VERSION;
use proust_ingest::operation_info;
use proust_profile::run_file::SCHEMA;
use proust_profile::tables::Provenance;
use proust_profile::{
    Context, ContextId, ContextKind, EventRow, EventsBuilder, Location, LocationId, Ns, OperationId, Process,
    Profile, ReleaseRow, ReleasesBuilder, RunFacts, RunFile, SampleRow, SamplesBuilder,
};

const THREADS: u64 = 8;
/// A turn of a thread, ns.
const TURN_NS: u64 = 40_000;

fn profile(waits: u64) -> Profile {
    let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
    let mut contexts = vec![context(None, ContextKind::Program)];
    contexts.resize(200, context(Some(ContextId(0)), ContextKind::Frame));
    let turns = waits / THREADS;
    let end = Ns::of((turns + 1) * TURN_NS);
    let mut profile = Profile {
        facts: RunFacts { wall: end, ..RunFacts::default() },
        processes: vec![Process { end, ..Process::default() }].into(),
        locations: vec![Location { end, ..Location::default() }; THREADS as usize].into(),
        contexts: contexts.into(),
        operations: ["pthread_mutex_lock", "pthread_mutex_unlock", "pthread_barrier_wait"]
            .map(operation_info)
            .into_iter()
            .collect(),
        ..Profile::default()
    };
    let (mut events, mut samples) = (EventsBuilder::default(), SamplesBuilder::default());
    let mut releases = ReleasesBuilder::default();
    for thread in 0..THREADS {
        let location = thread as u32;
        for turn in 0..turns {
            // Who is later in the row waits longer for the lock, computes shorter, and lets it go later.
            let place = (thread + turn) % THREADS;
            let begin_ns = turn * TURN_NS + 1000;
            let end_ns = begin_ns + (place + 1) * 4000;
            let is_barrier = turn % 100 == 99;
            let release = ReleaseRow {
                location: LocationId(location),
                context: ContextId((turn % 90) as u32 + 100),
                operation: OperationId(1),
                time_ns: end_ns + 3000,
                object: 0x1000 + turn % 4 * 64,
                held_ns: 4000,
                weight_ns: 200_000,
                ..ReleaseRow::default()
            };
            let event = EventRow {
                location: LocationId(location),
                context: ContextId((turn % 90) as u32 + 1),
                operation: if is_barrier { OperationId(2) } else { OperationId(0) },
                begin_ns: if is_barrier { begin_ns + place * 500 } else { begin_ns },
                end_ns: if is_barrier { begin_ns + 5000 } else { end_ns },
                time_ns: if is_barrier { 5000 - place * 500 } else { end_ns - begin_ns },
                calls: 1,
                object: if is_barrier { 0x9000 } else { release.object },
                ..EventRow::default()
            };
            events.push(&event).expect("events in order");
            // The collector tells one in 50 of sections of this length.
            if !is_barrier && (turn * THREADS + place) % 50 == 7 {
                releases.push(&release).expect("releases in order");
            }
            if turn % 125 == 124 {
                let (time_ns, cpu_ns) = ((turn + 1) * TURN_NS, 200_000);
                let context = (turn % 50) as u32 + 1;
                let sample = SampleRow {
                    location: LocationId(location),
                    context: ContextId(context),
                    time_ns,
                    cpu_ns,
                    ..SampleRow::default()
                };
                samples.push(&sample).expect("samples in order");
            }
        }
    }
    (profile.events, profile.samples) = (events.finish(), samples.finish());
    profile.releases = releases.finish();
    profile
}

/// Makes the folder a run with this profile.
fn keep(dir: &Path, profile: &Profile) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(dir.join("log"))?;
    RunFile { schema: SCHEMA, command: vec!["./synthetic".into()], ..RunFile::default() }.write(dir)?;
    let provenance = Provenance { analysis: ANALYSIS_VERSION, rules: 0, sources: Vec::new() };
    Ok(proust_store::keep(dir, profile, &provenance)?)
}

/// A line of `/proc/self/status`, KiB.
fn status_kib(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// What `work` returns, and by how much resident memory rose at its peak meanwhile, in KiB; None where the
/// kernel cannot reset a process's peak.
fn with_peak_kib<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let is_new = fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = status_kib("VmRSS:").filter(|_| is_new);
    let result = work();
    let peak_kib = status_kib("VmHWM:").zip(before).map(|(peak, before)| peak.saturating_sub(before));
    (result, peak_kib)
}

fn main() {
    let waits = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let profile = profile(waits);
    profile.check().expect("a profile without contradictions");
    if std::env::args().nth(2).as_deref() == Some("findings") {
        let begin = Instant::now();
        let (_, found) = findings(&profile, None).expect("findings");
        println!("all of it with {} findings: {:.2} s", found.len(), begin.elapsed().as_secs_f64());
        return;
    }
    if let Some(dir) = std::env::args().nth(2) {
        keep(dir.as_ref(), &profile).expect("a folder that can be written to");
        return;
    }
    let begin = Instant::now();
    let stored = StoredTimelines::of(&profile);
    let run = stored.whole_run(&profile);
    let timelines_s = begin.elapsed().as_secs_f64();
    let states = OperationStates::of(&profile);
    let processors = Processors::measured(&run, &Windows::all()).expect("processors");
    let measured_s = begin.elapsed().as_secs_f64();
    let ledger = Ledger::of(&run, &processors, &Windows::all()).expect("a ledger");
    let ledger_s = begin.elapsed().as_secs_f64() - measured_s;
    let begin = Instant::now();
    let ((with_blame, blame), peak_kib) = with_peak_kib(|| {
        Blame::of(&profile, &states, &run, None, &Windows::all()).expect("a ledger with blame")
    });
    let blame_s = begin.elapsed().as_secs_f64();
    assert_eq!(ledger.accounts, with_blame.accounts);
    println!(
        "{} waits, {} releases, {} rows of blame",
        profile.events.len(),
        profile.releases.len(),
        blame.rows.len()
    );
    println!("timelines {timelines_s:.2} s, processors {:.2} s", measured_s - timelines_s);
    println!("all of it, from the profile to the causes: {:.2} s", timelines_s + blame_s);
    println!("ledger {ledger_s:.2} s, processors and ledger with blame {blame_s:.2} s");
    println!(
        "blame: {:.2} M events/s, peak memory {} KiB",
        (profile.events.len() + profile.releases.len()) as f64 / blame_s / 1e6,
        peak_kib.map_or("unknown".into(), |kib| kib.to_string())
    );
    // As in a process that does nothing else.
    drop((run, states, ledger, with_blame, blame));
    let begin = Instant::now();
    let (_, found) = findings(&profile, None).expect("findings");
    println!("all of it with {} findings: {:.2} s", found.len(), begin.elapsed().as_secs_f64());
}
