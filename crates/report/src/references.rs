//! Runs on one processor that the forecasts of another run are compared with: of the same program, and of a
//! sequential build.

use std::collections::BTreeMap;

use proust_account::ledger::Windows;
use proust_profile::{IntervalId, Profile};
use proust_query::characteristics::Characterised;
use proust_query::intervals::{self, Intervals};
use proust_query::{Filter, Selection};
use proust_words::counted;
use rustc_hash::FxHashMap;

use crate::error::ReportError;

/// The labels of the intervals around one, and its own, from the outermost; and the how-manieth of these it
/// is, since intervals of one name may begin at several lines. A sequential build has other lines.
pub(crate) type Path = (Vec<String>, usize);

/// How long the intervals of a run on one processor took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// The run's folder, as the user named it.
    pub dir: String,
    times: BTreeMap<Path, Executed>,
}

/// An interval of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Executed {
    pub time_ns: u64,
    pub executions: f64,
}

/// Runs on one processor, to compare with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    /// Of the same program.
    pub serial: Option<Reference>,
    /// Of a sequential build.
    pub sequential: Option<Reference>,
}

impl References {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.serial.is_none() && self.sequential.is_none()
    }
}

impl Reference {
    /// Of the profile of a run in this folder, which `option` names; the profile needs its rows.
    ///
    /// # Errors
    /// When the run had several processors, or its account cannot be drawn up.
    pub fn of(profile: &Profile, dir: &str, option: &str) -> Result<Reference, ReportError> {
        let filter = Filter::default();
        let selection = Selection::new(profile, &filter);
        let found = intervals::intervals(
            profile,
            &intervals::Question {
                locations: selection.locations(),
                windows: Windows::all(),
                processors: None,
                wanted: None,
                in_scope: selection.intervals().to_vec(),
            },
        )?;
        let used = found.run.as_ref().map_or(0, |of| of.interval.processors);
        if used != 1 {
            return Err(ReportError::Usage(format!(
                "{dir} ran on {}, and {option} takes a run on one: record one with one rank and \
                 OMP_NUM_THREADS=1; without {option} the page has the forecast alone",
                counted(used as u64, "processor")
            )));
        }
        Ok(Reference { dir: dir.to_owned(), times: times(profile, &found) })
    }

    /// Of an interval; None: the run has none like it.
    pub(crate) fn of_path(&self, path: &Path) -> Option<Executed> {
        self.times.get(path).copied()
    }
}

fn times(profile: &Profile, found: &Intervals) -> BTreeMap<Path, Executed> {
    let executed =
        |of: &Characterised| Executed { time_ns: of.interval.execution_ns, executions: of.executions };
    let mut paths = Paths::default();
    let mut times = BTreeMap::new();
    times.extend(found.run.as_ref().map(|of| ((Vec::new(), 0), executed(of))));
    for node in &found.nodes {
        let path = paths.of(profile, node.id);
        times.extend(node.characteristics.as_ref().map(|of| (path, executed(of))));
    }
    times
}

/// Gives intervals their paths, in the order of the page.
#[derive(Default)]
pub(crate) struct Paths(FxHashMap<Vec<String>, usize>);

impl Paths {
    /// The next one's.
    pub(crate) fn of(&mut self, profile: &Profile, id: IntervalId) -> Path {
        let info = |id: IntervalId| profile.intervals.get(id as usize);
        let around = std::iter::successors(Some(id), |&id| info(id)?.parent);
        let mut labels: Vec<String> =
            around.map(|id| info(id).map_or_else(String::new, |info| info.label())).collect();
        labels.reverse();
        let count = self.0.entry(labels.clone()).or_default();
        *count += 1;
        (labels, *count - 1)
    }
}
