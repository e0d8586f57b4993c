//! Two sides, A and B, each of one run or of repetitions: the changes, and which of them are noise.
//!
//! - [`Diff`]: the sides laid over each other; changes by account, context, function and thread
//! - [`FindingChange`]: which findings are gone, new, larger or smaller
//! - [`Caution`]: reasons not to compare these runs
//! - [`Limit`]: a change that is not to be: `lost>+5%`

mod cautions;
mod derived;
mod findings;
mod limit;
mod neighbours;
mod threads;

use std::sync::Arc;

use super::disturbance::Disturbance;
use super::joint::Joint;
use super::node::JointId;
use super::run::ComparedRun;
use super::sampling::{Sampled, error_of_short, squares_of};
use proust_account::ledger::{Account, IoAs};
use proust_profile::{ContextId, Metric, Ns, Unit};
use proust_query::{Amounts, Measure, Quantity};
use proust_statistics::{Change, Matters, Observation, change};

pub use cautions::{Caution, DisturbedRun, NotComparable, Processors, Sides};
pub use findings::FindingChange;
pub use limit::{Exceeded, Limit, LimitError, Subject};
pub use neighbours::{NeighbourChange, NeighbourChanges};
pub use threads::ThreadChange;

/// Two sides laid over each other.
#[derive(Debug)]
pub struct Diff<'r> {
    a: &'r [ComparedRun],
    b: &'r [ComparedRun],
    joint: Arc<Joint<'r>>,
    /// By run its place in the joint tree.
    places: Vec<usize>,
    side: usize,
    io: IoAs,
    /// By run.
    disturbances: Vec<Disturbance>,
}

/// What is known of a run as a whole, besides its accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Total {
    /// From the start of the first process to the end of the last, s.
    Wall,
    /// CPU time of all threads, s.
    Cpu,
    /// What the ledger distributes: processors × wall time, s.
    Processor,
    /// The productive accounts together, s.
    Productive,
    /// The lost accounts together, s.
    Lost,
    /// Productive by total without `asleep` and `paused`, 0 to 1.
    Efficiency,
}

/// The change of a context or a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowChange {
    /// With everything below; recursion counts once.
    pub inclusive: Change,
    /// Without what it calls.
    pub exclusive: Change,
}

/// An amount by row, of one run, and the basis of its error.
struct Column {
    values: Amounts<f64>,
    cpu: Amounts<f64>,
    errors: Amounts<f64>,
    queued: Amounts<f64>,
    /// Of short operations the squares of their sums.
    short: Option<Amounts<f64>>,
}

/// Of walls that differ by less than this part it is said that they are the same.
const SAME_WALL: f64 = 0.02;

impl<'r> Diff<'r> {
    /// Lays runs over each other: those of a side are repetitions of the same.
    ///
    /// # Errors
    /// [`NotComparable`] when a side has nothing to compare.
    pub fn new(a: &'r [ComparedRun], b: &'r [ComparedRun], io: IoAs) -> Result<Diff<'r>, NotComparable> {
        Ok(Diff::of_sides(a, &[b], io)?.remove(0))
    }

    /// Compares several sides with A, one after the other. All share the contexts and functions of all runs,
    /// so that their rows are the same.
    ///
    /// # Errors
    /// As [`Diff::new`].
    pub fn of_sides(
        a: &'r [ComparedRun],
        others: &[&'r [ComparedRun]],
        io: IoAs,
    ) -> Result<Vec<Diff<'r>>, NotComparable> {
        others.iter().try_for_each(|b| cautions::check(a, b))?;
        let all = a.iter().chain(others.iter().copied().flatten());
        let joint = Arc::new(Joint::of(all.map(|run| &run.outline)));
        let mut first = a.len();
        let mut diffs = Vec::new();
        for (n, &b) in others.iter().enumerate() {
            let is_fixed_time = is_fixed_time(a.iter().chain(b));
            let disturbances =
                a.iter().chain(b).map(|run| Disturbance { is_fixed_time, ..run.disturbance }).collect();
            let places = (0..a.len()).chain(first..first + b.len()).collect();
            diffs.push(Diff { a, b, joint: joint.clone(), places, side: n + 1, io, disturbances });
            first += b.len();
        }
        Ok(diffs)
    }

    /// Which side is compared with A: 1 is B, 2 is C.
    pub fn side(&self) -> usize {
        self.side
    }

    /// A context of the last run of A that has this place, and of the last run of the other side.
    pub fn contexts_of(&self, node: JointId) -> [Option<ContextId>; 2] {
        let (a, b) = self.places.split_at(self.a.len());
        [a, b].map(|places| places.iter().rev().find_map(|&run| self.joint.context_in(node, run)))
    }

    /// The runs before.
    pub fn a(&self) -> &'r [ComparedRun] {
        self.a
    }

    /// The runs after.
    pub fn b(&self) -> &'r [ComparedRun] {
        self.b
    }

    /// The contexts of all runs: first those of A, then those of the other sides.
    pub fn joint(&self) -> &Joint<'r> {
        &self.joint
    }

    /// Whether time in I/O counts as productive.
    pub fn io(&self) -> IoAs {
        self.io
    }

    /// What must be known before the numbers are believed.
    pub fn cautions(&self) -> Vec<Caution> {
        cautions::cautions(self.a, self.b, &self.joint, self.places[self.a.len()])
    }

    /// What matters in seconds of processor time: by the larger side's mean total.
    pub fn matters(&self) -> Matters {
        let mean = |runs: &[ComparedRun]| {
            runs.iter().map(|run| Ns::of(run.ledger.total_ns)).sum::<Ns>() / runs.len() as f64
        };
        Matters::of_total(mean(self.a).max(mean(self.b)).as_seconds())
    }

    fn change(&self, matters: &Matters, of: impl Fn(&ComparedRun, &Disturbance) -> Observation) -> Change {
        let observed: Vec<Observation> =
            self.runs().zip(&self.disturbances).map(|(run, by)| of(run, by)).collect();
        let (a, b) = observed.split_at(self.a.len());
        Change::of(a, b, matters)
    }

    /// The change of an account, if it is the only one requested.
    pub fn account(&self, account: Account) -> Change {
        self.change(&self.matters(), |run, by| {
            let value = run.account(account).as_seconds();
            Observation { value, error: 0.0, disturbed: by.of_account(account, value) }
        })
    }

    /// The changes of all accounts, in the order of the ledger, corrected for being compared at once.
    pub fn accounts(&self) -> Vec<(Account, Change)> {
        let mut changes: Vec<(Account, Change)> =
            (Account::ALL.into_iter()).map(|account| (account, self.account(account))).collect();
        change::correct(changes.iter_mut().map(|(_, change)| change), &self.matters());
        changes
    }

    /// The change of the whole.
    pub fn total(&self, total: Total) -> Change {
        let matters = match total {
            Total::Wall => {
                let runs = || self.a.iter().chain(self.b);
                let longest = runs().map(|run| Ns::of(run.ledger.wall_ns)).max().unwrap_or_default();
                Matters::of_total(longest.as_seconds())
            }
            // A hundredth of all processors.
            Total::Efficiency => Matters { absolute: 0.01, ..Matters::of_total(1.0) },
            _ => self.matters(),
        };
        self.change(&matters, |run, by| self.observed(run, by, total))
    }

    fn observed(&self, run: &ComparedRun, by: &Disturbance, total: Total) -> Observation {
        let ledger = &run.ledger;
        let s = |ns: u64| Ns::of(ns).as_seconds();
        let (value, disturbed) = match total {
            Total::Wall => (s(ledger.wall_ns), by.of_wall(s(ledger.wall_ns))),
            Total::Cpu => (run.cpu.as_seconds(), by.of_work(run.cpu.as_seconds())),
            Total::Processor => (s(ledger.total_ns), by.of_waits(s(ledger.total_ns))),
            Total::Productive => {
                let value = s(ledger.productive_ns(self.io));
                (value, by.of_work(value))
            }
            Total::Lost => (s(ledger.lost_ns(self.io)), by.of_waits(s(ledger.lost_ns(self.io)))),
            Total::Efficiency => {
                let value = ledger.efficiency(self.io).unwrap_or(0.0);
                let part = by.of_waits(s(ledger.total_ns)) / s(ledger.total_ns).max(f64::MIN_POSITIVE);
                (value, value * part)
            }
        };
        Observation { value, error: 0.0, disturbed }
    }

    /// The changes of every context of the joint tree, in one quantity.
    pub fn contexts(&self, quantity: impl Into<Quantity>) -> Vec<RowChange> {
        let joint = &self.joint;
        self.rows(&quantity.into(), joint.len(), |run, measure| Column {
            values: joint.amounts(run, measure),
            cpu: joint.amounts(run, Metric::Cpu),
            errors: joint.errors(run),
            queued: joint.amounts(run, Measure::Queued),
            short: squares_of(measure).map(|squares| joint.amounts(run, squares)),
        })
    }

    /// The changes of every function of the joint tree, in one quantity.
    pub fn functions(&self, quantity: impl Into<Quantity>) -> Vec<RowChange> {
        let joint = &self.joint;
        self.rows(&quantity.into(), joint.functions().len(), |run, measure| Column {
            values: joint.amounts_by_function(run, measure),
            cpu: joint.amounts_by_function(run, Metric::Cpu),
            errors: joint.errors_by_function(run),
            queued: joint.amounts_by_function(run, Measure::Queued),
            short: squares_of(measure).map(|squares| joint.amounts_by_function(run, squares)),
        })
    }

    /// The change of a quantity in the whole program.
    pub fn total_of(&self, quantity: impl Into<Quantity>) -> Change {
        let quantity = quantity.into();
        let of_run = |(run, by): (&ComparedRun, &Disturbance)| {
            derived::observed(&quantity, |measure| {
                let value = run.outline.total(measure);
                Observation { value, error: 0.0, disturbed: by.of_measure(measure, value) }
            })
        };
        let observed: Vec<_> = self.runs().zip(&self.disturbances).map(of_run).collect();
        derived::change(&observed, self.a.len(), &self.matters_of(&quantity))
    }

    fn matters_of(&self, quantity: &Quantity) -> Matters {
        // What is derived is no part of the processors' time, also where its unit is seconds.
        if quantity.measure().is_some() && quantity.unit() == Unit::SECONDS {
            return self.matters();
        }
        let total = |run: &ComparedRun| derived::value(quantity, |measure| run.outline.total(measure));
        let most = self.runs().filter_map(total).map(f64::abs).fold(0.0, f64::max);
        Matters { absolute: 0.005 * most, ..self.matters() }
    }

    /// All runs in the order of the joint tree.
    fn runs(&self) -> impl Iterator<Item = &'r ComparedRun> {
        self.a.iter().chain(self.b)
    }

    fn rows(
        &self,
        quantity: &Quantity,
        count: usize,
        column: impl Fn(usize, Measure) -> Column,
    ) -> Vec<RowChange> {
        let bases = derived::bases(quantity);
        let columns: Vec<(Vec<Column>, &ComparedRun, &Disturbance)> = (self.runs().zip(&self.disturbances))
            .zip(&self.places)
            .map(|((run, by), &place)| {
                (bases.iter().map(|&measure| column(place, measure)).collect(), run, by)
            })
            .collect();
        let matters = self.matters_of(quantity);
        let observe_base =
            |column: &Column, run: &ComparedRun, by: &Disturbance, measure, row: usize, inclusive: bool| {
                let pick = |of: &Amounts<f64>| if inclusive { of.inclusive[row] } else { of.exclusive[row] };
                let time = |of: &Amounts<f64>| Ns::from_seconds(pick(of));
                let value = pick(&column.values);
                let sampled = run.sampled(time(&column.cpu), time(&column.errors), time(&column.queued));
                let all = squares_of(measure).map_or(0.0, |squares| run.outline.total(squares));
                let short = column.short.as_ref().map_or(Ns::ZERO, |short| error_of_short(pick(short), all));
                let sampled = Sampled { short, ..sampled };
                Observation {
                    value,
                    error: sampled.error(measure, value),
                    disturbed: by.of_measure(measure, value),
                }
            };
        let changed = |row: usize, inclusive: bool| {
            let of_run = |(columns, run, by): &(Vec<Column>, &ComparedRun, &Disturbance)| {
                derived::observed(quantity, |measure| {
                    let base = bases.iter().position(|base| *base == measure);
                    let column = &columns[base.expect("a column for each measure")];
                    observe_base(column, run, by, measure, row, inclusive)
                })
            };
            let observed: Vec<Option<Observation>> = columns.iter().map(of_run).collect();
            derived::change(&observed, self.a.len(), &matters)
        };
        let mut rows: Vec<RowChange> = (0..count)
            .map(|row| RowChange { inclusive: changed(row, true), exclusive: changed(row, false) })
            .collect();
        change::correct(rows.iter_mut().map(|row| &mut row.inclusive), &matters);
        change::correct(rows.iter_mut().map(|row| &mut row.exclusive), &matters);
        rows
    }

    /// Whether a context is in any run of A, and in any of B.
    pub fn presence(&self, node: JointId) -> (bool, bool) {
        let (a, b) = self.places.split_at(self.a.len());
        let is_in = |places: &[usize]| places.iter().any(|&run| self.joint.node_in(node, run).is_some());
        (is_in(a), is_in(b))
    }

    /// Whether a function is called anywhere in A, and anywhere in B; by function.
    pub fn presence_of_functions(&self) -> Vec<(bool, bool)> {
        let mut presence = vec![(false, false); self.joint.functions().len()];
        for node in 0..self.joint.len() as JointId {
            if let Some(function) = self.joint.function_of(node) {
                let (a, b) = self.presence(node);
                let known = &mut presence[function as usize];
                *known = (known.0 || a, known.1 || b);
            }
        }
        presence
    }

    /// The findings of both sides, matched by kind and function, the largest change first.
    pub fn findings(&self) -> Vec<FindingChange> {
        findings::matched(self.a, self.b, &self.disturbances, &self.matters())
    }

    /// The threads of both sides, matched by process, rank, name, and the order in which they began.
    pub fn threads(&self) -> Vec<ThreadChange> {
        threads::matched(self.a, self.b, &self.disturbances)
    }

    /// Those of these limits that B exceeds, significantly or not.
    pub fn exceeded(&self, limits: &[Limit]) -> Vec<Exceeded> {
        limits.iter().filter_map(|limit| limit.exceeded(self)).collect()
    }
}

/// Whether all runs took equally long although others were in the way of some.
fn is_fixed_time<'r>(runs: impl Iterator<Item = &'r ComparedRun> + Clone) -> bool {
    let walls = runs.clone().map(|run| run.ledger.wall_ns as f64);
    let (least, most) =
        walls.fold((f64::INFINITY, 0.0_f64), |(least, most), wall| (least.min(wall), most.max(wall)));
    runs.clone().any(|run| run.disturbance.is_noticed()) && most - least <= SAME_WALL * most
}
