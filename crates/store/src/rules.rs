//! The user's rules for what waits count as: part of what a profile is made from, and kept with it.

use std::fs;

use proust_account::classes::{ClassError, Classes, user_file};

/// The rules by which waits are classified.
#[derive(Clone, Debug)]
pub struct WaitRules {
    /// The user's; the built-in ones are part of the version.
    pub(super) text: String,
    pub(super) digest: u64,
}

impl WaitRules {
    /// The built-in rules alone.
    pub fn standard() -> WaitRules {
        WaitRules { text: String::new(), digest: Classes::standard().digest() }
    }

    /// With those in `text` before them; `file` is its name in errors.
    ///
    /// # Errors
    /// [`ClassError`] with the first line that is no rule.
    pub fn with(file: &str, text: &str) -> Result<WaitRules, ClassError> {
        let digest = Classes::standard().with(file, text)?.digest();
        Ok(WaitRules { text: text.into(), digest })
    }

    /// With those in the user's file, where there is one.
    ///
    /// # Errors
    /// [`ClassError`] when it cannot be read, or a line in it is no rule.
    pub fn of_user() -> Result<WaitRules, ClassError> {
        Classes::of_user()?;
        // It was just read; if it is gone since, there are none.
        let Some(path) = user_file() else { return Ok(WaitRules::standard()) };
        match fs::read_to_string(&path) {
            Ok(text) => WaitRules::with(&path.display().to_string(), &text),
            Err(_) => Ok(WaitRules::standard()),
        }
    }
}
