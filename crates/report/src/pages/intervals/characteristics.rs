//! The characteristics of an interval in JSON.
//!
//! `dvm` is `{"processors","executions","missing","may_contain_replicated","efficiency":…|null, and each
//! characteristic as `ID_s`: seconds|null,"iterations":n|null,"comparative":{ID: {"min","min_at","max",
//! "max_at","mean"}},"operations":{ROW: {"count","communication_s","synchronization_s","variation_s",
//! "overlap_s","comparative":{COLUMN: …}}},"each":[{"processor","rank","threads":[handles], and each
//! characteristic}],"pop":{"parallel_efficiency","load_balance","communication_efficiency",
//! "replicated_share","dvm_efficiency"},"advice":[{"id","text", amounts}],"mpi":null|{…}}`. Processors are
//! numbered from 1, ranks are their own numbers. null: there is no source. With several jobs each processor
//! has its `job`, too.
//!
//! `mpi` is `{"ranks":[…],"efficiency","execution_time_s","total_time_s","productive_time_s",
//! "message_span_s", and each characteristic as `ID_s`,"comparative":{ID: {"min"…}},
//! "replicated":{"efficiency","productive_time_s","lost_time_s"}}`: by its first reading all time in MPI is
//! lost, by that of `replicated` the part of one rank in N is productive.

use std::collections::BTreeMap;

use proust_characteristics::comparative::Comparative;
use proust_characteristics::dvm::Column;
use proust_characteristics::mpi::{Mpi, MpiInterval, Reading};
use proust_characteristics::name::Characteristic;
use proust_profile::Profile;
use proust_query::Handle;
use proust_query::characteristics::{Characterised, Processor, RankOfJob};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::advice::Advice;

/// Numbers by name; null = there is no source.
type Numbers = BTreeMap<String, Option<f64>>;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Dvm {
    processors: usize,
    executions: f64,
    missing: usize,
    may_contain_replicated: bool,
    efficiency: Option<f64>,
    #[serde(flatten)]
    main: Numbers,
    comparative: BTreeMap<&'static str, Option<Over>>,
    operations: BTreeMap<&'static str, OperationRow>,
    each: Vec<Each>,
    pop: Pop,
    advice: Vec<Advice>,
    mpi: Option<MpiBlock>,
}

/// Over processors, times in seconds.
#[derive(Debug, Serialize, JsonSchema)]
struct Over {
    min: f64,
    min_at: usize,
    max: f64,
    max_at: usize,
    mean: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OperationRow {
    count: Option<f64>,
    communication_s: Option<f64>,
    synchronization_s: Option<f64>,
    variation_s: Option<f64>,
    overlap_s: Option<f64>,
    comparative: BTreeMap<&'static str, Option<Over>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Each {
    processor: usize,
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u32>,
    threads: Vec<String>,
    #[serde(flatten)]
    numbers: Numbers,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pop {
    parallel_efficiency: Option<f64>,
    load_balance: Option<f64>,
    communication_efficiency: Option<f64>,
    replicated_share: Option<f64>,
    dvm_efficiency: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MpiBlock {
    ranks: Vec<u32>,
    /// Of each rank, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<Vec<Option<u32>>>,
    replicated: Option<ByReading>,
    efficiency: Option<f64>,
    execution_time_s: f64,
    total_time_s: f64,
    productive_time_s: Option<f64>,
    message_span_s: Option<f64>,
    #[serde(flatten)]
    main: Numbers,
    comparative: BTreeMap<&'static str, Option<Over>>,
}

/// What depends on which part of the time in MPI is productive.
#[derive(Debug, Serialize, JsonSchema)]
struct ByReading {
    efficiency: Option<f64>,
    productive_time_s: Option<f64>,
    lost_time_s: Option<f64>,
}

fn field(of: Characteristic) -> String {
    if of.is_time() { format!("{}_s", of.id()) } else { of.id().to_owned() }
}

fn number(of: Characteristic, number: u64) -> f64 {
    if of.is_time() { seconds(number) } else { number as f64 }
}

/// Characteristics that have a field of their own.
const APART: [Characteristic; 2] = [Characteristic::Efficiency, Characteristic::Processors];

/// Whether it is of intervals as a whole only.
fn is_of_whole(of: Characteristic) -> bool {
    use Characteristic as C;
    matches!(of, C::Efficiency | C::TotalTime | C::ProductiveTime | C::ProductiveCpuTime)
}

fn numbers(
    value: impl Fn(Characteristic) -> Option<u64>,
    is_out: impl Fn(Characteristic) -> bool,
) -> Numbers {
    let all = Characteristic::ALL.iter().filter(|of| !APART.contains(of) && !is_out(**of));
    all.map(|&of| (field(of), value(of).map(|value| number(of, value)))).collect()
}

impl Over {
    fn of(over: Comparative, is_time: bool, number_of: impl Fn(usize) -> usize) -> Over {
        let unit = if is_time { 1e9 } else { 1.0 };
        Over {
            min: over.min as f64 / unit,
            min_at: number_of(over.min_at),
            max: over.max as f64 / unit,
            max_at: number_of(over.max_at),
            mean: over.mean() / unit,
        }
    }
}

/// Processors are counted from 1.
fn from_one(at: usize) -> usize {
    at + 1
}

impl Dvm {
    pub fn of(of: &Characterised) -> Dvm {
        let interval = &of.interval;
        let compared = Characteristic::ALL.iter().filter(|of| !is_of_whole(**of));
        let over =
            |of: Characteristic| interval.comparative(of).map(|over| Over::of(over, of.is_time(), from_one));
        Dvm {
            processors: interval.processors,
            executions: of.executions,
            missing: of.missing,
            may_contain_replicated: interval.may_contain_replicated(),
            efficiency: interval.efficiency(),
            main: numbers(|of| interval.main(of), |_| false),
            comparative: compared.map(|&of| (of.id(), over(of))).collect(),
            operations: interval
                .operations
                .iter()
                .map(|(operation, row)| {
                    let over = |column| {
                        let over = interval.comparative_of(*operation, column);
                        over.map(|over| Over::of(over, true, from_one))
                    };
                    let row = OperationRow {
                        count: row.count,
                        communication_s: row.communication_ns.map(seconds),
                        synchronization_s: row.synchronization_ns.map(seconds),
                        variation_s: row.variation_ns.map(seconds),
                        overlap_s: row.overlap_ns.map(seconds),
                        comparative: Column::ALL.map(|column| (column.id(), over(column))).into(),
                    };
                    (operation.id(), row)
                })
                .collect(),
            each: of
                .processors
                .iter()
                .enumerate()
                .map(|(at, processor)| Each {
                    processor: from_one(at),
                    rank: processor.rank.map(|of| of.rank),
                    job: processor.rank.and_then(|rank| rank.job.filter(|_| has_several_jobs(&of.ranks))),
                    threads: processor.locations.iter().map(|&id| Handle::Location(id).to_string()).collect(),
                    numbers: numbers(|of| interval.of_processor(at, of), is_of_whole),
                })
                .collect(),
            pop: Pop {
                parallel_efficiency: interval.pop.parallel_efficiency,
                load_balance: interval.pop.load_balance,
                communication_efficiency: interval.pop.communication_efficiency,
                replicated_share: interval.pop.replicated_share,
                dvm_efficiency: interval.pop.dvm_efficiency(),
            },
            advice: super::advice::of(interval),
            mpi: of.mpi.as_ref().map(|mpi| MpiBlock::of(mpi, &of.ranks)),
        }
    }
}

impl MpiBlock {
    fn of(mpi: &MpiInterval, ranks: &[RankOfJob]) -> MpiBlock {
        let rank = |at: usize| ranks.get(at).map_or(at, |of| of.rank as usize);
        let over = |of| mpi.comparative(of).map(|over| Over::of(over, true, rank));
        MpiBlock {
            ranks: ranks.iter().map(|of| of.rank).collect(),
            jobs: has_several_jobs(ranks).then(|| ranks.iter().map(|of| of.job).collect()),
            replicated: mpi.read_as(Reading::Replicated).map(|mpi| ByReading {
                efficiency: mpi.efficiency(),
                productive_time_s: mpi.productive_ns.map(seconds),
                lost_time_s: mpi.lost_ns.map(seconds),
            }),
            efficiency: mpi.efficiency(),
            execution_time_s: seconds(mpi.execution_ns),
            total_time_s: seconds(mpi.total_ns),
            productive_time_s: mpi.productive_ns.map(seconds),
            message_span_s: mpi.message_span_ns.map(|ns| ns as f64 / 1e9),
            main: Mpi::ALL.iter().map(|&of| (format!("{}_s", of.id()), mpi.sum(of).map(seconds))).collect(),
            comparative: Mpi::ALL.iter().map(|&of| (of.id(), over(of))).collect(),
        }
    }
}

/// Whether a rank's number does not say which rank it is.
pub(super) fn has_several_jobs(ranks: &[RankOfJob]) -> bool {
    ranks.windows(2).any(|pair| pair[0].job != pair[1].job)
}

/// A rank in words; of several jobs with its job.
pub(super) fn rank_in_words(of: RankOfJob, is_of_several: bool) -> String {
    match of.job {
        Some(job) if is_of_several => format!("job {job} rank {}", of.rank),
        _ => format!("rank {}", of.rank),
    }
}

/// The threads of each processor in words.
pub(super) fn threads_of(profile: &Profile, of: Option<&Characterised>) -> Vec<String> {
    let is_of_several = of.is_some_and(|of| has_several_jobs(&of.ranks));
    let words = |processor: &Processor| {
        let rank = processor.rank.map(|rank| rank_in_words(rank, is_of_several) + ", ");
        let mut words = rank.unwrap_or_default();
        if let Some(&first) = processor.locations.first() {
            let location = &profile.locations[first];
            words.push_str(&format!("thread {} {}", location.tid, location.name));
        }
        if processor.locations.len() > 1 {
            words.push_str(&format!(" and {} more", processor.locations.len() - 1));
        }
        words
    };
    of.map_or_else(Vec::new, |of| of.processors.iter().map(words).collect())
}
