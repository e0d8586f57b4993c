//! The terms of each processor of an interval, and what follows from them.

use std::collections::BTreeMap;

use proust_account::ledger::{Account, Accounts, InsideOwner};
use proust_characteristics::dvm::{Column, Interval};
use proust_characteristics::mpi::{MpiInterval, Rank, Reading};
use proust_characteristics::operation::Operation;
use proust_characteristics::terms::{self, OperationTerms, replicated_ns};
use proust_profile::LocationId;
use rustc_hash::FxHashMap;

use super::processors::{Processor, Processors, RankOfJob};
use super::sites::{InMpi, Sites};
use super::{Characterised, Executing};

/// The accounts that are CPU time.
const CPU: [Account; 7] = [
    Account::Compute,
    Account::Replicated,
    Account::Fault,
    Account::Preempted,
    Account::Oversubscribed,
    Account::Measurement,
    Account::Unattributed,
];

/// The rows that a process without MPI has, each with whether it has potential waits and a spread of ends:
/// what they show is known, and 0 where nothing of the kind happened.
const OF_THREADS: [(Operation, bool); 3] =
    [(Operation::TeamBarrier, true), (Operation::Lock, false), (Operation::Runtime, false)];

/// The accounts that are communication, each with the row for what no operation explains.
const COMMUNICATION: [(Account, Operation); 5] = [
    (Account::Barrier, Operation::TeamBarrier),
    (Account::Lock, Operation::Lock),
    (Account::Runtime, Operation::Runtime),
    (Account::MpiPartner, Operation::Other),
    (Account::MpiTransfer, Operation::Other),
];

/// Active time may exceed the time of the interval by this part, before locations that share a processor get
/// one each.
const MORE_THAN_THE_INTERVAL: f64 = 1.01;

/// What is known of the processors' time in parallel parts, and of repeated work: both are sums over the
/// intervals inside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replication {
    /// By location: CPU time in intervals that are marked as parallel, ns.
    pub parallel_ns: FxHashMap<LocationId, u64>,
    /// By location: repeated work in sequential parts, ns.
    pub seq_ns: FxHashMap<LocationId, u64>,
    /// By location: repeated work in parallel parts, ns.
    pub par_ns: FxHashMap<LocationId, u64>,
    /// Whether the interval itself is marked as replicated, over so many processors; 0 = all.
    pub degree: Option<u32>,
    /// Whether there are parallel regions, or intervals marked as parallel: then sequential parts are known.
    pub is_known: bool,
}

impl Replication {
    /// Whether something is marked as replicated here.
    fn is_marked(&self) -> bool {
        self.degree.is_some() || !self.seq_ns.is_empty() || !self.par_ns.is_empty()
    }

    /// Adds what is known of an interval inside.
    pub fn add(&mut self, inner: &Replication, inner_is_parallel: bool, inner_cpu_ns: &CpuTimes) {
        if inner_is_parallel {
            for (&location, &ns) in inner_cpu_ns {
                *self.parallel_ns.entry(location).or_default() += ns;
            }
        } else {
            for (&location, &ns) in &inner.parallel_ns {
                *self.parallel_ns.entry(location).or_default() += ns;
            }
        }
        for (sums, more) in [(&mut self.seq_ns, &inner.seq_ns), (&mut self.par_ns, &inner.par_ns)] {
            for (&location, &ns) in more {
                *sums.entry(location).or_default() += ns;
            }
        }
    }
}

/// CPU time by location, ns.
pub type CpuTimes = FxHashMap<LocationId, u64>;

/// CPU time of each location in an interval.
pub fn cpu_times(executing: &Executing<'_>) -> CpuTimes {
    let of = |(&id, (accounts, _)): (&LocationId, &(Accounts, _))| (id, cpu_ns(accounts));
    executing.inside.locations.iter().map(of).collect()
}

fn cpu_ns(accounts: &Accounts) -> u64 {
    CPU.into_iter().map(|account| accounts[account]).sum()
}

/// Time on all accounts but `paused`.
fn active_ns(accounts: &Accounts) -> u64 {
    accounts.sum_ns() - accounts[Account::Paused]
}

/// The time that a processor has in an interval.
struct Room {
    /// Its length, ns.
    wall_ns: u64,
    /// Time in which all were passive, ns.
    asleep_ns: u64,
    /// Of the absence, the part in parallel parts; None = by the kind of the interval.
    narrow_share: Option<f64>,
    /// Whether there is no other processor.
    is_only: bool,
}

impl Room {
    fn of_owner(owner: &InsideOwner, count: usize) -> Room {
        let empty_ns = owner.serial_ns + owner.narrow_ns;
        Room {
            wall_ns: owner.wall_ns.saturating_sub(owner.paused_ns),
            asleep_ns: owner.asleep_ns / u64::from(owner.processors.max(1)),
            narrow_share: (empty_ns > 0).then(|| owner.narrow_ns as f64 / empty_ns as f64),
            is_only: count == 1,
        }
    }
}

/// The characteristics of an interval; None where nobody executes it.
///
/// Fills what its own mark says into `replication`.
pub fn characterise(
    executing: &Executing<'_>,
    processors: &Processors,
    sites: &Sites,
    replication: &mut Replication,
) -> Option<Characterised> {
    let inside = executing.inside;
    let mut all: Vec<(Processor, Room)> = Vec::new();
    if inside.alone {
        for processor in &processors.all {
            let executes = |id: &&LocationId| executing.locations.get(id).is_some_and(|of| of.count > 0);
            let locations: Vec<LocationId> = processor.locations.iter().filter(executes).copied().collect();
            let of = |id: &LocationId| executing.locations.get(id).map_or(0, |of| of.time_ns);
            let wall_ns = locations.iter().map(of).sum();
            if !locations.is_empty() {
                let room = Room { wall_ns, asleep_ns: u64::MAX, narrow_share: None, is_only: true };
                all.push((Processor { rank: processor.rank, locations }, room));
            }
        }
    } else {
        for owner in &inside.owners {
            let own: Vec<&Processor> =
                processors.of_owner(owner.process).map(|at| &processors.all[at]).collect();
            let own = apart(&own, executing, owner.wall_ns);
            let count = own.len();
            let room = |processor| (processor, Room::of_owner(owner, count));
            all.extend(own.into_iter().map(room));
        }
        all.sort_by_key(|(processor, _)| (processor.rank, processor.locations.iter().min().copied()));
    }
    mark(executing, replication);
    let terms: Vec<terms::Processor> = all
        .iter()
        .map(|(processor, room)| of_processor(executing, processor, room, sites, replication))
        .collect();
    let interval = Interval::of(&terms)?;
    let processors_here: Vec<Processor> = all.into_iter().map(|(processor, _)| processor).collect();
    let counts: Vec<u64> =
        executing.locations.values().map(|of| of.count).filter(|&count| count > 0).collect();
    let (mpi, ranks) = of_mpi(executing, &processors_here, &terms, processors, sites);
    let missing = processors.all.iter().filter(|one| {
        !processors_here.iter().any(|here| here.locations.iter().any(|id| one.locations.contains(id)))
    });
    Some(Characterised {
        interval,
        mpi,
        ranks,
        executions: counts.iter().sum::<u64>() as f64 / counts.len().max(1) as f64,
        missing: missing.count(),
        is_even: counts.windows(2).all(|pair| pair[0] == pair[1]),
        processors: processors_here,
    })
}

/// Locations that share a processor get one each where both are active in the interval at once.
fn apart(own: &[&Processor], executing: &Executing<'_>, wall_ns: u64) -> Vec<Processor> {
    let active_of = |id: &LocationId| {
        let accounts = executing.inside.locations.get(id).map(|(accounts, _)| accounts);
        accounts.map_or(0, active_ns)
    };
    let mut all = Vec::new();
    for processor in own {
        let sum_ns: u64 = processor.locations.iter().map(active_of).sum();
        if sum_ns as f64 <= MORE_THAN_THE_INTERVAL * wall_ns as f64 {
            all.push((*processor).clone());
            continue;
        }
        let active = processor.locations.iter().filter(|id| active_of(id) > 0);
        all.extend(active.map(|&id| Processor { rank: processor.rank, locations: vec![id] }));
    }
    all
}

/// Repeated work by the interval's own mark: nothing inside of it is counted again.
///
/// Of those that repeat it each rank is one, whatever its other threads do meanwhile.
fn mark(executing: &Executing<'_>, replication: &mut Replication) {
    let Some(degree) = replication.degree else { return };
    let executors = executing.locations.values().filter(|of| of.count > 0).count();
    let degree = if degree == 0 { executors as u32 } else { degree };
    replication.seq_ns.clear();
    replication.par_ns.clear();
    for (location, ns) in cpu_times(executing) {
        let repeated_ns = replicated_ns(ns, degree);
        let sums = if executing.is_parallel { &mut replication.par_ns } else { &mut replication.seq_ns };
        sums.insert(location, repeated_ns);
    }
}

fn of_processor(
    executing: &Executing<'_>,
    processor: &Processor,
    room: &Room,
    sites: &Sites,
    replication: &Replication,
) -> terms::Processor {
    let inside = executing.inside;
    let mut accounts = Accounts::default();
    let mut in_regions = Accounts::default();
    for id in &processor.locations {
        if let Some((of, _)) = inside.locations.get(id) {
            accounts += of;
        }
        if let Some(of) = inside.in_regions.get(id) {
            in_regions += of;
        }
    }
    let left_ns = room.wall_ns.saturating_sub(active_ns(&accounts));
    let executes = |id: &LocationId| executing.locations.get(id).is_some_and(|of| of.count > 0);
    let passive_ns = match processor.locations.iter().any(executes) {
        _ if room.is_only => left_ns,
        true => left_ns.min(room.asleep_ns),
        false => 0,
    };
    let absent_ns = left_ns - passive_ns;
    let default_share = if executing.is_parallel { 1.0 } else { 0.0 };
    let absent_par_ns =
        ((absent_ns as f64 * room.narrow_share.unwrap_or(default_share)).round() as u64).min(absent_ns);
    let work_ns = cpu_ns(&accounts);
    let sum = |of: &FxHashMap<LocationId, u64>| -> u64 {
        processor.locations.iter().filter_map(|id| of.get(id)).sum()
    };
    let parallel_ns = match executing.is_parallel {
        true => work_ns,
        false => cpu_ns(&in_regions).max(sum(&replication.parallel_ns)).min(work_ns),
    };
    let cpu_ns = work_ns + passive_ns;
    let is_known = executing.is_parallel || replication.is_known;
    let cpu_seq_ns = is_known.then(|| if executing.is_parallel { 0 } else { cpu_ns - parallel_ns });
    let repeated =
        |of: &FxHashMap<LocationId, u64>, most_ns: u64| replication.is_marked().then(|| sum(of).min(most_ns));
    let replicated_seq_ns = repeated(&replication.seq_ns, work_ns);
    let rest_ns = work_ns - replicated_seq_ns.unwrap_or(0);
    let iterations = processor.locations.iter().filter_map(|id| executing.locations.get(id));
    let iterations: u64 = iterations.map(|of| of.iterations).sum();
    let has_threads = !room.is_only || inside.alone;
    terms::Processor {
        cpu_ns,
        cpu_seq_ns,
        cpu_passive_ns: Some(passive_ns),
        io_ns: Some(accounts[Account::Io]),
        replicated_seq_ns,
        replicated_par_ns: repeated(&replication.par_ns, rest_ns),
        // Of the only thread of a rank it is not known whether others repeat its work.
        absent_seq_ns: has_threads.then_some(absent_ns - absent_par_ns),
        absent_par_ns: has_threads.then_some(absent_par_ns),
        operations: operations(executing, processor, &accounts, sites),
        iterations: (executing.has_loops || iterations > 0).then_some(iterations),
    }
}

/// The rows of a processor: each account of communication, over the operations that it was spent in.
fn operations(
    executing: &Executing<'_>,
    processor: &Processor,
    accounts: &Accounts,
    sites: &Sites,
) -> BTreeMap<Operation, OperationTerms> {
    let mut rows: BTreeMap<Operation, OperationTerms> = BTreeMap::new();
    let mut weights: BTreeMap<(Account, Operation), u64> = BTreeMap::new();
    for &id in &processor.locations {
        for (&(account, operation), site) in sites.of_one(executing.interval, id).into_iter().flatten() {
            *weights.entry((account, operation)).or_default() += site.time_ns;
            if !executing.is_whole_run {
                continue;
            }
            let row = rows.entry(operation).or_default();
            row.count = Some(row.count.unwrap_or(0.0) + site.count);
            if COMMUNICATION.iter().any(|(of, _)| *of == account) {
                row.communication_ns.get_or_insert(0);
            }
            for (column, cell) in [
                (Column::Synchronization, &mut row.synchronization_ns),
                (Column::Variation, &mut row.variation_ns),
                (Column::Overlap, &mut row.overlap_ns),
            ] {
                if let Some(ns) = site.of(column)
                    && sites.is_known(executing.interval, operation, column)
                {
                    *cell = Some(cell.unwrap_or(0) + ns);
                }
            }
        }
    }
    let is_known =
        |operation: Operation, column: Column| sites.is_known(executing.interval, operation, column);
    for (operation, has_waits) in OF_THREADS {
        let row = rows.entry(operation).or_default();
        row.communication_ns.get_or_insert(0);
        for (column, cell) in [
            (Column::Synchronization, &mut row.synchronization_ns),
            (Column::Variation, &mut row.variation_ns),
        ] {
            if executing.is_whole_run && has_waits && is_known(operation, column) {
                cell.get_or_insert(0);
            }
        }
    }
    for (account, otherwise) in COMMUNICATION {
        let amount_ns = accounts[account];
        let of_account: Vec<(Operation, u64)> = weights
            .iter()
            .filter(|((of, _), ns)| *of == account && **ns > 0)
            .map(|((_, operation), &ns)| (*operation, ns))
            .collect();
        if of_account.is_empty() && amount_ns == 0 {
            continue;
        }
        for (operation, ns) in divided(amount_ns, &of_account, otherwise) {
            let row = rows.entry(operation).or_default();
            row.communication_ns = Some(row.communication_ns.unwrap_or(0) + ns);
        }
    }
    rows
}

/// An amount, divided in proportion to weights; the parts sum to it.
fn divided(amount_ns: u64, weights: &[(Operation, u64)], otherwise: Operation) -> Vec<(Operation, u64)> {
    let whole: u128 = weights.iter().map(|(_, weight)| u128::from(*weight)).sum();
    if whole == 0 {
        return vec![(otherwise, amount_ns)];
    }
    let mut so_far: u128 = 0;
    let mut parts = Vec::new();
    for &(operation, weight) in weights {
        let before = u128::from(amount_ns) * so_far / whole;
        so_far += u128::from(weight);
        let after = u128::from(amount_ns) * so_far / whole;
        parts.push((operation, (after - before) as u64));
    }
    parts
}

/// The characteristics of the analyzer of MPI traces, for the ranks of these processors. Of a rank whose
/// threads call MPI side by side the thread counts that is in it longest.
fn of_mpi(
    executing: &Executing<'_>,
    processors: &[Processor],
    terms: &[terms::Processor],
    of_run: &Processors,
    sites: &Sites,
) -> (Option<MpiInterval>, Vec<RankOfJob>) {
    if !of_run.has_ranks() {
        return (None, Vec::new());
    }
    let mut ranks: BTreeMap<RankOfJob, (u64, InMpi)> = BTreeMap::new();
    for (processor, terms) in processors.iter().zip(terms) {
        let Some(rank) = processor.rank else { continue };
        let (elapsed_ns, in_mpi) = ranks.entry(rank).or_default();
        *elapsed_ns = (*elapsed_ns).max(terms.execution_ns());
        let of_locations = processor.locations.iter().map(|&id| sites.in_mpi(executing.interval, id));
        if let Some(most) = of_locations.max_by_key(|of| of.all_ns)
            && most.all_ns > in_mpi.all_ns
        {
            *in_mpi = most;
        }
    }
    // Where no rank calls MPI as far as is recorded, its calls are not known.
    let mut locations = of_run.all.iter().flat_map(|processor| &processor.locations);
    let is_known = executing.is_whole_run && locations.any(|&id| sites.in_mpi(None, id).calls > 0);
    let are_matched = is_known && ranks.values().all(|(_, of)| of.is_known());
    let rank = |&(elapsed_ns, of): &(u64, InMpi)| {
        let known = |ns: u64| is_known.then_some(ns);
        Rank {
            elapsed_ns,
            mpi_ns: known(of.all_ns.min(elapsed_ns)),
            send_receive_ns: known(of.send_receive_ns),
            collective_ns: known(of.collective_ns),
            all_to_all_ns: known(of.all_to_all_ns),
            potential_sync_ns: are_matched.then_some(of.potential_ns),
            variation_ns: are_matched.then_some(of.variation_ns),
            start_ns: known(of.start_ns),
            message_span_ns: are_matched.then_some(of.spans_ns.round() as i64),
        }
    };
    let all: Vec<Rank> = ranks.values().map(rank).collect();
    (MpiInterval::of(&all, Reading::AllLost), ranks.into_keys().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_is_one_term_at_most_and_none_is_forgotten() {
        let communication = COMMUNICATION.map(|(account, _)| account);
        let empty = [Account::Serial, Account::Narrow, Account::Asleep, Account::Idle];
        for account in Account::ALL {
            let places = [
                CPU.contains(&account),
                communication.contains(&account),
                account == Account::Io,
                // Of slots: absence, passive time, or the end of a rank.
                empty.contains(&account),
                // In no term.
                account == Account::Paused,
            ];
            let count = places.iter().filter(|is| **is).count();
            assert_eq!(count, 1, "{account}");
        }
    }

    #[test]
    fn parts_sum_to_the_whole() {
        let weights = [(Operation::TeamBarrier, 1), (Operation::RegionEnd, 1), (Operation::Single, 1)];
        let parts = divided(10, &weights, Operation::Lock);
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), 10);
        assert_eq!(divided(10, &[], Operation::Lock), [(Operation::Lock, 10)]);
    }
}
