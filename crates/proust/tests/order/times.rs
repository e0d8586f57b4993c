//! Times are one type, whole nanoseconds, from the profile to the comparison. Seconds are made where they are
//! shown, and read where people write them.

use super::arrows::sources;

/// The parts between the logs and the pages.
const PARTS: [&str; 6] = ["profile", "ingest", "account", "query", "findings", "compare"];

/// Files that `record` and `sweep` write for people as well.
const OF_PEOPLE: [&str; 2] = ["profile/src/run_file.rs", "profile/src/sweep_file.rs"];

/// The public fields and functions of some code that are seconds by their names, with their lines. The clock
/// of day is none of them: it is no duration, and no instant of a run.
fn seconds_in(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut words =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let is_public = words.next() == Some("pub");
        let qualifiers = ["crate", "super", "self", "in", "const", "async", "unsafe", "fn"];
        let name = words.find(|word| !qualifiers.contains(word)).unwrap_or_default();
        let is_lower = name.starts_with(|c: char| c.is_lowercase());
        if is_public && is_lower && name.ends_with("_s") && !name.ends_with("_unix_s") {
            found.push((number + 1, name.to_owned()));
        }
    }
    found
}

#[test]
fn no_part_between_logs_and_pages_has_seconds() {
    let mut wrong = Vec::new();
    for (file, code) in PARTS.iter().flat_map(|name| sources(name)) {
        if !OF_PEOPLE.contains(&file.as_str()) {
            let names = seconds_in(&code).into_iter();
            wrong.extend(names.map(|(line, name)| format!("{file}:{line}: `{name}`")));
        }
    }
    assert!(wrong.is_empty(), "a time is `proust_profile::Ns`:\n{}", wrong.join("\n"));
}

#[test]
fn files_of_people_have_seconds() {
    let files: Vec<_> =
        sources("profile").into_iter().filter(|(file, _)| OF_PEOPLE.contains(&file.as_str())).collect();
    assert_eq!(files.len(), OF_PEOPLE.len());
    assert!(files.iter().all(|(_, code)| !seconds_in(code).is_empty()), "this test finds none");
}

#[test]
fn seconds_are_recognised() {
    let names = |code: &str| seconds_in(code).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("    pub wall_s: f64,\n    pub(super) cpu_s: f64,"), ["wall_s", "cpu_s"]);
    assert_eq!(names("pub(in super::super) const fn wait_s(&self) -> f64 {"), ["wait_s"]);
    assert!(names("    pub start_unix_s: f64,").is_empty());
    assert!(names("    pub wall: Ns, // wall_s").is_empty());
    assert!(names("pub const LEAST_TOTAL_S: Ns = 1;").is_empty());
    assert!(names("    let wall_s = time.as_seconds();").is_empty());
}
