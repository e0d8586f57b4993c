//! Errors stay errors: whatever happened to the files of a run, each command prints the right page, or says
//! what is missing, or ends with an error in words. It never prints a page of what is left as if it were all.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::command::{Ended, proust, run};
use crate::programs::built;
use crate::recording::empty_folder;
use crate::tier;

/// Run, another run, and a sweep, all analysed; beside them a copy whose files are damaged one by one.
struct Rig {
    whole: PathBuf,
    damaged: PathBuf,
    _folder: TempDir,
}

/// A folder of [`Rig`] with what is asked of it.
struct Subject {
    /// Of the run that is damaged.
    folder: &'static str,
    questions: Vec<Vec<&'static str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// Logs and profile.
    Both,
    /// The logs were removed to save room.
    Profile,
    /// It was not analysed yet.
    Logs,
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut(usize),
    Zeroed,
    Flipped,
    Replaced,
    Missing,
    Folder,
    Unreadable,
}

const DAMAGES: [Damage; 8] = [
    Damage::Cut(0),
    Damage::Cut(1),
    Damage::Zeroed,
    Damage::Flipped,
    Damage::Replaced,
    Damage::Missing,
    Damage::Folder,
    Damage::Unreadable,
];

const PAGES: [&str; 13] = [
    "summary", "tree", "effort", "callers", "flat", "ledger", "threads", "timeline", "io", "waits", "locks",
    "openmp", "quality",
];

impl Rig {
    fn new() -> Option<Rig> {
        let (work, other) = (built("openmp-scaling-gcc")?, built("cost_by_argument")?);
        let folder = empty_folder();
        let (whole, damaged) = (folder.path().join("whole"), folder.path().join("damaged"));
        fs::create_dir(&whole).unwrap();
        let ask = |arguments: &[&str]| {
            let ended = run(proust().current_dir(&whole).args(arguments));
            assert!(ended.status.success(), "{arguments:?}: {}", ended.said());
        };
        let both = format!("{} 0.05 & {} 0.05; wait", work.display(), other.display());
        ask(&["record", "-o", "other", "--", other.to_str().unwrap(), "0.05"]);
        // By its times a run's file is known from that of the run before, if these are apart.
        std::thread::sleep(std::time::Duration::from_millis(100));
        ask(&["record", "-o", "run", "--", "sh", "-c", &both]);
        let sweep = ["sweep", "--threads", "1,2", "--repeat", "1", "-o", "sweep", "--"];
        ask(&[&sweep[..], &[work.to_str().unwrap(), "0.05"]].concat());
        for dir in ["run", "other", "sweep"] {
            ask(&["report", dir]);
        }
        Some(Rig { whole, damaged, _folder: folder })
    }

    /// The damaged copy is as the whole one again, but for what is not kept of the subject.
    fn restore(&self, subject: &Subject, kept: Kept) {
        let _ = fs::remove_dir_all(&self.damaged);
        copy(&self.whole, &self.damaged);
        let folder = self.damaged.join(subject.folder);
        match kept {
            Kept::Both => {}
            Kept::Profile => fs::remove_dir_all(folder.join("log")).unwrap(),
            Kept::Logs => fs::remove_dir_all(folder.join("profile")).unwrap(),
        }
    }

    fn damage(&self, path: &Path, name: &Path, damage: Damage) {
        let content = fs::read(path).unwrap();
        let half = content.len() / 2;
        fs::remove_file(path).unwrap();
        match damage {
            Damage::Cut(halves) => fs::write(path, &content[..half * halves]).unwrap(),
            Damage::Zeroed => {
                let zeros = vec![0; content.len() - half];
                fs::write(path, [&content[..half], &zeros].concat()).unwrap();
            }
            Damage::Flipped => {
                let mut flipped = content;
                flipped.iter_mut().skip(half).take(16).for_each(|byte| *byte = !*byte);
                fs::write(path, flipped).unwrap();
            }
            Damage::Replaced => {
                let other = self.whole.join("other");
                let same = match name.starts_with("log") {
                    true => files(&other.join("log")).remove(0),
                    // Each analysis has a folder of its own.
                    false => {
                        let is_same = |path: &PathBuf| path.file_name() == name.file_name();
                        files(&other).into_iter().find(is_same).unwrap()
                    }
                };
                fs::copy(same, path).unwrap();
            }
            Damage::Missing => {}
            Damage::Folder => fs::create_dir(path).unwrap(),
            // Permissions do not hold root back; a link to itself does.
            Damage::Unreadable => symlink(path, path).unwrap(),
        }
    }

    fn ask(&self, question: &[&str], whole: bool) -> Ended {
        run(proust().current_dir(if whole { &self.whole } else { &self.damaged }).args(question))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &copied),
            false => drop(fs::copy(&path, &copied).unwrap()),
        }
    }
}

/// All files below a folder, by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

/// Words with which it is said that something is missing.
const CAUTIONS: [&str; 8] = [
    "are incomplete:",
    "is left out",
    "damaged",
    "cannot be read",
    "was not read",
    "is not known",
    "belongs to another",
    "is missing from all numbers",
];

/// What is wrong with an answer, if anything is.
fn fault(answer: &Ended, right: &Ended) -> Option<String> {
    let said = answer.said();
    if said.contains("panicked") {
        return Some("it panicked".into());
    }
    match answer.status.code() {
        Some(0) if answer.printed() == right.printed() => None,
        Some(0) => {
            let now = answer.printed() + &said;
            // Sentences are broken into lines of a terminal's width.
            let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let (before, after) = (in_one_line(&(right.printed() + &right.said())), in_one_line(&now));
            let times = |text: &str, caution: &str| text.matches(caution).count();
            let is_cautioned = CAUTIONS.iter().any(|one| times(&after, one) > times(&before, one));
            (!is_cautioned).then(|| format!("another page without a caution:\n{now}"))
        }
        Some(1..=3) => {
            let errors = said.lines().filter(|line| !line.starts_with("proust: note: "));
            let is_sentence =
                errors.clone().count() == 1 && errors.clone().all(|line| line.starts_with("proust: "));
            (!is_sentence).then(|| format!("no error in one sentence: {said}"))
        }
        code => Some(format!("it ended with {code:?}: {said}")),
    }
}

fn of_run() -> Subject {
    let mut questions: Vec<Vec<&str>> = PAGES.map(|page| vec!["report", "run", page]).into();
    questions.push(vec!["report", "run", "summary", "--format", "json"]);
    questions.push(vec!["report", "run", "flat", "--where", "time=0s..0.1s"]);
    questions.extend([vec!["report", "run", "--strict"], vec!["info", "run"], vec!["ls", "."]]);
    questions.extend([vec!["explain", "run", "L1"], vec!["diff", "other", "run"]]);
    questions.push(vec!["diff", "other", "run", "tree"]);
    Subject { folder: "run", questions }
}

fn of_sweep() -> Subject {
    let pages = ["summary", "scaling", "degradation"].map(|page| vec!["report", "sweep", page]);
    let mut questions: Vec<Vec<&str>> = pages.into();
    questions.extend([vec!["report", "sweep", "--format", "json"], vec!["diff", "sweep", "sweep"]]);
    questions.push(vec!["diff", "sweep", "sweep", "--at", "threads=2"]);
    questions.extend([vec!["ls", "sweep"], vec!["info", "sweep/threads-2.1"]]);
    questions.push(vec!["report", "sweep/threads-2.1"]);
    Subject { folder: "sweep/threads-2.1", questions }
}

/// Damages the files whose names `takes`, and asks of each.
fn never_silent(rig: &Rig, subject: &Subject, kept: Kept, takes: impl Fn(&Path) -> bool) {
    let right: HashMap<_, _> = subject.questions.iter().map(|q| (q.clone(), rig.ask(q, true))).collect();
    let folder = rig.whole.join(subject.folder);
    let names = files(&folder).into_iter().map(|path| path.strip_prefix(&folder).unwrap().to_owned());
    let names: Vec<PathBuf> = names.filter(|name| takes(name)).collect();
    assert!(!names.is_empty());
    for (file, name) in names.iter().enumerate() {
        for (way, damage) in DAMAGES.into_iter().enumerate() {
            rig.restore(subject, kept);
            rig.damage(&rig.damaged.join(subject.folder).join(name), name, damage);
            let questions = subject.questions.iter().enumerate();
            for (_, question) in questions.filter(|(at, _)| tier::takes(file + way + at, 3)) {
                let answer = rig.ask(question, false);
                if let Some(fault) = fault(&answer, &right[question]) {
                    panic!("{name:?} {damage:?}, kept {kept:?}, {question:?}: {fault}");
                }
            }
        }
    }
}

#[test]
fn a_damaged_log_is_never_a_smaller_run() {
    let Some(rig) = Rig::new() else { return };
    never_silent(&rig, &of_run(), Kept::Both, |name| name.starts_with("log"));
    never_silent(&rig, &of_sweep(), Kept::Logs, |name| name.starts_with("log"));
}

#[test]
fn a_damaged_run_file_is_told() {
    let Some(rig) = Rig::new() else { return };
    for kept in [Kept::Both, Kept::Profile, Kept::Logs] {
        never_silent(&rig, &of_run(), kept, |name| name == Path::new("run.json"));
        never_silent(&rig, &of_sweep(), kept, |name| name == Path::new("run.json"));
    }
}

#[test]
fn a_damaged_profile_without_logs_is_an_error_or_a_caution() {
    let Some(rig) = Rig::new() else { return };
    let few = [
        "samples.streams",
        "events.streams",
        "values.parquet",
        "ledger.json",
        "ledger_rows.parquet",
        "blame_rows.parquet",
        "manifest.json",
    ];
    let is_one = |name: &Path| few.iter().any(|few| name.ends_with(few));
    never_silent(&rig, &of_run(), Kept::Profile, is_one);
    never_silent(&rig, &of_sweep(), Kept::Profile, is_one);
}

/// The account is drawn up again where it is damaged, of rows that are damaged, too.
#[test]
fn an_account_of_damaged_rows_is_never_one_of_nothing() {
    let Some(rig) = Rig::new() else { return };
    for (subject, kept) in [(of_run(), Kept::Profile), (of_sweep(), Kept::Profile), (of_run(), Kept::Both)] {
        for (file, rows) in
            ["samples.streams", "events.streams", "releases.streams", "stays.streams", "transfers.streams"]
                .into_iter()
                .enumerate()
        {
            rig.restore(&subject, kept);
            let profile = rig.damaged.join(subject.folder).join("profile");
            for name in ["ledger.json", rows] {
                let is_it = |path: &PathBuf| path.ends_with(name);
                let path = files(&profile).into_iter().find(is_it).unwrap();
                rig.damage(&path, Path::new(name), Damage::Flipped);
            }
            let questions = subject.questions.iter().enumerate();
            for (_, question) in questions.filter(|(at, _)| tier::takes(file + at, 3)) {
                let (answer, right) = (rig.ask(question, false), rig.ask(question, true));
                if let Some(fault) = fault(&answer, &right) {
                    panic!("{rows}, kept {kept:?}, {question:?}: {fault}");
                }
            }
        }
    }
}

#[test]
fn a_damaged_sweep_file_is_told() {
    let Some(rig) = Rig::new() else { return };
    let sweep = Subject { folder: "sweep", questions: vec![] };
    let right = rig.ask(&["ls", "."], true);
    // Without it the folder is one with runs in it.
    for damage in DAMAGES.into_iter().filter(|damage| !matches!(damage, Damage::Missing | Damage::Replaced)) {
        rig.restore(&sweep, Kept::Both);
        rig.damage(&rig.damaged.join("sweep/sweep.json"), Path::new("sweep.json"), damage);
        let page = rig.ask(&["report", "sweep"], false);
        assert_eq!(page.status.code(), Some(1), "{damage:?}: {}", page.said());
        for question in [&["report", "sweep"][..], &["diff", "sweep", "sweep"], &["ls", "."]] {
            if let Some(fault) = fault(&rig.ask(question, false), &right) {
                panic!("{damage:?}, {question:?}: {fault}");
            }
        }
    }
}
