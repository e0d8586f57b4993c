//! Every page as people and programs see it.

use proust_profile::{LocationId, ProcessId, Profile};
use proust_query::Metrics;
use proust_report::{Column, Format, PageName, Question, Style, render};

use crate::example::{crowded, profile, waiting};
use crate::messaging::messaging;

fn page(page: PageName, arguments: &[&str], format: Format) -> Question {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Question { dir: "solve.1.proust".into(), page, arguments, format, ..Question::default() }
}

fn shown(question: &Question) -> String {
    render(&profile(), question, &Style::default()).unwrap().page
}

#[test]
fn texts() {
    for &name in PageName::ALL {
        insta::assert_snapshot!(format!("{}_text", name.id()), shown(&page(name, &[], Format::Text)));
    }
    insta::assert_snapshot!(
        "callers_of_refine_text",
        shown(&page(PageName::Callers, &["refine"], Format::Text))
    );
    insta::assert_snapshot!("tree_below_text", shown(&page(PageName::Tree, &["c7"], Format::Text)));
    let columns = Column::parse_list("cpu_s:max|mean|imbalance", &Metrics::default()).unwrap();
    let question = Question { columns, ..page(PageName::Flat, &[], Format::Text) };
    insta::assert_snapshot!("flat_statistics_text", shown(&question));
}

#[test]
fn threads_that_are_bound_say_to_which_processors() {
    let mut profile = profile();
    profile.processes[ProcessId(0)].processors = "0-3".into();
    let shown = |profile: &Profile, format| {
        render(profile, &page(PageName::Threads, &[], format), &Style::default()).unwrap().page
    };
    assert!(!shown(&profile, Format::Text).contains("bound to"));
    profile.locations[LocationId(1)].processors = "2".into();
    insta::assert_snapshot!("bound_threads_text", shown(&profile, Format::Text));
    let csv = shown(&profile, Format::Csv);
    assert!(csv.lines().nth(1).is_some_and(|line| line.contains(",0-3,")), "{csv}");
    assert!(csv.lines().nth(2).is_some_and(|line| line.contains(",2,")), "{csv}");
}

fn shown_waiting(question: &Question, width: usize) -> String {
    render(&waiting(), question, &Style { width, ..Style::default() }).unwrap().page
}

#[test]
fn texts_of_a_run_that_waits() {
    for name in [
        PageName::Summary,
        PageName::Tree,
        PageName::Callers,
        PageName::Flat,
        PageName::Threads,
        PageName::Timeline,
        PageName::Io,
        PageName::Waits,
        PageName::Openmp,
    ] {
        let text = shown_waiting(&page(name, &[], Format::Text), 80);
        // Headings and sentences may be longer.
        let fits = |line: &str| !line.starts_with(' ') || line.ends_with('.') || line.chars().count() <= 80;
        assert!(name == PageName::Summary || text.lines().all(fits), "{text}");
        insta::assert_snapshot!(format!("waiting_{}_text", name.id()), text);
    }
    let columns = Column::parse_list("lock_s,passive_join_s:max,caused_s", &Metrics::default()).unwrap();
    let question = Question { columns, ..page(PageName::Tree, &[], Format::Text) };
    insta::assert_snapshot!("waiting_tree_metrics_text", shown_waiting(&question, 100));
}

/// Whatever the numbers are, names of regions have room, and what is left out is said.
#[test]
fn names_of_regions_keep_forty_columns() {
    let mut profile = waiting();
    let name = format!("a_function_with_a_long_name_{}", "x".repeat(60));
    profile.functions.iter_mut().find(|function| function.name == "solve").unwrap().name = name;
    let question = page(PageName::Openmp, &[], Format::Text);
    for width in [80, 100, 120] {
        let text = render(&profile, &question, &Style { width, ..Style::default() }).unwrap().page;
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let heads = text.lines().find(|line| line.ends_with("  region")).unwrap_or_else(|| panic!("{text}"));
        let at = heads.find("region").unwrap();
        assert!(at + 40 <= width, "{width}: {text}");
        let row = text.lines().find(|line| line.contains("a_function_with")).unwrap();
        assert!(row.chars().count() - at >= 40, "{width}: {text}");
        for column in ["lock", "runtime", "max/mean", "team"] {
            let is_there = heads.contains(column);
            let left_out = flowing.split("not shown for lack of width: ").nth(1).unwrap_or_default();
            assert!(is_there || left_out.contains(column), "{width}: {column}: {text}");
        }
        assert!(width < 120 || heads.contains("runtime"), "{text}");
    }
}

/// Only the lines of the page `intervals` that have DVM's own layout are as wide as that.
#[test]
fn pages_fit_the_terminal() {
    let mut wide = Vec::new();
    for (run, profile) in
        [("run", profile()), ("waiting", waiting()), ("crowded", crowded()), ("messaging", messaging())]
    {
        for &name in PageName::ALL {
            for width in [80, 120] {
                let style = Style { width, ..Style::default() };
                let text = render(&profile, &page(name, &[], Format::Text), &style).unwrap().page;
                let is_classic = |line: &str| name == PageName::Intervals && line.contains("_time");
                let lines = text.lines().filter(|line| line.chars().count() > width && !is_classic(line));
                wide.extend(lines.map(|line| format!("{run} {} {width}: {line}", name.id())));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// More threads than processors: what is too much stands beyond them, outside of every total.
#[test]
fn texts_of_a_run_with_too_many_threads() {
    for name in [PageName::Summary, PageName::Ledger, PageName::Threads] {
        let text = render(&crowded(), &page(name, &[], Format::Text), &Style::default()).unwrap().page;
        insta::assert_snapshot!(format!("crowded_{}_text", name.id()), text);
    }
}

#[test]
fn jsons_of_a_run_that_waits() {
    for name in [PageName::Flat, PageName::Threads, PageName::Io, PageName::Waits, PageName::Openmp] {
        let text = shown_waiting(&page(name, &[], Format::Json), 80);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!(format!("waiting_{}_json", name.id()), value);
    }
    insta::assert_snapshot!("waiting_waits_csv", shown_waiting(&page(PageName::Waits, &[], Format::Csv), 80));
}

#[test]
fn a_narrow_plain_terminal() {
    let style = Style { width: 60, colour: false, unicode: false };
    for name in [PageName::Summary, PageName::Tree, PageName::Callers] {
        let text = render(&profile(), &page(name, &[], Format::Text), &style).unwrap().page;
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(format!("{}_narrow", name.id()), text);
    }
}

#[test]
fn jsons() {
    for &name in PageName::ALL {
        let text = shown(&page(name, &[], Format::Json));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!(format!("{}_json", name.id()), value);
    }
    let text = shown(&page(PageName::Callers, &["f4"], Format::Json));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_json_snapshot!("callers_of_refine_json", value);
}

#[test]
fn tables_for_spreadsheets() {
    insta::assert_snapshot!("flat_csv", shown(&page(PageName::Flat, &[], Format::Csv)));
    insta::assert_snapshot!("threads_csv", shown(&page(PageName::Threads, &[], Format::Csv)));
    for &name in PageName::ALL {
        let text = shown_waiting(&page(name, &[], Format::Csv), 80);
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        // The example has no samples of its process, and no calls of MPI.
        let is_empty = matches!(name, PageName::Samples | PageName::Mpi);
        assert!(columns.len() > 1 || is_empty, "{}: {text}", name.id());
        assert!(columns.iter().all(|&n| n >= columns[0]), "{}: {text}", name.id());
    }
}
