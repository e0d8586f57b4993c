//! Recording a program, and asking the report for its pages.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ended, proust, run};
use crate::explained::{Except, assert_explained};
use crate::pages::{Flat, QualityPage, Summary, Threads, Tree};

/// A recorded program: what it did, and where the run lies. The folder goes away with it, but not before
/// every second of the run is explained.
pub struct Recorded {
    pub ended: Ended,
    pub dir: PathBuf,
    except: Cell<Option<Except>>,
    _folder: TempDir,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // Of a command that was refused there is no run.
        if self.dir.exists() && !std::thread::panicking() {
            assert_explained(&self.dir, self.except.get());
        }
    }
}

/// A folder of the story's own.
pub fn empty_folder() -> TempDir {
    tempfile::Builder::new().prefix("proust-story-").tempdir().expect("a temporary folder")
}

/// Records a command with the default options.
pub fn record<S: AsRef<OsStr>>(program: impl AsRef<OsStr>, arguments: &[S]) -> Recorded {
    record_with(&[] as &[&str], program, arguments)
}

/// Records a command with these options of `proust record`.
pub fn record_with<O: AsRef<OsStr>, S: AsRef<OsStr>>(
    options: &[O],
    program: impl AsRef<OsStr>,
    arguments: &[S],
) -> Recorded {
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).args(options).arg("--").arg(program).args(arguments);
    Recorded { ended: run(&mut command), dir, except: Cell::new(None), _folder: folder }
}

/// Runs `proust report` on a folder.
pub fn report<S: AsRef<OsStr>>(dir: &Path, page: &str, options: &[S]) -> Ended {
    run(proust().arg("report").arg(dir).arg(page).args(options))
}

/// A page of a run as JSON.
pub fn page_of<T: DeserializeOwned>(dir: &Path, page: &str, options: &[&str]) -> T {
    let mut all = options.to_vec();
    all.extend(["--format", "json"]);
    let ended = report(dir, page, &all);
    assert!(ended.status.success(), "report {page}: {:?}: {}", ended.status, ended.said());
    let value: Value = serde_json::from_slice(&ended.stdout)
        .unwrap_or_else(|error| panic!("page {page}: {error}:\n{}", ended.printed()));
    assert_eq!(value["schema"], 1, "page {page}");
    assert_notes_are_data(&value);
    T::deserialize(&value).unwrap_or_else(|error| panic!("page {page}: {error}:\n{value:#}"))
}

/// Wherever JSON has notes in words, it has the same ones with identifiers.
fn assert_notes_are_data(value: &Value) {
    if let Some(notes) = value.get("notes") {
        let noted = list(value, "/noted");
        let texts: Vec<Value> = noted.iter().map(|note| note["text"].clone()).collect();
        assert_eq!(notes, &Value::from(texts));
        for note in noted {
            assert!(note["id"].as_str().is_some_and(|id| !id.is_empty()), "{note}");
            assert!(matches!(note["grade"].as_str(), Some("note" | "caution")), "{note}");
        }
    }
    if let Some(quality) = value.get("quality") {
        assert_notes_are_data(quality);
    }
}

/// The truth a program printed as its last line.
pub fn truth_in(ended: &Ended) -> Value {
    let printed = ended.printed();
    let last = printed.lines().last().unwrap_or_else(|| panic!("no truth; stderr: {}", ended.said()));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"))
}

impl Recorded {
    /// The recorded program ended well.
    pub fn succeeded(self) -> Self {
        assert!(self.ended.status.success(), "{:?}: {}", self.ended.status, self.ended.said());
        self
    }

    /// Not every second of this run can be explained.
    pub fn except(&self, why: Except) {
        self.except.set(Some(why));
    }

    /// What the program measured of itself.
    pub fn truth(&self) -> Value {
        truth_in(&self.ended)
    }

    /// A page as JSON.
    pub fn page<T: DeserializeOwned>(&self, page: &str, options: &[&str]) -> T {
        page_of(&self.dir, page, options)
    }

    pub fn summary(&self) -> Summary {
        self.page("summary", &[])
    }

    pub fn quality(&self) -> QualityPage {
        self.page("quality", &[])
    }

    pub fn flat(&self) -> Flat {
        self.page("flat", &[])
    }

    /// The flat page of one thread.
    pub fn flat_of_thread(&self, tid: u64) -> Flat {
        self.page("flat", &["--where", &format!("thread={tid}")])
    }

    /// The tree, whose invariants hold.
    pub fn tree(&self) -> Tree {
        let tree: Tree = self.page("tree", &[]);
        tree.check();
        tree
    }

    pub fn threads(&self) -> Threads {
        self.page("threads", &[])
    }

    /// Every second of CPU time is accounted for, and nearly all call paths are complete.
    pub fn assert_trustworthy(&self) {
        let quality = self.summary().quality;
        assert!(quality.cpu_residual <= 1e-4, "CPU time is missing: {quality:#?}");
        // One may meet the loader in code that no unwind information describes.
        let incomplete = (1.0 - quality.complete_paths) * quality.samples as f64;
        let at_most = (0.01 * quality.samples as f64).max(1.0);
        assert!(incomplete < at_most + 0.5, "call paths are incomplete: {quality:#?}");
        assert_eq!(quality.dropped, 0, "records were dropped: {quality:#?}");
    }
}

/// A field that holds a number.
pub fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {path} in {value}"))
}

/// A field that holds a list.
pub fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).unwrap_or_else(|| panic!("no list {path} in {value}"))
}
