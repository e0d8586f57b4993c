//! The JSON contract as a JSON Schema, which is made from the types that are written and from the tables of
//! pages and measures.

use proust_query::Measure;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::groups::GROUPINGS;
use crate::page::{PAGES, PageHead};
use crate::schema::SCHEMA;
use crate::sweep::SweepPage;
use crate::{diff, pages, sweep};

/// [`json_schema_document`] as it is published.
pub fn json_schema_text() -> String {
    // A document of strings, numbers and lists can always be written.
    serde_json::to_string_pretty(&json_schema_document()).unwrap_or_default() + "\n"
}

/// The JSON contract as a JSON Schema (draft 2020-12). In `$defs` are the pages, by the command that writes
/// them (`report tree`, `diff flat`), and the types that they consist of. `metrics` lists what columns count.
///
/// It is open: fields may be added to the contract.
pub fn json_schema_document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut named: Vec<(String, &'static str, Vec<Schema>)> = Vec::new();
    for spec in PAGES {
        let schemas = pages::schemas(spec.page, &mut generator);
        named.push((format!("report {}", spec.head.id), spec.head.about, schemas));
    }
    for page in SweepPage::ALL {
        let PageHead { id, about, .. } = page.head();
        named.push((format!("report SWEEP {id}"), about, sweep::schemas(page, &mut generator)));
    }
    for page in diff::DiffPage::ALL {
        let PageHead { id, about, .. } = page.head();
        named.push((format!("diff {id}"), about, diff::schemas(page, &mut generator)));
    }
    let mut definitions = generator.take_definitions(true);
    let mut any = Vec::new();
    for (name, about, schemas) in named {
        any.push(json!({ "$ref": format!("#/$defs/{}", name.replace(' ', "%20")) }));
        let mut of_page = json!({ "description": about, "anyOf": schemas });
        if let (Value::Object(page), [one]) = (&mut of_page, &schemas[..]) {
            page.remove("anyOf");
            page.extend(one.as_object().cloned().unwrap_or_default());
        }
        definitions.insert(name, of_page);
    }
    let groupings = GROUPINGS.iter().filter(|spec| spec.by.pages().is_some()).map(|spec| spec.id);
    let groupings: Vec<&str> = groupings.collect();
    let grouped = json!({
        "description": "any page of report with --by",
        "type": "object",
        "required": ["schema", "by", "groups"],
        "properties": {
            "schema": { "const": SCHEMA },
            "by": { "enum": groupings },
            "groups": { "type": "array", "items": {
                "type": "object",
                "required": ["handle", "name", "processes", "cpu_s", "page"],
                "properties": { "page": { "anyOf": any } }
            } }
        }
    });
    any.push(json!({ "$ref": "#/$defs/report%20--by" }));
    definitions.insert("report --by".into(), grouped);
    let metric = |measure: Measure| {
        let source = measure.source();
        json!({
            "id": measure.id(), "unit": measure.unit(), "source": source.id(), "sampled": source.is_sampled(),
        })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Pages of proust, JSON contract {SCHEMA}"),
        "anyOf": any,
        "$defs": definitions,
        "metrics": Measure::all().map(metric).collect::<Vec<Value>>(),
    })
}
