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
    // Line 8 declares it; where debug information has lines only (release), its first code is line 9.
    assert!(matches!(structure.functions[0].line, Some(8 | 9)), "{:?}", structure.functions[0]);
    assert!(
        structure.functions[0]
            .file
            .as_deref()
            .is_some_and(|f| f.ends_with("tests/structure/own_executable.rs"))
    );
    let inlined =
        addresses.iter().map(|&a| chain(&structure, a)).find(|c| c.len() > 1).expect("an inlined call");
    assert_eq!(inlined[0].2, 9);
    // Debug information with lines only (release) does not say in which module an inlined function is.
    assert!("structure::own_executable::inlined_sum".ends_with(&inlined[1].0), "{inlined:?}");
    assert!(inlined[1].0.ends_with("inlined_sum"), "{inlined:?}");
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
