//! The messages of a profile of pprof by the definition that pprof publishes (`profile.proto`): the numbers,
//! names and types of their fields.

use crate::protobuf::{Content, Fields};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Numbers,
    Bool,
    Texts,
    Message(&'static str),
    Messages(&'static str),
}

use Kind::{Bool, Message, Messages, Number, Numbers, Texts};

type Field = (u64, &'static str, Kind);

const MESSAGES: &[(&str, &[Field])] = &[
    (
        "Profile",
        &[
            (1, "sample_type", Messages("ValueType")),
            (2, "sample", Messages("Sample")),
            (3, "mapping", Messages("Mapping")),
            (4, "location", Messages("Location")),
            (5, "function", Messages("Function")),
            (6, "string_table", Texts),
            (7, "drop_frames", Number),
            (8, "keep_frames", Number),
            (9, "time_nanos", Number),
            (10, "duration_nanos", Number),
            (11, "period_type", Message("ValueType")),
            (12, "period", Number),
            (13, "comment", Numbers),
            (14, "default_sample_type", Number),
        ],
    ),
    ("ValueType", &[(1, "type", Number), (2, "unit", Number)]),
    ("Sample", &[(1, "location_id", Numbers), (2, "value", Numbers), (3, "label", Messages("Label"))]),
    ("Label", &[(1, "key", Number), (2, "str", Number), (3, "num", Number), (4, "num_unit", Number)]),
    (
        "Mapping",
        &[
            (1, "id", Number),
            (2, "memory_start", Number),
            (3, "memory_limit", Number),
            (4, "file_offset", Number),
            (5, "filename", Number),
            (6, "build_id", Number),
            (7, "has_functions", Bool),
            (8, "has_filenames", Bool),
            (9, "has_line_numbers", Bool),
            (10, "has_inline_frames", Bool),
        ],
    ),
    (
        "Location",
        &[
            (1, "id", Number),
            (2, "mapping_id", Number),
            (3, "address", Number),
            (4, "line", Messages("Line")),
            (5, "is_folded", Bool),
        ],
    ),
    ("Line", &[(1, "function_id", Number), (2, "line", Number)]),
    (
        "Function",
        &[
            (1, "id", Number),
            (2, "name", Number),
            (3, "system_name", Number),
            (4, "filename", Number),
            (5, "start_line", Number),
        ],
    ),
];

/// What of a message, and of those in it, is not as defined.
pub fn errors(message: &str, fields: &Fields<'_>) -> Vec<String> {
    let (_, defined) = MESSAGES.iter().find(|(name, _)| *name == message).expect("a message that is defined");
    let mut errors = Vec::new();
    let mut seen = Vec::new();
    for (number, content) in fields.all() {
        let Some((_, name, kind)) = defined.iter().find(|(known, ..)| known == number) else {
            errors.push(format!("{message} has no field {number}"));
            continue;
        };
        let is_repeated = matches!(kind, Numbers | Texts | Messages(_));
        if !is_repeated && seen.contains(number) {
            errors.push(format!("{message}.{name} is there twice"));
        }
        seen.push(*number);
        match (kind, content) {
            (Number | Numbers, Content::Number(_)) | (Numbers, Content::Bytes(_)) => {}
            (Bool, Content::Number(value)) if *value <= 1 => {}
            (Texts, Content::Bytes(bytes)) if std::str::from_utf8(bytes).is_ok() => {}
            (Message(of) | Messages(of), Content::Bytes(bytes)) => {
                errors.extend(self::errors(of, &Fields::of(bytes)));
            }
            _ => errors.push(format!("{message}.{name} is {content:?}")),
        }
    }
    errors
}
