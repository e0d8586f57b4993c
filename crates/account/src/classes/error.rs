//! What can be wrong with a file of rules.

use std::path::PathBuf;

use super::class::Class;
use super::rule::When;

/// A file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassError {
    /// A line is no rule.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file, as it was called.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it, and what to do.
        problem: Problem,
    },
    /// The file cannot be read.
    #[error(
        "the rules for waits in {} cannot be read ({source}); give another file, or remove it: the \
         built-in rules need none",
        path.display()
    )]
    NotRead {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too large to be one of rules.
    #[error(
        "the rules for waits in {} are {bytes} bytes, and at most {limit} are read; is it a file of rules?",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The largest length.
        limit: u64,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The first word is no class.
    #[error(
        "'{word}' is no class of waits{}; the classes are {}",
        meant(nearest.as_deref()), Class::words().join(", ")
    )]
    UnknownClass {
        /// The word.
        word: String,
        /// The class that looks most like it.
        nearest: Option<String>,
    },
    /// Nothing follows the class, or `through`.
    #[error("'{word}' of which function? write '{word} FUNCTION'")]
    NoFunction {
        /// The line's only word.
        word: String,
    },
    /// A word after the function is none of those that may stand there.
    #[error(
        "'{word}' is not understood{}; after the function may come 'in MODULE', 'under FUNCTION', 'when \
         WHAT', 'weak', 'direct'; a blank in a function's name is written '?'",
        meant(nearest.as_deref())
    )]
    UnknownWord {
        /// The word.
        word: String,
        /// The word that looks most like it.
        nearest: Option<String>,
    },
    /// Nothing follows `in`, `under` or `when`.
    #[error("nothing follows '{word}'; {what} belongs there")]
    Unfinished {
        /// The word.
        word: &'static str,
        /// What should follow it.
        what: &'static str,
    },
    /// The same word twice.
    #[error("'{word}' is there twice; write alternatives with '|' between them")]
    Twice {
        /// The word.
        word: &'static str,
    },
    /// A word after `when` that is none of those that may follow it.
    #[error("'when {word}' is not understood; after 'when' may come {}", When::words().join(", "))]
    UnknownMoment {
        /// What followed `when`.
        word: String,
    },
    /// `through` or `service` with anything but a module.
    #[error("'{word}' cannot stand in a line that begins with '{line}'; only 'in MODULE' can")]
    OnlyIn {
        /// What the line begins with.
        line: &'static str,
        /// The word.
        word: &'static str,
    },
    /// An alternative without text.
    #[error("an alternative in '{pattern}' is empty; there must be something on both sides of each '|'")]
    EmptyAlternative {
        /// The pattern.
        pattern: String,
    },
    /// A header that is not closed, or has no name.
    #[error("'{text}' is no header of a section; write '[NAME]' and nothing else on the line")]
    Header {
        /// The line.
        text: String,
    },
    /// Bytes that are not text.
    #[error("the line is not UTF-8 text")]
    NotText,
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean '{nearest}'?)"))
}
