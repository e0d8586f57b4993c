//! Outlines, their matching, and verdicts, on trees made by hand.

mod laws;
mod matching;
mod sides;

use std::collections::BTreeMap;

use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Metric, Module, ModuleId,
    Ns, Profile, Value,
};

use super::{Joint, Outline};
use proust_query::{Measure, Selection};

/// Paths with the seconds of CPU time in them. A step is `name`, or `name@12` called from line 12 of its
/// caller, or `:12`, a line. Functions begin at line 0, and all is in one file, unless a step is
/// `name@12/other.c`.
pub(super) fn profile(build_id: &str, paths: &[(&str, f64)]) -> Profile {
    profile_from(build_id, 0, paths)
}

/// The same, where every function begins at that line; lines of steps are counted from there.
pub(super) fn profile_from(build_id: &str, begin: u32, paths: &[(&str, f64)]) -> Profile {
    let program =
        Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
    let mut profile = Profile {
        locations: vec![Location::default()].into(),
        modules: vec![Module { build_id: build_id.into(), ..Module::default() }].into(),
        contexts: vec![program].into(),
        ..Profile::default()
    };
    let mut values: BTreeMap<u32, f64> = BTreeMap::new();
    for (path, seconds) in paths {
        let mut at = 0_u32;
        for step in path.split(' ') {
            let (step, file) = step.split_once('/').unwrap_or((step, "a.c"));
            let (name, line) =
                step.split_once(['@', ':']).map_or((step, None), |(name, line)| (name, line.parse().ok()));
            let line = line.map(|line: u32| line + begin);
            let is_line = name.is_empty();
            let caller = profile.contexts[ContextId(at)].function;
            let function =
                if is_line { caller } else { Some(FunctionId(function(&mut profile, name, file, begin))) };
            let kind = if is_line { ContextKind::Line } else { ContextKind::Frame };
            let file = line.map(|_| "/src/a.c".to_owned());
            let context = Context { parent: Some(ContextId(at)), kind, function, file, line };
            let known = profile.contexts.iter().position(|known| *known == context);
            at = known.unwrap_or_else(|| {
                profile.contexts.push(context);
                profile.contexts.len() - 1
            }) as u32;
        }
        *values.entry(at).or_default() += seconds;
    }
    for (context, seconds) in values {
        let ns = Ns::from_seconds(seconds).unsigned();
        for (metric, amount) in [(Metric::Cpu, ns), (Metric::Samples, ns / 10_000_000)] {
            profile.values.push(Value {
                context: ContextId(context),
                location: LocationId(0),
                metric,
                amount,
            });
        }
    }
    profile
}

fn function(profile: &mut Profile, name: &str, file: &str, begin: u32) -> u32 {
    let file = (file != "-").then(|| format!("/src/{file}"));
    let known = profile.functions.iter().position(|known| known.name == name && known.file == file);
    known.unwrap_or_else(|| {
        let line = file.as_ref().map(|_| begin);
        let name = name.to_owned();
        profile.functions.push(Function {
            name,
            module: Some(ModuleId(0)),
            file,
            line,
            ..Function::default()
        });
        profile.functions.len() - 1
    }) as u32
}

pub(super) fn outline(profile: &Profile) -> Outline {
    Outline::new(&Selection::all(profile), [], &[Measure::Metric(Metric::Cpu)])
}

/// The joint tree as text: a path, and the own seconds of each run, `-` where the run has no such place.
pub(super) fn shown(profiles: &[Profile]) -> Vec<String> {
    let outlines: Vec<Outline> = profiles.iter().map(outline).collect();
    let joint = Joint::of(&outlines);
    let owns: Vec<Vec<u128>> = (0..joint.runs()).map(|run| joint.own(run, Metric::Cpu)).collect();
    let mut lines = Vec::new();
    for node in 0..joint.len() as u32 {
        let mut path = Vec::new();
        let mut at = Some(node);
        while let Some(id) = at {
            let label = joint.label(id);
            match (label.kind, label.line) {
                (ContextKind::Program, _) => {}
                (_, Some(line)) if label.kind == ContextKind::Line => path.push(format!(":{line}")),
                (_, Some(line)) => path.push(format!("{}@{line}", label.name)),
                (_, None) => path.push(label.name.to_owned()),
            }
            at = joint.parent(id);
        }
        path.reverse();
        let amounts = (0..joint.runs()).map(|run| match joint.node_in(node, run) {
            Some(_) => Ns::of_sum(owns[run][node as usize]).as_seconds().to_string(),
            None => "-".into(),
        });
        let amounts: Vec<String> = amounts.collect();
        if amounts.iter().any(|amount| amount != "0") {
            lines.push(format!("{} {}", path.join(" "), amounts.join(" ")));
        }
    }
    lines.sort();
    lines
}
