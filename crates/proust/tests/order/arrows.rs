//! Arrows between modules: the paths in `use` lines and in code, with file and line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module that uses another one of the same crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// Below `crates`.
    pub file: String,
    pub line: usize,
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies among the others").to_owned()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder of sources can be read").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without comments, texts, and tests; lines stay where they are.
fn code(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("#[cfg(test)]") && !code.is_empty() {
            let rest = &text[code.len().min(text.len())..];
            if rest.lines().nth(1).is_some_and(|next| next.trim_end().ends_with("mod tests {")) {
                break;
            }
        }
        let bare = line.split("//").next().unwrap_or("");
        code.push_str(bare);
        // As long as the original, so that positions in both are the same.
        code.extend(std::iter::repeat_n(' ', line.len() - bare.len()));
        code.push('\n');
    }
    code
}

/// The modules of a crate: `a::b` for `src/a/b.rs`; those of tests are left out.
fn modules(name: &str) -> BTreeMap<String, PathBuf> {
    let source = crates().join(name).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let module = |path: &PathBuf| {
        let inside = path.strip_prefix(&source).expect("it was found there").with_extension("");
        inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("::")
    };
    let named = files.into_iter().map(|path| (module(&path), path));
    named.filter(|(module, _)| !module.split("::").any(|part| part == "tests")).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word at the begin of a text.
fn word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// What stands in braces at the begin of a text, one by one: of `{a::b, c::{d, e}}` it is `a::b` and
/// `c::{d, e}`.
fn in_braces(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut parts) = (0, 1, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 1 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    parts
}

/// The module that a path leads to, from the module `base` on: the longest beginning of it that is one.
fn targets(base: &[&str], path: &str, known: &BTreeMap<String, PathBuf>, found: &mut BTreeSet<String>) {
    if path.starts_with('{') {
        for part in in_braces(path) {
            targets(base, part, known, found);
        }
        return;
    }
    let first = word(path);
    let mut longer = base.to_vec();
    longer.push(first);
    if !first.is_empty() && known.contains_key(&longer.join("::")) {
        match path[first.len()..].strip_prefix("::") {
            Some(rest) => targets(&longer, rest, known, found),
            None => drop(found.insert(longer.join("::"))),
        }
    } else if known.contains_key(&base.join("::")) {
        found.insert(base.join("::"));
    }
}

/// The files of a crate, below `crates`, with their code without comments and tests.
pub fn sources(name: &str) -> Vec<(String, String)> {
    let read = |path: &PathBuf| {
        let file = path.strip_prefix(crates()).expect("it was found there").to_string_lossy().into_owned();
        (file, code(&fs::read_to_string(path).expect("a source can be read")))
    };
    modules(name).values().map(read).collect()
}

/// The arrows between the modules of a crate.
pub fn arrows_within(name: &str) -> Vec<Arrow> {
    let known = modules(name);
    let mut arrows = Vec::new();
    for (module, path) in &known {
        let text = fs::read_to_string(path).expect("a source can be read");
        let code = code(&text);
        let own: Vec<&str> = module.split("::").collect();
        let file = path.strip_prefix(crates()).expect("it was found there").to_string_lossy().into_owned();
        for start in ["crate::", "super::"] {
            for (at, _) in code.match_indices(start) {
                let before = &code[..at];
                // `$crate::`, and the inner ones of `super::super::`.
                if before.ends_with(|c: char| is_word(c) || c == '$' || c == ':') {
                    continue;
                }
                let mut rest = &code[at..];
                let mut base = if start == "crate::" { Vec::new() } else { own.clone() };
                while let Some(further) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = further;
                }
                rest = rest.strip_prefix("crate::").unwrap_or(rest);
                let mut found = BTreeSet::new();
                targets(&base, rest, &known, &mut found);
                let line = before.matches('\n').count() + 1;
                let found = found.into_iter().filter(|to| to != module);
                arrows.extend(found.map(|to| Arrow { from: module.clone(), to, file: file.clone(), line }));
            }
        }
    }
    assert!(!arrows.is_empty(), "no arrow was found in {name}");
    arrows
}

/// Files below `crates` that name a crate outside of tests, with the line.
pub fn users_of_crate(used: &str) -> Vec<(String, usize)> {
    let mut users = Vec::new();
    for entry in fs::read_dir(crates()).expect("the folder of the crates can be read") {
        let name = entry.expect("it can be read").file_name().to_string_lossy().into_owned();
        for path in modules(&name).values() {
            let code = code(&fs::read_to_string(path).expect("a source can be read"));
            let lines = code.lines().enumerate().filter(|(_, line)| {
                line.match_indices(used).any(|(at, _)| {
                    !line[..at].ends_with(is_word) && line[at + used.len()..].starts_with("::")
                })
            });
            let file = path.strip_prefix(crates()).expect("it was found there").to_string_lossy();
            users.extend(lines.map(|(n, _)| (file.clone().into_owned(), n + 1)));
        }
    }
    users
}

/// Sets of modules each of which leads to all others of its set, sorted.
pub fn circles(arrows: &[Arrow]) -> Vec<Vec<String>> {
    let mut to: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in arrows {
        to.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let reachable = |from: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = to.get(from).into_iter().flatten().copied().collect();
        while let Some(module) = open.pop() {
            if seen.insert(module) {
                open.extend(to.get(module).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        to.keys().map(|&module| (module, reachable(module))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, from_it) in reached.iter().filter(|(module, from_it)| from_it.contains(*module)) {
        let leads_back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(module));
        circles.insert(from_it.iter().filter(leads_back).map(|&other| other.to_owned()).collect());
    }
    circles.into_iter().collect()
}

#[test]
fn paths_are_found_with_their_lines() {
    let known: BTreeMap<String, PathBuf> =
        ["a", "a::b", "c"].map(|module| (module.to_owned(), PathBuf::new())).into();
    let of = |base: &[&str], path: &str| {
        let mut found = BTreeSet::new();
        targets(base, path, &known, &mut found);
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(&[], "a::b::Thing;"), "a::b");
    assert_eq!(of(&[], "a::{Thing, b::Other};"), "a a::b");
    assert_eq!(of(&[], "{a::Thing, c};"), "a c");
    assert_eq!(of(&["a"], "b::f()"), "a::b");
    assert_eq!(of(&["a"], "f()"), "a");
    assert_eq!(of(&[], "Thing"), "");
    assert_eq!(
        code("use a; // crate::b\n#[cfg(test)]\nmod tests {\n use crate::c;\n"),
        "use a;            \n"
    );
}

#[test]
fn a_circle_is_seen() {
    let arrow =
        |from: &str, to: &str| Arrow { from: from.into(), to: to.into(), file: String::new(), line: 1 };
    let open = [arrow("a", "b"), arrow("b", "c")];
    assert!(circles(&open).is_empty());
    let closed = [arrow("a", "b"), arrow("b", "c"), arrow("c", "b")];
    assert_eq!(circles(&closed), [["b", "c"]]);
}
