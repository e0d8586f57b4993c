//! What a location did, as the page shows it: spans, and their letters.

use proust_profile::ContextId;
use std::collections::BTreeMap;

use proust_account::ledger::{PassiveReason, Span, Spans, State, Wait, Windows, Work};
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::sum;
use crate::pages::facts::seconds;
use crate::style::Paint;

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SpanRow<'p> {
    pub start_s: f64,
    pub end_s: f64,
    pub state: &'static str,
    pub account: Option<&'static str>,
    pub passive: Option<&'static str>,
    #[schemars(with = "u32")]
    pub context: ContextId,
    /// Handles of the functions that lead to the context, the outermost first, where they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<&'p [String]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<&'static str, f64>,
}

/// Name of the part of a span in which the location had no processor. Which account that is cannot be said of
/// one location alone.
const QUEUED: &str = "queued";

impl<'p> SpanRow<'p> {
    fn new(span: &Span, start_ns: u64, end_ns: u64) -> SpanRow<'p> {
        let id = Some(state_id(span.state));
        let (state, account, passive) = match span.state {
            State::Working(_) => ("working", id, None),
            State::Waiting(_) => ("waiting", id, None),
            State::Polling(_) => ("polling", id, None),
            State::Passive(_) => ("passive", None, id),
        };
        let mut parts = BTreeMap::new();
        if passive.is_none() {
            let share = (end_ns - start_ns) as f64 / span.length_ns().max(1) as f64;
            parts.extend(span.parts.iter().map(|(kind, ns)| (work_id(kind.work()), seconds(ns) * share)));
        }
        let (start_s, end_s) = (seconds(start_ns), seconds(end_ns));
        SpanRow { start_s, end_s, state, account, passive, context: span.context, path: None, parts }
    }

    /// Takes in a span that follows, if it is more of the same.
    fn join(&mut self, next: &SpanRow<'p>) -> bool {
        let same = self.end_s == next.start_s
            && (self.state, self.account, self.passive, self.context)
                == (next.state, next.account, next.passive, next.context);
        if same {
            self.end_s = next.end_s;
            for (id, seconds) in &next.parts {
                *self.parts.entry(id).or_default() += seconds;
            }
        }
        same
    }

    pub fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Its parts, by identifier.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let own = self.account.or(self.passive).unwrap_or("unknown");
        let others = sum(self.parts.values().copied()).min(self.length_s());
        let parts = self.parts.iter().map(|(id, seconds)| (*id, *seconds));
        [(own, self.length_s() - others)].into_iter().chain(parts)
    }
}

/// What a state is called: an account, or the reason for being passive.
pub(super) fn state_id(state: State) -> &'static str {
    match state {
        State::Working(work) => work_id(work),
        State::Waiting(wait) | State::Polling(wait) => wait_id(wait),
        State::Passive(reason) => reason.id(),
    }
}

fn work_id(work: Work) -> &'static str {
    if work == Work::Delayed { QUEUED } else { work.account().id() }
}

fn wait_id(wait: Wait) -> &'static str {
    wait.account().id()
}

/// What an account is called here: which one a delay is on cannot be said of one instant.
pub(super) fn state_of(id: &'static str) -> &'static str {
    match id {
        "oversubscribed" | "preempted" => QUEUED,
        id => id,
    }
}

/// The letter of a state: upper case is active, lower case passive.
pub(super) fn letter(id: &str) -> char {
    match id {
        "compute" => 'C',
        "io" => 'I',
        "replicated" => 'D',
        "barrier" => 'B',
        "lock" => 'L',
        "mpi-partner" => 'W',
        "mpi-transfer" => 'T',
        "runtime" => 'R',
        "measurement" => 'M',
        QUEUED => 'Q',
        "fault" => 'F',
        "unattributed" => 'U',
        "condition" => 'c',
        "semaphore" => 'm',
        "park" => 'k',
        "join" => 'j',
        "sleep" => 's',
        "poll" => 'p',
        "wait" => 'w',
        "signal" => 'g',
        "pause" => 'u',
        "accept" => 'a',
        "pipe" => 'i',
        "socket" => 'o',
        "terminal" => 't',
        "event" => 'e',
        "pool" => 'l',
        "futex" => 'f',
        "queue" => 'q',
        "not-recorded" => 'x',
        "stopped" => 'z',
        _ => '.',
    }
}

pub(super) fn paint(id: &str) -> Paint {
    match id {
        "compute" | "io" => Paint::Good,
        id if PassiveReason::from_id(id).is_some() => Paint::Faint,
        _ => Paint::Bad,
    }
}

/// What the legend calls a state.
pub(super) fn meaning(id: &str) -> &str {
    match id {
        QUEUED => "queued for a processor",
        "unknown" => "blocked, reason not known",
        id => id,
    }
}

/// Gives the spans inside the windows that are wanted to `take`, equal neighbours joined.
pub(super) fn each_span_within<'p, E>(
    spans: &impl Spans,
    wanted: impl Fn(&Span) -> bool,
    windows: &Windows,
    mut take: impl FnMut(SpanRow<'p>) -> Result<(), E>,
) -> Result<(), E> {
    let mut last: Option<SpanRow> = None;
    let mut windows = windows.as_slice();
    for span in spans.spans().filter(wanted) {
        while windows.first().is_some_and(|window| window.end_ns <= span.start_ns) {
            windows = &windows[1..];
        }
        for window in windows.iter().take_while(|window| window.start_ns < span.end_ns) {
            let (start_ns, end_ns) = (span.start_ns.max(window.start_ns), span.end_ns.min(window.end_ns));
            if start_ns < end_ns {
                let row = SpanRow::new(&span, start_ns, end_ns);
                if !last.as_mut().is_some_and(|last| last.join(&row)) {
                    last.replace(row).map_or(Ok(()), &mut take)?;
                }
            }
        }
    }
    last.map_or(Ok(()), take)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proust_account::ledger::Account;
    use rustc_hash::FxHashMap;

    use super::*;
    use proust_account::ledger::PartKind;

    #[test]
    fn no_two_states_have_one_letter() {
        let accounts = Work::ALL.map(work_id).into_iter();
        let waits = [Wait::Barrier, Wait::Lock, Wait::MpiPartner].map(wait_id);
        let reasons = PassiveReason::ALL.map(PassiveReason::id);
        let mut met = FxHashMap::default();
        for id in accounts.chain(waits).chain(reasons) {
            let before = met.insert(letter(id), id).filter(|before| *before != id);
            assert_eq!(before, None, "{id}");
            assert_eq!(letter(id).is_uppercase(), Account::from_id(id).is_some() || id == QUEUED, "{id}");
        }
    }

    #[test]
    fn a_window_takes_its_fraction_of_the_parts() {
        let span = Span::new(0, 100, State::Working(Work::Compute), ContextId(7)).with(PartKind::Delayed, 40);
        let other = Span::new(100, 150, State::Passive(PassiveReason::Sleep), ContextId(7));
        let windows = Windows::between(50, 120);
        let mut rows = Vec::new();
        let take = |row| {
            rows.push(row);
            Ok::<(), Infallible>(())
        };
        each_span_within(&vec![span, other], |_| true, &windows, take).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].account, rows[0].parts[QUEUED]), (Some("compute"), 2e-8));
        assert_eq!((rows[1].passive, rows[1].state), (Some("sleep"), "passive"));
        let states: Vec<_> = rows[0].states().map(|(id, s)| (id, (s * 1e9).round())).collect();
        assert_eq!(states, [("compute", 30.0), (QUEUED, 20.0)]);
    }
}
