//! What is asked about one module.

use std::path::{Path, PathBuf};

/// One module as the collector saw it while the program ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleRequest {
    /// Where the module was loaded from, or a name in brackets such as `[vdso]`.
    pub path: PathBuf,
    /// The GNU build-id of the module that was measured. When known it alone decides whether the file at
    /// `path` is still the same.
    pub build_id: Option<Vec<u8>>,
    /// Size and time of the file that was measured: the evidence where there is no build-id.
    pub code_id: Option<FileIdentity>,
}

/// Size and modification time of a file at one instant; each may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileIdentity {
    /// Length of the file in bytes.
    pub size_bytes: Option<u64>,
    /// Last modification in nanoseconds since the Unix epoch.
    pub modified_ns: Option<u64>,
}

impl ModuleRequest {
    /// A request without evidence of which binary was measured; the answer carries a note about it.
    pub fn unverified(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), build_id: None, code_id: None }
    }

    pub(crate) fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The file's own path: the kernel appends a word to the path of a mapped file that was unlinked.
    pub(crate) fn file_path(&self) -> &Path {
        self.path.to_str().and_then(|p| p.strip_suffix(" (deleted)")).map_or(&self.path, Path::new)
    }

    /// The module's name in `module+0xoffset`.
    pub(crate) fn module_name(&self) -> String {
        let path = self.file_path();
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }
}
