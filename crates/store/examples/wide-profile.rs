//! A run of many locations: `wide-profile DIR [LOCATIONS CONTEXTS SAMPLES]`.
//!
//! Keeps a profile in DIR whose locations each have so many samples, spread over so many contexts, 40 to a
//! function, for pages to be timed with; 16 000 locations, 2000 contexts and 200 samples by default. What is
//! measured with it is in `docs/benchmarks.md`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use proust_profile::run_file::{self, RunFile};
use proust_profile::sample_metrics::{SAMPLE_METRICS, amounts_of_sample};
use proust_profile::tables::Provenance;
use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Metric, Ns, Process,
    ProcessId, Profile, SampleRow, Value,
};

const THREADS: u32 = 16;
const OF_FUNCTION: u32 = 40;
const PERIOD_NS: u64 = 5_000_000;

fn profile(locations: u32, contexts: u32, samples: u32) -> Profile {
    let context = |id: u32| Context {
        // A tree six deep or so.
        parent: (id > 0).then_some(ContextId(id / 4)),
        kind: if id == 0 { ContextKind::Program } else { ContextKind::Frame },
        function: (id > 0).then_some(FunctionId(id / OF_FUNCTION)),
        file: None,
        line: None,
    };
    let function = |n: u32| Function { name: format!("function{n}"), ..Function::default() };
    let end = Ns::of(u64::from(samples) * PERIOD_NS);
    let process = |n: u32| Process { pid: n + 1, rank: Some(n), end, ..Process::default() };
    let location = |n: u32| Location {
        process: ProcessId(n / THREADS),
        tid: n + 1,
        end,
        cpu: end,
        samples: samples.into(),
        ..Location::default()
    };
    let mut values = BTreeMap::new();
    let mut rows = Vec::new();
    for n in 0..locations {
        for k in 0..samples {
            // Multiplication by a large prime: any location has samples all over the tree.
            let place = (u64::from(n) * u64::from(samples) + u64::from(k)) * 2_654_435_761;
            let row = SampleRow {
                location: LocationId(n),
                context: ContextId(1 + (place % u64::from(contexts - 1)) as u32),
                time_ns: (u64::from(k) + 1) * PERIOD_NS,
                cpu_ns: PERIOD_NS,
                user_ns: PERIOD_NS,
                ..SampleRow::default()
            };
            for (metric, amount) in SAMPLE_METRICS.into_iter().zip(amounts_of_sample(&row)) {
                if amount > 0 {
                    *values.entry((row.context, row.location, metric)).or_insert(0) += amount;
                }
            }
            rows.push(row);
        }
    }
    let value = |((context, location, metric), amount): ((ContextId, LocationId, Metric), u64)| Value {
        context,
        location,
        metric,
        amount,
    };
    Profile {
        processes: (0..locations.div_ceil(THREADS)).map(process).collect(),
        locations: (0..locations).map(location).collect(),
        functions: (0..contexts / OF_FUNCTION + 1).map(function).collect(),
        contexts: (0..contexts).map(context).collect(),
        values: values.into_iter().map(value).collect(),
        samples: rows.into(),
        ..Profile::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let dir = Path::new(words.first().ok_or("a folder")?);
    let number = |at: usize, otherwise: u32| words.get(at).map_or(Ok(otherwise), |word| word.parse());
    let profile = profile(number(1, 16_000)?, number(2, 2_000)?, number(3, 200)?);
    fs::create_dir_all(dir.join("log"))?;
    RunFile { schema: run_file::SCHEMA, command: vec!["./synthetic".into()], ..RunFile::default() }
        .write(dir)?;
    println!("{} amounts", profile.values.len());
    let analysis = proust_ingest::ANALYSIS_VERSION;
    let provenance = Provenance { analysis, rules: 0, sources: Vec::new() };
    Ok(proust_store::keep(dir, &profile, &provenance)?)
}
