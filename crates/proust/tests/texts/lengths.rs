//! Lines of at most 110 columns, files of at most 500 lines.

use crate::files::{Source, sources};

const COLUMNS: usize = 110;
const LINES: usize = 500;

/// Files that are longer, each with the reason. The list may only become shorter.
const LONG_FILES: &[(&str, &str)] = &[
    ("docs/benchmarks.md", "the figures of all benchmarks; its tables are written by `benches/all`"),
    ("programs/semantics.cpp", "one program on purpose: it runs all checks of one process in a fixed order"),
    ("programs/hostile_waits.c", "a case a function; they share the threads that wait"),
    ("programs/waits.c", "a case a function; one run shows all waits side by side"),
];

/// Files with lines that are too long. The list may only become shorter.
const LONG_LINES: &[&str] = &[];

/// What a file is written in, where its lines are limited.
#[derive(Clone, Copy, PartialEq)]
enum Language {
    Code,
    Markdown,
}

fn language(source: &Source) -> Option<Language> {
    match source.extension() {
        "rs" | "c" | "h" | "cpp" | "hpp" | "py" | "sh" | "f90" | "F90" => Some(Language::Code),
        "md" => Some(Language::Markdown),
        // Scripts have no extension.
        "" if source.text.starts_with("#!") => Some(Language::Code),
        _ => None,
    }
}

/// Lines that are too long, with their numbers and widths.
fn too_long(text: &str, language: Language) -> Vec<(usize, usize)> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fence = language == Language::Markdown && line.trim_start().starts_with("```");
        in_code ^= fence;
        // Tables cannot be wrapped, examples show what a command prints.
        let is_row = line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|');
        let free = match language {
            Language::Markdown => in_code || is_row,
            // Tables of the documentation.
            Language::Code => is_row && line.trim_start().starts_with("//"),
        };
        let width = line.chars().count();
        if width > COLUMNS && !free && !line.contains("://") {
            found.push((number, width));
        }
    }
    found
}

#[test]
fn lines_fit() {
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for source in sources() {
        let Some(language) = language(&source) else { continue };
        looked_at += 1;
        let long = too_long(&source.text, language);
        if LONG_LINES.contains(&&*source.path) {
            if long.is_empty() {
                wrong.push(format!("{} has no long lines: remove it from the list", source.path));
            }
            continue;
        }
        let shown = |(number, width)| format!("{}:{number}: {width} columns", source.path);
        wrong.extend(long.into_iter().map(shown));
    }
    assert!(looked_at > 500, "only {looked_at} files were looked at");
    assert!(
        wrong.is_empty(),
        "{} lines have more than {COLUMNS} columns:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn files_can_be_read_in_one_go() {
    let mut wrong = Vec::new();
    let sources = sources();
    let long = |source: &&Source| language(source).is_some() && source.text.lines().count() > LINES;
    for source in sources.iter().filter(long) {
        if !LONG_FILES.iter().any(|(path, _)| *path == source.path) {
            wrong.push(format!("{}: {} lines", source.path, source.text.lines().count()));
        }
    }
    for (path, _) in LONG_FILES {
        if !sources.iter().filter(long).any(|source| source.path == *path) {
            wrong.push(format!("{path} is no longer long: remove it from the list"));
        }
    }
    assert!(wrong.is_empty(), "files of more than {LINES} lines:\n{}", wrong.join("\n"));
}

#[test]
fn long_lines_are_seen() {
    let long = "x".repeat(COLUMNS + 1);
    let text =
        format!("{long}\nshort\n| {long} |\n//! | {long} |\nhttps://{long}\n```\n{long}\n```\n{long}\n");
    let numbers = |language| too_long(&text, language).iter().map(|(number, _)| *number).collect::<Vec<_>>();
    assert_eq!(numbers(Language::Markdown), [1, 9]);
    assert_eq!(numbers(Language::Code), [1, 3, 7, 9]);
}
