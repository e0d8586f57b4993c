//! The efficiencies of ranks that have threads (MPI and OpenMP), in the variants that were published.
//!
//! Of a rank `O` is the time of its first thread outside of MPI, `R` the part of it in parallel regions,
//! `S = O − R` the rest; `W` is the work of each of its threads in regions, so that `U = S + ΣW` is useful.
//! `T` is the time from the first begin of MPI to the last end, `T_ideal` the same on an ideal network. Means
//! over ranks count each rank once for each of its threads (`avg`), `n` is all threads.
//!
//! | variant | in short |
//! |---|---|
//! | additive (NAG) | an efficiency is 1 − lost ÷ T; those of parts, less 1 for each but one, are that of the whole |
//! | multiplicative (NAG) | process level `avg O ÷ T`, thread level `ΣU ÷ (n · avg O)` |
//! | by threads (BSC) | hybrid: mean and most of all threads' useful time; MPI: of the first threads' `O`; OpenMP: hybrid ÷ MPI |
//! | by processors (TALP) | what MPI took of all processors, and what serial parts, imbalance and scheduling took of the rest |
//!
//! The product of the last one's two levels is not its parallel efficiency; TALP declares that, since threads
//! that idle while the first one is in MPI are in both. TALP takes as scheduling what all threads of a region
//! lose; here it is what was measured as such: the begin of a region, asking for iterations, sections, and
//! the end of a barrier after the last arrival. The variant of OTF-CPT needs a critical path through the
//! threads of regions, and is not computed.

use proust_profile::event_metrics::Operations;
use proust_profile::{ContextId, EventRow, LocationId, Nature, Ns, ProcessId, Profile};
use rustc_hash::FxHashMap as Map;

use super::efficiency::Efficiency;

/// Why the efficiencies of threads are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Threads of regions opened regions of several threads.
    Nested,
    /// Other threads than those that began MPI called it, or opened regions.
    OtherThreads,
    /// Regions were executed before MPI began, or after its end.
    OutsideOfMpi,
}

/// A rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rank {
    /// Its process.
    pub process: ProcessId,
    /// Its threads that were in regions; 1 without any.
    pub threads: u32,
    /// O.
    pub outside: Ns,
    /// R.
    pub regions: Ns,
    /// ΣW.
    pub work: Ns,
    /// What threads lost in regions to scheduling.
    pub scheduling: Ns,
    /// Useful time of the thread that has most of it.
    pub most_useful: Ns,
    /// Time in calls of MPI inside of regions; R is without it.
    pub mpi_in_regions: Ns,
}

/// A published variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// NAG's additive one.
    Additive,
    /// NAG's multiplicative one.
    Multiplicative,
    /// BSC's: by threads.
    Threads,
    /// TALP's: by processors.
    Processors,
}

/// The efficiencies of a variant; None = it has no such one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Of all.
    pub parallel: f64,
    /// Of all threads alike: load balance.
    pub load_balance: Option<f64>,
    /// Of all threads alike: communication.
    pub communication: Option<f64>,
    /// Of ranks.
    pub mpi: f64,
    /// Of ranks: load balance.
    pub mpi_load_balance: f64,
    /// Of ranks: communication.
    pub mpi_communication: f64,
    /// Of ranks: serialisation; None also where the ideal network's time is not known.
    pub mpi_serialisation: Option<f64>,
    /// Of ranks: transfer; likewise.
    pub mpi_transfer: Option<f64>,
    /// Of threads.
    pub openmp: f64,
    /// Of threads: in regions.
    pub openmp_regions: Option<f64>,
    /// Of threads: outside of regions, where one thread works.
    pub openmp_serial: Option<f64>,
    /// Of threads: load balance.
    pub openmp_load_balance: Option<f64>,
    /// Of threads: communication.
    pub openmp_communication: Option<f64>,
    /// Of threads: scheduling.
    pub openmp_scheduling: Option<f64>,
}

/// The efficiencies of ranks with threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybrid {
    /// The ranks.
    pub ranks: Vec<Rank>,
    /// In the order of [`Variant`].
    pub variants: [(Variant, Factors); 4],
}

impl Hybrid {
    /// Those of the whole run; None where no rank has threads in regions.
    pub fn of(profile: &Profile, of: &Efficiency) -> Option<Result<Hybrid, Unknown>> {
        if profile.segments.is_empty() {
            return None;
        }
        let ranks = match ranks(profile, of) {
            Ok(ranks) => ranks,
            Err(unknown) => return Some(Err(unknown)),
        };
        let has_threads = ranks.iter().any(|rank| rank.threads > 1);
        has_threads.then(|| Ok(Hybrid::of_ranks(ranks, of.time, of.ideal)))
    }

    /// The efficiencies of such ranks.
    fn of_ranks(ranks: Vec<Rank>, time: Ns, ideal: Option<Ns>) -> Hybrid {
        let terms = Terms::of(&ranks, time.as_seconds(), ideal.map(Ns::as_seconds));
        let variants = [
            (Variant::Additive, terms.additive()),
            (Variant::Multiplicative, terms.multiplicative()),
            (Variant::Threads, terms.by_threads()),
            (Variant::Processors, terms.by_processors(&ranks)),
        ];
        Hybrid { ranks, variants }
    }
}

/// What the formulas are made of; seconds.
struct Terms {
    time: f64,
    ideal: Option<f64>,
    threads: f64,
    /// Means over ranks by threads, and the plain one.
    outside: f64,
    plain_outside: f64,
    most_outside: f64,
    regions: f64,
    serial: f64,
    /// Means over all threads.
    work: f64,
    useful: f64,
    most_useful: f64,
}

impl Terms {
    fn of(ranks: &[Rank], time: f64, ideal: Option<f64>) -> Terms {
        let sum = |of: &dyn Fn(&Rank) -> f64| ranks.iter().map(of).sum::<f64>();
        let most = |of: &dyn Fn(&Rank) -> f64| ranks.iter().map(of).fold(0.0, f64::max);
        let threads = sum(&|rank| rank.threads.into());
        let mean = |of: &dyn Fn(&Rank) -> f64| sum(&|rank| f64::from(rank.threads) * of(rank)) / threads;
        let serial = |rank: &Rank| (rank.outside - rank.regions).as_seconds();
        Terms {
            time,
            ideal,
            threads,
            outside: mean(&|rank| rank.outside.as_seconds()),
            plain_outside: sum(&|rank| rank.outside.as_seconds()) / ranks.len() as f64,
            most_outside: most(&|rank| rank.outside.as_seconds()),
            regions: mean(&|rank| rank.regions.as_seconds()),
            serial: mean(&serial),
            work: sum(&|rank| rank.work.as_seconds()) / threads,
            useful: sum(&|rank| serial(rank) + rank.work.as_seconds()) / threads,
            most_useful: most(&|rank| rank.most_useful.as_seconds()),
        }
    }

    fn additive(&self) -> Factors {
        let time = self.time;
        let regions = 1.0 - (self.regions - self.work) / time;
        // Where a rank's first thread works alone, its others do not: all of it but its own share is lost.
        let serial = 1.0 - (self.serial - (self.useful - self.work)) / time;
        Factors {
            parallel: self.useful / time,
            mpi: self.outside / time,
            mpi_load_balance: 1.0 - (self.most_outside - self.outside) / time,
            mpi_communication: self.most_outside / time,
            mpi_serialisation: self.ideal.map(|ideal| 1.0 - (ideal - self.most_outside) / time),
            mpi_transfer: self.ideal.map(|ideal| ideal / time),
            openmp: regions + serial - 1.0,
            openmp_regions: Some(regions),
            openmp_serial: Some(serial),
            ..Factors::default()
        }
    }

    fn multiplicative(&self) -> Factors {
        Factors {
            parallel: self.useful / self.time,
            mpi: self.outside / self.time,
            mpi_load_balance: self.outside / self.most_outside,
            mpi_communication: self.most_outside / self.time,
            mpi_serialisation: self.ideal.map(|ideal| self.most_outside / ideal),
            mpi_transfer: self.ideal.map(|ideal| ideal / self.time),
            openmp: ratio(self.useful, self.outside),
            openmp_regions: Some(ratio(self.work + self.serial, self.outside)),
            openmp_serial: Some(ratio(self.useful, self.work + self.serial)),
            ..Factors::default()
        }
    }

    fn by_threads(&self) -> Factors {
        let (parallel, balance) = (self.useful / self.time, ratio(self.useful, self.most_useful));
        let communication = self.most_useful / self.time;
        let (mpi, mpi_balance) = (self.plain_outside / self.time, self.plain_outside / self.most_outside);
        let mpi_communication = self.most_outside / self.time;
        Factors {
            parallel,
            load_balance: Some(balance),
            communication: Some(communication),
            mpi,
            mpi_load_balance: mpi_balance,
            mpi_communication,
            mpi_serialisation: self.ideal.map(|ideal| self.most_outside / ideal),
            mpi_transfer: self.ideal.map(|ideal| ideal / self.time),
            openmp: ratio(parallel, mpi),
            openmp_load_balance: Some(ratio(balance, mpi_balance)),
            openmp_communication: Some(ratio(communication, mpi_communication)),
            ..Factors::default()
        }
    }

    fn by_processors(&self, ranks: &[Rank]) -> Factors {
        let sum = |of: &dyn Fn(&Rank) -> f64| ranks.iter().map(of).sum::<f64>();
        let useful = self.useful * self.threads;
        let mpi = sum(&|rank| self.time - rank.outside.as_seconds());
        let others = |rank: &Rank| f64::from(rank.threads) - 1.0;
        // The first thread's calls in regions are time of the others there.
        let idle =
            sum(&|rank| others(rank) * (self.time - (rank.regions + rank.mpi_in_regions).as_seconds()));
        let scheduling = sum(&|rank| rank.scheduling.as_seconds());
        let imbalance = sum(&|rank| {
            let all = rank.regions * f64::from(rank.threads) + rank.mpi_in_regions * others(rank);
            (all - rank.work - rank.scheduling).as_seconds()
        });
        let busy = useful + mpi;
        let (serial, balanced) = (busy + idle, busy + idle + imbalance);
        Factors {
            parallel: useful / (balanced + scheduling),
            mpi: self.outside / self.time,
            mpi_load_balance: self.outside / self.most_outside,
            mpi_communication: self.most_outside / self.time,
            openmp: busy / (balanced + scheduling),
            openmp_serial: Some(busy / serial),
            openmp_load_balance: Some(serial / balanced),
            openmp_scheduling: Some(balanced / (balanced + scheduling)),
            ..Factors::default()
        }
    }
}

fn ratio(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 1.0 }
}

/// By how much more a rank's regions may have taken than it was outside of MPI, of that and in ns: the two
/// come from different clock readings.
const NEAR: f64 = 0.01;
const NEAR_NS: u64 = 1_000_000;

/// A thread's time in regions, ns.
#[derive(Clone, Copy, Default)]
struct InRegions {
    work_ns: u64,
    wait_ns: u64,
    scheduling_ns: u64,
    mpi_ns: u64,
}

fn ranks(profile: &Profile, of: &Efficiency) -> Result<Vec<Rank>, Unknown> {
    let operations = Operations::of(profile);
    let threads = in_regions(profile, &operations)?;
    let begun = begun(profile, &operations);
    let mut by_process: Map<ProcessId, Vec<(LocationId, InRegions)>> = Map::default();
    for (location, thread) in threads {
        by_process.entry(profile.locations[location].process).or_default().push((location, thread));
    }
    let mut ranks = Vec::new();
    for &(process, outside) in &of.outside {
        let rank = Rank { process, threads: 1, outside, most_useful: outside, ..Rank::default() };
        let Some(threads) = by_process.get(&process) else {
            ranks.push(rank);
            continue;
        };
        let begun = begun.get(&process).filter(|begun| !begun.by_others).ok_or(Unknown::OtherThreads)?;
        let is_first = |thread: &&(LocationId, InRegions)| thread.0 == begun.location;
        let (_, first) = threads.iter().find(is_first).ok_or(Unknown::OtherThreads)?;
        let is_outside = |row: &proust_profile::StayRow| {
            profile.locations[row.location].process == process
                && (row.end_ns <= begun.from_ns || row.begin_ns >= begun.until_ns)
        };
        if profile.stays.iter().any(|row| is_outside(&row)) {
            return Err(Unknown::OutsideOfMpi);
        }
        let all_ns = first.work_ns + first.wait_ns;
        let own_ns = all_ns.saturating_sub(first.mpi_ns);
        let outside_ns = outside.unsigned();
        if own_ns > outside_ns + NEAR_NS + (NEAR * outside_ns as f64) as u64 {
            return Err(Unknown::OutsideOfMpi);
        }
        let regions = Ns::of(own_ns).min(outside);
        let mut rank = Rank {
            threads: threads.len() as u32,
            regions,
            mpi_in_regions: Ns::of(all_ns - own_ns),
            most_useful: Ns::ZERO,
            ..rank
        };
        for (location, thread) in threads {
            let is_first = *location == begun.location;
            let most = if is_first { regions } else { Ns::of(all_ns) };
            let work = Ns::of(thread.work_ns.saturating_sub(thread.mpi_ns)).min(most);
            rank.work += work;
            rank.scheduling += Ns::of(thread.scheduling_ns).min(most - work);
            let serial = if is_first { outside - regions } else { Ns::ZERO };
            rank.most_useful = rank.most_useful.max(work + serial);
        }
        ranks.push(rank);
    }
    Ok(ranks)
}

/// The time of threads in regions that are not inside of others.
fn in_regions(profile: &Profile, operations: &Operations) -> Result<Map<LocationId, InRegions>, Unknown> {
    let mut threads: Map<LocationId, InRegions> = Map::default();
    for row in &profile.segments {
        if profile.regions[row.region].parent.is_some() {
            // A team of one is its thread's own time, which the region outside has.
            if row.team_max > 1 {
                return Err(Unknown::Nested);
            }
            continue;
        }
        let thread = threads.entry(row.location).or_default();
        thread.work_ns += row.work_ns;
        thread.wait_ns += row.wait_ns;
        let is_barrier = operations.get(row.operation).is_some_and(|kind| kind.nature == Nature::Barrier);
        thread.scheduling_ns += if is_barrier { row.latency_ns.min(row.wait_ns) } else { row.wait_ns };
    }
    let mut is_in_region = vec![false; profile.contexts.len()];
    for region in profile.regions.iter() {
        is_in_region[region.context.index()] = true;
    }
    // Parents come before their children.
    for at in 0..profile.contexts.len() {
        let parent = profile.contexts[ContextId::from_index(at)].parent;
        is_in_region[at] |= parent.is_some_and(|parent| is_in_region[parent.index()]);
    }
    for event in profile.events.iter().filter(|event| is_in_region[event.context.index()]) {
        if operations.get(event.operation).is_some_and(|kind| kind.is_of_mpi())
            && let Some(thread) = threads.get_mut(&event.location)
        {
            thread.mpi_ns += event.time_ns;
        }
    }
    Ok(threads)
}

/// The thread that began MPI in a process.
#[derive(Clone, Copy)]
struct Begun {
    location: LocationId,
    /// When the beginning was over.
    from_ns: u64,
    /// When the end began.
    until_ns: u64,
    /// Other threads called MPI, too.
    by_others: bool,
}

fn begun(profile: &Profile, operations: &Operations) -> Map<ProcessId, Begun> {
    let calls = || {
        profile.events.iter().filter_map(|event| {
            let kind = operations.get(event.operation).filter(|kind| kind.is_of_mpi())?;
            Some((kind.nature == Nature::Runtime, event))
        })
    };
    let process = |event: &EventRow| profile.locations[event.location].process;
    let mut all: Map<ProcessId, Begun> = Map::default();
    for (_, event) in calls().filter(|(is_runtime, _)| *is_runtime) {
        let first =
            Begun { location: event.location, from_ns: event.end_ns, until_ns: u64::MAX, by_others: false };
        all.entry(process(&event))
            .and_modify(|begun| {
                // The first of the two is the begin.
                if event.begin_ns >= begun.from_ns {
                    begun.until_ns = event.begin_ns;
                } else {
                    *begun = Begun { until_ns: begun.from_ns, ..first };
                }
            })
            .or_insert(first);
    }
    for (_, event) in calls() {
        if let Some(begun) = all.get_mut(&process(&event)) {
            begun.by_others |= event.location != begun.location;
        }
    }
    all
}

#[cfg(test)]
mod tests;
