//! Folded stacks: a line for each call path, `program;main;solve 123`, sorted; amounts in whole numbers, of
//! times in nanoseconds. Threads of one program are added up.

use std::collections::BTreeMap;
use std::io::Write;

use proust_query::{Measure, Selection};

use crate::amounts::by_location;
use crate::error::ExportError;
use crate::frames::Frames;
use crate::threads::Thread;

/// Amounts by call path; the first name of each is the program's.
pub fn paths(selection: &Selection<'_>, measure: Measure) -> BTreeMap<Vec<String>, u64> {
    let frames = Frames::of(selection.profile());
    let mut paths: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for ((location, context), amount) in by_location(selection, measure) {
        let program = Thread::of(selection, location).program();
        let names = frames.path(context).into_iter().map(|frame| frames.name(frame.subject));
        *paths.entry([program].into_iter().chain(names).collect()).or_default() += amount;
    }
    paths
}

/// Writes folded stacks.
pub fn write(selection: &Selection<'_>, measure: Measure, out: &mut dyn Write) -> Result<(), ExportError> {
    for (path, amount) in paths(selection, measure) {
        let names: Vec<String> = path.iter().map(|name| escaped(name)).collect();
        writeln!(out, "{} {amount}", names.join(";"))?;
    }
    Ok(())
}

/// A name without what the format gives a meaning: `[u8; 4]` becomes `[u8, 4]`.
fn escaped(name: &str) -> String {
    name.chars()
        .map(|c| if c == ';' { ',' } else { c })
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_stay_in_their_line_and_frame() {
        assert_eq!(escaped("<[u8; 4] as Sum>::sum"), "<[u8, 4] as Sum>::sum");
        assert_eq!(escaped("a\nb\"ü\u{202e}"), "a b\"ü\u{202e}");
    }
}
