//! Pictures of a sweep as SVG: for screens and for print, in colour or without: patterns or labels repeat the
//! meaning of each colour.
//!
//! - [`canvas`]: shapes and text
//! - [`speedup`]: speedup against the count
//! - [`stack`]: processor time by account against the count
//! - [`tree`]: regions, their times, and degraded ones

mod canvas;
mod speedup;
mod stack;
mod tree;

use canvas::Canvas;

use proust_compare::scaling::{Ensemble, Kind};

use super::head::CurveRow;
use super::{SweepPage, SweepQuestion, SweepView, degradation};

/// Width of a picture, in units of SVG.
const WIDTH: f64 = 960.0;

/// Width of a picture of two sweeps.
const WIDTH_OF_TWO: f64 = 1200.0;

/// A sweep in a picture.
pub(super) struct Group<'r> {
    /// Empty where there is only one.
    pub name: &'r str,
    pub rows: &'r [CurveRow],
}

/// Draws the picture of a page.
pub(super) fn draw(view: &SweepView<'_>, question: &SweepQuestion) -> String {
    let command = view.file.command.join(" ");
    if question.page == SweepPage::Degradation {
        return tree::draw(&degradation::DegradationPage::build(view, question), &command);
    }
    let curve = CurveRow::all(view.ensemble, question.kind);
    let groups = [Group { name: "", rows: &curve }];
    let mut canvas = Canvas::new(WIDTH, 460.0);
    canvas.title(&command);
    speedup::draw(&mut canvas, &groups, [60.0, 70.0, 380.0, 320.0]);
    stack::draw(&mut canvas, &groups, [530.0, 70.0, 250.0, 320.0]);
    canvas.finish()
}

/// Draws two sweeps beside each other: that before and that after a change.
pub(crate) fn of_two(title: &str, sweeps: [&Ensemble<'_>; 2], names: [&str; 2]) -> String {
    let curves = sweeps.map(|ensemble| CurveRow::all(ensemble, Kind::Strong));
    let groups = [0, 1].map(|at| Group { name: names[at], rows: &curves[at] });
    let mut canvas = Canvas::new(WIDTH_OF_TWO, 460.0);
    canvas.title(title);
    speedup::draw(&mut canvas, &groups, [60.0, 70.0, 400.0, 310.0]);
    stack::draw(&mut canvas, &groups, [550.0, 70.0, 480.0, 310.0]);
    canvas.finish()
}
