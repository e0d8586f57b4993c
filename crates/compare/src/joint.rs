//! Several outlines as one tree, and the amounts of each run in it.

use proust_profile::{ContextId, ContextKind, Metric};
use rustc_hash::FxHashMap;

use super::matching::{ABSENT, Matching};
use super::names::TextId;
use super::node::{JointFunctionId, JointId, JointNode};
use super::outline::{NodeId, Outline};
use proust_query::{Amounts, Measure, add, of_kind};

/// What a node is called, as in the last run that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'o> {
    /// What it is.
    pub kind: ContextKind,
    /// The function's name, or the region's or operation's; empty where the kind says it all.
    pub name: &'o str,
    /// As in a profile's contexts: of a call the place in the caller.
    pub file: Option<&'o str>,
    /// As in a profile's contexts.
    pub line: Option<u32>,
}

/// A function of the joint tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointFunction {
    /// Its name.
    pub name: String,
    /// The base name of the file of its declaration, where a run knows it.
    pub file: Option<String>,
}

/// The tree of all contexts of several runs. Parents are before their children; the first node is the
/// program.
#[derive(Debug)]
pub struct Joint<'o> {
    outlines: Vec<&'o Outline>,
    nodes: Vec<JointNode>,
    /// By run the node of the run that a node is, or [`ABSENT`].
    places: Vec<Vec<NodeId>>,
    functions: Vec<JointFunction>,
    function_of: Vec<Option<JointFunctionId>>,
    outermost: Vec<bool>,
    exclusive_of: Vec<JointId>,
}

impl<'o> Joint<'o> {
    /// Lays the runs over each other, in this order: names and lines are those of the last run that has them.
    ///
    /// Takes time in proportion to the sum of their nodes.
    pub fn of(outlines: impl IntoIterator<Item = &'o Outline>) -> Joint<'o> {
        let outlines: Vec<&Outline> = outlines.into_iter().collect();
        let mut matching = Matching::default();
        for outline in &outlines {
            matching.add(outline);
        }
        let (functions, function_of) = functions(&matching);
        let Matching { nodes, mut places, .. } = matching;
        for places in &mut places {
            places.resize(nodes.len(), ABSENT);
        }
        let outermost = outermost(&nodes, &function_of);
        let mut exclusive_of: Vec<JointId> = (0..nodes.len() as JointId).collect();
        for (id, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent
                && matches!(node.key.kind, ContextKind::Line | ContextKind::Loop)
            {
                exclusive_of[id] = exclusive_of[parent as usize];
            }
        }
        Joint { outlines, nodes, places, functions, function_of, outermost, exclusive_of }
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.outlines.len()
    }

    /// The outlines that it was made of, in the order of the runs.
    pub fn outlines(&self) -> &[&'o Outline] {
        &self.outlines
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no run has anything.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node above; None for the program.
    pub fn parent(&self, node: JointId) -> Option<JointId> {
        self.nodes[node as usize].parent
    }

    /// Whether a node's own amount belongs to the exclusive amount of another one, a call around it: that
    /// one; else itself.
    pub fn exclusive_of(&self, node: JointId) -> JointId {
        self.exclusive_of[node as usize]
    }

    /// Which node of a run's outline it is; None where the run has no such place.
    pub fn node_in(&self, node: JointId, run: usize) -> Option<NodeId> {
        Some(self.places[run][node as usize]).filter(|&node| node != ABSENT)
    }

    /// A context of a run's profile that it is; None where the run has no such place.
    pub fn context_in(&self, node: JointId, run: usize) -> Option<ContextId> {
        self.node_in(node, run).map(|node| self.outlines[run].context(node))
    }

    /// What it is called.
    pub fn label(&self, node: JointId) -> Label<'o> {
        let known = (0..self.runs()).rev().find_map(|run| Some((run, self.node_in(node, run)?)));
        // Every node is from a run.
        let (run, in_run) = known.expect("a joint node is in some run");
        let outline = self.outlines[run];
        let node = &outline.nodes[in_run as usize];
        Label {
            kind: node.kind,
            name: outline.texts.get(node.shown),
            file: Some(outline.texts.get(node.file)).filter(|file| !file.is_empty()),
            line: node.line,
        }
    }

    /// The functions of all runs.
    pub fn functions(&self) -> &[JointFunction] {
        &self.functions
    }

    /// The function that a node is a call of; a position in [`Joint::functions`].
    pub fn function_of(&self, node: JointId) -> Option<JointFunctionId> {
        self.function_of[node as usize]
    }

    /// Each node's own amount in a run, in whole numbers.
    pub fn own(&self, run: usize, measure: impl Into<Measure>) -> Vec<u128> {
        self.spread(run, self.outlines[run].own(measure))
    }

    /// Each node's own sum of squared sample weights in a run, s².
    pub(super) fn own_squares(&self, run: usize) -> Vec<f64> {
        self.spread(run, Some(self.outlines[run].squares()))
    }

    /// By node the largest inclusive amount of a single location; None where the outline was not asked to
    /// keep it.
    pub fn most(&self, run: usize, measure: impl Into<Measure>) -> Option<Vec<f64>> {
        Some(self.spread(run, Some(self.outlines[run].most(measure)?)))
    }

    /// By node how often a region was executed or a site in it reached; 0 where that is not counted.
    pub fn executions(&self, run: usize) -> Vec<u64> {
        let executions = self.outlines[run].executions();
        let in_run = |&node: &NodeId| executions.get(node as usize).copied().unwrap_or(0);
        self.places[run].iter().map(in_run).collect()
    }

    fn spread<T: Copy + Default>(&self, run: usize, by_node: Option<&[T]>) -> Vec<T> {
        let Some(by_node) = by_node else { return vec![T::default(); self.len()] };
        let of_node = |&node: &NodeId| by_node.get(node as usize).copied().unwrap_or_default();
        self.places[run].iter().map(of_node).collect()
    }

    /// A run's amounts by node in the measure's unit, as [`Amounts::by_context`] has them by context.
    pub fn amounts(&self, run: usize, measure: impl Into<Measure>) -> Amounts<f64> {
        let measure = measure.into();
        self.upwards(&self.own(run, measure), of_kind(measure.kind())).shown(measure.unit())
    }

    /// A run's amounts by function in the measure's unit: recursion counts once, as in
    /// [`Amounts::by_function`].
    pub fn amounts_by_function(&self, run: usize, measure: impl Into<Measure>) -> Amounts<f64> {
        let measure = measure.into();
        let join = of_kind(measure.kind());
        let by_node = self.upwards(&self.own(run, measure), join);
        self.over_functions(&by_node, join).shown(measure.unit())
    }

    /// Standard errors of the CPU time, by node, as in [`Amounts::errors_by_context`], s; CPU time that no
    /// sample belongs to may be anywhere.
    pub fn errors(&self, run: usize) -> Amounts<f64> {
        let squares = self.upwards(&self.own_squares(run), add);
        self.errors_of(run, squares, &self.amounts(run, Metric::Cpu))
    }

    /// Standard errors of the CPU time, by function, s.
    pub fn errors_by_function(&self, run: usize) -> Amounts<f64> {
        let squares = self.upwards(&self.own_squares(run), add);
        let squares = self.over_functions(&squares, add);
        self.errors_of(run, squares, &self.amounts_by_function(run, Metric::Cpu))
    }

    fn errors_of(&self, run: usize, squares: Amounts<f64>, values: &Amounts<f64>) -> Amounts<f64> {
        proust_query::errors(squares, values, self.outlines[run].sampling())
    }

    /// Spreads each node's own amount upwards.
    fn upwards<T: Copy>(&self, own: &[T], join: impl Fn(&mut T, T)) -> Amounts<T> {
        let (mut inclusive, mut exclusive) = (own.to_vec(), own.to_vec());
        for id in (0..self.len()).rev() {
            if let Some(parent) = self.nodes[id].parent {
                let below = inclusive[id];
                join(&mut inclusive[parent as usize], below);
            }
            let owner = self.exclusive_of[id] as usize;
            if owner != id {
                join(&mut exclusive[owner], own[id]);
            }
        }
        Amounts { inclusive, exclusive }
    }

    /// The function that marks a node, if that is an interval.
    fn marking_function(&self, id: usize) -> Option<JointFunctionId> {
        if self.nodes[id].key.kind != ContextKind::Interval {
            return None;
        }
        let above = |id: &usize| self.nodes[*id].parent.map(|parent| parent as usize);
        std::iter::successors(above(&id), above).find_map(|id| self.function_of[id])
    }

    fn over_functions<T: Copy + Default>(
        &self,
        by_node: &Amounts<T>,
        join: impl Fn(&mut T, T),
    ) -> Amounts<T> {
        let count = self.functions.len();
        let mut amounts = Amounts::nothing(count);
        for (id, function) in self.function_of.iter().enumerate() {
            let Some(function) = *function else {
                // What is executed in an interval, and not called there, is the function's that marks it.
                if let Some(function) = self.marking_function(id) {
                    join(&mut amounts.exclusive[function as usize], by_node.exclusive[id]);
                }
                continue;
            };
            join(&mut amounts.exclusive[function as usize], by_node.exclusive[id]);
            if self.outermost[id] {
                join(&mut amounts.inclusive[function as usize], by_node.inclusive[id]);
            }
        }
        amounts
    }
}

/// Functions by name and file. Where only one file is known for a name, it is that of calls without one, too.
fn functions(matching: &Matching) -> (Vec<JointFunction>, Vec<Option<JointFunctionId>>) {
    let mut files: FxHashMap<TextId, Vec<TextId>> = FxHashMap::default();
    let calls = || matching.nodes.iter().filter(|node| node.key.kind == ContextKind::Frame);
    for node in calls().filter(|node| node.file != 0) {
        let files = files.entry(node.key.name).or_default();
        if !files.contains(&node.file) {
            files.push(node.file);
        }
    }
    let mut found: FxHashMap<(TextId, TextId), JointFunctionId> = FxHashMap::default();
    let mut functions: Vec<JointFunction> = Vec::new();
    let function_of = matching.nodes.iter().map(|node| {
        if node.key.kind != ContextKind::Frame {
            return None;
        }
        let only = files.get(&node.key.name).filter(|files| files.len() == 1).map(|files| files[0]);
        let file = if node.file == 0 { only.unwrap_or(0) } else { node.file };
        Some(*found.entry((node.key.name, file)).or_insert_with(|| {
            let file = Some(matching.texts.get(file).to_owned()).filter(|file| !file.is_empty());
            functions.push(JointFunction { name: matching.texts.get(node.key.name).to_owned(), file });
            functions.len() as JointFunctionId - 1
        }))
    });
    let function_of = function_of.collect();
    (functions, function_of)
}

/// Whether a call has no other of the same function above it.
fn outermost(nodes: &[JointNode], function_of: &[Option<JointFunctionId>]) -> Vec<bool> {
    let count = function_of.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let mut children: Vec<Vec<JointId>> = vec![Vec::new(); nodes.len()];
    for (id, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            children[parent as usize].push(id as JointId);
        }
    }
    let mut outermost = vec![false; nodes.len()];
    let mut on_path = vec![0_u32; count];
    let roots = (0..nodes.len()).filter(|&id| nodes[id].parent.is_none());
    let mut stack: Vec<(JointId, bool)> = roots.map(|id| (id as JointId, false)).collect();
    while let Some((id, is_leaving)) = stack.pop() {
        let function = function_of[id as usize].map(|function| function as usize);
        if is_leaving {
            on_path[function.expect("only calls are left")] -= 1;
            continue;
        }
        if let Some(function) = function {
            outermost[id as usize] = on_path[function] == 0;
            on_path[function] += 1;
            stack.push((id, true));
        }
        stack.extend(children[id as usize].iter().map(|&child| (child, false)));
    }
    outermost
}
