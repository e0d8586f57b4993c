//! Every page as people and programs see it.

use proust_report::{Column, Format, PageName, Question, Style, render};

use crate::example::profile;

fn page(page: PageName, arguments: &[&str], format: Format) -> Question {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Question { dir: "solve.1.proust".into(), page, arguments, format, ..Question::default() }
}

fn shown(question: &Question) -> String {
    render(&profile(), question, &Style::default()).unwrap().page
}

#[test]
fn texts() {
    for name in PageName::ALL {
        insta::assert_snapshot!(format!("{}_text", name.id()), shown(&page(name, &[], Format::Text)));
    }
    insta::assert_snapshot!(
        "callers_of_refine_text",
        shown(&page(PageName::Callers, &["refine"], Format::Text))
    );
    insta::assert_snapshot!("tree_below_text", shown(&page(PageName::Tree, &["c7"], Format::Text)));
    let columns = Column::parse_list("cpu_s:max|mean|imbalance").unwrap();
    let question = Question { columns, ..page(PageName::Flat, &[], Format::Text) };
    insta::assert_snapshot!("flat_statistics_text", shown(&question));
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
    for name in PageName::ALL {
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
    for name in PageName::ALL {
        let text = shown(&page(name, &[], Format::Csv));
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.len() > 1 && columns.iter().all(|&n| n >= columns[0]), "{}: {text}", name.id());
    }
}
