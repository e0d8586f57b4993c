//! Pages of a comparison: the example before and after it learned to wait.

use proust_account::ledger::IoAs;
use proust_compare::diff::Limit;
use proust_compare::scaling::{Ensemble, Swept};
use proust_compare::sweeps::TwoSweeps;
use proust_compare::{ComparedRun, Diff};
use proust_findings::findings;
use proust_profile::{ContextId, LocationId, Metric, Ns, Profile};
use proust_query::{Measure, Metrics};
use proust_report::SweepNote;
use proust_report::{
    DiffPage, DiffQuestion, Format, Style, SweepDiffQuestion, render_diff, render_diffs, render_sweep_diff,
};
use serde_json::Value;

use crate::example::{profile, waiting};

fn run(mut profile: Profile, dir: &str, question: &DiffQuestion) -> ComparedRun {
    profile.facts.dir = dir.into();
    let (ledger, found) = findings(&profile, None).unwrap();
    ComparedRun::new(&profile, &ledger, found, &question.measures(), &[])
}

/// The example that waits, in which `refine` needs half of the time in its inner depth.
fn faster() -> Profile {
    let mut profile = waiting();
    profile.samples.edit(|samples| {
        for row in samples.iter_mut().filter(|row| row.context == ContextId(10)) {
            (row.cpu_ns, row.user_ns, row.system_ns) = (row.cpu_ns / 2, row.user_ns / 2, row.system_ns / 2);
            row.voluntary_switches = 1;
        }
    });
    for value in profile.values.iter_mut().filter(|value| value.context == ContextId(10)) {
        if matches!(value.metric, Metric::Cpu | Metric::User | Metric::System) {
            value.amount /= 2;
        }
    }
    profile.locations[LocationId(1)].cpu -= Ns::from_seconds(0.25);
    profile
}

fn question(page: DiffPage, arguments: &[&str], format: Format) -> DiffQuestion {
    DiffQuestion {
        names: vec!["before.proust".into(), "after.proust".into()],
        page,
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        format,
        ..DiffQuestion::default()
    }
}

fn shown_between(a: &[Profile], b: &[Profile], mut question: DiffQuestion, style: &Style) -> String {
    let side = |profiles: &[Profile], name: &str| -> Vec<ComparedRun> {
        profiles
            .iter()
            .enumerate()
            .map(|(n, p)| run(p.clone(), &format!("{name}.{}", n + 1), &question))
            .collect()
    };
    let (a, b) = (side(a, "before"), side(b, "after"));
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let limits = ["wall>+5%", "lock>5%", "io>+0.1s"].map(|text| Limit::parse(text).unwrap());
    question.exceeded = vec![diff.exceeded(&limits)];
    render_diff(&diff, &question, style).unwrap()
}

fn shown(question: DiffQuestion) -> String {
    shown_between(&[profile()], &[faster()], question, &Style::default())
}

/// Pages with what they take.
const PAGES: [(DiffPage, &[&str]); 6] = [
    (DiffPage::Summary, &[]),
    (DiffPage::Ledger, &[]),
    (DiffPage::Tree, &[]),
    (DiffPage::Flat, &[]),
    (DiffPage::Callers, &["refine"]),
    (DiffPage::Threads, &[]),
];

#[test]
fn texts() {
    for (page, arguments) in PAGES {
        let text = shown(question(page, arguments, Format::Text));
        insta::assert_snapshot!(format!("diff_{}_text", page.id()), text);
    }
    let several = question(DiffPage::Summary, &[], Format::Text);
    let text = shown_between(&[profile(), profile()], &[faster(), faster()], several, &Style::default());
    insta::assert_snapshot!("diff_of_repetitions_text", text);
    let quantities = ["lock_s", "io_calls"].map(|id| Measure::from_id(id).unwrap().into()).to_vec();
    let chosen = DiffQuestion { quantities, ..question(DiffPage::Flat, &[], Format::Text) };
    insta::assert_snapshot!("diff_metrics_text", shown(chosen));
}

/// A ratio of a side is that of its sums, in every row; where a divisor is zero there is none.
#[test]
fn derived_metrics_are_compared_as_ratios_of_sums() {
    let metrics = Metrics::defined(["rate=samples/cpu_s", "kernel=system_s/cpu_s"]).unwrap();
    for page in [DiffPage::Flat, DiffPage::Tree] {
        let asked = DiffQuestion { metrics: metrics.clone(), ..question(page, &[], Format::Json) };
        let json: Value = serde_json::from_str(&shown(asked)).unwrap();
        let heads = json["metrics"].as_array().unwrap();
        let head = heads.iter().find(|head| head["id"] == "rate").unwrap();
        assert_eq!((&head["unit"], &head["expression"]), (&"count/s".into(), &"samples/cpu_s".into()));
        let asked = metrics.find("samples").into_iter().chain(metrics.find("cpu_s"));
        let quantities = asked.chain(metrics.find("rate")).collect();
        let asked = DiffQuestion { quantities, ..question(page, &[], Format::Json) };
        let json: Value = serde_json::from_str(&shown(asked)).unwrap();
        let rows = ["functions", "contexts"].iter().find_map(|rows| json[rows].as_array()).unwrap();
        let (mut with, mut without) = (0, 0);
        for row in rows {
            for (which, side) in
                ["inclusive", "exclusive"].into_iter().zip(["a", "b"]).chain([("inclusive", "b")])
            {
                let of = |id: &str| row["metrics"][id][which][side].as_f64();
                let Some(cpu_s) = of("cpu_s").filter(|&cpu_s| cpu_s > 0.0) else {
                    without += usize::from(of("rate").is_none());
                    continue;
                };
                let expected = of("samples").unwrap_or(0.0) / cpu_s;
                assert!((of("rate").unwrap() - expected).abs() < 1e-9 * expected, "{row:#}");
                with += 1;
            }
        }
        assert!(with > 5 && without > 0, "{with} with, {without} without");
    }
    let quantities = ["rate", "samples", "cpu_s"].iter().filter_map(|id| metrics.find(id)).collect();
    let flat = shown(DiffQuestion { quantities, ..question(DiffPage::Flat, &[], Format::Json) });
    let totals = &serde_json::from_str::<Value>(&flat).unwrap()["totals"];
    for side in ["a", "b"] {
        let of = |id: &str| totals[id][side].as_f64().unwrap();
        assert!((of("rate") - of("samples") / of("cpu_s")).abs() < 1e-9 * of("rate"), "{totals:#}");
    }
    assert!(totals["rate"]["delta"].as_f64().unwrap() > 10.0, "{totals:#}");
    for page in [DiffPage::Flat, DiffPage::Tree, DiffPage::Summary] {
        for format in [Format::Text, Format::Csv] {
            let shown = shown(DiffQuestion { metrics: metrics.clone(), ..question(page, &[], format) });
            assert!(!shown.contains("NaN"), "{shown}");
        }
    }
    // Rates of functions have no sum, and those that are cut have none.
    let quantities = vec![metrics.find("rate").unwrap()];
    let of = question(DiffPage::Flat, &[], Format::Text);
    let cut = DiffQuestion { metrics, quantities, limit: Some(2), ..of };
    let text = shown(cut);
    assert!(text.contains("of the whole program") && !text.contains(" sum"), "{text}");
    // Nothing stands in the columns of the row of what is cut.
    let is_cut = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|word| word.parse::<u32>().is_ok()) && words.next() == Some("more")
    };
    assert_eq!(text.lines().filter(is_cut).count(), 1, "{text}");
}

/// Three sides: the example that waits, the same with a faster `refine`, and the one that does not wait.
fn shown_of_three(mut question: DiffQuestion, style: &Style) -> String {
    question.names.push("other.proust".into());
    let side = |profile, name: &str| vec![run(profile, name, &question)];
    let (a, b) = (side(waiting(), "before.1"), side(faster(), "after.1"));
    let c = side(profile(), "other.1");
    let diffs = Diff::of_sides(&a, &[&b, &c], IoAs::Productive).unwrap();
    let limits = ["wall>+5%"].map(|text| Limit::parse(text).unwrap());
    question.exceeded = diffs.iter().map(|diff| diff.exceeded(&limits)).collect();
    render_diffs(&diffs, &question, style).unwrap()
}

#[test]
fn texts_of_three_sides() {
    for (page, arguments) in PAGES {
        let question = question(page, arguments, Format::Text);
        let text = shown_of_three(question.clone(), &Style::default());
        insta::assert_snapshot!(format!("diff_of_three_{}_text", page.id()), text);
        let plain = shown_of_three(question, &Style { width: 60, colour: false, unicode: false });
        assert!(plain.is_ascii(), "{plain}");
    }
}

/// What is said of a side beside others is what is said of it alone: only ids of contexts are other ones.
#[test]
fn each_side_is_as_it_is_alone() {
    fn without_ids(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for id in ["id", "parent", "side", "name"] {
                    fields.remove(id);
                }
                fields.values_mut().for_each(without_ids);
            }
            Value::Array(list) => {
                list.iter_mut().for_each(without_ids);
                list.sort_by_key(|value| value.to_string());
            }
            _ => {}
        }
    }
    for (page, arguments) in PAGES {
        let text = shown_of_three(question(page, arguments, Format::Json), &Style::default());
        let mut three: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(three["schema"], 1);
        assert_eq!(
            (&three["comparisons"][0]["side"], &three["comparisons"][1]["side"]),
            (&"B".into(), &"C".into())
        );
        assert_eq!(three["comparisons"][1]["name"], "other.proust");
        let mut asked = question(page, arguments, Format::Json);
        let side = |profile, name: &str| vec![run(profile, name, &asked)];
        let (a, b) = (side(waiting(), "before.1"), side(faster(), "after.1"));
        let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
        asked.exceeded = vec![diff.exceeded(&[Limit::parse("wall>+5%").unwrap()])];
        let mut alone: Value =
            serde_json::from_str(&render_diff(&diff, &asked, &Style::default()).unwrap()).unwrap();
        let mut beside = three["comparisons"][0].take();
        without_ids(&mut alone);
        without_ids(&mut beside);
        assert_eq!(beside, alone, "{}", page.id());
    }
}

#[test]
fn a_table_of_three_sides_names_the_side_first() {
    for (page, arguments) in PAGES {
        let text = shown_of_three(question(page, arguments, Format::Csv), &Style::default());
        let rows: Vec<&str> = text.lines().collect();
        let columns = rows[0].split(',').count();
        assert!(rows[0].starts_with("side,"), "{text}");
        assert!(rows[1..].iter().all(|row| row.split(',').count() == columns), "{text}");
        for side in ["B,", "C,"] {
            assert!(rows.iter().any(|row| row.starts_with(side)), "{}: {text}", page.id());
        }
        assert_eq!(rows.iter().filter(|row| row.starts_with("side,")).count(), 1);
    }
}

#[test]
fn a_narrow_plain_terminal() {
    let style = Style { width: 60, colour: false, unicode: false };
    for (page, arguments) in PAGES {
        let text = shown_between(&[profile()], &[faster()], question(page, arguments, Format::Text), &style);
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn jsons() {
    for (page, arguments) in PAGES {
        let text = shown(question(page, arguments, Format::Json));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema"], 1);
        insta::assert_json_snapshot!(format!("diff_{}_json", page.id()), value);
    }
}

#[test]
fn tables_for_spreadsheets() {
    for (page, arguments) in PAGES {
        let text = shown(question(page, arguments, Format::Csv));
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.len() > 1 && columns.iter().all(|&n| n == columns[0]), "{}: {text}", page.id());
    }
    insta::assert_snapshot!("diff_flat_csv", shown(question(DiffPage::Flat, &[], Format::Csv)));
}

/// Two sweeps: before, everybody waits with one thread and nobody with two; after, it is the other way round,
/// and not with four.
fn sweeps_shown(format: Format) -> String {
    let swept = |count: u32, profile: &Profile| {
        let (ledger, _) = findings(profile, None).unwrap();
        Swept::new(count, &format!("threads-{count}.1"), profile, &ledger)
    };
    let before = [swept(1, &waiting()), swept(2, &profile())];
    let after = [swept(1, &profile()), swept(2, &waiting()), swept(4, &profile())];
    let (a, b) = (Ensemble::new(&before), Ensemble::new(&after));
    let question = SweepDiffQuestion {
        names: ["old.sweep".into(), "new.sweep".into()],
        commands: [vec!["./solve".into()], vec!["./solve".into()]],
        paper: true,
        format,
        notes: vec![SweepNote::RunsMissing { sweep: "old.sweep".into(), runs: 1 }],
        ..SweepDiffQuestion::default()
    };
    render_sweep_diff(&TwoSweeps::new(&a, &b), &question, &Style::default())
}

#[test]
fn two_sweeps() {
    insta::assert_snapshot!("diff_sweeps_text", sweeps_shown(Format::Text));
    insta::assert_snapshot!("diff_sweeps_csv", sweeps_shown(Format::Csv));
    let value: Value = serde_json::from_str(&sweeps_shown(Format::Json)).unwrap();
    insta::assert_json_snapshot!("diff_sweeps_json", value);
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {value:#}"))
}

fn sum(rows: &Value, path: &str) -> f64 {
    rows.as_array().unwrap().iter().map(|row| row.pointer(path).map_or(0.0, |n| n.as_f64().unwrap())).sum()
}

#[test]
fn differences_sum_up() {
    let page = |page| -> Value { serde_json::from_str(&shown(question(page, &[], Format::Json))).unwrap() };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    let ledger = page(DiffPage::Ledger);
    close(sum(&ledger["ledger"]["accounts"], "/seconds/delta"), number(&ledger, "/ledger/total_s/delta"));
    let flat = page(DiffPage::Flat);
    let cpu = "/metrics/cpu_s/exclusive/delta";
    close(sum(&flat["functions"], cpu), number(&flat, "/totals/cpu_s/delta"));
    close(number(&flat, "/totals/cpu_s/delta"), -0.25);
    let tree = page(DiffPage::Tree);
    close(number(&tree, "/contexts/0/metrics/cpu_s/inclusive/delta"), -0.25);
    let threads = page(DiffPage::Threads);
    close(sum(&threads["threads"], "/cpu_s/delta"), -0.25);
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for (page, arguments) in PAGES {
        let json = question(page, arguments, Format::Json);
        let text = shown_between(&[waiting()], &[waiting()], json, &Style::default());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["cautions"].as_array().unwrap().iter().any(|caution| caution["id"] == "same-run"));
        let mut found = 0;
        let mut stack = vec![&value];
        while let Some(value) = stack.pop() {
            if let Some(verdict) = value.get("verdict") {
                assert_eq!((verdict.as_str(), number(value, "/delta")), (Some("same"), 0.0), "{value:#}");
                found += 1;
            }
            match value {
                Value::Object(map) => stack.extend(map.values()),
                Value::Array(list) => stack.extend(list),
                _ => {}
            }
        }
        assert!(found > 0, "{}", page.id());
    }
}

#[test]
fn what_is_asked_wrong_is_told() {
    let a = [run(profile(), "a", &DiffQuestion::default())];
    let diff = Diff::new(&a, &a, IoAs::Productive).unwrap();
    for (page, arguments, expected) in [
        (DiffPage::Flat, &["refine"][..], "takes no argument"),
        (DiffPage::Callers, &[][..], "takes one function"),
        (DiffPage::Callers, &["refined"][..], "did you mean refine"),
    ] {
        let error = render_diff(&diff, &question(page, arguments, Format::Text), &Style::default());
        let message = error.expect_err("it is wrong").to_string();
        assert!(message.contains(expected), "{message}");
    }
}
