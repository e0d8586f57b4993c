//! What all targets assert of a log, whatever it holds.

use proust_account::accounted;
use proust_ingest::{Counter, LogBytes, ingest_logs};
use proust_profile::{Metric, Profile};
use proust_structure::{Function, ModuleRequest, ModuleStructure, ResolvedAddress, SourceFrame};

/// Analyses a log. An error is fine, a contradiction is not.
pub fn check(bytes: &[u8]) {
    let logs = [LogBytes::alone("log/1.plog", Ok(bytes))];
    if let Ok(profile) = ingest_logs("run", &logs, None, &names, &Counter::default()) {
        check_profile(&profile);
    }
}

/// One function for all addresses, with a line for half of them.
fn names(_: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
    let function = Function {
        name: "f".into(),
        full_name: "f".into(),
        linkage_name: None,
        file: None,
        line: None,
        address: 0,
        size_bytes: 0,
    };
    let resolved = |&address: &u64| {
        let line = (address % 2 == 0).then_some((address % 97) as u32);
        (
            address,
            ResolvedAddress {
                address,
                frames: vec![SourceFrame { function: 0, file: None, line, inlined: false }],
                calls: None,
                waits: false,
                is_atomic: false,
            },
        )
    };
    ModuleStructure {
        functions: vec![function],
        addresses: addresses.iter().map(resolved).collect(),
        notes: vec![],
    }
}

fn check_profile(profile: &Profile) {
    if let Err(broken) = profile.check() {
        panic!("{broken}");
    }
    let of_values = |metric: Metric| -> u64 {
        profile
            .values
            .iter()
            .filter(|value| value.metric == metric)
            .map(|value| value.amount)
            .fold(0, u64::saturating_add)
    };
    let cpu = of_values(Metric::Cpu);
    let of_locations: u64 =
        profile.locations.iter().map(|location| location.cpu.unsigned()).fold(0, u64::saturating_add);
    // Beyond the range of times each stays at an end of its own.
    assert!(cpu == of_locations || cpu >= i64::MAX as u64, "{cpu} and {of_locations}");
    assert_eq!(of_values(Metric::Samples), profile.quality.samples);
    let calls: u64 = profile.events.iter().map(|event| u64::from(event.calls)).sum();
    assert_eq!(of_values(Metric::Waits) + of_values(Metric::IoCalls), calls);
    if let Ok(ledger) = accounted::ledger(profile) {
        assert!(ledger.residual_ns() == 0, "{}", ledger.residual_ns());
    }
    assert!(profile.quality.cpu_residual.is_finite());
}
