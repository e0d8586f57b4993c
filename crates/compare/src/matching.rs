//! Which nodes of several outlines are the same: from the top down, among the children of what is the same
//! already.
//!
//! Siblings are compared by kind and name. Where several have both, their places in the source decide: within
//! one build exactly, between builds by their order, after the shift by which most of them fit, since an edit
//! moves all lines after it. A node without a partner was added or has vanished, and is a node of its own.

use proust_profile::ContextKind;
use rustc_hash::FxHashSet;

use super::names::{TextId, Texts};
use super::node::{JointId, JointNode};
use super::outline::{Key, NodeId, Outline, Position};
use rustc_hash::FxHashMap as Map;

/// No node of a run.
pub(super) const ABSENT: NodeId = NodeId::MAX;

/// Shifts are tried from so many siblings of each side: enough for an edit in the middle, and no square of
/// many lines.
const TRIED: usize = 12;

/// The joint tree in the making.
#[derive(Debug, Default)]
pub(super) struct Matching {
    pub texts: Texts,
    pub nodes: Vec<JointNode>,
    /// By run and joint node the node of the run. Later nodes than there are here are absent.
    pub places: Vec<Vec<NodeId>>,
    children: Map<(JointId, u32, TextId), Vec<JointId>>,
    places_in: Vec<Place>,
}

/// Where a node was in the last run that had it.
#[derive(Clone, Copy, Debug)]
struct Place {
    position: Position,
    build: TextId,
}

const ROOT: JointId = JointId::MAX;

impl Matching {
    /// Lays another run over those that are there.
    pub fn add(&mut self, outline: &Outline) {
        let run = self.places.len();
        let texts: Vec<TextId> = outline.texts.iter().map(|text| self.texts.id(text)).collect();
        let translated = |key: Key| Key { name: texts[key.name as usize], ..key };
        let place = |node: NodeId| {
            let node = &outline.nodes[node as usize];
            let position = Position { file: texts[node.position.file as usize], ..node.position };
            Place { position, build: texts[node.build as usize] }
        };
        let mut order: Vec<NodeId> = (0..outline.nodes.len() as NodeId).collect();
        let group = |id: NodeId| {
            let node = &outline.nodes[id as usize];
            (node.parent, node.key.kind as u32, node.key.name)
        };
        let in_source = |id: NodeId| {
            let position = outline.nodes[id as usize].position;
            (position.line, position.ordinal, position.file)
        };
        order.sort_unstable_by_key(|&id| (group(id), in_source(id), id));
        let mut joint_of = vec![ROOT; outline.nodes.len()];
        self.places.push(vec![ABSENT; self.nodes.len()]);
        // Groups are in the order of their parents, and a parent has a smaller number than its children.
        for siblings in order.chunk_by(|&a, &b| group(a) == group(b)) {
            let first = &outline.nodes[siblings[0] as usize];
            let parent = first.parent.map_or(ROOT, |parent| joint_of[parent as usize]);
            let key = translated(first.key);
            let at = (parent, key.kind as u32, key.name);
            let known = self.children.get(&at).map_or(&[][..], Vec::as_slice);
            let here: Vec<Place> = siblings.iter().map(|&id| place(id)).collect();
            let there: Vec<Place> = known.iter().map(|&id| self.places_in[id as usize]).collect();
            let partners: Vec<Option<JointId>> =
                (pairs(key.kind, &there, &here).into_iter()).map(|at| at.map(|at| known[at])).collect();
            for ((&id, place), partner) in siblings.iter().zip(here).zip(partners) {
                let joint = partner.unwrap_or_else(|| {
                    let new = self.nodes.len() as JointId;
                    let above = (parent != ROOT).then_some(parent);
                    self.nodes.push(JointNode { parent: above, key, file: 0 });
                    self.places_in.push(place);
                    self.places[run].push(ABSENT);
                    self.children.entry(at).or_default().push(new);
                    new
                });
                self.places_in[joint as usize] = place;
                if place.position.file != 0 {
                    self.nodes[joint as usize].file = place.position.file;
                }
                self.places[run][joint as usize] = id;
                joint_of[id as usize] = joint;
            }
        }
    }
}

/// For each of `here` its partner in `there`. `here` is in the order of the source.
fn pairs(kind: ContextKind, there: &[Place], here: &[Place]) -> Vec<Option<usize>> {
    let mut partner = vec![None; here.len()];
    if there.is_empty() {
        return partner;
    }
    let same_build = |a: &Place, b: &Place| a.build == b.build && a.build != 0;
    let mut free: Vec<usize> = (0..there.len()).collect();
    let by_source = |place: &Place| (place.position.line, place.position.ordinal, place.position.file);
    free.sort_unstable_by_key(|&at| by_source(&there[at]));
    // Within one build nothing has moved.
    join(&mut partner, &mut free, there, here, 0, |at, b| same_build(&there[at], b));
    let other_build = |at: usize, b: &Place| !same_build(&there[at], b);
    let same_file = |at: usize, b: &Place| other_build(at, b) && there[at].position.file == b.position.file;
    if !free.is_empty() && partner.contains(&None) {
        let shift = shift(&free, &partner, there, here);
        join(&mut partner, &mut free, there, here, shift, same_file);
        in_order(kind, &mut partner, &mut free, there, here, shift, same_file);
        // A function may move to another file, or be compiled without debug information; a line does not.
        if kind != ContextKind::Line {
            in_order(kind, &mut partner, &mut free, there, here, shift, other_build);
        }
    }
    partner
}

/// Joins what is at the same place, moved by so many lines, and satisfies a condition. Each is joined at most
/// once; both sides are in the order of the source.
fn join(
    partner: &mut [Option<usize>],
    free: &mut Vec<usize>,
    there: &[Place],
    here: &[Place],
    shift: i64,
    fits: impl Fn(usize, &Place) -> bool,
) {
    let place_of = |place: &Place, shift: i64| {
        let position = place.position;
        (position.line + shift, position.ordinal, position.file)
    };
    let mut next = 0;
    let mut taken = vec![false; free.len()];
    for (slot, place) in partner.iter_mut().zip(here).filter(|(slot, _)| slot.is_none()) {
        let wanted = place_of(place, 0);
        while next < free.len() && place_of(&there[free[next]], shift) < wanted {
            next += 1;
        }
        let same = (next..free.len()).take_while(|&at| place_of(&there[free[at]], shift) == wanted);
        if let Some(found) = same.filter(|&at| !taken[at]).find(|&at| fits(free[at], place)) {
            *slot = Some(free[found]);
            taken[found] = true;
        }
    }
    let mut taken = taken.into_iter();
    free.retain(|_| !taken.next().unwrap_or(false));
}

/// By how many lines most of `free` moved to fit one of those without a partner; the smallest such number.
fn shift(free: &[usize], partner: &[Option<usize>], there: &[Place], here: &[Place]) -> i64 {
    let place_of = |place: &Place, shift: i64| (place.position.line + shift, place.position.file);
    let open = || here.iter().zip(partner).filter(|(_, partner)| partner.is_none()).map(|(place, _)| place);
    let mut candidates: Vec<i64> = vec![0];
    for &at in free.iter().take(TRIED) {
        let line = there[at].position.line;
        candidates.extend(open().take(TRIED).map(|place| place.position.line - line));
    }
    candidates.sort_unstable_by_key(|shift| (shift.abs(), *shift));
    candidates.dedup();
    let wanted: FxHashSet<(i64, TextId)> = open().map(|place| place_of(place, 0)).collect();
    let fitting =
        |shift: i64| free.iter().filter(|&&at| wanted.contains(&place_of(&there[at], shift))).count();
    let mut best = (0, 0);
    for shift in candidates {
        let count = fitting(shift);
        if count > best.0 {
            best = (count, shift);
        }
    }
    best.1
}

/// The rest between two pairs is joined in its order. Lines only where as many are left on both sides:
/// samples fall into other lines in every run.
fn in_order(
    kind: ContextKind,
    partner: &mut [Option<usize>],
    free: &mut Vec<usize>,
    there: &[Place],
    here: &[Place],
    shift: i64,
    fits: impl Fn(usize, &Place) -> bool,
) {
    let moved = |at: usize| there[at].position.line + shift;
    let mut taken = vec![false; there.len()];
    let mut next = 0;
    let mut n = 0;
    while n < here.len() {
        if partner[n].is_some() {
            n += 1;
            continue;
        }
        let end = (n..here.len()).find(|&n| partner[n].is_some()).unwrap_or(here.len());
        let before = n.checked_sub(1).and_then(|n| partner[n]).map(moved);
        let after = partner.get(end).copied().flatten().map(moved);
        let mut gap: Vec<usize> = Vec::new();
        while next < free.len() && after.is_none_or(|after| moved(free[next]) <= after) {
            if before.is_none_or(|before| moved(free[next]) >= before) {
                gap.push(free[next]);
            }
            next += 1;
        }
        if kind != ContextKind::Line || gap.len() == end - n {
            for (slot, place) in partner[n..end].iter_mut().zip(&here[n..end]) {
                if let Some(found) = gap.iter().position(|&at| fits(at, place)) {
                    let at = gap.remove(found);
                    taken[at] = true;
                    *slot = Some(at);
                }
            }
        }
        n = end;
    }
    free.retain(|&at| !taken[at]);
}
