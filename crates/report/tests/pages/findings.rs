//! Findings as people and programs see them.

use proust_findings::{
    Amount, Check, Figure, FigureId, Finding, Kind, Place, Sure, Victim, findings, thresholds,
};
use proust_profile::notes::{RunNote, Which};
use proust_profile::{ContextId, LocationId, Ns, Process, ProcessId, Profile};
use proust_query::Filter;
use proust_report::{
    Format, Grouping, Kept, PageName, Question, Style, derivation, explain_kind, explain_thresholds, render,
    render_with,
};
use serde::Deserialize;

use crate::example::profile;

fn finding() -> Finding {
    let place = |context, function: &str, line| Place {
        context: Some(context),
        function: Some(function.into()),
        file: Some("/src/solve.c".into()),
        line: Some(line),
        ..Place::default()
    };
    let check = |threshold: &str, value| Check { threshold: threshold.into(), value };
    Finding {
        kind: Kind::LockAcrossIo,
        account: "lock".into(),
        recoverable: Ns::from_seconds(0.75),
        lost: Ns::from_seconds(1.25),
        burned: Ns::from_seconds(0.125),
        beside: Ns::ZERO,
        low: Ns::from_seconds(0.25),
        high: Ns::from_seconds(0.5),
        on_path: None,
        error: Ns::from_seconds(0.01),
        cause: place(ContextId(8), "refine", 82),
        victims: vec![Victim {
            place: place(ContextId(5), "flux", 52),
            threads: 2,
            lost: Ns::from_seconds(1.25),
        }],
        evidence: vec![
            Figure::time(FigureId::WaitedForLock, Ns::from_seconds(1.25)),
            Figure::count(FigureId::SectionsWithWaiters, 1250.0),
            Figure::share(FigureId::ShareHeldInIo, 0.875),
            Figure::bytes(FigureId::BytesOfCall, 8.0),
        ],
        checks: vec![
            check("LEAST_SHARE", Amount::Share(0.25)),
            check("LOCK_IN_IO", Amount::Share(0.875)),
            check("LOCK_HOLDS", Amount::Count(1250.0)),
        ],
        sure: Sure::Certain,
        small: false,
        unnamed: false,
        processes: Vec::new(),
        library: None,
        awaited: None,
        handed_over: None,
        ranks: Vec::new(),
        lock: Some(0),
    }
}

fn shown(question: &Question, style: &Style) -> String {
    let (ledger, _) = findings(&profile(), None).unwrap();
    let other =
        Finding { kind: Kind::SerialPhase, recoverable: Ns::from_seconds(0.25), lock: None, ..finding() };
    let found = [finding(), other];
    let kept = Kept { findings: &found, ..Kept::new(&ledger) };
    render_with(&profile(), &kept, question, style).unwrap().page
}

#[test]
fn the_summary_shows_them() {
    let question = Question { dir: "solve.1.proust".into(), ..Question::default() };
    insta::assert_snapshot!("summary_with_findings_text", shown(&question, &Style::default()));
    let narrow = Style { width: 60, colour: false, unicode: false };
    let text = shown(&question, &narrow);
    assert!(text.is_ascii(), "{text}");
    let filtered = Question { filter: Filter::parse(&["thread=worker-0"]).unwrap(), ..question };
    let text = render(&profile(), &filtered, &Style::default()).unwrap().page;
    assert!(text.contains("seconds are the run's"), "{text}");
}

/// A build: a compiler for each of four files, a linker, and `make`, which is not at fault.
fn build() -> (Profile, [Finding; 3]) {
    let mut profile = profile();
    let process = |pid: u32, name: &str, file: &str| Process {
        pid,
        name: name.into(),
        arguments: vec![name.into(), file.into()],
        ..profile.processes[ProcessId(0)].clone()
    };
    let all = [
        process(77, "make", "all"),
        process(81, "cc1plus", "a.cc"),
        process(82, "cc1plus", "b.cc"),
        process(83, "cc1plus", "c.cc"),
        process(84, "cc1plus", "format-test.cc"),
        process(90, "ld", "test"),
    ];
    profile.processes = all.into_iter().collect();
    profile.locations[LocationId(1)].process = ProcessId(4);
    for (name, pid) in [("make", 77), ("cc1plus", 84)] {
        let process = Which { name: name.into(), pid };
        profile.quality.notes.push(RunNote::WaitsInSums { process, below_ns: 2_000 });
    }
    let of = |kind, seconds, processes: &[u32]| Finding {
        kind,
        recoverable: Ns::from_seconds(seconds),
        lock: None,
        processes: processes.iter().map(|&id| ProcessId(id)).collect(),
        ..finding()
    };
    let found = [
        of(Kind::SerialPhase, 0.75, &[4]),
        of(Kind::FaultChurn, 0.5, &[1, 2, 3, 4]),
        of(Kind::TinyIo, 0.25, &[4]),
    ];
    (profile, found)
}

fn of_build(question: &Question) -> String {
    let (profile, found) = build();
    let (ledger, _) = findings(&profile, None).unwrap();
    let kept = Kept { findings: &found, ..Kept::new(&ledger) };
    render_with(&profile, &kept, question, &Style::default()).unwrap().page
}

fn page_of_build(filter: &str, by: Option<Grouping>) -> String {
    let filters: Vec<&str> = Some(filter).filter(|filter| !filter.is_empty()).into_iter().collect();
    let filter = Filter::parse(&filters).unwrap();
    let (dir, page) = ("build.1.proust".into(), PageName::Findings);
    of_build(&Question { dir, page, filter, by, ..Question::default() })
}

#[test]
fn in_a_build_each_finding_says_whose_it_is() {
    insta::assert_snapshot!("findings_of_a_build_text", page_of_build("", None));
    let by = Some(Grouping::Processes);
    insta::assert_snapshot!("findings_of_a_build_by_process_text", page_of_build("", by));
    let text = page_of_build("", Some(Grouping::Programs));
    // All three are of the compiler; none stands there twice.
    assert_eq!(text.lines().filter(|line| *line == "cc1plus").count(), 1, "{text}");
    for handle in ["L1", "L2", "L3"] {
        assert_eq!(text.matches(&format!(" {handle}   ")).count(), 1, "{text}");
    }
}

#[test]
fn a_process_has_the_findings_that_concern_it() {
    let handles = |filter: &str| -> Vec<&str> {
        let text = page_of_build(filter, None);
        ["L1", "L2", "L3"].into_iter().filter(|handle| text.contains(&format!(" {handle} "))).collect()
    };
    assert_eq!(handles("process=p4"), ["L1", "L2", "L3"]);
    assert_eq!(handles("process=cc1plus"), ["L1", "L2", "L3"]);
    // A process without threads in this profile selects nothing, and no finding concerns it.
    assert!(handles("process=p5").is_empty() && handles("process=make").is_empty());
    let text = page_of_build("process=make", None);
    assert!(text.contains("none of the findings of the run concerns this part"), "{text}");
    // So has the summary, and the notes about it, and not those about others.
    let filter = Filter::parse(&["process=p4"]).unwrap();
    let summary = of_build(&Question { filter, ..Question::default() });
    assert!(summary.contains("in cc1plus format-test.cc (p4)"), "{summary}");
    assert!(summary.contains("cc1plus (pid 84)") && !summary.contains("make (pid 77)"), "{summary}");
    let summary = of_build(&Question::default());
    let flowing = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("make (pid 77)") && flowing.contains("likewise"), "{summary}");
}

#[test]
fn a_derivation_shows_numbers_formula_and_thresholds() {
    let (ledger, _) = findings(&profile(), None).unwrap();
    let of = |number| derivation(&ledger, &[finding()], number, "a run", &Style::default());
    insta::assert_snapshot!("derivation_text", of(1).unwrap());
    assert_eq!((of(0), of(2)), (None, None));
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Summary {
    findings: Vec<Row>,
}

/// The contract: a field that is missing, or of another type, does not parse.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Row {
    handle: String,
    kind: String,
    account: String,
    seconds: f64,
    lost_s: f64,
    low_s: f64,
    high_s: f64,
    library: Option<String>,
    error_s: f64,
    title: String,
    cause: PlaceRow,
    victims: Vec<VictimRow>,
    processes: Vec<ProcessRow>,
    evidence: Vec<FigureRow>,
    advice: String,
    sure: String,
    why_sure: String,
    formula: String,
    checks: Vec<CheckRow>,
    next: Vec<String>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct PlaceRow {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    handle: Option<String>,
    thread: Option<String>,
    process: Option<String>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct ProcessRow {
    handle: String,
    program: String,
    pid: u32,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct VictimRow {
    #[serde(flatten)]
    place: PlaceRow,
    threads: u64,
    seconds: f64,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct FigureRow {
    id: String,
    what: String,
    value: f64,
    unit: String,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct CheckRow {
    threshold: String,
    what: String,
    value: f64,
    limit: f64,
    at_least: bool,
    unit: String,
}

#[test]
fn the_contract_has_every_field() {
    let question = Question { format: Format::Json, ..Question::default() };
    let page: Summary = serde_json::from_str(&shown(&question, &Style::default())).unwrap();
    let first = &page.findings[0];
    assert_eq!((first.handle.as_str(), first.kind.as_str(), first.seconds), ("L1", "lock-across-io", 0.75));
    assert_eq!((first.cause.function.as_deref(), first.cause.line), (Some("refine"), Some(82)));
    assert_eq!((first.victims[0].threads, first.checks.len(), page.findings.len()), (2, 3, 2));
    assert!(first.next.iter().any(|command| command.ends_with("locks k0")), "{:?}", first.next);
}

#[test]
fn every_kind_and_every_threshold_is_explained() {
    let style = Style::default();
    for kind in Kind::ALL {
        let text = explain_kind(kind.id(), &style).unwrap();
        assert!(text.contains(kind.id()) && text.contains("lost ="), "{text}");
    }
    assert_eq!(explain_kind("nothing", &style), None);
    let text = explain_thresholds(&style);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(thresholds::ALL.iter().all(|threshold| text.contains(threshold.means)), "{text}");
}
