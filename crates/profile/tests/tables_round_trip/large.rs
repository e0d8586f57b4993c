//! A file of rows that is not read at once.

use std::fs;
use std::os::unix::fs::FileExt;

use proust_profile::tables::{self, Kept, TablesError};
use proust_profile::{Context, ContextKind, Location, Process, Profile, SampleRow};

use super::provenance;

#[test]
fn very_many_rows_stay_in_their_file_and_are_missed_if_it_changes() {
    let program =
        Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
    // Numbers that no encoding makes small.
    let mixed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34;
    let sample = |n: u64| SampleRow {
        time_ns: 2_000_000_000 * n + mixed(n),
        cpu_ns: mixed(n + 1),
        user_ns: mixed(n + 2),
        system_ns: mixed(n + 3),
        ..SampleRow::default()
    };
    let profile = Profile {
        contexts: vec![program].into(),
        processes: vec![Process::default()].into(),
        locations: vec![Location::default()].into(),
        samples: (0..150_000).map(sample).collect(),
        ..Profile::default()
    };
    let run = tempfile::tempdir().unwrap();
    let dir = run.path().join(tables::PROFILE_FOLDER);
    tables::write(&dir, &profile, &provenance()).unwrap();
    let kept = Kept::open(&dir).unwrap();
    let path = kept.folder().join("samples.streams");
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(bytes > 1 << 20, "{bytes} bytes");
    let mut found = kept.profile_without_rows().unwrap();
    kept.rows(&found).unwrap().give_to(&mut found);
    assert!(found == profile && !found.lost_rows());
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut again = Profile::default();
    kept.rows(&profile).unwrap().give_to(&mut again);
    file.write_all_at(&[0; 100], bytes / 2).unwrap();
    assert!(again.samples.iter().count() < 150_000 && again.lost_rows());
    file.set_len(bytes / 2).unwrap();
    assert!(found.samples.iter().count() < 150_000 && found.lost_rows());
    assert!(matches!(kept.rows(&profile), Err(TablesError::Damaged { .. })));
}
