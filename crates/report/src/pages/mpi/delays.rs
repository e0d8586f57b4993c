//! The delay costs on the page `mpi`.

use proust_profile::WaitPattern;
use proust_query::mpi::delay_costs::{DelayCosts, DelaySum, WaitParts};
use proust_query::{Handle, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::site::Site;
use super::by_place::{Placed, by_place};
use super::row::{operation, rank, rank_or_thread};
use super::text::{LINES, LITTLE, more_places, right, section};
use crate::number::{Scale, duration, percent, sum};
use crate::style::Style;
use crate::table::{Align, Cell, Table};
use crate::wrap::wrapped;

/// What delays cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DelayLines {
    /// Waits since the partner worked longer; the sum of the delays' `short_term_s`.
    direct_s: f64,
    /// Waits since the partner had waited itself; the sum of the delays' `long_term_s`.
    indirect_s: f64,
    /// Of both, those that made others wait.
    propagating_s: f64,
    /// The same by pattern.
    patterns: Vec<PatternParts>,
    /// By cost, highest first.
    delays: Vec<DelayLine>,
}

/// The waits of a pattern.
#[derive(Debug, Serialize, JsonSchema)]
struct PatternParts {
    pattern: &'static str,
    direct_s: f64,
    indirect_s: f64,
    propagating_s: f64,
}

/// What a late thread did longer, between two synchronisations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct DelayLine {
    rank: Option<u32>,
    thread: String,
    #[serde(flatten)]
    site: Site,
    context: String,
    /// The operation, where it is one; null = the function's own work.
    operation: Option<String>,
    /// Where both had gone on together before; null = since they began.
    since: Option<Site>,
    /// Where it was waited for.
    waited_in: Site,
    /// Waits for the thread itself.
    short_term_s: f64,
    /// Waits for others that had to wait for it.
    long_term_s: f64,
    /// Both.
    seconds: f64,
}

impl DelayLines {
    pub(super) fn of(selection: &Selection<'_>) -> Option<DelayLines> {
        let costs = DelayCosts::of(selection);
        let pattern = |&pattern: &WaitPattern| {
            let WaitParts { direct_ns, indirect_ns, propagating_ns } = *costs.parts.get(&pattern)?;
            let [direct_s, indirect_s, propagating_s] =
                [direct_ns, indirect_ns, propagating_ns].map(|ns| ns / 1e9);
            let is_any = direct_s + indirect_s > 0.0;
            is_any.then_some(PatternParts { pattern: pattern.id(), direct_s, indirect_s, propagating_s })
        };
        let patterns: Vec<PatternParts> = WaitPattern::ALL.iter().filter_map(pattern).collect();
        let delays: Vec<DelayLine> =
            costs.delays.iter().map(|delay| DelayLine::of(selection, delay)).collect();
        (!patterns.is_empty()).then(|| DelayLines {
            direct_s: sum(patterns.iter().map(|of| of.direct_s)),
            indirect_s: sum(patterns.iter().map(|of| of.indirect_s)),
            propagating_s: sum(patterns.iter().map(|of| of.propagating_s)),
            patterns,
            delays,
        })
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let mut text = section(style, "Delay costs", "waits by the work that was late, also through others");
        let all_s = self.direct_s + self.indirect_s;
        let parts = format!(
            "{} waited = {} directly + {} since the partner had waited itself; {} made others wait",
            duration(all_s),
            duration(self.direct_s),
            duration(self.indirect_s),
            duration(self.propagating_s),
        );
        text.push_str(&wrapped(&parts, 1, style.width));
        let scale = Scale::seconds(self.delays.iter().map(|delay| delay.seconds));
        let mut titles = vec![(scale.title("costs"), Align::Right)];
        titles.extend(right(&["%", "short term", "long term", "rank"]));
        titles.extend([("by".to_owned(), Align::Left), ("waited in".to_owned(), Align::Left)]);
        let mut table = Table::new(titles);
        let is_much = |delay: &&DelayLine| delay.seconds >= LITTLE * all_s;
        let delays = by_place(&self.delays);
        let shown = delays.iter().take(LINES).take_while(is_much).count();
        for delay in &delays[..shown] {
            table.row(vec![
                scale.show(delay.seconds).into(),
                percent(delay.seconds, all_s).into(),
                scale.show(delay.short_term_s).into(),
                scale.show(delay.long_term_s).into(),
                rank_or_thread(delay.rank, &delay.thread).into(),
                delay.by().into(),
                match delay.since_elsewhere() {
                    Some(since) => {
                        Cell::from(delay.waited_in.text()).with_tail(format!("since {}", since.text()))
                    }
                    None => delay.waited_in.text().into(),
                },
            ]);
        }
        text.push_str(&table.render_within(&["long term", "short term"], style));
        text + &more_places(delays.len() - shown, "delay")
    }
}

impl DelayLine {
    fn of(selection: &Selection<'_>, delay: &DelaySum) -> DelayLine {
        let (context, called) = delay.activity;
        DelayLine {
            rank: rank(selection.profile(), delay.late),
            thread: Handle::Location(delay.late).to_string(),
            site: Site::of_location(selection, context, delay.late),
            context: Handle::Context(context).to_string(),
            operation: called.map(|called| operation(selection.profile(), called)),
            since: delay.begin.map(|begin| Site::of(selection, begin)),
            waited_in: Site::of(selection, delay.end),
            short_term_s: delay.short_ns / 1e9,
            long_term_s: delay.long_ns / 1e9,
            seconds: (delay.short_ns + delay.long_ns) / 1e9,
        }
    }
    /// What it did longer.
    fn by(&self) -> String {
        match &self.operation {
            Some(operation) => format!("{operation} in {}", self.site.text()),
            None => self.site.text(),
        }
    }

    /// Where both had gone on together before, unless that is where it was waited for.
    fn since_elsewhere(&self) -> Option<&Site> {
        self.since.as_ref().filter(|since| since.text() != self.waited_in.text())
    }
}

impl Placed for DelayLine {
    fn place(&self) -> String {
        let since = self.since_elsewhere().map(Site::text).unwrap_or_default();
        [rank_or_thread(self.rank, &self.thread), self.by(), self.waited_in.text(), since].join(" ")
    }

    fn add(&mut self, other: &DelayLine) {
        self.short_term_s += other.short_term_s;
        self.long_term_s += other.long_term_s;
        self.seconds += other.seconds;
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}
