//! Deferred work, wherever it is done: inside a wait, which it interrupts, or where it was made.

use proust_log::operations::{Nature, Operation};

use super::sites::{Passed, Site};
use super::team;
use crate::arena::Lazily;
use crate::lane::{self, Lane};
use crate::operation::stretch;
use crate::operation::{self, Kind, here};
use crate::path::memo::State;
use crate::{clock, life};

/// Tasks inside tasks that one thread is in; what is deeper belongs to the one around it.
const LEVELS: usize = 64;

/// What a thread was doing when a task began.
#[derive(Clone, Copy, Debug, Default)]
struct Interrupted {
    /// The wait; None = it was at work.
    operation: Option<Operation>,
    object: u64,
    state: State,
    marker: u64,
    /// Whether it had done its part of a region.
    docked: bool,
    /// Work of the segment, or of the task around, up to then.
    worked_ns: u64,
    construct: u64,
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

/// The calling thread begins a task; `construct` tells it from tasks of other places.
pub fn begin(construct: u64) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let member = &lane.member;
    let mut interrupted = Interrupted { construct, ..Interrupted::default() };
    let docked_ns = member.docked_ns();
    let waits = lane.open.kind().map(|kind| kind.operation).filter(|operation| is_wait(*operation));
    let now_ns = if docked_ns != 0 {
        let now_ns = clock::now_ns();
        interrupted.docked = true;
        interrupted.object = lane.docked_for();
        member.set_docked(0);
        lane.undock();
        let end = (Operation::OmpRegionEnd, interrupted.object);
        stretch::tell(lane, end, (docked_ns, now_ns), member.idle_node());
        let passed = Passed { end_ns: now_ns, wait_ns: now_ns - docked_ns, ..Passed::default() };
        add(lane, &Site::of_region(member.region(), Operation::OmpRegionEnd), &passed, None);
        now_ns
    } else if let Some(operation) = waits {
        interrupted.operation = Some(operation);
        interrupted.object = lane.open.object();
        interrupted.state = lane.open.state();
        interrupted.marker = lane.open.marker();
        let begin_ns = lane.open.begin_ns();
        let now_ns = team::end_open(lane, operation);
        member.waited(now_ns.saturating_sub(begin_ns));
        now_ns
    } else {
        clock::now_ns()
    };
    member.pause(now_ns);
    interrupted.worked_ns = member.take_work();
    lane.with_record_in_silence(|record| {
        let tasks = &mut record.tasks;
        let levels = tasks.levels.get_or_make(|| [Interrupted::default(); LEVELS]);
        if let Some(level) = levels.and_then(|levels| levels.get_mut(tasks.depth)) {
            *level = interrupted;
        }
        tasks.depth += 1;
    });
    member.resume(now_ns);
}

/// The calling thread ends the innermost task that it has begun, or leaves it for another one.
pub fn end() {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let interrupted = lane.with_record_in_silence(|record| {
        let tasks = &mut record.tasks;
        let depth = tasks.depth.checked_sub(1)?;
        tasks.depth = depth;
        tasks.levels.get()?.get(depth).copied()
    });
    let Some(interrupted) = interrupted.flatten() else { return };
    let member = &lane.member;
    let now_ns = match interrupted.operation {
        Some(operation) => {
            let kind = Kind::from(operation);
            let marker = interrupted.marker as *mut u64;
            let mut none = 0;
            // SAFETY: a word in the frame of the hook whose wait was interrupted: it has still to return.
            let word = unsafe { marker.as_mut() }.unwrap_or(&mut none);
            let state = if marker.is_null() { here!() } else { interrupted.state };
            let ticket = operation::begin(kind, (interrupted.object, 0), state, word);
            if marker.is_null() && ticket.is_followed() {
                lane.open.hold();
            }
            if ticket.is_followed() { lane.open.begin_ns() } else { clock::now_ns() }
        }
        None => clock::now_ns(),
    };
    member.pause(now_ns);
    let passed = Passed {
        end_ns: now_ns,
        work_ns: member.take_work(),
        executions: 1,
        team: if member.team().is_some() { member.team_size() } else { 0 },
        ..Passed::default()
    };
    let site = Site {
        region: member.region(),
        operation: Operation::OmpTask as u16,
        address: interrupted.construct,
        sp: 0,
    };
    add(lane, &site, &passed, Some(here!()));
    member.set_worked(interrupted.worked_ns);
    if interrupted.docked {
        member.set_docked(now_ns);
        lane.dock(now_ns, interrupted.object, member.region());
    } else if interrupted.operation.is_none() && member.team().is_some() {
        member.resume(now_ns);
    }
}

/// Whether a runtime may do tasks in it.
fn is_wait(operation: Operation) -> bool {
    let is_of_one = matches!(operation, Operation::OmpBarrierOfOne | Operation::OmpWaitOfOne);
    is_of_one || operation.nature() == Nature::Barrier && operation.is_of_openmp()
}

fn add(lane: &'static Lane, site: &Site, passed: &Passed, state: Option<State>) {
    lane.with_record_in_silence(|record| {
        let record = &mut *record;
        let mut node = 0;
        if let Some(state) = state
            && !record.sites.knows(site)
            && let Some(life) = life::recording()
            && record.output.is_open()
        {
            // SAFETY: the owner, and `with_record_in_silence` has taken the record.
            node = unsafe { lane.with_room(|| record.path(state, life.pid).0) };
        }
        record.sites.add(site, passed, &mut record.output, |_| node);
    });
}
