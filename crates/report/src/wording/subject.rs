//! Whom a note is about, by its data: its process, or the file of its module.

use proust_profile::notes::Which;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::process::who;

/// Fields that say whom a note is about, or differ with it.
const WHOM: [&str; 4] = ["process", "path", "module", "log"];

/// Whom a note is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// As the note's words have it.
    pub name: String,
    /// What notes must have in common to be said together: all but whom they are about, and numbers.
    pub alike: String,
}

impl Subject {
    /// That of a note with these fields; None where no other note can say the same.
    pub fn of(fields: &Map<String, Value>) -> Option<Subject> {
        let name = match (fields.get("process"), fields.get("path")) {
            (Some(process), _) => who(&Which::deserialize(process).ok()?),
            (None, Some(Value::String(path))) => path.clone(),
            _ => return None,
        };
        let mut alike = String::new();
        for (field, value) in fields.iter().filter(|(field, _)| !WHOM.contains(&field.as_str())) {
            alike.push_str(&format!("{field}={};", without_figures(value)));
        }
        Some(Subject { name, alike })
    }
}

/// A value with nothing in it that differs from one process to the next.
fn without_figures(value: &Value) -> Value {
    match value {
        Value::Number(_) => Value::Null,
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(field, _)| !WHOM.contains(&field.as_str()));
            Value::Object(fields.map(|(field, value)| (field.clone(), without_figures(value))).collect())
        }
        Value::Array(values) => {
            let mut values: Vec<Value> = values.iter().map(without_figures).collect();
            values.sort_by_key(Value::to_string);
            values.dedup();
            Value::Array(values)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::notes::{ModuleNote, Noted, RunNote, Unfollowed, Unloadable};

    use super::*;

    fn subject(note: &impl Noted) -> Option<Subject> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(note) else { return None };
        fields.remove("id");
        Subject::of(&fields)
    }

    fn which(name: &str, pid: u32) -> Which {
        Which { name: name.into(), pid }
    }

    /// Each note about a process or a file knows it: whoever adds one gets it grouped.
    #[test]
    fn every_note_about_a_process_or_a_file_has_a_subject() {
        for (kind, note) in RunNote::ALL.iter().zip(RunNote::one_of_each()) {
            let is_about_one = kind.fields.contains(&"process") || kind.fields.contains(&"path");
            assert_eq!(subject(&note).is_some(), is_about_one, "{}", kind.id);
        }
        for (kind, note) in ModuleNote::ALL.iter().zip(ModuleNote::one_of_each()) {
            assert_eq!(subject(&note).is_some(), kind.fields.contains(&"path"), "{}", kind.id);
        }
    }

    #[test]
    fn figures_and_logs_make_no_difference_and_reasons_do() {
        let alike = |note: &RunNote| subject(note).unwrap().alike;
        let ticks = |pid, samples| RunNote::AtTicks {
            process: which("cc1", pid),
            samples,
            of: 100,
            tick_ns: 4_000_000,
        };
        assert_eq!(alike(&ticks(1, 44)), alike(&ticks(2, 31)));
        assert_eq!(subject(&ticks(1, 44)).unwrap().name, "cc1 (pid 1)");
        let without = |reason| RunNote::WithoutCollector { process: which("make", 3), programs: 1, reason };
        assert_eq!(alike(&without(Unloadable::OtherRoot)), alike(&without(Unloadable::OtherRoot)));
        assert_ne!(alike(&without(Unloadable::OtherRoot)), alike(&without(Unloadable::OtherLibrary)));
        let header = |log: &str, pid| RunNote::HeaderDamaged { log: log.into(), process: which("cc1", pid) };
        assert_eq!(alike(&header("a.log", 1)), alike(&header("b.log", 2)));
        let child = |pid, program: &str| Unfollowed { pid, program: Some(program.into()) };
        let children =
            |pid, children: Vec<Unfollowed>| RunNote::NotFollowed { process: which("make", pid), children };
        let one = children(1, vec![child(7, "/bin/static")]);
        let two = children(2, vec![child(8, "/bin/static"), child(9, "/bin/static")]);
        assert_eq!(alike(&one), alike(&two));
        assert_ne!(alike(&one), alike(&children(2, vec![child(7, "/bin/other")])));
        let module = |path: &str| RunNote::Module {
            path: path.into(),
            problems: vec![ModuleNote::NoSymbols { path: path.into() }],
        };
        assert_eq!(alike(&module("/bin/a")), alike(&module("/bin/b")));
    }
}
