//! The thread that opened a region continues after it, and notifies those that wait at its end.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;

use super::part::{add, done, end_open, learn};
use super::{PLACES, Team};
use crate::lane::{self, Lane};
use crate::openmp::sites::Segment;
use crate::openmp::visits::OUTSIDE;
use crate::path::memo::State;
use crate::{clock, life};

/// Regions of one team that end no longer than that after each other follow closely.
const CLOSELY_NS: u64 = 20_000;

/// Of regions that follow closely, one in so many notifies the others at its end. To write what another
/// processor reads, and to read what it wrote, takes as long as such a region; a thread that has work again
/// at once finds it in the team.
const NOTIFIED_ONE_IN: u32 = 16;

/// The calling thread, which opened the region, continues after it.
pub fn close(team: &'static Team, state: Option<State>) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current().filter(|lane| team.is_opened_by(lane)) else { return };
    let member = &lane.member;
    if !member.last_level().is_some_and(|last| core::ptr::eq(last, team)) {
        return;
    }
    if team.own.done_ns.load(Ordering::Relaxed) == 0 && team.own.size.load(Ordering::Relaxed) != 0 {
        // In a team of one some runtimes report no wait at the region's end.
        done(team);
    }
    if let Some(state) = state {
        lane.operations.open.set_frame(state);
    }
    let waited = [Operation::OmpRegionEnd, Operation::OmpWaitOfOne].map(|wait| end_open(lane, wait));
    let end_ns = match waited[0].max(waited[1]) {
        0 => clock::now_ns(),
        end_ns => end_ns,
    };
    // Where it never began its own part it waited for no other thread.
    end_open(lane, Operation::OmpFork);
    let done_ns = match team.own.done_ns.load(Ordering::Relaxed) {
        0 => end_ns,
        done_ns => done_ns,
    };
    member.has_waited(end_ns.saturating_sub(done_ns));
    let fork_ns = team.times.fork_ns();
    let size = team.own.size.load(Ordering::Relaxed);
    let ended = team.own.ended.load(Ordering::Relaxed);
    team.own.ended.store(ended.wrapping_add(1), Ordering::Relaxed);
    let follows = end_ns.saturating_sub(team.times.before_end_ns()) < CLOSELY_NS;
    let is_notified = !follows || ended.is_multiple_of(NOTIFIED_ONE_IN) || size as usize > PLACES;
    team.times.close(end_ns);
    team.own.owed.store(if is_notified { 0 } else { size }, Ordering::Relaxed);
    let mut segment = Segment {
        end_ns,
        wait_ns: end_ns.saturating_sub(done_ns),
        is_whole: !is_notified,
        added: member.own_cost.take(),
        ..Segment::default()
    };
    if is_notified {
        segment.latency_ns = release(team, lane, (0, size), done_ns);
    } else {
        if member.owes() {
            // Of a region inside.
            notify_the_others(lane);
        }
        member.owe(team);
    }
    add(lane, Operation::OmpRegionEnd, team.region(), &segment);
    learn(lane, team);
    if let Some(visits) = member.visits() {
        visits.publish(team, fork_ns.max(OUTSIDE + 1));
    }
    member.set_closed(end_ns);
    member.pop_level();
    member.restore(&team.own.outer.place(), end_ns);
    member.own_cost.took_behind(end_ns);
}

/// Notifies those that wait at the end of the region of `team` that was over last, and have these numbers of
/// a team. Returns how long before that the last of them, or the opener at `done_ns`, had arrived. By the
/// opener.
fn release(team: &'static Team, opener: &Lane, (first, size): (u32, u32), done_ns: u64) -> u64 {
    let (fork_ns, end_ns) = (team.times.before_fork_ns(), team.times.before_end_ns());
    let others = || {
        let all = team.members(first, size).filter(|other| !core::ptr::eq(*other, opener));
        all.filter(|other| other.is_docked_for(team.object(), fork_ns))
    };
    let last_ns = others().map(Lane::docked_since_ns).fold(done_ns, u64::max).min(end_ns);
    for other in others() {
        other.release_docked(end_ns, end_ns - last_ns);
    }
    end_ns - last_ns
}

/// Notifies those that were in the region before this one, and are not in this one, that it is over. By the
/// opener.
pub(super) fn release_the_rest(team: &'static Team, opener: &Lane, size: u32) {
    let owed = team.own.owed.load(Ordering::Relaxed);
    if owed > size {
        release(team, opener, (size, owed), team.times.before_end_ns());
    }
    if owed != 0 {
        team.own.owed.store(0, Ordering::Relaxed);
    }
}

/// The thread's newest region is over, and no other follows at once: notifies those that wait at its end.
#[cold]
#[inline(never)]
pub fn notify_the_others(lane: &Lane) {
    if let Some(team) = lane.member.take_owed() {
        let owed = team.own.owed.swap(0, Ordering::Relaxed);
        release(team, lane, (0, owed), team.own.done_ns.load(Ordering::Relaxed));
    }
}
