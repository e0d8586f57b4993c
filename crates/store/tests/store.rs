//! A run's folder: analysed once, read from then on, analysed again when its logs have changed.

mod synthetic;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proust_ingest::{IngestError, Symbols};
use proust_profile::run_file::{RunFileError, SCHEMA};
use proust_profile::tables::PROFILE_FOLDER;
use proust_profile::{Profile, RunFile};
use proust_store::{Parts, StoreError, WaitRules, ledger, ledger_with_rows, open_by, open_with, read_rows};
use proust_structure::{ModuleRequest, ModuleStructure};
use synthetic::{LaneBuilder, header, log, names, noted};

/// Counts how often it is asked, which tells whether there was an analysis.
#[derive(Default)]
struct Counting(AtomicUsize);

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

fn open(dir: &Path, symbols: &Counting) -> Result<Profile, StoreError> {
    open_with(dir, Parts::All, symbols, &mut |_| {})
}

#[test]
fn a_run_is_analysed_once_and_again_when_it_changed() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let analyses = |expected: usize| assert_eq!(symbols.0.load(Relaxed), expected);
    let first = open(dir.path(), &symbols).unwrap();
    analyses(1);
    assert_eq!(first.quality.samples, 20);
    assert_eq!(open(dir.path(), &symbols).unwrap(), first);
    analyses(1);

    let mut without = open_with(dir.path(), Parts::WithoutSamples, &symbols, &mut |_| {}).unwrap();
    assert!(without.samples.is_empty() && without.values == first.values);
    read_rows(dir.path(), &mut without).unwrap();
    assert_eq!((&without.samples, &without.events), (&first.samples, &first.events));

    // The program goes on and writes more.
    fs::write(dir.path().join("log/9.plog"), one_log(30)).unwrap();
    assert_eq!(open(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(2);
    // A damaged profile is made anew.
    fs::write(dir.path().join(PROFILE_FOLDER).join("values.parquet"), "PAR1").unwrap();
    assert_eq!(open(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(3);
    assert_eq!(open(dir.path(), &symbols).unwrap().quality.samples, 30);
    analyses(3);

    // Without its logs a run still has its profile, until that is damaged, too.
    fs::remove_dir_all(dir.path().join("log")).unwrap();
    assert_eq!(open(dir.path(), &symbols).unwrap().quality.samples, 30);
    fs::write(dir.path().join(PROFILE_FOLDER).join("values.parquet"), "PAR1").unwrap();
    assert!(matches!(open(dir.path(), &symbols), Err(StoreError::NoSource { .. })));
    analyses(3);
}

#[test]
fn a_folder_that_cannot_be_written_is_analysed_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    // Permissions do not hold for root: a file in the folder's place does for everybody.
    fs::write(dir.path().join(PROFILE_FOLDER), "in the way").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let symbols = Counting::default();
    let profile = open(dir.path(), &symbols);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let profile = profile.unwrap();
    assert_eq!(profile.quality.samples, 20);
    let is_root = noted(&profile, &["not-kept"]) || dir.path().join(PROFILE_FOLDER).is_dir();
    assert!(is_root, "{:?}", profile.quality.notes);
}

#[test]
fn what_is_not_a_run_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let symbols = Counting::default();
    let error = |dir: &Path| match open(dir, &symbols) {
        Err(StoreError::Ingest(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(&dir.path().join("absent")), IngestError::NoFolder { .. }));
    assert!(matches!(error(dir.path()), IngestError::NotARun { .. }));
    RunFile { schema: SCHEMA, ..RunFile::default() }.write(dir.path()).unwrap();
    let nothing = error(dir.path());
    assert!(matches!(nothing, IngestError::NothingRecorded { .. }));
    assert!(nothing.to_string().contains("static"), "{nothing}");
    fs::write(dir.path().join("run.json"), "{\"schema\": 2}").unwrap();
    assert!(matches!(error(dir.path()), IngestError::RunFile(RunFileError::OtherSchema { .. })));

    // Logs without their run.json, or with a damaged one, are still analysed.
    fs::create_dir(dir.path().join("log")).unwrap();
    fs::write(dir.path().join("log/9.plog"), one_log(3)).unwrap();
    fs::write(dir.path().join("log/10.plog"), "").unwrap();
    for text in ["{\"sche", ""] {
        fs::write(dir.path().join("run.json"), text).unwrap();
        let profile = open(dir.path(), &symbols).unwrap();
        assert_eq!(profile.quality.samples, 3);
        assert!(
            noted(&profile, &["run-file-unread", "damaged"])
                && noted(&profile, &["log-refused", "log/10.plog", "0 bytes"])
        );
    }
    fs::remove_file(dir.path().join("run.json")).unwrap();
    assert!(noted(&open(dir.path(), &symbols).unwrap(), &["run.json does not exist"]));
}

#[test]
fn a_copied_run_keeps_its_analysis() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let first = open(dir.path(), &symbols).unwrap();
    // What a copy or an archive does to a run: other times, the same contents.
    let log = fs::File::options().write(true).open(dir.path().join("log/9.plog")).unwrap();
    log.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(open(dir.path(), &symbols).unwrap(), first);
    assert_eq!(symbols.0.load(Relaxed), 1);
}

#[test]
fn a_log_that_grows_in_place_is_analysed_again() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let path = dir.path().join("log/9.plog");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    open(dir.path(), &symbols).unwrap();
    // A program that still runs: the same length and time, more records in a chunk.
    let grown = one_log(30);
    assert_eq!(grown.len(), fs::read(&path).unwrap().len());
    fs::write(&path, grown).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(open(dir.path(), &symbols).unwrap().quality.samples, 30);
    assert_eq!(symbols.0.load(Relaxed), 2);
}

#[test]
fn the_ledger_is_kept_and_goes_with_its_logs() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    assert_eq!(ledger(dir.path()), None);
    let profile = open(dir.path(), &Counting::default()).unwrap();
    let (drawn, kept) = (proust_account::accounted::ledger(&profile).unwrap(), ledger(dir.path()).unwrap());
    assert_eq!((drawn.total_ns, drawn.accounts, &drawn.slots), (kept.total_ns, kept.accounts, &kept.slots));
    assert_eq!(drawn.locations, kept.locations);
    assert!(kept.is_without_rows());
    assert_eq!(ledger_with_rows(dir.path(), &profile), Some(drawn));
    fs::write(dir.path().join("log/9.plog"), one_log(30)).unwrap();
    assert_eq!(ledger(dir.path()), None);
}

#[test]
fn other_rules_for_waits_make_another_profile() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let symbols = Counting::default();
    let by = |rules: &WaitRules| open_by(dir.path(), Parts::All, &symbols, rules, &mut |_| {}).unwrap();
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
