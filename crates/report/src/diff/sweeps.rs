//! Two sweeps beside each other: speedup, and the fate of degraded places.

use proust_compare::JointId;
use proust_compare::degradation::{Definition, Degradation, Limits};
use proust_compare::scaling::Timing;
use proust_compare::scaling::{Ensemble, Kind, Point, Ratio, efficiency, speedup};
use proust_compare::sweeps::{CountChange, PlaceChange, TwoSweeps};
use proust_profile::Unit;
use proust_words::counted;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::Page;
use super::change::{ChangeRow, cells, scale, titles};
use super::flat::missing;
use super::tree::name;
use crate::number::{exact, fixed};
use crate::pages::{base_name, heading, place};
use crate::question::Format;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::sweep::{picture_of_two, point};
use crate::table::{Align, Cell, Table};
use crate::wording::{Notes, SweepNote};
use crate::{csv, json};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 20;
/// In text a place is shown that takes this part of the program with some count, or whose ranks differ.
const LEAST: f64 = 0.02;

/// A question about two sweeps.
#[derive(Clone, Debug, Default)]
pub struct SweepDiffQuestion {
    /// How the sides were named, for headings.
    pub names: [String; 2],
    /// Their commands.
    pub commands: [Vec<String>; 2],
    /// Whether degradation is decided by the original definition, in which any difference counts.
    pub paper: bool,
    /// How many places at most; None = the page's own choice in text, all in JSON and CSV.
    pub limit: Option<usize>,
    /// How it is written.
    pub format: Format,
    /// What a reader must know.
    pub notes: Vec<SweepNote>,
}

/// What is written as JSON of two sweeps.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<SweepsPage>()
}

#[derive(Debug, Serialize, JsonSchema)]
struct SweepsPage {
    schema: u32,
    sides: Sides,
    curve: Vec<CurveRow>,
    places: Vec<PlaceRow>,
    /// Places that a limit left out.
    cut: usize,
    #[serde(flatten)]
    notes: Notes,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Sides {
    a: Side,
    b: Side,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    name: String,
    command: Vec<String>,
    runs: usize,
    counts: Vec<u32>,
    available_processors: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CurveRow {
    count: u32,
    /// Null where a side was not run with this count.
    wall_s: Option<ChangeRow>,
    a: Option<CurveSide>,
    b: Option<CurveSide>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct CurveSide {
    wall_s: f64,
    speedup: Option<f64>,
    speedup_interval: Option<(f64, f64)>,
    efficiency: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceRow {
    id: JointId,
    parent: Option<JointId>,
    kind: &'static str,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    /// Null where A has no such place.
    a: Option<PlaceSide>,
    b: Option<PlaceSide>,
    /// Degraded in B and not in A.
    gained: Vec<u32>,
    /// Degraded in A and not in B.
    lost: Vec<u32>,
    times: Vec<TimeRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceSide {
    /// Counts at which it is degraded.
    ranks: Vec<u32>,
    minimal_rank: Option<u32>,
    /// The time that a smaller count would save, where most is lost.
    loss_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimeRow {
    count: u32,
    seconds: Option<ChangeRow>,
    a_s: Option<f64>,
    b_s: Option<f64>,
}

/// Builds the page of two sweeps and writes it.
pub fn render_sweep_diff(sweeps: &TwoSweeps<'_>, question: &SweepDiffQuestion, style: &Style) -> String {
    let page = SweepsPage::build(sweeps, question);
    match question.format {
        Format::Text => style.plain(page.text(style)),
        Format::Json => json::write(&page),
        Format::Csv => csv::write(page.rows()),
    }
}

/// Draws two sweeps as SVG: their speedups in one picture, and the processor time by account before and
/// after.
pub fn sweep_diff_picture(sweeps: &TwoSweeps<'_>, question: &SweepDiffQuestion) -> String {
    let [a, b] = &question.names;
    let program = |at: usize| base_name(question.commands[at].first().map_or("program", String::as_str));
    let title = match (program(0), program(1)) {
        (before, after) if before == after => before.to_owned(),
        (before, after) => format!("{before} and {after}"),
    };
    picture_of_two(
        &title,
        [sweeps.a(), sweeps.b()],
        [&format!("A: {}", base_name(a)), &format!("B: {}", base_name(b))],
    )
}

impl SweepsPage {
    fn build(sweeps: &TwoSweeps<'_>, question: &SweepDiffQuestion) -> SweepsPage {
        let definition = |ensemble: &Ensemble<'_>| match question.paper {
            true => Definition::Paper,
            false => {
                let walls = ensemble.runs().iter().map(|run| run.wall);
                Definition::Robust(Limits::of_program(walls.max().unwrap_or_default()))
            }
        };
        let side = |ensemble: &Ensemble<'_>, at: usize| Side {
            name: question.names[at].clone(),
            command: question.commands[at].clone(),
            runs: ensemble.runs().len(),
            counts: ensemble.counts().to_vec(),
            available_processors: ensemble.available(),
        };
        let program = base_name(question.commands[1].first().map_or("program", String::as_str)).to_owned();
        let curve = sweeps.program();
        let longest = curve
            .iter()
            .flat_map(|row| [&row.a, &row.b])
            .flatten()
            .map(Timing::typical)
            .max()
            .unwrap_or_default()
            .as_seconds();
        let mut places: Vec<PlaceRow> =
            (sweeps.places(definition(sweeps.a()), definition(sweeps.b())).into_iter())
                .map(|change| PlaceRow::new(sweeps, change, &program))
                .collect();
        let is_text = question.format == Format::Text;
        if is_text {
            places.retain(|row| {
                let most =
                    row.times.iter().flat_map(|time| [time.a_s, time.b_s]).flatten().fold(0.0, f64::max);
                row.differs() || row.is_degraded() || most >= LEAST * longest
            });
        }
        let limit = question.limit.or(is_text.then_some(ROWS)).unwrap_or(usize::MAX);
        let cut = places.len().saturating_sub(limit);
        places.truncate(limit);
        SweepsPage {
            schema: SCHEMA,
            sides: Sides { a: side(sweeps.a(), 0), b: side(sweeps.b(), 1) },
            curve: curve_rows(&curve),
            places,
            cut,
            notes: Notes::of(&question.notes),
        }
    }
}

/// A side's times become speedups over its own least count.
fn curve_rows(curve: &[CountChange]) -> Vec<CurveRow> {
    let points = |of: fn(&CountChange) -> Option<&Timing>| -> Vec<Option<Point>> {
        curve.iter().map(|row| of(row).map(point)).collect()
    };
    let (of_a, of_b) = (points(|row| row.a.as_ref()), points(|row| row.b.as_ref()));
    let side = |points: &[Option<Point>], at: usize| {
        let (first, point) = (points.iter().flatten().next()?, points[at].as_ref()?);
        let ratio = |of: fn(Kind, &Point, &Point) -> Option<Ratio>| of(Kind::Strong, first, point);
        let is_first = first.count == point.count;
        Some(CurveSide {
            wall_s: point.time.as_seconds(),
            speedup: ratio(speedup).map(|ratio| ratio.value),
            speedup_interval: ratio(speedup).and_then(|ratio| ratio.interval).filter(|_| !is_first),
            efficiency: ratio(efficiency).map(|ratio| ratio.value),
        })
    };
    (curve.iter().enumerate())
        .map(|(at, row)| CurveRow {
            count: row.count,
            wall_s: row.change.map(ChangeRow::from),
            a: side(&of_a, at),
            b: side(&of_b, at),
        })
        .collect()
}

impl PlaceRow {
    fn new(sweeps: &TwoSweeps<'_>, change: PlaceChange, program: &str) -> PlaceRow {
        let label = sweeps.label(change.node);
        let side = |of: Option<&Degradation>| {
            of.map(|of| PlaceSide {
                ranks: of.set().into_iter().chain(of.oversubscribed_set()).collect(),
                minimal_rank: of.minimal().map(|(rank, _)| rank),
                loss_s: of.worst().map_or(0.0, |rank| rank.loss().as_seconds()),
            })
        };
        PlaceRow {
            id: change.node,
            parent: sweeps.parent(change.node),
            kind: label.kind.id(),
            name: name(&label, program),
            file: label.file.map(str::to_owned),
            line: label.line,
            a: side(change.a.as_ref()),
            b: side(change.b.as_ref()),
            gained: change.gained,
            lost: change.lost,
            times: (change.times.iter())
                .map(|time| TimeRow {
                    count: time.count,
                    seconds: time.change.map(ChangeRow::from),
                    a_s: time.a.as_ref().map(|timing| timing.typical().as_seconds()),
                    b_s: time.b.as_ref().map(|timing| timing.typical().as_seconds()),
                })
                .collect(),
        }
    }

    fn differs(&self) -> bool {
        !self.gained.is_empty() || !self.lost.is_empty()
    }

    fn is_degraded(&self) -> bool {
        [&self.a, &self.b].into_iter().flatten().any(|side| !side.ranks.is_empty())
    }

    /// The change of its ranks, in words.
    fn word(&self) -> String {
        let list = |counts: &[u32]| counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let mut words = Vec::new();
        if !self.lost.is_empty() {
            words.push(format!("repaired at {}", list(&self.lost)));
        }
        if !self.gained.is_empty() {
            words.push(format!("degraded at {}", list(&self.gained)));
        }
        if words.is_empty() && self.is_degraded() {
            words.push("as degraded".into());
        }
        words.join("; ")
    }
}

/// Ranks as a set: `{2, 4}`; nothing for none.
fn set(side: Option<&PlaceSide>) -> String {
    match side {
        None => "-".into(),
        Some(side) if side.ranks.is_empty() => "none".into(),
        Some(side) => side.ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
    }
}

impl SweepsPage {
    fn curve_text(&self, style: &Style) -> String {
        let changes: Vec<&ChangeRow> = self.curve.iter().filter_map(|row| row.wall_s.as_ref()).collect();
        let scale = scale(Unit::SECONDS, changes.iter().copied());
        let speedups =
            ["speedup A", "speedup B", "efficiency A", "B"].map(|title| (title.to_owned(), Align::Right));
        let heads = [("threads".to_owned(), Align::Right)].into_iter().chain(titles(&scale)).chain(speedups);
        let mut table = Table::new(heads);
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| fixed(ratio, 2));
        let with_error = |side: &Option<CurveSide>| match side {
            None => "-".into(),
            Some(side) => {
                let half =
                    side.speedup_interval.map(|(low, high)| format!(" ±{}", fixed((high - low) / 2.0, 2)));
                ratio(side.speedup) + &half.unwrap_or_default()
            }
        };
        for row in &self.curve {
            let mut line: Vec<Cell> = vec![row.count.to_string().into()];
            match &row.wall_s {
                Some(change) => line.extend(cells(change, &scale)),
                None => {
                    let wall =
                        |side: &Option<CurveSide>| side.map_or("-".into(), |side| scale.show(side.wall_s));
                    line.extend([wall(&row.a).into(), wall(&row.b).into(), "".into(), "".into(), "".into()]);
                }
            }
            line.extend([with_error(&row.a).into(), with_error(&row.b).into()]);
            line.extend([&row.a, &row.b].map(|side| ratio(side.and_then(|side| side.efficiency)).into()));
            table.row(line);
        }
        table.render(style)
    }

    fn places_text(&self, style: &Style) -> String {
        let most = self.curve.iter().rfind(|row| row.a.is_some() && row.b.is_some()).map(|row| row.count);
        let last = |row: &PlaceRow| {
            row.times.iter().find(|time| Some(time.count) == most).and_then(|time| time.seconds)
        };
        let rows: Vec<ChangeRow> = self.places.iter().filter_map(last).collect();
        let scale = scale(Unit::SECONDS, &rows);
        let ranks = [("ranks A".to_owned(), Align::Left), ("B".into(), Align::Left)];
        let heads = titles(&scale).into_iter().chain(ranks).chain([("place".into(), Align::Left)]);
        let mut table = Table::new(heads);
        for row in &self.places {
            let mut line: Vec<Cell> = match last(row) {
                Some(change) => cells(&change, &scale).to_vec(),
                None => {
                    let seconds = |pick: fn(&TimeRow) -> Option<f64>| {
                        let time = row.times.iter().find(|time| Some(time.count) == most).and_then(pick);
                        Cell::from(time.map_or("-".into(), |seconds| scale.show(seconds)))
                    };
                    vec![seconds(|time| time.a_s), seconds(|time| time.b_s), "".into(), "".into(), "".into()]
                }
            };
            line.extend([set(row.a.as_ref()).into(), set(row.b.as_ref()).into()]);
            // A tail is given up where there is no room, and which side has it must not be.
            let side = missing(row.a.is_some(), row.b.is_some()).map(|word| format!("  [{word}]"));
            let mut tail = vec![row.word()];
            tail.extend(place(row.file.as_deref(), row.line));
            tail.retain(|word| !word.is_empty());
            let name = row.name.clone() + &side.unwrap_or_default();
            line.push(Cell::from(name).with_tail(tail.join("  ")));
            table.row(line);
        }
        let title = match most {
            Some(count) => format!(
                "time with {}, and the counts at which they are slower than with fewer",
                counted(count, "thread")
            ),
            None => "the two sweeps have no count in common".into(),
        };
        let mut text = heading(style, "Places", &title) + &table.render(style);
        if self.cut > 0 {
            let line =
                format!(" {} (--limit {})", counted(self.cut, "more place"), self.places.len() + self.cut);
            text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        }
        text
    }
}

impl Page for SweepsPage {
    fn text(&self, style: &Style) -> String {
        let side = |letter: &str, side: &Side| {
            format!(" {letter}  {} ({}): {}\n", side.name, counted(side.runs, "run"), side.command.join(" "))
        };
        let mut text = style.paint(Paint::Strong, "Comparison of sweeps") + "\n";
        text.push_str(&crate::table::printable_lines(
            &(side("A", &self.sides.a) + &side("B", &self.sides.b)),
        ));
        text.push_str(
            &("\n".to_owned() + &heading(style, "Speedup", "wall time with each count; the least is 1")),
        );
        text.push_str(&self.curve_text(style));
        text.push_str(&("\n".to_owned() + &self.places_text(style)));
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["id", "kind", "name", "file", "line", "ranks A", "ranks B", "gained", "lost", "count"];
        let heads = first.iter().map(|&head| head.to_owned()).chain(ChangeRow::heads("seconds"));
        let mut rows: Vec<Vec<String>> = vec![heads.collect()];
        let list = |counts: &[u32]| counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        for row in &self.places {
            for time in &row.times {
                let ranks = |side: &Option<PlaceSide>| {
                    side.as_ref().map(|side| list(&side.ranks)).unwrap_or_default()
                };
                let line = row.line.map(|line| line.to_string()).unwrap_or_default();
                let mut fields = vec![row.id.to_string(), row.kind.into(), row.name.clone()];
                fields.extend([row.file.clone().unwrap_or_default(), line, ranks(&row.a), ranks(&row.b)]);
                fields.extend([list(&row.gained), list(&row.lost), time.count.to_string()]);
                match &time.seconds {
                    Some(change) => fields.extend(change.fields()),
                    None => {
                        let number = |number: Option<f64>| number.map(exact).unwrap_or_default();
                        fields.extend([number(time.a_s), number(time.b_s)]);
                        fields.resize(fields.len() + 4, String::new());
                    }
                }
                rows.push(fields);
            }
        }
        rows
    }
}
