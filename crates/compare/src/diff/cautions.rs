//! Reasons not to compare runs, and obstacles that make it impossible.

use super::super::joint::Joint;
use super::super::names::base_name;
use super::super::node::JointId;
use super::super::run::ComparedRun;

/// Runs that have nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// A run has no samples, no operations, and no time.
    #[error("the run {dir} is empty: nothing was measured in it, so that there is nothing to compare")]
    Empty {
        /// Its folder.
        dir: String,
    },
    /// A side has no run.
    #[error("there is no run on the side {side}")]
    NoRun {
        /// `A` or `B`.
        side: &'static str,
    },
}

/// What a reader must know before believing a comparison.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// A run is on both sides: all differences are zero by nature.
    SameRun {
        /// Its folder.
        dir: String,
    },
    /// Other programs.
    OtherProgram {
        /// The executable of A.
        a: String,
        /// The executable of B.
        b: String,
    },
    /// The same program with other arguments: another input, perhaps.
    OtherArguments {
        /// The command of A.
        a: Vec<String>,
        /// The command of B.
        b: Vec<String>,
    },
    /// Regions were executed a different number of times: other inputs, or another algorithm.
    OtherCounts {
        /// The region or site.
        place: String,
        /// Executions in A.
        a: u64,
        /// Executions in B.
        b: u64,
        /// How many places differ.
        places: usize,
    },
    /// Other hosts.
    OtherHost {
        /// Host of A.
        a: String,
        /// Host of B.
        b: String,
    },
    /// Different numbers of processors were available, or used.
    OtherProcessors {
        /// Used in A, of so many available.
        a: (u32, u32),
        /// The same in B.
        b: (u32, u32),
    },
    /// A run ended otherwise than with exit code 0.
    Failed {
        /// Its folder.
        dir: String,
        /// How it ended.
        outcome: String,
    },
    /// No line of a side's own code is known.
    NoLines {
        /// `A` or `B`.
        side: &'static str,
    },
    /// Others had the processors for a part of the time that matters.
    Disturbed {
        /// The folders of such runs, and which part of the time in which their threads wanted a processor
        /// that was.
        runs: Vec<(String, f64)>,
    },
    /// A side is a single run: it is not known how much this program's runs differ from each other.
    Single {
        /// `A`, `B`, or `A and B`.
        side: &'static str,
    },
}

pub(super) fn check(a: &[ComparedRun], b: &[ComparedRun]) -> Result<(), NotComparable> {
    for (side, runs) in [("A", a), ("B", b)] {
        if runs.is_empty() {
            return Err(NotComparable::NoRun { side });
        }
    }
    let is_empty = |run: &&ComparedRun| run.ledger.total_ns == 0 && run.cpu_s == 0.0;
    match a.iter().chain(b).find(is_empty) {
        Some(run) => Err(NotComparable::Empty { dir: run.facts.dir.clone() }),
        None => Ok(()),
    }
}

/// The joint tree is that of the runs of A, and after them those of B.
pub(super) fn cautions(a: &[ComparedRun], b: &[ComparedRun], joint: &Joint<'_>) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let (first, other) = (&a[0], &b[0]);
    let identity = |run: &ComparedRun| {
        (run.facts.start_unix_s.to_bits(), run.facts.host.clone(), run.facts.command.clone())
    };
    for run in a {
        if b.iter().any(|other| identity(run) == identity(other) && run.cpu_s == other.cpu_s) {
            cautions.push(Caution::SameRun { dir: run.facts.dir.clone() });
        }
    }
    let (command_a, command_b) = (&first.facts.command, &other.facts.command);
    let program = |command: &[String]| base_name(command.first().map_or("", String::as_str)).to_owned();
    if program(command_a) != program(command_b) {
        cautions.push(Caution::OtherProgram { a: program(command_a), b: program(command_b) });
    } else if command_a.get(1..) != command_b.get(1..) {
        cautions.push(Caution::OtherArguments { a: command_a.clone(), b: command_b.clone() });
    }
    cautions.extend(counts(joint, 0, a.len()));
    if first.facts.host != other.facts.host {
        cautions.push(Caution::OtherHost { a: first.facts.host.clone(), b: other.facts.host.clone() });
    }
    let processors = |run: &ComparedRun| (run.ledger.processors, run.facts.available_processors);
    if processors(first) != processors(other) {
        cautions.push(Caution::OtherProcessors { a: processors(first), b: processors(other) });
    }
    for run in a.iter().chain(b) {
        if !matches!(run.facts.outcome.as_str(), "exit 0" | "") {
            let (dir, outcome) = (run.facts.dir.clone(), run.facts.outcome.clone());
            cautions.push(Caution::Failed { dir, outcome });
        }
    }
    let mut disturbed: Vec<(String, f64)> = (a.iter().chain(b))
        .filter(|run| run.disturbance.is_noticed())
        .map(|run| (run.facts.dir.clone(), run.disturbance.share))
        .collect();
    disturbed.dedup();
    if !disturbed.is_empty() {
        cautions.push(Caution::Disturbed { runs: disturbed });
    }
    for (side, runs) in [("A", a), ("B", b)] {
        if !runs.iter().any(|run| run.has_lines) {
            cautions.push(Caution::NoLines { side });
        }
    }
    let single = match (a.len() == 1, b.len() == 1) {
        (true, true) => Some("A and B"),
        (true, false) => Some("A"),
        (false, true) => Some("B"),
        (false, false) => None,
    };
    cautions.extend(single.map(|side| Caution::Single { side }));
    cautions
}

/// Where the two are of the same program, its regions are executed as often, if the input is the same.
fn counts(joint: &Joint<'_>, a: usize, b: usize) -> Option<Caution> {
    let (of_a, of_b) = (joint.executions(a), joint.executions(b));
    let differ = |&node: &usize| of_a[node] != 0 && of_b[node] != 0 && of_a[node] != of_b[node];
    let differing: Vec<usize> = (0..joint.len()).filter(differ).collect();
    // The most useful one: executed most often.
    let most = differing.iter().copied().max_by_key(|&node| of_a[node].max(of_b[node]))?;
    let label = joint.label(most as JointId);
    let at = label.file.zip(label.line).map(|(file, line)| format!("{}:{line}", base_name(file)));
    let name = Some(label.name.to_owned()).filter(|name| !name.is_empty());
    let place = name.into_iter().chain(at).collect::<Vec<_>>().join(", ");
    Some(Caution::OtherCounts { place, a: of_a[most], b: of_b[most], places: differing.len() })
}
