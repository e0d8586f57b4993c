//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal};

use proust_report::Style;

/// Default columns when the output is not a terminal.
const WIDTH: usize = 100;

/// The style of standard output.
pub fn style() -> Style {
    Style { width: width(), colour: colour(), unicode: unicode() }
}

fn width() -> usize {
    let asked = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    asked.or_else(window).filter(|&width| width > 0).unwrap_or(WIDTH).clamp(40, 400)
}

fn window() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

fn colour() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !refused && !dumb
}

/// Whether the locale's characters are UTF-8; the first of these variables that is set decides.
fn unicode() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
