//! Patterns for names: `*` matches any text, `?` one character; `|` stands between alternatives.
//!
//! They are made once and tried on every function of a profile, so they are cut at their stars beforehand.

use std::fmt;

/// One alternative.
#[derive(Clone, Debug)]
struct Pattern {
    /// The pieces between the stars, in order.
    pieces: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        Pattern { pieces: text.split('*').map(str::to_owned).collect() }
    }

    /// Whether the whole of `text` is described.
    fn matches(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let (first, rest) = match self.pieces.split_first() {
            Some((first, rest)) => (first.as_bytes(), rest),
            None => return text.is_empty(),
        };
        if text.len() < first.len() || !fits(first, &text[..first.len()]) {
            return false;
        }
        let mut text = &text[first.len()..];
        let Some((last, middle)) = rest.split_last() else {
            return text.is_empty();
        };
        // Each piece takes the first place where it fits: that leaves most for those after it.
        for piece in middle {
            let piece = piece.as_bytes();
            let Some(at) = place(piece, text) else {
                return false;
            };
            text = &text[at + piece.len()..];
        }
        let last = last.as_bytes();
        text.len() >= last.len() && fits(last, &text[text.len() - last.len()..])
    }
}

/// Whether a piece describes a text of the same length.
fn fits(piece: &[u8], text: &[u8]) -> bool {
    piece.iter().zip(text).all(|(&p, &t)| p == t || p == b'?')
}

fn place(piece: &[u8], text: &[u8]) -> Option<usize> {
    (0..=text.len().checked_sub(piece.len())?).find(|&at| fits(piece, &text[at..at + piece.len()]))
}

/// Alternatives, as they were written.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    text: String,
    alternatives: Vec<Pattern>,
    /// Bytes with which a name can begin that is described: most names differ there.
    begins: [u64; 4],
    wants_types: bool,
}

impl Patterns {
    /// None if an alternative is empty.
    pub(super) fn new(text: &str) -> Option<Patterns> {
        let alternatives: Vec<Pattern> = text.split('|').map(Pattern::new).collect();
        let complete = text.split('|').all(|alternative| !alternative.is_empty());
        let mut begins = [0; 4];
        for alternative in text.split('|') {
            match alternative.bytes().next() {
                Some(b'*' | b'?') | None => begins = [u64::MAX; 4],
                Some(byte) => begins[usize::from(byte / 64)] |= 1 << (byte % 64),
            }
        }
        let wants_types = text.contains(['(', '<']);
        complete.then(|| Patterns { text: text.to_owned(), alternatives, begins, wants_types })
    }

    /// Whether it is about a name with its parameters or type arguments.
    pub(super) fn want_types(&self) -> bool {
        self.wants_types
    }

    /// Whether one alternative describes the whole of `text`.
    pub(super) fn matches(&self, text: &str) -> bool {
        let can_begin = |byte: u8| self.begins[usize::from(byte / 64)] & 1 << (byte % 64) != 0;
        text.bytes().next().is_none_or(can_begin)
            && self.alternatives.iter().any(|pattern| pattern.matches(text))
    }
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Patterns::new(pattern).expect("a pattern").matches(text)
    }

    #[test]
    fn stars_and_question_marks() {
        assert!(matches("take_gil", "take_gil"));
        assert!(!matches("take_gil", "take_gil2") && !matches("take_gil", "a_take_gil"));
        assert!(matches(
            "std::sys*::Mutex::lock_contended",
            "std::sys::sync::mutex::futex::Mutex::lock_contended"
        ));
        assert!(matches("*", "") && matches("**", "x") && matches("a*", "a") && matches("*b*d", "abcbd"));
        assert!(!matches("*b*d", "abcbe") && !matches("ab*ba", "aba"));
        assert!(matches("operator?new", "operator new"));
    }

    #[test]
    fn alternatives() {
        assert!(matches("MPI_*|PMPI_*", "PMPI_Recv") && matches("MPI_*|PMPI_*", "MPI_Recv"));
        assert!(!matches("a|b", "a|b"));
        assert!(
            Patterns::new("").is_none() && Patterns::new("a|").is_none() && Patterns::new("a||b").is_none()
        );
    }

    /// The obvious way: slow, but nothing to think about.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', after)), _) => {
                naive(after, text) || text.split_first().is_some_and(|(_, t)| naive(pattern, t))
            }
            (Some((&p, after)), Some((&t, rest))) => (p == t || p == b'?') && naive(after, rest),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn as_the_obvious_way(pattern in "[ab?*]{1,8}", text in "[ab]{0,10}") {
            prop_assert_eq!(matches(&pattern, &text), naive(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
