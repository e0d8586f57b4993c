//! Which columns a page shows by default, and how its rows are ordered.

use proust_account::ledger::Account;
use proust_profile::Metric;
use proust_query::{Measure, Selection};

use crate::column::{Amount, Column, Over};
use crate::question::{Format, Question, Sort};
use crate::row_amounts::RowAmounts;

/// Metrics that every page with columns has when no others are chosen, even where there is nothing of them:
/// readers of the JSON can rely on them.
const USUAL: [Metric; 4] = [Metric::Cpu, Metric::User, Metric::System, Metric::Samples];

/// The measures that text shows beside CPU time where they take a share of the wall time that matters.
const NOTICED: [Measure; 9] = [
    Measure::Account(Account::Io),
    Measure::Account(Account::Barrier),
    Measure::Account(Account::Lock),
    Measure::Account(Account::MpiPartner),
    Measure::Account(Account::MpiTransfer),
    Measure::Account(Account::Runtime),
    Measure::Queued,
    Measure::Caused(None),
    Measure::Passive(None),
];

/// The share of the wall time that matters.
const MATTERS: f64 = 0.01;

/// The columns of a page.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub columns: Vec<Column>,
    /// Whether the user chose them.
    pub given: bool,
    /// The measures that text shows beside CPU time by default.
    pub noticed: Vec<Measure>,
    /// Measures of which there is something, and which text does not show.
    pub others: Vec<Measure>,
    lead: Measure,
}

impl Chosen {
    /// The columns asked for; or the usual metrics, and all measures of which there is anything. Text has
    /// fewer: what it shows.
    pub fn new(selection: &Selection<'_>, question: &Question) -> Chosen {
        if !question.columns.is_empty() {
            let mut columns = question.columns.clone();
            if let Some(measure) = question.sort.and_then(Sort::measure)
                && !columns.iter().any(|column| column.measure == measure)
            {
                columns.push(Column::sum(measure));
            }
            let lead = columns[0].measure;
            return Chosen { columns, given: true, noticed: Vec::new(), others: Vec::new(), lead };
        }
        let is_any = |measure: &Measure| match *measure {
            Measure::Metric(metric) if USUAL.contains(&metric) => true,
            // Sums of columns that are there anyway: for users of these names.
            Measure::OmpWork | Measure::OmpWait | Measure::Master => false,
            measure => selection.total(measure) != 0.0,
        };
        let mut all: Vec<Measure> = Measure::all().filter(is_any).collect();
        let wall_s = selection.total(Measure::Wall);
        let matters =
            |measure: &Measure| all.contains(measure) && selection.total(*measure) >= MATTERS * wall_s;
        let mut noticed: Vec<Measure> = NOTICED.into_iter().filter(matters).collect();
        // Most first, since not all may have room; but first the loss here, then the loss caused here;
        // passive time is seldom of interest.
        noticed.sort_by(|a, b| {
            let place = |measure: &Measure| match measure {
                Measure::Passive(_) => 2,
                Measure::Caused(_) => 1,
                _ => 0,
            };
            let more = || selection.total(*b).total_cmp(&selection.total(*a));
            place(a).cmp(&place(b)).then_with(more)
        });
        // CPU time is the only amount where no thread waits.
        let waits =
            noticed.iter().any(|measure| !matches!(measure, Measure::Passive(_) | Measure::Caused(_)));
        let lead = if waits { Measure::Active } else { Measure::Metric(Metric::Cpu) };
        let asked = question.sort.and_then(Sort::measure);
        let mut others = Vec::new();
        if question.format == Format::Text {
            let shown = |measure: &Measure| {
                matches!(measure, Measure::Metric(_) | Measure::Wall | Measure::Active)
                    || noticed.contains(measure)
                    || asked == Some(*measure)
            };
            let said = |measure: &Measure| match measure {
                Measure::Account(Account::Compute | Account::Serial | Account::Narrow) => true,
                Measure::Account(Account::Preempted | Account::Oversubscribed) => {
                    noticed.contains(&Measure::Queued)
                }
                Measure::Passive(Some(_)) | Measure::Caused(Some(_)) | Measure::Empty => true,
                _ => false,
            };
            others = all.iter().copied().filter(|measure| !shown(measure) && !said(measure)).collect();
            all.retain(shown);
        }
        all.extend(asked.filter(|asked| !all.contains(asked)));
        Chosen { columns: all.into_iter().map(Column::sum).collect(), given: false, noticed, others, lead }
    }

    /// The default order of the rows.
    pub fn lead(&self) -> Measure {
        self.lead
    }

    /// Whether rows without an amount do not name the column: there are many columns, and most rows have
    /// amounts in few of them.
    pub fn is_sparse(&self, column: Column) -> bool {
        let usual = USUAL.map(Measure::Metric);
        !self.given && !usual.contains(&column.measure)
    }
}

/// By which number the rows of a page are ordered, and cut.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    pub by_name: bool,
    pub column: String,
    pub inclusive: bool,
    pub unit: &'static str,
    /// Whether rows that only waited, and never were active, count as well.
    pub with_wall: bool,
}

impl Order {
    pub fn new(question: &Question, chosen: &Chosen, inclusive: bool) -> Order {
        let (measure, inclusive) = match question.sort {
            Some(Sort::Amount(measure)) => (measure, inclusive),
            Some(Sort::Inclusive(measure)) => (measure, true),
            Some(Sort::Exclusive(measure)) => (measure, false),
            Some(Sort::Name) | None => (chosen.lead, inclusive),
        };
        let column = chosen.columns.iter().find(|column| measure == column.measure).copied();
        let column = column.unwrap_or(Column { measure, over: Over::Sum });
        Order {
            by_name: question.sort == Some(Sort::Name),
            column: column.id(),
            inclusive,
            unit: column.measure.unit(),
            with_wall: chosen.columns.contains(&Column::sum(Measure::Wall)),
        }
    }

    /// The inclusive amount of a row's column, whatever the order.
    pub fn inclusive_of(&self, amounts: &RowAmounts) -> f64 {
        amounts.get(&self.column).map_or(0.0, |amount| amount.inclusive)
    }

    /// What the rows are ordered by.
    pub fn of(&self, amounts: &RowAmounts) -> f64 {
        amounts.get(&self.column).map_or(0.0, |amount| self.pick(amount))
    }

    /// Largest first; among equals the one with more wall time.
    pub fn compare(&self, a: &RowAmounts, b: &RowAmounts) -> std::cmp::Ordering {
        let wall = |amounts| if self.with_wall { self.pick(&wall_of(amounts)) } else { 0.0 };
        self.of(b).total_cmp(&self.of(a)).then_with(|| wall(b).total_cmp(&wall(a)))
    }

    /// A row's share of the whole, in the column that orders the rows or in wall time, whichever is larger:
    /// places that only wait must not be hidden behind places that compute, nor these behind many that wait.
    pub fn share(&self, amounts: &RowAmounts, whole: &RowAmounts) -> f64 {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let first = share(self.of(amounts), self.of(whole));
        if !self.with_wall {
            return first;
        }
        first.max(share(self.pick(&wall_of(amounts)), self.pick(&wall_of(whole))))
    }

    /// Whether a row has no amount of its own.
    pub fn has_nothing_own(&self, amounts: &RowAmounts) -> bool {
        let own = amounts.get(&self.column).map_or(0.0, |amount| amount.exclusive);
        own == 0.0 && (!self.with_wall || wall_of(amounts).exclusive == 0.0)
    }

    fn pick(&self, amount: &Amount) -> f64 {
        if self.inclusive { amount.inclusive } else { amount.exclusive }
    }
}

fn wall_of(amounts: &RowAmounts) -> Amount {
    amounts.get("wall_s").cloned().unwrap_or_default()
}
