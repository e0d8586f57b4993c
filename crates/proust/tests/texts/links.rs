//! Links in Markdown: every relative one leads to a file, every anchor to a heading.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::{Source, root, sources};

/// The lines of a Markdown file that are no code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    })
}

/// A line without its code spans, each replaced by blanks.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 0 { part.to_owned() } else { " ".repeat(part.len()) }).collect()
}

/// The targets of a line's links: of `[a](b) [c](d)` these are `b` and `d`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let after = line.match_indices("](").map(|(at, opening)| &line[at + opening.len()..]);
    after.filter_map(|rest| Some(rest[..rest.find(')')?].to_owned())).collect()
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A heading's text without the targets of its links.
fn heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let is_heading = text.len() < line.len() && text.starts_with(' ');
    let without_targets = |text: &str| {
        let mut parts = text.split("](");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + part.split_once(')').map_or(part, |(_, rest)| rest))
    };
    is_heading.then(|| without_targets(text))
}

/// All anchors of a file; headings of the same text are numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter_map(|(_, line)| heading(line));
    let numbered = headings.map(|heading| {
        let anchor = anchor(&heading);
        let count = seen.entry(anchor.clone()).or_default();
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    });
    numbered.collect()
}

/// The path that a relative link leads to, from the file it is in.
fn resolved(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn problem(source: &Source, link: &str, anchors_of: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, wanted) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { Some(source.path.clone()) } else { resolved(&source.path, file) };
    let Some(path) = path else { return Some("leads out of the tree".to_owned()) };
    if !root().join(&path).exists() {
        return Some(format!("there is no {path}"));
    }
    let wanted = wanted?;
    let Some(there) = anchors_of.get(&path) else { return Some(format!("{path} has no headings")) };
    (!there.contains(wanted)).then(|| format!("{path} has no heading for #{wanted}"))
}

#[test]
fn every_link_in_markdown_leads_somewhere() {
    let sources: Vec<Source> = sources().into_iter().filter(|source| source.extension() == "md").collect();
    let anchors_of: BTreeMap<String, BTreeSet<String>> =
        sources.iter().map(|source| (source.path.clone(), anchors(&source.text))).collect();
    let (mut count, mut broken) = (0, Vec::new());
    for source in &sources {
        for (line, text) in prose(&source.text) {
            for link in targets(text) {
                count += 1;
                if let Some(problem) = problem(source, &link, &anchors_of) {
                    broken.push(format!("{}:{line}: ({link}): {problem}", source.path));
                }
            }
        }
    }
    assert!(count > 50, "only {count} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Comments, messages and scripts name documents by path, too.
#[test]
fn every_document_that_a_source_names_exists() {
    let mut missing = Vec::new();
    for source in sources() {
        for (number, line) in (1..).zip(source.text.lines()) {
            for (at, _) in line.match_indices("docs/") {
                let path = &line[at..];
                let end = path.find(|c: char| !(c.is_alphanumeric() || "/-_.".contains(c)));
                let path = path[..end.unwrap_or(path.len())].trim_end_matches('.');
                // A path in another folder, or the address of a page.
                let preceded = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.');
                if path.ends_with(".md") && !preceded && !root().join(path).exists() {
                    missing.push(format!("{}:{number}: there is no {path}", source.path));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn anchors_are_those_of_the_headings() {
    assert_eq!(anchor(" --metrics, --sort, --limit"), "--metrics---sort---limit");
    assert_eq!(
        anchor(" A run's folder, and environment variables"),
        "a-runs-folder-and-environment-variables"
    );
    let text = "# A `b`\n```\n# no heading\n```\n## Twice\n## Twice\n#no\n### [Link](there.md) on\n";
    let expected = ["a-b", "link-on", "twice", "twice-1"];
    assert_eq!(anchors(text).iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn links_are_found_and_resolved() {
    assert_eq!(targets("see [a](b.md) and [c](d#e), not `[x](y)`"), ["b.md", "d#e"]);
    assert_eq!(resolved("x/pages/a.md", "../b.md").as_deref(), Some("x/b.md"));
    assert_eq!(resolved("README.md", "x/c.md").as_deref(), Some("x/c.md"));
    assert_eq!(resolved("README.md", "../c.md"), None);
}
