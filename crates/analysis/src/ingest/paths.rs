//! From the nodes of lanes to the tree of contexts of the run.

use std::collections::HashMap;

use proust_profile::context::{LOST_RECORDS, NO_CALL_PATH, NOT_RECORDED as NOT_RECORDED_NAME};
use proust_profile::{Context, ContextId, ContextKind, Function, FunctionId, Module, ModuleId};
use proust_structure::ResolvedAddress;

use super::modules::Modules;
use super::nodes::{LaneNode, NodeTable, Top};
use super::openmp::{InRegion, RawRegion};
use super::thread::{LOST, NO_PATH, NOT_RECORDED, Place};

const PROGRAM: ContextId = 0;
/// Name of the pseudo-function of code that belongs to no module (compiled at run time, for instance).
const OUTSIDE: &str = "[code outside all modules]";
/// Name of the pseudo-function of code in a module whose record was lost.
const UNKNOWN_MODULE: &str = "[code of a module whose record was lost]";

/// A source file by number; equal files have equal numbers.
type FileId = u32;

/// A place in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// What a node has become: its innermost context, and the place that executes there.
#[derive(Clone, Copy, Debug)]
struct Step {
    context: ContextId,
    function: Option<FunctionId>,
    at: Line,
}

/// The tree of contexts in the making.
pub(super) struct Paths<'m> {
    modules: &'m Modules,
    contexts: Vec<Context>,
    index: HashMap<Key, ContextId>,
    functions: Vec<Function>,
    /// Functions of modules that were met, by module and position in its structure.
    function_ids: HashMap<(ModuleId, u32), FunctionId>,
    /// Functions that no structure knows.
    named: HashMap<(Option<ModuleId>, String), FunctionId>,
    files: HashMap<String, FileId>,
    file_names: Vec<String>,
    /// Whether a module is a runtime of parallel regions.
    runtimes: Vec<bool>,
    /// Parallel regions by log and the process's number.
    regions: HashMap<(usize, u32), Step>,
}

/// The contexts of one lane's nodes, found so far.
#[derive(Default)]
pub(super) struct LaneContexts {
    /// Steps by node and by whether the path is partial.
    steps: HashMap<(u32, bool), Step>,
    /// What rows are charged to: for nodes in order by number, complete and partial paths apart.
    in_order: [Vec<Option<ContextId>>; 2],
    others: HashMap<(Place, bool), ContextId>,
}

impl LaneContexts {
    #[inline]
    fn charged(&self, place: Place, partial: bool) -> Option<ContextId> {
        match self.in_order[usize::from(partial)].get(place as usize) {
            Some(&known) => known,
            None => self.others.get(&(place, partial)).copied(),
        }
    }

    fn set_charged(&mut self, nodes: &NodeTable, place: Place, partial: bool, context: ContextId) {
        let in_order = &mut self.in_order[usize::from(partial)];
        if in_order.is_empty() {
            in_order.resize(nodes.in_order() + 1, None);
        }
        match in_order.get_mut(place as usize) {
            Some(known) => *known = Some(context),
            None => {
                self.others.insert((place, partial), context);
            }
        }
    }
}

/// Contexts and functions of a finished tree.
pub(super) struct Tree {
    pub(super) contexts: Vec<Context>,
    pub(super) functions: Vec<Function>,
}

impl<'m> Paths<'m> {
    pub(super) fn new(modules: &'m Modules) -> Paths<'m> {
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        Paths {
            modules,
            contexts: vec![program],
            index: HashMap::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            named: HashMap::new(),
            files: HashMap::new(),
            file_names: Vec::new(),
            runtimes: modules.modules.iter().map(|module| is_runtime(module.name())).collect(),
            regions: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Tree {
        Tree { contexts: self.contexts, functions: self.functions }
    }

    /// The context that a row is charged to.
    ///
    /// Of a lane's rows `lane` keeps what was found; `log` says whose module numbers the nodes use.
    /// `lost_as` is what a node is taken for whose own record is missing: [`LOST`] or [`NOT_RECORDED`].
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
        lane.set_charged(nodes, place, partial, context);
        context
    }

    /// A row of the report for time of which the path is not known.
    fn without_path(&mut self, name: &str) -> ContextId {
        let function = self.named(None, name);
        let (kind, at) = (ContextKind::Frame, Line::default());
        self.context(Key { parent: PROGRAM, kind, function: Some(function), at })
    }

    /// The context of a region: a construct at the innermost place of the path that leads to `node`, in the region around
    /// it. What lies below is shown there, whichever thread does it.
    pub(super) fn region(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        raw: &RawRegion,
    ) -> ContextId {
        let RawRegion { id, node, parent, body, .. } = *raw;
        let place = InRegion { node, region: parent, keeps_entry: false };
        let mut from = match self.regions.get(&(log, parent)).copied() {
            Some(_) => self.step_in_region(lane, log, nodes, place, false),
            None if nodes.get(node).is_none() => {
                Step { context: self.without_path(NO_CALL_PATH), function: None, at: Line::default() }
            }
            None => self.step_outside(lane, log, nodes, node),
        };
        if let Some((function, at)) = self.construct(log, nodes, body) {
            from = self.out_of_inlined(from, &function);
            from.at = at;
        }
        let module = from.function.and_then(|id| self.functions.get(id as usize)).and_then(|f| f.module);
        let file = from.at.file.and_then(|file| self.file_names.get(file as usize));
        let opener = from.function.and_then(|id| self.functions.get(id as usize));
        let name = match (file, from.at.line, opener) {
            (Some(file), Some(line), _) => {
                format!("parallel region at {}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            (_, _, Some(opener)) => format!("parallel region in {}", opener.name),
            _ => "parallel region".into(),
        };
        let (file, line) = (file.cloned(), from.at.line);
        let function = self.named(module, &name);
        if let Some(known) = self.functions.get_mut(function as usize) {
            (known.file, known.line) = (file, line);
        }
        let kind = ContextKind::Frame;
        let context = self.context(Key { parent: from.context, kind, function: Some(function), at: from.at });
        self.regions.insert((log, id), Step { context, function: Some(function), at: from.at });
        context
    }

    /// The function that holds a construct, and the place of the construct, by the function that the compiler made of it.
    fn construct(&mut self, log: usize, nodes: &NodeTable, body: u32) -> Option<(String, Line)> {
        let modules = self.modules;
        let node = nodes.get(body)?;
        let structure = modules.structures.get(modules.module(log, node.module)? as usize)?;
        let frame = structure.addresses.get(&node.address)?.frames.first()?;
        let known = structure.functions.get(frame.function as usize)?;
        let linkage = known.linkage_name.as_deref().unwrap_or(&known.name);
        let (function, _) = linkage.split_once("._omp_fn.")?;
        let file = known.file.as_deref().map(|file| self.file(file));
        known.line.map(|line| (function.to_owned(), Line { file, line: Some(line) }))
    }

    /// The line of a call may be that of what is inlined beside it: out of what was not inlined into `function` at all.
    fn out_of_inlined(&self, from: Step, function: &str) -> Step {
        let mut context = from.context;
        while let Some(inner) = self.contexts.get(context as usize)
            && matches!(inner.kind, ContextKind::Inline | ContextKind::Frame)
        {
            let known = inner.function.and_then(|id| self.functions.get(id as usize));
            let is_it = known.is_some_and(|known| {
                known.linkage_name.as_deref() == Some(function) || known.name == function
            });
            if is_it {
                return Step { context, function: inner.function, ..from };
            }
            match inner.parent {
                Some(parent) if inner.kind == ContextKind::Inline => context = parent,
                _ => break,
            }
        }
        from
    }

    /// The innermost place of the program on a path that belongs to no region.
    fn step_outside(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        mut node: u32,
    ) -> Step {
        while let Some(inner) = nodes.get(node)
            && self.is_runtime(log, inner)
            && nodes.get(inner.parent).is_some()
        {
            node = inner.parent;
        }
        self.step(lane, log, nodes, node, false)
    }

    fn is_runtime(&self, log: usize, node: LaneNode) -> bool {
        let module = self.modules.module(log, node.module);
        module.and_then(|id| self.runtimes.get(id as usize)) == Some(&true)
    }

    fn leaf_in_region(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        partial: bool,
    ) -> ContextId {
        let step = self.step_in_region(lane, log, nodes, place, partial);
        let of_region = self.regions.get(&(log, place.region)).map(|region| region.context);
        match step.at.line {
            Some(_) if of_region != Some(step.context) || step.at != Line::default() => self.context(Key {
                parent: step.context,
                kind: ContextKind::Line,
                function: step.function,
                at: step.at,
            }),
            _ => step.context,
        }
    }

    /// A path in a region as its user sees it: the region, and below it what the program itself calls. The runtime's
    /// frames are left out, and so is the function that the compiler made of the construct.
    fn step_in_region(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        partial: bool,
    ) -> Step {
        let Some(region) = self.regions.get(&(log, place.region)).copied() else {
            // Its record was lost: the thread's own path is all that is known.
            return self.step(lane, log, nodes, place.node, partial);
        };
        let mut entry = None;
        let mut own: Vec<LaneNode> = Vec::new();
        let mut is_cut = false;
        nodes.walk(place.node, |_, node| {
            match (self.is_runtime(log, node), own.is_empty()) {
                (true, true) => entry = Some(node),
                (true, false) => {
                    is_cut = true;
                    return false;
                }
                (false, _) => own.push(node),
            }
            true
        });
        if !is_cut && entry.is_none() && !own.is_empty() {
            // Nothing of the runtime lies between the region's begin and here: the path is whole.
            return self.step(lane, log, nodes, place.node, partial);
        }
        // A thread that is in the runtime only does nothing of the program's.
        if !is_cut {
            own.clear();
        }
        let mut step = Step { at: Line::default(), ..region };
        let body = own.into_iter().rev();
        let mut is_body = true;
        for node in body {
            // Some compilers make two functions of one construct, of which one calls the other.
            let made = is_body || self.is_made(log, node);
            is_body = false;
            step = if made { self.descend_into_body(step, log, node) } else { self.descend(step, log, node) };
        }
        match entry.filter(|_| place.keeps_entry) {
            Some(entry) => self.descend(step, log, entry),
            None => step,
        }
    }

    /// Whether the compiler made the node's function of a construct.
    fn is_made(&self, log: usize, node: LaneNode) -> bool {
        let structure =
            self.modules.module(log, node.module).and_then(|id| self.modules.structures.get(id as usize));
        let frame = structure.and_then(|known| known.addresses.get(&node.address)?.frames.first());
        let function =
            structure.zip(frame).and_then(|(known, frame)| known.functions.get(frame.function as usize));
        function.is_some_and(|function| is_made(&function.name))
    }

    /// Into the function that the compiler made of a construct: its lines are the region's, and what is inlined in it is
    /// called by the region.
    fn descend_into_body(&mut self, region: Step, log: usize, node: LaneNode) -> Step {
        let module = self.modules.module(log, node.module);
        let modules = self.modules;
        let resolved = module.and_then(|id| {
            let address = modules.structures.get(id as usize)?.addresses.get(&node.address)?;
            (!address.frames.is_empty()).then_some((id, address))
        });
        let Some((module, address)) = resolved else { return self.descend(region, log, node) };
        let mut from = region;
        for frame in &address.frames {
            let function = self.function(module, frame.function);
            if frame.inlined && !self.functions.get(function as usize).is_some_and(|f| is_made(&f.name)) {
                let kind = ContextKind::Inline;
                let context =
                    self.context(Key { parent: from.context, kind, function: Some(function), at: from.at });
                from = Step { context, function: Some(function), ..from };
            }
            let file = frame.file.as_deref().map(|file| self.file(file));
            from.at = Line { file, line: frame.line };
        }
        from
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
        let mut step = above.unwrap_or_else(|| {
            let complete = top == Some(Top::Root) && !partial;
            let context = if complete { PROGRAM } else { self.partial() };
            Step { context, function: None, at: Line::default() }
        });
        for (id, node) in new.into_iter().rev() {
            step = self.descend(step, log, node);
            lane.steps.insert((id, partial), step);
        }
        step
    }

    fn partial(&mut self) -> ContextId {
        self.context(Key { parent: PROGRAM, kind: ContextKind::Partial, function: None, at: Line::default() })
    }

    /// One frame down: a physical function and the calls inlined at the address.
    fn descend(&mut self, from: Step, log: usize, node: LaneNode) -> Step {
        let modules = self.modules;
        let module = modules.module(log, node.module);
        let resolved = module.and_then(|id| {
            let structure = modules.structures.get(id as usize)?;
            let address = structure.addresses.get(&node.address)?;
            (!address.frames.is_empty()).then_some((id, address))
        });
        match (resolved, module) {
            (Some((module, address)), _) => self.descend_resolved(from, module, address),
            (None, Some(module)) => {
                let file = modules.modules.get(module as usize).map_or("[unknown module]", Module::name);
                let name = format!("{file}+{:#x}", node.address);
                self.descend_named(from, Some(module), &name)
            }
            (None, None) => {
                self.descend_named(from, None, if node.module == 0 { OUTSIDE } else { UNKNOWN_MODULE })
            }
        }
    }

    fn descend_resolved(&mut self, mut from: Step, module: ModuleId, address: &ResolvedAddress) -> Step {
        for frame in &address.frames {
            let function = self.function(module, frame.function);
            let kind = if frame.inlined { ContextKind::Inline } else { ContextKind::Frame };
            let context =
                self.context(Key { parent: from.context, kind, function: Some(function), at: from.at });
            let file = frame.file.as_deref().map(|file| self.file(file));
            from = Step { context, function: Some(function), at: Line { file, line: frame.line } };
        }
        from
    }

    fn descend_named(&mut self, from: Step, module: Option<ModuleId>, name: &str) -> Step {
        let function = Some(self.named(module, name));
        let kind = ContextKind::Frame;
        let context = self.context(Key { parent: from.context, kind, function, at: from.at });
        Step { context, function, at: Line::default() }
    }

    fn context(&mut self, key: Key) -> ContextId {
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let id = self.contexts.len() as ContextId;
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

    fn function(&mut self, module: ModuleId, position: u32) -> FunctionId {
        if let Some(&known) = self.function_ids.get(&(module, position)) {
            return known;
        }
        let structure = self.modules.structures.get(module as usize);
        let id = match structure.and_then(|structure| structure.functions.get(position as usize)) {
            Some(known) => self.add(Function {
                name: known.name.clone(),
                full_name: known.full_name.clone(),
                linkage_name: known.linkage_name.clone(),
                module: Some(module),
                file: known.file.clone(),
                line: known.line,
            }),
            None => self.named(Some(module), "[unknown function]"),
        };
        self.function_ids.insert((module, position), id);
        id
    }

    fn named(&mut self, module: Option<ModuleId>, name: &str) -> FunctionId {
        if let Some(&known) = self.named.get(&(module, name.to_owned())) {
            return known;
        }
        let id = self.add(Function {
            name: name.into(),
            full_name: name.into(),
            linkage_name: None,
            module,
            file: None,
            line: None,
        });
        self.named.insert((module, name.into()), id);
        id
    }

    fn add(&mut self, function: Function) -> FunctionId {
        self.functions.push(function);
        (self.functions.len() - 1) as FunctionId
    }

    fn file(&mut self, name: &str) -> FileId {
        if let Some(&known) = self.files.get(name) {
            return known;
        }
        let id = self.file_names.len() as FileId;
        self.file_names.push(name.into());
        self.files.insert(name.into(), id);
        id
    }
}

/// Whether the file is a runtime of parallel regions.
fn is_runtime(file: &str) -> bool {
    ["libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so", "libnvomp.so"]
        .iter()
        .any(|runtime| file.starts_with(runtime))
}

/// Whether a function of this name was made by a compiler of a construct in another one.
fn is_made(name: &str) -> bool {
    name.contains("._omp_fn.") || name.contains(".omp_outlined") || name.contains(".omp_task_entry")
}
