//! The page `callers FUNCTION` of a comparison: the changes of a function by caller and callee.

use proust_compare::Diff;
use proust_compare::diff::NeighbourChange;
use proust_words::nearest::nearest;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{ChangeRow, cells, scale, titles};
use super::flat::MetricHead;
use super::head::Head;
use super::several::{Order, Section, SideRow};
use super::{DiffQuestion, Page, Sided, quantities};
use crate::error::ReportError;
use crate::pages::heading;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::table::{Align, Cell, Table};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Callers {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    metric: MetricHead,
    function: String,
    inclusive: ChangeRow,
    exclusive: ChangeRow,
    callers: Vec<NeighbourRow>,
    callees: Vec<NeighbourRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NeighbourRow {
    /// Null: nobody; it is where a thread begins.
    function: Option<String>,
    inclusive: ChangeRow,
}

impl Callers {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<Callers, ReportError> {
        let [name] = &question.arguments[..] else {
            return Err(ReportError::Usage(
                "the page callers of a comparison takes one function: `callers NAME`".into(),
            ));
        };
        let known = diff.joint().functions();
        let wanted: Vec<u32> =
            (0..known.len()).filter(|&id| known[id].name == *name).map(|id| id as u32).collect();
        if wanted.is_empty() {
            let meant = nearest(name, known.iter().map(|function| function.name.as_str()), 3);
            let end = if meant.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", meant.join(", "))
            };
            return Err(ReportError::Usage(format!("no function of either side is called `{name}`{end}")));
        }
        let quantity = quantities(diff, question).remove(0);
        let Some(measure) = quantity.measure() else {
            return Err(ReportError::Usage(format!(
                "the page callers of a comparison shows amounts that add up, and `{}` does not; flat and \
                 tree show it",
                quantity.id()
            )));
        };
        let found = diff.neighbours(&wanted, measure);
        let rows = |neighbours: Vec<NeighbourChange>| {
            let mut rows: Vec<NeighbourRow> = (neighbours.into_iter())
                .map(|change| NeighbourRow {
                    function: change.function.map(|id| known[id as usize].name.clone()),
                    inclusive: change.inclusive.into(),
                })
                .collect();
            rows.sort_by(|a, b| b.inclusive.delta.abs().total_cmp(&a.inclusive.delta.abs()));
            rows
        };
        Ok(Callers {
            schema: SCHEMA,
            head: Head::new(diff, question),
            metric: MetricHead::of(&quantity),
            function: name.clone(),
            inclusive: found.whole.inclusive.into(),
            exclusive: found.whole.exclusive.into(),
            callers: rows(found.callers),
            callees: rows(found.callees),
        })
    }

    fn table(&self, rows: &[NeighbourRow], nobody: &str, style: &Style) -> String {
        let scale = scale(self.metric.unit, rows.iter().map(|row| &row.inclusive).chain([&self.inclusive]));
        let mut table = Table::new(titles(&scale).into_iter().chain([("function".into(), Align::Left)]));
        for row in rows {
            let mut line = cells(&row.inclusive, &scale).to_vec();
            line.push(Cell::from(row.function.as_deref().unwrap_or(nobody)));
            table.row(line);
        }
        table.render(style)
    }
}

fn side_rows<'p>(rows: &'p [NeighbourRow], nobody: &str) -> Vec<SideRow<'p>> {
    let row =
        |row: &'p NeighbourRow| SideRow::new(row.function.as_deref().unwrap_or(nobody), Some(&row.inclusive));
    rows.iter().map(row).collect()
}

impl Sided for Callers {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        let whole = vec![
            SideRow::new("with all that it calls", Some(&self.inclusive)),
            SideRow::new("alone", Some(&self.exclusive)),
        ];
        let unit = self.metric.unit;
        let callers = side_rows(&self.callers, "[begin of a thread]");
        let callees = side_rows(&self.callees, "");
        let order = Order::Difference;
        vec![
            Section::new(self.function.clone(), self.metric.name(), unit, whole),
            Section {
                order,
                ..Section::new("Called by", "the part of it that comes from each", unit, callers)
            },
            Section { order, ..Section::new("Calls", "the part of it that goes to each", unit, callees) },
        ]
    }
}

impl Page for Callers {
    fn text(&self, style: &Style) -> String {
        let mut text = self.head.text(style);
        let whole = [
            NeighbourRow { function: Some("with all that it calls".into()), inclusive: self.inclusive },
            NeighbourRow { function: Some("alone".into()), inclusive: self.exclusive },
        ];
        text.push_str(&heading(style, &self.function, &self.metric.name()));
        text.push_str(&self.table(&whole, "", style));
        text.push_str(
            &("\n".to_owned() + &heading(style, "Called by", "the part of it that comes from each")),
        );
        text.push_str(&self.table(&self.callers, "[begin of a thread]", style));
        text.push_str(&("\n".to_owned() + &heading(style, "Calls", "the part of it that goes to each")));
        text.push_str(&self.table(&self.callees, "", style));
        text + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads =
            ["relation".to_owned(), "function".into()].into_iter().chain(ChangeRow::heads(&self.metric.id));
        let mut rows: Vec<Vec<String>> = vec![heads.collect()];
        for (relation, neighbours) in [("caller", &self.callers), ("callee", &self.callees)] {
            for row in neighbours {
                let first = [relation.to_owned(), row.function.clone().unwrap_or_default()];
                rows.push(first.into_iter().chain(row.inclusive.fields()).collect());
            }
        }
        rows
    }
}
