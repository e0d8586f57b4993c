//! Barriers: who came together, who came last, and what everybody had done since the time before.
//!
//! Waits for one barrier that have an instant in common are one instance of it. Who came last is told by the
//! last call, or, where the last one does not wait (a barrier made of a condition or a futex), by who woke
//! the others.

use proust_profile::{ContextId, ContextKind, LocationId, Profile};

use super::evidence::{Evidence, Kind, ObjectId};
use super::releases::within;
use crate::hash::Map;
use crate::ledger::{Account, Run, Span, State, Windows};

/// Who comes within this of the last comes last, too; or within a hundredth of the longest wait.
const TOGETHER_NS: u64 = 20_000;
/// A call that takes longer than this waits: it is not the last one.
const WAITS_NS: u64 = 20_000;

/// One time that a barrier opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) object: ObjectId,
    /// When the last one came.
    pub(super) arrival_ns: u64,
    /// Who came last; nobody if that is not known.
    pub(super) late: Vec<LocationId>,
}

/// What a location did in the times before a barrier, by context.
#[derive(Clone, Debug, Default)]
pub(super) struct Doing {
    /// How many times.
    pub(super) times: u64,
    /// Working, or passive for its own reasons; by the context itself.
    pub(super) contexts: Map<ContextId, u64>,
    /// Waiting for others.
    pub(super) waits: Map<(Account, ContextId), u64>,
    /// Pieces that it is made of: tells how coarse it is.
    pub(super) pieces: u64,
}

/// All barriers.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    /// By event; empty if there are no barriers.
    of_event: Vec<u32>,
    instances: Vec<Instance>,
    /// What who came late did.
    pub(super) late: Map<(ObjectId, LocationId), Doing>,
    /// What who waited for a late one did.
    pub(super) early: Map<(ObjectId, LocationId, LocationId), Doing>,
    /// The frame or call that each context is in.
    pub(super) frames: Vec<ContextId>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Come {
    object: ObjectId,
    begin_ns: u64,
    end_ns: u64,
    location: LocationId,
    event: usize,
}

impl Barriers {
    pub(super) fn new(evidence: &Evidence<'_>, run: &Run, windows: &Windows) -> Barriers {
        let mut all: Vec<Come> = Vec::new();
        let mut short: Map<LocationId, Vec<(u64, u64)>> = Map::default();
        for (id, event) in evidence.profile.events.iter().enumerate() {
            if evidence.kind(id) != Kind::Barrier {
                continue;
            }
            let (begin_ns, end_ns, location) = (event.begin_ns, event.end_ns, event.location);
            match evidence.object(id) {
                Some(object) => all.push(Come { object, begin_ns, end_ns, location, event: id }),
                None if event.summed => short.entry(location).or_default().push((begin_ns, end_ns)),
                None => {}
            }
        }
        if all.is_empty() {
            return Barriers::default();
        }
        all.sort_unstable_by_key(|come| (come.object, come.begin_ns, come.location));
        let mut barriers = Barriers {
            of_event: vec![NONE; evidence.profile.events.len()],
            frames: frames(evidence.profile),
            ..Barriers::default()
        };
        let history = History::new(evidence.profile, run);
        let mut left: Map<LocationId, u64> = Map::default();
        let mut rest = &all[..];
        while let Some(first) = rest.first() {
            let size = together(rest);
            let (group, later) = rest.split_at(size);
            let instance = instance_of(evidence, group, &short);
            let object = first.object;
            let in_windows = |window: &crate::ledger::Window| {
                (window.start_ns..window.end_ns).contains(&instance.arrival_ns)
            };
            if windows.as_slice().iter().any(in_windows) {
                barriers.compare(&instance, group, &left, &history);
            }
            for come in group {
                barriers.of_event[come.event] = barriers.instances.len() as u32;
                left.insert(come.location, come.end_ns);
            }
            for &late in &instance.late {
                left.entry(late)
                    .and_modify(|at| *at = (*at).max(instance.arrival_ns))
                    .or_insert(instance.arrival_ns);
            }
            barriers.instances.push(instance);
            if later.first().is_none_or(|next| next.object != object) {
                left.clear();
            }
            rest = later;
        }
        barriers
    }

    /// The instance in which a wait was.
    pub(super) fn instance(&self, event: usize) -> Option<&Instance> {
        let id = self.of_event.get(event).copied().filter(|&id| id != NONE)?;
        self.instances.get(id as usize).filter(|instance| !instance.late.is_empty())
    }

    /// Adds what everybody had done since the time before.
    fn compare(
        &mut self,
        instance: &Instance,
        group: &[Come],
        left: &Map<LocationId, u64>,
        history: &History<'_>,
    ) {
        let everybody = || group.iter().map(|come| come.location).chain(instance.late.iter().copied());
        // Who was never there before did nothing before all of them had begun.
        let start_ns = everybody().map(|location| history.start_ns(location)).max().unwrap_or(0);
        let since = |location: LocationId| left.get(&location).copied().unwrap_or(start_ns);
        for &late in &instance.late {
            let doing = self.late.entry((instance.object, late)).or_default();
            history.add(late, since(late), instance.arrival_ns, doing);
            for come in group.iter().filter(|come| !instance.late.contains(&come.location)) {
                let doing = self.early.entry((instance.object, late, come.location)).or_default();
                history.add(come.location, since(come.location), come.begin_ns, doing);
            }
        }
    }
}

/// How many of the first waits belong to one instance: they have an instant in common.
fn together(rest: &[Come]) -> usize {
    let Some(first) = rest.first() else { return 0 };
    let mut end_ns = first.end_ns;
    let mut seen = vec![first.location];
    for (n, come) in rest.iter().enumerate().skip(1) {
        if come.object != first.object || come.begin_ns > end_ns || seen.contains(&come.location) {
            return n;
        }
        end_ns = end_ns.min(come.end_ns);
        seen.push(come.location);
    }
    rest.len()
}

fn instance_of(
    evidence: &Evidence<'_>,
    group: &[Come],
    short: &Map<LocationId, Vec<(u64, u64)>>,
) -> Instance {
    let object = group[0].object;
    let last_ns = group.iter().map(|come| come.begin_ns).max().unwrap_or(0);
    let first_ns = group.iter().map(|come| come.begin_ns).min().unwrap_or(0);
    let opens_ns = group.iter().map(|come| come.end_ns).min().unwrap_or(0);
    let is_member = |location: LocationId| group.iter().any(|come| come.location == location);
    let wakes = within(evidence.releases.of_object(object), last_ns, opens_ns);
    if let Some(wake) = wakes.iter().rfind(|wake| !is_member(wake.location)) {
        return Instance { object, arrival_ns: wake.time_ns, late: vec![wake.location] };
    }
    let longest_ns = opens_ns - first_ns.min(opens_ns);
    let border_ns = last_ns.saturating_sub((longest_ns / 100).max(TOGETHER_NS));
    let waits_itself = opens_ns.saturating_sub(last_ns) > WAITS_NS;
    if waits_itself || group.len() == 1 {
        // The last one's call was so short that it is in a sum.
        let process = evidence.process(group[0].location);
        let mut missing: Vec<LocationId> = (short.iter())
            .filter(|(location, _)| !is_member(**location) && evidence.process(**location) == process)
            .filter(|(_, sums)| {
                let next = sums.partition_point(|(_, end_ns)| end_ns.saturating_add(WAITS_NS) < opens_ns);
                sums.get(next).is_some_and(|(begin_ns, _)| *begin_ns <= opens_ns)
            })
            .map(|(location, _)| *location)
            .collect();
        missing.sort_unstable();
        if missing.len() == 1 || group.len() == 1 {
            missing.truncate(1);
            return Instance { object, arrival_ns: opens_ns, late: missing };
        }
    }
    let late = group.iter().filter(|come| come.begin_ns >= border_ns).map(|come| come.location).collect();
    // All that came together waited for nobody but the last of them.
    Instance { object, arrival_ns: last_ns, late }
}

/// What locations did when.
struct History<'r> {
    spans: Vec<&'r [Span]>,
    starts: Vec<u64>,
}

impl<'r> History<'r> {
    fn new(profile: &Profile, run: &'r Run) -> History<'r> {
        let mut history =
            History { spans: vec![&[]; profile.locations.len()], starts: vec![0; profile.locations.len()] };
        for timeline in &run.timelines {
            let at = timeline.location as usize;
            history.spans[at] = &timeline.spans;
            history.starts[at] = timeline.spans.first().map_or(0, |span| span.start_ns);
        }
        history
    }

    fn start_ns(&self, location: LocationId) -> u64 {
        self.starts[location as usize]
    }

    /// Adds what a location did between two instants.
    fn add(&self, location: LocationId, from_ns: u64, to_ns: u64, doing: &mut Doing) {
        doing.times += 1;
        let spans = self.spans[location as usize];
        let first = spans.partition_point(|span| span.end_ns <= from_ns);
        for span in spans[first..].iter().take_while(|span| span.start_ns < to_ns) {
            let ns = span.end_ns.min(to_ns).saturating_sub(span.start_ns.max(from_ns));
            doing.pieces += 1;
            match span.state {
                State::Waiting(wait) | State::Polling(wait) => {
                    let sum = doing.waits.entry((wait.account(), span.context)).or_default();
                    *sum = sum.saturating_add(ns);
                }
                State::Working(_) | State::Passive(_) => {
                    let sum = doing.contexts.entry(span.context).or_default();
                    *sum = sum.saturating_add(ns);
                }
            }
        }
    }
}

/// The frame or call that each context is in: what is compared are functions, not lines.
fn frames(profile: &Profile) -> Vec<ContextId> {
    let mut frames: Vec<ContextId> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter().enumerate() {
        let inside = matches!(context.kind, ContextKind::Line | ContextKind::Loop);
        let parent =
            context.parent.filter(|_| inside).and_then(|parent| frames.get(parent as usize).copied());
        frames.push(parent.unwrap_or(id as ContextId));
    }
    frames
}
