//! Functions that ended in a jump to another one: no frame of them is left, but calls name them.

use crate::synthetic::{self, LaneBuilder, amounts, assert_consistent, expected, header, log};
use proust_ingest::{Counter, LogBytes, ingest_logs};
use proust_log::operations::Operation;
use proust_profile::Metric;
use proust_structure::{ModuleRequest, ModuleStructure};

const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
const PROGRAM: &str = "/home/me/program";

/// In function 5 of the program calls end at lines 7 and 8 that name its functions 6 and 9.
fn symbols(module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
    let with_those = [addresses, &[0x600, 0x900]].concat();
    let mut structure = synthetic::names(module, &with_those);
    for (address, name) in [(0x507, "f6"), (0x508, "f9")] {
        let number = structure.functions.iter().position(|function| function.name == name);
        if let Some(resolved) = structure.addresses.get_mut(&address) {
            resolved.calls = number.map(|number| number as u32);
        }
    }
    structure
}

#[test]
fn a_function_that_the_call_above_names_is_on_the_path_though_it_left_no_frame() {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, LIBC, 7, 0x40_0000).module(2, PROGRAM, 8, 0x50_0000).begin(10, 1000, 0);
    lane.node(1, 0, 2, 0x507).node(2, 1, 1, 0x301).node(3, 1, 2, 0x602).node(4, 1, 2, 0x701);
    lane.node(5, 0, 2, 0x508).node(6, 0, 2, 0x50a).node(7, 6, 1, 0x301);
    // In a library's function and in one of the program's to which function 6 jumped; in function 6 itself;
    // below a call that names none.
    lane.sample(1010, 1, 2).sample(1020, 3, 4).sample(1030, 7, 3).sample(1040, 15, 7);
    // A recorded call, of which function 9 was the caller.
    lane.event(Operation::Synchronise, (1041, 1045), 0, 5);
    lane.end(10, 1050, 15);
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/0.plog", Ok(&bytes))];
    let profile = ingest_logs("run", &logs, None, &symbols, &Counter::default()).expect("a profile");
    assert_consistent(&profile);
    let at = |line: u32| format!("@{PROGRAM}.c:{line}");
    let found = amounts(&profile, Metric::Cpu);
    assert_eq!(
        found,
        expected([
            (&format!("f5>f6{}>f3>:1", at(7)), 10, 1.0),
            (&format!("f5>f6{}>f7>:1", at(7)), 10, 2.0),
            (&format!("f5>f6{}>:2", at(7)), 10, 4.0),
            (&format!("f5>f3{}>:1", at(10)), 10, 8.0),
        ])
    );
    let calls = amounts(&profile, Metric::IoCalls);
    assert_eq!(calls, expected([(&format!("f5>f9{}", at(8)), 10, 1.0)]));
}
