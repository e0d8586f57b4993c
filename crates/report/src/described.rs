//! The schemas of types of other crates that pages have, by an example.

use std::borrow::Cow;

use proust_profile::facts::Quality;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The schema of an example: all of its fields, with the types that they have there; null may be a number.
fn like(value: &Value) -> Value {
    match value {
        Value::Null => json!({ "type": ["number", "null"] }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::String(_) => json!({ "type": "string" }),
        Value::Array(_) => json!({ "type": "array" }),
        Value::Object(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), like(value))).collect();
            let required: Vec<&String> = fields.keys().collect();
            json!({ "type": "object", "properties": properties, "required": required })
        }
    }
}

fn like_written(example: &impl Serialize) -> Schema {
    // Structs of numbers and strings can always be written as JSON.
    let value = serde_json::to_value(example).unwrap_or_default();
    like(&value).try_into().unwrap_or_else(|_| json_schema!({}))
}

/// The schema of [`Quality`].
pub(crate) struct QualityNumbers;

impl JsonSchema for QualityNumbers {
    fn schema_name() -> Cow<'static, str> {
        "QualityNumbers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        like_written(&Quality::default())
    }
}
