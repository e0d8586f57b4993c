//! `proust merge`: what hosts wrote on discs of their own, as one run.

mod hosts;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use proust_log::layout::{DUMP_EXTENSION, EXTENSION, LOG_FOLDER, MAP_EXTENSION};
use proust_profile::run_file::Finished;
use proust_profile::{Process, Profile, RunFile};
use proust_words::counted;

use crate::record::make_folder;
use crate::{output, progress};

/// Arguments of `proust merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Where ranks record to discs of their hosts, each host has a folder with its ranks alone. Bring
the folders to one place under different names; the merged run is a new folder, the others stay.

Example:
  mpirun -n 8 --hostfile two proust record -o /local/solve -- ./solve
  proust merge -o solve.proust host1/solve host2/solve
  proust report solve.proust mpi")]
pub struct MergeArgs {
    /// Folder of the merged run; must not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Folders of the hosts
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
}

/// Merges folders.
///
/// # Errors
/// When they cannot be read, or are not of one job, or the new one cannot be written.
pub fn run(args: &MergeArgs) -> Result<ExitCode> {
    let mut files: Vec<(&Path, RunFile)> = Vec::with_capacity(args.dirs.len());
    for dir in &args.dirs {
        files.push((dir, RunFile::read(dir)?));
    }
    for (dir, file) in &files[1..] {
        if !is_of_one_job(&files[0].1, file) {
            bail!(
                "{} and {} are no parts of one run: they were not recorded by ranks of one job",
                files[0].0.display(),
                dir.display()
            );
        }
    }
    if args.output.exists() {
        bail!("{} exists already; a run is never written over: name another folder", args.output.display());
    }
    make_folder(&args.output)?;
    let filled = fill(&args.output, &files);
    if filled.is_err() {
        // Made just now, and of no use to anybody.
        let _ = fs::remove_dir_all(&args.output);
    }
    let logs = filled?;
    let parts = counted(files.len(), "folder");
    let mut text = format!("{} from {parts} in {}\n", counted(logs, "log"), args.output.display());
    text.push_str(&missing(progress::open(&args.output)?.profile()?));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether two hosts' recorders were started by one launcher, as far as that is known. Where it names no job,
/// the key has the number of a process of the host, or the same word for all jobs (MPICH): so they must also
/// have run at one time.
fn is_of_one_job(one: &RunFile, other: &RunFile) -> bool {
    let is_unnamed = |file: &RunFile| file.job_key.as_ref().is_some_and(|key| key.contains(": launcher "));
    let is_same = one.job_key.is_some() && one.job_key == other.job_key;
    let is_like =
        one.host != other.host && one.command == other.command && is_unnamed(one) && is_unnamed(other);
    (is_same || is_like) && begins_before_end(one, other) && begins_before_end(other, one)
}

/// Whether one part had begun before the other one ended; clocks of day of hosts may differ by seconds.
fn begins_before_end(one: &RunFile, other: &RunFile) -> bool {
    let slack_s = if one.host == other.host { 0.0 } else { 60.0 };
    other.finished.is_none_or(|finished| one.start_unix_s <= finished.end_unix_s + slack_s)
}

/// Copies the logs; how many.
fn fill(folder: &Path, files: &[(&Path, RunFile)]) -> Result<usize> {
    let logs = folder.join(LOG_FOLDER);
    make_folder(&logs)?;
    let mut count = 0;
    for (dir, _) in files {
        let from = dir.join(LOG_FOLDER);
        let cannot = || format!("{} cannot be read", from.display());
        for entry in fs::read_dir(&from).with_context(cannot)? {
            let path = entry.with_context(cannot)?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                copy(&path, &logs)?;
                count += 1;
            }
        }
    }
    if count == 0 {
        bail!("none of these folders has a log");
    }
    merged(files).write(folder)?;
    Ok(count)
}

/// Copies a log, and the names of code that its process made, under its own name, or where another host's has
/// that, the next one that is free: a log's name is the number of its process and the nanosecond of its
/// begin.
fn copy(log: &Path, folder: &Path) -> Result<()> {
    let name = log.file_stem().and_then(|name| name.to_str()).and_then(|name| name.split_once('-'));
    let Some((pid, start)) = name else { bail!("{} has not the name of a log", log.display()) };
    let Ok(start_ns) = start.parse::<u64>() else { bail!("{} has not the name of a log", log.display()) };
    for start_ns in (start_ns..).take(1000) {
        let place = folder.join(format!("{pid}-{start_ns}.{EXTENSION}"));
        match File::create_new(&place) {
            Ok(mut file) => {
                let copied = File::open(log).and_then(|mut from| io::copy(&mut from, &mut file));
                let cannot = || format!("{} cannot be copied to {}", log.display(), place.display());
                copied.with_context(cannot)?;
                for beside in [MAP_EXTENSION, DUMP_EXTENSION].map(|beside| log.with_extension(beside)) {
                    let Some(extension) = beside.extension().filter(|_| beside.exists()) else { continue };
                    fs::copy(&beside, place.with_extension(extension)).with_context(cannot)?;
                }
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("{} cannot be written", place.display()));
            }
        }
    }
    bail!("there is no free name for {}", log.display())
}

/// What is said of the run as a whole: it began with the first part and ended with the last.
fn merged(files: &[(&Path, RunFile)]) -> RunFile {
    let all = || files.iter().map(|(_, file)| file);
    let first = all().min_by(|a, b| a.start_unix_s.total_cmp(&b.start_unix_s)).expect("at least one folder");
    let mut run = first.clone();
    for file in all().filter(|file| !std::ptr::eq(*file, first)) {
        run.budget_bytes = run.budget_bytes.saturating_add(file.budget_bytes);
        for note in &file.notes {
            if !run.notes.contains(note) {
                run.notes.push(note.clone());
            }
        }
        // Times on another host's clock mean nothing here.
        if file.host == run.host {
            run.stops.extend(file.stops.iter().copied());
        }
    }
    let finished: Option<Vec<Finished>> = all().map(|file| file.finished).collect();
    run.finished = finished.map(|all| {
        let end_unix_s = all.iter().map(|one| one.end_unix_s).fold(f64::NEG_INFINITY, f64::max);
        let sum = |of: fn(&Finished) -> Option<f64>| all.iter().map(of).sum::<Option<f64>>();
        Finished {
            end_unix_s,
            wall_s: (end_unix_s - run.start_unix_s).max(0.0),
            exit_code: all.iter().map(|one| one.exit_code).find(|code| *code != Some(0)).unwrap_or(Some(0)),
            signal: all.iter().find_map(|one| one.signal),
            stolen_s: sum(|one| one.stolen_s),
            throttled_s: sum(|one| one.throttled_s),
            logs: all.iter().map(|one| one.logs).sum(),
        }
    });
    run
}

/// Ranks that a line names, and hosts.
const NAMED: usize = 16;

/// Ranks of which there is no log; their hosts' folders are not among those that were merged.
fn missing(profile: &Profile) -> String {
    let Some(world) = profile.communicators.iter().find(|info| info.is_world) else { return String::new() };
    let size = world.size as usize;
    let ranks = profile.processes.iter().filter_map(|process| Some((process.rank?, process)));
    let recorded: BTreeMap<u32, &Process> = ranks.collect();
    let missing: Vec<u32> = (0..world.size).filter(|rank| !recorded.contains_key(rank)).collect();
    if missing.is_empty() {
        return format!("all {} have a log\n", counted(size, "rank"));
    }
    let known: Vec<(u32, &str)> =
        recorded.iter().map(|(&rank, process)| (rank, process.host.as_str())).collect();
    let variables = recorded.values().next().map_or(&[][..], |process| &process.environment);
    let (which, whose) = match hosts::of_ranks(variables, size, &known) {
        Some(hosts) => (by_host(&missing, &hosts), "these hosts"),
        None => (listed(&missing), "their hosts"),
    };
    format!(
        "{} of {size} without a log: {which}. Merge the folders of {whose}, too: waits for them, and \
         collectives in which they take part, are not known\n",
        counted(missing.len(), "rank"),
    )
}

/// `4–7 of host b, 8 of host c`: hosts by their first rank.
fn by_host(ranks: &[u32], hosts: &[String]) -> String {
    let mut of_host: Vec<(&str, Vec<u32>)> = Vec::new();
    for &rank in ranks {
        let host = hosts[rank as usize].as_str();
        match of_host.iter_mut().find(|(name, _)| *name == host) {
            Some((_, ranks)) => ranks.push(rank),
            None => of_host.push((host, vec![rank])),
        }
    }
    let named = of_host.iter().take(NAMED).map(|(host, ranks)| format!("{} of host {host}", listed(ranks)));
    let more = if of_host.len() > NAMED { " …" } else { "" };
    named.collect::<Vec<_>>().join(", ") + more
}

/// `0, 4–7`.
fn listed(ranks: &[u32]) -> String {
    let ranges: Vec<&[u32]> = ranks.chunk_by(|one, next| one + 1 == *next).collect();
    let range = |range: &&[u32]| match *range {
        [] => String::new(),
        [one] => one.to_string(),
        [first, second] => format!("{first}, {second}"),
        [first, .., last] => format!("{first}–{last}"),
    };
    let more = if ranges.len() > NAMED { " …" } else { "" };
    ranges.iter().take(NAMED).map(range).collect::<Vec<_>>().join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named_by_ranges_and_hosts() {
        assert_eq!(listed(&[1]), "1");
        assert_eq!(listed(&[0, 1, 4, 5, 6, 7, 9]), "0, 1, 4–7, 9");
        let alternate: Vec<u32> = (0..40).map(|n| 2 * n).collect();
        assert!(listed(&alternate).ends_with("28, 30 …"), "{}", listed(&alternate));
        let hosts: Vec<String> = ["a", "a", "b", "b", "b", "c"].map(str::to_owned).into();
        assert_eq!(by_host(&[1, 2, 3, 4, 5], &hosts), "1 of host a, 2–4 of host b, 5 of host c");
    }
}
