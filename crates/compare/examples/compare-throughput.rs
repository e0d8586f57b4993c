//! How fast runs are compared: `cargo run --release -p proust-analysis --example compare-throughput [RUNS
//! [CONTEXTS [DIR]]]`.
//!
//! Runs of so many contexts each are made in memory: calls of 5000 functions up to 30 deep, a quarter of the
//! contexts lines, seen by four threads; every other run is of another build, whose lines have moved. What is
//! timed is all from the profiles to the joint tree with the amounts of every run by node and by function,
//! and their errors; and all of a comparison of the first half of the runs with the second: what changed by
//! context and by function. With a folder nothing is timed: it becomes a sweep of these runs, each half with
//! repetitions of one count, whose profiles are kept and whose logs are not.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use proust_account::ledger::{IoAs, Ledger};
use proust_compare::{ComparedRun, Diff, Joint, Outline};
use proust_ingest::ANALYSIS_VERSION;
use proust_profile::run_file;
use proust_profile::sweep_file::{Axis, PointOutcome, SWEEP_SCHEMA, SweepPoint, THREADS as COUNT};
use proust_profile::tables::Provenance;
use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Metric, Module, ModuleId,
    Ns, Process, Profile, RunFile, SampleRow, SweepFile, Value,
};
use proust_query::{Measure, Selection};
use rayon::prelude::*;

const FUNCTIONS: u32 = 5000;
const THREADS: u32 = 4;

fn profile(run: u32, contexts: u32) -> Profile {
    let moved = run % 2 * 20;
    let mut state = 0x9e37_79b9_u32;
    let mut random = move |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let program =
        Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
    let function = |n: u32| Function {
        name: format!("module::part{}::function{n}", n / 100),
        module: Some(ModuleId(0)),
        file: Some(format!("/src/part{}.cpp", n / 100)),
        line: Some(n % 100 * 50 + moved),
        ..Function::default()
    };
    let mut profile = Profile {
        locations: vec![Location::default(); THREADS as usize].into(),
        modules: vec![Module { build_id: moved.to_string(), ..Module::default() }].into(),
        functions: (0..FUNCTIONS).map(function).collect(),
        contexts: vec![program].into(),
        ..Profile::default()
    };
    // All runs have the same calls, and each lacks some of the lines.
    let mut depth = vec![0_u32];
    let mut ids = vec![Some(0_u32)];
    while profile.contexts.len() < contexts as usize {
        let left = ids.len() as u32;
        let recent = left - 1 - random(left.min(200));
        let (is_line, name, line) = (random(4) == 0, random(FUNCTIONS), random(40));
        let parent = ids[recent as usize].filter(|_| depth[recent as usize] < 30).unwrap_or(0);
        let caller = profile.contexts[ContextId(parent)].function.map(u32::from);
        let is_line = is_line && caller.is_some();
        let file = caller.map(|id| format!("/src/part{}.cpp", id / 100));
        let line = caller.map(|id| id % 100 * 50 + moved + line);
        let (kind, function) =
            if is_line { (ContextKind::Line, caller) } else { (ContextKind::Frame, Some(name)) };
        let function = function.map(FunctionId);
        depth.push(if parent == 0 { 1 } else { depth[recent as usize] + 1 });
        ids.push((!is_line).then_some(profile.contexts.len() as u32));
        if !is_line || left % 50 != run {
            profile.contexts.push(Context { parent: Some(ContextId(parent)), kind, function, file, line });
        }
    }
    for context in 0..contexts {
        for location in 0..THREADS {
            for (metric, amount) in
                [(Metric::Cpu, 5_000_000), (Metric::Samples, 1), (Metric::CpuSquares, 25_000_000)]
            {
                profile.values.push(Value {
                    context: ContextId(context),
                    location: LocationId(location),
                    metric,
                    amount,
                });
            }
        }
    }
    profile
}

/// Seconds that a comparison of the first half with the second takes.
fn compared_s(profiles: &[Profile]) -> f64 {
    let begin = Instant::now();
    let ledger = Ledger { processors: THREADS, total_ns: 1_000_000_000, ..Ledger::default() };
    let cpu = Measure::Metric(Metric::Cpu);
    let runs: Vec<ComparedRun> = profiles
        .par_iter()
        .map(|profile| ComparedRun::new(profile, &ledger, Vec::new(), &[cpu], &[]))
        .collect();
    let (a, b) = runs.split_at(runs.len() / 2);
    let diff = Diff::new(a, b, IoAs::Productive).expect("they have CPU time");
    let (contexts, functions) = (diff.contexts(cpu), diff.functions(cpu));
    assert!(!contexts.is_empty() && !functions.is_empty());
    begin.elapsed().as_secs_f64()
}

/// The profile as a record of as many samples would give it: each context was met once by each thread.
fn sampled(profile: Profile) -> Profile {
    let contexts = profile.contexts.len() as u64;
    let end = Ns::of(contexts * 5_000_000);
    let sample = |location| {
        move |context| SampleRow {
            location,
            context: ContextId(context as u32),
            time_ns: (context + 1) * 5_000_000,
            cpu_ns: 5_000_000,
            ..SampleRow::default()
        }
    };
    Profile {
        processes: vec![Process { end, ..Process::default() }].into(),
        locations: vec![Location { end, cpu: end, ..Location::default() }; THREADS as usize].into(),
        samples: (0..THREADS).flat_map(|location| (0..contexts).map(sample(LocationId(location)))).collect(),
        ..profile
    }
}

/// Makes the folder a sweep of these runs.
fn keep(dir: &Path, profiles: Vec<Profile>) -> Result<(), Box<dyn Error>> {
    let half = profiles.len().div_ceil(2);
    let mut points = Vec::new();
    for (run, profile) in profiles.into_iter().enumerate() {
        let name = format!("run{run}");
        let folder = dir.join(&name);
        fs::create_dir_all(folder.join("log"))?;
        RunFile { schema: run_file::SCHEMA, command: vec!["./synthetic".into()], ..RunFile::default() }
            .write(&folder)?;
        let provenance = Provenance { analysis: ANALYSIS_VERSION, rules: 0, sources: Vec::new() };
        proust_store::keep(&folder, &sampled(profile), &provenance)?;
        points.push(SweepPoint {
            values: vec![(1 + run / half).to_string()],
            repetition: (1 + run % half) as u32,
            outcome: PointOutcome::Done,
            dir: Some(name),
            ..SweepPoint::default()
        });
    }
    let axis = Axis { name: COUNT.into(), values: vec!["1".into(), "2".into()] };
    let sweep = SweepFile {
        schema: SWEEP_SCHEMA,
        command: vec!["./synthetic".into()],
        axes: vec![axis],
        repetitions: half as u32,
        points,
        ..SweepFile::default()
    };
    Ok(sweep.write(dir)?)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise| arguments.next().map_or(otherwise, |text| text.parse().expect("a number"));
    let (runs, contexts): (u32, u32) = (number(10), number(100_000));
    let dir = arguments.next();
    if let Some(dir) = dir {
        let profiles = (0..runs).map(|run| profile(run, contexts)).collect();
        keep(dir.as_ref(), profiles).expect("a folder that can be written to");
        return;
    }
    let profiles: Vec<Profile> = (0..runs).map(|run| profile(run, contexts)).collect();
    let begin = Instant::now();
    let cpu = Measure::Metric(Metric::Cpu);
    let outlines: Vec<Outline> = profiles
        .par_iter()
        .map(|profile| Outline::new(&Selection::all(profile), [Measure::Metric(Metric::Samples)], &[cpu]))
        .collect();
    let outlined_s = begin.elapsed().as_secs_f64();
    let joint = Joint::of(&outlines);
    let joined_s = begin.elapsed().as_secs_f64() - outlined_s;
    let mut sum = 0.0;
    for run in 0..joint.runs() {
        sum += joint.amounts(run, cpu).inclusive[0] + joint.errors(run).inclusive[0];
        sum += joint.amounts_by_function(run, cpu).exclusive.iter().sum::<f64>();
    }
    let all_s = begin.elapsed().as_secs_f64();
    println!(
        "{runs} runs of {contexts} contexts: {} joint ones; outlines {outlined_s:.3} s, matching \
         {joined_s:.3} s, amounts {:.3} s, together {all_s:.3} s ({sum:.0} s of CPU time twice); a \
         comparison {:.3} s",
        joint.len(),
        all_s - outlined_s - joined_s,
        compared_s(&profiles)
    );
}
