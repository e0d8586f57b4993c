//! A sweep of runs that were recorded one by one, such as batch jobs of 256 and of 8192 ranks.
//!
//! What is varied is what differs among the runs' [own counts](OwnCount): ranks, threads of a rank, or both;
//! a run without ranks beside others that have some is one of one rank. A run's count is then what it would
//! be in a sweep over these axes ([`SweepFile::count`]): ranks, threads, or their product. Repetitions are
//! runs of equal count, in the order in which they were started.

use std::collections::BTreeMap;

use proust_profile::SweepFile;
use proust_profile::facts::{NOT_ENDED, ending};
use proust_profile::notes::SweepFileNote;
use proust_profile::sweep_file::{Axis, PointOutcome, RANKS, SWEEP_SCHEMA, SweepPoint, THREADS};
use thiserror::Error;

use super::own_count::OwnCount;
use super::swept::Swept;

/// Name of the axis of counts that the user gave.
const COUNT: &str = "count";

/// Why runs are no sweep.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSweep {
    /// Two of them are runs of different programs.
    #[error(
        "{a} is a run of {of_a} and {b} one of {of_b}: runs of one program are compared by their count; \
         `proust diff {a} {b}` shows different programs side by side"
    )]
    OtherProgram {
        /// A run.
        a: String,
        /// Its program.
        of_a: String,
        /// Another run.
        b: String,
        /// Its program.
        of_b: String,
    },
    /// All have the same count.
    #[error(
        "{which} {count}: add runs with other counts, or give the counts with --count if they are wrong; \
         `proust diff` compares runs of one count"
    )]
    OneCount {
        /// `the only run that can be compared has`, or `all 3 runs that can be compared have`.
        which: String,
        /// The count with what it counts, such as `4 threads`.
        count: String,
    },
    /// There is none.
    #[error("none of the runs can be compared: {0}")]
    None(String),
}

/// The sweep that these runs are, and which run each of its points is, by position. Each run's count is
/// entered in it. `counts` are the user's own, one for each run, in place of the runs' own.
///
/// # Errors
/// [`NoSweep`] when they do not belong together, or have all the same count.
pub fn gathered(runs: &mut [Swept], counts: Option<&[u32]>) -> Result<(SweepFile, Vec<usize>), NoSweep> {
    if let Some((first, other)) = runs.split_first().and_then(|(first, rest)| {
        rest.iter().find(|run| run.program != first.program).map(|other| (first, other))
    }) {
        return Err(NoSweep::OtherProgram {
            a: first.name.clone(),
            of_a: first.program.clone(),
            b: other.name.clone(),
            of_b: other.program.clone(),
        });
    }
    let (axes, values) = axes(runs, counts);
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| runs[a].facts.start_unix_s.total_cmp(&runs[b].facts.start_unix_s));
    let mut repetitions: BTreeMap<&[u32], u32> = BTreeMap::new();
    let mut points = Vec::new();
    for &at in &order {
        let run = &mut runs[at];
        let failure = failure(&run.facts.outcome);
        // A run that failed is no repetition: it has not done all of its work.
        let repetition = match failure {
            Some(_) => 0,
            None => {
                let known = repetitions.entry(&values[at]).or_default();
                *known += 1;
                *known
            }
        };
        run.count = values[at].iter().fold(1, |product, &value| product.saturating_mul(value));
        points.push(SweepPoint {
            values: values[at].iter().map(ToString::to_string).collect(),
            repetition,
            outcome: if failure.is_some() { PointOutcome::Failed } else { PointOutcome::Done },
            dir: Some(run.name.clone()),
            command: run.facts.command.clone(),
            wall_s: Some(run.wall.as_seconds()),
            failure,
            ..SweepPoint::default()
        });
    }
    let most = repetitions.values().copied().max().unwrap_or(0);
    let done: Vec<&[u32]> = repetitions.into_keys().collect();
    if let [only] = done[..] {
        return Err(one_count(most, only, &axes));
    }
    if done.is_empty() {
        let why: Vec<String> = points
            .iter()
            .filter_map(|point| Some(format!("{} {}", point.dir.as_ref()?, point.failure.as_ref()?)))
            .collect();
        return Err(NoSweep::None(why.join("; ")));
    }
    let first = &runs[order[0]];
    let file = SweepFile {
        schema: SWEEP_SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command(runs, &values, &axes),
        axes,
        repetitions: most,
        start_unix_s: first.facts.start_unix_s,
        host: first.facts.host.clone(),
        available_processors: runs.iter().map(|run| run.available).max().unwrap_or(0),
        notes: notes(runs),
        points,
        ..SweepFile::default()
    };
    Ok((file, order))
}

/// The axes on which the runs differ, and the value of each run on them.
fn axes(runs: &[Swept], counts: Option<&[u32]>) -> (Vec<Axis>, Vec<Vec<u32>>) {
    let own = |of: fn(&OwnCount) -> u32| runs.iter().map(|run| of(&run.own)).collect::<Vec<u32>>();
    let ranks = own(|own| own.ranks.max(1));
    let columns = match counts {
        Some(counts) => vec![(COUNT, counts.to_vec())],
        None => {
            let columns = [(RANKS, ranks), (THREADS, own(|own| own.threads))];
            let varied = |(_, values): &(&str, Vec<u32>)| values.iter().any(|value| *value != values[0]);
            match columns.iter().any(varied) {
                true => columns.into_iter().filter(varied).collect(),
                // Nothing is varied; what the runs have is what a message is about.
                false => {
                    let has_ranks = runs.iter().any(|run| run.own.ranks > 0);
                    columns.into_iter().skip(usize::from(!has_ranks)).take(1).collect()
                }
            }
        }
    };
    let axis = |(name, values): &(&str, Vec<u32>)| {
        let mut values = values.clone();
        values.sort_unstable();
        values.dedup();
        Axis { name: (*name).to_owned(), values: values.iter().map(ToString::to_string).collect() }
    };
    let of_run = |at: usize| columns.iter().map(|(_, values)| values[at]).collect();
    (columns.iter().map(axis).collect(), (0..runs.len()).map(of_run).collect())
}

/// How a run failed, if it did. Where nobody knows how it ended it is taken for whole.
fn failure(outcome: &str) -> Option<String> {
    let is_failure = outcome == NOT_ENDED
        || outcome.starts_with("signal ")
        || (outcome.starts_with("exit ") && outcome != "exit 0");
    is_failure.then(|| ending(outcome))
}

fn one_count(runs: u32, values: &[u32], axes: &[Axis]) -> NoSweep {
    let which = match runs {
        1 => "the only run that can be compared has".to_owned(),
        2 => "both runs that can be compared have".to_owned(),
        runs => format!("all {runs} runs that can be compared have"),
    };
    let count = axes.iter().zip(values).map(|(axis, &value)| match axis.name.as_str() {
        COUNT => format!("a count of {value}"),
        name => proust_words::counted(value as usize, name.trim_end_matches('s')),
    });
    NoSweep::OneCount { which, count: count.collect::<Vec<_>>().join(" of ") }
}

/// The command of all runs: a word that is each run's own count becomes a place such as `{n}`; one that
/// differs otherwise stands as in the first run.
fn command(runs: &[Swept], values: &[Vec<u32>], axes: &[Axis]) -> Vec<String> {
    let commands: Vec<&[String]> = runs.iter().map(|run| &run.facts.command[..]).collect();
    let Some(first) = commands.first() else { return Vec::new() };
    if commands.iter().any(|command| command.len() != first.len()) {
        return first.to_vec();
    }
    let place = |at: usize, word: &String| {
        if commands.iter().all(|command| command[at] == *word) {
            return word.clone();
        }
        let is_axis = |axis: &usize| {
            (commands.iter().zip(values)).all(|(command, values)| command[at] == values[*axis].to_string())
        };
        match (0..axes.len()).find(is_axis) {
            Some(_) if axes.len() == 1 => "{n}".into(),
            Some(axis) => format!("{{{}}}", axes[axis].name),
            None => word.clone(),
        }
    };
    first.iter().enumerate().map(|(at, word)| place(at, word)).collect()
}

/// What a reader must know of runs that nobody planned together.
fn notes(runs: &[Swept]) -> Vec<SweepFileNote> {
    let mut notes = Vec::new();
    let differs = |of: &dyn Fn(&Swept) -> &str| -> Option<(String, String)> {
        let first = of(&runs[0]).to_owned();
        runs.iter().map(of).find(|other| *other != first).map(|other| (first, other.to_owned()))
    };
    if let Some((a, b)) = differs(&|run| &run.facts.host) {
        notes.push(SweepFileNote::OtherHosts { host_a: a, host_b: b });
    }
    let words = |run: &Swept| {
        // Numbers that are a count differ on purpose.
        let counts = [run.count, run.own.ranks, run.own.threads].map(|count| count.to_string());
        run.facts.command.iter().filter(|word| !counts.contains(word)).cloned().collect::<Vec<_>>()
    };
    let other = runs.iter().find(|run| words(run) != words(&runs[0]));
    if let Some(other) = other {
        notes.push(SweepFileNote::OtherCommands {
            command_a: runs[0].facts.command.join(" "),
            run_a: runs[0].name.clone(),
            command_b: other.facts.command.join(" "),
            run_b: other.name.clone(),
        });
    }
    notes
}

#[cfg(test)]
mod tests {
    use proust_account::ledger::{Ledger, SlotAccounts};
    use proust_profile::{Context, ContextKind, Process, ProcessId, Profile, RunFacts, SegmentRow};

    use super::*;

    /// A run with so many ranks and threads of each, started at this second.
    fn run(name: &str, ranks: u32, threads: u32, start: f64, command: &str, outcome: &str) -> Swept {
        let slots = |rank| SlotAccounts {
            process: ProcessId(0),
            rank: Some(rank),
            job: None,
            available: None,
            processors: 1,
            active: 1,
            total_ns: 0,
            beyond_ns: 0,
            accounts: Default::default(),
        };
        let kind = ContextKind::Program;
        let program = Context { parent: None, kind, function: None, file: None, line: None };
        let profile = Profile {
            contexts: vec![program].into(),
            processes: vec![Process { name: "solve".into(), ..Process::default() }].into(),
            segments: vec![SegmentRow { team_max: threads, ..SegmentRow::default() }],
            facts: RunFacts {
                command: command.split(' ').map(str::to_owned).collect(),
                start_unix_s: start,
                outcome: outcome.into(),
                ..RunFacts::default()
            },
            ..Profile::default()
        };
        let ledger = Ledger { active: 1, slots: (0..ranks).map(slots).collect(), ..Ledger::default() };
        Swept::new(0, name, &profile, &ledger)
    }

    fn ok(name: &str, ranks: u32, threads: u32, start: f64, command: &str) -> Swept {
        run(name, ranks, threads, start, command, "exit 0")
    }

    fn counts(runs: &[Swept]) -> Vec<u32> {
        runs.iter().map(|run| run.count).collect()
    }

    #[test]
    fn what_differs_is_the_axis() {
        let mut runs = [ok("a", 256, 4, 0.0, "mpirun -n 256 s"), ok("b", 8192, 4, 1.0, "mpirun -n 8192 s")];
        let (file, _) = gathered(&mut runs, None).unwrap();
        assert_eq!((file.axes.len(), file.axes[0].name.as_str()), (1, RANKS));
        assert_eq!(file.axes[0].values, ["256", "8192"]);
        assert_eq!(counts(&runs), [256, 8192]);
        assert_eq!(file.command.join(" "), "mpirun -n {n} s");
        assert!(file.notes.is_empty(), "{:?}", file.notes);

        let mut runs = [ok("a", 2, 1, 0.0, "s"), ok("b", 2, 4, 1.0, "s")];
        assert_eq!(gathered(&mut runs, None).unwrap().0.axes[0].name, THREADS);
        assert_eq!(counts(&runs), [1, 4]);

        let mut runs = [ok("a", 2, 1, 0.0, "s"), ok("b", 4, 8, 1.0, "s"), ok("c", 0, 1, 2.0, "s")];
        let (file, _) = gathered(&mut runs, None).unwrap();
        assert_eq!(counts(&runs), [2, 32, 1]);
        let of_file: Vec<_> = file.points.iter().map(|point| file.count(point)).collect();
        assert_eq!(of_file, [Some(2), Some(32), Some(1)]);
    }

    #[test]
    fn repetitions_are_numbered_as_they_were_started_and_failures_left_out() {
        let mut runs = [
            ok("late", 0, 2, 9.0, "s"),
            ok("one", 0, 1, 5.0, "s"),
            run("killed", 0, 2, 3.0, "s", "signal 9 (SIGKILL)"),
            ok("early", 0, 2, 1.0, "s"),
        ];
        let (file, order) = gathered(&mut runs, None).unwrap();
        let points: Vec<_> =
            file.points.iter().map(|p| (p.dir.as_deref().unwrap(), p.repetition, p.outcome)).collect();
        let (done, failed) = (PointOutcome::Done, PointOutcome::Failed);
        assert_eq!(points, [("early", 1, done), ("killed", 0, failed), ("one", 1, done), ("late", 2, done)]);
        assert_eq!((order, file.repetitions), (vec![3, 2, 1, 0], 2));
    }

    #[test]
    fn runs_that_do_not_belong_together_are_refused() {
        let mut same = [ok("a", 0, 4, 0.0, "s"), ok("b", 0, 4, 1.0, "s"), ok("c", 0, 4, 1.0, "s")];
        let error = gathered(&mut same, None).unwrap_err().to_string();
        assert!(error.starts_with("all 3 runs that can be compared have 4 threads"), "{error}");
        assert!(gathered(&mut same, Some(&[1, 2, 2])).is_ok());
        assert_eq!(counts(&same), [1, 2, 2]);
        let mut other = [ok("a", 0, 4, 0.0, "s"), ok("b", 0, 2, 1.0, "s")];
        other[1].program = "t".into();
        assert!(matches!(gathered(&mut other, None), Err(NoSweep::OtherProgram { .. })));
        let mut failed = [run("a", 0, 4, 0.0, "s", "exit 1"), run("b", 0, 2, 0.0, "s", NOT_ENDED)];
        assert!(matches!(gathered(&mut failed, None), Err(NoSweep::None(_))));
    }

    #[test]
    fn another_input_is_noted() {
        let mut runs = [ok("a", 0, 1, 0.0, "s small"), ok("b", 0, 2, 1.0, "s large")];
        let (file, _) = gathered(&mut runs, None).unwrap();
        let differs = SweepFileNote::OtherCommands {
            command_a: "s small".into(),
            run_a: "a".into(),
            command_b: "s large".into(),
            run_b: "b".into(),
        };
        assert_eq!(file.notes[0], differs);
    }
}
