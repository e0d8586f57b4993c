//! No part above the profile holds the rows of a run, or a timeline of states, in a vector: it goes through
//! them, so that its memory does not grow with their number.

use super::arrows::sources;

/// What has a time and a location, and can be as many as the run is long.
const ROWS: [&str; 6] = ["SampleRow", "EventRow", "ReleaseRow", "StayRow", "TransferRow", "Span"];

/// The parts that may not hold them. Rows are made in `ingest`, and kept in `profile`.
const ABOVE: [&str; 8] = ["account", "query", "findings", "store", "compare", "report", "export", "proust"];

/// Where it is done nevertheless, and why that is bounded. The list may only become shorter.
const KNOWN: &[(&str, &str)] = &[
    ("account/src/timelines.rs", "those of one location, while its timeline is made"),
    ("account/src/timelines/charged.rs", "the same"),
    ("account/src/timelines/explained.rs", "the same"),
    ("account/src/timelines/gaps.rs", "the same"),
    ("account/src/timelines/spans.rs", "the same"),
    ("account/src/ledger/timeline.rs", "timelines in memory, which those of streams are compared with"),
    ("account/src/blame/stays.rs", "the last 64"),
    ("query/src/mpi/sizes.rs", "those that ended with one call"),
];

/// What a type is in at the end of this code, if that holds many of it: a vector, a slice.
fn holder(before: &str) -> Option<&str> {
    let mut depth = 0;
    let mut chars = before.char_indices().rev().peekable();
    while let Some((at, c)) = chars.next() {
        let is_arrow = c == '>' && chars.peek().is_some_and(|(_, c)| matches!(c, '-' | '='));
        match c {
            ';' | '{' | '}' => return None,
            '>' if is_arrow => {}
            '>' | ')' | ']' => depth += 1,
            '<' | '(' | '[' if depth > 0 => depth -= 1,
            '[' => return Some("["),
            '<' => {
                let outer = before[..at].trim_end();
                let word = &outer[outer.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1)..];
                return ["Vec", "VecDeque", "BTreeSet", "HashSet"].into_iter().find(|many| *many == word);
            }
            // A tuple may be what is held; the arguments of a function are not.
            '(' if before[..at].trim_end().ends_with(['<', '[', '&']) => {}
            '(' => return None,
            _ => {}
        }
    }
    None
}

/// The lines of some code that hold many rows.
fn lines_that_hold(code: &str) -> Vec<(usize, String)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for name in ROWS {
        for (at, _) in code.match_indices(name) {
            let (before, behind) = (&code[..at], &code[at + name.len()..]);
            if before.ends_with(is_word) || behind.starts_with(is_word) {
                continue;
            }
            if let Some(holder) = holder(before) {
                found.push((before.matches('\n').count() + 1, format!("{holder} of {name}")));
            }
        }
    }
    found
}

#[test]
fn parts_above_the_profile_hold_no_vector_of_rows() {
    let mut wrong = Vec::new();
    let mut unknown: Vec<&str> = KNOWN.iter().map(|(file, _)| *file).collect();
    for (file, code) in ABOVE.iter().flat_map(|name| sources(name)) {
        let lines = lines_that_hold(&code);
        if KNOWN.iter().any(|(known, _)| *known == file) {
            unknown.retain(|known| *known != file || lines.is_empty());
        } else {
            wrong.extend(lines.into_iter().map(|(line, what)| format!("{file}:{line}: {what}")));
        }
    }
    wrong.extend(unknown.iter().map(|file| format!("{file}: holds none any more: take it off the list")));
    assert!(wrong.is_empty(), "rows are gone through, not held:\n{}", wrong.join("\n"));
}

#[test]
fn the_profile_itself_is_seen_to_hold_rows_where_they_are_made() {
    let made: Vec<_> =
        sources("ingest").into_iter().filter(|(_, code)| !lines_that_hold(code).is_empty()).collect();
    assert!(!made.is_empty(), "this test does not find what it looks for");
}

#[test]
fn what_holds_rows_is_recognised() {
    let holds = |code: &str| !lines_that_hold(code).is_empty();
    assert!(holds("rows: Vec<SampleRow>,"));
    assert!(holds("fn f(rows: &[proust_profile::EventRow]) {"));
    assert!(holds("all: Vec<(Doing, EventRow)>,"));
    assert!(holds("kept: VecDeque< StayRow>"));
    assert!(holds("let rows = vec![ReleaseRow::default()];"));
    assert!(holds("fn f(f: impl Fn(u64) -> bool, rows: &[(u64, SampleRow)])"));
    assert!(!holds("rows: RowsOf<'e, SampleRow>,"));
    assert!(!holds("rows: Vec<RowsOf<'e, SampleRow>>,"));
    assert!(!holds("f(rows: &SampleRow, others: Vec<u64>)"));
    assert!(!holds("impl Iterator<Item = EventRow>"));
    assert!(!holds("Vec<Vec<u64>>, EventRow"));
    assert!(!holds("rows: Vec<SampleRows>,"));
}
