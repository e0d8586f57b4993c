//! Who opened a region goes on behind it, and tells those that wait at its end.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;

use super::Team;
use super::part::{add, done, end_open};
use crate::lane::{self, Lane};
use crate::openmp::sites::Passed;
use crate::path::memo::State;
use crate::{clock, life};

/// The calling thread, who opened the region, goes on behind it.
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
        // In a team of one some runtimes tell of no wait at the region's end.
        done(team);
    }
    if let Some(state) = state {
        lane.open.set_frame(state);
    }
    let waited = [Operation::OmpRegionEnd, Operation::OmpWaitOfOne].map(|wait| end_open(lane, wait));
    let end_ns = match waited[0].max(waited[1]) {
        0 => clock::now_ns(),
        end_ns => end_ns,
    };
    // Where it never began its own part it waited for nobody.
    end_open(lane, Operation::OmpFork);
    let done_ns = match team.own.done_ns.load(Ordering::Relaxed) {
        0 => end_ns,
        done_ns => done_ns,
    };
    member.has_waited(end_ns.saturating_sub(done_ns));
    let own = core::ptr::from_ref(lane);
    let fork_ns = team.fork_ns.load(Ordering::Relaxed);
    let others = || {
        let all = team.members().filter(|other| !core::ptr::eq(*other, own));
        all.filter(|other| other.is_docked_for(team.object(), fork_ns))
    };
    let last_ns = others().map(Lane::docked_since_ns).fold(done_ns, u64::max).min(end_ns);
    for other in others() {
        other.release_docked(end_ns, end_ns - last_ns);
    }
    let passed = Passed {
        end_ns,
        wait_ns: end_ns.saturating_sub(done_ns),
        latency_ns: end_ns - last_ns,
        ..Passed::default()
    };
    add(lane, Operation::OmpRegionEnd, team.region(), &passed);
    member.set_closed(end_ns);
    member.pop_level();
    member.restore(&team.own.outer.place(), end_ns);
}
