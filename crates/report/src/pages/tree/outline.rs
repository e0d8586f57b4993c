//! The tree as it is read: recursion folded, chains of single calls on one line, small contexts left out.

use std::collections::HashMap;

use super::ContextRow;
use crate::column::{Amount, ColumnHead, Over, RowAmounts};
use crate::pages::{Cut, Order, place};
use crate::style::Style;

/// A line: a context, or several that are read as one.
pub(super) struct Line {
    /// Position of the context whose handle is shown.
    pub shown: usize,
    pub depth: usize,
    /// Frames of direct recursion that are part of it.
    pub folded: usize,
    /// Names of the calls that lead to it and have nothing else below them, outermost first.
    chain: Vec<usize>,
    pub amounts: RowAmounts,
}

/// Contexts that are read as one: the same call, from all depths of a recursion.
struct Group {
    members: Vec<usize>,
    depth: usize,
}

struct Outline<'c> {
    contexts: &'c [ContextRow],
    heads: &'c [ColumnHead],
    order: &'c Order,
    children: Vec<Vec<usize>>,
}

/// The lines of a tree, and what was left out because it is not `large`.
pub(super) fn outline(
    contexts: &[ContextRow],
    heads: &[ColumnHead],
    order: &Order,
    large: impl Fn(f64) -> bool,
) -> (Vec<Line>, Cut) {
    let position: HashMap<u32, usize> = contexts.iter().enumerate().map(|(n, row)| (row.id, n)).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for (n, row) in contexts.iter().enumerate() {
        if let Some(parent) = row.parent {
            children[position[&parent]].push(n);
        }
    }
    let outline = Outline { contexts, heads, order, children };
    let (mut lines, mut hidden) = (Vec::new(), Cut::default());
    let mut stack = if contexts.is_empty() { Vec::new() } else { vec![Group { members: vec![0], depth: 0 }] };
    while let Some(group) = stack.pop() {
        let mut chain = Vec::new();
        let mut members = group.members;
        loop {
            let (all, folded) = outline.unfold(&members);
            let amounts = outline.amounts(&members, &all);
            let (shown, small): (Vec<_>, Vec<_>) =
                outline.below(&all).into_iter().partition(|(amount, _)| large(*amount));
            // A call that does nothing but one other call is read together with it.
            let only = match &shown[..] {
                [(_, only)] if small.is_empty() && folded == 0 && !chain_ends(contexts, &members, only) => {
                    Some(only)
                }
                _ => None,
            };
            if let Some(only) = only
                && amounts.get(&order.column).is_some_and(|amount| amount.exclusive == 0.0)
            {
                chain.push(members[0]);
                members = only.clone();
                continue;
            }
            for (amount, members) in small {
                hidden.amount += amount;
                hidden.rows += outline.count(&members);
            }
            lines.push(Line { shown: members[0], depth: group.depth, folded, chain, amounts });
            let below = shown.into_iter().rev();
            stack.extend(below.map(|(_, members)| Group { members, depth: group.depth + 1 }));
            break;
        }
    }
    (lines, hidden)
}

/// Only calls are joined to calls: the program and lines keep lines of their own.
fn chain_ends(contexts: &[ContextRow], above: &[usize], below: &[usize]) -> bool {
    !contexts[above[0]].is_call() || !contexts[below[0]].is_call()
}

impl Outline<'_> {
    /// The members, and the frames below them that only recursion separates from them; how many these are.
    fn unfold(&self, members: &[usize]) -> (Vec<usize>, usize) {
        let mut all = members.to_vec();
        let mut next = 0;
        while next < all.len() {
            let here = &self.contexts[all[next]];
            let again =
                |&&n: &&usize| self.contexts[n].is_call() && self.contexts[n].function == here.function;
            if here.is_call() {
                all.extend(self.children[all[next]].iter().filter(again));
            }
            next += 1;
        }
        let folded = all.len() - members.len();
        (all, folded)
    }

    /// Inclusive amounts of the outermost frames, exclusive ones of all.
    fn amounts(&self, outermost: &[usize], all: &[usize]) -> RowAmounts {
        let mut sums = RowAmounts::new();
        for head in self.heads {
            let of = |n: &usize| self.contexts[*n].metrics.get(&head.id).cloned().unwrap_or_default();
            if head.over != Over::Sum {
                // Statistics of several contexts together cannot be had from those of each.
                sums.insert(head.id.clone(), of(&outermost[0]));
                continue;
            }
            let squares: f64 =
                outermost.iter().filter_map(|n| of(n).inclusive_error).map(|error| error * error).sum();
            sums.insert(
                head.id.clone(),
                Amount {
                    inclusive: outermost.iter().map(|n| of(n).inclusive).sum(),
                    exclusive: all.iter().map(|n| of(n).exclusive).sum(),
                    inclusive_error: of(&outermost[0]).inclusive_error.map(|_| squares.sqrt()),
                    ..Amount::default()
                },
            );
        }
        sums
    }

    /// What is below these frames, the same call from several of them taken together; largest first.
    fn below(&self, all: &[usize]) -> Vec<(f64, Vec<usize>)> {
        let mut position: HashMap<_, usize> = HashMap::new();
        let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
        for &parent in all {
            for &n in &self.children[parent] {
                let row = &self.contexts[n];
                if row.is_call()
                    && row.function == self.contexts[parent].function
                    && self.contexts[parent].is_call()
                {
                    continue;
                }
                let key = (row.kind, &row.function, &row.name, &row.file, row.line);
                let at = *position.entry(key).or_insert_with(|| {
                    groups.push((0.0, Vec::new()));
                    groups.len() - 1
                });
                groups[at].0 += self.order.of(&row.metrics);
                groups[at].1.push(n);
            }
        }
        // The contexts come sorted; only what was taken together has to find its place again.
        if all.len() > 1 && !self.order.by_name {
            groups.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        groups
    }

    fn count(&self, members: &[usize]) -> usize {
        let mut all = members.to_vec();
        let mut next = 0;
        while next < all.len() {
            all.extend(&self.children[all[next]]);
            next += 1;
        }
        all.len()
    }
}

impl Line {
    /// The line's name: of a long chain of calls the first one, the number, and the last one.
    pub fn name(&self, contexts: &[ContextRow], style: &Style) -> String {
        let arrow = style.pick(" › ", " > ");
        let row = &contexts[self.shown];
        let mut name = row.name.clone();
        if row.kind == "inline" {
            name.push_str(" (inlined)");
        }
        if self.folded > 0 {
            name.push_str(&format!(" (recursive, {} frames)", self.folded + 1));
        }
        match &self.chain[..] {
            [] => name,
            [only] => format!("{}{arrow}{name}", contexts[*only].name),
            [first, between @ ..] => {
                format!("{}{arrow}({} calls){arrow}{name}", contexts[*first].name, between.len())
            }
        }
    }

    /// Where it is called.
    pub fn tail(&self, contexts: &[ContextRow]) -> String {
        let row = &contexts[self.shown];
        let called = row.is_call() && self.chain.is_empty();
        let place = place(row.file.as_deref(), row.line).filter(|_| called);
        place.map(|place| format!("called at {place}")).unwrap_or_default()
    }
}

/// What is drawn before the names, so that depth and ends of branches are seen.
pub(super) fn branches(lines: &[Line], style: &Style) -> Vec<String> {
    // Very deep trees would push the names out of the window: what is deeper is numbered.
    const DEEPEST: usize = 16;
    let (vertical, tee, end) = (style.pick("│ ", "| "), style.pick("├ ", "|-"), style.pick("└ ", "`-"));
    let mut prefixes = vec![String::new(); lines.len()];
    // Whether a line of this depth follows below, before the branch ends.
    let mut follows: Vec<bool> = Vec::new();
    for n in (0..lines.len()).rev() {
        let depth = lines[n].depth;
        follows.truncate(depth + 1);
        follows.resize(depth + 1, false);
        let mut prefix = String::new();
        if depth > DEEPEST {
            prefix.push_str(&format!("({depth}) "));
        }
        for &follows in follows.iter().take(depth).skip(depth.saturating_sub(DEEPEST).max(1)) {
            prefix.push_str(if follows { vertical } else { "  " });
        }
        if depth > 0 {
            prefix.push_str(if follows[depth] { tee } else { end });
        }
        prefixes[n] = prefix;
        follows[depth] = true;
    }
    prefixes
}
