//! What a user should know beside the answer of a run.

use serde::{Deserialize, Serialize};

/// Why an analysis that was kept is not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "id", rename_all = "kebab-case")]
pub enum Outdated {
    /// Another version of Proust made it.
    #[default]
    Version,
    /// The logs have changed.
    Logs,
    /// The user's rules for waits have changed.
    Rules,
    /// It is damaged.
    Damaged {
        /// How, in the words of the error.
        damage: String,
    },
}

proust_profile::notes! {
    /// What happened while a run was opened, or a part of it was read.
    pub enum Note {
        /// The analysis that was kept was not used, and the run analysed again.
        MadeAgain "analysis-made-again" Note {
            /// The run's folder.
            dir: String,
            /// Why.
            why: Outdated,
        }
        /// The analysis could not be kept: it is done again each time.
        NotKept "analysis-not-kept" Note {
            /// The run's folder.
            dir: String,
            /// Why, in the words of the error.
            error: String,
        }
    }
}
