//! What is left of a wait after it was recorded: a hook reads the clock a little before its thread goes on,
//! and time off the processor that nothing explains is laid behind the operation before it.
//!
//! Such a moment belongs to the wait. As a state of its own it would hide what the location had waited for.

use std::iter::Peekable;

use proust_account::ledger::{PassiveReason, Span, State};

/// The longest remainder, ns.
const LONGEST_NS: u64 = 1_000_000;

/// The same spans, but each wait with its remainder.
pub(super) fn with_remainders(spans: impl Iterator<Item = Span>) -> impl Iterator<Item = Span> {
    Joined { spans: spans.peekable() }
}

struct Joined<I: Iterator<Item = Span>> {
    spans: Peekable<I>,
}

impl<I: Iterator<Item = Span>> Iterator for Joined<I> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let mut span = self.spans.next()?;
        let is_named = matches!(span.state, State::Passive(reason) if reason != PassiveReason::Unknown);
        if is_named && let Some(rest) = self.spans.next_if(|next| is_remainder(&span, next)) {
            span.end_ns = rest.end_ns;
        }
        Some(span)
    }
}

/// Whether what follows a wait is short beside it, and nothing else explains it.
fn is_remainder(wait: &Span, next: &Span) -> bool {
    let lasted_ns = next.end_ns - next.start_ns;
    next.state == State::Passive(PassiveReason::Unknown)
        && next.start_ns == wait.end_ns
        && lasted_ns <= LONGEST_NS
        && lasted_ns <= wait.end_ns - wait.start_ns
}

#[cfg(test)]
mod tests {
    use proust_profile::ContextId;

    use super::*;

    fn span(start_ns: u64, end_ns: u64, state: State) -> Span {
        Span::new(start_ns, end_ns, state, ContextId(0))
    }

    #[test]
    fn a_wait_is_as_long_as_with_its_remainder() {
        let semaphore = State::Passive(PassiveReason::Semaphore);
        let unknown = State::Passive(PassiveReason::Unknown);
        let work = State::Working(proust_account::ledger::Work::Compute);
        let spans = [
            span(0, 100, semaphore),
            span(100, 102, unknown),
            span(102, 200, work),
            span(200, 210, unknown),
            span(210, 300, work),
        ];
        let joined: Vec<Span> = with_remainders(spans.into_iter()).collect();
        assert_eq!(joined, [span(0, 102, semaphore), spans[2], spans[3], spans[4]]);
    }

    #[test]
    fn what_is_long_or_does_not_follow_is_a_wait_of_its_own() {
        let semaphore = State::Passive(PassiveReason::Semaphore);
        let unknown = State::Passive(PassiveReason::Unknown);
        let spans = [
            span(0, 100, semaphore),
            span(100, 300, unknown),
            span(300, 400, semaphore),
            span(401, 402, unknown),
            span(402, 5_000_000, semaphore),
            span(5_000_000, 6_500_000, unknown),
        ];
        assert_eq!(with_remainders(spans.into_iter()).collect::<Vec<_>>(), spans);
    }
}
