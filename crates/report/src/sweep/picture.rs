//! Pictures of a sweep as SVG: for screens and for print, in colour or without: what a colour says, a pattern or a label says too.
//!
//! - [`canvas`]: shapes and text
//! - [`speedup`]: speedup against the count
//! - [`stack`]: processor time by account against the count
//! - [`tree`]: regions, their times, and what is degraded

mod canvas;
mod speedup;
mod stack;
mod tree;

use canvas::Canvas;

use super::head::CurveRow;
use super::{SweepPage, SweepQuestion, SweepView, degradation};

/// Width of a picture, in units of SVG.
const WIDTH: f64 = 960.0;

/// Draws the picture of a page.
pub(super) fn draw(view: &SweepView<'_>, question: &SweepQuestion) -> String {
    let command = view.file.command.join(" ");
    if question.page == SweepPage::Degradation {
        return tree::draw(&degradation::DegradationPage::build(view, question), &command);
    }
    let curve = CurveRow::all(view, question.kind);
    let mut canvas = Canvas::new(WIDTH, 460.0);
    canvas.title(&command);
    speedup::draw(&mut canvas, &curve, [60.0, 70.0, 380.0, 320.0]);
    stack::draw(&mut canvas, &curve, [530.0, 70.0, 250.0, 320.0]);
    canvas.finish()
}
