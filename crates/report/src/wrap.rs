//! Sentences in lines that fit a terminal.

use unicode_width::UnicodeWidthStr;

use crate::style::{Paint, Style};

/// Breaks a sentence into lines of at most `width` characters, each behind `indent` spaces and with a line
/// end.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in words(text) {
        if !line.is_empty() && line.width() + 1 + word.width() > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// A faint sentence below a table, behind one space.
pub(crate) fn legend(text: &str, style: &Style) -> String {
    let lines = wrapped(text.trim(), 1, style.width);
    lines.lines().map(|line| style.paint(Paint::Faint, line) + "\n").collect()
}

/// The words of a text. A number whose digits stand in groups, `15 103`, is one, and so is one with its unit.
fn words(text: &str) -> Vec<&str> {
    const UNITS: [&str; 9] = ["s", "ms", "µs", "ns", "%", "B", "KiB", "MiB", "GiB"];
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches([')', ',', ';', '.', ':']));
    let is_group = |word: &str| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        digits == 3 && !word[digits..].starts_with(|c: char| c.is_alphanumeric() || c == ':')
    };
    let (mut words, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices(' ') {
        let is_inside = text[from..at].ends_with(|c: char| c.is_ascii_digit())
            && text[at + 1..].split(' ').next().is_some_and(|word| is_group(word) || is_unit(word));
        if !is_inside {
            words.push(&text[from..at]);
            from = at + 1;
        }
    }
    words.push(&text[from..]);
    words
}

#[cfg(test)]
mod tests {
    use super::{words, wrapped};

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("a sentence of several words", 1, 21), " a sentence of\n several words\n");
        let long = "one-word-that-is-longer-than-any-line";
        assert_eq!(wrapped(long, 0, 20), format!("{long}\n"));
    }

    #[test]
    fn numbers_stay_whole() {
        assert_eq!(wrapped("it has waited: 15 103; ms", 0, 20), "it has waited:\n15 103; ms\n");
        assert_eq!(
            words("1 234 567 B in 2 of 300 x at 7 100:3"),
            ["1 234 567 B", "in", "2", "of", "300", "x", "at", "7", "100:3"]
        );
        assert_eq!(wrapped("it has waited for 5.2 ms", 0, 20), "it has waited for\n5.2 ms\n");
        assert_eq!(words(""), [""]);
    }
}
