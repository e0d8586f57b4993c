//! Whatever a story asks for as JSON is what the published schema says.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use proust_report::json_schema_document;
use serde_json::{Value, json};

use crate::command::{proust, run};

static DOCUMENT: LazyLock<Value> = LazyLock::new(json_schema_document);
static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);

/// Checks what `proust` printed when it was called so, if that is a page as JSON.
pub fn check(arguments: &[String], stdout: &[u8]) {
    let is_json = arguments.windows(2).any(|pair| pair == ["--format", "json"]);
    let Some(command) = arguments.first().filter(|first| ["report", "diff"].contains(&first.as_str())) else {
        return;
    };
    if !is_json || arguments.iter().any(|argument| argument == "--") {
        return;
    }
    let value: Value = serde_json::from_slice(stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(stdout)));
    let name = name_of(command, arguments, &value);
    let mut validators = VALIDATORS.lock().unwrap();
    let validator = validators.entry(name.clone()).or_insert_with(|| of(&name));
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .take(5)
        .map(|error| format!("{}: {error:.400}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{arguments:?} is not {name} of the schema: {errors:#?}");
}

/// Which of the schema's pages it is.
fn name_of(command: &str, arguments: &[String], value: &Value) -> String {
    if command == "report" && value.get("by").is_some() && value.get("groups").is_some() {
        return "report --by".into();
    }
    let kind = if value.get("sweep").is_some() { "report SWEEP" } else { command };
    let definitions = DOCUMENT["$defs"].as_object().unwrap();
    let is_page = |word: &&String| definitions.contains_key(&format!("{kind} {word}"));
    let classic = "intervals".to_owned();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let default = if has("--serial") || has("--sequential") { classic } else { "summary".into() };
    let page = arguments[1..].iter().find(is_page).unwrap_or(&default);
    format!("{kind} {page}")
}

fn of(name: &str) -> Validator {
    let mut document = DOCUMENT.clone();
    document.as_object_mut().unwrap().remove("anyOf");
    document["$ref"] = json!(format!("#/$defs/{}", name.replace(' ', "%20")));
    jsonschema::validator_for(&document).unwrap()
}

#[test]
fn the_schema_is_printed() {
    let ended = run(proust().arg("schema"));
    assert!(ended.status.success(), "{}", ended.said());
    assert_eq!(serde_json::from_slice::<Value>(&ended.stdout).unwrap(), *DOCUMENT);
}
