//! Whose a finding is, in runs of several processes: `cc1plus f65.cc (p196)`, `69 processes of cc1plus`.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ProcessId, Profile};
use proust_query::Handle;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::groups::called;
use crate::shorten::middle;

/// Columns of a process in a sentence: compilers have hundreds of options.
const LONGEST: usize = 60;
/// Programs that are named.
const PROGRAMS: usize = 3;

/// A process as in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct ProcessRow {
    pub handle: String,
    pub program: String,
    pub pid: u32,
}

/// These processes, as far as the profile knows them.
pub(super) fn rows(profile: &Profile, ids: &[ProcessId]) -> Vec<ProcessRow> {
    let row = |&id: &ProcessId| {
        let process = profile.processes.get(id)?;
        let handle = Handle::Process(id).to_string();
        Some(ProcessRow { handle, program: process.name.clone(), pid: process.pid })
    };
    ids.iter().filter_map(row).collect()
}

/// These processes in a few words; None where the run has one only, or it is not known which they are.
pub(super) fn whose(profile: &Profile, ids: &[ProcessId]) -> Option<String> {
    if profile.processes.len() < 2 {
        return None;
    }
    let known: Vec<ProcessId> =
        ids.iter().copied().filter(|id| id.index() < profile.processes.len()).collect();
    match known[..] {
        [] => None,
        [id] => {
            let process = &profile.processes[id];
            let name = middle(&called(&process.name, &process.arguments), LONGEST, false);
            Some(format!("{name} ({})", Handle::Process(id)))
        }
        _ => {
            let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
            for id in &known {
                *programs.entry(&profile.processes[*id].name).or_default() += 1;
            }
            let mut programs: Vec<(&str, usize)> = programs.into_iter().collect();
            programs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            let named = programs.iter().take(PROGRAMS).enumerate().map(|(n, (name, count))| {
                let count = if n == 0 { counted(*count, "process") } else { count.to_string() };
                format!("{count} of {name}")
            });
            let named: Vec<String> = named.collect();
            let rest: usize = programs.iter().skip(PROGRAMS).map(|(_, count)| count).sum();
            Some(match (&named[..], rest) {
                ([one], 0) => one.clone(),
                ([most @ .., last], 0) => format!("{} and {last}", most.join(", ")),
                _ => format!("{} and {rest} of other programs", named.join(", ")),
            })
        }
    }
}

/// The programs of these processes.
pub(super) fn programs(profile: &Profile, ids: &[ProcessId]) -> Option<String> {
    let names: BTreeSet<&str> =
        ids.iter().filter_map(|&id| Some(profile.processes.get(id)?.name.as_str())).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names.len() {
        0 => None,
        1..=PROGRAMS => Some(names.join(", ")),
        more => {
            let named = names[..PROGRAMS].join(", ");
            Some(format!("{named} and {}", counted(more - PROGRAMS, "more program")))
        }
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::Process;

    use super::*;

    #[test]
    fn one_is_named_with_its_arguments_and_several_by_program() {
        let process = |name: &str, file: &str| Process {
            name: name.into(),
            arguments: vec![name.into(), file.into()],
            ..Process::default()
        };
        let all = [("make", "all"), ("cc1", "a.c"), ("cc1", "b.c"), ("as", "a.s"), ("ld", "x"), ("sh", "-c")];
        let profile = Profile {
            processes: all.iter().map(|(name, file)| process(name, file)).collect(),
            ..Profile::default()
        };
        let whose = |ids: &[u32]| {
            let ids: Vec<ProcessId> = ids.iter().map(|&id| ProcessId(id)).collect();
            super::whose(&profile, &ids)
        };
        assert_eq!(whose(&[1]).unwrap(), "cc1 a.c (p1)");
        assert_eq!(whose(&[1, 2]).unwrap(), "2 processes of cc1");
        assert_eq!(whose(&[0, 1, 2]).unwrap(), "2 processes of cc1 and 1 of make");
        let every = "2 processes of cc1, 1 of as, 1 of ld and 2 of other programs";
        assert_eq!(whose(&[0, 1, 2, 3, 4, 5]).unwrap(), every);
        assert_eq!(whose(&[]), None);
        // A profile and findings that contradict each other are no reason to fail.
        assert_eq!(whose(&[77]), None);
        let alone = Profile { processes: vec![process("cc1", "a.c")].into(), ..Profile::default() };
        assert_eq!(super::whose(&alone, &[ProcessId(0)]), None);
    }
}
