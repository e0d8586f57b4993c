//! From the nodes of lanes to the tree of contexts of the run.
//!
//! - `entrances`: frames that only begin something or pass a call on
//! - `closures`: which function a closure is written in
//! - `owners`: paths of threads and tasks that continue the path that created them
//! - `regions`: paths in parallel regions, by the chosen view
//! - `functions`: the functions and files that paths lead through
//! - `intervals`: paths in marked intervals
//! - `lane`: the results for one lane's nodes
//! - `tail_calls`: functions that left no frame

mod closures;
mod entrances;
mod functions;
mod held;
mod intervals;
mod lane;
mod mpi_layers;
mod owners;
mod regions;
mod tail_calls;

use proust_profile::context::{LOST_RECORDS, NO_CALL_PATH, NOT_RECORDED as NOT_RECORDED_NAME};
use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, IntervalContext, Module, ModuleId,
};
use proust_structure::{ResolvedAddress, SourceFrame};
use rustc_hash::{FxHashMap, FxHashSet};

use super::modules::Modules;
use super::nodes::{LaneNode, NodeTable, Top};
use super::thread::{LOST, NO_PATH, NOT_RECORDED, Place};

use entrances::Role;
use held::{Held, HeldId};
use intervals::KnownIntervals;
pub(super) use lane::LaneContexts;
use owners::Owners;
pub use regions::CallPaths;
use regions::Library;

const PROGRAM: ContextId = ContextId(0);
/// Name of the pseudo-function of code that belongs to no module (compiled at run time, for instance).
pub(super) const OUTSIDE: &str = "[code outside all modules]";
/// Name of the pseudo-function of code in a module whose record was lost.
const UNKNOWN_MODULE: &str = "[code of a module whose record was lost]";

/// A source file by number; equal files have equal numbers.
type FileId = u32;

/// A place in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Line {
    file: Option<FileId>,
    line: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    parent: ContextId,
    kind: ContextKind,
    function: Option<FunctionId>,
    at: Line,
}

/// A frame of a path, or an inlined call, before it has a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shown {
    /// None: it is not shown, but what it calls is called from where it executes.
    kind: Option<ContextKind>,
    function: FunctionId,
    /// Where it executes.
    own: Line,
}

/// What a node has become: its innermost context, and the place that executes there.
#[derive(Clone, Copy, Debug)]
struct Step {
    context: ContextId,
    function: Option<FunctionId>,
    at: Line,
    /// Entrances below `context`, innermost last: they are shown only if no function of the program follows.
    held: Option<HeldId>,
    /// Whether nothing but a runtime's frames lies between here and the begin of a thread or task.
    begins: bool,
}

impl Step {
    /// At the root of the tree.
    const PROGRAM: Step = Step {
        context: PROGRAM,
        function: None,
        at: Line { file: None, line: None },
        held: None,
        begins: false,
    };
    /// There, where a thread begins.
    const THREAD: Step = Step { begins: true, ..Step::PROGRAM };
}

/// A list of entrances by number: equal lists have equal numbers.
/// The tree of contexts in the making.
pub(super) struct Paths<'m> {
    modules: &'m Modules,
    contexts: Vec<Context>,
    index: FxHashMap<Key, ContextId>,
    functions: Vec<Function>,
    /// Functions of modules that were met, by module and position in its structure.
    function_ids: FxHashMap<(ModuleId, u32), FunctionId>,
    /// Functions that no structure knows.
    named: FxHashMap<(Option<ModuleId>, String), FunctionId>,
    files: FxHashMap<String, FileId>,
    file_names: Vec<String>,
    /// By function.
    roles: Vec<Role>,
    /// Lists of entrances.
    held: Vec<Held>,
    held_ids: FxHashMap<Held, HeldId>,
    /// Where threads and tasks were created that begin with a closure.
    owners: Owners,
    /// How they are shown.
    shown: CallPaths,
    /// What each module is for those.
    libraries: Vec<Library>,
    /// Modules that call MPI on behalf of a program in another language than C.
    mpi_layers: FxHashSet<ModuleId>,
    callers: mpi_layers::Callers,
    /// Parallel regions by log and the process's number.
    regions: FxHashMap<(usize, u32), Step>,
    /// Of those that were opened in a marked interval, its number.
    region_intervals: FxHashMap<(usize, u32), u32>,
    intervals: KnownIntervals,
    /// Time of what is being charged, by its log's clock: memory of code that was made is used again.
    now_ns: u64,
}

/// Contexts and functions of a finished tree.
pub(super) struct Tree {
    pub(super) contexts: Vec<Context>,
    pub(super) functions: Vec<Function>,
    /// Contexts that are marked intervals.
    pub(super) intervals: Vec<IntervalContext>,
}

impl<'m> Paths<'m> {
    pub(super) fn new(modules: &'m Modules, shown: CallPaths) -> Paths<'m> {
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        Paths {
            modules,
            contexts: vec![program],
            index: FxHashMap::default(),
            functions: Vec::new(),
            function_ids: FxHashMap::default(),
            named: FxHashMap::default(),
            files: FxHashMap::default(),
            file_names: Vec::new(),
            roles: Vec::new(),
            held: Vec::new(),
            held_ids: FxHashMap::default(),
            owners: Owners::default(),
            shown,
            libraries: modules.modules.iter().map(|module| Library::of(module.name())).collect(),
            mpi_layers: (0..)
                .map(ModuleId)
                .zip(&modules.modules)
                .filter(|(_, module)| mpi_layers::is_layer(module.name()))
                .map(|(id, _)| id)
                .collect(),
            callers: mpi_layers::Callers::default(),
            regions: FxHashMap::default(),
            region_intervals: FxHashMap::default(),
            intervals: KnownIntervals::default(),
            now_ns: 0,
        }
    }

    pub(super) fn finish(self) -> Tree {
        let intervals = self.intervals.into_contexts();
        Tree { contexts: self.contexts, functions: self.functions, intervals }
    }

    /// Goes to a time of a log. What was found for a lane's nodes counts no more if an address has become
    /// something else since.
    #[inline]
    pub(super) fn go_to(&mut self, lane: &mut LaneContexts, log: usize, time_ns: u64) {
        self.now_ns = time_ns;
        let changes = self.modules.changes_of_made(log);
        if !changes.is_empty() {
            lane.go_to(changes.partition_point(|&change_ns| change_ns <= time_ns));
        }
    }

    /// The context that a row is charged to.
    ///
    /// For a lane's rows `lane` keeps the results; `log` says whose module numbers the nodes use. `lost_as`
    /// is what a node is taken for whose own record is missing: [`LOST`] or [`NOT_RECORDED`].
    #[inline]
    pub(super) fn charge(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: Place,
        partial: bool,
        lost_as: Place,
    ) -> ContextId {
        match lane.charged(place, partial) {
            Some(known) => known,
            None => self.charge_new(lane, log, nodes, place, partial, lost_as),
        }
    }

    #[cold]
    fn charge_new(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: Place,
        partial: bool,
        lost_as: Place,
    ) -> ContextId {
        let context = match place {
            LOST => self.without_path(LOST_RECORDS),
            NOT_RECORDED => self.without_path(NOT_RECORDED_NAME),
            NO_PATH => self.without_path(NO_CALL_PATH),
            place if let Some(place) = nodes.in_regions.get(place) => {
                self.leaf_in_region(lane, log, nodes, place, partial)
            }
            node if nodes.get(node).is_none() => {
                self.without_path(if lost_as == NOT_RECORDED { NOT_RECORDED_NAME } else { LOST_RECORDS })
            }
            node => self.leaf(lane, log, nodes, node, partial),
        };
        let node = nodes.in_regions.get(place).map_or(place, |place| place.node);
        let leaf = nodes.get(node).and_then(|node| self.resolved(log, node));
        if leaf.is_some_and(|(_, address)| address.waits) {
            lane.waiting.insert(place);
        } else if leaf.is_some_and(|(_, address)| address.is_atomic) {
            lane.atomic.insert(place);
        }
        lane.set_charged(nodes, place, partial, context);
        context
    }

    /// A row of the report for time of which the path is not known.
    fn without_path(&mut self, name: &str) -> ContextId {
        let function = self.named(None, name);
        let (kind, at) = (ContextKind::Frame, Line::default());
        self.context(Key { parent: PROGRAM, kind, function: Some(function), at })
    }

    fn leaf(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        node: u32,
        partial: bool,
    ) -> ContextId {
        let step = self.step(lane, log, nodes, node, partial);
        let step = self.down_last_call(step, log, nodes, node);
        let step = self.with_held(step);
        match step.at.line {
            Some(_) => self.context(Key {
                parent: step.context,
                kind: ContextKind::Line,
                function: step.function,
                at: step.at,
            }),
            None => step.context,
        }
    }

    /// The contexts of a node and its ancestors, outermost first; a node met before ends the search.
    fn step(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        node: u32,
        partial: bool,
    ) -> Step {
        let mut new: Vec<(u32, LaneNode)> = Vec::new();
        let mut above = None;
        let top = nodes.walk(node, |id, node| {
            above = lane.steps.get(&(id, partial)).copied();
            if above.is_none() {
                new.push((id, node));
            }
            above.is_none()
        });
        let mut step = match above {
            Some(above) => above,
            None => {
                let begins = |&(_, node): &(u32, LaneNode)| self.begins_a_path(log, node);
                let is_whole = !partial || new.last().is_some_and(begins);
                if top == Some(Top::Root) && is_whole {
                    Step::THREAD
                } else {
                    Step { context: self.partial(), ..Step::PROGRAM }
                }
            }
        };
        for (id, node) in new.into_iter().rev() {
            step = self.descend(step, log, nodes, node);
            lane.steps.insert((id, partial), step);
        }
        step
    }

    /// Whether nothing can have called this function, though its frame does not say so.
    fn begins_a_path(&self, log: usize, node: LaneNode) -> bool {
        self.resolved(log, node).is_some_and(|(module, address)| {
            let structure = self.modules.structures.get(module.index());
            let outermost = address.frames.first();
            let function = outermost.and_then(|frame| structure?.functions.get(frame.function as usize));
            function.is_some_and(|function| entrances::begins_goroutine(&function.name))
        })
    }

    /// Whether this context stands below those of which the upper end is not known.
    pub(super) fn is_incomplete(&self, context: ContextId) -> bool {
        std::iter::successors(Some(context), |id| self.contexts.get(id.index())?.parent).any(|id| {
            self.contexts.get(id.index()).is_some_and(|context| context.kind == ContextKind::Partial)
        })
    }

    fn partial(&mut self) -> ContextId {
        self.context(Key { parent: PROGRAM, kind: ContextKind::Partial, function: None, at: Line::default() })
    }

    /// One frame down: a physical function and the calls inlined at the address.
    fn descend(&mut self, from: Step, log: usize, nodes: &NodeTable, node: LaneNode) -> Step {
        let from = match self.left_above(log, nodes, node) {
            Some(left) => self.go_down(from, log, &left),
            None => from,
        };
        match self.resolved(log, node) {
            Some((module, address)) => address.frames.iter().fold(from, |from, frame| {
                let shown = self.shown(module, frame);
                self.go_down(from, log, &shown)
            }),
            None => {
                let shown = self.shown_by_name(log, nodes, node);
                self.go_down(from, log, &shown)
            }
        }
    }

    /// Into a frame or an inlined call.
    fn go_down(&mut self, from: Step, log: usize, shown: &Shown) -> Step {
        let role = self.role(shown);
        match role {
            Role::Entrance | Role::Runtime if shown.kind.is_some() => self.hold(from, *shown, role),
            Role::Task if shown.kind.is_some() => self.hold(Step { begins: true, ..from }, *shown, role),
            Role::Standard | Role::SystemStandard if shown.kind.is_some() && self.is_in_runtime(from) => {
                self.hold(from, *shown, role)
            }
            // A wait for threads is known by the function that waits.
            Role::Standard if self.waits_for_threads(from) => {
                let from = self.with_held(from);
                self.show(from, shown)
            }
            Role::System | Role::SystemStandard => {
                let from = self.with_held(from);
                self.show(from, shown)
            }
            // What an interpreter, or an extension of it, does for Python's library.
            _ if self.holds_interpreted(from) && !self.is_interpreted(shown.function) => {
                let from = self.with_held(from);
                self.show(from, shown)
            }
            _ => {
                let from = self.owner_of(from, log, shown.function).unwrap_or(from);
                self.show(Step { held: None, ..from }, shown)
            }
        }
    }

    /// What a frame is where paths are shown as they are.
    fn role(&self, shown: &Shown) -> Role {
        let known = self.roles.get(shown.function.index()).copied().unwrap_or(Role::Program);
        match self.shown {
            CallPaths::User => known,
            CallPaths::Expert | CallPaths::Machine => Role::Program,
        }
    }

    fn show(&mut self, from: Step, shown: &Shown) -> Step {
        let Some(kind) = shown.kind else { return Step { at: shown.own, ..from } };
        let function = Some(shown.function);
        let context = self.context(Key { parent: from.context, kind, function, at: from.at });
        Step { context, function, at: shown.own, held: None, begins: false }
    }

    /// A node's module, and what is known of its address, if that is anything.
    fn resolved(&self, log: usize, node: LaneNode) -> Option<(ModuleId, &'m ResolvedAddress)> {
        let modules = self.modules;
        let id = modules.module(log, node.module)?;
        let address = modules.structures.get(id.index())?.addresses.get(&node.address)?;
        (!address.frames.is_empty()).then_some((id, address))
    }

    /// A node's frames, outermost first, with the one above that it took the place of.
    fn frames_of_node(&mut self, log: usize, nodes: &NodeTable, node: LaneNode) -> Vec<Shown> {
        let left = self.left_above(log, nodes, node);
        let own = self.own_frames_of_node(log, nodes, node);
        left.into_iter().chain(own).collect()
    }

    fn own_frames_of_node(&mut self, log: usize, nodes: &NodeTable, node: LaneNode) -> Vec<Shown> {
        match self.resolved(log, node) {
            Some((module, address)) => address.frames.iter().map(|frame| self.shown(module, frame)).collect(),
            None => vec![self.shown_by_name(log, nodes, node)],
        }
    }

    fn shown(&mut self, module: ModuleId, frame: &SourceFrame) -> Shown {
        let kind = if frame.inlined { ContextKind::Inline } else { ContextKind::Frame };
        let file = frame.file.as_deref().map(|file| self.file(file));
        Shown {
            kind: Some(kind),
            function: self.function(module, frame.function),
            own: Line { file, line: frame.line },
        }
    }

    /// A frame of which nothing is known but its module, of code that was made at run time, or of a function
    /// that an interpreter executes.
    fn shown_by_name(&mut self, log: usize, nodes: &NodeTable, node: LaneNode) -> Shown {
        if let Some((code, line)) = nodes.interpreted(node) {
            let own = Line { file: Some(self.file(&code.file)), line };
            return Shown { kind: Some(ContextKind::Frame), function: self.interpreted(code), own };
        }
        let function = match self.modules.module(log, node.module) {
            Some(module) => {
                let file = self.modules.modules.get(module.index()).map_or(UNKNOWN_MODULE, Module::name);
                self.named(Some(module), &format!("{file}+{:#x}", node.address))
            }
            None if node.module != 0 => self.named(None, UNKNOWN_MODULE),
            None => match self.modules.made(log, node.address, self.now_ns) {
                Some((module, names)) => self.made(module, names),
                None => self.named(None, OUTSIDE),
            },
        };
        Shown { kind: Some(ContextKind::Frame), function, own: Line::default() }
    }

    fn context(&mut self, key: Key) -> ContextId {
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let id = ContextId::from_index(self.contexts.len());
        let file = key.at.file.and_then(|file| self.file_names.get(file as usize)).cloned();
        self.contexts.push(Context {
            parent: Some(key.parent),
            kind: key.kind,
            function: key.function,
            file,
            line: key.at.line,
        });
        self.index.insert(key, id);
        id
    }
}
