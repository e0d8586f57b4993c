//! What `ls` and `info` print about sweeps.

use std::path::{Path, PathBuf};

use proust_profile::SweepFile;
use proust_profile::sweep_file::{PointOutcome, SweepPoint};
use proust_report::Worded;
use proust_report::{Align, Cell, Paint, Style, Table, duration, middle, utc};

/// A table of sweeps.
pub fn listed(sweeps: &[(PathBuf, SweepFile)], style: &Style) -> String {
    let mut table = Table::new([
        ("sweep", Align::Left),
        ("started (UTC)", Align::Left),
        ("runs done", Align::Right),
        ("over", Align::Left),
        ("command", Align::Left),
    ]);
    for (dir, file) in sweeps {
        let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy();
        table.row(vec![
            middle(&name, (style.width / 3).max(20), style.unicode).into(),
            utc(file.start_unix_s).trim_end_matches(" UTC").into(),
            format!("{} of {}", file.done().count(), file.points.len()).into(),
            over(file).into(),
            file.command.join(" ").into(),
        ]);
    }
    table.render(style)
}

fn over(file: &SweepFile) -> String {
    let axes = file.axes.iter().map(|axis| format!("{} {}", axis.name, axis.values.join(",")));
    axes.collect::<Vec<_>>().join("; ")
}

/// All that is known of a sweep.
pub fn described(dir: &Path, file: &SweepFile, style: &Style) -> String {
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    let mut fact =
        |name: &str, value: String| table.row(vec![Cell::painted(Paint::Faint, name), value.into()]);
    fact("folder", dir.display().to_string());
    fact("command", file.command.join(" "));
    if let Some(serial) = &file.serial {
        fact("serial reference", serial.join(" "));
    }
    fact("over", over(file));
    fact("repetitions", file.repetitions.to_string());
    fact("started", utc(file.start_unix_s));
    fact("host", file.host.clone());
    fact("processors", format!("{} available", file.available_processors));
    fact("affinity", file.binding.affinity.clone());
    for (name, value) in &file.binding.variables {
        fact("binding", format!("{name}={value}"));
    }
    if let Some(limit_s) = file.limit_s {
        fact("time limit", duration(limit_s));
    }
    fact("made by", format!("proust {}", file.version));
    for note in &file.notes {
        fact("note", note.text());
    }
    let mut text = style.paint(Paint::Strong, "Sweep") + "\n" + &table.render(style);
    text.push_str(&format!("\n{}\n", style.paint(Paint::Strong, "Runs")));
    let mut table = Table::new([
        ("values", Align::Left),
        ("repetition", Align::Right),
        ("wall", Align::Right),
        ("outcome", Align::Left),
        ("folder", Align::Left),
    ]);
    for point in &file.points {
        let values = if point.serial { "serial".to_owned() } else { point.values.join(", ") };
        table.row(vec![
            values.into(),
            point.repetition.to_string().into(),
            point.wall_s.map_or("-".into(), duration).into(),
            outcome(point).into(),
            point.dir.clone().unwrap_or_else(|| "-".into()).into(),
        ]);
    }
    text + &table.render(style)
}

fn outcome(point: &SweepPoint) -> String {
    match (&point.failure, point.outcome) {
        (Some(why), _) => why.clone(),
        (None, PointOutcome::Done) => "done".into(),
        (None, _) => "not run yet".into(),
    }
}
