//! The page `scaling`: speedup and efficiency, costs as formulas, and which places lose how much.
//!
//! JSON: `{"schema":1,"sweep":{…},"curve":[…],"models":[…],"places":[…],"notes":[…]}`. A place is
//! `{"id","parent","kind","name","file",
//! "line","counts":[{"count","cost_s","cost_each_s","excess_s","own_excess_s","loss","own_loss",
//! "verdict":"more"|"less"|"same"|"undecided",
//! "accounts":[{"id":…|"other","excess_s"}]}]}`: losses are parts of the whole program's processor time
//! with that count, so that a place's `own_loss` and the losses of the calls below sum up to its `loss`. A
//! model is `{"of","id","text","constant","coefficient",
//! "exponent","logarithms","smape","predictions":[{"count","value","beyond"}]}`.

mod models;

use proust_compare::JointId;
use proust_compare::scaling::model::FEWEST_COUNTS;
use proust_compare::scaling::{Ensemble, Places};
use proust_profile::ContextKind;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::head::{CurveRow, SweepBlock, count_text, notes, serial_text};
use super::order::{depth_below, disagreement, in_order};
use super::summary::curve_text;
use super::{Page, SweepQuestion, SweepView, wording};
use crate::number::{Scale, exact, fixed};
use crate::pages::heading;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::{Notes, SweepNote};

/// Places in text when nothing else is asked for.
const ROWS: usize = 25;
/// The least loss of a place that is shown in text.
const SHOWN: f64 = 0.01;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ScalingPage {
    schema: u32,
    sweep: SweepBlock,
    curve: Vec<CurveRow>,
    serial_s: Option<f64>,
    models: Vec<models::ModelRow>,
    places: Vec<PlaceRow>,
    /// Places that a limit left out.
    cut: usize,
    #[serde(flatten)]
    notes: Notes,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceRow {
    id: JointId,
    parent: Option<JointId>,
    kind: &'static str,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    counts: Vec<LossRow>,
    #[serde(skip)]
    depth: usize,
    #[serde(skip)]
    is_entrance: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LossRow {
    count: u32,
    cost_s: f64,
    cost_each_s: f64,
    excess_s: f64,
    own_excess_s: f64,
    loss: f64,
    own_loss: f64,
    verdict: &'static str,
    accounts: Vec<AccountExcess>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AccountExcess {
    id: &'static str,
    excess_s: f64,
}

impl ScalingPage {
    pub fn build(view: &SweepView<'_>, question: &SweepQuestion) -> ScalingPage {
        let ensemble = view.ensemble;
        let losses: Vec<Places> =
            (1..ensemble.counts().len()).map(|count| Places::of(ensemble, question.kind, count)).collect();
        let least = if question.format == crate::Format::Text { SHOWN } else { 0.0 };
        let loss_of = |node: JointId| {
            losses.iter().map(|places| places.list[node as usize].loss.abs()).fold(0.0, f64::max)
        };
        let mut order = in_order(ensemble, &|node| last_excess(&losses, node), &|node| loss_of(node) > least);
        let limit =
            question.limit.or((question.format == crate::Format::Text).then_some(ROWS)).unwrap_or(usize::MAX);
        let cut = order.len().saturating_sub(limit);
        if cut > 0 {
            // The smallest losses go first, wherever they are; the contexts around a place mostly lose as
            // much as it does.
            let mut by_loss: Vec<f64> = order.iter().map(|&(node, _)| loss_of(node)).collect();
            by_loss.sort_unstable_by(|a, b| b.total_cmp(a));
            let least = by_loss.get(limit).copied().unwrap_or(0.0);
            order.retain(|&(node, _)| loss_of(node) > least);
        }
        let places =
            order.iter().map(|&(node, depth)| PlaceRow::new(ensemble, &losses, node, depth)).collect();
        let mut notes = notes(view);
        for difference in ensemble.disagreements().iter().take(3) {
            notes.push(disagreement(ensemble, difference));
        }
        let models = models::models(ensemble, &order);
        if models.is_empty() {
            notes.push(SweepNote::NoFormula { counts: ensemble.counts().len(), needed: FEWEST_COUNTS });
        }
        ScalingPage {
            schema: SCHEMA,
            sweep: SweepBlock::new(view, question),
            curve: CurveRow::all(view.ensemble, question.kind),
            serial_s: view.serial_s.iter().copied().reduce(f64::min),
            models,
            places,
            cut,
            notes,
        }
    }
}

fn last_excess(losses: &[Places], node: JointId) -> f64 {
    losses.last().map_or(0.0, |places| places.list[node as usize].excess.as_seconds())
}

impl PlaceRow {
    fn new(ensemble: &Ensemble<'_>, losses: &[Places], node: JointId, depth: usize) -> PlaceRow {
        let label = ensemble.label(node);
        let counts = losses.iter().map(|places| {
            let place = &places.list[node as usize];
            let count = ensemble.counts()[place.count];
            let mut accounts: Vec<AccountExcess> = place
                .accounts
                .iter()
                .map(|&(account, excess)| AccountExcess {
                    id: account.map_or("other", |a| a.id()),
                    excess_s: excess.as_seconds(),
                })
                .collect();
            accounts.sort_by(|a, b| b.excess_s.total_cmp(&a.excess_s));
            LossRow {
                count,
                cost_s: place.cost.as_seconds(),
                cost_each_s: place.cost.as_seconds() / f64::from(count),
                excess_s: place.excess.as_seconds(),
                own_excess_s: place.own_excess.as_seconds(),
                loss: place.loss,
                own_loss: place.own_loss,
                verdict: place.verdict.id(),
                accounts,
            }
        });
        PlaceRow {
            id: node,
            parent: ensemble.joint().parent(node),
            kind: if ensemble.is_region(node) { ContextKind::Region.id() } else { label.kind.id() },
            name: plain_name(ensemble, node),
            file: label.file.map(str::to_owned),
            line: label.line,
            counts: counts.collect(),
            depth,
            is_entrance: wording::is_entrance(ensemble, node),
        }
    }
}

/// Of a site not the segment up to it: its costs here are its own.
fn plain_name(ensemble: &Ensemble<'_>, node: JointId) -> String {
    let label = ensemble.label(node);
    match label.kind {
        ContextKind::Line => {
            crate::pages::place(label.file, label.line).map_or("a line".into(), |at| format!("line {at}"))
        }
        ContextKind::Program => "the program".into(),
        _ => label.name.to_owned(),
    }
}

impl Page for ScalingPage {
    fn text(&self, style: &Style) -> String {
        let mut text = self.sweep.text(style, "Scaling");
        text.push('\n');
        text.push_str(&curve_text(&self.curve, style));
        let computation: Vec<String> = self
            .curve
            .iter()
            .filter_map(|row| Some(format!("{} at {}", fixed(row.computation_scaling?, 2), row.count)))
            .collect();
        text.push_str(&style.paint(
            Paint::Faint,
            &format!(
                " computation scaling (1 = the same work takes as much processor time): {}\n",
                computation.join(", ")
            ),
        ));
        text.push_str(&serial_text(self.serial_s, &self.curve));
        text.push_str(&self.sweep.failures_text());
        text.push_str(&self.places_text(style));
        if !self.models.is_empty() {
            text.push_str(&models::text(&self.models, style));
        }
        text.push_str(&self.notes.lines(style));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "id",
            "parent",
            "kind",
            "name",
            "file",
            "line",
            "count",
            "cost_s",
            "cost_each_s",
            "excess_s",
            "own_excess_s",
            "loss",
            "own_loss",
            "verdict",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for place in &self.places {
            for loss in &place.counts {
                let mut row = vec![
                    place.id.to_string(),
                    place.parent.map(|parent| parent.to_string()).unwrap_or_default(),
                    place.kind.to_owned(),
                    place.name.clone(),
                    place.file.clone().unwrap_or_default(),
                    place.line.map(|line| line.to_string()).unwrap_or_default(),
                    loss.count.to_string(),
                ];
                let numbers = [
                    loss.cost_s,
                    loss.cost_each_s,
                    loss.excess_s,
                    loss.own_excess_s,
                    loss.loss,
                    loss.own_loss,
                ];
                row.extend(numbers.map(exact));
                row.push(loss.verdict.to_owned());
                rows.push(row);
            }
        }
        rows
    }
}

impl ScalingPage {
    fn places_text(&self, style: &Style) -> String {
        let (Some(first), Some(last)) = (self.curve.first(), self.curve.last()) else { return String::new() };
        let mut text = "\n".to_owned()
            + &heading(
                style,
                &format!("What is lost with {} in comparison with {}", last.count, first.count),
                "of the program's processor time",
            );
        if self.places.is_empty() {
            return text + " no place loses or gains 1 % of it\n";
        }
        let counts: Vec<&LossRow> = self.places[0].counts.iter().collect();
        let scale = Scale::seconds(
            self.places.iter().filter_map(|place| place.counts.last()).map(|row| row.excess_s),
        );
        let mut titles: Vec<(String, Align)> = counts
            .iter()
            .map(|row| {
                let marked = self.curve.iter().any(|point| point.count == row.count && point.oversubscribed);
                (format!("loss % at {}", count_text(row.count, marked)), Align::Right)
            })
            .collect();
        titles.extend([
            ("own %".to_owned(), Align::Right),
            (scale.title("more"), Align::Right),
            ("of it".into(), Align::Left),
            ("place".into(), Align::Left),
        ]);
        let mut table = Table::new(titles);
        let skipped =
            self.places.iter().filter(|place| place.is_entrance).map(|place| place.depth).max().unwrap_or(0);
        for place in self.places.iter().filter(|place| !place.is_entrance) {
            let mut cells: Vec<Cell> = place
                .counts
                .iter()
                .map(|row| {
                    let unsure = if matches!(row.verdict, "more" | "less") { "" } else { "~" };
                    format!("{unsure}{}", fixed(100.0 * row.loss, 1)).into()
                })
                .collect();
            let Some(row) = place.counts.last() else { continue };
            let most: Vec<String> = row
                .accounts
                .iter()
                .filter(|account| account.excess_s > 0.1 * row.excess_s.abs())
                .take(2)
                .map(|account| format!("{} {}", account.id, scale.show(account.excess_s)))
                .collect();
            cells.push(fixed(100.0 * row.own_loss, 1).into());
            cells.push(scale.show(row.excess_s).into());
            cells.push(most.join(", ").into());
            cells.push(format!("{}{}", "  ".repeat(depth_below(place.depth, skipped)), place.name).into());
            table.row(cells);
        }
        text.push_str(&table.render(style));
        if self.cut > 0 {
            text.push_str(&format!(
                " {} with smaller losses not shown: --limit, or --format json.\n",
                counted(self.cut, "place")
            ));
        }
        let line = " loss: what is more than expected, negative where it is less; own + the calls below = \
         loss; ~ may be chance.";
        text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
        text
    }
}
