//! How much memory a merge may take, and where it may write.

use std::path::{Path, PathBuf};

/// The memory for records, and the folder for sorted runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes for records and what is needed to sort them. The index of the file (48 bytes a block) comes on
    /// top of it.
    pub bytes: usize,
    /// Where temporary folders are made.
    pub folder: PathBuf,
}

impl Budget {
    /// A budget.
    pub fn new(bytes: usize, folder: &Path) -> Budget {
        Budget { bytes, folder: folder.to_owned() }
    }

    /// How many records fit, if each takes so many bytes: a few in any case.
    pub(super) fn records(&self, bytes_each: usize) -> usize {
        (self.bytes / bytes_each).max(256)
    }
}
