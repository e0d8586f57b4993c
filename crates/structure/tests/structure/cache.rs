use std::fs;
use std::path::{Path, PathBuf};

use proust_structure::{ModuleNote, ModuleRequest, Structurer};
use tempfile::TempDir;

use crate::build::{Program, addresses_of, build, build_id, symbols, tool};
use crate::c_programs::CHAIN;

struct Case {
    program: Program,
    cache: TempDir,
    request: ModuleRequest,
    addresses: Vec<u64>,
}

fn case() -> Option<Case> {
    let program = build("cc", &[("chain.c", CHAIN)], &["-g", "-O2", "-Wl,--build-id=sha1"])?;
    let addresses = addresses_of(symbols(&program.binary)["work"], 1);
    let request =
        ModuleRequest { path: program.binary.clone(), build_id: build_id(&program.binary), code_id: None };
    Some(Case { program, cache: TempDir::new().expect("a folder"), request, addresses })
}

impl Case {
    fn structurer(&self) -> Structurer {
        Structurer::new(Some(self.cache.path().to_owned()))
    }
}

fn only_file(folder: &Path) -> PathBuf {
    let version =
        fs::read_dir(folder).expect("a folder").next().expect("a version").expect("an entry").path();
    let mut files = fs::read_dir(version).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = files.next().expect("a file");
    assert_eq!(files.next(), None);
    file
}

#[test]
fn answers_do_not_depend_on_what_was_asked_before() {
    let Some(case) = case() else { return };
    let fresh = Structurer::new(None).resolve(&case.request, &case.addresses);
    let (some, others) = case.addresses.split_at(case.addresses.len() / 3);
    assert!(case.structurer().resolve(&case.request, others).addresses.len() == others.len());
    case.structurer().resolve(&case.request, some);
    assert_eq!(case.structurer().resolve(&case.request, &case.addresses), fresh);
    assert_eq!(case.structurer().resolve(&case.request, &case.addresses), fresh);
}

#[test]
fn the_cache_outlives_the_binary() {
    let Some(case) = case() else { return };
    let known = case.structurer().resolve(&case.request, &case.addresses);
    fs::remove_file(&case.program.binary).expect("a file");
    let later = case.structurer().resolve(&case.request, &[&case.addresses[..], &[0x10]].concat());
    assert!(case.addresses.iter().all(|a| {
        let names = |s: &proust_structure::ModuleStructure| {
            s.addresses[a].frames.iter().map(|f| s.function(f).clone()).collect::<Vec<_>>()
        };
        names(&later) == names(&known)
    }));
    assert_eq!(later.function(&later.addresses[&0x10].frames[0]).name, "program+0x10");
    assert!(matches!(later.notes[..], [ModuleNote::Unreadable { .. }, ModuleNote::FromCache { .. }]));
}

#[test]
fn a_damaged_cache_is_ignored_and_written_anew() {
    let Some(case) = case() else { return };
    let fresh = case.structurer().resolve(&case.request, &case.addresses);
    let file = only_file(case.cache.path());
    let good = fs::read(&file).expect("a file");
    let pointing_nowhere = String::from_utf8_lossy(&good).replace("\"function\":0", "\"function\":999");
    for bad in [&b""[..], b"{}", b"\0\0\0", &good[..good.len() / 2], pointing_nowhere.as_bytes()] {
        fs::write(&file, bad).expect("a file");
        assert_eq!(case.structurer().resolve(&case.request, &case.addresses), fresh);
        assert_eq!(fs::read(only_file(case.cache.path())).expect("a file"), good);
    }
}

#[test]
fn debug_information_that_appears_later_is_noticed() {
    let Some(case) = case() else { return };
    let binary = case.program.binary.to_str().expect("UTF-8");
    let unstripped = fs::read(binary).expect("a binary");
    if tool("strip", &[binary]).is_none() {
        return;
    }
    let before = case.structurer().resolve(&case.request, &case.addresses);
    assert!(before.functions[0].name.starts_with("program+0x"));
    fs::write(binary, unstripped).expect("a file");
    let after = case.structurer().resolve(&case.request, &case.addresses);
    assert_eq!(after.functions[0].name, "work");
}

#[test]
fn a_copy_under_another_name_has_its_own_offsets() {
    let Some(case) = case() else { return };
    case.structurer().resolve(&case.request, &[0x10]);
    let copy = case.program.folder.path().join("libother.so");
    fs::copy(&case.program.binary, &copy).expect("a copy");
    let structure = case.structurer().resolve(&ModuleRequest { path: copy, ..case.request.clone() }, &[0x10]);
    assert_eq!(structure.functions[0].name, "libother.so+0x10");
}

#[test]
fn a_cache_that_cannot_be_written_costs_nothing_but_a_note() {
    let Some(case) = case() else { return };
    let file = case.cache.path().join("file");
    fs::write(&file, "in the way").expect("a file");
    let structure = Structurer::new(Some(file)).resolve(&case.request, &case.addresses);
    assert_eq!(structure.functions[0].name, "work");
    assert!(matches!(structure.notes[..], [ModuleNote::CacheNotWritten { .. }]), "{:?}", structure.notes);
}

#[test]
fn writers_at_the_same_time_leave_a_good_file() {
    let Some(case) = case() else { return };
    let fresh = Structurer::new(None).resolve(&case.request, &case.addresses);
    std::thread::scope(|scope| {
        for part in case.addresses.chunks(5) {
            let case = &case;
            scope.spawn(move || case.structurer().resolve(&case.request, part));
        }
    });
    only_file(case.cache.path());
    assert_eq!(case.structurer().resolve(&case.request, &case.addresses), fresh);
}
