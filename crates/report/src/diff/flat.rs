//! The page `flat` of a comparison: functions of both sides.

use proust_compare::Diff;
use proust_profile::{Kind, Unit};
use proust_query::Quantity;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Both, ChangeRow, Changes, cells, scale, signed, titles};
use super::head::{Head, unchanged_text};
use super::several::{Order, Section, SideRow};
use super::{DiffQuestion, Page, Sided, quantities};
use crate::error::ReportError;
use crate::number::{Scale, sum};
use crate::pages::heading;
use crate::question::Format;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 25;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Flat {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    metrics: Vec<MetricHead>,
    totals: std::collections::BTreeMap<String, ChangeRow>,
    functions: Vec<FunctionRow>,
    /// Rows that a limit left out.
    cut: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct MetricHead {
    pub id: String,
    #[schemars(with = "String")]
    pub unit: Unit,
    /// Of a derived metric: how it is computed of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Whether amounts of several functions have a sum.
    #[serde(skip)]
    adds_up: bool,
}

impl MetricHead {
    pub fn of(quantity: &Quantity) -> MetricHead {
        let expression = quantity.derived().map(|derived| derived.expression().to_owned());
        let adds_up = quantity.measure().is_some_and(|measure| measure.kind() != Kind::Max);
        MetricHead { id: quantity.id(), unit: quantity.unit(), expression, adds_up }
    }

    pub fn all(quantities: &[Quantity]) -> Vec<MetricHead> {
        quantities.iter().map(MetricHead::of).collect()
    }

    /// What it is called in a heading.
    pub fn name(&self) -> String {
        match self.id.as_str() {
            "active_s" => "active time".into(),
            "cpu_s" => "CPU time".into(),
            "lost_s" => "lost time".into(),
            "caused_s" => "lost time caused".into(),
            id => id.trim_end_matches("_s").replace('_', " "),
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FunctionRow {
    pub function: String,
    pub file: Option<String>,
    /// Whether A calls it anywhere.
    pub in_a: bool,
    /// Whether B does.
    pub in_b: bool,
    pub metrics: Changes,
}

/// All functions with anything in these; the largest exclusive difference in the first one is first.
pub(super) fn functions(diff: &Diff<'_>, quantities: &[Quantity]) -> Vec<FunctionRow> {
    let presence = diff.presence_of_functions();
    let mut rows: Vec<FunctionRow> = (diff.joint().functions().iter().zip(presence))
        .map(|(function, (in_a, in_b))| FunctionRow {
            function: function.name.clone(),
            file: function.file.clone(),
            in_a,
            in_b,
            metrics: Changes::new(),
        })
        .collect();
    for quantity in quantities {
        for (row, change) in rows.iter_mut().zip(diff.functions(quantity.clone())) {
            let both = Both::from(change);
            if both.is_any() {
                row.metrics.insert(quantity.id(), both);
            }
        }
    }
    rows.retain(|row| !row.metrics.is_empty());
    let lead = quantities[0].id();
    let size = |row: &FunctionRow| {
        let both = row.metrics.get(&lead);
        both.map_or((0.0, 0.0), |both| both.exclusive.size())
    };
    rows.sort_by(|a, b| {
        let (x, y) = (size(a), size(b));
        (y.0.total_cmp(&x.0)).then(y.1.total_cmp(&x.1)).then_with(|| a.function.cmp(&b.function))
    });
    rows
}

/// The first rows, and how many more there are. Text leaves out functions that only call others.
pub(super) fn cut(
    mut functions: Vec<FunctionRow>,
    question: &DiffQuestion,
    quantities: &[Quantity],
    rows: usize,
) -> (Vec<FunctionRow>, usize) {
    let is_text = question.format == Format::Text;
    if is_text {
        let lead = quantities[0].id();
        let has_own = |both: &Both| both.exclusive.is_any();
        functions.retain(|row| row.metrics.get(&lead).is_some_and(has_own));
    }
    let limit = question.limit.or(is_text.then_some(rows)).unwrap_or(usize::MAX);
    let rest = functions.len().saturating_sub(limit);
    functions.truncate(limit);
    (functions, rest)
}

impl FunctionRow {
    /// Its name, with where it is, and whether a side has it not.
    pub fn cell(&self) -> Cell {
        let mut tail = self.file.clone().unwrap_or_default();
        if let Some(word) = missing(self.in_a, self.in_b) {
            tail = format!("[{word}] {tail}");
        }
        Cell::from(self.function.clone()).with_tail(tail.trim().to_owned())
    }
}

/// Functions as rows of several sides.
pub(super) fn side_rows<'p>(functions: &'p [FunctionRow], lead: &MetricHead) -> Vec<SideRow<'p>> {
    let row = |row: &'p FunctionRow| {
        let file = row.file.clone().unwrap_or_default();
        SideRow {
            key: format!("{}\n{file}", row.function),
            tail: file,
            presence: (row.in_a, row.in_b),
            ..SideRow::new(&row.function, row.metrics.get(&lead.id).map(|both| &both.exclusive))
        }
    };
    functions.iter().map(row).collect()
}

/// What is only on one side.
pub(super) fn missing(in_a: bool, in_b: bool) -> Option<&'static str> {
    match (in_a, in_b) {
        (false, true) => Some("only in B"),
        (true, false) => Some("only in A"),
        _ => None,
    }
}

impl Flat {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<Flat, ReportError> {
        question.no_arguments()?;
        let quantities = quantities(diff, question);
        let (functions, cut) = cut(functions(diff, &quantities), question, &quantities, ROWS);
        Ok(Flat {
            schema: SCHEMA,
            head: Head::new(diff, question),
            totals: (quantities.iter())
                .map(|quantity| (quantity.id(), diff.total_of(quantity.clone()).into()))
                .collect(),
            metrics: MetricHead::all(&quantities),
            functions,
            cut,
        })
    }
}

/// The table of functions. `rest` is the number of further functions, which have the rest of the total.
pub(super) fn table(
    rows: &[FunctionRow],
    rest: usize,
    metrics: &[MetricHead],
    total: &ChangeRow,
    style: &Style,
) -> String {
    let lead = &metrics[0];
    let own: Vec<&ChangeRow> =
        rows.iter().filter_map(|row| row.metrics.get(&lead.id)).map(|both| &both.exclusive).collect();
    let scale = scale(lead.unit, own.iter().copied().chain([total]));
    let others: Vec<(&MetricHead, Scale)> = (metrics.iter().skip(1))
        .map(|head| {
            let deltas = rows.iter().filter_map(|row| row.metrics.get(&head.id));
            (head, Scale::of(head.unit, deltas.map(|both| both.exclusive.delta)))
        })
        .collect();
    let room = style.width.saturating_sub(70) / 12;
    let others = &others[..others.len().min(room)];
    let heads = titles(&scale).into_iter();
    let heads = heads.chain([(scale.title("incl B−A"), Align::Right)]);
    let heads =
        heads.chain(others.iter().map(|(head, scale)| {
            (format!("{} B−A", scale.title(head.id.trim_end_matches("_s"))), Align::Right)
        }));
    let mut table = Table::new(heads.chain([("function".into(), Align::Left)]));
    let nothing = ChangeRow::from(proust_statistics::Change::default());
    for row in rows {
        let both = row.metrics.get(&lead.id);
        let mut line = cells(both.map_or(&nothing, |both| &both.exclusive), &scale).to_vec();
        line.push(both.map_or_else(|| "-".into(), |both| signed(&scale, both.inclusive.delta)).into());
        for (head, scale) in others {
            let delta = row.metrics.get(&head.id).map_or(0.0, |both| both.exclusive.delta);
            line.push(signed(scale, delta).into());
        }
        line.push(row.cell());
        table.row(line);
    }
    let summed = |pick: fn(&ChangeRow) -> f64| sum(own.iter().map(|row| pick(row)));
    let mut last = |amounts: Option<[f64; 3]>, name: String| {
        let mut line: Vec<Cell> = amounts.map_or_else(Vec::new, |[a, b, delta]| {
            vec![scale.show(a).into(), scale.show(b).into(), signed(&scale, delta).into()]
        });
        line.resize(6 + others.len(), "".into());
        line.push(Cell::painted(Paint::Faint, name));
        table.row(line);
    };
    if rest > 0 {
        let (a, b) = (total.a - summed(|row| row.a), total.b - summed(|row| row.b));
        let name = format!("{} (--limit {})", counted(rest, "more function"), rows.len() + rest);
        last(lead.adds_up.then_some([a, b, b - a]), name);
    }
    let whole = if lead.adds_up { "sum" } else { "of the whole program" };
    last(Some([total.a, total.b, total.delta]), whole.into());
    table.render(style) + &unchanged_text(own, style)
}

impl Sided for Flat {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        let lead = &self.metrics[0];
        let explanation = format!("{} without what is called", lead.name());
        let section = Section::new("Functions", explanation, lead.unit, side_rows(&self.functions, lead));
        vec![Section { order: Order::Difference, limit: ROWS, ..section }]
    }
}

impl Page for Flat {
    fn text(&self, style: &Style) -> String {
        let lead = &self.metrics[0];
        let explanation = format!("{} without what is called; the largest difference first", lead.name());
        let mut text = self.head.text(style) + &heading(style, "Functions", &explanation);
        text.push_str(&table(&self.functions, self.cut, &self.metrics, &self.totals[&lead.id], style));
        text + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut heads = vec!["function".to_owned(), "file".into(), "in A".into(), "in B".into()];
        for head in &self.metrics {
            heads.extend(ChangeRow::heads(&format!("{} exclusive", head.id)));
            heads.extend(ChangeRow::heads(&format!("{} inclusive", head.id)));
        }
        let nothing = ChangeRow::from(proust_statistics::Change::default());
        let row = |row: &FunctionRow| {
            let mut fields = vec![row.function.clone(), row.file.clone().unwrap_or_default()];
            fields.extend([row.in_a.to_string(), row.in_b.to_string()]);
            for head in &self.metrics {
                let both = row.metrics.get(&head.id);
                fields.extend(both.map_or(&nothing, |both| &both.exclusive).fields());
                fields.extend(both.map_or(&nothing, |both| &both.inclusive).fields());
            }
            fields
        };
        [heads].into_iter().chain(self.functions.iter().map(row)).collect()
    }
}
