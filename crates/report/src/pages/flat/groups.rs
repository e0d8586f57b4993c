//! The page `flat --by line|module`: amounts by source line, or by executable and library.

use proust_profile::Profile;
use proust_query::{Measure, OnPath, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::{FlatTable, ROWS, sums};
use crate::choice::{Chosen, Order};
use crate::column::ColumnHead;
use crate::columns::Columns;
use crate::error::ReportError;
use crate::groups::RowsOf;
use crate::number::sum;
use crate::pages::{Cut, Page, base_name, csv_amounts, csv_heads, heading, no_arguments, place, scope};
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::table::Cell;
use crate::wording::Notes;

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct FlatGroups {
    schema: u32,
    /// What a row is: `line` or `module`.
    by: &'static str,
    metrics: Vec<ColumnHead>,
    /// Sums over everything in scope, in the rows' columns.
    totals: RowAmounts,
    /// The part of them that is in no row: exclusive amounts of rows and this add up to the totals.
    rest: RowAmounts,
    rows: Vec<GroupRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    chosen: Chosen,
    #[serde(skip)]
    order: Order,
}

/// A line or a module. Inclusive amounts have all that is called there, and recursion counts once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct GroupRow {
    /// `file.c:12` without its folder, or the module's file.
    name: String,
    file: Option<String>,
    line: Option<u32>,
    /// Path of the module.
    module: Option<String>,
    metrics: RowAmounts,
}

impl GroupRow {
    fn of_line(&(file, line): &(&str, u32)) -> GroupRow {
        GroupRow {
            name: place(Some(file), Some(line)).unwrap_or_default(),
            file: Some(file.to_owned()),
            line: Some(line),
            module: None,
            metrics: RowAmounts::new(),
        }
    }

    fn of_module(profile: &Profile, id: proust_profile::ModuleId) -> GroupRow {
        let path = profile.modules[id].path.clone();
        let metrics = RowAmounts::new();
        GroupRow { name: base_name(&path).to_owned(), file: None, line: None, module: Some(path), metrics }
    }
}

impl FlatGroups {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<FlatGroups, ReportError> {
        no_arguments(question)?;
        let chosen = Chosen::new(selection, question);
        let (profile, forest) = (selection.profile(), selection.forest());
        match question.rows_of {
            RowsOf::Modules => {
                let of = OnPath::modules(profile, forest);
                let row = |id: &proust_profile::ModuleId| GroupRow::of_module(profile, *id);
                Ok(FlatGroups::with(selection, question, chosen, "module", &of, row))
            }
            _ => {
                let of = OnPath::lines(profile, forest);
                Ok(FlatGroups::with(selection, question, chosen, "line", &of, GroupRow::of_line))
            }
        }
    }

    fn with<K: Copy + Eq + std::hash::Hash>(
        selection: &Selection<'_>,
        question: &Question,
        chosen: Chosen,
        by: &'static str,
        of: &OnPath<K>,
        row: impl Fn(&K) -> GroupRow,
    ) -> FlatGroups {
        let numbers = Columns::on_path(selection, of, &chosen);
        let order = Order::new(question, &chosen, false);
        let with_metrics = |(n, key)| GroupRow { metrics: numbers.row(n), ..row(key) };
        let shown = of.keys.iter().enumerate().filter(|(n, _)| numbers.any(*n));
        let mut rows: Vec<GroupRow> = shown.map(with_metrics).collect();
        rows.sort_by(|a, b| {
            let key = |row: &GroupRow| (row.file.clone(), row.line, row.module.clone());
            let by_name = || key(a).cmp(&key(b));
            if order.by_name { by_name() } else { order.compare(&a.metrics, &b.metrics).then_with(by_name) }
        });
        // What only calls others is no row of a text that is about own amounts.
        if question.format == Format::Text && question.columns.is_empty() && question.sort.is_none() {
            rows.retain(|row| row.metrics.has_own());
        }
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let cut = limit.filter(|&limit| limit < rows.len()).map(|limit| {
            let own = Order { inclusive: false, ..order.clone() };
            let amount = sum(rows[limit..].iter().map(|row| own.of(&row.metrics)));
            let cut = Cut { rows: rows.len() - limit, amount };
            rows.truncate(limit);
            cut
        });
        FlatGroups {
            schema: SCHEMA,
            by,
            metrics: numbers.heads(),
            totals: sums(&chosen, |measure| selection.shown_total(measure)),
            rest: sums(&chosen, |measure: Measure| measure.unit().shown(of.rest(selection, measure))),
            rows,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            chosen,
            order,
        }
    }

    /// What is in no row.
    fn others(&self) -> Option<String> {
        let n = self.rows.len();
        // Short: the column is as wide as the names.
        let cut = self.cut.as_ref().map(|cut| format!("{} more (--limit {})", cut.rows, n + cut.rows));
        let without = match self.by {
            "line" => "code without lines",
            _ => "code of no module",
        };
        let rest = self.rest.has_own().then(|| without.to_owned());
        let others: Vec<String> = cut.into_iter().chain(rest).collect();
        (!others.is_empty()).then(|| others.join(", "))
    }
}

impl Page for FlatGroups {
    fn text(&self, style: &Style) -> String {
        let (title, nothing) = match self.by {
            "line" => ("Lines", "no line is known here: compile with -g"),
            _ => ("Modules", "nothing here"),
        };
        let text = heading(style, title, &self.scope);
        if self.rows.is_empty() {
            return format!("{text} {nothing}\n");
        }
        let table = FlatTable {
            heads: &self.metrics,
            totals: &self.totals,
            chosen: &self.chosen,
            order: &self.order,
            names: self.rows.iter().map(|row| (String::new(), Cell::from(row.name.as_str()))).collect(),
            amounts: self.rows.iter().map(|row| &row.metrics).collect(),
            what: self.by,
            others: self.others(),
        };
        text + &table.text(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![csv_heads(&["name", "file", "line", "module"], &self.metrics)];
        for row in &self.rows {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let line = row.line.map(|line| line.to_string()).unwrap_or_default();
            let mut fields = vec![row.name.clone(), text(&row.file), line, text(&row.module)];
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
