//! Speedscope's file format: a table of frames, and for each thread its samples, outermost frame first, with
//! weights in nanoseconds of processor time.

use std::collections::HashMap;
use std::io::Write;

use proust_query::Selection;
use serde::Serialize;

use crate::error::ExportError;
use crate::frames::{Frame, Frames};
use crate::threads::{samples, threads};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    name: String,
    active_profile_index: usize,
    shared: Shared,
    profiles: Vec<ThreadProfile>,
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<FrameRow>,
}

#[derive(Serialize)]
struct FrameRow {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadProfile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Writes the file.
pub fn write(selection: &Selection<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let profile = selection.profile();
    let frames = Frames::of(profile);
    let mut rows = Vec::new();
    let mut known: HashMap<Frame, usize> = HashMap::new();
    let mut row_of = |frame: Frame| {
        // Speedscope takes frames that differ in their lines for different functions.
        let frame = Frame { line: frames.declared_at(frame.subject), ..frame };
        *known.entry(frame).or_insert_with(|| {
            let file = frames.file(frame.subject).map(str::to_owned);
            rows.push(FrameRow { name: frames.name(frame.subject), file, line: frame.line });
            rows.len() - 1
        })
    };
    let mut profiles = Vec::new();
    for thread in threads(selection) {
        let (mut stacks, mut weights) = (Vec::new(), Vec::new());
        for row in samples(selection, thread.id) {
            stacks.push(frames.path(row.context).into_iter().map(&mut row_of).collect());
            weights.push(row.cpu_ns);
        }
        if !stacks.is_empty() {
            profiles.push(ThreadProfile {
                r#type: "sampled",
                name: thread.label(),
                unit: "nanoseconds",
                start_value: 0,
                end_value: weights.iter().sum(),
                samples: stacks,
                weights,
            });
        }
    }
    let busiest = (0..profiles.len()).max_by_key(|&n| profiles[n].end_value).unwrap_or(0);
    let file = File {
        schema: SCHEMA,
        exporter: concat!("proust ", env!("CARGO_PKG_VERSION")).into(),
        name: profile.facts.command.join(" "),
        active_profile_index: busiest,
        shared: Shared { frames: rows },
        profiles,
    };
    Ok(serde_json::to_writer(out, &file)?)
}
