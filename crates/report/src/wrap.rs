//! Sentences in lines that fit a terminal.

use unicode_width::UnicodeWidthStr;

/// Breaks a sentence into lines of at most `width` characters, each behind `indent` spaces and with a line
/// end.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
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

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("a sentence of several words", 1, 21), " a sentence of\n several words\n");
        let long = "one-word-that-is-longer-than-any-line";
        assert_eq!(wrapped(long, 0, 20), format!("{long}\n"));
    }
}
