//! How time and memory grow with waits: `waits-scale [WAITS FUNCTIONS DATA_MB]...`.
//!
//! Writes synthetic runs (`tests/synthetic/waits.rs`), analyses each in a process of its own, which may have
//! so many MB of memory (RLIMIT_DATA, which counts all but mapped files; 0: no limit), and compares what it
//! keeps with the answer. Without arguments the sizes of `docs/benchmarks.md`.
//!
//! `waits-scale write DIR [NAME=NUMBER]...` only writes a run; `waits-scale analyse DIR [MB]` only analyses
//! one, with so much memory as `--memory` allows.

mod resources;
mod scale;
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use proust_account::ledger::Account;
use resources::memory_mb;
use scale::{analyse, analyse_within, bytes_in, open};
use synthetic::waits::{Answer, Kind, Waits};

const OF: Waits = Waits {
    seed: 1,
    ranks: 8,
    threads: 8,
    waits: 1_000_000,
    contexts: 200_000,
    nesting: 8,
    skew: 100,
    released: 50,
    has_longest: true,
};
const SIZES: [[u64; 3]; 5] = [
    [1_000_000, 2_000, 0],
    [10_000_000, 2_000, 0],
    [10_000_000, 2_000, 500],
    [30_000_000, 2_000, 2_000],
    [1_000_000, 200_000, 0],
];

/// Compares what is kept of a run with the answer.
fn compare(dir: &Path, answer: &Answer) -> Result<(), Box<dyn Error>> {
    let run = open(dir)?;
    assert!(run.notes().is_empty(), "{:?}", run.notes());
    let (profile, ledger) = (run.profile()?, run.ledger()?);
    for location in &ledger.locations {
        let spent = &answer.threads[&profile.locations[location.location].tid];
        let found = [Account::Compute, Account::Lock, Account::Barrier].map(|at| location.accounts[at]);
        let [locks, barriers, conditions] =
            [Kind::Lock, Kind::Barrier, Kind::Condition].map(|of| spent.of(of).ns);
        assert_eq!(found, [spent.computed_ns, locks, barriers], "{location:?}");
        assert_eq!(
            (location.passive.sum_ns(), location.wall_ns),
            (conditions, answer.wall_ns),
            "{location:?}"
        );
    }
    let calls: u64 = run.operations()?.rows.iter().map(|row| row.calls).sum();
    let waits: u64 = answer.threads.values().flat_map(|spent| spent.waits.values()).map(|of| of.calls).sum();
    assert_eq!(calls, waits);
    Ok(())
}

fn one([waits, functions, data_mb]: [u64; 3]) -> Result<(), Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("waits-scale-{}", std::process::id()));
    let begin = Instant::now();
    let answer = Waits { waits, contexts: functions.try_into()?, ..OF }.write(&dir)?;
    let (written_s, written_mb) = (begin.elapsed().as_secs_f64(), memory_mb("VmHWM:"));
    println!(
        "{waits} waits, {functions} functions, {data_mb} MB allowed: {:.1} bytes of log a wait, written in \
         {written_s:.1} s and {written_mb} MB",
        answer.log_bytes as f64 / waits as f64,
    );
    let status = analyse_within(&dir, data_mb)?;
    if status.success() {
        compare(&dir, &answer)?;
        println!(
            "  as expected; {:.1} bytes of profile a wait",
            bytes_in(&dir.join("profile")) as f64 / waits as f64
        );
    } else {
        println!("  failed: {status}");
    }
    Ok(fs::remove_dir_all(&dir)?)
}

fn write(dir: &Path, given: &[String]) -> Result<(), Box<dyn Error>> {
    let mut of = OF;
    for word in given {
        let (name, number) = word.split_once('=').ok_or("NAME=NUMBER")?;
        let number: u64 = number.parse()?;
        match name {
            "waits" => of.waits = number,
            "seed" => of.seed = number,
            "ranks" => of.ranks = number.try_into()?,
            "threads" => of.threads = number.try_into()?,
            "contexts" => of.contexts = number.try_into()?,
            "nesting" => of.nesting = number.try_into()?,
            "skew" => of.skew = number.try_into()?,
            "released" => of.released = number.try_into()?,
            "longest" => of.has_longest = number > 0,
            _ => return Err(format!("there is no {name}").into()),
        }
    }
    let answer = of.write(dir)?;
    println!("{of:?}: {} bytes of logs, {} ns", answer.log_bytes, answer.wall_ns);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("write") => return write(words.get(1).ok_or("a folder")?.as_ref(), &words[2..]),
        Some("analyse") => {
            let allowed_mb = words.get(2).map_or(Ok(0), |word| word.parse())?;
            return analyse(words.get(1).ok_or("a folder")?.as_ref(), allowed_mb);
        }
        _ => {}
    }
    let numbers = words.iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>()?;
    let (given, rest) = numbers.as_chunks::<3>();
    if !rest.is_empty() {
        return Err("three numbers for each run: WAITS FUNCTIONS DATA_MB".into());
    }
    (if given.is_empty() { &SIZES } else { given }).iter().try_for_each(|&size| one(size))
}
