//! Which columns a page shows by default, and how its rows are ordered.

use proust_account::ledger::Account;
use proust_profile::{Kind, Metric, Unit};
use proust_query::{Measure, Quantity, Selection};

use crate::column::{Amount, Column, ColumnHead};
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
    /// What is shown, and then what derived metrics are computed of, if that is nothing that is shown.
    pub columns: Vec<Column>,
    /// How many of them are shown.
    asked: usize,
    /// Whether the user chose them.
    pub given: bool,
    /// What text shows beside CPU time by default: what the user derives, and measures.
    pub noticed: Vec<Quantity>,
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
            if let Some(quantity) = question.sort.as_ref().and_then(Sort::quantity)
                && !columns.iter().any(|column| column.quantity == *quantity)
            {
                columns.push(Column::sum(quantity.clone()));
            }
            // Shares, sums and what is cut need an amount that adds up.
            let bases = || columns.iter().flat_map(|column| bases(&column.quantity)).next();
            let measures = || columns.iter().filter_map(|column| column.quantity.measure());
            let adds_up = measures().find(|measure| measure.kind() != Kind::Max);
            let lead = adds_up
                .or_else(|| measures().next())
                .or_else(bases)
                .expect("a derived metric is computed of measures");
            return Chosen::complete(columns, true, Vec::new(), Vec::new(), lead);
        }
        let is_any = |measure: &Measure| match *measure {
            Measure::Metric(metric) if USUAL.contains(&metric) => true,
            // Sums of columns that are there anyway: for users of these names.
            Measure::OmpWork | Measure::OmpWait | Measure::Master => false,
            // What does not add up has no shares: it is there where it is asked for.
            measure if measure.kind() != Kind::Sum => false,
            measure => selection.total(measure) > 0,
        };
        let mut all: Vec<Measure> = Measure::all().filter(is_any).collect();
        let wall_s = selection.shown_total(Measure::Wall);
        let matters =
            |measure: &Measure| all.contains(measure) && selection.shown_total(*measure) >= MATTERS * wall_s;
        let mut noticed: Vec<Measure> = NOTICED.into_iter().filter(matters).collect();
        // Most first, since not all may have room; but first the loss here, then the loss caused here;
        // passive time is seldom of interest.
        noticed.sort_by(|a, b| {
            let place = |measure: &Measure| match measure {
                Measure::Passive(_) => 2,
                Measure::Caused(_) => 1,
                _ => 0,
            };
            let more = || selection.total(*b).cmp(&selection.total(*a));
            place(a).cmp(&place(b)).then_with(more)
        });
        // CPU time is the only amount where no thread waits.
        let waits =
            noticed.iter().any(|measure| !matches!(measure, Measure::Passive(_) | Measure::Caused(_)));
        let lead = if waits { Measure::Active } else { Measure::Metric(Metric::Cpu) };
        let asked = question.sort.as_ref().and_then(Sort::quantity).cloned();
        let asked_measure = asked.as_ref().and_then(Quantity::measure);
        let mut others = Vec::new();
        if question.format == Format::Text {
            let shown = |measure: &Measure| {
                matches!(measure, Measure::Metric(_) | Measure::Wall | Measure::Active)
                    || noticed.contains(measure)
                    || asked_measure == Some(*measure)
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
        let derived: Vec<Quantity> =
            question.metrics.derived().iter().cloned().map(Quantity::Derived).collect();
        let noticed = derived.iter().cloned().chain(noticed.into_iter().map(Quantity::Measure)).collect();
        let mut all: Vec<Quantity> = all.into_iter().map(Quantity::Measure).chain(derived).collect();
        all.extend(asked.filter(|asked| !all.contains(asked)));
        Chosen::complete(all.into_iter().map(Column::sum).collect(), false, noticed, others, lead)
    }

    fn complete(
        mut columns: Vec<Column>,
        given: bool,
        noticed: Vec<Quantity>,
        others: Vec<Measure>,
        lead: Measure,
    ) -> Chosen {
        let asked = columns.len();
        let needed: Vec<Measure> = columns.iter().flat_map(|column| bases(&column.quantity)).collect();
        for column in needed.into_iter().map(Column::sum) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Chosen { columns, asked, given, noticed, others, lead }
    }

    /// The columns as JSON lists them.
    pub fn heads(&self) -> Vec<ColumnHead> {
        self.columns.iter().enumerate().map(|(n, column)| column.head(n < self.asked)).collect()
    }

    /// Ids and measures of the columns that are sums of measures.
    pub fn sums(&self) -> impl Iterator<Item = (String, Measure)> {
        self.columns.iter().filter_map(|column| Some((column.id(), column.summed()?)))
    }

    /// The default order of the rows.
    pub fn lead(&self) -> Measure {
        self.lead
    }

    /// Whether rows without an amount do not name the column: there are many columns, and most rows have
    /// amounts in few of them.
    pub fn is_sparse(&self, column: &Column) -> bool {
        let is_usual = |measure: Measure| USUAL.map(Measure::Metric).contains(&measure);
        !self.given && !column.quantity.measure().is_none_or(is_usual)
    }
}

/// What a derived metric is computed of.
fn bases(quantity: &Quantity) -> Vec<Measure> {
    quantity.derived().map(|derived| derived.bases()).unwrap_or_default()
}

/// By which number the rows of a page are ordered, and cut.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    pub by_name: bool,
    pub column: String,
    /// The column of a derived metric that orders the rows in place of `column`: that one still has the
    /// shares and the sum of what is cut.
    pub derived: Option<String>,
    pub inclusive: bool,
    pub unit: Unit,
    /// Whether rows that only waited, and never were active, count as well.
    pub with_wall: bool,
}

impl Order {
    pub fn new(question: &Question, chosen: &Chosen, inclusive: bool) -> Order {
        let lead = Quantity::Measure(chosen.lead);
        let (quantity, inclusive) = match &question.sort {
            Some(Sort::Amount(quantity)) => (quantity, inclusive),
            Some(Sort::Inclusive(quantity)) => (quantity, true),
            Some(Sort::Exclusive(quantity)) => (quantity, false),
            Some(Sort::Name) | None => (&lead, inclusive),
        };
        let column_of = |wanted: &Quantity| {
            let column = chosen.columns.iter().find(|column| column.quantity == *wanted).cloned();
            column.unwrap_or_else(|| Column::sum(wanted.clone()))
        };
        let is_derived = quantity.derived().is_some();
        let column = column_of(if is_derived { &lead } else { quantity });
        Order {
            by_name: question.sort == Some(Sort::Name),
            column: column.id(),
            derived: is_derived.then(|| column_of(quantity).id()),
            inclusive,
            unit: column.quantity.unit(),
            with_wall: chosen.columns.contains(&Column::sum(Measure::Wall)),
        }
    }

    /// The inclusive amount of a row's column, whatever the order.
    pub fn inclusive_of(&self, amounts: &RowAmounts) -> f64 {
        amounts.get(&self.column).map_or(0.0, |amount| amount.inclusive)
    }

    /// What the rows are ordered by; where that is a derived metric, the amount behind it that adds up.
    pub fn of(&self, amounts: &RowAmounts) -> f64 {
        amounts.get(&self.column).map_or(0.0, |amount| self.pick(amount))
    }

    /// Largest first, those without a value last; among equals the one with more wall time.
    pub fn compare(&self, a: &RowAmounts, b: &RowAmounts) -> std::cmp::Ordering {
        let derived = |amounts: &RowAmounts| {
            let value = amounts.get(self.derived.as_deref()?).map(|amount| self.pick(amount));
            Some(value.filter(|value| !value.is_nan()).unwrap_or(f64::NEG_INFINITY))
        };
        let derived = |amounts| derived(amounts).unwrap_or(0.0);
        let wall = |amounts| if self.with_wall { self.pick(&wall_of(amounts)) } else { 0.0 };
        let of = |amounts: &RowAmounts| Some(self.of(amounts)).filter(|of| !of.is_nan()).unwrap_or(0.0);
        derived(b)
            .total_cmp(&derived(a))
            .then_with(|| of(b).total_cmp(&of(a)))
            .then_with(|| wall(b).total_cmp(&wall(a)))
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
