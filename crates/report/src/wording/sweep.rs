//! Notes about the runs of a sweep, and of two.

use proust_profile::notes::{Gap, SweepFileNote};
use proust_words::{counted, verb};
use serde::{Deserialize, Serialize};

use super::{Worded, gaps_listed};

/// What is missing in the data of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GapsOfRun {
    /// The run.
    pub run: String,
    /// What is missing.
    pub gaps: Vec<Gap>,
}

proust_profile::notes! {
    /// Something that a reader must know about the runs of a sweep.
    pub enum SweepNote {
        /// A run cannot be read.
        RunLeftOut "run-left-out" Caution {
            /// Its name.
            run: String,
            /// Its sweep, where there are several.
            sweep: Option<String>,
            /// Why, in the words of the error.
            error: String,
        }
        /// The data of runs are incomplete.
        IncompleteRuns "incomplete-runs" Caution {
            /// Their sweep, where there are several.
            sweep: Option<String>,
            /// How many.
            runs: usize,
            /// The first of them.
            first: Vec<GapsOfRun>,
        }
        /// Runs failed, or are not done.
        RunsMissing "runs-missing" Caution {
            /// Their sweep.
            sweep: String,
            /// How many.
            runs: usize,
        }
        /// The sweeps are of unlike commands.
        OtherCommands "other-commands" Caution {}
        /// The sweep has other runs, which are not shown.
        OtherCombinations "other-combinations" Note {
            /// What they are made with.
            combinations: Vec<String>,
        }
        /// The runs are not of the same programs.
        OtherPrograms "other-programs" Caution {
            /// A run.
            run_a: String,
            /// Its programs.
            programs_a: Vec<String>,
            /// Another run.
            run_b: String,
            /// Its programs.
            programs_b: Vec<String>,
        }
        /// The runs had unlike numbers of processors.
        OtherProcessors "other-processors" Caution {}
        /// Some counts have a single run.
        SingleRuns "single-runs" Note {
            /// The counts.
            counts: Vec<u32>,
        }
        /// The program has no debug information.
        NoLines "no-lines" Note {}
        /// The program's teams are not as large as asked for.
        OtherTeams "other-teams" Caution {
            /// The largest team.
            threads: u32,
            /// In the run with this count.
            count: u32,
        }
        /// Some counts are larger than the number of processors.
        Oversubscribed "oversubscribed" Caution {
            /// Processors there are.
            processors: u32,
            /// The counts.
            counts: Vec<u32>,
        }
        /// There are too few counts for a formula.
        NoFormula "no-formula" Note {
            /// How many there are.
            counts: usize,
            /// How many it takes.
            needed: usize,
        }
        /// Regions are degraded while other programs had the processors.
        DisturbedRegions "disturbed-regions" Caution {
            /// How many.
            regions: usize,
        }
        /// Runs did not do the same at a place.
        Disagreement "disagreement" Caution {
            /// The place.
            place: String,
            /// Least executions.
            fewest: u64,
            /// With this count.
            fewest_count: u32,
            /// Most executions.
            most: u64,
            /// With this count.
            most_count: u32,
        }
    }
}

impl Worded for SweepNote {
    fn text(&self) -> String {
        match self {
            SweepNote::RunLeftOut { run, sweep: None, error } => format!(
                "the run {run} is left out: \
                {error}"
            ),
            SweepNote::RunLeftOut { run, sweep: Some(sweep), error } => {
                format!("{run} of {sweep} cannot be read: {error}")
            }
            SweepNote::IncompleteRuns { sweep, runs, first } => {
                let named = first.iter().map(|run| format!("{} ({})", run.run, gaps_listed(&run.gaps)));
                let named = named.collect::<Vec<_>>().join(", ");
                let more = runs.saturating_sub(first.len());
                format!(
                    "{}the data of {} are incomplete: {named}{}",
                    sweep.as_ref().map_or_else(String::new, |sweep| format!("of {sweep}, ")),
                    counted(*runs, "run"),
                    if more > 0 { format!(" and {more} more") } else { String::new() }
                )
            }
            SweepNote::RunsMissing { sweep, runs } => {
                format!("{} of {sweep} failed or not done: the others are compared", counted(*runs, "run"))
            }
            SweepNote::OtherCommands {} => {
                "the commands of the sweeps differ: if the input is another one, differences need not come \
                 from the program"
                    .into()
            }
            SweepNote::OtherCombinations { combinations } => {
                format!("the sweep also has {}: write it behind the page's name", combinations.join("; "))
            }
            SweepNote::OtherPrograms { run_a, programs_a, run_b, programs_b } => format!(
                "the runs are not of the same programs: {} in {run_a}, {} in {run_b}; what has no \
                 counterpart is compared with nothing",
                programs_a.join(", "),
                programs_b.join(", ")
            ),
            SweepNote::OtherProcessors {} => "not all runs had the same number of processors".into(),
            SweepNote::SingleRuns { counts } => format!(
                "only one run is done with a count of {}: nothing is known of how repetitions differ \
                 (--repeat 3)",
                list(counts)
            ),
            SweepNote::NoLines {} => {
                "the program has no debug information: functions are compared, lines are not known (build it \
                 with -g)"
                    .into()
            }
            SweepNote::OtherTeams { threads, count } => format!(
                "the program's teams are not as large as asked for: {} in the run with a count of {count}; \
                 does it set the number itself?",
                counted(*threads, "thread")
            ),
            SweepNote::Oversubscribed { processors, counts } => format!(
                "{} available: with a count of {} (marked *) the program is oversubscribed, and nothing is \
                 to be expected of that",
                counted(*processors, "processor"),
                list(counts)
            ),
            SweepNote::NoFormula { counts, needed } => {
                format!("{} make no formula of the count: that needs {needed}", counted(*counts, "count"))
            }
            SweepNote::DisturbedRegions { regions } => format!(
                "in {} that {} degraded others had the processors for a part of the time that matters: \
                 measure again on a quiet machine before you change the program for it",
                counted(*regions, "region"),
                verb(*regions, "is", "are")
            ),
            SweepNote::Disagreement { place, fewest, fewest_count, most, most_count } => format!(
                "{place}: {} with a count of {fewest_count}, {} with {most_count}: the runs did not do the \
                 same there, and their times are not comparable",
                counted(*fewest, "execution"),
                counted(*most, "execution")
            ),
        }
    }
}

impl Worded for SweepFileNote {
    fn text(&self) -> String {
        match self {
            SweepFileNote::MadeElsewhere { first_host, first_processors, host, processors } => format!(
                "its first runs were made on {first_host} with {}, later ones on {host} with {}: they may \
                 not be comparable",
                counted(*first_processors, "processor"),
                counted(*processors, "processor")
            ),
            SweepFileNote::OtherHosts { host_a, host_b } => format!(
                "the runs were made on different hosts, {host_a} and {host_b}: differences may be those of \
                 the machines"
            ),
            SweepFileNote::OtherCommands { command_a, run_a, command_b, run_b } => format!(
                "the commands differ in more than the count: `{command_a}` in {run_a}, `{command_b}` in \
                 {run_b}; if the input is another one, differences need not come from the count (a problem \
                 that grows with it: --weak)"
            ),
            SweepFileNote::VariableOverridden { variable, value } => {
                format!("{variable}={value} of the environment gives way to the count of each run")
            }
            SweepFileNote::ThreadLimit { limit, most } => {
                format!("OMP_THREAD_LIMIT={limit} allows fewer threads than {most}")
            }
            SweepFileNote::DynamicThreads {} => {
                "OMP_DYNAMIC=true lets the runtime use fewer threads than asked for".into()
            }
        }
    }
}

fn list(counts: &[u32]) -> String {
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
