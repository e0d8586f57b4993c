//! Places in source files.

use crate::paths;

/// A file and a line in it; each may be unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Location {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

impl From<addr2line::Location<'_>> for Location {
    fn from(location: addr2line::Location<'_>) -> Self {
        let file = location.file.and_then(paths::source_file);
        // A line without its file would be read as a line of the file shown around it.
        let line = location.line.filter(|_| file.is_some());
        Self { file, line }
    }
}
