//! The processed profile of the Firefox Profiler, version 48: for each thread tables whose columns have one
//! length, in which rows name each other by position. Samples have their processor time as weight, in
//! milliseconds.

use std::collections::HashMap;
use std::io::Write;

use proust_query::Selection;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::ExportError;
use crate::frames::{Frame, Frames, Subject};
use crate::threads::{Thread, samples, threads};

/// Version of the processed format that is written.
const PROCESSED: u32 = 48;
/// Version of the format of recordings that it is made from.
const RECORDED: u32 = 28;

/// Type of a resource: a library.
const LIBRARY: u32 = 1;

/// Rows of a table by what they stand for, each once.
#[derive(Debug)]
struct Rows<K> {
    at: HashMap<K, usize>,
}

impl<K: Eq + std::hash::Hash> Rows<K> {
    fn new() -> Rows<K> {
        Rows { at: HashMap::new() }
    }

    /// Its row, and whether that is a new one, which is to be filled.
    fn row(&mut self, key: K) -> (usize, bool) {
        let next = self.at.len();
        let row = *self.at.entry(key).or_insert(next);
        (row, row == next)
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    name: Vec<usize>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    resource: Vec<i64>,
    file_name: Vec<Option<usize>>,
    line_number: Vec<Option<u32>>,
    column_number: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameTable {
    address: Vec<i64>,
    inline_depth: Vec<u32>,
    category: Vec<Option<usize>>,
    subcategory: Vec<Option<usize>>,
    func: Vec<usize>,
    native_symbol: Vec<Option<usize>>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Vec<Option<u64>>,
    implementation: Vec<Option<usize>>,
    line: Vec<Option<u32>>,
    column: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
struct StackTable {
    frame: Vec<usize>,
    prefix: Vec<Option<usize>>,
    category: Vec<usize>,
    subcategory: Vec<usize>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceTable {
    lib: Vec<Option<usize>>,
    name: Vec<usize>,
    host: Vec<Option<usize>>,
    r#type: Vec<u32>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    weight_type: &'static str,
    weight: Vec<f64>,
    stack: Vec<usize>,
    time: Vec<f64>,
    #[serde(rename = "threadCPUDelta")]
    thread_cpu_delta: Vec<u64>,
    length: usize,
}

/// The tables of a thread while they are filled.
struct Tables<'f> {
    frames: &'f Frames<'f>,
    modules: Vec<&'f str>,
    strings: Rows<String>,
    string_array: Vec<String>,
    funcs: Rows<Subject>,
    func_table: FuncTable,
    resources: Rows<usize>,
    resource_table: ResourceTable,
    frame_rows: Rows<Frame>,
    frame_table: FrameTable,
    stacks: Rows<(Option<usize>, usize)>,
    stack_table: StackTable,
}

impl<'f> Tables<'f> {
    fn new(frames: &'f Frames<'f>, modules: Vec<&'f str>) -> Tables<'f> {
        Tables {
            frames,
            modules,
            strings: Rows::new(),
            string_array: Vec::new(),
            funcs: Rows::new(),
            func_table: FuncTable::default(),
            resources: Rows::new(),
            resource_table: ResourceTable::default(),
            frame_rows: Rows::new(),
            frame_table: FrameTable::default(),
            stacks: Rows::new(),
            stack_table: StackTable::default(),
        }
    }

    fn string(&mut self, text: &str) -> usize {
        let (row, is_new) = self.strings.row(text.to_owned());
        if is_new {
            self.string_array.push(text.to_owned());
        }
        row
    }

    fn func(&mut self, subject: Subject) -> usize {
        let (row, is_new) = self.funcs.row(subject);
        if is_new {
            let name = self.string(&self.frames.name(subject));
            let file = self.frames.file(subject).map(|file| self.string(file));
            let module = self.frames.function(subject).and_then(|function| function.module);
            let resource = module.map_or(-1, |module| self.resource(module.index()) as i64);
            let table = &mut self.func_table;
            table.name.push(name);
            table.is_js.push(false);
            table.relevant_for_js.push(false);
            table.resource.push(resource);
            table.file_name.push(file);
            table.line_number.push(self.frames.declared_at(subject));
            table.column_number.push(None);
            table.length += 1;
        }
        row
    }

    fn resource(&mut self, module: usize) -> usize {
        let (row, is_new) = self.resources.row(module);
        if is_new {
            let path = self.modules[module];
            let name = self.string(path.rsplit('/').next().unwrap_or(path));
            let table = &mut self.resource_table;
            table.lib.push(Some(module));
            table.name.push(name);
            table.host.push(None);
            table.r#type.push(LIBRARY);
            table.length += 1;
        }
        row
    }

    fn frame(&mut self, frame: Frame) -> usize {
        let (row, is_new) = self.frame_rows.row(frame);
        if is_new {
            let func = self.func(frame.subject);
            let table = &mut self.frame_table;
            // It is symbolized, and addresses are not wanted.
            table.address.push(-1);
            table.inline_depth.push(0);
            table.category.push(Some(0));
            table.subcategory.push(Some(0));
            table.func.push(func);
            table.native_symbol.push(None);
            table.inner_window_id.push(None);
            table.implementation.push(None);
            table.line.push(frame.line);
            table.column.push(None);
            table.length += 1;
        }
        row
    }

    /// The row of a call path: each of its frames below the one that called it.
    fn stack(&mut self, path: Vec<Frame>) -> usize {
        let mut prefix = None;
        for frame in path {
            let frame = self.frame(frame);
            let (row, is_new) = self.stacks.row((prefix, frame));
            if is_new {
                let table = &mut self.stack_table;
                table.frame.push(frame);
                table.prefix.push(prefix);
                table.category.push(0);
                table.subcategory.push(0);
                table.length += 1;
            }
            prefix = Some(row);
        }
        prefix.unwrap_or(0)
    }
}

/// Writes the file.
pub fn write(selection: &Selection<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let profile = selection.profile();
    let frames = Frames::of(profile);
    let modules: Vec<&str> = profile.modules.iter().map(|module| module.path.as_str()).collect();
    let threads: Vec<Value> = threads(selection)
        .into_iter()
        .map(|thread| of_thread(selection, thread, Tables::new(&frames, modules.clone())))
        .collect();
    let libs: Vec<Value> = profile
        .modules
        .iter()
        .map(|module| {
            let name = module.name();
            json!({
                "arch": std::env::consts::ARCH, "name": name, "path": module.path, "debugName": name,
                "debugPath": module.path, "breakpadId": "", "codeId": module.build_id
            })
        })
        .collect();
    let file = json!({
        "meta": {
            "interval": 1000.0 / f64::from(profile.facts.asked_rate_hz.max(1)),
            "startTime": profile.facts.start_unix_s * 1000.0,
            "processType": 0,
            "product": profile.facts.command.join(" "),
            "importedFrom": concat!("proust ", env!("CARGO_PKG_VERSION")),
            "stackwalk": 1,
            "debug": false,
            "version": RECORDED,
            "preprocessedProfileVersion": PROCESSED,
            "symbolicated": true,
            "extensions": { "id": [], "name": [], "baseURL": [], "length": 0 },
            "categories": [{ "name": "Other", "color": "grey", "subcategories": ["Other"] }],
            "markerSchema": [],
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
            "doesNotUseFrameImplementation": true,
            "sourceCodeIsNotOnSearchfox": true
        },
        "libs": libs,
        "pages": [],
        "threads": threads
    });
    Ok(serde_json::to_writer(out, &file)?)
}

fn of_thread(selection: &Selection<'_>, thread: Thread<'_>, mut tables: Tables<'_>) -> Value {
    let mut rows = Samples { weight_type: "tracing-ms", ..Samples::default() };
    for row in samples(selection, thread.id) {
        rows.stack.push(tables.stack(tables.frames.path(row.context)));
        rows.time.push(row.time_ns as f64 / 1e6);
        rows.weight.push(row.cpu_ns as f64 / 1e6);
        rows.thread_cpu_delta.push(row.cpu_ns);
        rows.length += 1;
    }
    json!({
        "processType": "default",
        "processName": thread.program(),
        "processStartupTime": thread.process.start.as_seconds() * 1000.0,
        "processShutdownTime": thread.process.end.as_seconds() * 1000.0,
        "registerTime": thread.location.start.as_seconds() * 1000.0,
        "unregisterTime": thread.location.end.as_seconds() * 1000.0,
        "pausedRanges": [],
        "name": thread.name(),
        "isMainThread": thread.is_main(),
        "showMarkersInTimeline": false,
        "pid": thread.process.pid.to_string(),
        "tid": thread.location.tid,
        "samples": rows,
        "markers": {
            "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "length": 0
        },
        "stackTable": tables.stack_table,
        "frameTable": tables.frame_table,
        "funcTable": tables.func_table,
        "resourceTable": tables.resource_table,
        "nativeSymbols": { "libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0 },
        "stringArray": tables.string_array
    })
}
