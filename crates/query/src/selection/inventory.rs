//! What there is to select, for those whose words match nothing.

use proust_profile::{ContextKind, Profile};

use crate::expression::{Pattern, SampleName};
use crate::scope_note::Known;
use proust_words::nearest::nearest;

pub(super) fn written(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Numbers(from, to) if from == to => from.to_string(),
        Pattern::Numbers(from, u64::MAX) => format!("{from}.."),
        Pattern::Numbers(from, to) => format!("{from}..{to}"),
        Pattern::Time(from, to) => format!("{}ns..{}ns", from, to),
        Pattern::Samples(from, to) => {
            let end = |name: &Option<SampleName>| name.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{}..{}", end(from), end(to))
        }
        Pattern::Name { text, .. } => text.clone(),
    }
}

/// The names that look alike, or else the first of all.
pub(super) fn what_there_is(value: &str, known: &[String]) -> Known {
    const SHOWN: usize = 8;
    // A thread is listed as `name (id)`; it is the name that may be misspelt.
    let alike = nearest(value, known.iter().map(|name| without_id(name)), 4);
    if !alike.is_empty() {
        return Known { alike: alike.into_iter().map(str::to_owned).collect(), ..Known::default() };
    }
    let first: Vec<String> = known.iter().take(SHOWN).cloned().collect();
    Known { alike: Vec::new(), more: known.len() - first.len(), first }
}

/// `worker` of `worker (4711)`.
fn without_id(name: &str) -> &str {
    match name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, id)) if id.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

pub(super) fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = all.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn process_names(profile: &Profile) -> Vec<String> {
    profile.processes.iter().map(|process| format!("{} ({})", process.name, process.pid)).collect()
}

pub(super) fn rank_names(profile: &Profile) -> Vec<String> {
    let mut ranks: Vec<u32> = profile.processes.iter().filter_map(|process| process.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.iter().map(u32::to_string).collect()
}

pub(super) fn thread_names(profile: &Profile) -> Vec<String> {
    profile.locations.iter().map(|location| format!("{} ({})", location.name, location.tid)).collect()
}

pub(super) fn file_names(profile: &Profile) -> Vec<String> {
    let declared = profile.functions.iter().filter_map(|function| function.file.as_deref());
    let lines = profile.contexts.iter().filter(|context| context.kind == ContextKind::Line);
    names(declared.chain(lines.filter_map(|context| context.file.as_deref())))
}

/// The kinds and labels of samples of processes.
pub(super) fn sample_names(profile: &Profile) -> Vec<String> {
    let samples = profile.process_samples.iter();
    names(samples.flat_map(|sample| [sample.label.as_str(), sample.reason.as_str()]))
}

pub(super) fn used_processors(profile: &Profile) -> Vec<String> {
    let mut numbers: Vec<u16> =
        profile.samples.iter().map(|row| row.processor).filter(|&n| n != u16::MAX).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().map(u16::to_string).collect()
}
