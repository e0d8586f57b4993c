//! The time between two samples of processes, where a filter names samples, and that of single executions of
//! intervals.
//!
//! A number names one sample of the run, a kind or a label any number of them. A stretch begins at each
//! sample that the first word names, and ends at the next one that the second word names: of the same
//! process, where that has one later, else of any process.

use proust_profile::{ProcessSampleRow, Profile};

use crate::expression::{Clause, Filter, Key, Pattern, SampleName};
use crate::glob::matches;

/// The filter with clauses about time in place of those about samples of processes, and beside those that
/// name single executions of intervals.
pub fn with_times(profile: &Profile, filter: &Filter) -> Filter {
    let clauses = filter.clauses.iter().flat_map(|clause| match clause.key {
        Key::Sample => vec![time_clause(profile, clause).0],
        Key::Interval if clause.names_executions() => vec![clause.clone(), executions(profile, clause)],
        _ => vec![clause.clone()],
    });
    Filter { clauses: clauses.collect() }
}

/// The time of the executions that a clause names: of each location that executes the interval, the one with
/// that number.
pub(super) fn executions(profile: &Profile, clause: &Clause) -> Clause {
    let mut times: Vec<Pattern> = Vec::new();
    for pattern in &clause.patterns {
        let wanted = pattern.interval();
        let found = wanted.iter().flat_map(|wanted| wanted.windows(profile, |_| true).as_slice().to_vec());
        times.extend(found.map(|window| Pattern::Time(window.start_ns, window.end_ns)));
    }
    Clause { key: Key::Time, negated: false, patterns: times, text: String::new() }
}

/// Such a clause as one about time, and which of its patterns match nothing.
pub(super) fn time_clause<'c>(profile: &Profile, clause: &'c Clause) -> (Clause, Vec<&'c Pattern>) {
    let mut samples: Vec<&ProcessSampleRow> = profile.process_samples.iter().collect();
    // The order that numbers them.
    samples.sort_by_key(|sample| (sample.time_ns, sample.process));
    let mut missing = Vec::new();
    let mut times: Vec<Pattern> = Vec::new();
    for pattern in &clause.patterns {
        let Pattern::Samples(from, to) = pattern else { continue };
        let found = stretches(&samples, from.as_ref(), to.as_ref());
        if found.is_empty() {
            missing.push(pattern);
        }
        times.extend(found.into_iter().map(|(from_ns, to_ns)| Pattern::Time(from_ns, to_ns)));
    }
    (Clause { key: Key::Time, patterns: times, ..clause.clone() }, missing)
}

fn stretches(
    samples: &[&ProcessSampleRow],
    from: Option<&SampleName>,
    to: Option<&SampleName>,
) -> Vec<(u64, u64)> {
    let called = |name: &SampleName| -> Vec<usize> {
        (0..samples.len()).filter(|&at| is_called(name, at, samples[at])).collect()
    };
    match (from.map(called), to.map(called)) {
        (Some(begins), None) => {
            begins.first().map(|&at| (samples[at].time_ns, u64::MAX)).into_iter().collect()
        }
        (None, Some(ends)) => ends.last().map(|&at| (0, samples[at].time_ns)).into_iter().collect(),
        (Some(begins), Some(ends)) => {
            let stretch = |&begin: &usize| {
                let later = || ends.iter().filter(|&&end| samples[end].time_ns > samples[begin].time_ns);
                let own = later().find(|&&end| samples[end].process == samples[begin].process);
                let end = own.or_else(|| later().next())?;
                Some((samples[begin].time_ns, samples[*end].time_ns))
            };
            begins.iter().filter_map(stretch).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// Whether a sample is called so; `at` is its position among all of the run.
fn is_called(name: &SampleName, at: usize, sample: &ProcessSampleRow) -> bool {
    match name {
        SampleName::Number(number) => at as u64 + 1 == *number,
        SampleName::Name { text, quoted } => {
            let is_it = |word: &str| if *quoted { text == word } else { matches(text, word) };
            let is = |word: &str| !word.is_empty() && is_it(word);
            is(&sample.label) || is(&sample.reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;
    use crate::scope_note::{MatchKind, ScopeNote};
    use proust_profile::ProcessId;

    fn profile() -> Profile {
        let sample = |time_ns, process, reason: &str, label: &str| ProcessSampleRow {
            process: ProcessId::from_index(process),
            time_ns,
            reason: reason.into(),
            label: label.into(),
            ..ProcessSampleRow::default()
        };
        Profile {
            process_samples: vec![
                sample(10, 0, "begin", ""),
                sample(30, 0, "pause", ""),
                sample(50, 0, "resume", ""),
                sample(70, 0, "mark", "after setup"),
                sample(90, 0, "end", ""),
                sample(20, 1, "begin", ""),
                sample(40, 1, "pause", ""),
                sample(80, 1, "resume", ""),
                sample(85, 1, "signal", "2"),
            ],
            ..Profile::default()
        }
    }

    fn times(text: &str) -> Vec<(u64, u64)> {
        let filter = with_times(&profile(), &Filter::parse(&[text]).unwrap());
        let time = |pattern: &Pattern| match *pattern {
            Pattern::Time(from, to) => (from, to),
            _ => panic!("{pattern:?}"),
        };
        filter.clauses.iter().flat_map(|clause| clause.patterns.iter().map(time)).collect()
    }

    #[test]
    fn numbers_are_those_of_the_page_samples() {
        assert_eq!(times("sample=1..2"), [(10, 20)]);
        assert_eq!(times("sample=6..9"), [(70, 90)]);
        assert_eq!(times("sample=3..,..4"), [(30, u64::MAX), (0, 40)]);
    }

    #[test]
    fn kinds_and_labels_pair_within_a_process_where_they_can() {
        assert_eq!(times("sample=pause..resume"), [(30, 50), (40, 80)]);
        assert_eq!(times("sample=after*..end"), [(70, 90)]);
        // Process 1 has no end: that of another one ends its stretch.
        assert_eq!(times("sample=resume..end"), [(50, 90), (80, 90)]);
        assert_eq!(times("sample=\"2\".."), [(85, u64::MAX)]);
        assert_eq!(times("sample=..begin"), [(0, 20)]);
    }

    #[test]
    fn what_is_not_there_selects_nothing_and_is_noted() {
        for text in ["sample=nothing..", "sample=end..begin", "sample=99..", "sample=5..40"] {
            assert_eq!(times(text), [], "{text}");
            let profile = profile();
            let selection = Selection::new(&profile, &Filter::parse(&[text]).unwrap());
            let note = &selection.notes()[0];
            assert!(matches!(note, ScopeNote::NoMatch { kind: MatchKind::Sample, .. }), "{text}: {note:?}");
        }
        let filter = with_times(&profile(), &Filter::parse(&["sample=99.."]).unwrap());
        assert_eq!(filter.windows().unwrap().as_slice(), []);
    }
}
