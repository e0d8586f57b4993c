//! From the explanation of each gap to spans, which follow each other without holes.
//!
//! Operations that were recorded by themselves have their place. Of everything else only the amount is known:
//! unexplained time is first, then short operations, and computation last, since a thread is sampled while it
//! runs.

use proust_profile::ContextId;

use super::explained::{Explained, Explanation, Share};
use super::parts::Part;
use super::shares::Spread;
use super::states::Class;
use crate::ledger::{PartKind, PassiveReason, Span, State, Work};

/// A passive span from `from_ns` on, no longer than there is room, of the time that is left.
fn passive(
    reason: PassiveReason,
    left_ns: &mut u64,
    (from_ns, room_ns): (u64, u64),
    context: ContextId,
) -> Span {
    let length_ns = room_ns.min(*left_ns);
    *left_ns -= length_ns;
    Span::new(from_ns, from_ns + length_ns, State::Passive(reason), context)
}

/// The spans of a location, gap by gap. `charged` says for each row in which context its processor time is
/// charged, `state` what processor time in a context counts as.
pub(super) fn spans(
    explanation: &Explanation,
    charged: &[ContextId],
    state: impl Fn(ContextId) -> State,
) -> impl Iterator<Item = Span> {
    let mut first_share = 0;
    let (mut reader, mut parts) = (explanation.parts.of_gaps(0..explanation.gaps.len()), Vec::new());
    explanation.gaps.iter().flat_map(move |gap| {
        reader.next_gap(&mut parts);
        let shares = &explanation.shares[first_share..gap.shares_end];
        first_share = gap.shares_end;
        let context = charged.get(gap.gap.row).copied().unwrap_or(ContextId(0));
        let mut tape = Tape::new(gap, shares, context, state(context));
        let mut from_ns = gap.gap.start_ns;
        let mut out = Vec::with_capacity(2 * parts.len() + shares.len() + 1);
        for part in &parts {
            tape.lay(from_ns, part.start_ns, &mut out);
            lay_part(part, &mut out);
            from_ns = part.end_ns;
        }
        tape.lay(from_ns, gap.gap.end_ns, &mut out);
        out
    })
}

/// The states that fill the time of a gap outside the operations that were recorded by themselves, in the
/// order in which they are used up.
struct Tape<'e> {
    context: ContextId,
    stopped_ns: u64,
    unknown_ns: u64,
    shares: &'e [Share],
    /// What is left of the first share.
    share_ns: u64,
    active_state: State,
    active_ns: u64,
    /// What is left of each part of the active time, and of all of them.
    parts: [(PartKind, u64); 3],
    in_parts: Spread,
}

impl<'e> Tape<'e> {
    fn new(gap: &Explained, shares: &'e [Share], context: ContextId, active_state: State) -> Tape<'e> {
        let active_ns = gap.compute_ns + gap.queued_ns;
        let in_parts_ns = gap.measurement_ns + gap.queued_ns + gap.fault_ns;
        Tape {
            context,
            stopped_ns: gap.stopped_ns,
            unknown_ns: gap.unexplained_ns - gap.queued_ns - gap.stopped_ns,
            shares,
            share_ns: shares.first().map_or(0, |share| share.time_ns),
            active_state,
            active_ns,
            parts: [
                (PartKind::Measurement, gap.measurement_ns),
                (PartKind::Delayed, gap.queued_ns),
                (PartKind::Fault, gap.fault_ns),
            ],
            in_parts: Spread::new(in_parts_ns, active_ns),
        }
    }

    /// Fills the stretch between two operations.
    fn lay(&mut self, mut from_ns: u64, to_ns: u64, out: &mut Vec<Span>) {
        while from_ns < to_ns {
            let room_ns = to_ns - from_ns;
            let span = if self.stopped_ns > 0 {
                passive(PassiveReason::Stopped, &mut self.stopped_ns, (from_ns, room_ns), self.context)
            } else if self.unknown_ns > 0 {
                passive(PassiveReason::Unknown, &mut self.unknown_ns, (from_ns, room_ns), self.context)
            } else if let Some((share, rest)) = self.shares.split_first() {
                let length_ns = self.share_ns.min(room_ns);
                self.share_ns -= length_ns;
                let span = of_state(share.state, from_ns, from_ns + length_ns, share.context);
                if self.share_ns == 0 {
                    self.shares = rest;
                    self.share_ns = rest.first().map_or(0, |share| share.time_ns);
                }
                span
            } else {
                self.active(from_ns, self.active_ns.min(room_ns))
            };
            // The amounts of a gap are as long as its stretches; nothing could be laid only if they were not.
            debug_assert!(span.end_ns > from_ns);
            if span.end_ns == from_ns {
                break;
            }
            from_ns = span.end_ns;
            out.push(span);
        }
    }

    /// A piece of the active time, with its share of the parts.
    fn active(&mut self, from_ns: u64, length_ns: u64) -> Span {
        self.active_ns -= length_ns;
        let mut span = Span::new(from_ns, from_ns + length_ns, self.active_state, self.context);
        let mut in_parts_ns = self.in_parts.next(length_ns);
        for (kind, left_ns) in &mut self.parts {
            let ns = in_parts_ns.min(*left_ns);
            (in_parts_ns, *left_ns) = (in_parts_ns - ns, *left_ns - ns);
            span = span.with(*kind, ns);
        }
        span
    }
}

/// A span in one state; delayed is a part of working and no state of its own.
fn of_state(state: State, start_ns: u64, end_ns: u64, context: ContextId) -> Span {
    match state {
        State::Working(Work::Delayed) => delayed(start_ns, end_ns, context),
        state => Span::new(start_ns, end_ns, state, context),
    }
}

fn delayed(start_ns: u64, end_ns: u64, context: ContextId) -> Span {
    let state = State::Working(Work::Compute);
    Span::new(start_ns, end_ns, state, context).with(PartKind::Delayed, end_ns - start_ns)
}

/// The spans of an operation: first what it waits for, then the run queue, then what it does on the
/// processor.
fn lay_part(part: &Part, out: &mut Vec<Span>) {
    let Part { start_ns, end_ns, class, context, cpu_ns, queued_ns, .. } = *part;
    let mut from_ns = start_ns;
    let mut push = |state, to_ns: u64| {
        if to_ns > from_ns {
            out.push(of_state(state, from_ns, to_ns, context));
            from_ns = to_ns;
        }
    };
    let compute = State::Working(Work::Compute);
    let queue = State::Working(Work::Delayed);
    match class {
        Class::Wait(wait) => {
            push(State::Waiting(wait), end_ns - queued_ns);
            push(queue, end_ns);
        }
        Class::Poll(wait) => {
            push(State::Polling(wait), end_ns - queued_ns);
            push(queue, end_ns);
        }
        Class::Idle(reason) => push(State::Passive(reason), end_ns),
        Class::Work(work) => {
            push(State::Working(work), end_ns - queued_ns);
            push(queue, end_ns);
        }
        Class::Passive(reason, work) => {
            push(State::Passive(reason), end_ns - cpu_ns - queued_ns);
            push(queue, end_ns - cpu_ns);
            push(State::Working(work), end_ns);
        }
        Class::Yield => {
            push(queue, end_ns - cpu_ns);
            push(compute, end_ns);
        }
    }
}
