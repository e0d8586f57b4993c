//! One frame up: from a frame's state to its caller's.

use crate::arch::context::{CONTEXT_AT_RETURN, LINK_PLACE, PLACES};
use crate::arch::unwinding::{self, Link, return_place, strip, uses_link};
use crate::path::module::Module;
use crate::path::modules;
use crate::path::python::Evaluation;
use crate::path::rules::{self, Rule};
use crate::path::stack::StackReader;

use super::entries::Entry;
use super::{State, Surroundings};

use framehop::{FrameAddress, Unwinder};

/// Result of one step up.
pub enum Step {
    /// The caller.
    Caller(State),
    /// There is none: the path is complete.
    Top,
    /// It could not be found.
    Lost,
}

/// One frame up, by rule. `near` is the module of the frame below, in which a caller often is too.
#[inline]
pub(super) fn step(
    state: &State,
    near: &mut Option<&'static Module>,
    reader: &mut StackReader,
    around: &mut Surroundings<'_>,
) -> (Entry, Step) {
    let lookup = state.lookup();
    let module = match near {
        Some(near) if near.permanent && near.start <= lookup && lookup < near.end => Some(*near),
        _ => modules::find(lookup, around.announce),
    };
    *near = module;
    let rule = match module {
        Some(module) => rules::rule_at(module, lookup, state.exact),
        None => unwinding::FRAME_POINTER,
    };
    let saved = match rule {
        Rule::FromStackPointer { saved, .. } | Rule::FromFramePointer { saved, .. } => saved,
        _ => 0,
    };
    let barrier =
        matches!(rule, Rule::Slow | Rule::SignalFrame) || uses_link(rule) || !reader.is_direct(state.sp);
    let entry = Entry {
        pc: state.pc,
        sp: state.sp,
        bp: state.bp,
        link: state.link,
        saved,
        exact: state.exact,
        // A state that is stepped from scratch must start from a true frame pointer.
        needs_bp: rule.uses_frame_pointer() || barrier,
        barrier,
        module: module.map_or(0, |module| module.id),
        hidden: module.is_some_and(|module| module.own),
        evaluation: Evaluation::No,
        node: 0,
    };
    let caller = match rule {
        Rule::End => return (entry, Step::Top),
        Rule::FromStackPointer { cfa, saved } => {
            let cfa = state.sp.wrapping_add(8 * u64::from(cfa));
            if saved == 0 {
                return_to(reader, state, (cfa, saved), Some(state.bp))
            } else {
                let at = cfa.wrapping_sub(8 * u64::from(saved));
                // Below the stack pointer of an interrupted epilogue the value may be popped already.
                let popped = (state.exact && at < state.sp).then_some(state.bp);
                let bp = reader.word(at).or(popped);
                return_to(reader, state, (cfa, saved), bp)
            }
        }
        Rule::FromFramePointer { cfa, saved } => from_frame_pointer(rule, (cfa, saved), state, reader),
        Rule::SignalFrame => interrupted(reader, state.sp),
        Rule::Slow => slow_step(module, state, reader),
    };
    (entry, caller)
}

/// By a rule of this kind with these numbers; also used by the reference unwinder.
#[inline]
pub fn from_frame_pointer(
    rule: Rule,
    (cfa, saved): (u16, u16),
    state: &State,
    reader: &mut StackReader,
) -> Step {
    let cfa = state.bp.wrapping_add(8 * u64::from(cfa));
    if cfa <= state.sp && !unwinding::leads_to_another_stack(rule) {
        return Step::Lost;
    }
    let bp = reader.word(cfa.wrapping_sub(8 * u64::from(saved)));
    if unwinding::ENDS_AT_NULL && bp == Some(0) {
        return Step::Top;
    }
    return_to(reader, state, (cfa, saved), bp)
}

fn return_to(reader: &mut StackReader, from: &State, (cfa, saved): (u64, u16), bp: Option<u64>) -> Step {
    let pc = match return_place(cfa, saved) {
        Some(place) => reader.word(place).map(strip),
        None if from.exact => Some(from.link.address()),
        None => None,
    };
    match (pc, bp) {
        (Some(0), Some(_)) => Step::Top,
        (Some(pc), Some(_)) if cfa == from.sp && pc == from.pc => Step::Lost,
        (Some(pc), Some(bp)) => Step::Caller(State { pc, sp: cfa, bp, ..State::default() }),
        _ => Step::Lost,
    }
}

/// The frame that a signal interrupted, from the stack pointer where its handler returns to; also used by the
/// reference unwinder.
pub fn interrupted(reader: &mut StackReader, sp: u64) -> Step {
    let context = sp.wrapping_add(CONTEXT_AT_RETURN);
    let mut word = |offset| reader.word(context.wrapping_add(offset));
    let link = match LINK_PLACE {
        Some(place) => word(place).map(Link::of),
        None => Some(Link::of(0)),
    };
    match (PLACES.map(&mut word), link) {
        ([Some(pc), Some(sp), Some(bp)], Some(link)) if pc != 0 => {
            Step::Caller(State { pc, sp, bp, link, exact: true })
        }
        _ => Step::Lost,
    }
}

impl Step {
    /// The caller's state, if there is one.
    pub fn caller(self) -> Option<State> {
        match self {
            Step::Caller(state) => Some(state),
            _ => None,
        }
    }
}

fn slow_step(module: Option<&'static Module>, state: &State, reader: &mut StackReader) -> Step {
    let Some(unwinder) = module.and_then(|module| module.unwinder.as_ref()) else { return Step::Lost };
    let address = if state.exact {
        FrameAddress::from_instruction_pointer(state.pc)
    } else {
        match FrameAddress::from_return_address(state.pc) {
            Some(address) => address,
            None => return Step::Lost,
        }
    };
    let mut registers = unwinding::registers(state);
    let stepped = rules::with_step_cache(|cache| {
        unwinder.unwind_frame(address, &mut registers, cache, &mut |at| reader.word(at).ok_or(()))
    });
    match stepped {
        Some(Ok(Some(pc))) => Step::Caller(unwinding::stepped(pc, &registers)),
        Some(Ok(None)) => Step::Top,
        _ => Step::Lost,
    }
}
