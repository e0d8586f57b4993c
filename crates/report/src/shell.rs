//! Words of commands, as they can be typed into a shell.

use std::borrow::Cow;

use crate::table::printable;

/// A word such that a shell reads it as it is; characters that must not reach a terminal are replaced.
pub fn shell_word(word: &str) -> String {
    // No shell gives these a meaning; quoted they would be harder to read.
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A word of a command has no zero byte, which is all that cannot be quoted.
    let quoted = shlex::try_quote(word).unwrap_or(Cow::Borrowed(word));
    printable(quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_shell_reads_the_word_again() {
        for word in ["run", "a=1,2", "", "two words", "it's", "$HOME", "a\\b", "*", "~x", "\"q\"", "é"] {
            assert_eq!(shlex::split(&shell_word(word)).unwrap(), [word], "{word}");
        }
        assert_eq!(shell_word("./solve"), "./solve");
        assert!(!shell_word("a\u{1b}[31m").contains('\u{1b}'));
    }
}
