//! The timeline by functions at a depth of the call paths.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use proust_report::{Format, PageName, Question, Style, render};
use serde_json::Value;

use crate::example::waiting;

fn page(page: PageName, depth: Option<usize>, format: Format) -> String {
    let depth = depth.and_then(NonZeroUsize::new);
    let question = Question { page, depth, format, ..Question::default() };
    render(&waiting(), &question, &Style { width: 80, ..Style::default() }).unwrap().page
}

fn json(name: PageName, depth: Option<usize>) -> Value {
    serde_json::from_str(&page(name, depth, Format::Json)).unwrap()
}

#[test]
fn letters_are_functions() {
    insta::assert_snapshot!("timeline_depth_1_text", page(PageName::Timeline, Some(1), Format::Text));
    insta::assert_snapshot!("timeline_depth_3_text", page(PageName::Timeline, Some(3), Format::Text));
}

/// The tree has the same path from a context to the top, and the table the function at the depth.
#[test]
fn paths_are_those_of_the_tree() {
    let tree = json(PageName::Tree, None);
    let contexts: HashMap<u64, &Value> =
        tree["contexts"].as_array().unwrap().iter().map(|row| (row["id"].as_u64().unwrap(), row)).collect();
    let timeline = json(PageName::Timeline, Some(2));
    assert_eq!(timeline["depth"], 2);
    let name = |handle: &Value| {
        let functions = timeline["functions"].as_array().unwrap();
        functions.iter().find(|head| head["handle"] == *handle).unwrap()["function"].as_str().unwrap()
    };
    let table = page(PageName::Timeline, Some(2), Format::Csv);
    let mut lines = table.lines();
    assert!(lines.next().unwrap().ends_with(",context,function"));
    let mut spans = 0;
    for span in timeline["locations"].as_array().unwrap().iter().flat_map(|l| l["spans"].as_array().unwrap())
    {
        let mut expected = Vec::new();
        let mut next = span["context"].as_u64();
        while let Some(row) = next.map(|id| contexts[&id]) {
            expected.extend(row["function"].as_str());
            next = row["parent"].as_u64();
        }
        expected.reverse();
        let path = span["path"].as_array().unwrap();
        assert_eq!(path.iter().filter_map(Value::as_str).collect::<Vec<_>>(), expected);
        let function = path.get(1).or(path.last()).map_or("", name);
        assert!(lines.next().unwrap().ends_with(&format!(",{},{function}", span["context"])));
        spans += usize::from(path.len() > 1);
    }
    assert!(spans > 0 && lines.next().is_none());
}

#[test]
fn states_have_no_paths() {
    let timeline = json(PageName::Timeline, None);
    assert_eq!((&timeline["depth"], &timeline["functions"]), (&Value::Null, &Value::Null));
    assert_eq!(timeline["locations"][0]["spans"][0]["path"], Value::Null);
}
