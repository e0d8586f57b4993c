//! JSON schemas of the pages, made from the structs that the pages are written from.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::diff::DiffPage;
use crate::page::{PAGES, PageName};
use crate::sweep::SweepPage;
use crate::{diff, pages, sweep};

/// A sort of page whose JSON has a type of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageType {
    /// Its name: that of the page; with `-of-function` where the page is about one function, and with `diff-`
    /// or `sweep-` before it for a page of a comparison or of a sweep.
    pub id: String,
    /// What it shows.
    pub about: &'static str,
    of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Run(PageName),
    Function,
    Diff(DiffPage),
    TwoSweeps,
    Sweep(SweepPage),
}

impl PageType {
    /// All of them.
    pub fn all() -> Vec<PageType> {
        let run = |spec: &crate::page::PageSpec| PageType {
            id: spec.head.id.into(),
            about: spec.head.about,
            of: Of::Run(spec.page),
        };
        let mut all: Vec<PageType> = PAGES.iter().map(run).collect();
        all.push(PageType {
            id: "callers-of-function".into(),
            about: "one function with its callers and callees",
            of: Of::Function,
        });
        all.extend(DiffPage::ALL.map(|page| PageType {
            id: format!("diff-{}", page.id()),
            about: page.head().about,
            of: Of::Diff(page),
        }));
        all.push(PageType { id: "diff-sweeps".into(), about: "two sweeps side by side", of: Of::TwoSweeps });
        all.extend(SweepPage::ALL.map(|page| PageType {
            id: format!("sweep-{}", page.id()),
            about: page.head().about,
            of: Of::Sweep(page),
        }));
        all
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        match self.of {
            Of::Run(page) => pages::schema(page, generator),
            Of::Function => pages::schema_of_function(generator),
            Of::Diff(page) => diff::schema(page, generator),
            Of::TwoSweeps => diff::schema_of_sweeps(generator),
            Of::Sweep(page) => sweep::schema(page, generator),
        }
    }
}

/// The schema of a sort of page by its name, or of all of them, as JSON; None if there is no such sort.
///
/// Of all of them it is one document: `pages` has a reference for each, and `$defs` what these refer to. It is
/// itself a schema that every page fits.
pub fn schema(id: Option<&str>) -> Option<String> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let types = PageType::all();
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    if let Some(id) = id {
        let page = types.iter().find(|page| page.id == id)?;
        whole.insert("title".into(), json!(format!("JSON of Proust's page {id}: {}", page.about)));
        let Value::Object(own) = page.schema(&mut generator).to_value() else { return None };
        whole.extend(own);
    } else {
        let title = format!("JSON of Proust's pages, schema {}", crate::schema::SCHEMA);
        whole.insert("title".into(), json!(title));
        let mut pages = Map::new();
        let mut any = Vec::new();
        for page in types {
            let own = page.schema(&mut generator).to_value();
            any.push(own.clone());
            pages.insert(page.id, own);
        }
        whole.insert("anyOf".into(), any.into());
        whole.insert("pages".into(), pages.into());
    }
    whole.insert("$defs".into(), generator.take_definitions(true).into());
    let mut text = serde_json::to_string_pretty(&Value::Object(whole)).ok()?;
    text.push('\n');
    Some(text)
}
