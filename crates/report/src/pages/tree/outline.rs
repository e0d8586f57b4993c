//! The tree as it is read: recursion folded, chains of single calls on one line, small contexts left out.

use proust_profile::ContextId;
use std::collections::HashMap;

use proust_words::counted;

use super::ContextRow;
use crate::choice::Order;
use crate::column::{Amount, ColumnHead, Over};
use crate::number::sum;
use crate::pages::{Cut, place};
use crate::row_amounts::RowAmounts;
use crate::style::Style;

/// A line: a context, or several that are read as one.
pub(super) struct Line {
    /// Position of the context whose handle is shown.
    pub shown: usize,
    pub depth: usize,
    /// The line that it is below.
    parent: Option<usize>,
    /// Frames of direct recursion that are part of it.
    pub folded: usize,
    /// Names of the calls that lead to it and have nothing else below them, outermost first.
    chain: Vec<usize>,
    pub amounts: RowAmounts,
}

/// Which lines are shown.
pub(super) struct Choice<'c> {
    /// At most so many.
    pub rows: usize,
    /// None with a smaller share of the whole.
    pub smallest: f64,
    /// Of source lines only those with this share, and only where a function has several of them: the amount
    /// of a single one is seen in the function's own.
    pub smallest_line: f64,
    /// Contexts that are shown in any case.
    pub hot_path: &'c [ContextId],
}

/// Contexts that are read as one: the same call, from all depths of a recursion.
struct Group {
    members: Vec<usize>,
    depth: usize,
    parent: Option<usize>,
}

struct Outline<'c> {
    contexts: &'c [ContextRow],
    heads: &'c [ColumnHead],
    order: &'c Order,
    children: Vec<Vec<usize>>,
}

/// The lines of a tree, each after the one that it is below.
pub(super) fn outline(contexts: &[ContextRow], heads: &[ColumnHead], order: &Order) -> Vec<Line> {
    let position: HashMap<ContextId, usize> =
        contexts.iter().enumerate().map(|(n, row)| (row.id, n)).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for (n, row) in contexts.iter().enumerate() {
        if let Some(parent) = row.parent {
            children[position[&parent]].push(n);
        }
    }
    let outline = Outline { contexts, heads, order, children };
    let mut lines: Vec<Line> = Vec::new();
    let mut stack = Vec::new();
    if !contexts.is_empty() {
        stack.push(Group { members: vec![0], depth: 0, parent: None });
    }
    while let Some(Group { mut members, depth, parent }) = stack.pop() {
        let mut chain = Vec::new();
        loop {
            let (all, folded) = outline.unfold(&members);
            let amounts = outline.amounts(&members, &all);
            let mut below = outline.below(&all);
            // A call that does nothing but one other call is read together with it.
            let nothing_own = order.has_nothing_own(&amounts);
            if let [only] = &mut below[..]
                && nothing_own
                && folded == 0
                && contexts[members[0]].is_call()
                && contexts[only[0]].is_call()
            {
                chain.push(members[0]);
                members = std::mem::take(only);
                continue;
            }
            let here = Some(lines.len());
            lines.push(Line { shown: members[0], depth, parent, folded, chain, amounts });
            let below = below.into_iter().rev();
            stack.extend(below.map(|members| Group { members, depth: depth + 1, parent: here }));
            break;
        }
    }
    lines
}

/// Which of the lines are shown: the heaviest, each with all that it is below.
pub(super) fn choose(
    lines: &[Line],
    contexts: &[ContextRow],
    order: &Order,
    choice: &Choice<'_>,
) -> Vec<bool> {
    let order = Order { inclusive: true, ..order.clone() };
    let weights: Vec<f64> = lines.iter().map(|line| order.share(&line.amounts, &lines[0].amounts)).collect();
    let is_line = |n: usize| contexts[lines[n].shown].kind == "line";
    let mut worth: Vec<bool> = weights.iter().map(|&weight| weight >= choice.smallest).collect();
    let mut large_lines: HashMap<Option<usize>, usize> = HashMap::new();
    for n in (0..lines.len()).filter(|&n| is_line(n) && weights[n] >= choice.smallest_line) {
        *large_lines.entry(lines[n].parent).or_default() += 1;
    }
    if choice.smallest_line > 0.0 {
        for n in (0..lines.len()).filter(|&n| is_line(n)) {
            let several = large_lines.get(&lines[n].parent).is_some_and(|&several| several > 1);
            worth[n] &= several && weights[n] >= choice.smallest_line;
        }
    }
    let hot = |n: usize| choice.hot_path.contains(&contexts[lines[n].shown].id);
    let mut by_weight: Vec<usize> = (0..lines.len()).filter(|&n| worth[n]).collect();
    by_weight.sort_by(|&a, &b| {
        hot(b).cmp(&hot(a)).then(weights[b].total_cmp(&weights[a])).then_with(|| a.cmp(&b))
    });
    let mut shown = vec![false; lines.len()];
    let mut left = choice.rows;
    for n in by_weight {
        let way = std::iter::successors(Some(n), |&n| lines[n].parent);
        let way: Vec<usize> = way.take_while(|&n| !shown[n]).collect();
        if way.len() <= left {
            left -= way.len();
            way.into_iter().for_each(|n| shown[n] = true);
        }
    }
    shown
}

/// Rows that are not shown, and their amounts; a source line's amount is still seen in its function's own.
pub(super) fn hidden(lines: &[Line], shown: &[bool], contexts: &[ContextRow], order: &Order) -> Cut {
    let outermost = |&n: &usize| !shown[n] && lines[n].parent.is_none_or(|parent| shown[parent]);
    let calls = (0..lines.len()).filter(outermost).filter(|&n| contexts[lines[n].shown].kind != "line");
    Cut {
        rows: shown.iter().filter(|&&shown| !shown).count(),
        amount: sum(calls.map(|n| order.inclusive_of(&lines[n].amounts))),
    }
}

/// The shown line below which calls with most are hidden, if there are any.
pub(super) fn most_hidden(
    lines: &[Line],
    shown: &[bool],
    contexts: &[ContextRow],
    order: &Order,
) -> Option<usize> {
    let mut below: HashMap<usize, f64> = HashMap::new();
    let calls = lines.iter().enumerate().filter(|(_, line)| contexts[line.shown].kind != "line");
    for (n, line) in calls {
        if let Some(parent) = line.parent.filter(|&parent| shown[parent] && !shown[n]) {
            *below.entry(parent).or_default() += order.inclusive_of(&line.amounts);
        }
    }
    below.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(n, _)| n)
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
            let squares =
                sum(outermost.iter().filter_map(|n| of(n).inclusive_error).map(|error| error * error));
            sums.insert(
                head.id.clone(),
                Amount {
                    inclusive: sum(outermost.iter().map(|n| of(n).inclusive)),
                    exclusive: sum(all.iter().map(|n| of(n).exclusive)),
                    inclusive_error: of(&outermost[0]).inclusive_error.map(|_| squares.sqrt()),
                    ..Amount::default()
                },
            );
        }
        sums
    }

    /// The calls below these frames, the same call from several of them merged; largest first.
    fn below(&self, all: &[usize]) -> Vec<Vec<usize>> {
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
        // The contexts are sorted; only merged rows have to be sorted again.
        if all.len() > 1 && !self.order.by_name {
            groups.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        groups.into_iter().map(|(_, members)| members).collect()
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
                let between = counted(between.len(), "call");
                format!("{}{arrow}({between}){arrow}{name}", contexts[*first].name)
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
pub(super) fn branches(lines: &[&Line], style: &Style) -> Vec<String> {
    // Very deep trees would push the names out of the window: deeper levels are numbered.
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
