//! The text files of the source tree.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of products, which nobody writes by hand.
const PRODUCTS: &[&str] = &["target", "build", "artifacts", "corpus", "coverage", "__pycache__"];

/// A file and its text.
pub struct Source {
    /// Below the root of the tree, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    /// What follows the last dot of its name.
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// The folder that has the workspace's manifest.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies in `crates`").to_owned()
}

/// All text files of the tree, sorted by path; products and hidden folders are left out.
pub fn sources() -> Vec<Source> {
    let (root, mut found) = (root(), Vec::new());
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.expect("a folder of sources can be read");
            let (path, kind) = (entry.path(), entry.file_type().expect("a file has a type"));
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                // Runs that someone recorded here are no sources.
                if !PRODUCTS.contains(&&*name) && !name.starts_with('.') && !name.ends_with(".proust") {
                    open.push(path);
                }
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(&root).expect("it was found there");
                found.push(Source { path: path.to_string_lossy().into_owned(), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.iter().any(|source| source.path == "README.md"), "the tree was not found");
    found
}
