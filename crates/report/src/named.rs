//! The rows of a run that pages take as arguments, with what they are: for the shell to complete.

use proust_account::blame::Blame;
use proust_findings::Finding;
use proust_profile::{ContextKind, FunctionId, Metric, Profile};
use proust_query::{Amounts, Handle, Selection};

use crate::page::Argument;
use crate::pages::{context_name, finding_name, place};

/// A word that a page takes, and what it means in this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The handle, or a name.
    pub word: String,
    /// What it is.
    pub about: String,
}

/// What a page takes as this argument, those with most CPU time first; of findings and locks in the order of
/// their handles.
pub fn named(
    profile: &Profile,
    argument: Argument,
    findings: &[Finding],
    blame: Option<&Blame>,
) -> Vec<Named> {
    let row = |handle: Handle, about: String| Named { word: handle.to_string(), about };
    match argument {
        Argument::Context => {
            let selection = Selection::all(profile);
            let inclusive = Amounts::by_context(&selection, Metric::Cpu).inclusive;
            let used = selection.used_contexts();
            let is_line = |kind| matches!(kind, ContextKind::Line | ContextKind::Loop);
            let calls = profile.contexts.iter_enumerated();
            let calls = calls.filter(|(id, context)| used[id.index()] && !is_line(context.kind));
            let mut calls: Vec<_> = calls.map(|(id, _)| id).collect();
            calls.sort_by(|a, b| inclusive[b.index()].cmp(&inclusive[a.index()]).then(a.cmp(b)));
            calls.into_iter().map(|id| row(Handle::Context(id), context_name(profile, id))).collect()
        }
        Argument::Function => {
            let inclusive = Amounts::by_function(&Selection::all(profile), Metric::Cpu).inclusive;
            let mut functions: Vec<_> = profile.functions.keys().collect();
            functions.sort_by(|a, b| inclusive[b.index()].cmp(&inclusive[a.index()]).then(a.cmp(b)));
            let with_place = |id: FunctionId| {
                let function = &profile.functions[id];
                let at = place(function.file.as_deref(), function.line);
                let name = &function.name;
                let about = at.map_or_else(|| name.clone(), |at| format!("{name}  {at}"));
                // A name that a shell would have to quote has its handle.
                let is_plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let word = if is_plain(name) { name.clone() } else { Handle::Function(id).to_string() };
                Named { word, about }
            };
            functions.into_iter().map(with_place).collect()
        }
        Argument::Lock => {
            let locks = blame.map_or(&[][..], |blame| &blame.locks);
            let locks = (0..).zip(locks);
            locks
                .map(|(id, lock)| {
                    row(
                        Handle::Lock(id),
                        format!("{} of {}", lock.kind.id(), context_name(profile, lock.site)),
                    )
                })
                .collect()
        }
        Argument::Interval => {
            let mut names: Vec<String> = profile.intervals.iter().map(|interval| interval.label()).collect();
            names.sort();
            names.dedup();
            names.into_iter().map(|word| Named { word, about: String::new() }).collect()
        }
        Argument::Finding => {
            let ranked = (1..).zip(findings);
            ranked.map(|(rank, of)| row(Handle::Finding(rank), finding_name(of.kind).to_owned())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::IntervalInfo;

    use super::*;

    #[test]
    fn intervals_are_named_once() {
        let interval =
            |name: &str, number| IntervalInfo { name: name.into(), number, ..IntervalInfo::default() };
        let intervals = vec![interval("solve", Some(3)), interval("read", None), interval("solve", Some(3))];
        let profile = Profile { intervals, ..Profile::default() };
        let words: Vec<String> =
            named(&profile, Argument::Interval, &[], None).into_iter().map(|row| row.word).collect();
        assert_eq!(words, ["read", "solve[3]"]);
    }
}
