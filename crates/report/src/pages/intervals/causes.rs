//! Where what was lost in an interval was caused.
//!
//! JSON: `caused` is `{"inside_s","unknown_s","before_s","before":[{"interval":position|null,"label",
//! "seconds"}]}`, null of the whole run; `inside_s`, `unknown_s` and `before_s` sum to the interval's
//! `lost_s`. `before` has the intervals in which other threads were late, held a lock, or worked alone,
//! before or beside the losses, those with most first; the position is null outside of all intervals.

use std::borrow::Cow;

use proust_account::accounted::blame_within;
use proust_account::blame::Blame;
use proust_account::ledger::Windows;
use proust_profile::IntervalId;
use proust_query::Selection;
use proust_query::intervals::{IntervalNode, caused};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::account::Drawn;
use super::super::facts::seconds;
use super::Row;
use crate::error::ReportError;
use crate::number::duration;
use crate::question::Question;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Caused {
    inside_s: f64,
    unknown_s: f64,
    before_s: f64,
    before: Vec<Before>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Before {
    interval: Option<usize>,
    label: String,
    seconds: f64,
}

/// Fills in what is known of the rows' causes; `nodes` are those of the rows behind the first one.
pub(super) fn fill(
    rows: &mut [Row],
    nodes: &[IntervalNode],
    selection: &Selection<'_>,
    question: &Question,
    (drawn, kept): (&Drawn<'_>, Option<&Blame>),
) -> Result<(), ReportError> {
    if nodes.is_empty() {
        return Ok(());
    }
    let profile = selection.profile();
    let blame = match kept {
        Some(kept) => Cow::Borrowed(kept),
        None => {
            let windows = question.filter.windows().unwrap_or_else(Windows::all);
            Cow::Owned(blame_within(profile, question.processors, &windows)?.1)
        }
    };
    let all = caused(profile, &blame, drawn.io, nodes.iter().map(|node| (node.id, &node.inside)));
    // The run itself is the first row.
    let positions: FxHashMap<IntervalId, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.id, at + 1)).collect();
    let label = |id: Option<IntervalId>| match id {
        Some(id) => profile.intervals[id as usize].label(),
        None => "outside of all intervals".into(),
    };
    for (row, of) in rows.iter_mut().skip(1).zip(&all) {
        let mut before: Vec<Before> = of
            .elsewhere_ns
            .iter()
            .map(|(&id, &ns)| Before {
                interval: id.and_then(|id| positions.get(&id).copied()),
                label: label(id),
                seconds: seconds(ns),
            })
            .collect();
        before.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        row.caused = Some(Caused {
            inside_s: seconds(of.inside_ns),
            unknown_s: seconds(of.unknown_ns),
            before_s: before.iter().map(|one| one.seconds).sum(),
            before,
        });
    }
    Ok(())
}

impl Caused {
    /// In words; nothing where nothing was lost.
    pub(super) fn text(&self) -> Option<String> {
        const SHOWN: usize = 4;
        let sum_s = self.inside_s + self.unknown_s + self.before_s;
        if sum_s < 0.0005 {
            return None;
        }
        let mut text = format!(
            "Of {} that were lost in it, {} were caused inside",
            duration(sum_s),
            duration(self.inside_s)
        );
        if self.before_s > 0.0 {
            let one = |before: &Before| format!("{} {}", before.label, duration(before.seconds));
            let mut shown: Vec<String> = self.before.iter().take(SHOWN).map(one).collect();
            if self.before.len() > SHOWN {
                shown.push("others".into());
            }
            text.push_str(&format!(
                ", {} before or beside it: {}",
                duration(self.before_s),
                shown.join(", ")
            ));
        }
        if self.unknown_s > 0.0 {
            text.push_str(&format!("; the cause of {} is not known", duration(self.unknown_s)));
        }
        Some(text + ".")
    }
}
