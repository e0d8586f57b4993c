//! How text may look: width, colours, characters.

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// Whether colours are used. They never carry a meaning that the text does not.
    pub colour: bool,
    /// Whether characters beyond ASCII are shown.
    pub unicode: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, colour: false, unicode: true }
    }
}

/// Emphasis of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// As it is.
    #[default]
    Plain,
    /// Headings and what counts most.
    Strong,
    /// What can be skipped at first.
    Faint,
    /// Productive time.
    Good,
    /// Lost time, and what needs attention.
    Bad,
}

impl Style {
    /// The text with this emphasis.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            _ if !self.colour || text.is_empty() => return text.to_owned(),
            Paint::Plain => return text.to_owned(),
            Paint::Strong => "1",
            Paint::Faint => "2",
            // Nearly all people can distinguish blue and orange; red and green cannot.
            Paint::Good => "34",
            Paint::Bad => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// One of two writings, by what the terminal can show.
    pub fn pick<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.unicode { unicode } else { ascii }
    }

    /// A bar for a share of a width.
    pub fn bar(&self, share: f64, width: usize) -> String {
        let share = share.clamp(0.0, 1.0);
        if !self.unicode {
            return "#".repeat((share * width as f64).round() as usize);
        }
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = (share * width as f64 * 8.0).round() as usize;
        "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
    }

    /// Replaces the characters beyond ASCII that Proust itself writes, where they cannot be shown.
    pub(crate) fn plain(&self, text: String) -> String {
        if self.unicode {
            return text;
        }
        text.replace('µ', "u")
            .replace('±', "+-")
            .replace('×', "x")
            .replace('≥', ">=")
            .replace('·', "-")
            .replace('…', "...")
            .replace('−', "-")
    }
}
