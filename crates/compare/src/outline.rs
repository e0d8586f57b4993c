//! A run's tree of contexts by their names in the source, with their amounts.

use std::collections::BTreeMap;

use proust_profile::{Context, ContextId, ContextKind, LocationId, Metric, Ns, Profile};
use rustc_hash::FxHashMap;

use super::names::{TextId, Texts, base_name, stable};
use proust_query::{Measure, Sampling, Selection};

/// Position of a node in an [`Outline`].
pub type NodeId = u32;

/// The tree of contexts of one run, and what was spent where.
///
/// A node is a function called by its parent node, a line, a parallel region, and so on: known by its kind
/// and name, and only among siblings of the same name by its place in the source, which is counted from the
/// beginning of the function around it. Addresses and build-ids are no part of a node's identity. Contexts
/// that are the same by this are one node.
///
/// Amounts are kept exclusive, and summed over locations; what of them is inclusive is computed
/// ([`super::Joint::amounts`]).
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub(super) nodes: Vec<Node>,
    pub(super) texts: Texts,
    node_of: Vec<NodeId>,
    own: BTreeMap<Measure, Vec<u128>>,
    most: BTreeMap<Measure, Vec<f64>>,
    squares: Vec<f64>,
    executions: Vec<u64>,
}

/// A node: what it is, and where it was in this build.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: Option<NodeId>,
    pub key: Key,
    pub position: Position,
    /// The build-id of the code that the position is in; empty = not known.
    pub build: TextId,
    /// As it was in the profile, for showing it.
    pub kind: ContextKind,
    /// The first context that is this node.
    pub context: ContextId,
    pub shown: TextId,
    pub file: TextId,
    pub line: Option<u32>,
}

/// What a node is among the children of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    /// An inlined call is a call: whether a compiler inlines is its own affair.
    pub kind: ContextKind,
    pub name: TextId,
}

/// What distinguishes siblings with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Position {
    /// Of the function that is called, or of the line.
    pub file: TextId,
    /// From the beginning of the function that it is in, where that is known.
    pub line: i64,
    pub ordinal: u64,
}

impl Outline {
    /// Draws it up, with these measures by node; of those in `spread` also the largest amount of a single
    /// location is kept. CPU time and its errors are always there.
    ///
    /// Measures that need rows need a selection that has them ([`Selection::with_rows`]); else they are zero.
    pub fn new(
        selection: &Selection<'_>,
        measures: impl IntoIterator<Item = Measure>,
        spread: &[Measure],
    ) -> Outline {
        let mut outline = Outline::default();
        outline.enter_contexts(selection.profile());
        let count = outline.nodes.len();
        let cpu = Measure::Metric(Metric::Cpu);
        let errors = [Metric::WaitSquares, Metric::IoSquares].map(Measure::Metric);
        for measure in measures.into_iter().chain(spread.iter().copied()).chain([cpu]).chain(errors) {
            if outline.own.contains_key(&measure) {
                continue;
            }
            let join = |joined: &mut u128, amount| *joined = measure.kind().joined(*joined, amount);
            let own = outline.folded(&selection.own(measure), count, join);
            if own.iter().any(|&amount| amount > 0) {
                outline.own.insert(measure, own);
            }
        }
        outline.squares = outline.folded(selection.squares(), count, |sum, square| *sum += square);
        // CPU time that is known without any sample is charged to where a thread began: it may belong
        // anywhere.
        let unsampled = outline.squares.iter_mut().zip(outline.own.get(&cpu).into_iter().flatten());
        for (square, &ns) in unsampled.filter(|(square, _)| **square == 0.0) {
            *square = Ns::of_sum(ns).as_seconds().powi(2);
        }
        for &measure in spread {
            let most = outline.most_of_one_location(selection, measure);
            outline.most.insert(measure, most);
        }
        outline.count_executions(selection.profile());
        outline
    }

    fn folded<T: Copy + Default>(&self, by_context: &[T], count: usize, join: impl Fn(&mut T, T)) -> Vec<T> {
        let mut own = vec![T::default(); count];
        for (&node, &amount) in self.node_of.iter().zip(by_context) {
            join(&mut own[node as usize], amount);
        }
        own
    }

    fn enter_contexts(&mut self, profile: &Profile) {
        let mut names = vec![None; profile.functions.len()];
        let mut known: FxHashMap<(Option<NodeId>, Key, Position), NodeId> = FxHashMap::default();
        let mut call_above: Vec<Option<ContextId>> = vec![None; profile.contexts.len()];
        for (id, context) in profile.contexts.iter().enumerate() {
            if let Some(parent) = context.parent {
                call_above[id] = match profile.contexts[parent].kind {
                    ContextKind::Frame | ContextKind::Inline => Some(parent),
                    _ => call_above[parent.index()],
                };
            }
            let parent = context.parent.map(|parent| self.node_of[parent.index()]);
            let node = self.node(profile, ContextId::from_index(id), context, call_above[id], &mut names);
            let next = self.nodes.len() as NodeId;
            let entry = *known.entry((parent, node.key, node.position)).or_insert(next);
            if entry == next {
                self.nodes.push(Node { parent, ..node });
            }
            self.node_of.push(entry);
        }
    }

    fn node(
        &mut self,
        profile: &Profile,
        id: ContextId,
        context: &Context,
        call_above: Option<ContextId>,
        names: &mut [Option<(TextId, TextId, u64, TextId)>],
    ) -> Node {
        use ContextKind::{Frame, Inline, Line, Loop, Partial, Program};
        let is_line = matches!(context.kind, Line | Loop);
        let named = context.function.filter(|_| !is_line).map(|id| {
            *names[id.index()].get_or_insert_with(|| {
                let function = &profile.functions[id];
                let (name, ordinal) = stable(&function.name);
                let file = base_name(function.file.as_deref().unwrap_or_default());
                let texts = &mut self.texts;
                (texts.id(name), texts.id(&function.name), ordinal, texts.id(file))
            })
        });
        let (name, shown, ordinal, declared_in) = named.unwrap_or_else(|| {
            let shown = match context.kind {
                Program | Partial => self.texts.id(context.kind.id()),
                _ => 0,
            };
            (shown, shown, 0, 0)
        });
        let around = match context.kind {
            Line | Loop => context.function,
            _ => None,
        };
        let around = around.or_else(|| profile.contexts[call_above?].function);
        let around = around.map(|id| &profile.functions[id]);
        let file = base_name(context.file.as_deref().unwrap_or_default());
        let begin = around
            .filter(|around| base_name(around.file.as_deref().unwrap_or_default()) == file)
            .and_then(|around| around.line);
        let module = around.and_then(|around| around.module);
        let build = module.map_or("", |module| &profile.modules[module].build_id);
        let file_id = self.texts.id(context.file.as_deref().unwrap_or_default());
        Node {
            parent: None,
            key: Key { kind: if context.kind == Inline { Frame } else { context.kind }, name },
            position: Position {
                file: if is_line { self.texts.id(file) } else { declared_in },
                line: i64::from(context.line.unwrap_or(0)) - i64::from(begin.unwrap_or(0)),
                ordinal,
            },
            build: self.texts.id(build),
            kind: context.kind,
            context: id,
            shown,
            file: file_id,
            line: context.line,
        }
    }

    /// The largest inclusive amount of a single location, by node.
    fn most_of_one_location(&self, selection: &Selection<'_>, measure: Measure) -> Vec<f64> {
        let mut rows: Vec<(LocationId, NodeId, u64)> = Vec::new();
        selection.each(measure, |context, location, amount| {
            rows.push((location, self.node_of[context.index()], amount));
        });
        rows.sort_unstable_by_key(|&(location, node, _)| (location, node));
        let mut most = vec![0_u128; self.nodes.len()];
        let mut inclusive = vec![0_u128; self.nodes.len()];
        let mut is_touched = vec![false; self.nodes.len()];
        for of_location in rows.chunk_by(|a, b| a.0 == b.0) {
            let mut touched = Vec::new();
            for &(_, node, amount) in of_location {
                let sum = &mut inclusive[node as usize];
                *sum = measure.kind().joined(*sum, amount.into());
                let mut at = Some(node);
                while let Some(id) = at.filter(|&id| !is_touched[id as usize]) {
                    is_touched[id as usize] = true;
                    touched.push(id);
                    at = self.nodes[id as usize].parent;
                }
            }
            // A child has a larger number than its parent.
            touched.sort_unstable_by(|a, b| b.cmp(a));
            for id in touched {
                let amount = std::mem::take(&mut inclusive[id as usize]);
                is_touched[id as usize] = false;
                most[id as usize] = most[id as usize].max(amount);
                if let Some(parent) = self.nodes[id as usize].parent {
                    let sum = &mut inclusive[parent as usize];
                    *sum = measure.kind().joined(*sum, amount);
                }
            }
        }
        most.into_iter().map(|sum| measure.unit().shown(sum)).collect()
    }

    /// A thread that is always there shows how often a region was executed, or a site in it reached.
    fn count_executions(&mut self, profile: &Profile) {
        let mut counts: FxHashMap<(NodeId, u32, LocationId), u64> = FxHashMap::default();
        for row in &profile.segments {
            let node = self.node_of[row.context.index()];
            *counts.entry((node, row.operation.0, row.location)).or_default() += row.executions;
        }
        self.executions = vec![0; self.nodes.len()];
        for ((node, ..), count) in counts {
            let most = &mut self.executions[node as usize];
            *most = count.max(*most);
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is not even a program.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node that a context of the profile is.
    pub fn node_of(&self, context: ContextId) -> Option<NodeId> {
        self.node_of.get(context.index()).copied()
    }

    /// The first context of the profile that is this node, for handles.
    pub fn context(&self, node: NodeId) -> ContextId {
        self.nodes[node as usize].context
    }

    /// The node above; None for the program.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node as usize].parent
    }

    /// The measures of which there is anything.
    pub fn measures(&self) -> impl Iterator<Item = Measure> + '_ {
        self.own.keys().copied()
    }

    /// Each node's own amount in whole numbers, of all locations together; None if there is nothing of this
    /// measure anywhere.
    pub fn own(&self, measure: impl Into<Measure>) -> Option<&[u128]> {
        self.own.get(&measure.into()).map(Vec::as_slice)
    }

    /// The amount of all nodes together, in the measure's unit.
    pub fn total(&self, measure: impl Into<Measure>) -> f64 {
        let measure = measure.into();
        let all = self.own(measure).into_iter().flatten().copied();
        measure.unit().shown(all.fold(0, |all, own| measure.kind().joined(all, own)))
    }

    /// By node the largest inclusive amount that a single location has; None for measures that were not asked
    /// to be spread.
    pub fn most(&self, measure: impl Into<Measure>) -> Option<&[f64]> {
        self.most.get(&measure.into()).map(Vec::as_slice)
    }

    /// By node the sum of the squared weights of its own samples, s².
    pub(super) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// All of what was sampled.
    pub(super) fn sampling(&self) -> Sampling {
        Sampling { cpu: Ns::from_seconds(self.total(Metric::Cpu)), squares: self.squares.iter().sum() }
    }

    /// By node how often a parallel region was executed or a site in it was reached, by the thread that did
    /// most often; 0 where that is not counted.
    pub fn executions(&self) -> &[u64] {
        &self.executions
    }
}
