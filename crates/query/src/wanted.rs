//! Which marked interval is asked for, and which execution of it.

use proust_account::ledger::{Window, Windows};
use proust_profile::{ExecutionSumRow, IntervalInfo, LocationId, Profile};
use rustc_hash::FxHashMap;

use crate::ScopeNote;
use crate::glob::matches;

/// Which interval is asked for: `solve`, `solve[3]`, `solve#2`, `solve[3]#2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    name: String,
    number: Option<i64>,
    /// Only the so-manieth execution of each location, from 1.
    execution: Option<usize>,
}

impl Wanted {
    /// Understands such a word.
    pub fn parse(text: &str) -> Wanted {
        let (text, execution) = match text.rsplit_once('#') {
            Some((before, count)) => match count.parse() {
                Ok(count) => (before, Some(count)),
                Err(_) => (text, None),
            },
            None => (text, None),
        };
        let numbered = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        let (name, number) = match numbered.and_then(|(name, number)| Some((name, number.parse().ok()?))) {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        Wanted { name: name.into(), number, execution }
    }

    /// All executions of intervals with this name, which may hold `*` and `?`.
    pub fn named(name: &str) -> Wanted {
        Wanted { name: name.into(), number: None, execution: None }
    }

    /// Only the so-manieth execution of each location, from 1.
    pub fn execution(&self) -> Option<usize> {
        self.execution
    }

    /// When it is executed by the locations for which this is true: all executions that were recorded alone,
    /// or only the one that is asked for.
    pub fn windows(&self, profile: &Profile, is_in_scope: impl Fn(LocationId) -> bool) -> Windows {
        let mut seen: FxHashMap<LocationId, usize> = FxHashMap::default();
        let mut found = Vec::new();
        for row in &profile.executions {
            if !row.inherited
                && self.is(&profile.intervals[row.interval as usize])
                && is_in_scope(row.location)
            {
                let number = seen.entry(row.location).or_default();
                *number += 1;
                if self.execution.is_none_or(|wanted| wanted == *number) {
                    found.push(Window::new(row.begin_ns, row.end_ns));
                }
            }
        }
        found.into_iter().collect()
    }

    /// What a reader must know of the execution that is asked for; `word` is how it is asked for. An
    /// execution belongs to those of other threads by its number, as long as all executed the interval
    /// equally often.
    pub fn notes(&self, profile: &Profile, word: &str) -> Vec<ScopeNote> {
        let Some(wanted) = self.execution else { return Vec::new() };
        let mut counts: FxHashMap<LocationId, u64> = FxHashMap::default();
        for row in profile.executions.iter().filter(|row| !row.inherited) {
            if self.is(&profile.intervals[row.interval as usize]) {
                *counts.entry(row.location).or_default() += 1;
            }
        }
        let is_summed = |row: &ExecutionSumRow| self.is(&profile.intervals[row.interval as usize]);
        let value = word.to_owned();
        if profile.execution_sums.iter().any(is_summed) {
            return vec![ScopeNote::ExecutionsUnnumbered { value }];
        }
        let (least, most) = (counts.values().min().copied(), counts.values().max().copied());
        match (least, most) {
            (Some(_), Some(most)) if (most as usize) < wanted => {
                vec![ScopeNote::NoSuchExecution { value, most }]
            }
            (Some(least), Some(most)) if least < most => {
                vec![ScopeNote::ExecutionsUnmatched { value, least, most }]
            }
            _ => Vec::new(),
        }
    }

    /// Whether it is this interval.
    pub fn is(&self, info: &IntervalInfo) -> bool {
        matches(&self.name, &info.name) && self.number.is_none_or(|number| info.number == Some(number))
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::ExecutionRow;

    use super::*;

    fn info(name: &str, number: Option<i64>, parent: Option<u32>) -> IntervalInfo {
        IntervalInfo { name: name.into(), number, parent, ..IntervalInfo::default() }
    }

    #[test]
    fn an_interval_is_asked_for_by_name_number_and_execution() {
        let solve = info("solve", Some(3), None);
        for (text, is_it, execution) in [
            ("solve", true, None),
            ("sol*", true, None),
            ("solve[3]", true, None),
            ("solve[4]", false, None),
            ("solve[-3]", false, None),
            ("solve#2", true, Some(2)),
            ("solve[3]#2", true, Some(2)),
            ("other", false, None),
        ] {
            let wanted = Wanted::parse(text);
            assert_eq!((wanted.is(&solve), wanted.execution), (is_it, execution), "{text}");
        }
        assert!(Wanted::parse("a#b").is(&info("a#b", None, None)));
        assert!(Wanted::parse("x[y]").is(&info("x[y]", None, None)));
    }

    #[test]
    fn a_number_of_an_execution_that_means_little_is_noted() {
        let row = |location, interval| ExecutionRow {
            location: LocationId(location),
            interval,
            ..ExecutionRow::default()
        };
        let sum = ExecutionSumRow { interval: 2, executions: 9, ..ExecutionSumRow::default() };
        let profile = Profile {
            intervals: ["even", "uneven", "often"].map(|name| info(name, None, None)).to_vec(),
            executions: vec![
                row(0, 0),
                row(0, 0),
                row(1, 0),
                row(1, 0),
                row(0, 1),
                row(1, 1),
                row(1, 1),
                row(0, 2),
            ],
            execution_sums: vec![sum],
            ..Profile::default()
        };
        let notes = |word: &str| Wanted::parse(word).notes(&profile, word);
        assert_eq!([notes("even"), notes("even#2"), notes("other#2")], [vec![], vec![], vec![]]);
        let value = |word: &str| word.to_owned();
        assert_eq!(notes("even#3"), [ScopeNote::NoSuchExecution { value: value("even#3"), most: 2 }]);
        let unmatched = ScopeNote::ExecutionsUnmatched { value: value("uneven#2"), least: 1, most: 2 };
        assert_eq!(notes("uneven#2"), [unmatched]);
        assert_eq!(notes("often#1"), [ScopeNote::ExecutionsUnnumbered { value: value("often#1") }]);
    }
}
