//! Processes that are started for a moment's work: beginning and ending them is most of what they cost.

use std::collections::BTreeMap;

use proust_profile::notes::RunNote;
use proust_profile::{ContextId, LocationId, Metric, Ns, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// Recorded functions that start a process, or wait for one.
const STARTERS: [&str; 2] = ["popen", "system"];
const WAITERS: [&str; 6] = ["waitpid", "wait", "wait3", "wait4", "waitid", "pclose"];
/// How functions are called in which a process begins.
const MAKERS: [&str; 8] =
    ["fork", "vfork", "__libc_fork", "posix_spawn", "__spawni", "clone", "__clone", "_Fork"];

/// A process id, of a host.
type Pid<'p> = (&'p str, u32);

/// What one process id did, with all programs that it executed.
#[derive(Clone, Debug, Default)]
struct Life {
    parent: u32,
    start: Option<Ns>,
    end: Ns,
    cpu: Ns,
    system: Ns,
    programs: usize,
    processes: Vec<ProcessId>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let lives = lives(facts);
    let is_short = |pid: &Pid<'_>| {
        lives
            .get(pid)
            .is_some_and(|life| limits::SPAWN_LIFE_S.holds(life.end - life.start.unwrap_or(life.end)))
    };
    // Programs that a shell starts for a moment count with the shell: it was started for them.
    let mut by_parent: BTreeMap<Pid<'_>, Vec<&Life>> = BTreeMap::new();
    for (&pid, life) in lives.iter().filter(|(pid, _)| is_short(pid)) {
        let mut parent = (pid.0, life.parent);
        let mut steps = 0;
        while is_short(&parent) && parent != pid && steps < GENERATIONS {
            parent.1 = lives[&parent].parent;
            steps += 1;
        }
        if !is_short(&parent) && lives.contains_key(&parent) {
            by_parent.entry(parent).or_default().push(life);
        }
    }
    by_parent.into_iter().filter_map(|(parent, short)| churn(facts, &lives[&parent], &short)).collect()
}

/// A process of a moment is not looked for further above the one that it was started for.
const GENERATIONS: usize = 8;

fn lives<'r>(facts: &Facts<'r>) -> BTreeMap<Pid<'r>, Life> {
    let profile = facts.profile;
    let mut lives: BTreeMap<Pid<'r>, Life> = BTreeMap::new();
    let pid = |process: ProcessId| (&*profile.processes[process].host, profile.processes[process].pid);
    for (id, process) in profile.processes.iter_enumerated() {
        let life = lives.entry(pid(id)).or_default();
        if life.processes.is_empty() {
            life.parent = process.parent_pid;
        }
        life.start = Some(life.start.map_or(process.start, |start| start.min(process.start)));
        life.end = life.end.max(process.end);
        life.programs += usize::from(process.origin == "image");
        life.processes.push(id);
    }
    for location in &profile.locations {
        if let Some(life) = lives.get_mut(&pid(location.process)) {
            life.cpu += location.cpu;
        }
    }
    for value in profile.values.iter().filter(|value| value.metric == Metric::System) {
        if let Some(life) = lives.get_mut(&pid(profile.locations[value.location].process)) {
            life.system += Ns::of(value.amount);
        }
    }
    lives
}

/// CPU time of loading one program, before its measurement begins.
fn loading_each(facts: &Facts<'_>) -> Ns {
    let each = facts.profile.quality.notes.iter().find_map(|note| match *note {
        RunNote::ProgramsLoaded { programs, before_ns, .. } if programs > 0 => {
            Some(Ns::of(before_ns / programs as u64))
        }
        _ => None,
    });
    each.unwrap_or_default()
}

fn churn(facts: &Facts<'_>, parent: &Life, short: &[&Life]) -> Option<Finding> {
    let profile = facts.profile;
    let count = short.len() as f64;
    let life = parent.end - parent.start.unwrap_or(parent.end);
    let mut checks = Checks::default();
    // Before all values are gone through: in a build most processes have a few such children.
    if !checks.holds(&limits::SPAWNS, count)
        || !checks.holds(&limits::SPAWN_RATE, count / life.as_seconds().max(1e-3))
    {
        return None;
    }
    let programs: usize = short.iter().map(|one| one.programs).sum();
    let (cpu, system): (Ns, Ns) =
        (short.iter().map(|one| one.cpu).sum(), short.iter().map(|one| one.system).sum());
    let is_of_parent = |location: LocationId| parent.processes.contains(&profile.locations[location].process);
    let mut making: FxHashMap<ContextId, Ns> = FxHashMap::default();
    for value in profile.values.iter().filter(|value| value.metric == Metric::Cpu) {
        if is_of_parent(value.location) && is_below_maker(facts, value.context) {
            *making.entry(value.context).or_default() += Ns::of(value.amount);
        }
    }
    let making_time: Ns = making.values().sum();
    let loading = loading_each(facts) * programs as f64;
    let lost = making_time + loading + system;
    if !checks.holds(&limits::SPAWN_SHARE, lost / (making_time + loading + cpu).max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let named = |names: &'static [&'static str]| {
        let of = facts.calls.iter().filter(|call| is_of_parent(call.location));
        let of = of.filter(|call| {
            let name = profile.operations[call.operation].name.as_str();
            names.contains(&name)
        });
        of.max_by_key(|call| (call.calls, std::cmp::Reverse(call.context))).map(|call| call.context)
    };
    let most = making.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(&context, _)| context);
    let context = named(&STARTERS).or(most).or_else(|| named(&WAITERS))?;
    let cause = facts.places.place(context);
    let mut place = facts.located(cause, std::iter::empty());
    place.processes = parent.processes.clone();
    let mut finding = facts.finding(Kind::ProcessChurn, Account::Compute, lost, lost, place);
    let mean = |sum: Ns| sum / count.max(1.0);
    let lived: Ns = short.iter().map(|one| one.end - one.start.unwrap_or(one.end)).sum();
    finding.evidence = vec![
        Figure::count(FigureId::ShortProcesses, count),
        Figure::time(FigureId::MeanLifeOfProcess, mean(lived)),
        Figure::time(FigureId::CpuOfLoading, loading),
        Figure::time(FigureId::CpuOfMaking, making_time),
        Figure::time(FigureId::KernelCpuInThem, system),
        Figure::time(FigureId::CpuOfTheirs, cpu),
    ];
    let share = lost / (making_time + loading + cpu).max(Ns::SHORTEST);
    let is_most = limits::SPAWN_MOST.holds(share);
    if is_most {
        checks.holds(&limits::SPAWN_MOST, share);
    }
    finding.sure = if is_most { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// Whether a function in which a process begins is below the program's own.
fn is_below_maker(facts: &Facts<'_>, context: ContextId) -> bool {
    facts.places.calls_below_own(context, |name| MAKERS.iter().any(|maker| name.starts_with(maker)))
}
