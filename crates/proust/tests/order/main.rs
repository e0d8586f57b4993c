//! The order of the parts, read from the sources: which part may use which, and why. An arrow against the
//! order fails with file and line.
//!
//! Code of tests is not looked at: a test may use what it likes.

mod arrows;
mod hashing;
mod rows;
mod times;

use std::collections::BTreeMap;

use arrows::{Arrow, arrows_within, users_of_crate};

/// A part of a crate: its room (the first word of the module's path), and why it stands where it does.
type Floor = (&'static str, &'static str);

/// From the bottom up: a room uses rooms before it only.
const ACCOUNT: &[Floor] = &[
    ("search", "searching in sorted rows; knows nothing"),
    ("ledger", "accounts of timelines: a pure function that knows no profile's rows and no names"),
    ("classes", "the class of each wait, by call path: states of the ledger"),
    ("timelines", "rows to timelines of states; needs classes, and no cause of anything"),
    ("stored", "timelines on disk; needs those that are written"),
    ("blame", "causes of waits; needs the states of timelines"),
    ("accounted", "timelines, ledger and blame in one step"),
];

const REPORT: &[Floor] = &[
    ("schema", "the version of the JSON contract"),
    ("described", "the schemas of other crates' types"),
    ("metrics", "what each metric is, for the guide"),
    ("csv", "rows to text"),
    ("json", "pages to JSON"),
    ("number", "numbers to text"),
    ("shorten", "text that does not fit"),
    ("style", "what the terminal can show"),
    ("wrap", "paragraphs"),
    ("table", "cells to text"),
    ("shell", "words that can be typed"),
    ("groups", "which processes and programs there are, by their time"),
    ("wording", "the words of notes; knows no page"),
    ("error", "why a question has no answer"),
    ("kept", "what goes into a page and comes out"),
    ("column", "what is a column"),
    ("row_amounts", "the amounts of a row, as in JSON"),
    ("page", "the table of pages"),
    ("references", "times of other runs that a question comes with"),
    ("question", "what is asked; knows which pages there are"),
    ("grouped", "the pages of several processes; knows none of them"),
    ("choice", "which columns a page shows, by the question"),
    ("derivations", "derived metrics of a row, by its other numbers"),
    ("columns", "numbers by row, by the choice"),
    ("pages", "one file for each page"),
    ("named", "rows of a run that pages take, in the words of pages"),
    ("explained", "findings one by one, in the words of their page"),
    ("sweep", "pages of a sweep, in the words of the pages of a run"),
    ("diff", "pages of a comparison, in the words of both"),
    ("json_schema", "the schema of all of these"),
];

const COMMAND: &[Floor] = &[
    ("message", "lines on standard error; knows nothing"),
    ("clock", "the kernel's clocks"),
    ("failure", "exit codes"),
    ("output", "standard output that may be closed"),
    ("terminal", "what the terminal can show"),
    ("gaps", "what is missing in the data"),
    ("analysis_notes", "what reading a run found out about its analysis"),
    ("progress", "bars"),
    ("runs", "which folder is meant"),
    ("symbol_table", "names of a program"),
    ("linked_runtime", "runtimes among these names"),
    ("sanitizers", "sanitizers among them"),
    ("program", "what kind of program a command is"),
    ("habits", "tips for command lines that were not understood"),
    ("tick", "the kernel's tick, and what it delivers"),
    ("control_group", "how much of the machine a run, or this process, may use"),
    ("dictionary", "words that are explained"),
    ("completing", "words that a shell completes, those of runs among them"),
    ("control", "the control page of a run"),
    ("record", "runs a command; knows no page"),
    ("switch", "pauses and resumes a run"),
    ("sweep", "runs it many times"),
    ("report", "shows a run"),
    ("run", "records and shows"),
    ("export", "writes a run for other tools"),
    ("diff", "compares runs"),
    ("explain", "explains words"),
    ("info", "tells what is known of a run"),
    ("merge", "puts parts of a run together"),
    ("ls", "lists runs"),
    ("schema", "writes the schema of their pages"),
    ("doctor", "what can be recorded here"),
    ("demo", "records and shows"),
    ("completions", "scripts of shells that ask `main`"),
    ("man", "gets it from there, too"),
    ("cli", "the command line names all of these, and none of them names it"),
];

/// Each crate of the analysis, from the bottom up, with the crates that may use it, and why no others.
const USERS: &[(&str, &[&str], &str)] = &[
    (
        "proust_log",
        &["collector", "log", "ingest", "proust"],
        "the analysis asks a profile and not a log, so that a trace of another tool can be accounted for; \
         the command writes the control page and finds logs by name",
    ),
    (
        "proust_mpi_abi",
        &["collector", "mpi-abi"],
        "the log has the same codes for all MPI libraries: nothing behind it knows which one a program had",
    ),
    (
        "proust_messages",
        &["messages", "ingest"],
        "a profile holds messages and waits: nothing behind it matches calls again",
    ),
    (
        "proust_structure",
        &["structure", "ingest"],
        "a profile holds all names: nothing behind it opens a binary",
    ),
    (
        "proust_ingest",
        &["ingest", "store", "proust"],
        "a profile is made in one place, and questions are asked when it is complete; the command shows \
         its progress",
    ),
    (
        "proust_account",
        &["account", "query", "findings", "store", "compare", "report", "export", "proust"],
        "no question is asked of a profile while it is made",
    ),
    (
        "proust_characteristics",
        &["characteristics", "query", "findings", "store", "compare", "report", "proust"],
        "characteristics know processors by position, and no profile",
    ),
    (
        "proust_query",
        &["query", "findings", "store", "compare", "report", "export", "proust"],
        "the account is drawn up of the whole run, whatever is asked",
    ),
    (
        "proust_findings",
        &["findings", "store", "compare", "report", "proust"],
        "questions are answered, and judged afterwards",
    ),
    (
        "proust_store",
        &["store", "compare", "report", "proust"],
        "a single run is all that the parts below know",
    ),
    ("proust_compare", &["compare", "report", "proust"], "a run is the same whatever it is compared with"),
    ("proust_report", &["report", "proust"], "numbers are made before they are worded"),
    ("proust_export", &["export", "proust"], "no page depends on what other tools can read"),
    (
        "proust_profile",
        &[
            "profile", "ingest", "account", "query", "findings", "store", "compare", "report", "export",
            "proust",
        ],
        "the collector, the log and the structure of programs know nothing of what is made of them",
    ),
];

/// Files of one room that use each other although the room's parts should have an order, too. Each is to be
/// opened; the list may only become shorter.
const KNOWN_CIRCLES: &[(&str, &[&str])] = &[
    ("ingest", &["brief", "log"]),
    ("ingest", &["events", "openmp", "thread"]),
    ("streams", &["file", "reader"]),
    ("structure", &["debug_info", "split_dwarf"]),
    ("structure", &["declaration", "scopes"]),
];

fn room(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

fn check_floors(name: &str, floors: &[Floor]) {
    let place: BTreeMap<&str, usize> = floors.iter().enumerate().map(|(n, floor)| (floor.0, n)).collect();
    let mut wrong = Vec::new();
    for Arrow { from, to, file, line } in arrows_within(name) {
        let (user, used) = (room(&from), room(&to));
        // `lib.rs` and `main.rs` list the rooms.
        if user == used || ["lib", "main"].contains(&user) {
            continue;
        }
        let reason = |room: &str| floors[place[room]].1;
        match (place.get(user), place.get(used)) {
            (None, _) => wrong.push(format!("{file}:{line}: `{user}` has no place in the order")),
            (_, None) => wrong.push(format!("{file}:{line}: `{used}` has no place in the order")),
            (Some(above), Some(below)) if above <= below => wrong.push(format!(
                "{file}:{line}: `{user}` uses `{used}`, which stands above it. {user}: {}. {used}: {}",
                reason(user),
                reason(used)
            )),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "against the order of {name}:\n{}", wrong.join("\n"));
}

#[test]
fn rooms_of_the_account_use_only_rooms_below_them() {
    check_floors("account", ACCOUNT);
}

#[test]
fn rooms_of_the_report_use_only_rooms_below_them() {
    check_floors("report", REPORT);
}

#[test]
fn rooms_of_the_command_use_only_rooms_below_them() {
    check_floors("proust", COMMAND);
}

#[test]
fn crates_are_used_by_those_alone_that_may() {
    let mut wrong = Vec::new();
    for (used, allowed, why) in USERS {
        let users = users_of_crate(used);
        assert!(!users.is_empty(), "nobody uses {used}: this test does not find what it looks for");
        for (file, line) in users {
            if !allowed.iter().any(|may| file.starts_with(&format!("{may}/"))) {
                wrong.push(format!("{file}:{line}: uses {used}, but {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_a_room_do_not_use_each_other_in_circles() {
    let mut wrong = Vec::new();
    for name in [
        "profile",
        "structure",
        "streams",
        "messages",
        "ingest",
        "account",
        "characteristics",
        "query",
        "findings",
        "store",
        "compare",
        "report",
        "export",
        "proust",
    ] {
        let arrows = arrows_within(name);
        let mut circles = arrows::circles(&arrows);
        for (_, known) in KNOWN_CIRCLES.iter().filter(|(of, _)| *of == name) {
            match circles.iter().position(|circle| circle == known) {
                Some(n) => drop(circles.remove(n)),
                None => wrong.push(format!("{name}: {known:?} is opened: take it off the list")),
            }
        }
        for circle in circles {
            let inside =
                arrows.iter().filter(|arrow| circle.contains(&arrow.from) && circle.contains(&arrow.to));
            let lines = inside.map(|arrow| format!("  {}:{}: uses {}", arrow.file, arrow.line, arrow.to));
            wrong.push(format!("{name}: a circle\n{}", lines.collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
