//! A flame graph as a picture: width is the amount, callers stand below what they call. Each frame has its
//! name and amount as a title, which browsers show; colours only set neighbours apart.

use std::fmt::Write as _;
use std::io::Write;

use proust_query::{Measure, Selection};

use crate::amounts::shown;
use crate::error::ExportError;
use crate::folded::paths;

/// Width of the picture, pixels.
const WIDTH: f64 = 1200.0;
/// Height of a frame.
const ROW: f64 = 17.0;
/// Space around the frames.
const MARGIN: f64 = 10.0;
/// Height of the lines above the frames.
const HEAD: f64 = 50.0;
/// What is narrower is not drawn.
const NARROWEST: f64 = 0.1;
/// Width of a character.
const CHARACTER: f64 = 6.6;

/// A frame, in units of the amount.
#[derive(Debug, PartialEq)]
struct Bar {
    name: String,
    depth: usize,
    from: u64,
    amount: u64,
}

/// The bars of call paths that are sorted, and the amount of all of them. Paths may be thousands of frames
/// deep, so nothing here is recursive.
fn bars(paths: impl IntoIterator<Item = (Vec<String>, u64)>) -> (Vec<Bar>, u64) {
    let mut done: Vec<Bar> = Vec::new();
    let mut open: Vec<Bar> = Vec::new();
    let mut at = 0;
    let close = |open: &mut Vec<Bar>, until: usize, at: u64, done: &mut Vec<Bar>| {
        while open.len() > until {
            done.extend(open.pop().map(|bar| Bar { amount: at - bar.from, ..bar }));
        }
    };
    for (path, amount) in paths {
        let same = open.iter().zip(&path).take_while(|(bar, name)| bar.name == **name).count();
        close(&mut open, same, at, &mut done);
        for (depth, name) in path.into_iter().enumerate().skip(same) {
            open.push(Bar { name, depth, from: at, amount: 0 });
        }
        at += amount;
    }
    close(&mut open, 0, at, &mut done);
    (done, at)
}

/// Writes the picture.
pub fn write(selection: &Selection<'_>, measure: Measure, out: &mut dyn Write) -> Result<(), ExportError> {
    let (bars, total) = bars(paths(selection, measure));
    let scale = (WIDTH - 2.0 * MARGIN) / total.max(1) as f64;
    let (drawn, narrow): (Vec<Bar>, Vec<Bar>) =
        bars.into_iter().partition(|bar| bar.amount as f64 * scale >= NARROWEST);
    let rows = drawn.iter().map(|bar| bar.depth + 1).max().unwrap_or(0);
    let height = HEAD + rows as f64 * ROW + MARGIN;
    let title = escaped(&selection.profile().facts.command.join(" "));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"20\" font-size=\"14\">{title}</text>\n\
         <text x=\"{MARGIN}\" y=\"38\">{}</text>\n",
        escaped(&head(measure, total, narrow.len()))
    );
    for bar in &drawn {
        text.push_str(&drawing(bar, measure, total, scale, height));
    }
    text.push_str("</svg>\n");
    Ok(out.write_all(text.as_bytes())?)
}

/// What is drawn, and how much is not.
fn head(measure: Measure, total: u64, narrow: usize) -> String {
    let all = format!("{}: {} in all; callers are below what they call", measure.id(), shown(measure, total));
    match narrow {
        0 => all,
        n => format!("{all}; {n} frames narrower than {NARROWEST} pixels are not drawn"),
    }
}

fn drawing(bar: &Bar, measure: Measure, total: u64, scale: f64, height: f64) -> String {
    let (x, width) = (MARGIN + bar.from as f64 * scale, bar.amount as f64 * scale);
    let y = height - MARGIN - (bar.depth + 1) as f64 * ROW;
    let percent = 100.0 * bar.amount as f64 / total.max(1) as f64;
    let name = escaped(&bar.name);
    let mut text = format!(
        "<g><title>{name}: {}, {percent:.1} %</title>\
         <rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{:.1}\" rx=\"1\" fill=\"{}\"/>",
        escaped(&shown(measure, bar.amount)),
        ROW - 1.0,
        colour(&bar.name)
    );
    let room = ((width - 4.0) / CHARACTER) as usize;
    if room >= 3 {
        let (x, y) = (x + 2.0, y + 12.0);
        let _ = write!(text, "<text x=\"{x:.2}\" y=\"{y:.1}\">{}</text>", escaped(&cut(&bar.name, room)));
    }
    text + "</g>\n"
}

/// The name, or as much of its begin as there is room for.
fn cut(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room.saturating_sub(2)).chain("..".chars()).collect()
}

/// A light colour on which black text can be read, the same for each occurrence of a name.
fn colour(name: &str) -> String {
    // FNV-1a: spread, and the same on every machine.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("hsl({},{}%,{}%)", 20 + hash % 40, 70 + (hash >> 8) % 25, 68 + (hash >> 16) % 14)
}

/// Text for XML; characters that XML does not have are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_bar_is_as_wide_as_what_it_calls_and_its_own() {
        let (bars, total) = bars([
            (path(&["p", "main"]), 1),
            (path(&["p", "main", "a"]), 2),
            (path(&["p", "main", "b"]), 3),
            (path(&["q"]), 4),
        ]);
        assert_eq!(total, 10);
        let found = |name: &str| {
            let bar = bars.iter().find(|bar| bar.name == name).unwrap();
            (bar.depth, bar.from, bar.amount)
        };
        assert_eq!(found("p"), (0, 0, 6));
        assert_eq!(found("main"), (1, 0, 6));
        assert_eq!(found("a"), (2, 1, 2));
        assert_eq!(found("b"), (2, 3, 3));
        assert_eq!(found("q"), (0, 6, 4));
        assert_eq!(bars.len(), 5);
    }

    #[test]
    fn names_are_text_and_no_tags() {
        assert_eq!(escaped("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot; ");
        assert_eq!(cut("abcdef", 4), "ab..");
    }
}
