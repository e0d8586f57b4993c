//! Paths in parallel regions: where a region is, and how the threads in it are shown.

use proust_profile::context::NO_CALL_PATH;
use proust_profile::{ContextId, ContextKind};

use super::{Key, LaneContexts, Line, Paths, Shown, Step};
use crate::nodes::{LaneNode, NodeTable, Top};
use crate::openmp::{InRegion, RawRegion};

/// How call paths are shown. Their sums are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallPaths {
    /// As the program's source says: in a parallel region a path continues that of the thread that opened it,
    /// without the runtime's frames and the functions that compilers make of constructs. Entrances of the
    /// system and of languages' runtimes above the program's functions are left out.
    #[default]
    User,
    /// Joined likewise, with those.
    Expert,
    /// As each thread's own stack has them, from the function that it was started with.
    Machine,
}

/// What a module is for paths in regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// A runtime of parallel regions.
    Runtime,
    /// The C library: a runtime calls it for itself.
    C,
    /// Another one, or the program.
    None,
}

impl Library {
    pub(super) fn of(file: &str) -> Library {
        let is = |names: &[&str]| names.iter().any(|name| file.starts_with(name));
        if is(&["libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so", "libnvomp.so"]) {
            Library::Runtime
        } else if is(&["libc.so", "libc-2", "libpthread", "ld-linux", "[vdso]"]) {
            Library::C
        } else {
            Library::None
        }
    }
}

/// The frames of a thread in a region, up to where it begins; each part innermost first.
#[derive(Default)]
struct Stack {
    /// A frame of the runtime, which the program called, or of a function that the runtime called for itself.
    entry: Vec<LaneNode>,
    /// Of the program, in the region.
    own: Vec<LaneNode>,
    /// Of the runtime, which runs the program's function there.
    start: Vec<LaneNode>,
    /// Whether there is anything in `own` that no runtime would call for itself.
    is_of_program: bool,
}

impl Stack {
    /// Takes the next frame up; false if it is above the region.
    fn take(&mut self, node: LaneNode, library: Library) -> bool {
        match library {
            Library::Runtime if !self.is_of_program => {
                self.entry.append(&mut self.own);
                self.entry.push(node);
            }
            Library::Runtime => self.start.push(node),
            _ if !self.start.is_empty() => return false,
            library => {
                self.own.push(node);
                self.is_of_program |= library == Library::None;
            }
        }
        true
    }

    /// Whether there is nothing of a runtime on it, and something of the program.
    fn is_whole(&self) -> bool {
        self.start.is_empty() && self.entry.is_empty() && self.is_of_program
    }

    /// The program's own code in the region: nothing, if no runtime began it.
    fn own(&self) -> &[LaneNode] {
        if self.start.is_empty() { &[] } else { &self.own }
    }
}

impl Paths<'_> {
    /// The context of a region: a construct at the innermost place of the path that leads to `node`, in the
    /// region around it. The frames below are shown there, whichever thread executes them.
    pub(crate) fn region(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        raw: &RawRegion,
    ) -> ContextId {
        let RawRegion { id, node, parent, body, interval, .. } = *raw;
        if interval != 0 {
            self.region_intervals.insert((log, id), interval);
        }
        let place = InRegion { node, region: parent, interval, keeps_entry: false };
        let mut from = match self.regions.get(&(log, parent)).copied() {
            Some(_) => self.step_of_place(lane, log, nodes, place, false),
            None if nodes.get(node).is_none() => {
                Step { context: self.without_path(NO_CALL_PATH), ..Step::PROGRAM }
            }
            None => {
                let node = self.outside(log, nodes, node);
                self.step_of_place(lane, log, nodes, InRegion { node, region: 0, ..place }, false)
            }
        };
        from = self.with_held(from);
        if let Some((function, at)) = self.construct(log, nodes, body) {
            from = self.out_of_inlined(from, &function);
            from.at = at;
        }
        let module = from.function.and_then(|id| self.functions.get(id.index())).and_then(|f| f.module);
        let file = from.at.file.and_then(|file| self.file_names.get(file as usize));
        let opener = from.function.and_then(|id| self.functions.get(id.index()));
        let name = match (file, from.at.line, opener) {
            (Some(file), Some(line), _) => {
                format!("parallel region at {}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            (_, _, Some(opener)) => format!("parallel region in {}", opener.name),
            _ => "parallel region".into(),
        };
        let (file, line) = (file.cloned(), from.at.line);
        let function = self.named(module, &name);
        if let Some(known) = self.functions.get_mut(function.index()) {
            (known.file, known.line) = (file, line);
        }
        let kind = ContextKind::Frame;
        let context = self.context(Key { parent: from.context, kind, function: Some(function), at: from.at });
        let step = Step { context, function: Some(function), at: from.at, ..Step::PROGRAM };
        self.regions.insert((log, id), step);
        context
    }

    /// The function that holds a construct, and the place of the construct, by the function that the compiler
    /// made of it.
    fn construct(&mut self, log: usize, nodes: &NodeTable, body: u32) -> Option<(String, Line)> {
        let modules = self.modules;
        let node = nodes.get(body)?;
        let structure = modules.structures.get(modules.module(log, node.module)?.index())?;
        let frame = structure.addresses.get(&node.address)?.frames.first()?;
        let known = structure.functions.get(frame.function as usize)?;
        let linkage = known.linkage_name.as_deref().unwrap_or(&known.name);
        let (function, _) = linkage.split_once("._omp_fn.")?;
        let file = known.file.as_deref().map(|file| self.file(file));
        known.line.map(|line| (function.to_owned(), Line { file, line: Some(line) }))
    }

    /// The line of a call may be that of what is inlined beside it: out of what was not inlined into
    /// `function` at all.
    fn out_of_inlined(&self, from: Step, function: &str) -> Step {
        let mut context = from.context;
        while let Some(inner) = self.contexts.get(context.index())
            && matches!(inner.kind, ContextKind::Inline | ContextKind::Frame)
        {
            let known = inner.function.and_then(|id| self.functions.get(id.index()));
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

    /// The innermost node of the program on a path that belongs to no region.
    fn outside(&self, log: usize, nodes: &NodeTable, mut node: u32) -> u32 {
        while let Some(inner) = nodes.get(node)
            && self.library(log, inner) == Library::Runtime
            && nodes.get(inner.parent).is_some()
        {
            node = inner.parent;
        }
        node
    }

    fn library(&self, log: usize, node: LaneNode) -> Library {
        let module = self.modules.module(log, node.module);
        module.and_then(|id| self.libraries.get(id.index())).copied().unwrap_or(Library::None)
    }

    pub(super) fn leaf_in_region(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        partial: bool,
    ) -> ContextId {
        let step = self.step_of_place(lane, log, nodes, place, partial);
        let step = self.down_last_call(step, log, nodes, place.node);
        let step = self.with_held(step);
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

    /// A path in a region and in intervals as it is to be shown.
    fn step_of_place(
        &mut self,
        lane: &mut LaneContexts,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        partial: bool,
    ) -> Step {
        // A thread that is about to leave the region is shown where it opened it, in the intervals around.
        let place = match self.stack_in_region(log, nodes, place) {
            Some(_) => place,
            None => InRegion { region: 0, ..place },
        };
        let around = self.intervals_in(log, place);
        if !around.is_empty() {
            let (start, frames) = self.path_of_place(log, nodes, place, partial);
            return self.step_in_intervals(log, nodes, place, (start, &frames), &around);
        }
        match self.stack_in_region(log, nodes, place) {
            None => self.step(lane, log, nodes, place.node, partial),
            Some((start, stack)) => {
                let frames = self.frames_in_region(log, nodes, &stack, place.keeps_entry);
                frames.iter().fold(start, |step, frame| self.go_down(step, log, frame))
            }
        }
    }

    /// A path as it is to be shown but for its intervals: where it begins, and its frames from there on.
    pub(super) fn path_of_place(
        &mut self,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        partial: bool,
    ) -> (Step, Vec<Shown>) {
        if let Some((start, stack)) = self.stack_in_region(log, nodes, place) {
            return (start, self.frames_in_region(log, nodes, &stack, place.keeps_entry));
        }
        let mut path = Vec::new();
        let top = nodes.walk(place.node, |_, node| {
            path.push(node);
            true
        });
        let complete = top == Some(Top::Root) && !partial;
        let frames: Vec<Shown> =
            path.into_iter().rev().flat_map(|node| self.frames_of_node(log, nodes, node)).collect();
        match complete {
            true => self.below_owner(log, frames),
            false => (Step { context: self.partial(), ..Step::PROGRAM }, frames),
        }
    }

    /// The frames of a thread in a region, and where they are shown; None where they are shown as its own
    /// path.
    fn stack_in_region(&self, log: usize, nodes: &NodeTable, place: InRegion) -> Option<(Step, Stack)> {
        // Where its record was lost, or is not wanted, it is the thread's own path.
        let region = self.regions.get(&(log, place.region)).copied()?;
        if self.shown == CallPaths::Machine {
            return None;
        }
        let mut stack = Stack::default();
        nodes.walk(place.node, |_, node| stack.take(node, self.library(log, node)));
        // Otherwise nothing of the runtime lies between the region's begin and here.
        (!stack.is_whole()).then_some((Step { at: Line::default(), ..region }, stack))
    }

    fn frames_in_region(
        &mut self,
        log: usize,
        nodes: &NodeTable,
        stack: &Stack,
        keeps_entry: bool,
    ) -> Vec<Shown> {
        match self.shown {
            CallPaths::Expert => {
                let all =
                    stack.start.iter().rev().chain(stack.own().iter().rev()).chain(stack.entry.iter().rev());
                all.flat_map(|&node| self.frames_of_node(log, nodes, node)).collect()
            }
            _ => self.frames_of_user(log, nodes, stack, keeps_entry),
        }
    }

    /// As its user sees it: what the program itself calls. The runtime's frames are left out, and so is the
    /// function that the compiler made of the construct.
    fn frames_of_user(
        &mut self,
        log: usize,
        nodes: &NodeTable,
        stack: &Stack,
        keeps_entry: bool,
    ) -> Vec<Shown> {
        let mut frames = Vec::new();
        let mut is_body = true;
        for &node in stack.own().iter().rev() {
            // Some compilers make two functions of one construct, of which one calls the other.
            let made = is_body || self.is_made(log, node);
            is_body = false;
            let of_node = if made {
                self.frames_of_body(log, nodes, node)
            } else {
                self.frames_of_node(log, nodes, node)
            };
            frames.extend(of_node);
        }
        if let Some(&entry) = stack.entry.last().filter(|_| keeps_entry) {
            frames.extend(self.frames_of_node(log, nodes, entry));
        }
        frames
    }

    /// Whether the compiler made the node's function of a construct.
    fn is_made(&self, log: usize, node: LaneNode) -> bool {
        let structure =
            self.modules.module(log, node.module).and_then(|id| self.modules.structures.get(id.index()));
        let frame = structure.and_then(|known| known.addresses.get(&node.address)?.frames.first());
        let function =
            structure.zip(frame).and_then(|(known, frame)| known.functions.get(frame.function as usize));
        function.is_some_and(|function| is_made(&function.name))
    }

    /// The function that the compiler made of a construct: its lines are the region's, and what is inlined in
    /// it is called by the region.
    fn frames_of_body(&mut self, log: usize, nodes: &NodeTable, node: LaneNode) -> Vec<Shown> {
        let mut frames = self.frames_of_node(log, nodes, node);
        if self.resolved(log, node).is_some() {
            for frame in &mut frames {
                let is_made = self.functions.get(frame.function.index()).is_some_and(|f| is_made(&f.name));
                if frame.kind != Some(ContextKind::Inline) || is_made {
                    frame.kind = None;
                }
            }
        }
        frames
    }
}

/// Whether a function of this name was made by a compiler of a construct in another one.
fn is_made(name: &str) -> bool {
    name.contains("._omp_fn.") || name.contains(".omp_outlined") || name.contains(".omp_task_entry")
}
