//! Tables of the guide that are made of the program's: they are the same, and `UPDATE_DOCS=1` writes them.
//!
//! Such a table stands between `<!-- table NAME -->` and `<!-- end -->`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use proust_findings::Kind;
use proust_query::Measure;
use proust_report::{finding_about, finding_name, metric_rows};

fn check(document: &str, name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = fs::read_to_string(&path).unwrap();
    let mark = format!("<!-- table {name} -->\n");
    let (before, rest) = text.split_once(&mark).unwrap_or_else(|| panic!("{document} has no {mark}"));
    let (found, after) = rest.split_once("<!-- end -->").expect("a table ends");
    let wanted = format!("\n{table}\n");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{mark}{wanted}<!-- end -->{after}")).unwrap();
    } else {
        assert!(
            found == wanted,
            "docs/{document}: write the table {name} with UPDATE_DOCS=1; it is\n{table}"
        );
    }
}

#[test]
fn the_table_of_findings() {
    let mut table = "| kind | title | what it is |\n|---|---|---|\n".to_owned();
    for &kind in Kind::ALL {
        table += &format!("| `{}` | {} | {} |\n", kind.id(), finding_name(kind), finding_about(kind));
    }
    check("pages/findings.md", "findings", &table);
}

#[test]
fn the_table_of_metrics() {
    let mut table = "| metric | unit | from | is |\n|---|---|---|---|\n".to_owned();
    let mut listed = HashSet::new();
    for row in metric_rows() {
        assert!(!row.about.is_empty(), "{:?} is not explained", row.measures);
        listed.extend(row.measures.iter().map(|measure| measure.id()));
        let ids: Vec<String> = row.measures.iter().map(|measure| format!("`{}`", measure.id())).collect();
        let units: Vec<String> = row.units.iter().map(ToString::to_string).collect();
        let sources: Vec<&str> = row.sources.iter().map(|source| source.id()).collect();
        table += &format!(
            "| {} | {} | {} | {} |\n",
            ids.join(", "),
            units.join(", "),
            sources.join(", "),
            row.about
        );
    }
    assert_eq!(listed.len(), Measure::all().count());
    check("selecting.md", "metrics", &table);
}
