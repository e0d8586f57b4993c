//! How to read the characteristics of an interval: the decisions that the description of 1998 recommends
//! (section 3.2), each with the numbers that it was made by.
//!
//! ```text
//! which part of the lost time is largest?
//!   insufficient parallelism: in sequential parts, or in parallel ones
//!   communication
//!     is the synchronization about as large?
//!       is the load imbalance, too?               balance the loops
//!       else is the variation of end times?       look at how the operation is carried out
//!       else imbalances make up for one another:  look at the intervals inside
//!     is much of it communication of I/O?         one processor works for all
//!     else the row with the most                  make groups of its operations
//!   idle: the load is uneven at the end
//! ```

use crate::dvm::{Column, Interval};
use crate::name::Characteristic;
use crate::operation::Operation;

/// Of less than this part of the total time nothing is advised.
pub const LITTLE: f64 = 0.05;
/// From this part of a number on another one is about as large.
pub const ABOUT: f64 = 0.5;

/// A decision, and what it was made by; amounts in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hardly anything is lost.
    Little {
        /// Of the whole interval.
        lost_ns: u64,
        /// See `lost_ns`.
        total_ns: u64,
    },
    /// The largest part of the lost time.
    Largest {
        /// Which part.
        part: Characteristic,
        /// Its amount.
        part_ns: u64,
        /// Of the whole interval.
        lost_ns: u64,
    },
    /// Most of the insufficient parallelism is in sequential parts: a serial loop does much.
    Sequential {
        /// In sequential parts.
        seq_ns: u64,
        /// In parallel parts.
        par_ns: u64,
    },
    /// Most of it is in parallel parts: threads or iterations are too few, or not distributed over all.
    Parallel {
        /// In sequential parts.
        seq_ns: u64,
        /// In parallel parts.
        par_ns: u64,
    },
    /// Processors arrive at operations at different times: the potential waits are about as large as the
    /// communication.
    Unsynchronised {
        /// Potential waits.
        synchronization_ns: u64,
        /// Communication.
        communication_ns: u64,
    },
    /// Since their loads differ.
    Imbalanced {
        /// Load imbalance.
        imbalance_ns: u64,
        /// Potential waits.
        synchronization_ns: u64,
    },
    /// Since they leave the operations before at different times.
    Varied {
        /// Spread of the ends.
        variation_ns: u64,
        /// Potential waits.
        synchronization_ns: u64,
    },
    /// For neither reason as a whole: imbalances of several parts make up for one another.
    Compensated {
        /// Load imbalance.
        imbalance_ns: u64,
        /// Potential waits.
        synchronization_ns: u64,
    },
    /// Much of the communication is that of I/O.
    OfIo {
        /// Communication of I/O.
        io_ns: u64,
        /// All of it.
        communication_ns: u64,
    },
    /// The row with the most communication.
    MostIn {
        /// Which row.
        operation: Operation,
        /// Its communication.
        row_ns: u64,
        /// How many operations, rounded up; None = not known.
        count: Option<u64>,
    },
    /// Some processors end the interval early: the load is uneven up to its end.
    EarlyEnds {
        /// Idle.
        idle_ns: u64,
        /// Load imbalance.
        imbalance_ns: u64,
    },
}

impl Step {
    /// The stable identifier.
    pub const fn id(&self) -> &'static str {
        match self {
            Step::Little { .. } => "little-lost",
            Step::Largest { .. } => "largest-part",
            Step::Sequential { .. } => "sequential",
            Step::Parallel { .. } => "parallel",
            Step::Unsynchronised { .. } => "unsynchronised",
            Step::Imbalanced { .. } => "imbalanced",
            Step::Varied { .. } => "varied",
            Step::Compensated { .. } => "compensated",
            Step::OfIo { .. } => "of-io",
            Step::MostIn { .. } => "most-in",
            Step::EarlyEnds { .. } => "early-ends",
        }
    }
}

impl Step {
    /// The amounts that decided, each under the name of its characteristic or row, in ns.
    pub fn amounts(&self) -> Vec<(String, u64)> {
        use Characteristic as C;
        let named = |of: Characteristic, ns: u64| (of.name().to_owned(), ns);
        match *self {
            Step::Little { lost_ns, total_ns } => {
                vec![named(C::LostTime, lost_ns), named(C::TotalTime, total_ns)]
            }
            Step::Largest { part, part_ns, lost_ns } => {
                vec![named(C::LostTime, lost_ns), named(part, part_ns)]
            }
            Step::Sequential { seq_ns, par_ns } | Step::Parallel { seq_ns, par_ns } => vec![
                named(C::InsufficientParallelismSeq, seq_ns),
                named(C::InsufficientParallelismPar, par_ns),
            ],
            Step::Unsynchronised { synchronization_ns, communication_ns } => {
                vec![named(C::Synchronization, synchronization_ns), named(C::Communication, communication_ns)]
            }
            Step::Imbalanced { imbalance_ns, synchronization_ns }
            | Step::Compensated { imbalance_ns, synchronization_ns } => {
                vec![named(C::LoadImbalance, imbalance_ns), named(C::Synchronization, synchronization_ns)]
            }
            Step::Varied { variation_ns, synchronization_ns } => {
                vec![named(C::TimeVariation, variation_ns), named(C::Synchronization, synchronization_ns)]
            }
            Step::OfIo { io_ns, communication_ns } => vec![
                (format!("{} of {}", C::Communication.name(), Operation::Io.name()), io_ns),
                named(C::Communication, communication_ns),
            ],
            Step::MostIn { operation, row_ns, .. } => {
                vec![(format!("{} of {}", C::Communication.name(), operation.name()), row_ns)]
            }
            Step::EarlyEnds { idle_ns, imbalance_ns } => {
                vec![named(C::Idle, idle_ns), named(C::LoadImbalance, imbalance_ns)]
            }
        }
    }
}

/// Whether a number is about as large as another one, or larger.
fn is_about(part_ns: u64, whole_ns: u64) -> bool {
    part_ns as f64 >= ABOUT * whole_ns as f64 && part_ns > 0
}

/// The decisions for an interval, from the first to the advice.
pub fn steps(interval: &Interval) -> Vec<Step> {
    let (lost_ns, total_ns) = (interval.lost_ns, interval.total_ns);
    if (lost_ns as f64) < LITTLE * total_ns as f64 || lost_ns == 0 {
        return vec![Step::Little { lost_ns, total_ns }];
    }
    let parts = [
        (Characteristic::InsufficientParallelism, interval.insufficient_ns.unwrap_or(0)),
        (Characteristic::Communication, interval.communication_ns.unwrap_or(0)),
        (Characteristic::Idle, interval.idle_ns),
    ];
    // Of equals the first.
    let (part, part_ns) = parts.into_iter().rev().max_by_key(|part| part.1).unwrap_or(parts[0]);
    let mut steps = vec![Step::Largest { part, part_ns, lost_ns }];
    match part {
        Characteristic::InsufficientParallelism => {
            let seq_ns = interval.insufficient_seq_ns.unwrap_or(0);
            let par_ns = interval.insufficient_par_ns.unwrap_or(0);
            steps.push(match seq_ns >= par_ns {
                true => Step::Sequential { seq_ns, par_ns },
                false => Step::Parallel { seq_ns, par_ns },
            });
        }
        Characteristic::Communication => of_communication(interval, part_ns, &mut steps),
        _ => steps.push(Step::EarlyEnds { idle_ns: part_ns, imbalance_ns: interval.imbalance_ns }),
    }
    steps
}

fn of_communication(interval: &Interval, communication_ns: u64, steps: &mut Vec<Step>) {
    if let Some(synchronization_ns) = interval.synchronization_ns
        && is_about(synchronization_ns, communication_ns)
    {
        let imbalance_ns = interval.imbalance_ns;
        let variation_ns = interval.variation_ns.unwrap_or(0);
        steps.push(Step::Unsynchronised { synchronization_ns, communication_ns });
        steps.push(if is_about(imbalance_ns, synchronization_ns) {
            Step::Imbalanced { imbalance_ns, synchronization_ns }
        } else if is_about(variation_ns, synchronization_ns) {
            Step::Varied { variation_ns, synchronization_ns }
        } else {
            Step::Compensated { imbalance_ns, synchronization_ns }
        });
        return;
    }
    let of = |operation: &Operation| {
        interval.operations.get(operation).and_then(|row| Column::Communication.of(row)).unwrap_or(0)
    };
    let io_ns = of(&Operation::Io);
    if is_about(io_ns, communication_ns) {
        steps.push(Step::OfIo { io_ns, communication_ns });
        return;
    }
    if let Some(&operation) = interval.operations.keys().max_by_key(|operation| of(operation)) {
        let count = interval.operations[&operation].count.map(|count| (count - 1e-6).ceil() as u64);
        steps.push(Step::MostIn { operation, row_ns: of(&operation), count });
    }
}

/// Of intervals as a tree (each with its parent's position and its lost time, ns), the way to the critical
/// part: at each level the one inside of the last that loses most, while that is about as much.
pub fn critical(intervals: &[(Option<usize>, u64)]) -> Vec<usize> {
    let mut way: Vec<usize> = Vec::new();
    loop {
        let around = way.last().copied();
        let inside = intervals.iter().enumerate().filter(|(_, (parent, _))| *parent == around);
        let Some((at, &(_, lost_ns))) = inside.max_by_key(|(at, (_, lost_ns))| (*lost_ns, usize::MAX - at))
        else {
            return way;
        };
        if around.is_some_and(|around| !is_about(lost_ns, intervals[around].1)) {
            return way;
        }
        way.push(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{OperationTerms, Processor};

    fn processor(cpu_ns: u64, absent: (u64, u64), rows: &[(Operation, u64, u64)]) -> Processor {
        let row = |&(operation, communication_ns, synchronization_ns): &(Operation, u64, u64)| {
            let terms = OperationTerms {
                count: Some(3.0),
                communication_ns: Some(communication_ns),
                synchronization_ns: Some(synchronization_ns),
                ..OperationTerms::default()
            };
            (operation, terms)
        };
        Processor {
            cpu_ns,
            absent_seq_ns: Some(absent.0),
            absent_par_ns: Some(absent.1),
            operations: rows.iter().map(row).collect(),
            ..Processor::default()
        }
    }

    fn ids(processors: &[Processor]) -> Vec<&'static str> {
        steps(&Interval::of(processors).unwrap()).iter().map(Step::id).collect()
    }

    #[test]
    fn each_loss_leads_to_its_advice() {
        use Operation::{Critical, Io, TeamBarrier};
        let alone = processor(100, (0, 0), &[]);
        assert_eq!(ids(&[alone.clone(), processor(98, (2, 0), &[])]), ["little-lost"]);
        assert_eq!(ids(&[alone.clone(), processor(40, (60, 0), &[])]), ["largest-part", "sequential"]);
        assert_eq!(ids(&[alone.clone(), processor(40, (0, 60), &[])]), ["largest-part", "parallel"]);
        assert_eq!(ids(&[alone.clone(), processor(40, (0, 0), &[])]), ["largest-part", "early-ends"]);
        let waits = processor(40, (0, 0), &[(TeamBarrier, 60, 55)]);
        assert_eq!(ids(&[alone, waits]), ["largest-part", "unsynchronised", "imbalanced"]);
        // Each waits as long as the other.
        let each = processor(40, (0, 0), &[(TeamBarrier, 60, 55)]);
        assert_eq!(ids(&[each.clone(), each]), ["largest-part", "unsynchronised", "compensated"]);
        let io = processor(40, (0, 0), &[(Io, 60, 1)]);
        assert_eq!(ids(&[io.clone(), io.clone()]), ["largest-part", "of-io"]);
        let amounts = steps(&Interval::of(&[io.clone(), io]).unwrap()).pop().unwrap().amounts();
        assert_eq!(amounts[0], ("Communication of I/O".to_owned(), 120));
        let locked = processor(40, (0, 0), &[(Critical, 50, 0), (TeamBarrier, 10, 1)]);
        let found = steps(&Interval::of(&[locked.clone(), locked]).unwrap());
        let most = Step::MostIn { operation: Critical, row_ns: 100, count: Some(6) };
        assert_eq!(found.last(), Some(&most));
    }

    #[test]
    fn the_printed_example_is_read_as_its_description_does() {
        // Insufficient parallelism and communication are equally large: 29.6 and 29.9 of 61.5 s. Potential
        // waits are a third of the communication, and most of it is the renewal of shadow edges.
        let row = |operation, communication_ns, synchronization_ns| {
            (operation, communication_ns, synchronization_ns)
        };
        let rows = [
            row(Operation::StartReduction, 4_280_256, 4_302_848),
            row(Operation::WaitReduction, 1_766_848, 362_688),
            row(Operation::StartShadow, 12_063_936, 139_264),
            row(Operation::WaitShadow, 11_839_552, 2_067_072),
        ];
        let jacobi = processor(707_080_316, (29_595_780, 0), &rows);
        let found = steps(&Interval::of(&[jacobi]).unwrap());
        assert_eq!(found.iter().map(Step::id).collect::<Vec<_>>(), ["largest-part", "most-in"]);
        assert!(matches!(found[1], Step::MostIn { operation: Operation::StartShadow, .. }));
    }

    #[test]
    fn the_way_to_the_critical_part_ends_where_no_part_has_half_of_the_loss() {
        let tree = [(None, 100), (Some(0), 30), (Some(0), 60), (Some(2), 29), (Some(2), 31), (Some(4), 1)];
        assert_eq!(critical(&tree), [0, 2, 4]);
        assert_eq!(critical(&[]), [] as [usize; 0]);
    }
}
