//! How time and memory grow with ranks and calls: `ranks-scale [RANKS ROUNDS DATA_MB]...`.
//!
//! Writes synthetic runs of ranks on several hosts (`tests/synthetic/ranks.rs`), analyses each in a process
//! of its own, which may have so many MB of memory (RLIMIT_DATA; 0: no limit), and compares messages and
//! waits with the known answer. Without arguments the sizes of `docs/benchmarks.md`. `ranks-scale write DIR
//! RANKS ROUNDS` leaves such a run in a new folder, for `proust report`.

mod resources;
mod scale;
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::error::Error;
use std::fs;
use std::path::Path;

use proust_account::ledger::Account;
use scale::{analyse, analyse_within, bytes_in, open};
use synthetic::ranks::Ranks;

const SIZES: [[u64; 3]; 6] =
    [[16, 4_700, 0], [16, 47_000, 0], [100, 47_000, 0], [1000, 470, 0], [1000, 4_700, 0], [1000, 4_700, 500]];

/// Times are shifted by clocks, and rounded, ns a call.
const ROUNDED_NS: u64 = 2;

/// Compares what is kept of a run with the answer.
fn compare(dir: &Path, of: &Ranks) -> Result<(), Box<dyn Error>> {
    let run = open(dir)?;
    let (profile, ledger, answer) = (run.profile()?, run.ledger()?, of.answer());
    let quality = profile.quality.messages.as_ref().ok_or("there are no messages")?;
    assert_eq!((quality.messages, quality.violations, quality.contradictions), (answer.messages, 0, 0));
    let reductions: u64 = profile.gatherings.iter().map(|row| row.instances).sum();
    assert_eq!((reductions, profile.unmatched.len()), (answer.reductions, 0));
    let calls = of.calls() / u64::from(of.ranks);
    for location in &ledger.locations {
        let process = &profile.processes[profile.locations[location.location].process];
        let rank = process.rank.ok_or("a process without a rank")?;
        let (found_ns, expected_ns) = (location.accounts[Account::MpiPartner], of.waited_ns(rank));
        assert!(found_ns.abs_diff(expected_ns) <= ROUNDED_NS * calls, "{rank}: {found_ns}, {expected_ns}");
    }
    Ok(())
}

fn run(ranks: u64, rounds: u64) -> Result<Ranks, Box<dyn Error>> {
    let ranks: u32 = ranks.next_multiple_of(4).try_into()?;
    Ok(Ranks { ranks, rounds, of_host: 16, ahead_ns: 1_000_003 })
}

fn one([ranks, rounds, data_mb]: [u64; 3]) -> Result<(), Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("ranks-scale-{}", std::process::id()));
    let of = run(ranks, rounds)?;
    let ranks = of.ranks;
    let log_bytes = of.write(&dir)?;
    let calls = of.calls();
    println!(
        "{ranks} ranks with {} calls each, {data_mb} MB allowed: {:.1} bytes of log a call",
        calls / u64::from(ranks),
        log_bytes as f64 / calls as f64
    );
    let status = analyse_within(&dir, data_mb)?;
    if status.success() {
        compare(&dir, &of)?;
        let kept_bytes = bytes_in(&dir.join("profile"));
        println!("  as expected; {:.1} bytes of profile a call", kept_bytes as f64 / calls as f64);
    } else {
        println!("  failed: {status}");
    }
    Ok(fs::remove_dir_all(&dir)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, dir, data_mb] = &words[..]
        && word == "analyse"
    {
        return analyse(dir.as_ref(), data_mb.parse()?);
    }
    if let [word, dir, ranks, rounds] = &words[..]
        && word == "write"
    {
        run(ranks.parse()?, rounds.parse()?)?.write(dir.as_ref())?;
        return Ok(());
    }
    let numbers = words.iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>()?;
    let (given, rest) = numbers.as_chunks::<3>();
    if !rest.is_empty() {
        return Err("three numbers for each run: RANKS ROUNDS DATA_MB".into());
    }
    (if given.is_empty() { &SIZES } else { given }).iter().try_for_each(|&size| one(size))
}
