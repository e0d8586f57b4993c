//! Reasons not to compare runs, and obstacles that make it impossible.

use serde::{Deserialize, Serialize};

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

/// Sides of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sides {
    /// Only A.
    #[default]
    A,
    /// Only B.
    B,
    /// A and B.
    Both,
}

/// Processors of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processors {
    /// Those that it used.
    pub used: u32,
    /// Those that it may use.
    pub available: u32,
}

/// A run in which others had the processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisturbedRun {
    /// Its folder.
    pub dir: String,
    /// For which part of the time in which its threads wanted a processor.
    pub share: f64,
}

proust_profile::notes! {
    /// What a reader must know before believing a comparison.
    pub enum Caution {
        /// A run is on more than one side: all differences are zero by nature.
        SameRun "same-run" Caution {
            /// Its folder.
            dir: String,
        }
        /// The sides are runs of different programs.
        OtherProgram "other-program" Caution {
            /// The executable of A.
            a: String,
            /// The executable of B.
            b: String,
        }
        /// The program had other arguments: another input, perhaps.
        OtherArguments "other-arguments" Caution {
            /// The command of A.
            a: Vec<String>,
            /// The command of B.
            b: Vec<String>,
        }
        /// Regions were executed more often on one side: another input, perhaps, or another algorithm.
        OtherCounts "other-counts" Caution {
            /// The region or site.
            place: String,
            /// Executions in A.
            a: u64,
            /// Executions in B.
            b: u64,
            /// How many places differ.
            places: usize,
        }
        /// The runs are of different hosts.
        OtherHost "other-host" Caution {
            /// Host of A.
            a: String,
            /// Host of B.
            b: String,
        }
        /// The runs had, or used, different numbers of processors.
        OtherProcessors "other-processors" Caution {
            /// Those of A.
            a: Processors,
            /// Those of B.
            b: Processors,
        }
        /// A run ended otherwise than with exit code 0.
        Failed "failed" Caution {
            /// Its folder.
            dir: String,
            /// How it ended.
            outcome: String,
        }
        /// No line of a side's own code is known.
        NoLines "no-lines" Note {
            /// The side.
            side: Sides,
        }
        /// Other programs had the processors for a part of the time that matters.
        Disturbed "disturbed" Caution {
            /// The runs.
            runs: Vec<DisturbedRun>,
        }
        /// A side is a single run: it is not known how much this program's runs differ from each other.
        Single "single" Note {
            /// The side.
            side: Sides,
        }
    }
}

pub(super) fn check(a: &[ComparedRun], b: &[ComparedRun]) -> Result<(), NotComparable> {
    for (side, runs) in [("A", a), ("B", b)] {
        if runs.is_empty() {
            return Err(NotComparable::NoRun { side });
        }
    }
    let is_empty = |run: &&ComparedRun| run.ledger.total_ns == 0 && !run.cpu.is_positive();
    match a.iter().chain(b).find(is_empty) {
        Some(run) => Err(NotComparable::Empty { dir: run.facts.dir.clone() }),
        None => Ok(()),
    }
}

/// The joint tree begins with the runs of A; the first of B is at `first_of_b`.
pub(super) fn cautions(
    a: &[ComparedRun],
    b: &[ComparedRun],
    joint: &Joint<'_>,
    first_of_b: usize,
) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let (first, other) = (&a[0], &b[0]);
    let identity = |run: &ComparedRun| {
        (run.facts.start_unix_s.to_bits(), run.facts.host.clone(), run.facts.command.clone())
    };
    for run in a {
        if b.iter().any(|other| identity(run) == identity(other) && run.cpu == other.cpu) {
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
    cautions.extend(counts(joint, 0, first_of_b));
    if first.facts.host != other.facts.host {
        cautions.push(Caution::OtherHost { a: first.facts.host.clone(), b: other.facts.host.clone() });
    }
    let processors = |run: &ComparedRun| Processors {
        used: run.ledger.processors,
        available: run.facts.available_processors,
    };
    if processors(first) != processors(other) {
        cautions.push(Caution::OtherProcessors { a: processors(first), b: processors(other) });
    }
    for run in a.iter().chain(b) {
        if !matches!(run.facts.outcome.as_str(), "exit 0" | "") {
            let (dir, outcome) = (run.facts.dir.clone(), run.facts.outcome.clone());
            cautions.push(Caution::Failed { dir, outcome });
        }
    }
    let mut disturbed: Vec<DisturbedRun> = (a.iter().chain(b))
        .filter(|run| run.disturbance.is_noticed())
        .map(|run| DisturbedRun { dir: run.facts.dir.clone(), share: run.disturbance.share })
        .collect();
    disturbed.dedup();
    if !disturbed.is_empty() {
        cautions.push(Caution::Disturbed { runs: disturbed });
    }
    for (side, runs) in [(Sides::A, a), (Sides::B, b)] {
        if !runs.iter().any(|run| run.has_lines) {
            cautions.push(Caution::NoLines { side });
        }
    }
    let single = match (a.len() == 1, b.len() == 1) {
        (true, true) => Some(Sides::Both),
        (true, false) => Some(Sides::A),
        (false, true) => Some(Sides::B),
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
