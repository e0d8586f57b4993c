//! A run's folder: analysed once, read from then on, analysed again when its logs have changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::synthetic::{LaneBuilder, header, log, names, noted};
use proust_account::ledger::{Span, Spans};
use proust_account::timelines::timelines;
use proust_ingest::{CallPaths, IngestError, Symbols};
use proust_profile::run_file::{RunFileError, SCHEMA};
use proust_profile::tables::{Kept, PROFILE_FOLDER};
use proust_profile::{LocationId, Metric, Profile, RunFile};
use proust_query::{Measure, Selection};
use proust_store::{Note, Outdated, Run, StoreError, WaitRules};
use proust_structure::{ModuleRequest, ModuleStructure};

/// Counts how often it is asked, which tells whether there was an analysis.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Symbols for Counting {
    fn resolve(&self, module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
        self.0.fetch_add(1, Relaxed);
        names(module, addresses)
    }
}

fn one_log(samples: u64) -> Vec<u8> {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0).node(1, 0, 1, 0x105).begin(9, 1000, 0);
    for i in 1..=samples {
        lane.sample(1000 + i * 5, i * 5, 1);
    }
    lane.end(9, 1900, samples * 5 + 1);
    log(header(9), &[lane])
}

fn run(dir: &Path) {
    fs::create_dir(dir.join("log")).unwrap();
    fs::write(dir.join("log/9.plog"), one_log(20)).unwrap();
    fs::write(dir.join("log/notes.txt"), "not a log").unwrap();
    RunFile { schema: SCHEMA, command: vec!["./a".into()], ..RunFile::default() }.write(dir).unwrap();
}

fn opened(dir: &Path, symbols: &Counting) -> Result<Run, StoreError> {
    Run::open_by(dir, CallPaths::User, Box::new(symbols.clone()), WaitRules::standard())
}

fn profile(dir: &Path, symbols: &Counting) -> Result<Profile, StoreError> {
    Ok(opened(dir, symbols)?.profile_with_rows()?.clone())
}

/// A file of the analysis that is kept.
fn kept_file(dir: &Path, name: &str) -> PathBuf {
    Kept::open(&dir.join(PROFILE_FOLDER)).unwrap().folder().join(name)
}

/// The folders of analyses, the one in use and whatever is left over.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join(PROFILE_FOLDER)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn a_run_is_analysed_once_and_again_when_it_changed() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let analyses = |expected: usize| assert_eq!(symbols.0.load(Relaxed), expected);
    assert!(!opened(dir.path(), &symbols).unwrap().is_analysed());
    analyses(0);
    let first = profile(dir.path(), &symbols).unwrap();
    analyses(1);
    assert_eq!(first.quality.samples, 20);
    assert_eq!(profile(dir.path(), &symbols).unwrap(), first);
    analyses(1);

    let again = opened(dir.path(), &symbols).unwrap();
    assert!(again.is_analysed());
    let without = again.profile().unwrap();
    assert!(without.samples.is_empty() && without.values == first.values);
    let with = again.profile_with_rows().unwrap();
    assert_eq!((&with.samples, &with.events), (&first.samples, &first.events));

    // The program goes on and writes more.
    fs::write(dir.path().join("log/9.plog"), one_log(30)).unwrap();
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(2);
    assert_eq!(folders(dir.path()).len(), 1);
    // A damaged profile is made again.
    fs::write(kept_file(dir.path(), "values.parquet"), "PAR1").unwrap();
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(3);
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(3);

    // Without its logs a run still has its profile, until that is damaged, too.
    fs::remove_dir_all(dir.path().join("log")).unwrap();
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
    fs::write(kept_file(dir.path(), "values.parquet"), "PAR1").unwrap();
    assert!(matches!(profile(dir.path(), &symbols), Err(StoreError::NoSource { .. })));
    analyses(3);
}

#[test]
fn each_part_is_loaded_once_and_a_damaged_one_is_computed() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let made = opened(dir.path(), &symbols).unwrap();
    let (ledger, found) = (made.ledger_with_rows().unwrap().clone(), made.findings().unwrap().to_vec());
    assert!(!ledger.is_without_rows());
    assert_eq!(symbols.0.load(Relaxed), 1);

    let kept = opened(dir.path(), &symbols).unwrap();
    assert!(kept.ledger().unwrap().is_without_rows());
    assert!(std::ptr::eq(kept.profile().unwrap(), kept.profile().unwrap()));
    assert_eq!(kept.ledger_with_rows().unwrap(), &ledger);
    assert_eq!(kept.findings().unwrap(), found);
    assert_eq!(kept.blame().unwrap().rows, made.blame().unwrap().rows);
    assert_eq!(kept.operations().unwrap(), made.operations().unwrap());
    assert_eq!(symbols.0.load(Relaxed), 1);
    assert_eq!(kept.notes(), []);

    // With the logs the analysis is repaired, without them the part is computed from the rows.
    for (logs, analyses) in [(true, 2), (false, 2)] {
        if !logs {
            fs::remove_dir_all(dir.path().join("log")).unwrap();
        }
        fs::write(kept_file(dir.path(), "findings.json"), "{}").unwrap();
        let damaged = opened(dir.path(), &symbols).unwrap();
        let before = damaged.profile().unwrap();
        assert_eq!(damaged.findings().unwrap(), found);
        assert_eq!(damaged.ledger().unwrap().accounts, ledger.accounts);
        assert!(std::ptr::eq(before, damaged.profile().unwrap()) || !logs);
        assert!(matches!(&damaged.notes()[..], [Note::MadeAgain { why: Outdated::Damaged { .. }, .. }]));
        assert_eq!(symbols.0.load(Relaxed), analyses);
    }
}

/// All spans of all locations.
fn spans(run: &Run) -> Vec<Vec<Span>> {
    let (locations, timelines) = (run.profile().unwrap().locations.len(), run.timelines().unwrap());
    let of_location = |id| timelines.spans(LocationId::from_index(id), 0..u64::MAX).spans().collect();
    (0..locations).map(of_location).collect()
}

#[test]
fn timelines_are_kept_and_made_again_where_they_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let made = opened(dir.path(), &symbols).unwrap();
    let computed = timelines(made.profile_with_rows().unwrap());
    let expected: Vec<Vec<Span>> = computed.timelines.into_iter().map(|one| one.spans).collect();
    assert!(expected.iter().any(|spans| spans.len() > 1));
    assert_eq!(spans(&made), expected);
    let kept = opened(dir.path(), &symbols).unwrap();
    assert_eq!(spans(&kept), expected);
    assert!(!kept.was_damaged().unwrap());
    assert_eq!((kept.notes(), symbols.0.load(Relaxed)), (vec![], 1));

    // Without levels nothing is lost but time.
    fs::write(kept_file(dir.path(), "states.levels"), "").unwrap();
    let kept = opened(dir.path(), &symbols).unwrap();
    assert_eq!(spans(&kept), expected);
    assert_eq!((kept.notes(), symbols.0.load(Relaxed)), (vec![], 1));

    for (logs, analyses) in [(true, 2), (false, 2)] {
        if !logs {
            fs::remove_dir_all(dir.path().join("log")).unwrap();
        }
        // In a block, where only its reader can notice it.
        let path = kept_file(dir.path(), "states.streams");
        let mut bytes = fs::read(&path).unwrap();
        bytes[64 + 50] ^= 1;
        fs::write(&path, bytes).unwrap();
        let damaged = opened(dir.path(), &symbols).unwrap();
        assert_ne!(spans(&damaged), expected);
        assert!(damaged.was_damaged().unwrap());
        assert_eq!(spans(&damaged), expected);
        assert!(!damaged.was_damaged().unwrap());
        assert!(matches!(&damaged.notes()[..], [Note::MadeAgain { why: Outdated::Damaged { .. }, .. }]));
        assert_eq!(symbols.0.load(Relaxed), analyses);
    }
}

/// What was found out about the logs when the run was opened holds for all of it.
#[test]
fn a_part_that_is_damaged_while_the_logs_change_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    profile(dir.path(), &symbols).unwrap();
    let reader = opened(dir.path(), &symbols).unwrap();
    reader.profile().unwrap();
    fs::write(kept_file(dir.path(), "ledger.json"), "{}").unwrap();
    fs::write(dir.path().join("log/9.plog"), one_log(30)).unwrap();
    assert!(matches!(reader.ledger(), Err(StoreError::Changed { .. })));
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
}

/// Two reports of one run at once, while the program writes: each sees one analysis, from begin to end.
#[test]
fn readers_keep_what_they_opened_while_the_logs_change() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    profile(dir.path(), &symbols).unwrap();
    let first = opened(dir.path(), &symbols).unwrap();
    fs::write(dir.path().join("log/9.plog"), one_log(30)).unwrap();
    let second = opened(dir.path(), &symbols).unwrap();
    assert_eq!(second.profile_with_rows().unwrap().samples.len(), 31);
    assert_eq!(first.profile_with_rows().unwrap().samples.len(), 21);
    assert_eq!(first.ledger_with_rows().unwrap().locations.len(), 1);
    assert_eq!(first.notes(), []);

    let path = dir.path();
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for n in 0..40 {
                let temporary = path.join("9.new");
                fs::write(&temporary, one_log(20 + n % 7)).unwrap();
                fs::rename(&temporary, path.join("log/9.plog")).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let run = opened(path, &Counting::default()).unwrap();
                    let samples = run.profile().unwrap().quality.samples;
                    let ledger_ns = run.ledger().unwrap().total_ns;
                    let rows = run.profile_with_rows().unwrap();
                    assert_eq!(rows.quality.samples, samples);
                    assert_eq!(rows.samples.iter().filter(|row| !row.tail).count() as u64, samples);
                    assert_eq!(run.ledger_with_rows().unwrap().total_ns, ledger_ns);
                    assert!(
                        run.notes()
                            .iter()
                            .all(|note| matches!(note, Note::MadeAgain { why: Outdated::Logs, .. })),
                        "{:?}",
                        run.notes()
                    );
                }
            });
        }
        writer.join().unwrap();
    });
    profile(path, &symbols).unwrap();
    assert_eq!(folders(path).len(), 1, "replaced analyses are removed");
}

#[test]
fn a_folder_that_cannot_be_written_is_analysed_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    // Permissions do not hold for root: a file in the folder's place does for everybody.
    fs::write(dir.path().join(PROFILE_FOLDER), "in the way").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let symbols = Counting::default();
    let run = opened(dir.path(), &symbols).unwrap();
    let samples = run.profile().map(|profile| profile.quality.samples);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(samples.unwrap(), 20);
    assert!(run.notes().iter().any(|note| matches!(note, Note::NotKept { .. })), "{:?}", run.notes());
    // All of it comes from the one analysis.
    run.ledger_with_rows().unwrap();
    run.findings().unwrap();
    assert_eq!(symbols.0.load(Relaxed), 1);
}

#[test]
fn what_is_not_a_run_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let symbols = Counting::default();
    let error = |dir: &Path| match profile(dir, &symbols) {
        Err(StoreError::Ingest(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(&dir.path().join("absent")), IngestError::NoFolder { .. }));
    assert!(matches!(error(dir.path()), IngestError::NotARun { .. }));
    RunFile { schema: SCHEMA, ..RunFile::default() }.write(dir.path()).unwrap();
    let nothing = error(dir.path());
    assert!(matches!(nothing, IngestError::NothingRecorded { .. }));
    assert!(nothing.to_string().contains("static"), "{nothing}");
    fs::write(dir.path().join("run.json"), format!("{{\"schema\": {}}}", SCHEMA + 1)).unwrap();
    assert!(matches!(error(dir.path()), IngestError::RunFile(RunFileError::OtherSchema { .. })));

    // Logs without their run.json, or with a damaged one, are still analysed.
    fs::create_dir(dir.path().join("log")).unwrap();
    fs::write(dir.path().join("log/9.plog"), one_log(3)).unwrap();
    fs::write(dir.path().join("log/10.plog"), "").unwrap();
    for text in ["{\"sche", ""] {
        fs::write(dir.path().join("run.json"), text).unwrap();
        let profile = profile(dir.path(), &symbols).unwrap();
        assert_eq!(profile.quality.samples, 3);
        assert!(
            noted(&profile, &["run-file-unread", "damaged"])
                && noted(&profile, &["log-refused", "log/10.plog", "0 bytes"])
        );
    }
    fs::remove_file(dir.path().join("run.json")).unwrap();
    assert!(noted(&profile(dir.path(), &symbols).unwrap(), &["run.json does not exist"]));
}

#[test]
fn a_copied_run_keeps_its_analysis() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let first = profile(dir.path(), &symbols).unwrap();
    // What a copy or an archive does to a run: other times, the same contents.
    let log = fs::File::options().write(true).open(dir.path().join("log/9.plog")).unwrap();
    log.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(profile(dir.path(), &symbols).unwrap(), first);
    assert_eq!(symbols.0.load(Relaxed), 1);
}

#[test]
fn a_log_that_grows_in_place_is_analysed_again() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let path = dir.path().join("log/9.plog");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    profile(dir.path(), &symbols).unwrap();
    // A program that still runs: the same length and time, more records in a chunk.
    let grown = one_log(30);
    assert_eq!(grown.len(), fs::read(&path).unwrap().len());
    fs::write(&path, grown).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(profile(dir.path(), &symbols).unwrap().quality.samples, 30);
    assert_eq!(symbols.0.load(Relaxed), 2);
}

/// A profile of another version is made again, and its files do not stay.
#[test]
fn an_old_analysis_is_made_again_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let folder = dir.path().join(PROFILE_FOLDER);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("facts.json"), "{\"schema\": 5}").unwrap();
    fs::write(folder.join("values.parquet"), "PAR1").unwrap();
    fs::write(folder.join("mine.txt"), "not Proust's").unwrap();
    let old = opened(dir.path(), &symbols).unwrap();
    assert!(matches!(&old.notes()[..], [Note::MadeAgain { why: Outdated::Version, .. }]));
    assert_eq!(old.profile().unwrap().quality.samples, 20);
    assert!(!folder.join("facts.json").exists() && !folder.join("values.parquet").exists());
    assert!(folder.join("mine.txt").exists());
    assert_eq!(opened(dir.path(), &symbols).unwrap().notes(), []);
}

#[test]
fn other_rules_for_waits_make_another_profile() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let by = |rules: &WaitRules| {
        let run =
            Run::open_by(dir.path(), CallPaths::User, Box::new(symbols.clone()), rules.clone()).unwrap();
        run.profile().unwrap().clone()
    };
    let standard = WaitRules::standard();
    assert_eq!(by(&standard).facts.wait_rules, "");
    by(&standard);
    assert_eq!(symbols.0.load(Relaxed), 1);
    let own = WaitRules::with("own.table", "park f1\n").unwrap();
    assert_eq!(by(&own).facts.wait_rules, "park f1\n");
    assert_eq!(by(&own).quality.samples, 20);
    assert_eq!(symbols.0.load(Relaxed), 2);
    assert!(WaitRules::with("own.table", "no rule at all").is_err());
}

/// A run of many threads keeps what these are together; where that is damaged, the amounts answer.
#[test]
fn a_run_of_many_locations_keeps_summaries() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    assert!(opened(dir.path(), &symbols).unwrap().summaries(true).is_none());
    profile(dir.path(), &symbols).unwrap();
    assert!(opened(dir.path(), &symbols).unwrap().summaries(true).is_none(), "it has one thread");

    let lanes: Vec<LaneBuilder> = (0..500)
        .map(|tid| {
            let mut lane = LaneBuilder::new(tid);
            lane.module(1, "m", 7, 0).node(1, 0, 1, 0x105).begin(9 + tid, 1000, 0);
            lane.sample(1005, 5, 1).end(9 + tid, 1900, 6);
            lane
        })
        .collect();
    fs::write(dir.path().join("log/9.plog"), log(header(9), &lanes)).unwrap();
    profile(dir.path(), &symbols).unwrap();
    let again = opened(dir.path(), &symbols).unwrap();
    let summaries = again.summaries(true).unwrap();
    assert!(again.definitions().unwrap().values.is_empty());
    let cpu = summaries.rows(Measure::Metric(Metric::Cpu));
    let selection = Selection::all(again.profile().unwrap());
    assert_eq!(cpu.iter().map(|row| row.own).sum::<u128>(), selection.total(Metric::Cpu));
    assert!(cpu[0].inclusive.sum > 0);

    fs::write(kept_file(dir.path(), "summaries.parquet"), "PAR1").unwrap();
    let damaged = opened(dir.path(), &symbols).unwrap();
    assert!(damaged.summaries(false).is_none() && damaged.profile().is_ok());
}
