//! All characteristics of an interval, by the definitions of 1998.
//!
//! With N processors p, and the terms of [`Processor`]:
//!
//! ```text
//! Execution_time(p)        = CPU_time + I/O_time + Communication + Absent_time
//! Execution_time           = max over p of Execution_time(p)
//! Total_time               = N × Execution_time
//! Idle(p)                  = Execution_time − Execution_time(p)
//! Insufficient(p)          = replicated(p) + absent(p)
//! Lost_time(p)             = Insufficient(p) + Communication(p) + Idle(p)
//! Productive_CPU_time      = Σ CPU_time(p) − Σ replicated(p)
//! Productive_time          = Productive_CPU_time + Σ I/O_time(p)
//! Lost_time                = Total_time − Productive_time = Σ Lost_time(p)
//! Efficiency               = Productive_time ÷ Total_time
//! Load_imbalance(p)        = max over q of CPU_time(q) − CPU_time(p)
//! Load_imbalance           = Σ over p of (max over q of CPU_time_Par(q) − CPU_time_Par(p))
//! ```
//!
//! The two load imbalances differ, since the analyzer of 1998 printed them so; where the parallel parts are
//! not known, both are of CPU_time. Synchronization, Time_variation, Overlap and Load_imbalance are
//! indicators beside the sum: they may exceed the communication, and are no part of the lost time.

use std::collections::BTreeMap;

use crate::comparative::Comparative;
use crate::name::Characteristic;
use crate::operation::Operation;
use crate::pop::Pop;
use crate::terms::{OperationTerms, Processor};

/// The characteristics of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// How many processors.
    pub processors: usize,
    /// Of the processor that takes longest, ns.
    pub execution_ns: u64,
    /// N × execution time, ns.
    pub total_ns: u64,
    /// Productive CPU time, ns.
    pub productive_cpu_ns: u64,
    /// I/O, ns.
    pub io_ns: Option<u64>,
    /// Both, ns.
    pub productive_ns: u64,
    /// The rest of the total, ns.
    pub lost_ns: u64,
    /// Insufficient parallelism, ns; None = not known, and the productive time may contain replicated work.
    pub insufficient_ns: Option<u64>,
    /// In sequential parts, ns.
    pub insufficient_seq_ns: Option<u64>,
    /// In parallel parts, ns.
    pub insufficient_par_ns: Option<u64>,
    /// The part of the insufficient parallelism that is replicated work, ns.
    pub replicated_ns: Option<u64>,
    /// Communication, ns.
    pub communication_ns: Option<u64>,
    /// Idle, ns.
    pub idle_ns: u64,
    /// Potential waits for a common begin, ns.
    pub synchronization_ns: Option<u64>,
    /// Spread of the ends, ns.
    pub variation_ns: Option<u64>,
    /// Computation beside exchanges, ns.
    pub overlap_ns: Option<u64>,
    /// Of CPU_time_Par where it is known, else of CPU_time, ns.
    pub imbalance_ns: u64,
    /// The table of operations: sums over the processors.
    pub operations: BTreeMap<Operation, OperationTerms>,
    /// The efficiencies of the POP model.
    pub pop: Pop,
    /// Each processor.
    each: Vec<Each>,
}

/// What follows for a processor from the others.
#[derive(Clone, Debug, PartialEq)]
struct Each {
    terms: Processor,
    idle_ns: u64,
    imbalance_ns: u64,
}

/// A column of the table of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Time inside.
    Communication,
    /// Potential waits for a common begin.
    Synchronization,
    /// Spread of the ends.
    Variation,
    /// Computation beside exchanges.
    Overlap,
}

impl Column {
    /// All columns, in the order in which they are printed.
    pub const ALL: [Column; 4] =
        [Column::Communication, Column::Synchronization, Column::Variation, Column::Overlap];

    /// The stable identifier.
    pub const fn id(self) -> &'static str {
        match self {
            Column::Communication => "communication",
            Column::Synchronization => "synchronization",
            Column::Variation => "variation",
            Column::Overlap => "overlap",
        }
    }

    /// The heading.
    pub const fn name(self) -> &'static str {
        match self {
            Column::Communication => "Communication",
            Column::Synchronization => "Synchronization",
            Column::Variation => "Variation",
            Column::Overlap => "Overlap",
        }
    }

    /// The characteristic that is the sum of the column.
    pub const fn characteristic(self) -> Characteristic {
        match self {
            Column::Communication => Characteristic::Communication,
            Column::Synchronization => Characteristic::Synchronization,
            Column::Variation => Characteristic::TimeVariation,
            Column::Overlap => Characteristic::Overlap,
        }
    }

    /// Its amount in a row, ns.
    pub const fn of(self, terms: &OperationTerms) -> Option<u64> {
        match self {
            Column::Communication => terms.communication_ns,
            Column::Synchronization => terms.synchronization_ns,
            Column::Variation => terms.variation_ns,
            Column::Overlap => terms.overlap_ns,
        }
    }
}

/// The sum over the processors that have a term; None where none has.
fn known<'t>(all: &'t [Processor], term: impl Fn(&'t Processor) -> Option<u64>) -> Option<u64> {
    all.iter().filter_map(term).reduce(|sum, ns| sum + ns)
}

impl Interval {
    /// The characteristics of an interval that these processors execute; None if there are none.
    pub fn of(processors: &[Processor]) -> Option<Interval> {
        let execution_ns = processors.iter().map(Processor::execution_ns).max()?;
        let total_ns = execution_ns * processors.len() as u64;
        let cpu_ns: u64 = processors.iter().map(|p| p.cpu_ns).sum();
        let replicated_ns = known(processors, Processor::replicated_ns);
        let io_ns = known(processors, |p| p.io_ns);
        let productive_cpu_ns = cpu_ns.saturating_sub(replicated_ns.unwrap_or(0));
        let productive_ns = productive_cpu_ns + io_ns.unwrap_or(0);
        let most_cpu_ns = processors.iter().map(|p| p.cpu_ns).max().unwrap_or(0);
        let each: Vec<Each> = processors
            .iter()
            .map(|p| Each {
                idle_ns: execution_ns - p.execution_ns(),
                imbalance_ns: most_cpu_ns - p.cpu_ns,
                terms: p.clone(),
            })
            .collect();
        let insufficient_seq_ns = known(processors, Processor::insufficient_seq_ns);
        let insufficient_par_ns = known(processors, Processor::insufficient_par_ns);
        let idle_ns = each.iter().map(|p| p.idle_ns).sum();
        let load = Comparative::of(processors.iter().map(Processor::cpu_par_ns));
        let imbalance_ns = match load {
            Some(load) => load.max * load.count as u64 - load.sum,
            None => each.iter().map(|p| p.imbalance_ns).sum(),
        };
        let over = |column: Column| known(processors, |p| p.over_operations(|terms| column.of(terms)));
        Some(Interval {
            processors: processors.len(),
            execution_ns,
            total_ns,
            productive_cpu_ns,
            io_ns,
            productive_ns,
            lost_ns: total_ns - productive_ns,
            insufficient_ns: crate::terms::either(insufficient_seq_ns, insufficient_par_ns),
            insufficient_seq_ns,
            insufficient_par_ns,
            replicated_ns,
            communication_ns: over(Column::Communication),
            idle_ns,
            synchronization_ns: over(Column::Synchronization),
            variation_ns: over(Column::Variation),
            overlap_ns: over(Column::Overlap),
            imbalance_ns,
            operations: table(processors),
            pop: Pop::of(processors, execution_ns),
            each,
        })
    }

    /// Productive time ÷ total time; None of no time.
    pub fn efficiency(&self) -> Option<f64> {
        (self.total_ns > 0).then(|| self.productive_ns as f64 / self.total_ns as f64)
    }

    /// Whether the productive time may contain work that several processors repeat: nothing shows which
    /// parts are sequential.
    pub fn may_contain_replicated(&self) -> bool {
        self.processors > 1 && self.insufficient_ns.is_none()
    }

    /// A time or number of the interval as a whole; None = not known, or no whole number.
    pub fn main(&self, of: Characteristic) -> Option<u64> {
        use Characteristic as C;
        match of {
            C::Efficiency => None,
            C::ExecutionTime => Some(self.execution_ns),
            C::Processors => Some(self.processors as u64),
            C::TotalTime => Some(self.total_ns),
            C::ProductiveTime => Some(self.productive_ns),
            C::ProductiveCpuTime => Some(self.productive_cpu_ns),
            C::IoTime => self.io_ns,
            C::LostTime => Some(self.lost_ns),
            C::InsufficientParallelism => self.insufficient_ns,
            C::InsufficientParallelismSeq => self.insufficient_seq_ns,
            C::InsufficientParallelismPar => self.insufficient_par_ns,
            C::Communication => self.communication_ns,
            C::Idle => Some(self.idle_ns),
            C::Synchronization => self.synchronization_ns,
            C::TimeVariation => self.variation_ns,
            C::Overlap => self.overlap_ns,
            C::LoadImbalance => Some(self.imbalance_ns),
            C::CpuTime
            | C::CpuTimeSeq
            | C::CpuTimePar
            | C::CpuTimePassive
            | C::AbsentTime
            | C::Iterations => {
                let each = (0..self.each.len()).filter_map(|at| self.of_processor(at, of));
                each.reduce(|sum, more| sum + more)
            }
        }
    }

    /// A time or number of one processor, by position; None = not known, or of intervals as a whole only.
    pub fn of_processor(&self, at: usize, of: Characteristic) -> Option<u64> {
        use Characteristic as C;
        let Each { terms, idle_ns, imbalance_ns } = self.each.get(at)?;
        match of {
            C::LostTime => {
                let insufficient_ns = terms.replicated_ns().unwrap_or(0) + terms.absent_ns().unwrap_or(0);
                Some(insufficient_ns + terms.communication_ns().unwrap_or(0) + idle_ns)
            }
            C::InsufficientParallelism => {
                crate::terms::either(terms.insufficient_seq_ns(), terms.insufficient_par_ns())
            }
            C::InsufficientParallelismSeq => terms.insufficient_seq_ns(),
            C::InsufficientParallelismPar => terms.insufficient_par_ns(),
            C::Communication => terms.communication_ns(),
            C::Idle => Some(*idle_ns),
            C::ExecutionTime => Some(terms.execution_ns()),
            C::CpuTime => Some(terms.cpu_ns),
            C::CpuTimeSeq => terms.cpu_seq_ns,
            C::CpuTimePar => terms.cpu_par_ns(),
            C::CpuTimePassive => terms.cpu_passive_ns,
            C::IoTime => terms.io_ns,
            C::AbsentTime => terms.absent_ns(),
            C::Synchronization => terms.over_operations(|of| of.synchronization_ns),
            C::TimeVariation => terms.over_operations(|of| of.variation_ns),
            C::Overlap => terms.over_operations(|of| of.overlap_ns),
            C::LoadImbalance => Some(*imbalance_ns),
            C::Processors => Some(self.processors as u64),
            C::Iterations => terms.iterations,
            C::Efficiency | C::TotalTime | C::ProductiveTime | C::ProductiveCpuTime => None,
        }
    }

    /// A time or number over the processors. Those without any operation have 0 of what is a sum over
    /// operations, where others have it.
    pub fn comparative(&self, of: Characteristic) -> Option<Comparative> {
        use Characteristic as C;
        let is_of_operations =
            matches!(of, C::Communication | C::Synchronization | C::TimeVariation | C::Overlap);
        let otherwise = self.main(of).filter(|_| is_of_operations).map(|_| 0);
        Comparative::of((0..self.each.len()).map(|at| self.of_processor(at, of).or(otherwise)))
    }

    /// A cell of the table of operations over the processors: those without the operation count as 0 where
    /// others have it.
    pub fn comparative_of(&self, operation: Operation, column: Column) -> Option<Comparative> {
        column.of(self.operations.get(&operation)?)?;
        let of = |each: &Each| each.terms.operations.get(&operation).and_then(|terms| column.of(terms));
        Comparative::of(self.each.iter().map(|each| Some(of(each).unwrap_or(0))))
    }
}

/// The table of operations: sums over the processors.
fn table(processors: &[Processor]) -> BTreeMap<Operation, OperationTerms> {
    let mut table: BTreeMap<Operation, OperationTerms> = BTreeMap::new();
    let add = |sum: &mut Option<u64>, term: Option<u64>| {
        *sum = crate::terms::either(*sum, term);
    };
    for (&operation, terms) in processors.iter().flat_map(|p| &p.operations) {
        let row = table.entry(operation).or_default();
        row.count = match (row.count, terms.count) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        add(&mut row.communication_ns, terms.communication_ns);
        add(&mut row.synchronization_ns, terms.synchronization_ns);
        add(&mut row.variation_ns, terms.variation_ns);
        add(&mut row.overlap_ns, terms.overlap_ns);
    }
    table
}
