//! A selection of a run in a format.

use std::io::Write;

use proust_account::ledger::Windows;
use proust_account::stored::StoredTimelines;
use proust_profile::Metric;
use proust_query::{Measure, Selection};

use crate::error::ExportError;
use crate::format::Format;
use crate::{chrome_trace, firefox, flamegraph, folded, pprof, speedscope};

/// Writes what is in scope in a format. `windows` are the ranges of time that the selection is about.
///
/// `timelines` are those of the run, where they are stored. The profile needs its samples and operations for
/// a format that is [in time](crate::FormatSpec::in_time), unless it shows
/// [states](crate::FormatSpec::of_states) and these timelines are given; and the selection the rows of a
/// ledger for a measure that [needs them](Measure::needs_rows).
///
/// # Errors
/// [`ExportError`] when the format cannot show the measure, or the file cannot be written.
pub fn write(
    selection: &Selection<'_>,
    windows: &Windows,
    format: Format,
    measure: Measure,
    timelines: Option<&StoredTimelines>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    if format.spec().in_time && measure != Measure::Metric(Metric::Cpu) {
        return Err(ExportError::NotInTime { format: format.spec().id, measure: measure.id() });
    }
    match format {
        Format::Folded => folded::write(selection, measure, out),
        Format::Flamegraph => flamegraph::write(selection, measure, out),
        Format::Speedscope => speedscope::write(selection, out),
        Format::Pprof => pprof::write(selection, measure, out),
        Format::Firefox => firefox::write(selection, out),
        Format::ChromeTrace => chrome_trace::write(selection, windows, timelines, out),
    }
}
