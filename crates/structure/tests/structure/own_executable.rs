use std::collections::{HashMap, HashSet};
use std::env;

use proust_structure::{ModuleRequest, Structurer};

use crate::build::{addresses_of, chain, symbols};

#[inline(never)]
fn outer_of_two(values: &[u64]) -> u64 {
    inlined_sum(values) + 1
}

#[inline(always)]
fn inlined_sum(values: &[u64]) -> u64 {
    let mut sum = std::hint::black_box(0);
    for value in values {
        sum += std::hint::black_box(*value);
    }
    sum
}

#[test]
fn rust_functions_have_names_without_hashes_and_their_inlined_calls() {
    assert_eq!(outer_of_two(&[1, 2]), 4);
    let path = env::current_exe().expect("an executable");
    let symbols = symbols(&path);
    let mine = |name: &&String| name.contains("own_executable") && name.contains("outer_of_two");
    let symbol = symbols.keys().find(mine).expect("the function's symbol");
    let addresses = addresses_of(symbols[symbol], 1);
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&path), &addresses);
    assert_eq!(structure.functions[0].name, "structure::own_executable::outer_of_two");
    // Line 9 declares it; where debug information has lines only (release), its first code is line 10.
    assert!(matches!(structure.functions[0].line, Some(9 | 10)), "{:?}", structure.functions[0]);
    assert!(
        structure.functions[0]
            .file
            .as_deref()
            .is_some_and(|f| f.ends_with("tests/structure/own_executable.rs"))
    );
    let inlined =
        addresses.iter().map(|&a| chain(&structure, a)).find(|c| c.len() > 1).expect("an inlined call");
    assert_eq!(inlined[0].2, 10);
    // Debug information with lines only (release) does not say in which module an inlined function is.
    assert!("structure::own_executable::inlined_sum".ends_with(&inlined[1].0), "{inlined:?}");
    assert!(inlined[1].0.ends_with("inlined_sum"), "{inlined:?}");
    // But which file executes is known, and is that of the function.
    let inlined = structure.functions.iter().find(|one| one.name.ends_with("inlined_sum"));
    let file = inlined.and_then(|one| one.file.as_deref());
    assert!(file.is_some_and(|f| f.ends_with("tests/structure/own_executable.rs")), "{file:?}");
}

#[test]
fn closures_of_equal_names_in_several_files_are_several_functions() {
    let path = env::current_exe().expect("an executable");
    let starts: Vec<u64> = symbols(&path).values().flat_map(|s| addresses_of(*s, 16)).take(40_000).collect();
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&path), &starts);
    let inlined = structure.addresses.values().flat_map(|one| &one.frames).filter(|frame| frame.inlined);
    let mut files: HashMap<&str, HashSet<&str>> = HashMap::new();
    for frame in inlined {
        let function = structure.function(frame);
        // Without a declared line the file is that of the code.
        if function.line.is_none() {
            assert_eq!(function.file, frame.file, "{function:?}");
        }
        files.entry(&function.full_name).or_default().extend(function.file.as_deref());
    }
    let several = files.values().filter(|files| files.len() > 1).count();
    assert!(several > 0, "the test needs inlined functions of equal names in several files");
}

#[test]
fn every_function_of_a_large_rust_executable_resolves() {
    let path = env::current_exe().expect("an executable");
    let starts: Vec<u64> =
        symbols(&path).values().filter(|s| s.1 > 0).map(|s| s.0 + s.1 / 2).take(400).collect();
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&path), &starts);
    for (address, resolved) in &structure.addresses {
        assert_eq!(*address, resolved.address);
        let (physical, inlined) = resolved.frames.split_first().expect("a frame");
        assert!(!physical.inlined && inlined.iter().all(|frame| frame.inlined));
        for frame in &resolved.frames {
            let name = &structure.function(frame).name;
            assert!(!name.is_empty() && !name.contains("17h"), "{name}");
        }
    }
}
