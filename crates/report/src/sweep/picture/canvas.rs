//! Shapes and text of a picture.

use std::fmt::Write;

/// Where text is flush.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// What a point looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Disc,
    Square,
}

/// A way to fill an area that differs from the others without colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Colour of the area.
    pub colour: &'static str,
    /// Lines or dots on it, by name; empty = none.
    pub pattern: &'static str,
}

/// Eight fills. The colours are those of Okabe and Ito, which nearly all people can distinguish.
pub const FILLS: [Fill; 8] = [
    Fill { colour: "#56b4e9", pattern: "" },
    Fill { colour: "#e69f00", pattern: "rising" },
    Fill { colour: "#cc79a7", pattern: "dots" },
    Fill { colour: "#009e73", pattern: "falling" },
    Fill { colour: "#f0e442", pattern: "flat" },
    Fill { colour: "#d55e00", pattern: "crossed" },
    Fill { colour: "#0072b2", pattern: "upright" },
    Fill { colour: "#bbbbbb", pattern: "" },
];

const PATTERNS: [(&str, &str); 6] = [
    ("rising", r#"<path d="M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4" stroke="black" stroke-width="1"/>"#),
    ("falling", r#"<path d="M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4" stroke="black" stroke-width="1"/>"#),
    ("dots", r#"<circle cx="2" cy="2" r="1"/><circle cx="6" cy="6" r="1"/>"#),
    ("flat", r#"<path d="M0,4 h8" stroke="black" stroke-width="1"/>"#),
    ("upright", r#"<path d="M4,0 v8" stroke="white" stroke-width="1.5"/>"#),
    ("crossed", r#"<path d="M0,0 l8,8 M0,8 l8,-8" stroke="black" stroke-width="0.8"/>"#),
];

/// A picture that grows.
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// An empty one.
    pub fn new(width: f64, height: f64) -> Canvas {
        Canvas { width, height, body: String::new() }
    }

    /// The heading.
    pub fn title(&mut self, text: &str) {
        let text = crate::middle(text, 110, true);
        self.sized_text(20.0, 30.0, 15.0, Anchor::Start, true, &text);
    }

    /// Text of the usual size.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.sized_text(x, y, 12.0, anchor, false, text);
    }

    /// Strong text of the usual size.
    pub fn strong(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.sized_text(x, y, 12.0, anchor, true, text);
    }

    fn sized_text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, is_strong: bool, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if is_strong { " font-weight=\"bold\"" } else { "" };
        let text = escaped(text);
        self.put(format_args!(
            r##"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}"{weight}>{text}</text>"##
        ));
    }

    /// A line; `dashes` as SVG has them, empty = none.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, colour: &str, dashes: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
        let pen = format!(r#"stroke="{colour}" stroke-width="{width}"{dashes}"#);
        self.put(format_args!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {pen}/>"#));
    }

    /// A point.
    pub fn point(&mut self, x: f64, y: f64, mark: Mark) {
        match mark {
            Mark::Disc => self.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="black"/>"#)),
            Mark::Square => {
                let (x, y) = (x - 4.0, y - 4.0);
                self.put(format_args!(
                    r#"<rect x="{x:.1}" y="{y:.1}" width="8" height="8" fill="white" stroke="black"/>"#
                ));
            }
        }
    }

    /// A filled area with a thin border.
    pub fn area(&mut self, [x, y, width, height]: [f64; 4], fill: Fill) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        let place = format!(r#"x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}""#);
        self.put(format_args!(r#"<rect {place} fill="{}" stroke="black" stroke-width="0.5"/>"#, fill.colour));
        if !fill.pattern.is_empty() {
            self.put(format_args!(r#"<rect {place} fill="url(#{})"/>"#, fill.pattern));
        }
    }

    /// A shade behind other things.
    pub fn shade(&mut self, [x, y, width, height]: [f64; 4]) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        self.put(format_args!(
            r##"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="#eeeeee"/>"##
        ));
    }

    fn put(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.body, "{shape}");
    }

    /// The picture.
    pub fn finish(self) -> String {
        let patterns: String = PATTERNS
            .iter()
            .map(|(name, shapes)| {
                let size = r#"width="8" height="8" patternUnits="userSpaceOnUse""#;
                format!(r#"<pattern id="{name}" {size}>{shapes}</pattern>"#)
            })
            .collect();
        let (width, height) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 \
             {width} {height}\" font-family=\"DejaVu Sans, Helvetica, Arial, \
             sans-serif\">\n<defs>{patterns}</defs>\n<rect width=\"{width}\" height=\"{height}\" \
             fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Text as XML takes it. Characters that it has no place for are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Round numbers from 0 to at least `most`, four to eight of them.
pub fn ticks(most: f64) -> Vec<f64> {
    if !(most.is_finite() && most > 0.0) {
        return vec![0.0, 1.0];
    }
    let power = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| most / step <= 6.0);
    let step = step.unwrap_or(10.0 * power);
    (0..=(most / step).ceil() as usize).map(|n| n as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_break_no_picture() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.text(0.0, 0.0, Anchor::Start, "vec<int>::at(\"&\")\u{1b}[0m");
        let picture = canvas.finish();
        assert!(picture.contains("vec&lt;int&gt;::at(&quot;&amp;&quot;) [0m"));
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    }

    #[test]
    fn ticks_are_round_and_enough() {
        for most in [0.3, 1.0, 1.9, 7.5, 16.0, 123.0, 4e-5] {
            let ticks = ticks(most);
            assert!((4..=8).contains(&ticks.len()) && ticks[ticks.len() - 1] >= most, "{most}: {ticks:?}");
        }
        assert_eq!(ticks(f64::NAN), [0.0, 1.0]);
    }
}
