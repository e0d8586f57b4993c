//! The profile of `pprof`, as its definition `profile.proto` has it, compressed with gzip. A sample is a call
//! path of one thread; labels name thread, process and program, and its values are samples, nanoseconds of
//! processor time, and the measure that was asked for beside them.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use proust_profile::{ContextId, LocationId, Metric, Module, ModuleId};
use proust_query::{Measure, Selection};

use crate::amounts::{by_location, unit};
use crate::error::ExportError;
use crate::frames::{Frame, Frames, Subject};
use crate::threads::Thread;

/// A profile. Numbers of strings are positions in `string_table`, of which the first is empty.
#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Place>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

/// Locations from the innermost one outwards; a value for each sample type.
#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
    #[prost(int64, tag = "3")]
    number: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Place {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// The tables while they are filled; numbers begin at 1, as the definition wants it.
struct Tables<'p> {
    frames: Frames<'p>,
    modules: &'p [Module],
    strings: HashMap<String, i64>,
    places: HashMap<Frame, u64>,
    functions: HashMap<Subject, u64>,
    mappings: HashMap<ModuleId, u64>,
    made: Profile,
}

impl Tables<'_> {
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        let number = self.made.string_table.len() as i64;
        self.made.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), number);
        number
    }

    fn place(&mut self, frame: Frame) -> u64 {
        if let Some(&known) = self.places.get(&frame) {
            return known;
        }
        let function_id = self.function(frame.subject);
        let module = self.frames.function(frame.subject).and_then(|function| function.module);
        let mapping_id = module.map_or(0, |module| self.mapping(module));
        let id = self.made.location.len() as u64 + 1;
        let line = vec![Line { function_id, line: frame.line.unwrap_or(0).into() }];
        self.made.location.push(Place { id, mapping_id, line });
        self.places.insert(frame, id);
        id
    }

    fn function(&mut self, subject: Subject) -> u64 {
        if let Some(&known) = self.functions.get(&subject) {
            return known;
        }
        let name = self.frames.name(subject);
        let linkage = self.frames.function(subject).and_then(|function| function.linkage_name.clone());
        let file = self.frames.file(subject).unwrap_or_default();
        let id = self.made.function.len() as u64 + 1;
        let function = Function {
            id,
            system_name: self.string(linkage.as_deref().unwrap_or(&name)),
            name: self.string(&name),
            filename: self.string(file),
            start_line: self.frames.declared_at(subject).unwrap_or(0).into(),
        };
        self.made.function.push(function);
        self.functions.insert(subject, id);
        id
    }

    fn mapping(&mut self, module: ModuleId) -> u64 {
        if let Some(&known) = self.mappings.get(&module) {
            return known;
        }
        let of = &self.modules[module.index()];
        let (filename, build_id) = (self.string(&of.path), self.string(&of.build_id));
        let id = self.made.mapping.len() as u64 + 1;
        self.made.mapping.push(Mapping {
            id,
            filename,
            build_id,
            // Whatever a symbolizer could find is in the profile.
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        });
        self.mappings.insert(module, id);
        id
    }

    fn kind(&mut self, name: &str, unit: &str) -> ValueType {
        ValueType { kind: self.string(name), unit: self.string(unit) }
    }

    fn labels(&mut self, thread: Thread<'_>) -> Vec<Label> {
        let texts = [("thread", thread.name()), ("program", thread.program())];
        let mut labels = Vec::new();
        for (key, text) in texts {
            labels.push(Label { key: self.string(key), text: self.string(&text), number: 0 });
        }
        let ranks = thread.process.rank.map(|rank| ("rank", rank));
        for (key, number) in
            [("thread_id", thread.location.tid), ("process_id", thread.process.pid)].into_iter().chain(ranks)
        {
            labels.push(Label { key: self.string(key), text: 0, number: number.into() });
        }
        labels
    }
}

/// Writes the file.
pub fn write(selection: &Selection<'_>, measure: Measure, out: &mut dyn Write) -> Result<(), ExportError> {
    let made = profile(selection, measure);
    let mut compressed = GzEncoder::new(out, Compression::default());
    compressed.write_all(&made.encode_to_vec())?;
    compressed.finish()?;
    Ok(())
}

fn profile(selection: &Selection<'_>, measure: Measure) -> Profile {
    let of = selection.profile();
    let cpu = Measure::Metric(Metric::Cpu);
    let mut kinds = vec![("samples".to_owned(), Measure::Metric(Metric::Samples)), ("cpu".to_owned(), cpu)];
    if !kinds.iter().any(|(_, known)| *known == measure) {
        kinds.push((measure.id().trim_end_matches("_s").to_owned(), measure));
    }
    let mut amounts: BTreeMap<(LocationId, ContextId), Vec<i64>> = BTreeMap::new();
    for (n, (_, kind)) in kinds.iter().enumerate() {
        for (key, amount) in by_location(selection, *kind) {
            amounts.entry(key).or_insert_with(|| vec![0; kinds.len()])[n] = amount as i64;
        }
    }
    let mut tables = Tables {
        frames: Frames::of(of),
        modules: &of.modules.raw,
        strings: HashMap::new(),
        places: HashMap::new(),
        functions: HashMap::new(),
        mappings: HashMap::new(),
        made: Profile::default(),
    };
    tables.string("");
    for (name, kind) in &kinds {
        let kind = tables.kind(name, &unit(*kind));
        tables.made.sample_type.push(kind);
    }
    tables.made.period_type = Some(tables.kind("cpu", "nanoseconds"));
    tables.made.period = 1_000_000_000 / i64::from(of.facts.asked_rate_hz.max(1));
    tables.made.time_nanos = (of.facts.start_unix_s * 1e9) as i64;
    tables.made.duration_nanos = of.facts.wall.get();
    let asked = kinds.iter().position(|(_, kind)| *kind == measure).unwrap_or(0);
    tables.made.default_sample_type = tables.made.sample_type[asked].kind;
    let command = tables.string(&of.facts.command.join(" "));
    tables.made.comment.push(command);
    for ((location, context), value) in amounts {
        let path = tables.frames.path(context);
        let location_id = path.into_iter().rev().map(|frame| tables.place(frame)).collect();
        let label = tables.labels(Thread::of(selection, location));
        tables.made.sample.push(Sample { location_id, value, label });
    }
    tables.made
}
