//! The user's file of rules.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{ClassError, Classes, Problem};

/// A file of rules is written by hand.
const MAX_BYTES: u64 = 1 << 20;

/// Variable that names another file of rules, which must be there.
const VARIABLE: &str = "PROUST_WAITS";

/// Where the user's rules lie if there are any: the file that `PROUST_WAITS` names, else `proust/waits.table`
/// in the user's folder for configuration. None where the environment names no such folder.
pub fn user_file() -> Option<PathBuf> {
    place(|variable| std::env::var_os(variable))
}

fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = variable(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named));
    }
    // A relative path there is to be ignored.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration =
        folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(configuration.join("proust").join("waits.table"))
}

impl Classes {
    /// The built-in table, with the rules of the user's file before it where there is one ([`user_file`]).
    ///
    /// # Errors
    /// [`ClassError`] when the file is there and cannot be read, or a line in it is no rule.
    pub fn of_user() -> Result<Classes, ClassError> {
        match user_file() {
            Some(path) => match Classes::standard().with_file(&path) {
                Err(ClassError::NotRead { source, .. })
                    if is_missing(&source)
                        && std::env::var_os(VARIABLE).is_none_or(|named| named.is_empty()) =>
                {
                    Ok(Classes::standard())
                }
                read => read,
            },
            None => Ok(Classes::standard()),
        }
    }

    /// With the rules of a file before all that are there already.
    ///
    /// # Errors
    /// [`ClassError`] when the file cannot be read, or a line in it is no rule.
    pub fn with_file(self, path: &Path) -> Result<Classes, ClassError> {
        let name = path.display().to_string();
        let bytes = read(path)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.with(&name, text),
            Err(error) => {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
                Err(ClassError::Line { file: name, line, problem: Problem::NotText })
            }
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read(path: &Path) -> Result<Vec<u8>, ClassError> {
    let not_read = |source| ClassError::NotRead { path: path.to_owned(), source };
    let file = File::open(path).map_err(not_read)?;
    let mut bytes = Vec::new();
    // What is read counts, not what the file says of itself: it may be a pipe.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(not_read)?;
    if bytes.len() as u64 > MAX_BYTES {
        let bytes = path.metadata().map_or(bytes.len() as u64, |facts| facts.len().max(bytes.len() as u64));
        return Err(ClassError::TooLarge { path: path.to_owned(), bytes, limit: MAX_BYTES });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_with(variables: &[(&str, &str)]) -> Option<PathBuf> {
        place(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_folder_for_configuration_comes_first() {
        let home = ("HOME", "/home/me");
        assert_eq!(place_with(&[home]), Some("/home/me/.config/proust/waits.table".into()));
        assert_eq!(
            place_with(&[home, ("XDG_CONFIG_HOME", "/etc/me")]),
            Some("/etc/me/proust/waits.table".into())
        );
        assert_eq!(place_with(&[home, ("XDG_CONFIG_HOME", "")]), place_with(&[home]));
        assert_eq!(place_with(&[home, ("XDG_CONFIG_HOME", "here")]), place_with(&[home]));
        assert_eq!(place_with(&[]), None);
        assert_eq!(place_with(&[home, ("PROUST_WAITS", "mine.table")]), Some("mine.table".into()));
        assert_eq!(place_with(&[home, ("PROUST_WAITS", "")]), place_with(&[home]));
    }

    #[test]
    fn a_file_is_read_and_what_is_wrong_with_it_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("waits.table");
        let missing = Classes::standard().with_file(&path).expect_err("a file that is not there");
        assert!(missing.to_string().contains(&path.display().to_string()), "{missing}");

        std::fs::write(&path, "pool my_idle\n").expect("a file");
        let with_rule = Classes::standard().with_file(&path).expect("a rule");
        assert_ne!(with_rule.digest(), Classes::standard().digest());

        std::fs::write(&path, b"pool my_idle\n\npool \xff\n").expect("a file");
        let not_text = Classes::standard().with_file(&path).expect_err("bytes").to_string();
        assert_eq!(not_text, format!("{}:3: the line is not UTF-8 text", path.display()));

        std::fs::write(&path, vec![b'#'; MAX_BYTES as usize + 1]).expect("a file");
        let large = Classes::standard().with_file(&path).expect_err("too large");
        assert!(matches!(large, ClassError::TooLarge { bytes, .. } if bytes == MAX_BYTES + 1), "{large}");
    }
}
