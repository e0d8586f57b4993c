//! Results of earlier lookups, kept by build-id: the same build has the same answer wherever it lies.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::ModuleNote;
use crate::debug_files::Evidence;
use crate::image::hexadecimal;
use crate::structure::Findings;

/// Changes with the layout of the files and with whatever changes answers, the rules for names above all.
const SCHEMA: &str = "v11";

/// The default place of the cache: `$XDG_CACHE_HOME/proust/structure`, else `~/.cache/proust/structure`.
/// `None` where neither variable is set to an absolute path.
pub fn default_cache_dir() -> Option<PathBuf> {
    let folder =
        |variable| env::var_os(variable).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(base.join("proust").join("structure"))
}

/// A folder of answers.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// The file for one build.
pub(crate) struct Place {
    file: PathBuf,
}

/// The part of a file that is an answer.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) findings: Findings,
    /// Notes of the looks that found it.
    pub(crate) notes: Vec<ModuleNote>,
}

#[derive(Serialize, Deserialize)]
struct Content<R> {
    /// Part of names such as `module+0xoffset`, so that a copy under another name has its own answers.
    module_name: String,
    evidence: Evidence,
    record: R,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder: folder.join(SCHEMA) }
    }

    /// `None` for a build-id that no linker writes and no file system could store.
    pub(crate) fn place(&self, build_id: &[u8]) -> Option<Place> {
        const LONGEST_BUILD_ID: usize = 64;
        let name = format!("{}.json", hexadecimal(build_id));
        (1..=LONGEST_BUILD_ID).contains(&build_id.len()).then(|| Place { file: self.folder.join(name) })
    }
}

impl Place {
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// What is kept, if it rests on `evidence` (on any, where the binary itself is gone). A damaged file is
    /// as good as none.
    pub(crate) fn load(&self, module_name: &str, evidence: Option<&Evidence>) -> Option<Record> {
        let bytes = fs::read(&self.file).ok()?;
        let content: Content<Record> = serde_json::from_slice(&bytes).ok()?;
        let valid = content.module_name == module_name
            && evidence.is_none_or(|evidence| *evidence == content.evidence)
            && content.record.findings.is_consistent()
            && !content.record.notes.iter().any(appeared_since);
        valid.then_some(content.record)
    }

    /// Replaces the file at once, so that readers see the old or the new one; of two writers one wins.
    pub(crate) fn store(&self, module_name: &str, evidence: Evidence, record: &Record) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let content = Content { module_name: module_name.to_owned(), evidence, record };
        let bytes = serde_json::to_vec(&content)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(&bytes)?;
        file.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Whether the reason for a note is gone, so that a new look would find more.
fn appeared_since(note: &ModuleNote) -> bool {
    matches!(note, ModuleNote::SplitDebugInfoMissing { path } if path.exists())
}
