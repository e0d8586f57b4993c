//! Questions of all kinds, wrong ones among them.

use std::io;
use std::num::NonZeroUsize;

use proust_account::accounted;
use proust_account::blame::BesideRows;
use proust_account::ledger::Account;
use proust_account::stored::StoredTimelines;
use proust_findings::Whole;
use proust_profile::{ContextId, Events, FunctionId, LocationId, Profile, Releases, Samples};
use proust_query::{Filter, Metrics, OperationSums};
use proust_report::{
    Column, Format, Kept, Orders, PageName, Question, ReportError, Sort, Style, Written, render, render_with,
    written,
};

use serde_json::Value;

use crate::example::{profile, waiting};

fn json(question: Question) -> serde_json::Value {
    let question = Question { format: Format::Json, ..question };
    serde_json::from_str(&render(&profile(), &question, &Style::default()).unwrap().page).unwrap()
}

fn error(question: Question) -> String {
    let error = render(&profile(), &question, &Style::default()).unwrap_err();
    let usage = matches!(error, ReportError::Usage(_));
    format!("{}: {error}", if usage { "usage" } else { "error" })
}

fn about(page: PageName, arguments: &[&str]) -> Question {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Question { page, arguments, ..Question::default() }
}

#[test]
fn an_empty_run_has_all_pages() {
    for &page in PageName::ALL {
        for format in [Format::Text, Format::Json, Format::Csv] {
            let question = Question { page, format, ..Question::default() };
            let page = render(&Profile::default(), &question, &Style::default()).unwrap().page;
            assert!(!page.is_empty() && !page.contains("NaN") && !page.contains("inf "), "{page}");
        }
    }
}

#[test]
fn statistics_are_over_all_threads() {
    let columns = Column::parse_list("cpu_s:max|min|mean|imbalance", &Metrics::default()).unwrap();
    let flat = json(Question { columns, ..about(PageName::Flat, &[]) });
    assert_eq!(flat["metrics"][0]["over"], "max");
    let rows = flat["functions"].as_array().unwrap();
    let solve = &rows.iter().find(|row| row["function"] == "solve").unwrap()["metrics"];
    assert_eq!(solve["cpu_s:max"]["inclusive"], 2.0);
    assert_eq!(solve["cpu_s:max"]["location"], "t1");
    assert_eq!(solve["cpu_s:min"]["inclusive"], 0.0);
    assert_eq!(solve["cpu_s:mean"]["inclusive"], 1.0);
    assert_eq!(solve["cpu_s:imbalance"]["inclusive"], 1.0);
}

#[test]
fn rows_are_sorted_and_cut_and_the_rest_is_told() {
    let by_inclusive = Some(Sort::parse("cpu_s:inclusive", &Metrics::default()).unwrap());
    let flat = json(Question { limit: Some(2), sort: by_inclusive, ..about(PageName::Flat, &[]) });
    let names: Vec<&str> =
        flat["functions"].as_array().unwrap().iter().map(|row| row["function"].as_str().unwrap()).collect();
    assert_eq!(names, ["solve", "refine"]);
    assert_eq!((flat["cut"]["rows"].as_u64(), flat["cut"]["amount"].as_f64()), (Some(4), Some(1.5)));
    let tree = json(Question { limit: Some(3), ..about(PageName::Tree, &[]) });
    let kept: Vec<u64> =
        tree["contexts"].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert_eq!(kept, [0, 4, 7]);
}

#[test]
fn what_a_page_cannot_be_sorted_by_it_says() {
    let sorted = |page, by: &str| Question {
        sort: Some(Sort::parse(by, &Metrics::default()).unwrap()),
        ..about(page, &[])
    };
    for &page in PageName::ALL {
        let words: &[&str] = match page.spec().orders {
            Orders::Own => &[],
            Orders::Some(words) => words,
            Orders::All => &["name", "caused", "cpu_s"],
        };
        for word in words {
            render(&profile(), &sorted(page, word), &Style::default()).unwrap();
        }
    }
    assert!(error(sorted(PageName::Ledger, "caused")).starts_with("usage: the page `ledger` has an order"));
    let message = error(sorted(PageName::Locks, "cpu_s"));
    assert!(message.ends_with("it can by name, caused_s, lock_s, waits"), "{message}");
}

#[test]
fn operations_are_sorted_as_asked() {
    let mut profile = waiting();
    let lock = profile.operations.iter().position(|info| info.name == "pthread_mutex_lock").unwrap();
    profile.events.edit(|events| {
        for event in events.iter_mut().filter(|event| event.operation.index() == lock) {
            event.calls = 500;
        }
    });
    let column = |by: &str, at: usize| -> Vec<String> {
        let sort = Some(Sort::parse(by, &Metrics::default()).unwrap());
        let question = Question { sort, format: Format::Csv, ..about(PageName::Waits, &[]) };
        let page = render(&profile, &question, &Style::default()).unwrap().page;
        page.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
    };
    let numbers = |by: &str, at: usize| -> Vec<f64> {
        column(by, at).iter().map(|text| text.parse().unwrap()).collect()
    };
    assert!(column("name", 0).len() > 1 && column("name", 0).is_sorted());
    // Operation, account, passive, objects, calls, errors, bytes, seconds.
    assert!(numbers("waits", 4).is_sorted_by(|a, b| a >= b));
    assert!(numbers("wall_s", 7).is_sorted_by(|a, b| a >= b));
    assert_ne!(column("waits", 0), column("wall_s", 0));
}

#[test]
fn filters_restrict_pages() {
    let filter = Filter::parse(&["thread=worker-*", "function=refine"]).unwrap();
    let flat = json(Question { filter, ..about(PageName::Flat, &[]) });
    assert_eq!(flat["totals"]["cpu_s"]["exclusive"], 1.5);
}

#[test]
fn a_range_of_time_recomputes_every_page() {
    let ask =
        |page, text: &str| json(Question { filter: Filter::parse(&[text]).unwrap(), ..about(page, &[]) });
    let seconds = |value: &serde_json::Value| (value.as_f64().unwrap() * 1e3).round() as i64;
    let summary = ask(PageName::Summary, "time=1s..2.75s");
    // One processor, as in the whole run; the last quarter of a second nobody worked.
    assert_eq!(summary["run"]["processors"], 1);
    assert_eq!((seconds(&summary["ledger"]["total_s"]), seconds(&summary["ledger"]["wall_s"])), (1750, 1750));
    let account = |id: &str| {
        let accounts = summary["ledger"]["accounts"].as_array().unwrap();
        seconds(&accounts.iter().find(|row| row["id"] == id).unwrap()["seconds"])
    };
    assert_eq!((account("compute"), account("measurement"), account("asleep")), (1497, 3, 250));
    assert_eq!(summary["quality"]["samples"], 300);
    assert_eq!(seconds(&summary["cpu_s"]), 1500);
    let threads = ask(PageName::Threads, "time=1s..2.75s");
    for row in threads["locations"].as_array().unwrap() {
        assert_eq!(seconds(&row["wall_s"]), 1750);
    }
    assert_eq!(seconds(&threads["locations"][1]["cpu_s"]), 1500);
    // Before it began a thread is not there.
    assert_eq!(ask(PageName::Threads, "time=..0.4s")["locations"].as_array().unwrap().len(), 1);
    let timeline = ask(PageName::Timeline, "time=0.4s..0.6s,0.9s..1.1s and thread=worker-0");
    let spans = timeline["locations"][0]["spans"].as_array().unwrap();
    let borders: Vec<_> =
        spans.iter().map(|row| (seconds(&row["start_s"]), seconds(&row["end_s"]))).collect();
    assert_eq!(borders, [(500, 600), (900, 1000), (1000, 1100)]);
}

#[test]
fn the_ledger_of_some_threads_is_what_they_spent() {
    let filter = Filter::parse(&["thread=worker-0"]).unwrap();
    let ledger = json(Question { filter, ..about(PageName::Ledger, &[]) });
    assert_eq!(ledger["ledger"]["total_s"], 2.0);
    assert_eq!(
        (ledger["owners"].as_array().unwrap().len(), ledger["ledger"]["processors"].as_u64()),
        (0, Some(0))
    );
    assert!(ledger["notes"][0].as_str().unwrap().contains("empty slots belong to all threads"));
    // All of a run's threads have its slots.
    let filter = Filter::parse(&["process=solve"]).unwrap();
    let ledger = json(Question { filter, ..about(PageName::Ledger, &[]) });
    assert_eq!(
        (ledger["ledger"]["total_s"].as_f64(), ledger["owners"][0]["total_s"].as_f64()),
        (Some(3.0), Some(3.0))
    );
}

#[test]
fn processors_can_be_given_and_io_can_be_lost() {
    let summary = json(Question { processors: Some(4), ..about(PageName::Summary, &[]) });
    assert_eq!(
        (summary["ledger"]["total_s"].as_f64(), summary["run"]["processors"].as_u64()),
        (Some(12.0), Some(4))
    );
    assert_eq!(summary["ledger"]["processors_given"], true);
    let mut account = proust_account::accounted::ledger(&profile()).unwrap();
    let compute = std::mem::take(&mut account.accounts[proust_account::ledger::Account::Compute]);
    account.accounts[proust_account::ledger::Account::Io] = compute;
    let with = |io_as| {
        let question = Question { io_as, format: Format::Json, ..Question::default() };
        let kept = Kept::new(&account);
        let page = render_with(&profile(), &kept, &question, &Style::default()).unwrap().page;
        serde_json::from_str::<serde_json::Value>(&page).unwrap()["ledger"]["productive_s"].as_f64()
    };
    use proust_account::ledger::IoAs;
    assert_eq!((with(IoAs::Productive), with(IoAs::Lost)), (Some(2.495), Some(0.0)));
}

#[test]
fn wrong_questions_are_told_apart() {
    assert!(error(about(PageName::Tree, &["refine"])).starts_with("usage: `tree` takes one context"));
    assert!(error(about(PageName::Tree, &["c99"])).starts_with("error: there is no context c99"));
    assert!(error(about(PageName::Callers, &["refin"])).contains("did you mean refine?"));
    assert!(error(about(PageName::Callers, &["a", "b"])).starts_with("usage: "));
    assert!(error(about(PageName::Flat, &["x"])).starts_with("usage: the page `flat` takes no argument"));
    assert!(
        Column::parse_list("cpu_x", &Metrics::default())
            .unwrap_err()
            .to_string()
            .contains("did you mean `cpu_s`?")
    );
    assert!(
        Column::parse_list("cpu_s:median", &Metrics::default())
            .unwrap_err()
            .to_string()
            .contains("no statistic `median`")
    );
    assert!(
        Sort::parse("beauty", &Metrics::default()).unwrap_err().to_string().contains("no metric `beauty`")
    );
}

#[test]
fn long_names_are_cut_in_text_only() {
    let mut profile = profile();
    let long = "name_".repeat(100);
    profile.functions[FunctionId(4)].name = long.clone();
    let page = |format| {
        let question = Question { format, ..about(PageName::Flat, &[]) };
        render(&profile, &question, &Style::default()).unwrap().page
    };
    assert!(page(Format::Text).lines().all(|line| line.chars().count() <= 100));
    assert!(!page(Format::Text).contains(&long) && page(Format::Json).contains(&long));
}

/// The run with a function of many source lines and many small callees.
fn wide() -> Profile {
    let mut profile = profile();
    let frame = |parent, kind, function, line| proust_profile::Context {
        parent: Some(parent),
        kind,
        function: Some(function),
        file: Some("/src/main.c".into()),
        line: Some(line),
    };
    let spend = |profile: &mut Profile, context, ms: u64| {
        let value =
            |metric, amount| proust_profile::Value { context, location: LocationId(0), metric, amount };
        profile.values.push(value(proust_profile::Metric::Cpu, ms * 1_000_000));
    };
    for n in 0..100_u32 {
        let function = profile.functions.len() as u32;
        profile.functions.push(proust_profile::Function { name: format!("small_{n}"), ..Default::default() });
        let id = profile.contexts.len() as u32;
        profile.contexts.push(frame(
            ContextId(2),
            proust_profile::ContextKind::Frame,
            FunctionId(function),
            100 + n,
        ));
        spend(&mut profile, ContextId(id), 40);
        profile.contexts.push(frame(ContextId(2), proust_profile::ContextKind::Line, FunctionId(1), 300 + n));
        spend(&mut profile, ContextId(id + 1), if n < 3 { 200 } else { 1 });
    }
    profile
}

#[test]
fn a_long_tree_shows_the_heaviest_rows_with_all_they_are_below() {
    let text = |question: Question| render(&wide(), &question, &Style::default()).unwrap().page;
    let rows = |text: &str| text.lines().filter(|line| line.contains("  c")).count() - 1;
    let usual = text(about(PageName::Tree, &[]));
    assert_eq!(rows(&usual), 40, "{usual}");
    // Lines of at least 2 % in functions that have several; the smaller ones are in the function's own time.
    assert!(usual.contains("line main.c:300") && usual.contains("line main.c:302"), "{usual}");
    assert!(!usual.contains("line main.c:303") && !usual.contains("line flux.h:7"), "{usual}");
    assert!(usual.contains("more rows are not shown: --limit") && usual.contains("see tree c2."), "{usual}");
    let short = text(Question { rows: Some(6), ..about(PageName::Tree, &[]) });
    assert_eq!(rows(&short), 6, "{short}");
    // The hot path goes first: down to `prepare`, which now has most.
    assert!(short.contains("prepare"), "{short}");
    let all = text(Question { limit: Some(1000), ..about(PageName::Tree, &[]) });
    assert!(all.contains("line flux.h:7") && all.contains("small_99") && !all.contains("not shown"), "{all}");
}

#[test]
fn json_always_has_the_usual_metrics_and_one_zero() {
    let mut profile = profile();
    profile.values.retain(|value| value.metric == proust_profile::Metric::Cpu);
    let page = |name, arguments: &[&str], format| {
        let question = Question { format, ..about(name, arguments) };
        render(&profile, &question, &Style::default()).unwrap().page
    };
    for (name, arguments, rows) in [
        (PageName::Tree, &[][..], "contexts"),
        (PageName::Flat, &[][..], "functions"),
        (PageName::Callers, &[][..], "callers"),
        (PageName::Callers, &["refine"][..], "callees"),
    ] {
        let text = page(name, arguments, Format::Json);
        assert!(!text.contains("-0.0"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        for row in json[rows].as_array().unwrap() {
            for metric in ["cpu_s", "user_s", "system_s", "samples"] {
                assert!(row["metrics"][metric]["inclusive"].is_number(), "{metric}: {row}");
            }
        }
    }
    let summary = page(PageName::Summary, &[], Format::Json);
    assert!(summary.contains("\"system_s\":0.0"), "{summary}");
    // People are spared columns in which nothing stands.
    assert!(!page(PageName::Flat, &[], Format::Text).contains("system"));
}

#[test]
fn what_is_kept_of_a_run_shows_the_same_pages_without_its_operations() {
    for profile in [profile(), waiting(), Profile::default()] {
        let Whole { ledger, blame, operations, findings } = Whole::of(&profile, None).unwrap();
        let written = serde_json::to_vec(&(BesideRows::of(&blame), operations)).unwrap();
        let (beside, operations): (BesideRows, OperationSums) = serde_json::from_slice(&written).unwrap();
        assert!(operations.fits(&profile));
        let blame = beside.with(blame.rows, &profile);
        assert!(blame.is_some());
        let (blame, operations) = (blame.as_ref(), Some(&operations));
        let timelines = StoredTimelines::of(&profile);
        let timelines = Some(&timelines);
        let summaries = None;
        let kept = Kept { ledger: &ledger, findings: &findings, blame, operations, timelines, summaries };
        let (events, releases) = (Events::default(), Releases::default());
        let rest = Profile { samples: Samples::default(), events, releases, ..profile.clone() };
        for page in [PageName::Io, PageName::Waits, PageName::Locks, PageName::Timeline] {
            for format in [Format::Text, Format::Json, Format::Csv] {
                let question = Question { page, format, ..Question::default() };
                assert!(!question.needs_samples());
                let style = Style::default();
                let shown = render_with(&rest, &kept, &question, &style).unwrap();
                assert_eq!(shown, render(&profile, &question, &style).unwrap());
            }
        }
        // Of a range of time the stored timelines have the account, too.
        for filter in ["time=0.4s..0.9s", "time=0.4s..0.6s,0.9s..1.1s and thread=worker-0", "state=lock"] {
            for format in [Format::Text, Format::Json, Format::Csv] {
                let filter = Filter::parse(&[filter]).unwrap();
                let question = Question { page: PageName::Timeline, format, filter, ..Question::default() };
                let style = Style::default();
                let shown = render_with(&profile, &kept, &question, &style).unwrap();
                assert_eq!(shown, render(&profile, &question, &style).unwrap());
            }
        }
    }
}

/// The picture is made of sums, JSON of spans: they agree cell by cell.
/// The largest piece that was written at once, and all pieces.
#[derive(Default)]
struct Pieces {
    largest_bytes: usize,
    text: Vec<u8>,
    /// After so many bytes nothing more is taken.
    room_bytes: Option<usize>,
}

impl io::Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.room_bytes.is_some_and(|room| self.text.len() + piece.len() > room) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.largest_bytes = self.largest_bytes.max(piece.len());
        self.text.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A timeline has more spans than memory holds: none waits for another one to be written.
#[test]
fn a_timeline_is_written_span_by_span() {
    let (profile, style) = (waiting(), Style::default());
    for format in [Format::Json, Format::Csv] {
        for depth in [None, NonZeroUsize::new(2)] {
            let question = Question { page: PageName::Timeline, format, depth, ..Question::default() };
            let whole = render(&profile, &question, &style).unwrap().page;
            let mut shown = 0;
            let mut show = |page: &Written<'_>| {
                let mut to = Pieces::default();
                page.write(&mut to).unwrap();
                assert_eq!(String::from_utf8(to.text).unwrap(), whole);
                assert!(to.largest_bytes < 200, "{} of {}", to.largest_bytes, whole.len());
                // A reader that has seen enough ends it, too.
                let mut half = Pieces { room_bytes: Some(whole.len() / 2), ..Pieces::default() };
                assert_eq!(page.write(&mut half).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
                shown += 1;
            };
            written(&profile, None, &question, &style, &mut show).unwrap();
            assert_eq!(shown, 1);
        }
    }
}

#[test]
fn the_letters_of_the_timeline_stand_for_its_spans() {
    let page = |format| {
        let question = Question { page: PageName::Timeline, format, ..Question::default() };
        render(&waiting(), &question, &Style::default()).unwrap().page
    };
    let timeline: Value = serde_json::from_str(&page(Format::Json)).unwrap();
    let end_s = timeline["end_s"].as_f64().unwrap();
    let text = page(Format::Text);
    let mut cells = 0;
    for location in timeline["locations"].as_array().unwrap() {
        let handle = format!(" {} ", location["handle"].as_str().unwrap());
        let line = text.lines().find(|line| line.starts_with(&handle)).unwrap();
        let axis = text.lines().find(|line| line.contains("CPU %")).unwrap();
        let before = axis.find("CPU %").unwrap() + "CPU %".len() + 2;
        let width = axis.len() - before;
        for (n, letter) in line.chars().skip(before).enumerate().filter(|(_, letter)| *letter != ' ') {
            let middle_s = (n as f64 + 0.5) * end_s / width as f64;
            let spans = location["spans"].as_array().unwrap();
            let around = |from: f64, to: f64| {
                let is_there = |span: &&Value| {
                    span["start_s"].as_f64().unwrap() <= from && span["end_s"].as_f64().unwrap() >= to
                };
                spans.iter().find(is_there)
            };
            // Where one span without parts fills the cell, its letter stands there.
            let half_s = 0.6 * end_s / width as f64;
            if let Some(span) =
                around(middle_s - half_s, middle_s + half_s).filter(|s| s.get("parts").is_none())
            {
                let is_active = span["account"].is_string();
                assert_eq!(letter.is_uppercase(), is_active, "{handle}: {n}: {span}\n{text}");
                let id = span["account"].as_str().or(span["passive"].as_str()).unwrap();
                let id = if id == "unknown" { "blocked, reason not known" } else { id };
                assert!(text.contains(&format!(" {letter} {id} ")), "{handle}: {n}: {span}\n{text}");
                cells += 1;
            }
        }
    }
    assert!(cells > 50, "{cells} cells are of one span only\n{text}");
}

#[test]
fn what_is_kept_of_another_run_is_not_taken() {
    let Whole { blame, operations, .. } = Whole::of(&waiting(), None).unwrap();
    assert!(!operations.fits(&Profile::default()));
    assert!(BesideRows::of(&blame).with(blame.rows, &Profile::default()).is_none());
}

#[test]
fn the_note_on_estimated_faults_stands_where_their_row_does() {
    let profile = waiting();
    let mut ledger = accounted::ledger(&profile).unwrap();
    let question = Question { page: PageName::Summary, ..Question::default() };
    for (ns, is_shown) in [(0, false), (20_000, false), (5_000_000, true)] {
        ledger.accounts[Account::Fault] = ns;
        let text = render_with(&profile, &Kept::new(&ledger), &question, &Style::default()).unwrap().page;
        let has_row = text.lines().any(|line| line.starts_with(" fault "));
        assert_eq!((has_row, text.contains("fault is an estimate")), (is_shown, is_shown), "{ns} ns: {text}");
    }
}
