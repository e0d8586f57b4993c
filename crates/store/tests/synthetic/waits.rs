//! Runs of threads that wait as often as is wanted, whose times are known exactly.
//!
//! Each thread divides the run into as many equal turns as it has waits. In a turn it computes, waits for a
//! lock, at a barrier or for a condition, and computes again; now and then the wait has no length, or begins
//! with the turn. A sample is taken after each 5 ms of computation, all of which is charged to it. Marked
//! intervals lie inside each other around all of it, the innermost ones as long as 512 turns, and each of
//! those around them four times as long.
//!
//! Waits, computation, samples, releases and executions are exact by thread, by function and in all. Who
//! caused a wait is not known: threads wait without regard to each other.
//!
//! What a thread does in a turn follows from the seed and two numbers, and nothing is kept but sums by thread
//! and context, so that a run of any length is written in little memory.

mod thread;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use proust_log::layout::{EXTENSION, FileHeader, LOG_FOLDER, MAP_EXTENSION};
use proust_log::records::Subject;
use proust_profile::RunFile;
use proust_profile::run_file::{Finished, SCHEMA};

use super::{LaneBuilder, head, header};

/// When the run begins, ns.
const START_NS: u64 = 1_000_000_000;
/// A turn of the busiest thread, ns.
const TURN_NS: u64 = 10_000;
/// Function N lies at `CODE + N * FUNCTION_BYTES`.
const CODE: u64 = 0x7000_0000_0000;
const FUNCTION_BYTES: u64 = 0x100;
/// The function with number N is called by that with number N / 8.
const CALLEES: u32 = 8;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    pub seed: u64,
    pub ranks: u32,
    /// Threads of each rank.
    pub threads: u32,
    /// Waits of all threads together, but for the longest one.
    pub waits: u64,
    /// Functions that wait and compute, of all threads together; each has its own part of them.
    pub contexts: u32,
    /// Marked intervals around each wait.
    pub nesting: u32,
    /// Waits of the busiest thread for one of the least busy one.
    pub skew: u32,
    /// Of so many locks that were waited for, the release of one is recorded.
    pub released: u32,
    /// One more thread, of the first rank, waits as long as the run.
    pub has_longest: bool,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Lock,
    Barrier,
    Condition,
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfKind {
    pub calls: u64,
    pub ns: u64,
    pub longest_ns: u64,
}

/// What a thread, or a function, did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub computed_ns: u64,
    pub samples: u64,
    pub releases: u64,
    pub waits: BTreeMap<Kind, OfKind>,
}

/// Executions of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    pub executions: u64,
    pub ns: u64,
}

/// What is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// How long the run was, and with it each thread, ns.
    pub wall_ns: u64,
    /// By the kernel's number of a thread.
    pub threads: BTreeMap<u32, Spent>,
    /// By the number of a function.
    pub functions: BTreeMap<u32, Spent>,
    /// By the number of intervals around it.
    pub intervals: BTreeMap<u32, Executed>,
    pub log_bytes: u64,
}

impl Spent {
    fn wait(&mut self, kind: Kind, ns: u64) {
        let of_kind = self.waits.entry(kind).or_default();
        of_kind.calls += 1;
        of_kind.ns += ns;
        of_kind.longest_ns = of_kind.longest_ns.max(ns);
    }

    pub fn of(&self, kind: Kind) -> OfKind {
        self.waits.get(&kind).copied().unwrap_or_default()
    }
}

/// The name of a function, and that of the interval inside so many others.
pub fn function(number: u32) -> String {
    format!("f{number}")
}

pub fn interval(around: u32) -> String {
    format!("level{around}")
}

impl Waits {
    fn locations(&self) -> u32 {
        self.ranks * self.threads
    }

    /// How often a thread waits, of all threads of the run: as a geometric series, the busiest first.
    fn counts(&self) -> Vec<u64> {
        let last = self.locations().saturating_sub(1).max(1);
        let share = |l: u32| f64::from(self.skew).powf(-f64::from(l) / f64::from(last));
        let all: f64 = (0..self.locations()).map(share).sum();
        (0..self.locations()).map(|l| ((self.waits as f64 * share(l) / all) as u64).max(1)).collect()
    }

    /// The functions of a thread of the run.
    fn functions(&self, location: u32) -> Range<u32> {
        let border = |l: u32| (u64::from(self.contexts) * u64::from(l) / u64::from(self.locations())) as u32;
        let from = 1 + border(location);
        from..(1 + border(location + 1)).max(from + 1)
    }

    /// Writes the run as `record` would leave it: its logs, the names of its functions, `run.json`.
    pub fn write(&self, dir: &Path) -> io::Result<Answer> {
        let counts = self.counts();
        let wall_ns = counts.iter().max().copied().unwrap_or(1) * TURN_NS;
        let mut answer = Answer { wall_ns, ..Answer::default() };
        fs::create_dir_all(dir.join(LOG_FOLDER))?;
        for rank in 0..self.ranks {
            self.write_rank(rank, &counts, dir, &mut answer)?;
        }
        let wall_s = wall_ns as f64 / 1e9;
        let run = RunFile {
            schema: SCHEMA,
            command: vec!["./synthetic".into()],
            host: "host".into(),
            finished: Some(Finished {
                wall_s,
                exit_code: Some(0),
                logs: Some(self.ranks.into()),
                ..Finished::default()
            }),
            ..RunFile::default()
        };
        run.write(dir).map_err(io::Error::other)?;
        Ok(answer)
    }

    fn write_rank(&self, rank: u32, counts: &[u64], dir: &Path, answer: &mut Answer) -> io::Result<()> {
        let pid = 1_000 + rank * 10_000;
        let log = dir.join(LOG_FOLDER).join(format!("{pid}-{START_NS}.{EXTENSION}"));
        let mut file = BufWriter::new(File::create(&log)?);
        file.write_all(&head(FileHeader::default(), 0))?;
        let mut computed_ns = 0;
        let mut called = vec![];
        let longest = u32::from(self.has_longest && rank == 0);
        for thread in 0..self.threads + longest {
            let location = rank * self.threads + thread;
            let mut lane = LaneBuilder::new(thread);
            if thread == 0 {
                self.describe(&mut lane, rank);
            }
            let spent = if thread < self.threads {
                let played =
                    thread::Thread::of(self, location, pid + thread, thread, counts[location as usize]);
                called.push(self.functions(location));
                played.write(&mut lane, &mut file, answer)?
            } else {
                thread::write_longest(&mut lane, pid + thread, answer)
            };
            lane.write_rest(&mut file)?;
            computed_ns += spent.computed_ns;
            answer.threads.insert(pid + thread, spent);
        }
        answer.log_bytes += file.stream_position()?;
        let end_ns = START_NS + answer.wall_ns;
        let processors = self.locations() + 1;
        let header = FileHeader {
            start_ns: START_NS,
            end_ns,
            process_cpu_end_ns: computed_ns,
            available_processors: processors,
            online_processors: processors,
            ..header(pid)
        };
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&head(header, (self.threads + longest) as usize))?;
        file.flush()?;
        self.write_names(&log.with_extension(MAP_EXTENSION), called)
    }

    /// What the first thread of a rank writes of its process.
    fn describe(&self, lane: &mut LaneBuilder, rank: u32) {
        lane.text(Subject::Host, 0, "host");
        if self.ranks > 1 {
            lane.text(Subject::Variable, 0, format!("OMPI_COMM_WORLD_RANK={rank}"));
            lane.text(Subject::Variable, 1, format!("OMPI_COMM_WORLD_SIZE={}", self.ranks));
        }
    }

    /// Names the functions, and those that call them.
    fn write_names(&self, path: &Path, called: Vec<Range<u32>>) -> io::Result<()> {
        let mut map = BufWriter::new(File::create(path)?);
        let mut first = called.first().map_or(1, |functions| functions.start);
        let mut last = called.last().map_or(1, |functions| functions.end);
        while first < last {
            for number in first..last {
                let start = CODE + u64::from(number) * FUNCTION_BYTES;
                writeln!(map, "{start:x} {FUNCTION_BYTES:x} {}", function(number))?;
            }
            (first, last) = ((first / CALLEES).max(1), first.min((last - 1) / CALLEES + 1));
        }
        map.flush()
    }
}
