//! What a reader of numbers must know beside them, as data: each note has an identifier that stays, a grade,
//! and its numbers. The crate `report` words them.
//!
//! - `run`: notes about a run as a whole, and its processes
//! - `gap`: what is missing in its data, by the numbers of its quality
//! - `module`: what could not be known of a module
//! - `sweep`: what `sweep` noted of its runs

mod gap;
mod module;
mod run;
mod sweep;

use serde::{Deserialize, Serialize};

pub use gap::Gap;
pub use module::ModuleNote;
pub use run::{MarkPlace, OtherTool, RunNote, Unfollowed, Unloadable, Which};
pub use sweep::SweepFileNote;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// It explains the numbers.
    Note,
    /// Some numbers are incomplete, or mean something else than they seem to.
    Caution,
}

impl Grade {
    /// The stable identifier.
    pub const fn id(self) -> &'static str {
        match self {
            Grade::Note => "note",
            Grade::Caution => "caution",
        }
    }
}

/// A note. It serialises as its `id` and its numbers.
pub trait Noted: Serialize {
    /// The stable identifier, unique among all notes of its type.
    fn id(&self) -> &'static str;
    /// How much it matters.
    fn grade(&self) -> Grade;
}

/// What is known of a sort of note without having one, as documents list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteKind {
    /// The stable identifier.
    pub id: &'static str,
    /// How much it matters.
    pub grade: Grade,
    /// What it says, in a sentence or two.
    pub about: &'static str,
    /// Names of its numbers.
    pub fields: &'static [&'static str],
}

/// Declares an enum of notes: each variant with its identifier, its grade and its numbers, and how JSON names
/// those that have another name there. All of these have a default, so that tests can make one of each.
///
/// The invoking crate depends on `serde`.
#[macro_export]
macro_rules! notes {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $json:literal) => { $json };
    (
        $(#[$of:meta])*
        pub enum $Notes:ident {
            $(
                $(#[doc = $about:literal])*
                $Name:ident $id:literal $grade:ident {
                    $($(#[$field_about:meta])* $field:ident $(as $json:literal)?: $Type:ty),* $(,)?
                }
            )*
        }
    ) => {
        $(#[$of])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(tag = "id")]
        pub enum $Notes {
            $(
                $(#[doc = $about])*
                #[serde(rename = $id)]
                $Name { $($(#[$field_about])* $(#[serde(rename = $json)])? $field: $Type),* },
            )*
        }

        impl $Notes {
            /// All sorts of them.
            pub const ALL: &'static [$crate::notes::NoteKind] = &[$($crate::notes::NoteKind {
                id: $id,
                grade: $crate::notes::Grade::$grade,
                about: concat!($($about),*).trim_ascii(),
                fields: &[$($crate::notes!(@name $field $($json)?)),*],
            }),*];

            /// One of each, with nothing in it: for tests that all of them have words.
            pub fn one_of_each() -> Vec<$Notes> {
                vec![$($Notes::$Name { $($field: Default::default()),* }),*]
            }
        }

        impl $crate::notes::Noted for $Notes {
            fn id(&self) -> &'static str {
                match self { $($Notes::$Name { .. } => $id,)* }
            }

            fn grade(&self) -> $crate::notes::Grade {
                match self { $($Notes::$Name { .. } => $crate::notes::Grade::$grade,)* }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;

    fn check<N: Noted + DeserializeOwned + PartialEq + Debug>(all: &[NoteKind], one_of_each: Vec<N>) {
        let ids: BTreeSet<&str> = all.iter().map(|kind| kind.id).collect();
        assert_eq!((ids.len(), one_of_each.len()), (all.len(), all.len()));
        for (kind, note) in all.iter().zip(one_of_each) {
            assert_eq!((note.id(), note.grade()), (kind.id, kind.grade));
            let json = serde_json::to_value(&note).unwrap();
            assert!(kind.fields.iter().all(|field| json.get(field).is_some()), "{json}");
            // Beside the numbers, JSON has the words.
            assert!(!kind.fields.iter().any(|field| ["id", "grade", "text"].contains(field)), "{json}");
            assert_eq!(serde_json::from_value::<N>(json).unwrap(), note);
        }
    }

    #[test]
    fn identifiers_are_unique_and_notes_are_read_as_they_were_written() {
        check(RunNote::ALL, RunNote::one_of_each());
        check(Gap::ALL, Gap::one_of_each());
        check(ModuleNote::ALL, ModuleNote::one_of_each());
        check(SweepFileNote::ALL, SweepFileNote::one_of_each());
    }

    #[test]
    fn a_note_is_its_identifier_and_its_numbers() {
        let note = RunNote::LogsGone { logs: 3 };
        let json = serde_json::to_value(&note).unwrap();
        assert_eq!(json, serde_json::json!({"id": "logs-gone", "logs": 3}));
        assert_eq!((note.id(), note.grade()), ("logs-gone", Grade::Caution));
        let kind = RunNote::ALL.iter().find(|kind| kind.id == "logs-gone").unwrap();
        assert_eq!(kind.about, "Logs were there when the command ended, and are gone.");
        assert_eq!(kind.fields, ["logs"]);
    }
}
