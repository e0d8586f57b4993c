//! What the collector stands in front of: its own list against the names that the library really exports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::command::run;
use crate::other_homes;
use crate::pages::Operations;
use crate::programs::built;
use crate::recording::record;

pub static COLLECTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libproust_collector.so"));

/// Fields of a line: name, family, how found, what is returned without one, result, arguments.
const FIELDS: usize = 6;

fn lines(library: &object::File) -> Vec<Vec<String>> {
    let section = library.section_by_name(".proust.hooks").expect("the library lists its hooks");
    let text = String::from_utf8(section.data().unwrap().to_vec()).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The names of all functions that the collector stands in front of.
pub fn declared() -> Vec<String> {
    let library = object::File::parse(COLLECTOR).unwrap();
    lines(&library).into_iter().map(|mut line| line.swap_remove(0)).collect()
}

fn is_asked_of_tools(name: &str) -> bool {
    matches!(name, "InitializeInjectionNvtx2" | "__itt_api_init") || name.starts_with("kokkosp_")
}

#[test]
fn every_exported_function_is_declared_once_and_nothing_else_is() {
    let library = object::File::parse(COLLECTOR).unwrap();
    let exported: BTreeSet<String> = library
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .map(|symbol| symbol.name().unwrap().to_owned())
        // What the stories ask, and what interfaces for tools ask a tool for: nothing stands behind these.
        .filter(|name| !name.starts_with("proust_") && !is_asked_of_tools(name))
        .collect();
    let mut declared: BTreeMap<String, usize> = BTreeMap::new();
    for name in self::declared() {
        *declared.entry(name).or_default() += 1;
    }
    let twice: Vec<_> = declared.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "declared more than once: {twice:?}");
    let declared: BTreeSet<String> = declared.into_keys().collect();
    assert!(exported.len() > 300, "{exported:?}");
    let hidden: Vec<_> = exported.difference(&declared).collect();
    assert!(hidden.is_empty(), "exported and not declared: {hidden:?}");
    // A program whose C library lacks these must not find them.
    let unexported: BTreeSet<String> = lines(&library)
        .into_iter()
        .filter(|line| line[2].starts_with("optional "))
        .map(|line| line[0].clone())
        .collect();
    let missing: BTreeSet<String> = declared.difference(&exported).cloned().collect();
    assert_eq!(missing, unexported, "declared and not exported, and those that only newer C libraries have");
}

/// The dynamic linker has little room for storage of threads in libraries that are loaded late, and keeps it
/// for every thread of the program.
#[test]
fn a_thread_gives_the_collector_no_more_than_a_line_of_its_own_storage() {
    const MOST_BYTES: u64 = 64;
    let header = object::elf::FileHeader64::<object::Endianness>::parse(COLLECTOR).unwrap();
    let endian = header.endian().unwrap();
    let segments = header.program_headers(endian, COLLECTOR).unwrap();
    let bytes = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == object::elf::PT_TLS)
        .map(|segment| segment.p_memsz(endian));
    let bytes: Vec<u64> = bytes.collect();
    assert!(matches!(bytes[..], [1..=MOST_BYTES]), "{bytes:?}");
}

#[test]
fn a_line_says_how_the_real_function_is_found_and_what_each_argument_is() {
    let library = object::File::parse(COLLECTOR).unwrap();
    let lines = lines(&library);
    for line in &lines {
        assert_eq!(line.len(), FIELDS, "{line:?}");
        let found: Vec<&str> = line[2].split(' ').collect();
        assert!(matches!(found[..], ["next"] | ["caller"] | ["optional" | "caller", _]), "{line:?}");
        for argument in line[5].split(';').filter(|argument| !argument.is_empty()) {
            let (name, rest) = argument.split_once(": ").expect("a name and a type");
            let (kind, grammar) = rest.split_once(" as ").expect("a type and a grammar");
            assert!(!name.is_empty() && !kind.is_empty() && !grammar.is_empty(), "{line:?}");
        }
    }
    let line = |name: &str| lines.iter().find(|line| line[0] == name).unwrap()[1..].join(" | ");
    assert_eq!(
        line("read"),
        "proust_collector::hooks::io::descriptors | next | -1 | ssize_t | \
         file: c_int as fd;to: *mut c_void as bytes_out(size);size: size_t as number(size);"
    );
    assert!(line("sem_clockwait").contains("| optional GLIBC_2.30 | -1 |"), "{}", line("sem_clockwait"));
}

/// Whether a program finds a name in one of the ways of `newer_names`, by its line.
fn finds(printed: &str, name: &str, way: &str) -> bool {
    let line = printed.lines().find(|line| line.split(' ').next() == Some(name)).expect(name);
    line.contains(&format!(" {way}:1"))
}

/// Records `newer_names`: it prints what it printed alone, and each of its waits is in the report.
fn assert_as_alone(program: &Path, arguments: &[&str], bare: &str) {
    let recorded = record(program, arguments).succeeded();
    assert_eq!(recorded.ended.printed(), bare, "{arguments:?}");
    let page = recorded.page::<Operations>("waits", &[]);
    let calls: Vec<_> =
        bare.lines().filter_map(|line| line.strip_prefix("calls ")?.split_once(' ')).collect();
    assert_eq!(calls.len(), 3, "{bare}");
    for (name, calls) in calls {
        assert_eq!(page.of(name).0.to_string(), calls, "{name}, {arguments:?}");
    }
}

/// Every way by which a program finds a name that not every program has, or does not find it, is as without
/// Proust, and what it finds is measured: calls of three of these functions, by each way.
#[test]
fn names_are_there_or_not_as_without_proust() {
    for binding in ["lazy", "now"] {
        let Some(program) = built(&format!("newer_names-{binding}")) else { return };
        let bare = run(&mut Command::new(&program)).printed();
        assert!(
            finds(&bare, "pthread_mutex_lock", "library") && finds(&bare, "getentropy", "next"),
            "{bare}"
        );
        assert!(!finds(&bare, "GOMP_parallel", "default") && !finds(&bare, "omp_set_lock", "weak"), "{bare}");
        assert_as_alone(&program, &[], &bare);
    }
}

/// As above, where the C library is older, and lacks some of the names, and where it is newer.
#[test]
fn names_of_other_c_libraries_are_there_or_not_as_without_proust() {
    for root in other_homes::roots() {
        let root = root.canonicalize().unwrap();
        let name = root.file_name().unwrap().to_str().unwrap();
        let Some(program) = built(&format!("in-{name}/newer_names")) else { return };
        let libraries = root.join("lib/x86_64-linux-gnu");
        let linker = libraries.join("ld-linux-x86-64.so.2").canonicalize().unwrap();
        let arguments = ["--library-path", libraries.to_str().unwrap(), program.to_str().unwrap()];
        let bare = run(Command::new(&linker).args(arguments)).printed();
        if name == "bullseye" {
            assert!(!finds(&bare, "execveat", "weak") && finds(&bare, "sem_clockwait", "library"), "{bare}");
        }
        assert_as_alone(&linker, &arguments, &bare);
    }
}

/// A library that stands in front of such a function itself is called as often as without Proust, and what it
/// calls is measured.
#[test]
fn a_library_that_wraps_a_function_is_called_as_without_proust() {
    let (Some(program), Some(wrapper)) = (built("newer_names-lazy"), built("libnewer_wrapper.so")) else {
        return;
    };
    let preload = format!("LD_PRELOAD={}", wrapper.display());
    let arguments = [preload.as_str(), program.to_str().unwrap()];
    let bare = run(Command::new("env").args(arguments)).printed();
    let wrapped =
        bare.lines().find_map(|line| line.strip_prefix("sem_clockwait was wrapped in ")).expect(&bare);
    assert!(!wrapped.starts_with("0 "), "{bare}");
    assert_as_alone(Path::new("env"), &arguments, &bare);
}
