//! What the collector stands in front of: its own list against the names that the library really exports.

use std::collections::{BTreeMap, BTreeSet};

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::command::{proust, run};
use crate::programs::built;
use crate::recording::empty_folder;

static COLLECTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libproust_collector.so"));

/// Fields of a line: name, family, how found, what is returned without one, result, arguments.
const FIELDS: usize = 6;

fn lines(library: &object::File) -> Vec<Vec<String>> {
    let section = library.section_by_name(".proust.hooks").expect("the library lists its hooks");
    let text = String::from_utf8(section.data().unwrap().to_vec()).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn every_exported_function_is_declared_once_and_nothing_else_is() {
    let library = object::File::parse(COLLECTOR).unwrap();
    let exported: BTreeSet<String> = library
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .map(|symbol| symbol.name().unwrap().to_owned())
        // What the stories ask.
        .filter(|name| !name.starts_with("proust_"))
        .collect();
    let mut declared: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(&library) {
        *declared.entry(line[0].clone()).or_default() += 1;
    }
    let twice: Vec<_> = declared.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "declared more than once: {twice:?}");
    let declared: BTreeSet<String> = declared.into_keys().collect();
    assert!(exported.len() > 300, "{exported:?}");
    let hidden: Vec<_> = exported.difference(&declared).collect();
    assert!(hidden.is_empty(), "exported and not declared: {hidden:?}");
    let missing: Vec<_> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "declared and not exported: {missing:?}");
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

/// What a program sees of names that its C library lacks: nothing by a weak reference or in the library itself,
/// as without Proust; what it has is there by every way.
#[test]
fn a_weak_reference_to_a_name_that_the_c_library_lacks_finds_nothing() {
    let Some(program) = built("newer_names") else { return };
    let dir = empty_folder();
    let bare = run(&mut std::process::Command::new(&program)).printed();
    let recorded =
        run(proust().args(["record", "-o"]).arg(dir.path().join("run")).arg("--").arg(&program)).printed();
    let seen = |text: &str| -> BTreeMap<String, BTreeMap<String, bool>> {
        let ways = |words: &str| {
            words
                .split(' ')
                .map(|word| word.split_once(':').expect("a way and whether it finds the name"))
                .map(|(way, found)| (way.to_owned(), found == "1"))
                .collect()
        };
        let lines = text.lines().map(|line| line.split_once(' ').expect("a name and how it is found"));
        lines.map(|(name, words)| (name.to_owned(), ways(words))).collect()
    };
    let (bare, recorded) = (seen(&bare), seen(&recorded));
    assert!(bare.len() > 10 && bare.keys().eq(recorded.keys()), "{bare:#?}");
    let mut lacking = 0;
    for (name, ways) in &bare {
        lacking += usize::from(!ways["handle"]);
        for (way, found) in ways {
            // `dlsym` finds what stands before the C library: the user guide says so.
            if *found || matches!(way.as_str(), "weak" | "handle") {
                assert_eq!(recorded[name][way], *found, "{name}, {way}");
            }
        }
    }
    if lacking == 0 {
        println!("SKIP: the C library of this machine has all names");
    }
}
