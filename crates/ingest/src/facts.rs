//! The facts of a run as a whole: from the run's file where there is one, else from its logs.

use proust_profile::bindings;
use proust_profile::{Ns, Profile, RunFacts, RunFile, Stop};

use crate::clock::RunClock;
use crate::log::LogHarvest;
use crate::outcome::outcome;

/// The stops that `record` saw, on the run's clock.
fn stops(run: &RunFile, clock: &RunClock) -> Vec<Stop> {
    let since_start = |time_ns: u64| clock.of_host_ns(time_ns);
    let shifted = |stop: &Stop| Stop {
        pid: stop.pid,
        before_ns: since_start(stop.before_ns),
        begin_ns: since_start(stop.begin_ns),
        end_ns: since_start(stop.end_ns),
        behind_ns: since_start(stop.behind_ns),
    };
    run.stops.iter().map(shifted).collect()
}

/// The facts of a run whose profile is complete but for them.
pub fn facts(
    dir: &str,
    logs: &[LogHarvest],
    run: Option<&RunFile>,
    profile: &Profile,
    clock: &RunClock,
) -> RunFacts {
    let intact = logs.iter().find(|log| !log.damage.header).or(logs.first());
    let header = intact.map(|log| log.header).unwrap_or_default();
    let first = profile.processes.first();
    RunFacts {
        dir: dir.into(),
        command: match run {
            Some(run) => run.command.clone(),
            None => first.map(|process| process.arguments.clone()).unwrap_or_default(),
        },
        start_unix_s: match run {
            Some(run) if run.start_unix_s.is_finite() => run.start_unix_s,
            _ => Ns::of(header.start_unix_ns).as_seconds(),
        },
        wall: profile.processes.iter().map(|process| process.end).max().unwrap_or_default(),
        available_processors: bindings::available(&profile.processes.raw),
        asked_rate_hz: run.map_or(header.asked_rate_hz, |run| run.asked_rate_hz),
        tick: Ns::of(header.tick_ns.into()),
        host: clock.host(0).into(),
        outcome: outcome(run),
        // What is known is that of the host on which `record` ran.
        stolen: (run.filter(|run| run.host == clock.host(0)))
            .and_then(|run| run.finished?.stolen_s)
            .map(Ns::from_seconds),
        throttled: run.and_then(|run| run.finished?.throttled_s).map(Ns::from_seconds),
        stops: run.filter(|run| run.host == clock.host(0)).map_or_else(Vec::new, |run| stops(run, clock)),
        pauses: Vec::new(),
        wait_rules: String::new(),
    }
}
