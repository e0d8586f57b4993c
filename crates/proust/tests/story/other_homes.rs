//! Programs of other homes: older and newer C libraries, another one than GNU's, roots in which the run's
//! folder is not to be seen. They run as they do bare; what cannot be recorded is said.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Object, ObjectSymbol};
use serde_json::Value;

use crate::command::run;
use crate::programs::{built, has};
use crate::recording::{Recorded, list, number, record, truth_in};

/// The newest C library that every supported system has.
const OLDEST_LIBRARY: (u32, u32) = (2, 17);

/// The file that is preloaded.
fn collector(run: &Recorded) -> Vec<u8> {
    std::fs::read(run.dir.join("libproust_collector.so")).expect("it lies in the run's folder")
}

/// `GLIBC_2.17` as two numbers.
fn version(name: &str) -> Option<(u32, u32)> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[test]
fn the_library_asks_for_nothing_that_an_old_c_library_lacks() {
    let run = record("true", &[] as &[&str]).succeeded();
    let bytes = collector(&run);
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let endian = file.endian();
    let sections = file.elf_header().sections(endian, &*bytes).unwrap();
    let versions = sections.versions(endian, &*bytes).unwrap().expect("it has versions");
    let mut imports = 0;
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_undefined() && symbol.index().0 != 0) {
        let name = symbol.name().unwrap();
        let index = versions.version_index(endian, symbol.index());
        let Some(asked) = versions.version(index.into()).unwrap() else {
            // Nobody has to define it.
            assert!(symbol.is_weak(), "{name} is asked for in no version");
            continue;
        };
        imports += 1;
        let asked = String::from_utf8_lossy(asked.name()).into_owned();
        match version(&asked) {
            Some(version) => assert!(version <= OLDEST_LIBRARY, "{name} is asked for in version {asked}"),
            None => assert!(symbol.is_weak() && asked == "GLIBC_PRIVATE", "{name}: {asked}"),
        }
    }
    assert!(imports > 10, "{imports} imports: the file was not read");
    let needed = needed(&bytes);
    assert!(
        needed.iter().all(|name| ["libc.so.6", "ld-linux-x86-64.so.2"].contains(&name.as_str())),
        "{needed:?}"
    );
}

/// The libraries that it names.
fn needed(bytes: &[u8]) -> Vec<String> {
    use object::elf;
    use object::read::StringTable;
    use object::read::elf::{Dyn as _, ProgramHeader as _, SectionHeader as _};
    let file = ElfFile64::<object::Endianness>::parse(bytes).unwrap();
    let endian = file.endian();
    let sections = file.elf_header().sections(endian, bytes).unwrap();
    let (_, names) = sections.section_by_name(endian, b".dynstr").expect("it has names");
    let names: StringTable<'_, &[u8]> = {
        let (at, size) = names.file_range(endian).unwrap();
        StringTable::new(bytes, at, at + size)
    };
    let segments = file.elf_header().program_headers(endian, bytes).unwrap();
    let entries = segments.iter().find_map(|segment| segment.dynamic(endian, bytes).unwrap()).unwrap();
    let needed = entries.iter().filter(|entry| entry.d_tag(endian) == elf::DT_NEEDED);
    needed.map(|entry| String::from_utf8_lossy(entry.string(endian, names).unwrap()).into_owned()).collect()
}

/// What the report says of the quality of a run: its notes, and how many samples it has.
fn quality(run: &Recorded) -> (String, f64) {
    let page = run.page::<Value>("summary", &[]);
    let notes = list(&page, "/quality/notes").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    (notes, number(&page, "/quality/samples"))
}

/// Runs a shell's command bare and recorded: what it prints on both streams and its exit code are the same.
fn same(script: &str, environment: &[(&str, &str)]) -> Recorded {
    let bare = run(Command::new("sh").args(["-c", script]).envs(environment.iter().copied()));
    let recorded = record("sh", &["-c", script]);
    assert_eq!(recorded.ended.printed(), bare.printed());
    assert_eq!(recorded.ended.status.code(), bare.status.code());
    let said: String = recorded.ended.said().lines().filter(|line| !line.starts_with("proust: ")).collect();
    assert_eq!(said, bare.said().lines().collect::<String>());
    recorded
}

#[test]
fn a_program_of_another_c_library_runs_as_it_does_bare() {
    let Some(program) = built("homes-musl") else { return };
    let program = program.display();
    for script in [
        format!("{program} 0.05; echo $?"),
        format!("exec {program} 0.05"),
        format!(
            "cd {} && PATH=. && homes-musl 0.05",
            built("homes-musl").unwrap().parent().unwrap().display()
        ),
    ] {
        let run = same(&script, &[]);
        let (notes, _) = quality(&run);
        assert!(notes.contains("another C library"), "{script}: {notes}");
    }
}

/// The roots that `tests/roots` made.
pub fn roots() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/roots");
    let mut roots: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    roots.sort();
    if roots.is_empty() {
        println!("SKIP: there are no roots with other C libraries: tests/roots makes them from packages");
    }
    roots
}

/// Work in a shell that calls no other program.
const COUNT: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i";

#[test]
fn older_and_newer_c_libraries_are_recorded() {
    for root in roots() {
        let root = root.canonicalize().unwrap();
        let libraries = root.join("lib/x86_64-linux-gnu");
        // By the file itself: links in a root may lead to where it is mounted.
        let is_linker = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name.starts_with("ld-2") || name.starts_with("ld-linux")) && path.is_file()
        };
        let mut files = std::fs::read_dir(&libraries).unwrap().map(|entry| entry.unwrap().path());
        let linker = files.find(is_linker).expect("a root has a dynamic linker");
        let arguments = [
            "--library-path",
            libraries.to_str().unwrap(),
            root.join("bin/busybox").to_str().unwrap(),
            "sh",
            "-c",
            COUNT,
        ]
        .map(str::to_owned);
        let recorded = record(&linker, &arguments).succeeded();
        assert_eq!(recorded.ended.printed(), "200000\n", "{}: {}", root.display(), recorded.ended.said());
        let (notes, samples) = quality(&recorded);
        assert!(samples > 0.0, "{}: {notes}", root.display());
        assert_eq!(recorded.threads().locations.len(), 1);
    }
}

#[test]
fn a_root_without_the_runs_folder_is_left_alone() {
    // SAFETY: returns a number.
    if unsafe { libc::geteuid() } != 0 || !has("chroot") {
        println!("SKIP: only root may change its root");
        return;
    }
    for root in roots() {
        let root = root.canonicalize().unwrap();
        let run = same(&format!("chroot {} /bin/busybox echo in its own root", root.display()), &[]);
        assert!(run.ended.printed().contains("in its own root"), "{}", run.ended.said());
        let (notes, _) = quality(&run);
        assert!(notes.contains("does not have the collector's file"), "{notes}");
    }
}

#[test]
fn the_usual_home_is_recorded() {
    let Some(program) = built("homes") else { return };
    let run = record(&program, &["0.2"]);
    assert_eq!(run.ended.status.code(), Some(7));
    assert_eq!(truth_in(&run.ended)["worked"], true);
    assert!(quality(&run).1 > 0.0);
}
