//! The tree as it is read: recursion folded, chains of single calls on one line, small contexts left out.

use proust_profile::ContextId;

use proust_words::counted;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ContextRow;
use crate::choice::Order;
use crate::column::{Amount, ColumnHead, Over};
use crate::derivations::Derivations;
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
    /// Inner frames of a recursion that are part of it.
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
    /// Whether it lies in a recursion, of which frames may be below it that are shown above it.
    in_recursion: bool,
}

struct Outline<'c> {
    contexts: &'c [ContextRow],
    heads: &'c [ColumnHead],
    derivations: Derivations,
    order: &'c Order,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Which frames are part of a line already.
    taken: Vec<bool>,
}

/// A function that calls itself through more functions than these is shown as often as it does.
const BETWEEN: usize = 8;

/// The lines of a tree, each after the one that it is below.
pub(super) fn outline(contexts: &[ContextRow], heads: &[ColumnHead], order: &Order) -> Vec<Line> {
    let position: FxHashMap<ContextId, usize> =
        contexts.iter().enumerate().map(|(n, row)| (row.id, n)).collect();
    let parents: Vec<Option<usize>> =
        contexts.iter().map(|row| row.parent.map(|parent| position[&parent])).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for (n, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            children[parent].push(n);
        }
    }
    let taken = vec![false; contexts.len()];
    let mut outline =
        Outline { contexts, heads, derivations: Derivations::of(heads), order, parents, children, taken };
    let mut lines: Vec<Line> = Vec::new();
    let mut stack = Vec::new();
    if !contexts.is_empty() {
        stack.push(Group { members: vec![0], depth: 0, parent: None, in_recursion: false });
    }
    while let Some(Group { mut members, depth, parent, mut in_recursion }) = stack.pop() {
        let mut chain = Vec::new();
        loop {
            let all = outline.unfold(&members);
            let outermost = outline.outermost(&all);
            let folded = all.len() - outermost.len();
            in_recursion |= folded > 0;
            let elsewhere = in_recursion.then(|| outline.elsewhere(&all));
            let amounts = outline.amounts(&outermost, &all, elsewhere.as_deref());
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
            let depth = depth + 1;
            stack.extend(below.map(|members| Group { members, depth, parent: here, in_recursion }));
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
    let mut large_lines: FxHashMap<Option<usize>, usize> = FxHashMap::default();
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
    let mut below: FxHashMap<usize, f64> = FxHashMap::default();
    let calls = lines.iter().enumerate().filter(|(_, line)| contexts[line.shown].kind != "line");
    for (n, line) in calls {
        if let Some(parent) = line.parent.filter(|&parent| shown[parent] && !shown[n]) {
            *below.entry(parent).or_default() += order.inclusive_of(&line.amounts);
        }
    }
    below.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(n, _)| n)
}

impl Outline<'_> {
    /// The members, and the frames of the same function below them that only recursion separates from them:
    /// it may lead through a few other functions.
    fn unfold(&mut self, members: &[usize]) -> Vec<usize> {
        let mut all = members.to_vec();
        all.iter().for_each(|&n| self.taken[n] = true);
        let mut next = 0;
        while let Some(&here) = all.get(next) {
            next += 1;
            let function = &self.contexts[here].function;
            let mut stack = vec![(here, 0)];
            while let Some((above, between)) = stack.pop() {
                if !self.contexts[above].is_call() {
                    continue;
                }
                for &n in self.children[above].iter().rev() {
                    // What is part of a recursion around this one is shown below that.
                    if self.taken[n] || !self.contexts[n].is_call() {
                        continue;
                    }
                    if self.contexts[n].function == *function {
                        self.taken[n] = true;
                        all.push(n);
                    } else if between < BETWEEN {
                        stack.push((n, between + 1));
                    }
                }
            }
        }
        all
    }

    /// Those that lie below none of the others.
    fn outermost(&self, all: &[usize]) -> Vec<usize> {
        if let [_] = all {
            return all.to_vec();
        }
        let among: FxHashSet<usize> = all.iter().copied().collect();
        let above = |n: usize| std::iter::successors(self.parents[n], |&n| self.parents[n]);
        all.iter().copied().filter(|&n| !above(n).any(|n| among.contains(&n))).collect()
    }

    /// The nearest frames below these that are part of a line already: this one, or one around it.
    fn elsewhere(&self, all: &[usize]) -> Vec<usize> {
        let mut elsewhere = Vec::new();
        let mut stack: Vec<usize> = all.iter().flat_map(|&n| self.children[n].iter().copied()).collect();
        while let Some(n) = stack.pop() {
            match self.taken[n] {
                true => elsewhere.push(n),
                false => stack.extend(&self.children[n]),
            }
        }
        elsewhere
    }

    /// Inclusive amounts of the outermost frames, exclusive ones of all. In a recursion inclusive ones of
    /// all, less those of what is shown elsewhere, so that the lines below add up.
    fn amounts(&self, outermost: &[usize], all: &[usize], elsewhere: Option<&[usize]>) -> RowAmounts {
        let mut sums = RowAmounts::new();
        for head in self.heads {
            let of = |n: &usize| self.contexts[*n].metrics.get(&head.id).cloned().unwrap_or_default();
            if head.over != Over::Sum {
                // Statistics of several contexts together cannot be had from those of each.
                sums.insert(head.id.clone(), of(&outermost[0]));
                continue;
            }
            let inclusive = |frames: &[usize]| sum(frames.iter().map(|n| of(n).inclusive));
            let squares =
                sum(outermost.iter().filter_map(|n| of(n).inclusive_error).map(|error| error * error));
            sums.insert(
                head.id.clone(),
                Amount {
                    inclusive: match elsewhere {
                        None => inclusive(outermost),
                        Some(elsewhere) => (inclusive(all) - inclusive(elsewhere)).max(0.0),
                    },
                    exclusive: sum(all.iter().map(|n| of(n).exclusive)),
                    inclusive_error: of(&outermost[0]).inclusive_error.map(|_| squares.sqrt()),
                    ..Amount::default()
                },
            );
        }
        self.derivations.add_to(&mut sums);
        sums
    }

    /// The calls below these frames, the same call from several of them merged; largest first.
    fn below(&self, all: &[usize]) -> Vec<Vec<usize>> {
        let mut position: FxHashMap<_, usize> = FxHashMap::default();
        let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
        for &parent in all {
            for &n in &self.children[parent] {
                if self.taken[n] {
                    continue;
                }
                let row = &self.contexts[n];
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
        if all.len() > 1 && !self.order.by_name && self.order.derived.is_none() {
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
        match &self.chain[..] {
            [] => name,
            [only] => format!("{}{arrow}{name}", contexts[*only].name),
            [first, between @ ..] => {
                let between = counted(between.len(), "call");
                format!("{}{arrow}({between}){arrow}{name}", contexts[*first].name)
            }
        }
    }

    /// How deep it calls itself, and where it is called.
    pub fn tail(&self, contexts: &[ContextRow]) -> String {
        let row = &contexts[self.shown];
        let called = row.is_call() && self.chain.is_empty();
        let place = place(row.file.as_deref(), row.line).filter(|_| called);
        let place = place.map(|place| format!("called at {place}"));
        let depth = (self.folded > 0).then(|| format!("recursive, {} frames", self.folded + 1));
        depth.into_iter().chain(place).collect::<Vec<_>>().join("; ")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;

    /// A call below another one, with this much of its own.
    fn row(id: u32, parent: Option<u32>, name: &str, own: f64, all: f64) -> ContextRow {
        let mut metrics = RowAmounts::new();
        metrics.insert("cpu_s".to_owned(), Amount { inclusive: all, exclusive: own, ..Amount::default() });
        ContextRow {
            id: ContextId(id),
            parent: parent.map(ContextId),
            kind: "frame",
            name: name.into(),
            full_name: name.into(),
            file: None,
            line: None,
            module: None,
            function: Some(name.into()),
            metrics,
        }
    }

    #[test]
    fn a_recursion_through_other_functions_is_folded() {
        // main calls a, a calls b, b calls a, and so on; both have something of their own.
        let contexts = [
            row(0, None, "main", 1.0, 9.0),
            row(1, Some(0), "a", 1.0, 8.0),
            row(2, Some(1), "b", 1.0, 7.0),
            row(3, Some(2), "a", 1.0, 6.0),
            row(4, Some(3), "b", 1.0, 5.0),
            row(5, Some(4), "a", 1.0, 3.0),
            row(6, Some(5), "leaf", 2.0, 2.0),
            row(7, Some(4), "leaf", 1.0, 1.0),
        ];
        let heads = [Column::sum(proust_profile::Metric::Cpu).head(true)];
        let order = Order {
            by_name: false,
            column: "cpu_s".into(),
            derived: None,
            inclusive: true,
            unit: proust_profile::Unit::SECONDS,
            with_wall: false,
        };
        let lines = outline(&contexts, &heads, &order);
        let shown: Vec<(String, usize, f64, f64)> = lines
            .iter()
            .map(|line| {
                let amount = line.amounts.get("cpu_s").unwrap();
                let (name, tail) = (line.name(&contexts, &Style::default()), line.tail(&contexts));
                (
                    format!("{name} {tail}").trim_end().to_owned(),
                    line.depth,
                    amount.inclusive,
                    amount.exclusive,
                )
            })
            .collect();
        let line = |name: &str, depth, all, own| (name.to_owned(), depth, all, own);
        assert_eq!(
            shown,
            [
                line("main", 0, 9.0, 1.0),
                line("a recursive, 3 frames", 1, 8.0, 3.0),
                // Without the calls of a below it, which are part of the line above: all lines add up.
                line("b recursive, 2 frames", 2, 3.0, 2.0),
                line("leaf", 3, 1.0, 1.0),
                line("leaf", 2, 2.0, 2.0),
            ]
        );
    }
}
