//! Deferred work, wherever it is done: inside a wait, which it interrupts, or where it was made.

use proust_log::operations::{Nature, Operation};

use super::sites::{Segment, Site};
use super::{team, visits};
use crate::arena::Lazily;
use crate::lane::{self, Lane};
use crate::operation::stretch;
use crate::operation::{self, Kind, here};
use crate::path::memo::State;
use crate::path::stack::OwnStack;
use crate::{clock, life};

/// Tasks inside tasks that one thread is in; deeper ones belong to the one around them.
const LEVELS: usize = 64;

/// The state of a thread when a task began.
#[derive(Clone, Copy, Debug, Default)]
struct Interrupted {
    /// The wait; None = it was at work.
    operation: Option<Operation>,
    object: u64,
    state: State,
    /// A word in the frame of the wait's hook, and what that wait left there; 0 = no frame represents it.
    marker: u64,
    /// See `marker`.
    since_ns: u64,
    /// Whether it had done its part of a region.
    docked: bool,
    /// Work of the segment, or of the task around, up to then.
    worked_ns: u64,
    construct: u64,
    /// Iterations of a loop that are in the task.
    iterations: u64,
    /// [`life::resumptions`] when it began.
    resumptions: u32,
    /// Its visit to a barrier for which no operation is open.
    visit: visits::Interrupted,
}

/// The tasks that a thread is in.
#[derive(Debug, Default)]
pub struct Tasks {
    levels: Lazily<[Interrupted; LEVELS]>,
    depth: usize,
}

impl Tasks {
    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        self.depth = 0;
    }
}

/// Whether tasks that are made now are followed.
pub fn are_followed() -> bool {
    life::in_hook().is_some() && lane::current().is_some()
}

/// The calling thread begins a task; `construct` distinguishes it from tasks of other places. Returns whether
/// it is followed: where recording was stopped just then it is not, and has no end either.
pub fn begin(construct: u64) -> bool {
    if life::recording().is_none() {
        return false;
    }
    let Some(lane) = lane::current() else { return false };
    let member = &lane.member;
    let mut interrupted =
        Interrupted { construct, resumptions: life::resumptions(), ..Interrupted::default() };
    let docked_ns = member.docked_ns();
    let waits =
        lane.operations.open.kind().map(|kind| kind.operation).filter(|operation| is_wait(*operation));
    let now_ns = if docked_ns != 0 {
        let now_ns = clock::now_ns();
        interrupted.docked = true;
        interrupted.object = lane.docked_for();
        member.set_docked(0);
        lane.undock(docked_ns);
        let end = (Operation::OmpRegionEnd, interrupted.object);
        stretch::record(lane, end, (docked_ns, now_ns), member.idle_node());
        let segment = Segment { end_ns: now_ns, wait_ns: now_ns - docked_ns, ..Segment::default() };
        add(lane, &Site::of_region(member.region(), Operation::OmpRegionEnd), &segment, None);
        now_ns
    } else if let Some(operation) = waits {
        interrupted.operation = Some(operation);
        interrupted.object = lane.operations.open.object();
        interrupted.state = lane.operations.open.state();
        interrupted.marker = lane.operations.open.marker();
        let begin_ns = lane.operations.open.begin_ns();
        interrupted.since_ns = begin_ns;
        let now_ns = team::end_open(lane, operation);
        member.waited(now_ns.saturating_sub(begin_ns));
        now_ns
    } else {
        clock::now_ns()
    };
    if let Some(visits) = member.visits() {
        if let Some(since_ns) = visits.waits_since() {
            member.pause(since_ns);
            member.waited(now_ns.saturating_sub(since_ns));
        }
        interrupted.visit = visits.interrupt();
    }
    member.pause(now_ns);
    interrupted.worked_ns = member.take_work();
    lane.with_record_in_silence(|record| {
        let tasks = &mut record.parallel.tasks;
        let levels = tasks.levels.get_or_make(|| [Interrupted::default(); LEVELS]);
        if let Some(level) = levels.and_then(|levels| levels.get_mut(tasks.depth)) {
            *level = interrupted;
        }
        tasks.depth += 1;
    });
    member.resume(now_ns);
    true
}

/// The innermost task that the calling thread has begun has so many iterations of a loop.
pub fn received(iterations: u64) {
    let Some(lane) = lane::current() else { return };
    lane.with_record_in_silence(|record| {
        let tasks = &mut record.parallel.tasks;
        let levels = tasks.levels.get_or_make(|| [Interrupted::default(); LEVELS]);
        let innermost = tasks.depth.checked_sub(1);
        if let (Some(levels), Some(innermost)) = (levels, innermost)
            && let Some(level) = levels.get_mut(innermost)
        {
            level.iterations = level.iterations.saturating_add(iterations);
        }
    });
}

/// The calling thread ends the innermost task that it has begun, or leaves it for another one.
pub fn end() {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let interrupted = lane.with_record_in_silence(|record| {
        let tasks = &mut record.parallel.tasks;
        let depth = tasks.depth.checked_sub(1)?;
        tasks.depth = depth;
        let interrupted = tasks.levels.get()?.get(depth).copied()?;
        // Tasks that began or ended while nothing was recorded are not among them: it is unknown whose end
        // this is, and the frame of an outer wait may be gone.
        if interrupted.resumptions != life::resumptions() {
            tasks.depth = 0;
            return None;
        }
        Some(interrupted)
    });
    let Some(interrupted) = interrupted.flatten() else { return };
    let member = &lane.member;
    let now_ns = match interrupted.operation {
        Some(operation) => {
            let kind = Kind::from(operation);
            let marker = interrupted.marker as *mut u64;
            let here = here!();
            // SAFETY: the owner.
            let is_there =
                marker.is_null() || still_waits(&interrupted, here.sp, unsafe { lane.own_stack() });
            let mut none = 0;
            // SAFETY: a word in the frame of the hook whose wait was interrupted: it has still to return.
            let word = unsafe { marker.as_mut() }.filter(|_| is_there).unwrap_or(&mut none);
            let state = if marker.is_null() { here } else { interrupted.state };
            let begun = is_there.then(|| operation::begin(kind, (interrupted.object, 0), state, word));
            let is_followed = begun.is_some_and(|ticket| ticket.is_followed());
            if marker.is_null() && is_followed {
                lane.operations.open.outlives_its_frame();
            }
            if is_followed { lane.operations.open.begin_ns() } else { clock::now_ns() }
        }
        None => clock::now_ns(),
    };
    member.pause(now_ns);
    let segment = Segment {
        end_ns: now_ns,
        work_ns: member.take_work(),
        executions: 1,
        iterations: interrupted.iterations,
        team: if member.team().is_some() { member.team_size() } else { 0 },
        ..Segment::default()
    };
    let site = Site {
        region: member.region(),
        operation: Operation::OmpTask as u16,
        address: interrupted.construct,
        sp: 0,
    };
    add(lane, &site, &segment, Some(here!()));
    member.set_worked(interrupted.worked_ns);
    if let Some(visits) = member.visits() {
        visits.go_on(&interrupted.visit, now_ns);
    }
    if interrupted.docked {
        member.set_docked(now_ns);
        lane.dock(now_ns, interrupted.object, member.region());
    } else if interrupted.operation.is_none() && member.team().is_some() {
        member.resume(now_ns);
    }
}

/// Whether the hook whose wait was interrupted has still to return, seen from a frame at `sp`: what the wait
/// left in its frame is there as it was. Where recording was stopped in between, a task's end may meet what
/// another one interrupted.
fn still_waits(interrupted: &Interrupted, sp: u64, own_stack: OwnStack) -> bool {
    let marker = interrupted.marker;
    if marker <= sp || !marker.is_multiple_of(8) || !own_stack.contains(sp) || !own_stack.contains(marker) {
        return false;
    }
    // SAFETY: between a stack pointer of this thread's own stack and that stack's top all is mapped.
    unsafe { (marker as *const u64).read_volatile() == interrupted.since_ns }
}

/// Whether a runtime may do tasks in it.
fn is_wait(operation: Operation) -> bool {
    let is_of_one = matches!(operation, Operation::OmpBarrierOfOne | Operation::OmpWaitOfOne);
    is_of_one || operation.nature() == Nature::Barrier && operation.is_of_openmp()
}

fn add(lane: &'static Lane, site: &Site, segment: &Segment, state: Option<State>) {
    lane.with_record_in_silence(|record| {
        let record = &mut *record;
        let Some(state) = state else {
            return record.parallel.sites.add_elsewhere(site, segment, &mut record.output);
        };
        let mut node = 0;
        if !record.parallel.sites.knows(site)
            && let Some(life) = life::recording()
            && record.output.is_open()
        {
            // SAFETY: the owner, and `with_record_in_silence` has taken the record.
            node = unsafe { lane.with_room(|| record.path(state, life.pid).0) };
        }
        record.parallel.sites.add(site, segment, &mut record.output, |_| node);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_goes_on_only_if_its_frame_is_still_there() {
        let words = [7_u64; 4];
        let low = words.as_ptr() as u64;
        let own_stack = OwnStack { low, top: low + 32 };
        let wait = Interrupted { marker: low + 16, since_ns: 7, ..Interrupted::default() };
        assert!(still_waits(&wait, low + 8, own_stack));
        // Its frame was left: something else lies there, or nothing that is in use.
        assert!(!still_waits(&Interrupted { since_ns: 8, ..wait }, low + 8, own_stack));
        assert!(!still_waits(&wait, low + 24, own_stack));
        // Of other stacks nothing is known.
        assert!(!still_waits(&wait, low + 8, OwnStack { low, top: low + 12 }));
        assert!(!still_waits(&wait, low - 8, own_stack));
    }
}
