//! The page `flat` by line and by module. The example says by its construction what is where.

use proust_query::Metrics;
use proust_report::{Column, Format, PageName, Question, RowsOf, Style, render};
use serde_json::Value;

use crate::example::{profile, waiting};

fn question(rows_of: RowsOf) -> Question {
    Question { page: PageName::Flat, rows_of, ..Question::default() }
}

fn json(profile: &proust_profile::Profile, question: &Question) -> Value {
    let question = Question { format: Format::Json, ..question.clone() };
    serde_json::from_str(&render(profile, &question, &Style::default()).unwrap().page).unwrap()
}

fn cpu_s(row: &Value, which: &str) -> f64 {
    row["metrics"]["cpu_s"].get(which).map_or(0.0, |amount| amount.as_f64().unwrap())
}

/// Inclusive and exclusive seconds of the row of this name.
fn of(page: &Value, name: &str) -> [f64; 2] {
    let rows = page["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {page}"));
    ["inclusive", "exclusive"].map(|which| cpu_s(row, which))
}

#[test]
fn what_is_on_a_path_several_times_counts_once() {
    let modules = json(&profile(), &question(RowsOf::Modules));
    assert_eq!(modules["by"], "module");
    // All begins in the program, and the library has only its kernel.
    assert_eq!(of(&modules, "solve"), [2.5, 2.0]);
    assert_eq!(of(&modules, "libkernels.so.1"), [0.5, 0.5]);
    let lines = json(&profile(), &question(RowsOf::Lines));
    // refine calls itself in line 82, is called in line 55, and is in line 80 itself, at both depths.
    assert_eq!(of(&lines, "solve.c:55"), [1.5, 0.0]);
    assert_eq!(of(&lines, "solve.c:82"), [1.0, 0.0]);
    assert_eq!(of(&lines, "solve.c:80"), [1.0, 1.0]);
    assert_eq!(of(&lines, "main.c:12"), [0.5, 0.0]);
    assert_eq!(of(&lines, "main.c:31"), [0.5, 0.5]);
}

#[test]
fn own_amounts_and_the_rest_add_up() {
    for (profile, rows_of) in [profile(), waiting()].into_iter().zip([RowsOf::Lines, RowsOf::Modules]) {
        let page = json(&profile, &question(rows_of));
        for column in page["totals"].as_object().unwrap().keys() {
            let own =
                |amounts: &Value| amounts[column].get("exclusive").map_or(0.0, |own| own.as_f64().unwrap());
            let rows = page["rows"].as_array().unwrap();
            let sum: f64 = rows.iter().map(|row| own(&row["metrics"])).sum::<f64>() + own(&page["rest"]);
            assert!((sum - own(&page["totals"])).abs() < 1e-9, "{rows_of:?} {column} {sum}");
        }
    }
    // kernel has no lines.
    let page = json(&profile(), &question(RowsOf::Lines));
    assert_eq!(page["rest"]["cpu_s"]["exclusive"], 0.5);
}

#[test]
fn as_text_and_csv() {
    let style = Style { width: 80, ..Style::default() };
    let text = |profile: &proust_profile::Profile, question: Question| {
        render(profile, &question, &style).unwrap().page
    };
    insta::assert_snapshot!("flat_by_line_text", text(&profile(), question(RowsOf::Lines)));
    insta::assert_snapshot!("flat_by_module_text", text(&waiting(), question(RowsOf::Modules)));
    let metrics = Metrics::defined(["rate=samples/cpu_s"]).unwrap();
    let columns = Column::parse_list("cpu_s,rate", &metrics).unwrap();
    let asked = Question { metrics, columns, limit: Some(1), ..question(RowsOf::Lines) };
    insta::assert_snapshot!("flat_by_line_chosen_text", text(&profile(), asked.clone()));
    let csv = text(&profile(), Question { format: Format::Csv, ..asked });
    assert!(csv.starts_with("name,file,line,module,cpu_s inclusive,"), "{csv}");
    assert!(csv.contains("solve.c:80,/src/solve.c,80,,1,1,200,200,200,200"), "{csv}");
    let most = Column::parse_list("cpu_s:max", &Metrics::default()).unwrap();
    let most = text(&profile(), Question { columns: most, ..question(RowsOf::Modules) });
    assert!(most.contains("1.500   2.000  t1    solve\n"), "{most}");
}
