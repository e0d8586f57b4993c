//! What a reader of numbers must know beside them, as data: each note has an identifier that stays, a grade,
//! and its numbers. The crate `report` words them.
//!
//! - `run`: notes about a run as a whole, and its processes
//! - `module`: what could not be known of a module
//! - `sweep`: what `sweep` noted of its runs

mod module;
mod run;
mod sweep;

use serde::{Deserialize, Serialize};

pub use module::ModuleNote;
pub use run::{OtherTool, RunNote, Unfollowed, Unloadable, Which};
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

/// Declares an enum of notes: each variant with its identifier, its grade and its numbers.
///
/// The invoking crate depends on `serde`.
#[macro_export]
macro_rules! notes {
    (
        $(#[$of:meta])*
        pub enum $Notes:ident {
            $(
                $(#[$about:meta])*
                $Name:ident $id:literal $grade:ident {
                    $($(#[$field_about:meta])* $field:ident: $Type:ty),* $(,)?
                }
            )*
        }
    ) => {
        $(#[$of])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(tag = "id")]
        pub enum $Notes {
            $($(#[$about])* #[serde(rename = $id)] $Name { $($(#[$field_about])* $field: $Type),* },)*
        }

        impl $Notes {
            /// The identifiers and grades of all of them.
            pub const ALL: &'static [(&'static str, $crate::notes::Grade)] =
                &[$(($id, $crate::notes::Grade::$grade)),*];
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

    use super::*;

    #[test]
    fn identifiers_are_unique() {
        for all in [RunNote::ALL, ModuleNote::ALL, SweepFileNote::ALL] {
            let ids: BTreeSet<&str> = all.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids.len(), all.len());
        }
    }

    #[test]
    fn a_note_is_its_identifier_and_its_numbers() {
        let note = RunNote::LogsGone { logs: 3 };
        let json = serde_json::to_value(&note).unwrap();
        assert_eq!(json, serde_json::json!({"id": "logs-gone", "logs": 3}));
        assert_eq!(serde_json::from_value::<RunNote>(json).unwrap(), note);
        assert_eq!((note.id(), note.grade()), ("logs-gone", Grade::Caution));
    }
}
