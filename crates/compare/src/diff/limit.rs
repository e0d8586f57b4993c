//! What a comparison is not to show: `lost>+5%`, `wall>+0.5s`, `lock>10%`.

use super::{Diff, Total};
use proust_account::ledger::Account;
use proust_statistics::gate::gate;
use proust_statistics::{Change, Outcome};
use proust_words::durations::unit_ns;
use proust_words::nearest::nearest;

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The whole run.
    Total(Total),
    /// An account of the ledger.
    Account(Account),
}

/// A limit: how much of something, or how much more of it, is too much (`>`) or too little (`<`).
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As it was written.
    pub text: String,
    subject: Subject,
    is_upper: bool,
    amount: Amount,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    /// Of the change, s, or as a number where it is no time.
    Delta(f64),
    /// Of the change, as a part of what there was before.
    RelativeDelta(f64),
    /// Of B, s, or as a number.
    Value(f64),
    /// Of B, as a part of its total.
    Share(f64),
}

/// A limit beyond which B lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Exceeded {
    /// The limit as it was written.
    pub limit: String,
    /// Whether that is certain ([`Outcome::Exceeded`]), or may be chance.
    pub outcome: Outcome,
    /// What was compared.
    pub change: Change,
    /// What was compared with the limit, and the limit: s, or a number, or a part.
    pub found: f64,
    /// The limit.
    pub allowed: f64,
    /// Whether both are parts of something.
    pub is_share: bool,
}

/// Why an expression is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// There is no comparison in it.
    #[error(
        "`{text}` is no limit: write what, > or <, and how much, such as 'lost>+5%', 'wall>+0.5s' or \
         'lock>10%'"
    )]
    NoComparison {
        /// What was written.
        text: String,
    },
    /// It is about something that is not known.
    #[error(
        "`{text}` is about `{word}`, which is neither wall, cpu, total, productive, lost, efficiency, nor \
         an account{meant}"
    )]
    UnknownSubject {
        /// What was written.
        text: String,
        /// The part that is not known.
        word: String,
        /// `; did you mean `lock`?`, or nothing.
        meant: String,
    },
    /// The amount cannot be read.
    #[error(
        "`{text}` compares with `{word}`, which is no amount: write a percentage (5%), or seconds (0.5s, \
         20ms), with + or - for the change from A to B"
    )]
    NoAmount {
        /// What was written.
        text: String,
        /// The part that cannot be read.
        word: String,
    },
    /// A unit that its subject does not have, or a share of nothing.
    #[error("`{text}` makes no sense: {why}")]
    WrongUnit {
        /// What was written.
        text: String,
        /// Why not.
        why: &'static str,
    },
}

const TOTALS: [(&str, Total); 6] = [
    ("wall", Total::Wall),
    ("cpu", Total::Cpu),
    ("total", Total::Processor),
    ("productive", Total::Productive),
    ("lost", Total::Lost),
    ("efficiency", Total::Efficiency),
];

impl Subject {
    fn parse(word: &str) -> Option<Subject> {
        let total = TOTALS.into_iter().find(|(id, _)| *id == word).map(|(_, total)| Subject::Total(total));
        total.or_else(|| Account::from_id(word).map(Subject::Account))
    }

    /// The word it is written by.
    pub fn id(self) -> &'static str {
        match self {
            Subject::Total(total) => {
                TOTALS.iter().find(|(_, known)| *known == total).map_or("", |(id, _)| id)
            }
            Subject::Account(account) => account.id(),
        }
    }
}

impl Limit {
    /// Reads `SUBJECT>AMOUNT` or `SUBJECT<AMOUNT`.
    ///
    /// # Errors
    /// [`LimitError`] that names what cannot be understood.
    pub fn parse(text: &str) -> Result<Limit, LimitError> {
        let owned = || text.to_owned();
        let at = text.find(['>', '<']).ok_or_else(|| LimitError::NoComparison { text: owned() })?;
        let is_upper = text.as_bytes()[at] == b'>';
        let (word, amount) = (text[..at].trim(), text[at + 1..].trim());
        if word.is_empty() || amount.is_empty() || amount.starts_with('=') {
            return Err(LimitError::NoComparison { text: owned() });
        }
        let subject = Subject::parse(word).ok_or_else(|| {
            let known = TOTALS.iter().map(|(id, _)| *id).chain(Account::ALL.map(Account::id));
            let meant = nearest(word, known, 1);
            let meant = meant.first().map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            LimitError::UnknownSubject { text: owned(), word: word.into(), meant }
        })?;
        let no_amount = || LimitError::NoAmount { text: owned(), word: amount.into() };
        let is_change = amount.starts_with(['+', '-']);
        let digits = amount.trim_end_matches(|c: char| c.is_alphabetic() || c == '%' || c == ' ');
        let unit = amount[digits.len()..].trim();
        let number: f64 = digits.parse().map_err(|_| no_amount())?;
        let is_ratio = subject == Subject::Total(Total::Efficiency);
        let wrong = |why| Err(LimitError::WrongUnit { text: owned(), why });
        let seconds = match unit {
            "%" => None,
            "" if is_ratio => Some(number),
            "" => return wrong("seconds need their unit, such as 0.5s, and parts a %"),
            unit => match unit_ns(unit) {
                Some(_) if is_ratio => {
                    return wrong("efficiency is a number from 0 to 1, or a percentage, and has no seconds");
                }
                Some(unit_ns) => Some(number * unit_ns / 1e9),
                None => return Err(no_amount()),
            },
        };
        if !number.is_finite() {
            return Err(no_amount());
        }
        let amount = match (seconds, is_change) {
            (Some(seconds), true) => Amount::Delta(seconds),
            (Some(seconds), false) => Amount::Value(seconds),
            (None, true) => Amount::RelativeDelta(number / 100.0),
            (None, false) if matches!(subject, Subject::Total(Total::Wall | Total::Processor)) => {
                return wrong("wall and total are parts of nothing: write a change, such as wall>+5%");
            }
            (None, false) => Amount::Share(number / 100.0),
        };
        Ok(Limit { text: owned(), subject, is_upper, amount })
    }

    /// Whether B lies beyond it, and whether that is certain: the interval of the change, or of B's amount,
    /// must lie beyond the limit as a whole.
    pub(super) fn exceeded(&self, diff: &Diff<'_>) -> Option<Exceeded> {
        let change = match self.subject {
            Subject::Total(total) => diff.total(total),
            Subject::Account(account) => diff.account(account),
        };
        let is_ratio = self.subject == Subject::Total(Total::Efficiency);
        let whole = if is_ratio { 1.0 } else { diff.total(Total::Processor).b.mean };
        let (found, (low, high), unit, allowed) = match self.amount {
            Amount::Delta(delta) => (change.difference, by_limits(&change), 1.0, delta),
            Amount::RelativeDelta(part) if change.a.max == 0.0 && change.b.max == 0.0 => {
                (0.0, (0.0, 0.0), 1.0, part)
            }
            Amount::RelativeDelta(part) => (change.difference, by_limits(&change), change.before(), part),
            Amount::Value(value) => (change.b.mean, (change.b.low, change.b.high), 1.0, value),
            Amount::Share(part) => (change.b.mean, (change.b.low, change.b.high), whole, part),
        };
        let found = found / unit;
        let outcome = gate(found, (low / unit, high / unit), allowed, self.is_upper);
        let is_share = matches!(self.amount, Amount::RelativeDelta(_) | Amount::Share(_));
        let exceeded = Exceeded { limit: self.text.clone(), outcome, change, found, allowed, is_share };
        (outcome != Outcome::Kept).then_some(exceeded)
    }
}

/// The interval of a change by which limits are tested.
fn by_limits(change: &Change) -> (f64, f64) {
    (change.difference - change.half_of_limits, change.difference + change.half_of_limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let limit = |text: &str| Limit::parse(text).unwrap();
        let lost = Subject::Total(Total::Lost);
        let parts = |text: &str| {
            let limit = limit(text);
            (limit.subject, limit.is_upper, limit.amount)
        };
        assert_eq!(parts("lost>+5%"), (lost, true, Amount::RelativeDelta(0.05)));
        assert_eq!(parts("wall > +500 ms"), (Subject::Total(Total::Wall), true, Amount::Delta(0.5)));
        assert_eq!(parts("lock>10%"), (Subject::Account(Account::Lock), true, Amount::Share(0.1)));
        assert_eq!(
            parts("mpi-partner>2s"),
            (Subject::Account(Account::MpiPartner), true, Amount::Value(2.0))
        );
        assert_eq!(parts("efficiency<0.8"), (Subject::Total(Total::Efficiency), false, Amount::Value(0.8)));
        assert_eq!(
            parts("productive<-1min"),
            (Subject::Total(Total::Productive), false, Amount::Delta(-60.0))
        );
        assert_eq!(limit("lost>+5%").subject.id(), "lost");
    }

    #[test]
    fn what_is_no_limit_is_told() {
        for (text, expected) in [
            ("lost", "is no limit"),
            ("lost>", "is no limit"),
            ("lost>=5%", "is no limit"),
            (">5%", "is no limit"),
            ("lokc>5%", "did you mean `lock`?"),
            ("lost>many", "is no amount"),
            ("lost>5parsecs", "is no amount"),
            ("lost>+5", "need their unit"),
            ("wall>5%", "parts of nothing"),
            ("efficiency>5s", "has no seconds"),
            ("lost>nan%", "is no amount"),
            ("lost>+inf%", "is no amount"),
        ] {
            let message = Limit::parse(text).expect_err(text).to_string();
            assert!(message.contains(expected) && message.contains(text), "{message}");
        }
    }
}
