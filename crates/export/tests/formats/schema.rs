//! JSON schemas, as much of them as those of other tools use. A library for all of it would bring forty
//! crates along. A keyword that is not known here fails, so that nothing is taken for valid that was not
//! checked.

use serde_json::Value;

/// What of a value is not valid, with the place; empty = it is valid.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, schema, value, "$", &mut errors);
    errors
}

fn check(whole: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let rules = schema.as_object().unwrap_or_else(|| panic!("no schema: {schema}"));
    for (keyword, rule) in rules {
        let is_valid = match keyword.as_str() {
            "$schema" | "title" | "description" | "definitions" => true,
            "$ref" => {
                let path =
                    rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a place in the schema");
                let meant = whole.pointer(path).unwrap_or_else(|| panic!("no {path}"));
                check(whole, meant, value, at, errors);
                true
            }
            "type" => is_of_type(rule.as_str().expect("a type"), value),
            "const" => rule == value,
            "enum" => rule.as_array().expect("values").contains(value),
            "anyOf" => rule.as_array().expect("schemas").iter().any(|one| {
                let mut of_one = Vec::new();
                check(whole, one, value, at, &mut of_one);
                of_one.is_empty()
            }),
            "required" => {
                let names = rule.as_array().expect("names").iter().filter_map(Value::as_str);
                value.is_object() && names.into_iter().all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, of_field) in rule.as_object().expect("fields") {
                    if let Some(field) = value.get(name) {
                        check(whole, of_field, field, &format!("{at}.{name}"), errors);
                    }
                }
                true
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(whole, rule, item, &format!("{at}[{n}]"), errors);
                }
                true
            }
            other => panic!("the keyword {other} is not checked"),
        };
        if !is_valid {
            errors.push(format!("{at}: {keyword}: {rule}"));
        }
    }
}

fn is_of_type(of: &str, value: &Value) -> bool {
    match of {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        other => panic!("the type {other} is not checked"),
    }
}
