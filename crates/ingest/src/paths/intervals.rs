//! Intervals in paths: between the frames that surround the mark.
//!
//! An interval belongs to the frame that called its mark, and what is called inside lies below it. A sample's
//! path has it where the two paths part: below the last frame that both go through. So where a function marks
//! the begin for its caller, and has returned, the interval is its caller's.

use std::rc::Rc;

use proust_profile::{ContextId, ContextKind, IntervalContext, IntervalId, IntervalInfo, Module};
use rustc_hash::FxHashMap;

use super::{Key, Line, Paths, Shown, Step};
use crate::executed::RawInterval;
use crate::nodes::{LaneNode, NodeTable};
use crate::openmp::InRegion;

/// An interval of a log.
#[derive(Clone, Debug)]
pub(super) struct Known {
    raw: RawInterval,
    interval: IntervalId,
    label: String,
    at: Line,
    /// Its frames, up to the one that called the mark; None until they are asked for.
    frames: Option<Rc<Vec<Shown>>>,
}

/// The intervals of all logs, and where in the tree they are.
#[derive(Debug, Default)]
pub(super) struct KnownIntervals {
    /// By log and the process's number.
    all: FxHashMap<(usize, u32), Known>,
    contexts: FxHashMap<ContextId, IntervalId>,
}

impl KnownIntervals {
    /// The contexts that are intervals, by context.
    pub(super) fn into_contexts(self) -> Vec<IntervalContext> {
        let mut contexts: Vec<IntervalContext> = self
            .contexts
            .into_iter()
            .map(|(context, interval)| IntervalContext { context, interval })
            .collect();
        contexts.sort_unstable();
        contexts
    }
}

/// Begins of the names of functions that are the mark itself, not what calls it: of Proust's header, module
/// and crate, and of the interfaces that programs carry for other tools.
const OF_MARKS: [&str; 9] = [
    "proust_",
    "proust::",
    "__proust_MOD_",
    "nvtx",
    "__itt_",
    "Kokkos::",
    "void Kokkos::",
    "kokkosp_",
    "omp_control_tool",
];

/// Whether a function is the mark itself.
fn is_of_marks(name: &str) -> bool {
    let name = name.trim_start_matches('<');
    OF_MARKS.iter().any(|start| name.starts_with(start)) || is_of_mpi(name)
}

/// Functions of MPI that may mark: in C, and as libraries name them for Fortran.
const OF_MPI: [&str; 15] = [
    "pcontrol",
    "send",
    "ssend",
    "bsend",
    "rsend",
    "isend",
    "issend",
    "ibsend",
    "irsend",
    "recv",
    "irecv",
    "sendrecv",
    "sendrecv_replace",
    "start",
    "startall",
];

fn is_of_mpi(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('p').unwrap_or(&name);
    let Some(name) = name.strip_prefix("mpi_").or_else(|| name.strip_prefix("ompi_")) else { return false };
    let name = name.trim_end_matches('_');
    let ends = ["_f08ts", "_f08", "_f", "_c"];
    let name = ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    OF_MPI.contains(&name)
}

impl Paths<'_> {
    /// An interval of a log.
    pub(crate) fn add_interval(
        &mut self,
        log: usize,
        raw: &RawInterval,
        (interval, info): (IntervalId, &IntervalInfo),
    ) {
        let file = info.file.as_deref().map(|file| self.file(file));
        let known = Known {
            raw: *raw,
            interval,
            label: info.label(),
            at: Line { file, line: info.line },
            frames: None,
        };
        self.intervals.all.insert((log, raw.id), known);
    }

    /// File and line of the call of a mark, by the program's debug information.
    pub(crate) fn place_of_mark(
        &mut self,
        log: usize,
        nodes: &NodeTable,
        raw: &RawInterval,
    ) -> (Option<String>, Option<u32>) {
        let frames = self.frames_of_mark(log, nodes, raw);
        let at = frames.last().map_or(Line::default(), |frame| frame.own);
        (at.file.and_then(|file| self.file_names.get(file as usize)).cloned(), at.line)
    }

    /// The intervals around a place that are not around its region, outermost first.
    pub(super) fn intervals_in(&self, log: usize, place: InRegion) -> Vec<u32> {
        let of_region = self.region_intervals.get(&(log, place.region)).copied().unwrap_or(0);
        let mut around = Vec::new();
        let mut id = place.interval;
        while id != 0
            && id != of_region
            && let Some(known) = self.intervals.all.get(&(log, id))
        {
            around.push(id);
            id = known.raw.parent;
        }
        around.reverse();
        around
    }

    /// A path with the intervals that it is in. The paths of `start`'s frames and those of the intervals'
    /// marks begin at the same place.
    pub(super) fn step_in_intervals(
        &mut self,
        log: usize,
        nodes: &NodeTable,
        place: InRegion,
        (start, frames): (Step, &[Shown]),
        around: &[u32],
    ) -> Step {
        let mut step = start;
        let mut done = 0;
        for &id in around {
            let marks = self.frames_of(log, nodes, id, place.region);
            let depth = common(&marks, frames).max(done);
            step = frames[done..depth].iter().fold(step, |step, frame| self.go_down(step, log, frame));
            done = depth;
            step = self.enter_interval(log, id, step);
        }
        frames[done..].iter().fold(step, |step, frame| self.go_down(step, log, frame))
    }

    fn enter_interval(&mut self, log: usize, id: u32, from: Step) -> Step {
        let Some(known) = self.intervals.all.get(&(log, id)) else { return from };
        let (label, at, interval) = (known.label.clone(), known.at, known.interval);
        let function = Some(self.named(None, &label));
        let context = self.context(Key { parent: from.context, kind: ContextKind::Interval, function, at });
        // Of two intervals with one name and place the first one gives the context its number.
        self.intervals.contexts.entry(context).or_insert(interval);
        Step { context, held: None, begins: false, ..from }
    }

    /// The frames around the mark of an interval, as far as they can be compared with those of a place in
    /// `region`.
    fn frames_of(&mut self, log: usize, nodes: &NodeTable, id: u32, region: u32) -> Rc<Vec<Shown>> {
        let Some(known) = self.intervals.all.get(&(log, id)) else { return Rc::default() };
        if known.raw.region != region {
            return Rc::default();
        }
        if let Some(frames) = &known.frames {
            return Rc::clone(frames);
        }
        let raw = known.raw;
        let frames = Rc::new(self.frames_of_mark(log, nodes, &raw));
        if let Some(known) = self.intervals.all.get_mut(&(log, id)) {
            known.frames = Some(Rc::clone(&frames));
        }
        frames
    }

    /// Whether a frame is the collector's own, to which the mark leads.
    fn is_collector(&self, log: usize, node: LaneNode) -> bool {
        let module = self.modules.module(log, node.module);
        let file = module.and_then(|id| self.modules.modules.get(id.index())).map_or("", Module::name);
        file.starts_with("libproust_collector")
    }

    fn frames_of_mark(&mut self, log: usize, nodes: &NodeTable, raw: &RawInterval) -> Vec<Shown> {
        let mut node = raw.node;
        while let Some(leaf) = nodes.get(node)
            && self.is_collector(log, leaf)
        {
            node = leaf.parent;
        }
        let place = InRegion { node, region: raw.region, interval: 0, keeps_entry: false };
        let (_, mut frames) = self.path_of_place(log, nodes, place, false);
        while frames.last().is_some_and(|frame| {
            self.functions
                .get(frame.function.index())
                .is_some_and(|function| is_of_marks(&function.name) || is_of_marks(&function.full_name))
        }) {
            frames.pop();
        }
        frames
    }
}

/// How many of the first frames of two paths are the same.
fn common(a: &[Shown], b: &[Shown]) -> usize {
    let is_same = |at: usize| {
        (a[at].kind, a[at].function) == (b[at].kind, b[at].function)
            && (at == 0 || a[at - 1].own == b[at - 1].own)
    };
    (0..a.len().min(b.len())).take_while(|&at| is_same(at)).count()
}

#[cfg(test)]
mod tests {
    use super::is_of_marks;

    #[test]
    fn marks_are_not_what_calls_them() {
        for name in [
            "proust_begin",
            "nvtxRangePushA",
            "MPI_Send",
            "PMPI_Pcontrol",
            "mpi_send_",
            "pmpi_recv__",
            "MPI_SENDRECV",
            "ompi_isend_f",
            "mpi_recv_f08_",
            "MPI_Send_c",
            "mpi_sendrecv_replace_",
            "MPI_Startall",
        ] {
            assert!(is_of_marks(name), "{name}");
        }
        for name in ["main", "mpi_solver", "send", "MPI_Wait", "mpi_sender", "solve_mpi_send", "MAIN__"] {
            assert!(!is_of_marks(name), "{name}");
        }
    }
}
