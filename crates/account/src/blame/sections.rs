//! Which critical sections a wait for a lock waited for.
//!
//! Sections that are known from begin to end hold the lock where they overlap the wait; where several do, as
//! readers, in equal parts. Of others only the end is known: going back from each release by others during
//! the wait, the section reaches to the release before it, or to the begin of the wait; where the holder had
//! waited itself, only to when it got the lock: the time before is hand-over. The time after the last release
//! is hand-over, too. A wait without any release was for the location that held it before and after: it gave
//! up, or was woken for nothing and waits again.
//!
//! Of short sections only some are recorded. Then the time that no section is known for is shared by the
//! weights of the short ones that were recorded during the wait, or, if the wait was too short to contain
//! any, of those next to it.

use proust_profile::LocationId;
use proust_profile::releases::SAMPLED_HELD_NS;

use super::evidence::Done;
use super::releases::{Found, Let, NEAREST, Nearby, PlaceId, nearest};
use crate::ledger::Window;

/// A wait of this length contains a recorded release, even if all sections are short ones.
const CERTAIN_NS: u64 = 20 * SAMPLED_HELD_NS;

/// Waits below this length take one of the releases next to them by chance, and not a part of each.
const MANY_NS: u64 = 100_000;

/// A number from 0 to 1 that looks random, always the same for the same one.
pub(super) fn chance(number: u64) -> f64 {
    let mixed = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The holder of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// The location that released it at this place.
    Release(PlaceId),
    /// Nobody.
    HandOver,
    /// Not known.
    Unknown,
}

/// A part of a wait, and the holder of the lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) holder: Holder,
    pub(super) ns: f64,
    /// When it had it; of a section that represents others, when that was.
    pub(super) held: Window,
    /// Whether it is a section that represents others.
    pub(super) represents_others: bool,
}

/// A wait for a lock.
#[derive(Clone, Copy, Debug)]
struct Waited {
    location: LocationId,
    begin_ns: u64,
    end_ns: u64,
    /// It did not get the lock: it gave up, or its record ends before.
    in_vain: bool,
}

/// The holders during the part of a wait in `window`, with nanoseconds that sum up to the window's.
pub(super) fn shares(nearby: &mut Nearby<'_>, done: &Done, window: Window, out: &mut Vec<Share>) {
    let row = &done.row;
    let waited = Waited {
        location: row.location,
        begin_ns: row.begin_ns,
        end_ns: row.end_ns,
        in_vain: row.open || row.left || row.errors > 0,
    };
    let found = done.object.map(|object| nearby.of(object, waited.begin_ns, waited.end_ns));
    shares_of(found.unwrap_or(Found::NONE), &waited, window, out);
}

/// When a section was, as far as that is known.
fn section_of(one: &Let) -> Window {
    let begin_ns = match one.since_ns {
        0 => one.time_ns.saturating_sub(one.held_ns),
        since_ns => since_ns,
    };
    Window::new(begin_ns.min(one.time_ns), one.time_ns)
}

/// The parts of a wait that are known to have been waited for these, overlapping sections: each instant in
/// equal parts. Returns the time left without a holder, ns.
fn shared(sections: &[(PlaceId, Window)], whole: Window, out: &mut Vec<Share>) -> f64 {
    let clipped =
        |held: &Window| Window::new(held.start_ns.max(whole.start_ns), held.end_ns.min(whole.end_ns));
    // Ends before begins, so that sections that end and begin at the same instant do not share.
    let mut borders: Vec<(u64, bool, usize)> = (sections.iter().enumerate())
        .map(|(at, (_, held))| (at, clipped(held)))
        .filter(|(_, held)| held.length_ns() > 0)
        .flat_map(|(at, held)| [(held.start_ns, true, at), (held.end_ns, false, at)])
        .collect();
    borders.sort_unstable();
    let (mut holding, mut at_ns, mut nobody_ns) = (Vec::new(), whole.start_ns, 0.0);
    let mut sums = vec![0.0; sections.len()];
    for (border_ns, begins, section) in borders {
        let ns = (border_ns - at_ns) as f64;
        match holding.len() {
            0 => nobody_ns += ns,
            holders => holding.iter().for_each(|&holder: &usize| sums[holder] += ns / holders as f64),
        }
        at_ns = border_ns;
        match begins {
            true => holding.push(section),
            false => holding.retain(|&holder| holder != section),
        }
    }
    for (&(place, ref held), ns) in sections.iter().zip(sums).filter(|(_, ns)| *ns > 0.0) {
        out.push(Share { holder: Holder::Release(place), ns, held: clipped(held), represents_others: false });
    }
    nobody_ns + whole.end_ns.saturating_sub(at_ns) as f64
}

fn shares_of(found: Found<'_>, wait: &Waited, window: Window, out: &mut Vec<Share>) {
    let clip = |from_ns: u64, to_ns: u64| {
        to_ns.min(window.end_ns).saturating_sub(from_ns.max(window.start_ns)) as f64
    };
    let clipped =
        |from_ns: u64, to_ns: u64| Window::new(from_ns.max(window.start_ns), to_ns.min(window.end_ns));
    let (meanwhile, after) = (found.meanwhile(), found.after());
    let others = || meanwhile.iter().filter(|one| one.location != wait.location);
    if are_readers(others()) {
        return shares_of_readers(others(), wait, window, out);
    }
    let mut push = |holder: Holder, ns: f64, held: Window, represents_others: bool| {
        if ns > 0.0 {
            out.push(Share { holder, ns, held, represents_others });
        }
    };
    // The time that no section is known for.
    let mut untold_ns = 0.0;
    let mut sampled_weight = 0.0;
    let mut at_ns = wait.begin_ns;
    for one in others() {
        let known_from_ns = match one.held_ns {
            0 => at_ns,
            held_ns => at_ns.max(one.time_ns.saturating_sub(held_ns)),
        };
        untold_ns += clip(at_ns, known_from_ns);
        let from_ns = known_from_ns.max(one.since_ns).min(one.time_ns);
        push(Holder::HandOver, clip(known_from_ns, from_ns), clipped(known_from_ns, from_ns), false);
        if one.is_sampled() {
            untold_ns += clip(from_ns, one.time_ns);
            sampled_weight += one.weight_ns as f64;
        } else {
            push(
                Holder::Release(one.place),
                clip(from_ns, one.time_ns),
                clipped(from_ns, one.time_ns),
                false,
            );
        }
        at_ns = at_ns.max(one.time_ns);
    }
    let mut tail_ns = clip(at_ns, wait.end_ns);
    let is_released = others().next().is_some();
    if let Some(one) = after
        .iter()
        .find(|one| one.location != wait.location)
        .filter(|one| !is_released && !wait.in_vain && was_held_until_its_end(one, wait))
    {
        let from_ns = at_ns.max(one.since_ns);
        push(Holder::HandOver, clip(at_ns, from_ns), clipped(at_ns, from_ns), false);
        push(Holder::Release(one.place), clip(from_ns, wait.end_ns), clipped(from_ns, wait.end_ns), false);
        return;
    }
    if wait.in_vain || !is_released {
        // A location that held it all the time releases it later: this wait ended without the lock.
        let later = after.iter().find(|one| one.location != wait.location).filter(|one| match one.held_ns {
            0 => wait.in_vain,
            held_ns => one.time_ns.saturating_sub(held_ns) <= at_ns,
        });
        if later.is_some() || wait.in_vain {
            let holder = later.map_or(Holder::Unknown, |one| Holder::Release(one.place));
            push(holder, tail_ns, clipped(at_ns, wait.end_ns), false);
            tail_ns = 0.0;
        }
    }
    if sampled_weight > 0.0 {
        untold_ns += tail_ns;
        for one in others().filter(|one| one.is_sampled()) {
            let ns = untold_ns * one.weight_ns as f64 / sampled_weight;
            push(Holder::Release(one.place), ns, section_of(one), true);
        }
        return;
    }
    if is_released {
        push(Holder::HandOver, tail_ns, window, false);
    } else {
        untold_ns += tail_ns;
    }
    if untold_ns <= 0.0 {
        return;
    }
    let middle_ns = wait.begin_ns + (wait.end_ns - wait.begin_ns) / 2;
    let middle = found.from + meanwhile.partition_point(|one| one.time_ns <= middle_ns);
    let is_short = wait.end_ns - wait.begin_ns <= CERTAIN_NS || is_released;
    let mut near: [Option<&Let>; NEAREST] = [None; NEAREST];
    let can_stand = |one: &Let| one.location != wait.location && one.is_sampled();
    let next = nearest(found.list, middle, middle_ns, |one| one.time_ns, can_stand).take_while(|_| is_short);
    near.iter_mut().zip(next).for_each(|(place, one)| *place = Some(one));
    let near = || near.iter().flatten();
    let weight: f64 = near().map(|one| one.weight_ns as f64).sum();
    if weight > 0.0 && wait.end_ns - wait.begin_ns < MANY_NS {
        // There are very many of them: one holder for each is as good as some for all.
        let mut left = weight * chance(wait.begin_ns);
        let one = near().find(|one| {
            left -= one.weight_ns as f64;
            left < 0.0
        });
        let holder = one.map_or(Holder::Unknown, |one| Holder::Release(one.place));
        push(holder, untold_ns, one.map_or(window, |one| section_of(one)), true);
    } else if weight > 0.0 {
        for one in near() {
            let ns = untold_ns * one.weight_ns as f64 / weight;
            push(Holder::Release(one.place), ns, section_of(one), true);
        }
    } else if let Some(next) = others().next() {
        // Where all sections are recorded with their begins, it was free in between. Otherwise one was longer
        // than was noticed.
        let nobody = next.since_ns > 0;
        let holder = if nobody { Holder::HandOver } else { Holder::Release(next.place) };
        push(holder, untold_ns, clipped(wait.begin_ns, next.time_ns), false);
    } else {
        push(Holder::Unknown, untold_ns, window, false);
    }
}

/// Whether a section whose record of release is later than the wait is the one that was waited for. Runtimes
/// report a release after it happened, and the next owner may report its own acquisition first. Such a
/// section was acquired before the wait ended, which no later section was, and covers most of the wait, which
/// another reader's does not.
fn was_held_until_its_end(one: &Let, wait: &Waited) -> bool {
    let beside_ns = wait.end_ns.saturating_sub(one.since_ns.max(wait.begin_ns));
    one.since_ns > 0 && !one.is_sampled() && beside_ns * 2 > wait.end_ns - wait.begin_ns
}

/// Whether two of these sections are known to have overlapped.
fn are_readers<'l>(sections: impl Iterator<Item = &'l Let>) -> bool {
    let mut last_ns = 0;
    for one in sections.filter(|one| one.since_ns > 0 && !one.is_sampled()) {
        if one.since_ns < last_ns {
            return true;
        }
        last_ns = one.time_ns;
    }
    false
}

/// A wait for readers: all sections that ended meanwhile, by overlap. No location can have acquired the lock
/// before the last of them released it.
fn shares_of_readers<'l>(
    others: impl Iterator<Item = &'l Let> + Clone,
    wait: &Waited,
    window: Window,
    out: &mut Vec<Share>,
) {
    let known = others.clone().filter(|one| !one.is_sampled());
    let sections: Vec<(PlaceId, Window)> = known.map(|one| (one.place, section_of(one))).collect();
    let whole = Window::new(wait.begin_ns.max(window.start_ns), wait.end_ns.min(window.end_ns));
    let left_ns = shared(&sections, whole, out);
    let sampled = || others.clone().filter(|one| one.is_sampled());
    let weight: f64 = sampled().map(|one| one.weight_ns as f64).sum();
    if left_ns <= 0.0 {
        return;
    }
    if weight > 0.0 {
        let share = |one: &Let| Share {
            holder: Holder::Release(one.place),
            ns: left_ns * one.weight_ns as f64 / weight,
            held: section_of(one),
            represents_others: true,
        };
        out.extend(sampled().map(share));
    } else {
        out.push(Share { holder: Holder::HandOver, ns: left_ns, held: whole, represents_others: false });
    }
}
