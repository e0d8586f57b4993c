//! The page as JSON, span by span.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::depth::Depth;
use super::spans::SpanRow;
use super::{LocationRow, Timeline};
use crate::pages::Cut;
use crate::schema::SCHEMA;
use crate::wording::Notes;

#[derive(Serialize, JsonSchema)]
struct Document<'t> {
    schema: u32,
    start_s: f64,
    end_s: f64,
    locations: Vec<Location<'t>>,
    #[serde(flatten)]
    functions: Option<&'t Depth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<&'t Cut>,
    #[serde(flatten)]
    notes: &'t Notes,
}

#[derive(Serialize, JsonSchema)]
struct Location<'t> {
    #[serde(flatten)]
    row: &'t LocationRow,
    spans: SpansOf<'t>,
}

/// The spans of a location, which are read while they are written.
struct SpansOf<'t> {
    timeline: &'t Timeline<'t>,
    row: &'t LocationRow,
}

impl Serialize for SpansOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut spans = serializer.serialize_seq(None)?;
        self.timeline.each_span(self.row, |span| spans.serialize_element(span))?;
        spans.end()
    }
}

impl JsonSchema for SpansOf<'_> {
    fn schema_name() -> Cow<'static, str> {
        <Vec<SpanRow<'_>>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<SpanRow<'_>>>::json_schema(generator)
    }
}

impl JsonSchema for Timeline<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Timeline".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Document::json_schema(generator)
    }
}

impl Serialize for Timeline<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Timeline { start_s, end_s, cut, notes, .. } = self;
        let location = |row| Location { row, spans: SpansOf { timeline: self, row } };
        Document {
            schema: SCHEMA,
            start_s: *start_s,
            end_s: *end_s,
            locations: self.locations.iter().map(location).collect(),
            functions: self.functions.as_ref(),
            cut: cut.as_ref(),
            notes,
        }
        .serialize(serializer)
    }
}
