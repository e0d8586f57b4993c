//! How time and memory grow with ranks and calls: `ranks-scale [memory=MB] [RANKS ROUNDS]...`.
//!
//! Analyses synthetic logs of ranks on several hosts (`tests/synthetic/ranks.rs`), each size in a process of
//! its own, and compares messages and waits with the known answer. Without arguments the sizes of
//! `docs/benchmarks.md`. With `memory=MB` so much is kept in memory of rows and calls, the rest in a file.

mod resources;
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::process::Command;
use std::time::Instant;

use proust_account::accounted::blame_within;
use proust_account::ledger::Windows;
use proust_ingest::{CallPaths, Counter, LogBytes, Making, ingest_logs_by};
use proust_profile::{Budget, Spool};
use proust_query::mpi::critical_path::CriticalPath;
use resources::{memory_mb, processor_s};
use synthetic::names;
use synthetic::ranks::Ranks;

fn one(ranks: u32, rounds: u64, spool: &Spool) {
    let of = Ranks { ranks, rounds, of_host: 16, ahead_ns: 1_000_003 };
    let logs: Vec<(String, Vec<u8>)> =
        (0..ranks).map(|rank| (format!("log/{rank}.plog"), of.log(rank))).collect();
    let bytes: usize = logs.iter().map(|(_, bytes)| bytes.len()).sum();
    let before_mb = memory_mb("VmRSS");
    let logs: Vec<LogBytes<'_>> = logs
        .iter()
        .map(|(name, bytes)| LogBytes { name, bytes: Ok(bytes), perf_map: &[], jitdump: &[] })
        .collect();
    let (begin, processor) = (Instant::now(), processor_s());
    let making = Making { paths: CallPaths::User, symbols: &names, spool };
    let profile = ingest_logs_by(making, "run", &logs, None, &Counter::default()).expect("a profile");
    let (ingested_s, ingested) = (begin.elapsed().as_secs_f64(), processor_s() - processor);
    let ingested_mb = memory_mb("VmHWM") - before_mb;
    let processor = processor_s();
    let (_, blame) = blame_within(&profile, None, &Windows::all()).expect("an account");
    let blamed = processor_s() - processor;
    let (processor, before_mb) = (processor_s(), memory_mb("VmRSS"));
    let path = CriticalPath::of(&profile).expect("a critical path");
    let followed = processor_s() - processor;
    assert_eq!((path.ranks, path.is_complete), (ranks as usize, true));

    let answer = of.answer();
    let messages = profile.quality.messages.as_ref().map_or(0, |quality| quality.messages);
    let waits = profile.partner_waits.len() as u64;
    assert_eq!((messages, waits), (answer.messages, answer.late_senders + answer.in_reductions));
    assert!(!blame.rows.is_empty());
    let calls = of.calls() as f64;
    println!(
        "{ranks:>5} ranks × {:>6} calls: {:>5} MB of logs; to profile {ingested:>6.2} s of processors \
         ({ingested_s:.2} s), {:>5.0} ns a call, {ingested_mb:>5} MB, {:>4.0} bytes a call; ledger and blame \
         {blamed:>6.2} s, {:>5.0} ns a call; critical path {followed:>6.2} s, {:>5.0} ns a call, \
         {} MB more than {before_mb}; {} MB in all, {} MB in a file",
        of.calls() / u64::from(ranks),
        bytes / 1_000_000,
        1e9 * ingested / calls,
        1e6 * ingested_mb as f64 / calls,
        1e9 * blamed / calls,
        1e9 * followed / calls,
        memory_mb("VmRSS").saturating_sub(before_mb),
        memory_mb("VmHWM"),
        spool.file_bytes() / 1_000_000,
    );
}

fn main() {
    let (mut numbers, mut memory): (Vec<u64>, Option<String>) = (Vec::new(), None);
    for word in std::env::args().skip(1) {
        match word.strip_prefix("memory=") {
            Some(_) => memory = Some(word),
            None => numbers.push(word.parse().expect("a number")),
        }
    }
    if let [ranks, rounds] = numbers[..] {
        let mb = memory.as_deref().and_then(|word| word.strip_prefix("memory="));
        let mb: Option<u64> = mb.map(|mb| mb.parse().expect("a number"));
        let budget = Budget::new(mb.map_or(u64::MAX, |mb| mb * 1_000_000));
        return one(ranks as u32, rounds, &Spool::new(&std::env::temp_dir(), budget));
    }
    let own = std::env::current_exe().expect("its own path");
    let sizes = [(16, 4_700), (16, 47_000), (100, 4_700), (100, 47_000), (1000, 470), (1000, 4_700)];
    let given: Vec<(u64, u64)> = numbers.chunks_exact(2).map(|two| (two[0], two[1])).collect();
    for (ranks, rounds) in if given.is_empty() { sizes.to_vec() } else { given } {
        // The next multiple of four.
        let words = [ranks.div_ceil(4) * 4, rounds].map(|number| number.to_string());
        let status = Command::new(&own).args(words).args(&memory).status().expect("another process");
        assert!(status.success(), "{ranks} {rounds}: {status}");
    }
}
