use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use proust_structure::{Difference, FileIdentity, ModuleNote, ModuleRequest, Structurer};

use crate::build::{Program, build, build_id, chain, symbols};
use crate::c_programs::CHAIN;

fn program() -> Option<Program> {
    build("cc", &[("chain.c", CHAIN)], &["-g", "-O2", "-Wl,--build-id=sha1"])
}

fn identity(path: &Path) -> FileIdentity {
    let metadata = fs::metadata(path).expect("metadata");
    let modified_ns = metadata.mtime() as u64 * 1_000_000_000 + metadata.mtime_nsec() as u64;
    FileIdentity { size_bytes: Some(metadata.len()), modified_ns: Some(modified_ns) }
}

#[test]
fn another_build_is_never_used() {
    let Some(program) = program() else { return };
    let address = symbols(&program.binary)["work"].0;
    let resolve = |build_id, code_id| {
        let request = ModuleRequest { path: program.binary.clone(), build_id, code_id };
        Structurer::new(None).resolve(&request, &[address])
    };
    let refused = [
        resolve(Some(vec![1; 20]), Some(identity(&program.binary))),
        resolve(None, Some(FileIdentity { size_bytes: Some(1), modified_ns: None })),
        resolve(None, Some(FileIdentity { size_bytes: None, modified_ns: Some(1) })),
    ];
    for structure in refused {
        assert_eq!(chain(&structure, address)[0].0, format!("program+{address:#x}"));
        assert!(matches!(structure.notes[..], [ModuleNote::Replaced { .. }]), "{:?}", structure.notes);
    }
    // The build-id decides where it is known: a copy has another time and is still the same build.
    let accepted = [
        resolve(build_id(&program.binary), Some(FileIdentity { size_bytes: Some(1), modified_ns: Some(1) })),
        resolve(None, Some(identity(&program.binary))),
    ];
    for structure in accepted {
        assert_eq!(chain(&structure, address)[0].0, "work");
        assert_eq!(structure.notes, []);
    }
    assert!(matches!(resolve(None, None).notes[..], [ModuleNote::Unverified { .. }]));
}

#[test]
fn a_build_without_build_id_is_not_the_one_with() {
    let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-Wl,--build-id=none"]) else { return };
    let request = ModuleRequest { path: program.binary, build_id: Some(vec![7; 20]), code_id: None };
    let structure = Structurer::new(None).resolve(&request, &[0x1000]);
    let [ModuleNote::Replaced { difference: Difference::BuildId { found: None, .. }, .. }] =
        &structure.notes[..]
    else {
        panic!("{:?}", structure.notes)
    };
}

#[test]
fn what_is_no_64_bit_elf_file_is_said_to_be_so() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let script = folder.path().join("script.sh");
    fs::write(&script, "#!/bin/sh\n").expect("a file");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("a file");
    let short = folder.path().join("short");
    fs::write(&short, b"\x7fELF\x02\x01\x01").expect("a file");
    let narrow = folder.path().join("narrow");
    let mut elf32 = b"\x7fELF\x01\x01\x01".to_vec();
    elf32.resize(128, 0);
    fs::write(&narrow, elf32).expect("a file");
    for (path, words, name) in [
        (script, "NotElf", "script.sh+0x10"),
        (empty, "NotElf", "empty+0x10"),
        (short, "Damaged", "short+0x10"),
        (narrow, "NotSixtyFourBit", "narrow+0x10"),
        (folder.path().join("absent.so"), "Unreadable", "absent.so+0x10"),
        (folder.path().join("absent.so (deleted)"), "Unreadable", "absent.so+0x10"),
        (folder.path().to_owned(), "not a regular file", ""),
        ("[vdso]".into(), "NoFile", "[vdso]+0x10"),
        ("[anon:jit]".into(), "NoFile", "[anon:jit]+0x10"),
        ("".into(), "NoFile", "+0x10"),
    ] {
        let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&path), &[0x10, 0x10, 0x20]);
        assert_eq!(structure.addresses.len(), 2);
        assert!(format!("{:?}", structure.notes[0]).contains(words), "{:?}", structure.notes[0]);
        assert!(chain(&structure, 0x10)[0].0.ends_with(name), "{path:?}");
    }
}

#[test]
fn a_truncated_binary_is_noted() {
    let Some(program) = program() else { return };
    let bytes = fs::read(&program.binary).expect("a binary");
    fs::write(&program.binary, &bytes[..bytes.len() / 2]).expect("a file");
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&program.binary), &[0x1139]);
    assert!(matches!(structure.notes[0], ModuleNote::Damaged { .. }), "{:?}", structure.notes[0]);
}
