//! Efficiencies of ranks with threads: a program with a known loss on each level times itself, and its
//! efficiencies are computed from that here, once more.

use serde_json::Value;

use crate::chance::assert_close;
use crate::mpi::Mpi;
use crate::recording::{list, number, report};

/// Both clocks are read at the same places but for the calls between them,
const NEAR: f64 = 0.02;
/// where a rank may lose its processor for so long, s.
const SLICE_S: f64 = 0.025;
/// A rank that loses it so often does once at such a place.
const OFTEN: f64 = 20.0;

/// The variants of the page, and the program's own numbers by rank.
fn recorded(mpi: Mpi, case: &str) -> Option<(Value, Vec<Value>)> {
    let run = mpi.record("hybrid", &["0.6", case])?.succeeded();
    let page: Value = run.page("mpi", &[]);
    let hybrid = page["efficiency"]["hybrid"].clone();
    assert!(hybrid.is_object(), "{}", page["efficiency"]);
    let text = report::<&str>(&run.dir, "mpi", &[]).printed();
    assert!(text.contains("Ranks and their threads"), "{text}");
    let ranks = run.ended.printed();
    let ranks: Vec<Value> = ranks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ranks.len(), 2, "{}", run.ended.printed());
    Some((hybrid, ranks))
}

fn of(hybrid: &Value, variant: &str, factor: &str) -> f64 {
    let found = list(hybrid, "/variants").iter().find(|one| one["variant"] == variant);
    found.and_then(|one| one[factor].as_f64()).unwrap_or_else(|| panic!("{variant} {factor}: {hybrid:#}"))
}

/// Sums over ranks of the program's own numbers.
fn sum(ranks: &[Value], of: impl Fn(&Value) -> f64) -> f64 {
    ranks.iter().map(of).sum()
}

fn most(ranks: &[Value], of: impl Fn(&Value) -> f64) -> f64 {
    ranks.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
}

fn work(rank: &Value, thread: usize) -> f64 {
    number(rank, &format!("/work_s/{thread}"))
}

fn are_those_of_the_program(mpi: Mpi, case: &str) -> Option<Value> {
    let (hybrid, truth) = recorded(mpi, case)?;
    let time = most(&truth, |rank| number(rank, "/until_s")) + most(&truth, |rank| -number(rank, "/from_s"));
    let outside = |rank: &Value| number(rank, "/outside_s");
    let serial = |rank: &Value| outside(rank) - number(rank, "/regions_s");
    let both = |rank: &Value| work(rank, 0) + work(rank, 1);
    let useful = sum(&truth, |rank| serial(rank) + both(rank)) / 4.0;
    let most_useful = most(&truth, |rank| f64::max(serial(rank) + work(rank, 0), work(rank, 1)));
    let (mean, longest) = (sum(&truth, outside) / 2.0, most(&truth, outside));
    let (regions, alone) = (sum(&truth, |rank| number(rank, "/regions_s")) / 2.0, sum(&truth, serial) / 2.0);
    let worked = sum(&truth, both) / 4.0;
    let expected = [
        ("additive", "parallel_efficiency", useful / time),
        ("additive", "mpi_efficiency", mean / time),
        ("additive", "mpi_load_balance", 1.0 - (longest - mean) / time),
        ("additive", "openmp_region_efficiency", 1.0 - (regions - worked) / time),
        ("additive", "openmp_serial_efficiency", 1.0 - alone / 2.0 / time),
        ("multiplicative", "mpi_load_balance", mean / longest),
        ("multiplicative", "mpi_communication_efficiency", longest / time),
        ("multiplicative", "openmp_efficiency", useful / mean),
        ("multiplicative", "openmp_region_efficiency", (worked + alone) / mean),
        ("multiplicative", "openmp_serial_efficiency", useful / (worked + alone)),
        ("bsc", "load_balance", useful / most_useful),
        ("bsc", "communication_efficiency", most_useful / time),
        ("bsc", "openmp_load_balance", useful / most_useful / (mean / longest)),
        ("talp", "parallel_efficiency", useful / time),
        ("talp", "openmp_efficiency", (useful + (time - mean) / 2.0) / time),
    ];
    let is_busy = most(&truth, |rank| number(rank, "/preemptions")) >= OFTEN;
    let near = NEAR + if is_busy { SLICE_S / time } else { 0.0 };
    for (variant, factor, expected) in expected {
        assert_close(&format!("{case} {variant} {factor}"), of(&hybrid, variant, factor), expected, near);
    }
    Some(hybrid)
}

/// The loss is on the level on which it was made.
fn losses_are_on_their_level(mpi: Mpi) {
    let factor = |hybrid: &Value, name: &str| of(hybrid, "multiplicative", name);
    let names = ["mpi_load_balance", "openmp_region_efficiency", "openmp_serial_efficiency"];
    for (case, lost) in [("balanced", 3), ("ranks", 0), ("threads", 1), ("serial", 2)] {
        let Some(hybrid) = are_those_of_the_program(mpi, case) else { return };
        let found = names.map(|name| factor(&hybrid, name));
        for (at, found) in found.into_iter().enumerate() {
            // Sleeps end late on a busy machine, and not equally late.
            assert!(if at == lost { found < 0.85 } else { found > 0.75 }, "{case}: {} {found}", names[at]);
        }
    }
    let Some(hybrid) = are_those_of_the_program(mpi, "chain") else { return };
    let serialisation = factor(&hybrid, "mpi_serialisation_efficiency");
    assert!((0.4..0.65).contains(&serialisation), "{hybrid:#}");
    let product = serialisation * factor(&hybrid, "mpi_transfer_efficiency");
    assert_close("communication", product, factor(&hybrid, "mpi_communication_efficiency"), 1e-9);
    are_those_of_the_program(mpi, "all");
}

#[test]
fn of_open_mpi_are_those_of_the_program() {
    losses_are_on_their_level(Mpi::Open);
}

#[test]
fn of_mpich_are_those_of_the_program() {
    losses_are_on_their_level(Mpi::Mpich);
}
