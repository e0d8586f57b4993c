//! Patterns for names: `*` matches any text, `?` one character.

/// Whether the whole of `text` is described by `pattern`.
///
/// There are no character classes: brackets are common in the names of C++ and Rust functions.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to continue when the text after the last `*` does not fit: the star takes one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            retry = Some((p + 1, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((after_star, taken)) = retry {
            retry = Some((after_star, taken + 1));
            p = after_star;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Whether `pattern` describes `text` or what follows one of its separators: `solve` finds `app::solve`, and
/// `rhs.c` finds `/home/me/src/rhs.c`.
pub(super) fn matches_from(pattern: &str, text: &str, separator: &str) -> bool {
    matches(pattern, text)
        || text.match_indices(separator).any(|(at, found)| matches(pattern, &text[at + found.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        assert!(matches("abc", "abc"));
        assert!(!matches("abc", "abcd"));
        assert!(matches("a*", "a"));
        assert!(matches("*b*d", "abcbd"));
        assert!(!matches("*b*d", "abcbe"));
        assert!(matches("w?rker-*", "worker-12"));
        assert!(matches("operator[]", "operator[]"));
        assert!(!matches("", "x"));
        assert!(matches("*", ""));
    }

    #[test]
    fn from_a_separator() {
        assert!(matches_from("solve", "app::grid::solve", "::"));
        assert!(matches_from("grid::solve", "app::grid::solve", "::"));
        assert!(!matches_from("olve", "app::solve", "::"));
        assert!(matches_from("rhs.c", "/home/me/rhs.c", "/"));
    }
}
