//! Findings as people and programs see them.

use proust_findings::{Check, Figure, Finding, Kind, Place, Sure, Victim, findings, thresholds};
use proust_profile::ContextId;
use proust_query::Filter;
use proust_report::{
    Format, Kept, Question, Style, derivation, explain_kind, explain_thresholds, render, render_with,
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
        recoverable_s: 0.75,
        lost_s: 1.25,
        burned_s: 0.125,
        low_s: 0.25,
        high_s: 0.5,
        error_s: 0.01,
        cause: place(ContextId(8), "refine", 82),
        victims: vec![Victim { place: place(ContextId(5), "flux", 52), threads: 2, seconds: 1.25 }],
        evidence: vec![
            Figure::seconds("waited for this lock", 1.25),
            Figure::count("sections that ended while others waited", 1250.0),
            Figure::share("of the time held, in I/O", 0.875),
            Figure::new("moved by a call", 8.0, "bytes"),
        ],
        checks: vec![check("LEAST_SHARE", 0.25), check("LOCK_IN_IO", 0.875), check("LOCK_HOLDS", 1250.0)],
        sure: Sure::Certain,
        library: None,
        ranks: Vec::new(),
        lock: Some(0),
    }
}

fn shown(question: &Question, style: &Style) -> String {
    let (ledger, _) = findings(&profile(), None).unwrap();
    let other = Finding { kind: Kind::SerialPhase, recoverable_s: 0.25, lock: None, ..finding() };
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
    assert!(text.contains("without --where they are here"), "{text}");
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
struct VictimRow {
    #[serde(flatten)]
    place: PlaceRow,
    threads: u64,
    seconds: f64,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct FigureRow {
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
