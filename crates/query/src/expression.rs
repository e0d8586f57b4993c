//! What is asked for: the expression after `--where`.
//!
//! ```text
//! expression = clause { " and " clause }
//! clause     = key ("=" | "!=") value { "," value }
//! value      = number | from..to | name with * and ? | "name in quotes, taken as it is"
//! ```
//!
//! Of samples of processes a value is a range, each of whose ends is a number, a name or nothing.
//!
//! ```text
//! sample=3..5    sample=pause..resume    sample="after setup"..
//! ```

use std::fmt;

use proust_account::ledger::{Window, Windows};
use proust_words::arguments::comma_behind;
use proust_words::durations::parse_ns;
use proust_words::nearest::nearest;

use crate::wanted::Wanted;

/// What a clause speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Process id or executable name.
    Process,
    /// MPI world rank.
    Rank,
    /// Thread id, position in its process, or name.
    Thread,
    /// Processor number.
    Cpu,
    /// Seconds since the run's start.
    Time,
    /// A function somewhere on the path.
    Function,
    /// A module somewhere on the path.
    Module,
    /// A source file somewhere on the path.
    File,
    /// A marked interval around it: its name, its name and number as in `solve[3]`, or one execution of it as
    /// in `solve#2`.
    Interval,
    /// The time between two samples of processes.
    Sample,
    /// What the thread was doing: an account, a reason for being passive, or an operation.
    State,
}

impl Key {
    /// All keys, in the order in which they are listed.
    pub const ALL: [Key; 11] = [
        Key::Process,
        Key::Rank,
        Key::Thread,
        Key::Cpu,
        Key::Time,
        Key::Function,
        Key::Module,
        Key::File,
        Key::Interval,
        Key::Sample,
        Key::State,
    ];

    /// The word in the expression.
    pub fn word(self) -> &'static str {
        match self {
            Key::Process => "process",
            Key::Rank => "rank",
            Key::Thread => "thread",
            Key::Cpu => "cpu",
            Key::Time => "time",
            Key::Function => "function",
            Key::Module => "module",
            Key::File => "file",
            Key::Interval => "interval",
            Key::Sample => "sample",
            Key::State => "state",
        }
    }

    fn takes_names(self) -> bool {
        !matches!(self, Key::Rank | Key::Cpu | Key::Time | Key::Sample)
    }

    fn takes_numbers(self) -> bool {
        matches!(self, Key::Process | Key::Rank | Key::Thread | Key::Cpu)
    }
}

/// One value of a clause.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Numbers from the first to the last, both included.
    Numbers(u64, u64),
    /// Nanoseconds since the run's start, from the first to the second.
    Time(u64, u64),
    /// From one sample of a process to another; None = the begin or the end of the run.
    Samples(Option<SampleName>, Option<SampleName>),
    /// A name; `*` and `?` are wild unless it was quoted.
    Name {
        /// The name.
        text: String,
        /// Whether it is taken as it is.
        quoted: bool,
    },
}

impl Pattern {
    /// The interval that it names; None of other values than names.
    pub(crate) fn interval(&self) -> Option<Wanted> {
        match self {
            Pattern::Name { text, quoted: true } => Some(Wanted::named(text)),
            Pattern::Name { text, quoted: false } => Some(Wanted::parse(text)),
            _ => None,
        }
    }
}

/// How a sample of a process is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleName {
    /// By its number on the page `samples`.
    Number(u64),
    /// By its label or its kind; `*` and `?` are wild unless it was quoted.
    Name {
        /// The label or kind.
        text: String,
        /// Whether it is taken as it is.
        quoted: bool,
    },
}

impl fmt::Display for SampleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleName::Number(number) => number.fmt(f),
            SampleName::Name { text, quoted: true } => write!(f, "\"{text}\""),
            SampleName::Name { text, quoted: false } => f.write_str(text),
        }
    }
}

/// `key=value,value` or `key!=value,value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// What it speaks about.
    pub key: Key,
    /// Whether what matches is left out.
    pub negated: bool,
    /// Any of them.
    pub patterns: Vec<Pattern>,
    /// As it was written; empty where it follows from another clause.
    pub text: String,
}

/// All clauses together: what matches every one of them is in scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// An expression that could not be understood, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    expression: String,
    at: usize,
    length: usize,
    message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = self.expression[..self.at].chars().count();
        let marks = self.expression[self.at..self.at + self.length].chars().count().max(1);
        writeln!(f, "cannot understand this filter: {}", self.message)?;
        writeln!(f, "  {}", self.expression)?;
        writeln!(f, "  {}{}", " ".repeat(indent), "^".repeat(marks))?;
        write!(
            f,
            "a filter is KEY=VALUE[,VALUE…] or KEY!=VALUE, joined by ` and `; keys: {}",
            Key::ALL.map(Key::word).join(", ")
        )
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// Understands one or more expressions, all of which must hold.
    pub fn parse<S: AsRef<str>>(expressions: &[S]) -> Result<Filter, FilterError> {
        let mut clauses = Vec::new();
        for expression in expressions {
            Parser { text: expression.as_ref(), at: 0 }.clauses(&mut clauses)?;
        }
        Ok(Filter { clauses })
    }

    /// Whether it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Whether any clause speaks about one of these.
    pub fn mentions(&self, keys: &[Key]) -> bool {
        self.clauses.iter().any(|clause| keys.contains(&clause.key))
    }

    /// Whether it selects intervals, and leaves none out.
    pub fn selects_intervals(&self) -> bool {
        let mut all = self.clauses.iter().filter(|clause| clause.key == Key::Interval).peekable();
        all.peek().is_some() && all.all(|clause| !clause.negated)
    }

    /// The time that passes it; None where it does not speak about time. Samples of processes are times only
    /// where a run is known: see [`crate::Selection::new`] and [`crate::with_times`].
    pub fn windows(&self) -> Option<Windows> {
        let about_time = self.clauses.iter().filter(|clause| clause.key == Key::Time);
        about_time.map(Clause::windows).reduce(|a, b| a.intersection(&b))
    }

    /// Whether only samples and operations can answer it: the other amounts know neither time, nor processor,
    /// nor state.
    pub fn needs_samples(&self) -> bool {
        self.clauses.iter().any(|clause| {
            matches!(clause.key, Key::Cpu | Key::Time | Key::Sample | Key::State) || clause.names_executions()
        })
    }
}

impl Clause {
    /// Whether it names single executions of intervals, as `solve#2` does.
    pub(crate) fn names_executions(&self) -> bool {
        self.key == Key::Interval
            && self.patterns.iter().filter_map(Pattern::interval).any(|wanted| wanted.execution().is_some())
    }

    fn windows(&self) -> Windows {
        let window = |pattern: &Pattern| match *pattern {
            Pattern::Time(from, to) => Some(Window::new(from, to)),
            _ => None,
        };
        let windows: Windows = self.patterns.iter().filter_map(window).collect();
        if self.negated { windows.complement() } else { windows }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> =
            self.clauses.iter().map(|clause| clause.text.as_str()).filter(|text| !text.is_empty()).collect();
        f.write_str(&texts.join(" and "))
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn clauses(&mut self, clauses: &mut Vec<Clause>) -> Result<(), FilterError> {
        self.skip_spaces();
        if self.rest().is_empty() {
            return Err(self.error(self.at, 0, "it is empty"));
        }
        loop {
            clauses.push(self.clause()?);
            if self.rest().is_empty() {
                return Ok(());
            }
            // A bare value ends only at a comma, the end, or ` and `; after a quoted one anything may follow.
            let Some(rest) = self.rest().strip_prefix("and ") else {
                return Err(self.error(self.at, self.rest().len(), "expected ` and ` or the end"));
            };
            self.at = self.text.len() - rest.len();
            self.skip_spaces();
        }
    }

    fn clause(&mut self) -> Result<Clause, FilterError> {
        let start = self.at;
        let word_length = self
            .rest()
            .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
            .unwrap_or(self.rest().len());
        let word = &self.rest()[..word_length];
        let Some(key) = Key::ALL.into_iter().find(|key| key.word() == word) else {
            let message = match nearest(word, Key::ALL.map(Key::word), 1).first() {
                _ if word.is_empty() => "expected a key".to_owned(),
                Some(meant) => format!("there is no key `{word}`; did you mean `{meant}`?"),
                None => format!("there is no key `{word}`"),
            };
            return Err(self.error(start, word_length, message));
        };
        self.at += word_length;
        self.skip_spaces();
        let negated = self.rest().starts_with("!=");
        if !negated && !self.rest().starts_with('=') {
            return Err(self.error(self.at, 1, format!("expected `=` or `!=` after `{word}`")));
        }
        self.at += if negated { 2 } else { 1 };
        if self.rest().starts_with('=') {
            return Err(self.error(
                self.at - 1,
                2,
                format!("equality is written with one `=`: {word}=VALUE"),
            ));
        }
        let mut patterns = Vec::new();
        loop {
            self.skip_spaces();
            patterns.push(self.pattern(key)?);
            self.skip_spaces();
            if !self.rest().starts_with(',') {
                break;
            }
            self.at += 1;
        }
        let text = self.text[start..self.at].trim_end().to_owned();
        let length = text.len();
        let clause = Clause { key, negated, patterns, text };
        if clause.negated && clause.names_executions() {
            return Err(self.error(
                start,
                length,
                "single executions cannot be left out: `interval=NAME#2` selects one",
            ));
        }
        Ok(clause)
    }

    fn pattern(&mut self, key: Key) -> Result<Pattern, FilterError> {
        if key == Key::Sample {
            return self.samples();
        }
        let start = self.at;
        if let Some(text) = self.quoted()? {
            if !key.takes_names() {
                return Err(self.error(start, self.at - start, self.wanted(key)));
            }
            return Ok(Pattern::Name { text, quoted: true });
        }
        let rest = self.rest();
        let comma = if key == Key::Function { comma_behind(rest) } else { rest.find(',') };
        let end = [comma, rest.find(" and ")].into_iter().flatten().min().unwrap_or(rest.len());
        let text = rest[..end].trim_end().to_owned();
        if text.is_empty() {
            return Err(self.error(start, 1, format!("`{}` has no value here", key.word())));
        }
        self.without_foreign_words(start, &text)?;
        self.at += text.len();
        if key == Key::Time {
            let (from, to) =
                time_range(&text).ok_or_else(|| self.error(start, text.len(), self.wanted(key)))?;
            if from >= to {
                return Err(self.error(start, text.len(), "this range of time is empty"));
            }
            return Ok(Pattern::Time(from, to));
        }
        if key.takes_numbers()
            && let Some((from, to)) = number_range(&text)
        {
            if from > to {
                return Err(self.error(start, text.len(), "this range is empty: it ends before it begins"));
            }
            return Ok(Pattern::Numbers(from, to));
        }
        if !key.takes_names() {
            return Err(self.error(start, text.len(), self.wanted(key)));
        }
        Ok(Pattern::Name { text, quoted: false })
    }

    /// `A..B`, where each end is a number, a name, a name in quotes, or nothing.
    fn samples(&mut self) -> Result<Pattern, FilterError> {
        let start = self.at;
        let from = self.sample()?;
        let is_range = self.rest().starts_with("..");
        if is_range {
            self.at += 2;
        }
        let to = if is_range { self.sample()? } else { None };
        let length = self.at - start;
        if !is_range || from.is_none() && to.is_none() {
            let length = if length == 0 { self.rest().len() } else { length };
            return Err(self.error(start, length, self.wanted(Key::Sample)));
        }
        if let (Some(SampleName::Number(from)), Some(SampleName::Number(to))) = (&from, &to)
            && from >= to
        {
            return Err(self.error(start, length, "this range is empty: its end is not after its begin"));
        }
        Ok(Pattern::Samples(from, to))
    }

    fn sample(&mut self) -> Result<Option<SampleName>, FilterError> {
        let start = self.at;
        if let Some(text) = self.quoted()? {
            return Ok(Some(SampleName::Name { text, quoted: true }));
        }
        let rest = self.rest();
        let ends = [rest.find(','), rest.find(".."), rest.find(" and ")];
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        let text = rest[..end].trim_end().to_owned();
        self.without_foreign_words(start, &text)?;
        self.at += text.len();
        Ok(match text.parse() {
            _ if text.is_empty() => None,
            Ok(number) => Some(SampleName::Number(number)),
            Err(_) => Some(SampleName::Name { text, quoted: false }),
        })
    }

    /// What stands in quotes here, if anything does.
    fn quoted(&mut self) -> Result<Option<String>, FilterError> {
        let Some(quoted) = self.rest().strip_prefix('"') else { return Ok(None) };
        let Some(length) = quoted.find('"') else {
            return Err(self.error(self.at, self.rest().len(), "this quote is not closed"));
        };
        self.at += length + 2;
        Ok(Some(quoted[..length].to_owned()))
    }

    fn without_foreign_words(&self, start: usize, text: &str) -> Result<(), FilterError> {
        let Some((found, meant)) = foreign_word(text) else { return Ok(()) };
        let at = start + text.find(found).unwrap_or(0);
        Err(self.error(at + 1, found.len() - 2, meant))
    }

    fn wanted(&self, key: Key) -> String {
        match key {
            Key::Sample => "expected two samples, by number, kind or label, such as 3..5, pause..resume \
                            or \"after setup\".."
                .to_owned(),
            Key::Time => "expected a range of time such as 1.2s..3.4s, 500ms.. or ..2s".to_owned(),
            _ => format!("`{}` takes numbers and ranges, such as 0,2..5", key.word()),
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, at: usize, length: usize, message: impl Into<String>) -> FilterError {
        // Whole characters only: a mark must not end inside one.
        let end = (at + length).min(self.text.len());
        let length = (end..=self.text.len()).find(|&end| self.text.is_char_boundary(end)).unwrap_or(end) - at;
        FilterError { expression: self.text.to_owned(), at, length, message: message.into() }
    }
}

/// A word of other languages in the place of what the grammar has, with blanks around it, and what to write.
fn foreign_word(value: &str) -> Option<(&'static str, &'static str)> {
    const EITHER: &str = "either of two values of one key is KEY=VALUE,VALUE; \
                          a name that has this word in it is put into quotes";
    const BOTH: &str =
        "two clauses are joined by ` and `; a name that has this word in it is put into quotes";
    const WORDS: [(&str, &str); 5] =
        [(" or ", EITHER), (" OR ", EITHER), (" || ", EITHER), (" AND ", BOTH), (" && ", BOTH)];
    WORDS.into_iter().find(|(word, _)| value.contains(word))
}

fn number_range(text: &str) -> Option<(u64, u64)> {
    match text.split_once("..") {
        None => text.parse().ok().map(|number| (number, number)),
        Some(("", "")) => None,
        Some((from, to)) => Some((
            if from.is_empty() { 0 } else { from.parse().ok()? },
            if to.is_empty() { u64::MAX } else { to.parse().ok()? },
        )),
    }
}

fn time_range(text: &str) -> Option<(u64, u64)> {
    match text.split_once("..")? {
        ("", "") => None,
        (from, to) => Some((
            if from.is_empty() { 0 } else { parse_ns(from, Some("s")).ok()? },
            if to.is_empty() { u64::MAX } else { parse_ns(to, Some("s")).ok()? },
        )),
    }
}

#[cfg(test)]
mod tests;
