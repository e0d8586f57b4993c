//! The JSON Schema of all pages: it is published, pages are what it says, and it says enough to notice when
//! they are not.

use std::fs;

use jsonschema::Validator;
use proust_query::Metrics;
use proust_report::{
    Across, Format, PAGES, PageName, Question, RowsOf, Style, json_schema_document, json_schema_text, render,
};
use serde_json::{Value, json};

use crate::example::{profile, waiting};

/// Where it is published; `UPDATE_DOCS=1` writes it.
const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.json");

#[test]
fn the_published_schema_is_that_of_the_program() {
    let text = json_schema_text();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PUBLISHED, &text).unwrap();
    }
    let published = fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(published == text, "docs/schema.json is not that of the program: write it with UPDATE_DOCS=1");
}

fn of_page(id: &str) -> Validator {
    let mut document = json_schema_document();
    document.as_object_mut().unwrap().remove("anyOf");
    document["$ref"] = json!(format!("#/$defs/report%20{id}"));
    jsonschema::validator_for(&document).unwrap()
}

fn page(profile: &proust_profile::Profile, page: PageName) -> Value {
    let question = Question { page, format: Format::Json, ..Question::default() };
    serde_json::from_str(&render(profile, &question, &Style::default()).unwrap().page).unwrap()
}

#[test]
fn every_page_is_what_the_schema_says() {
    for spec in PAGES {
        let validator = of_page(spec.head.id);
        for profile in [profile(), waiting()] {
            let page = page(&profile, spec.page);
            let errors: Vec<String> = validator
                .iter_errors(&page)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", spec.head.id);
        }
    }
}

/// The schema of a page with `--by` is complete by itself, and asks the groups' pages to be pages.
#[test]
fn pages_of_groups_are_pages() {
    let validator = of_page("--by");
    let groups = |page: Value| {
        let group = json!({"handle": null, "name": "cc1", "processes": 1, "cpu_s": 0.5, "page": page});
        json!({"schema": 1, "by": "program", "groups": [group]})
    };
    assert!(validator.is_valid(&groups(page(&waiting(), PageName::Flat))));
    assert!(!validator.is_valid(&groups(json!({"schema": 1}))));
}

#[test]
fn other_rows_of_flat_are_what_the_schema_says() {
    let validator = of_page("flat");
    for rows_of in [RowsOf::Lines, RowsOf::Modules] {
        let question =
            Question { page: PageName::Flat, rows_of, format: Format::Json, ..Question::default() };
        let text = render(&profile(), &question, &Style::default()).unwrap().page;
        let mut page: Value = serde_json::from_str(&text).unwrap();
        assert!(validator.is_valid(&page), "{text}");
        page.as_object_mut().unwrap().remove("rest");
        assert!(!validator.is_valid(&page));
    }
}

/// Columns that a user derives are allowed, and nulls in them only.
#[test]
fn derived_metrics_are_what_the_schema_says() {
    let metrics = Metrics::defined(["cost=cpu_s/read_bytes"]).unwrap();
    let over = [(PageName::Tree, Some(Across::Locations)), (PageName::Tree, None)];
    let pages = [PageName::Flat, PageName::Callers, PageName::Lines, PageName::Threads];
    for (page, over) in over.into_iter().chain(pages.map(|page| (page, None))) {
        let validator = of_page(page.id());
        let question =
            Question { page, over, metrics: metrics.clone(), format: Format::Json, ..Question::default() };
        let text = render(&profile(), &question, &Style::default()).unwrap().page;
        assert!(text.contains("null"), "nothing is read");
        let page = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&page).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// A field less, another type, or a column that is no metric.
#[test]
fn a_page_that_is_otherwise_is_noticed() {
    for spec in PAGES {
        let (validator, page) = (of_page(spec.head.id), page(&waiting(), spec.page));
        for field in page.as_object().unwrap().keys() {
            let mut less = page.clone();
            less.as_object_mut().unwrap().remove(field);
            let optional = ["cut", "path"].contains(&field.as_str());
            assert!(optional || !validator.is_valid(&less), "{} without {field}", spec.head.id);
            let mut other = page.clone();
            other[field] = json!({"no": [true]});
            assert!(!validator.is_valid(&other), "{} with another {field}", spec.head.id);
        }
    }
    let (validator, mut flat) = (of_page("flat"), page(&waiting(), PageName::Flat));
    for (column, amount) in [("beauty of it", json!(1.0)), ("cpu_s", json!(null)), ("beauty", json!("much"))]
    {
        let before = flat.clone();
        flat["functions"][0]["metrics"][column] = json!({"inclusive": amount});
        assert!(!validator.is_valid(&flat), "{column}");
        flat = before;
    }
}
