//! Amounts by source line.

use proust_profile::{ContextKind, FunctionId};
use rustc_hash::FxHashMap;

use super::measure::Measure;
use super::selection::Selection;

/// A source line and the time spent in it.
#[derive(Clone, Debug, PartialEq)]
pub struct LineAmount {
    /// The file.
    pub file: String,
    /// The line's number.
    pub line: u32,
    /// The function it belongs to.
    pub function: Option<FunctionId>,
    /// Exclusive amount.
    pub amount: f64,
}

/// Source lines with their amounts, largest first. A line that is inlined at several places is one line.
pub fn lines(selection: &Selection<'_>, measure: impl Into<Measure>) -> Vec<LineAmount> {
    let own = selection.own(measure);
    let mut by_line: FxHashMap<(&str, u32), (Option<FunctionId>, f64)> = FxHashMap::default();
    for (context, amount) in selection.profile().contexts.iter().zip(own) {
        if context.kind != ContextKind::Line || amount == 0.0 {
            continue;
        }
        if let (Some(file), Some(line)) = (&context.file, context.line) {
            by_line.entry((file, line)).or_insert((context.function, 0.0)).1 += amount;
        }
    }
    let mut lines: Vec<LineAmount> = by_line
        .into_iter()
        .map(|((file, line), (function, amount))| LineAmount {
            file: file.to_owned(),
            line,
            function,
            amount,
        })
        .collect();
    lines.sort_by(|a, b| {
        b.amount.total_cmp(&a.amount).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
    });
    lines
}
