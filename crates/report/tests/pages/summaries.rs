//! Pages of a run whose summaries are kept.

use proust_account::accounted;
use proust_account::ledger::Ledger;
use proust_profile::Profile;
use proust_query::{Filter, Metrics, Summaries, summarised};
use proust_report::{Column, Format, Kept, PageName, Question, Style, render_with};

use crate::example::waiting;

/// They are the pages of the amounts, and read no amount.
#[test]
fn pages_are_the_same_with_summaries_in_place_of_amounts() {
    let profile = waiting();
    let ledger = accounted::ledger(&profile).unwrap();
    let summaries = Summaries::of(summarised(&profile, &ledger), &profile).unwrap();
    let empty = Profile { values: Vec::new(), ..profile.clone() };
    let no_rows = Ledger {
        spent: Vec::new(),
        blamed: Vec::new(),
        caused: Vec::new(),
        passive: Vec::new(),
        ..ledger.clone()
    };
    let statistics = "cpu_s:max|min|mean|stddev|imbalance,lock_s:max,cpu_s";
    let derived = Metrics::defined(["rate=samples/cpu_s"]).unwrap();
    let mut compared = 0;
    for page in [PageName::Tree, PageName::Flat, PageName::Callers, PageName::Lines] {
        for format in [Format::Text, Format::Json] {
            let plain = Question { page, format, ..Question::default() };
            let columns = Column::parse_list(statistics, &Metrics::default()).unwrap();
            let mut questions = vec![
                Question { metrics: derived.clone(), ..plain.clone() },
                Question { columns: Column::parse_list("rate,wall_s", &derived).unwrap(), ..plain.clone() },
            ];
            match page {
                PageName::Tree => {
                    questions.push(Question { columns, ..plain.clone() });
                    questions.push(Question { arguments: vec!["c4".into()], ..plain.clone() });
                }
                PageName::Callers => {
                    questions.push(Question { arguments: vec!["solve".into()], ..plain.clone() });
                }
                _ => {}
            }
            questions.push(plain);
            for question in questions {
                assert!(question.takes_summaries(), "{question:?}");
                let with_rows = Kept::new(&ledger);
                let expected = render_with(&profile, &with_rows, &question, &Style::default()).unwrap();
                let kept = Kept { summaries: Some(&summaries), ..Kept::new(&no_rows) };
                let found = render_with(&empty, &kept, &question, &Style::default()).unwrap();
                assert_eq!(found.page, expected.page, "{question:?}");
                assert_eq!(found.notes, expected.notes);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * (3 * 4 + 3));
}

#[test]
fn summaries_answer_no_question_about_a_part_or_single_locations() {
    let tree = Question { page: PageName::Tree, ..Question::default() };
    let columns = |text| Column::parse_list(text, &Metrics::default()).unwrap();
    let derived = Metrics::defined(["rate=samples/cpu_s"]).unwrap();
    for question in [
        Question { filter: Filter::parse(&["thread=1"]).unwrap(), ..tree.clone() },
        Question { over: Some(proust_report::Across::Locations), ..tree.clone() },
        Question { columns: Column::parse_list("rate:max", &derived).unwrap(), ..tree.clone() },
        Question { page: PageName::Flat, columns: columns("cpu_s:max"), ..tree.clone() },
        Question { page: PageName::Threads, ..tree.clone() },
        Question { processors: Some(3), ..tree.clone() },
    ] {
        assert!(!question.takes_summaries(), "{question:?}");
    }
}
