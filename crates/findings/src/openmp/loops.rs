//! Loops that are divided badly: by count where iterations differ, or into chunks that are too small.

use std::collections::BTreeSet;

use proust_profile::{Detail, LocationId, Ns, ProcessId, RegionId, SegmentRow};

use super::constructs::{Construct, Constructs, place, spinning_share};
use crate::facts::Facts;
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let for_all = constructs.all.iter().filter(|one| one.is_for_all());
    let mut found: Vec<Finding> = for_all.filter_map(|one| uneven(facts, constructs, one)).collect();
    let dispatch = constructs.of_kind(Detail::Dispatch);
    let regions: BTreeSet<(ProcessId, RegionId)> =
        dispatch.flat_map(|one| one.regions().into_iter().map(|region| (one.process, region))).collect();
    // Runtimes of LLVM up to version 16 report no requests: there only samples do.
    let told: BTreeSet<RegionId> = regions.iter().map(|(_, region)| *region).collect();
    let ends = constructs.of_kind(Detail::RegionEnd);
    let others: BTreeSet<RegionId> =
        ends.flat_map(Construct::regions).filter(|r| !told.contains(r)).collect();
    let for_all = constructs.all.iter().filter(|one| one.is_for_all());
    found.extend(for_all.filter_map(|one| large_chunks(facts, constructs, one)));
    found.extend(regions.into_iter().filter_map(|(_, region)| small_chunks(facts, constructs, region)));
    found.extend(others.into_iter().filter_map(|region| much_dispatch(facts, constructs, region)));
    found
}

/// A loop's end and the requests for its iterations are reported at lines so near to each other: at the
/// loop's directive, its head, or its end.
pub(crate) const NEAR: u32 = 4;

/// How often threads asked for iterations of the loop that ends there, and how many they got: none where they
/// are divided by count. Of sections the numbers are not known.
fn handed_out(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> (u64, u64) {
    let regions = construct.regions();
    let end = place(facts, construct);
    let of_it = constructs.of_kind(Detail::Dispatch).filter(|one| {
        let at = place(facts, one);
        let near = end.line.zip(at.line).is_none_or(|(end, at)| end.abs_diff(at) <= NEAR);
        near && end.file == at.file && one.regions().iter().any(|r| regions.contains(r))
    });
    of_it.fold((0, 0), |(requests, iterations), one| {
        (requests + one.executions(), iterations + one.iterations())
    })
}

/// A thread's part of a loop. A thread that worked less had to wait for the difference. The rest of its wait
/// was for a thread that had no processor; so did a thread that worked more and waits: it did the part of
/// another.
struct Part {
    /// Work without the time that it had no processor.
    work: Ns,
    times: f64,
    /// Waited for a later arrival.
    waited: Ns,
}

impl Part {
    fn of(
        facts: &Facts<'_>,
        constructs: &Constructs<'_>,
        location: LocationId,
        rows: &[&SegmentRow],
    ) -> Part {
        let sum = |of: fn(&SegmentRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
        Part {
            work: constructs.processor_time(facts, location, rows),
            times: sum(|row| row.executions).max(1) as f64,
            waited: Ns::of(sum(|row| row.wait_ns.saturating_sub(row.latency_ns))),
        }
    }

    /// Its work if it had executed the loop so many times.
    fn work_in(&self, times: f64) -> Ns {
        self.work * (times / self.times)
    }
}

fn uneven(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> Option<Finding> {
    let threads = construct.by_thread();
    if construct.team() < 2 || threads.len() < 2 || handed_out(facts, constructs, construct).0 > 0 {
        return None;
    }
    // By execution: in teams that are made again each time, threads start and end.
    let parts: Vec<Part> = threads.iter().map(|(&id, rows)| Part::of(facts, constructs, id, rows)).collect();
    let each = |part: &Part| part.work.as_seconds() / part.times;
    let most = parts.iter().max_by(|a, b| each(a).total_cmp(&each(b)))?;
    let all: Ns = parts.iter().map(|part| part.work).sum();
    let all_times: f64 = parts.iter().map(|part| part.times).sum();
    if !most.work.is_positive() || all_times <= most.times {
        return None;
    }
    let others_times = all_times - most.times;
    let others = (all - most.work) * (most.times / others_times);
    let excess = most.work - others;
    let working = parts.iter().filter(|part| each(part) >= limits::UNEVEN_PART.value * each(most)).count();
    let imbalance: Ns = parts.iter().map(|part| part.waited).sum();
    let lost: Ns = parts.iter().map(|part| part.waited.min(most.work_in(part.times) - part.work)).sum();
    let burned = lost * spinning_share(facts, construct.process);
    // Time on a processor is sampled.
    let error = constructs.error(facts, &construct.regions());
    let mut checks = Checks::default();
    if !checks.holds(&limits::UNEVEN_EXCESS, excess / most.work)
        || !checks.holds(&limits::UNEVEN_WORKERS, working as f64 / parts.len() as f64)
        || !checks.holds(&limits::SIGMAS, excess / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let cause = place(facts, construct);
    let mut finding = facts.finding(Kind::OmpUnevenLoop, Account::Barrier, lost, burned, cause);
    finding.beside = (imbalance - lost).max(Ns::ZERO);
    finding.victims = facts.victims(construct.waiters());
    finding.evidence = vec![
        Figure::count(FigureId::Times, construct.visits() as f64),
        Figure::count(FigureId::Threads, parts.len() as f64),
        Figure::time(FigureId::WorkOfBusiest, most.work / most.times),
        Figure::time(FigureId::WorkOfOthersEachTime, others / most.times),
        Figure::time(FigureId::WaitedForLater, imbalance),
    ];
    finding.error = error;
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// A loop that is handed out in chunks so large that threads wait for who has the last one: one or two for
/// each thread, or larger ones at the beginning than at the end, as by a guided schedule.
fn large_chunks(
    facts: &Facts<'_>,
    constructs: &Constructs<'_>,
    construct: &Construct<'_>,
) -> Option<Finding> {
    let threads = construct.by_thread();
    let (requests, iterations) = handed_out(facts, constructs, construct);
    if construct.team() < 2 || threads.len() < 2 || requests == 0 || iterations == 0 {
        return None;
    }
    // The last request of each thread gets nothing.
    let each = requests as f64 / construct.executions().max(1) as f64;
    let chunks = requests.saturating_sub(construct.executions()).max(1);
    let waited = (construct.wait() - construct.latency()).max(Ns::ZERO);
    let in_loop = construct.work() + construct.wait();
    let burned = waited * spinning_share(facts, construct.process);
    let mut checks = Checks::default();
    let are_few = limits::CHUNKS_EACH.holds(each);
    if are_few {
        checks.holds(&limits::CHUNKS_EACH, each);
    }
    // One iteration that is as long as that cannot be divided by the schedule.
    if !(are_few || checks.holds(&limits::CHUNK_ITERATIONS, iterations as f64 / chunks as f64))
        || !checks.holds(&limits::CHUNK_WAITS, waited / in_loop.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, waited, burned)
    {
        return None;
    }
    let cause = place(facts, construct);
    let mut finding = facts.finding(Kind::OmpLargeChunks, Account::Barrier, waited, burned, cause);
    finding.victims = facts.victims(construct.waiters());
    finding.evidence = vec![
        Figure::count(FigureId::Times, construct.visits() as f64),
        Figure::count(FigureId::Threads, threads.len() as f64),
        Figure::count(FigureId::RequestsEachTime, each),
        Figure::time(FigureId::WaitedForLater, waited),
    ];
    // A thread without a processor holds its chunk meanwhile.
    let queued: Ns = threads.keys().map(|&id| facts.queued(id)).sum();
    finding.sure = if queued < waited * 0.5 { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// How functions of runtimes begin that hand out iterations.
const DISPATCH: [&str; 4] = ["GOMP_loop_", "GOMP_sections_next", "__kmpc_dispatch_next", "__kmp_dispatch"];

fn small_chunks(facts: &Facts<'_>, constructs: &Constructs<'_>, region: RegionId) -> Option<Finding> {
    let in_region = |one: &&Construct<'_>| one.regions().contains(&region);
    let asked = constructs.of_kind(Detail::Dispatch).filter(in_region);
    let most = asked.max_by_key(|one| one.executions())?;
    let requests = most.executions() as f64;
    let of = |one: &Construct<'_>| -> Ns {
        let threads = one.by_thread().into_iter();
        threads
            .map(|(id, mut rows)| {
                rows.retain(|row| row.region == region);
                constructs.processor_time(facts, id, &rows)
            })
            .sum()
    };
    let work: Ns = constructs.all.iter().map(of).sum();
    let each = work / requests.max(1.0);
    let sampled = constructs.in_runtime(facts, &[region], &DISPATCH);
    // Asking is a part of the work between sites. Where hardly anything else is done, the recorded requests
    // are all of it.
    let in_loop = work.max(most.wait());
    let lost = most.wait().min(in_loop / 2.0).max(sampled);
    let mut checks = Checks::default();
    if !checks.holds(&limits::CHUNK_REQUESTS, requests)
        || !checks.holds(&limits::CHUNK_WORK_S, each)
        || !checks.holds(&limits::CHUNK_COST, lost / in_loop.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let mut finding = facts.finding(Kind::OmpSmallChunks, Account::Compute, lost, lost, place(facts, most));
    finding.evidence = vec![
        Figure::count(FigureId::Requests, requests),
        Figure::time(FigureId::BetweenRequests, each),
        Figure::time(FigureId::Asking, most.wait()),
        Figure::time(FigureId::CpuInDispatch, sampled),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// As [`small_chunks`], by samples in the runtime's dispatch alone.
fn much_dispatch(facts: &Facts<'_>, constructs: &Constructs<'_>, region: RegionId) -> Option<Finding> {
    let sampled = constructs.in_runtime(facts, &[region], &DISPATCH);
    let ends = constructs.of_kind(Detail::RegionEnd);
    let end = ends.filter(|one| one.regions().contains(&region)).max_by_key(|one| one.executions())?;
    let all = constructs.in_runtime(facts, &[region], &[""]);
    let mut checks = Checks::default();
    if !checks.holds(&limits::CHUNK_COST, sampled / all.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, sampled, sampled)
    {
        return None;
    }
    let cause = place(facts, end);
    let mut finding = facts.finding(Kind::OmpSmallChunks, Account::Compute, sampled, sampled, cause);
    finding.error = constructs.error(facts, &[region]);
    finding.evidence = vec![
        Figure::time(FigureId::CpuInDispatch, sampled),
        Figure::time(FigureId::CpuInRegion, all),
        Figure::count(FigureId::RegionExecutions, end.executions() as f64),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
