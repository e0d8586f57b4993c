//! Threads and tasks that begin with a closure continue the path of the function that the closure is written
//! in, where that is known: a pool of threads then reads like the source.
//!
//! A worker's own stack has the runtime's frames, and then a closure whose name contains the function that it
//! is written in, its *owner*. The owner's path is known where the owner was seen, on any thread, when it
//! called a runtime. If it was seen on one path only, the task is shown there. If it calls itself, it is the
//! outermost call on this path, since nothing says in which of the inner ones the task was created. If it was
//! seen on several paths, or never, the task stays on its thread's own path.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::FunctionId;
use rustc_hash::FxHashMap;

use super::closures::written_in;
use super::entrances::{Role, creates_threads};
use super::{CallPaths, Line, Paths, Shown, Step};
use crate::log::LogHarvest;
use crate::nodes::NodeTable;

/// Where tasks were created, by log and the closure that they begin with.
#[derive(Debug, Default)]
pub(super) struct Owners {
    known: FxHashMap<(usize, FunctionId), Step>,
}

/// The frames of a lane's nodes, as far as their numbers are in order.
#[derive(Default)]
struct Stacks {
    frames: Vec<Shown>,
    /// By node, less 1.
    nodes: Vec<Frames>,
}

/// Those of one node.
#[derive(Clone, Copy)]
struct Frames {
    parent: u32,
    from: usize,
    to: usize,
    /// Whether only a runtime's frames lie between the last of them and the begin of a thread or task.
    begins: bool,
    /// Whether the path is complete.
    complete: bool,
}

/// A call of an owner: in which lane, the node of its outermost frame, and its line when it called a runtime.
type Calls = BTreeMap<(usize, u32), BTreeSet<Line>>;

/// What became of the search for an owner.
#[derive(Clone)]
enum Found {
    /// It goes on: the owner is on the path to itself.
    Searching,
    Nowhere,
    /// On one path, at these lines.
    There(Step, BTreeSet<Line>),
}

struct Search {
    log: usize,
    lanes: Vec<Stacks>,
    /// By the owner's name.
    found: FxHashMap<String, Found>,
    /// How many owners are searched for, one for the sake of another.
    depth: usize,
}

/// So deep no program nests its tasks' owners.
const DEEPEST: usize = 50;

impl Paths<'_> {
    /// Finds where tasks of a log were created, before any path of it is asked for.
    pub(crate) fn find_owners(&mut self, log: usize, harvest: &LogHarvest) {
        let has_threads = harvest.threads().nth(1).is_some();
        if self.shown != CallPaths::User || !has_threads || !self.has_closures() {
            return;
        }
        let lanes: Vec<Stacks> = harvest.lanes.iter().map(|lane| self.stacks(log, &lane.nodes)).collect();
        let mut closures: Vec<FunctionId> = lanes.iter().flat_map(|lane| self.beginning(lane)).collect();
        closures.sort_unstable();
        closures.dedup();
        let mut search = Search { log, lanes, found: FxHashMap::default(), depth: 0 };
        for closure in closures {
            self.find_owner(&mut search, closure);
        }
    }

    fn has_closures(&self) -> bool {
        let functions = || self.modules.structures.iter().flat_map(|structure| &structure.functions);
        functions().any(|function| written_in(&function.name).is_some())
    }

    /// Where a task was created that begins with this function below `from`.
    pub(super) fn owner_of(&self, from: Step, log: usize, function: FunctionId) -> Option<Step> {
        if !from.begins || self.shown != CallPaths::User {
            return None;
        }
        self.owners.known.get(&(log, function)).copied()
    }

    /// The part of a complete path that is shown, and where it begins.
    pub(super) fn below_owner(&self, log: usize, mut frames: Vec<Shown>) -> (Step, Vec<Shown>) {
        let (mut begins, mut start) = (true, (0, Step::THREAD));
        for (at, shown) in frames.iter().enumerate() {
            let here = Step { begins, ..Step::THREAD };
            if let Some(owner) = self.owner_of(here, log, shown.function) {
                start = (at, owner);
            }
            begins = self.begins_behind(begins, shown.function);
        }
        frames.drain(..start.0);
        (start.1, frames)
    }

    /// Whether a frame leaves it open what a thread or task begins with.
    fn begins_behind(&self, begins: bool, function: FunctionId) -> bool {
        match self.roles.get(function.index()) {
            Some(Role::Task) => true,
            Some(Role::Entrance | Role::Runtime | Role::Standard | Role::SystemStandard) => begins,
            _ => false,
        }
    }

    fn stacks(&mut self, log: usize, nodes: &NodeTable) -> Stacks {
        let mut stacks = Stacks::default();
        for id in 1..=nodes.in_order() as u32 {
            let Some(node) = nodes.get(id) else { break };
            let above = (node.parent != 0).then(|| stacks.get(node.parent)).flatten();
            let mut begins = above.map_or(node.parent == 0, |above| above.begins);
            let from = stacks.frames.len();
            for frame in self.frames_of_node(log, nodes, node) {
                begins = self.begins_behind(begins, frame.function);
                stacks.frames.push(frame);
            }
            let complete = node.parent == 0 || above.is_some_and(|above| above.complete);
            let to = stacks.frames.len();
            stacks.nodes.push(Frames { parent: node.parent, from, to, begins, complete });
        }
        stacks
    }

    /// The closures that threads and tasks of a lane begin with.
    fn beginning(&self, lane: &Stacks) -> Vec<FunctionId> {
        let mut closures = Vec::new();
        for node in lane.nodes.iter().filter(|node| node.complete) {
            let mut begins = lane.get(node.parent).is_none_or(|above| above.begins);
            for frame in lane.of(node) {
                let is_first = begins && self.name(frame.function).and_then(written_in).is_some();
                begins = self.begins_behind(begins, frame.function);
                if is_first && !begins {
                    closures.push(frame.function);
                }
            }
        }
        closures
    }

    fn name(&self, function: FunctionId) -> Option<&str> {
        self.functions.get(function.index()).map(|function| function.name.as_str())
    }

    fn find_owner(&mut self, search: &mut Search, closure: FunctionId) {
        let Some(name) = self.name(closure).map(str::to_owned) else { return };
        let line = self.functions.get(closure.index()).and_then(|function| function.line);
        // A closure that only creates tasks is rarely seen: then it is the function around it.
        let mut owner = written_in(&name);
        while let Some(written) = owner {
            if let Found::There(step, lines) = self.owner(search, written) {
                let at = nearest(&lines, line);
                self.owners.known.insert((search.log, closure), Step { at, held: None, ..step });
                return;
            }
            owner = written_in(written);
        }
    }

    /// Where the function of that name calls a runtime.
    fn owner(&mut self, search: &mut Search, name: &str) -> Found {
        if let Some(found) = search.found.get(name) {
            return found.clone();
        }
        if search.depth == DEEPEST {
            return Found::Nowhere;
        }
        search.found.insert(name.to_owned(), Found::Searching);
        search.depth += 1;
        let found = self.look_for(search, name);
        search.depth -= 1;
        search.found.insert(name.to_owned(), found.clone());
        found
    }

    fn look_for(&mut self, search: &mut Search, name: &str) -> Found {
        let mut only: Option<Step> = None;
        let mut all_lines = BTreeSet::new();
        for ((lane, node), lines) in self.calls(search, name) {
            let Some(step) = self.step_of_owner(search, lane, node, name) else { continue };
            all_lines.extend(lines);
            if only.get_or_insert(step).context != step.context {
                return Found::Nowhere;
            }
        }
        only.map_or(Found::Nowhere, |step| Found::There(step, all_lines))
    }

    /// The calls of a function in which it called a runtime.
    fn calls(&self, search: &Search, name: &str) -> Calls {
        let is_owner: Vec<bool> = self.functions.iter().map(|function| function.name == name).collect();
        let is_owner = |frame: &Shown| is_owner.get(frame.function.index()).copied().unwrap_or(false);
        let mut calls = Calls::new();
        for (number, lane) in search.lanes.iter().enumerate() {
            // By node, less 1: the outermost call on its path; 0 = none.
            let mut outermost: Vec<u32> = Vec::with_capacity(lane.nodes.len());
            for (position, node) in lane.nodes.iter().enumerate() {
                let id = position as u32 + 1;
                let above = (node.parent as usize).checked_sub(1).and_then(|at| outermost.get(at).copied());
                let mut outer = above.unwrap_or(0);
                let mut before = lane.get(node.parent).and_then(|parent| lane.of(parent).last());
                for frame in lane.of(node) {
                    if let Some(caller) = before.filter(|caller| outer != 0 && is_owner(caller))
                        && node.complete
                        && self.is_of_runtime(frame.function)
                    {
                        calls.entry((number, outer)).or_default().insert(caller.own);
                    }
                    if outer == 0 && is_owner(frame) {
                        outer = id;
                    }
                    before = Some(frame);
                }
                outermost.push(outer);
            }
        }
        calls
    }

    fn is_of_runtime(&self, function: FunctionId) -> bool {
        matches!(self.roles.get(function.index()), Some(Role::Runtime | Role::Task))
            || self.name(function).is_some_and(creates_threads)
    }

    /// The outermost call of a function on the path to a node. None if the path is one that the search is
    /// for.
    fn step_of_owner(&mut self, search: &mut Search, lane: usize, node: u32, name: &str) -> Option<Step> {
        let path = search.lanes.get(lane)?.path(node);
        let mut step = Step::THREAD;
        for frame in path {
            let is_first = step.begins && !self.owners.known.contains_key(&(search.log, frame.function));
            if is_first && let Some(owner) = self.name(frame.function).and_then(written_in).map(str::to_owned)
            {
                if matches!(search.found.get(&owner), Some(Found::Searching)) {
                    return None;
                }
                self.find_owner(search, frame.function);
            }
            step = self.go_down(step, search.log, &frame);
            if self.name(frame.function) == Some(name) {
                return Some(step);
            }
        }
        None
    }
}

/// Of the lines at which an owner called a runtime, that of the call with the closure, which is written near.
fn nearest(lines: &BTreeSet<Line>, closure: Option<u32>) -> Line {
    let mut lines: Vec<Line> = lines.iter().copied().collect();
    lines.sort_unstable_by_key(|at| at.line);
    let distance =
        |at: &Line| at.line.zip(closure).map_or(u32::MAX, |(line, closure)| line.abs_diff(closure));
    lines.into_iter().min_by_key(distance).unwrap_or_default()
}

impl Stacks {
    fn get(&self, id: u32) -> Option<Frames> {
        self.nodes.get((id as usize).checked_sub(1)?).copied()
    }

    fn of(&self, node: impl std::borrow::Borrow<Frames>) -> &[Shown] {
        let node = node.borrow();
        self.frames.get(node.from..node.to).unwrap_or_default()
    }

    /// The frames from the root to a node.
    fn path(&self, id: u32) -> Vec<Shown> {
        let nodes = std::iter::successors(self.get(id), |node| self.get(node.parent));
        let nodes: Vec<Frames> = nodes.collect();
        nodes.iter().rev().flat_map(|node| self.of(node).iter().copied()).collect()
    }
}
