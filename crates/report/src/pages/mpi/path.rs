//! The critical path on the page `mpi`.

use proust_profile::{LocationId, Profile};
use proust_query::mpi::critical_path::{CriticalPath, PathSum};
use proust_query::{Handle, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::site::Site;
use super::by_place::{Placed, by_place};
use super::row::{operation, rank};
use super::text::{LINES, LITTLE, more_places, right, section};
use crate::number::{Scale, duration, percent};
use crate::style::Style;
use crate::table::{Align, Table};
use crate::wrap::wrapped;

/// The critical path of the whole run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PathLine {
    /// From the first rank's begin of MPI to the last one's end.
    length_s: f64,
    /// True where a filter selects less than that: the path is that of the whole run all the same.
    ignores_where: bool,
    /// False where some messages or collectives are not matched: their waits would lead it elsewhere.
    complete: bool,
    /// Parts that it consists of, each in one thread.
    parts: usize,
    /// Sums to `length_s`.
    ranks: Vec<PathRank>,
    /// Sums to `length_s`.
    activities: Vec<PathActivity>,
    impact: PathImpact,
}

/// Its time in a thread.
#[derive(Debug, Serialize, JsonSchema)]
struct PathRank {
    rank: Option<u32>,
    thread: String,
    seconds: f64,
}

/// What is done on it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PathActivity {
    #[serde(flatten)]
    site: Site,
    context: String,
    /// The operation, where it is one; null = the function's own work.
    operation: Option<String>,
    seconds: f64,
    /// One standard error of `seconds`.
    error_s: f64,
    /// What ranks spent in it, on average.
    mean_s: f64,
    /// What is longer on the path than that.
    imbalance_s: f64,
    /// Time of all ranks lost since it takes longer on the path than in them.
    cost_s: f64,
}

/// The time of all ranks; the sum of the others is `total_s`, ranks × length.
#[derive(Debug, Serialize, JsonSchema)]
struct PathImpact {
    total_s: f64,
    activities_s: f64,
    imbalance_s: f64,
    other_code_s: f64,
    off_path_s: f64,
}

impl PathLine {
    pub(super) fn of(selection: &Selection<'_>, is_filtered: bool) -> Option<PathLine> {
        let profile = selection.profile();
        let path = CriticalPath::of(profile)?;
        let rank_of = |&(location, ns): &(LocationId, u64)| PathRank {
            rank: rank(profile, location),
            thread: Handle::Location(location).to_string(),
            seconds: seconds(ns),
        };
        let impact = path.impact;
        Some(PathLine {
            length_s: seconds(path.length_ns),
            ignores_where: is_filtered,
            complete: path.is_complete,
            parts: path.steps.len(),
            ranks: path.by_location.iter().map(rank_of).collect(),
            activities: path.activities.iter().map(|sum| PathActivity::of(selection, profile, sum)).collect(),
            impact: PathImpact {
                total_s: path.ranks as f64 * seconds(path.length_ns),
                activities_s: impact.activity_ns / 1e9,
                imbalance_s: impact.imbalance_ns / 1e9,
                other_code_s: impact.apart_ns / 1e9,
                off_path_s: impact.off_path_ns / 1e9,
            },
        })
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let scope = format!("of the whole run, {}, no waits on it", duration(self.length_s));
        let mut text = section(style, "Critical path", &scope);
        if self.ignores_where {
            text.push_str(" --where does not select it: it leads through all ranks, from begin to end\n");
        }
        if !self.complete {
            text.push_str(" not all messages and collectives are matched: it may lead elsewhere\n");
        }
        let share = |line: &PathRank| {
            let name = line.rank.map_or_else(|| line.thread.clone(), |rank| format!("rank {rank}"));
            format!("{name} {} %", percent(line.seconds, self.length_s))
        };
        let shown: Vec<String> = self.ranks.iter().take(LINES).map(share).collect();
        let others = match self.ranks.len().saturating_sub(LINES) {
            0 => String::new(),
            hidden => format!(", {} not shown", counted(hidden, "rank")),
        };
        let ranks = format!("{}{others}; {}", shown.join(", "), counted(self.parts, "part"));
        text.push_str(&wrapped(&ranks, 1, style.width));
        let scale = Scale::seconds(self.activities.iter().map(|line| line.seconds));
        let mut titles = vec![(scale.title("on path"), Align::Right)];
        titles.extend(right(&["±", "%", "mean", "imbalance", "costs"]));
        titles.extend([("activity".to_owned(), Align::Left), ("in".to_owned(), Align::Left)]);
        let mut table = Table::new(titles);
        let is_much = |line: &&PathActivity| line.seconds >= LITTLE * self.length_s;
        let activities = by_place(&self.activities);
        let shown = activities.iter().take(LINES).take_while(is_much).count();
        for line in &activities[..shown] {
            table.row(vec![
                scale.show(line.seconds).into(),
                scale.show(line.error_s).into(),
                percent(line.seconds, self.length_s).into(),
                scale.show(line.mean_s).into(),
                scale.show(line.imbalance_s).into(),
                scale.show(line.cost_s).into(),
                line.operation.clone().unwrap_or_else(|| "own work".to_owned()).into(),
                line.site.cell(),
            ]);
        }
        text.push_str(&table.render_within(&["mean", "imbalance", "±"], style));
        text.push_str(&more_places(activities.len() - shown, "activity"));
        let of = &self.impact;
        text + &format!(
            " time of all ranks {} = {} as on the path + {} other work\n   \
             + {} lost by imbalance + {} lost to code that they do not execute\n",
            duration(of.total_s),
            duration(of.activities_s),
            duration(of.off_path_s),
            duration(of.imbalance_s),
            duration(of.other_code_s),
        )
    }
}

impl PathActivity {
    fn of(selection: &Selection<'_>, profile: &Profile, sum: &PathSum) -> PathActivity {
        let (context, called) = sum.activity;
        PathActivity {
            site: Site::of(selection, context),
            context: Handle::Context(context).to_string(),
            operation: called.map(|called| operation(profile, called)),
            seconds: sum.on_path_ns / 1e9,
            error_s: sum.error_ns / 1e9,
            mean_s: sum.mean_ns / 1e9,
            imbalance_s: sum.imbalance_ns / 1e9,
            cost_s: sum.cost_ns / 1e9,
        }
    }
}

impl Placed for PathActivity {
    fn place(&self) -> String {
        format!("{} {}", self.operation.as_deref().unwrap_or_default(), self.site.text())
    }

    fn add(&mut self, other: &PathActivity) {
        self.seconds += other.seconds;
        self.error_s = self.error_s.hypot(other.error_s);
        self.mean_s += other.mean_s;
        self.imbalance_s += other.imbalance_s;
        self.cost_s += other.cost_s;
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}
