//! A range of time: two halves add up to the whole, on every page.

use std::collections::HashMap;

use crate::chance::assert_close;
use crate::pages::{Flat, Summary, Threads, Tree};
use crate::programs::built;
use crate::recording::{Recorded, record};

/// The halves of a run, as conditions. Where it is cut is no round number.
fn halves(run: &Recorded) -> [String; 2] {
    let cut = run.summary().run.wall_s * 0.47;
    [format!("time=..{cut:.6}s"), format!("time={cut:.6}s..")]
}

/// Amounts by name.
type Amounts = HashMap<String, f64>;

fn add(to: &mut Amounts, name: String, amount: f64) {
    *to.entry(name).or_default() += amount;
}

fn of_summary(page: &Summary) -> Amounts {
    let mut amounts: Amounts = HashMap::new();
    for account in &page.ledger.accounts {
        add(&mut amounts, account.id.clone(), account.seconds);
    }
    add(&mut amounts, "total".into(), page.ledger.total_s);
    add(&mut amounts, "lost".into(), page.ledger.lost_s);
    amounts
}

fn of_threads(page: &Threads) -> Amounts {
    let mut amounts = HashMap::new();
    for location in &page.locations {
        let of = |what: &str| format!("{what} of {} {}", location.process, location.thread);
        for (id, seconds) in location.accounts.iter().chain(&location.passive) {
            add(&mut amounts, of(id), *seconds);
        }
        add(&mut amounts, of("wall"), location.wall_s);
        add(&mut amounts, of("cpu"), location.cpu_s);
    }
    amounts
}

/// Causes are found from what is seen in the range: of a wait that is cut another one may be told, but no
/// second gets lost.
fn is_caused(metric: &str) -> bool {
    metric.starts_with("caused")
}

fn of_flat(page: &Flat) -> Amounts {
    let mut amounts = HashMap::new();
    for row in &page.functions {
        for (metric, amount) in &row.metrics {
            if is_caused(metric) {
                add(&mut amounts, format!("{metric} in all"), amount.exclusive);
                continue;
            }
            let of = |which: &str| format!("{metric} {which} of {} {:?}", row.function, row.module);
            add(&mut amounts, of("inclusive"), amount.inclusive);
            add(&mut amounts, of("exclusive"), amount.exclusive);
        }
    }
    amounts
}

/// A context by the names of those above it.
fn of_tree(page: &Tree) -> Amounts {
    let ancestors = page.ancestors();
    let mut amounts = HashMap::new();
    for context in &page.contexts {
        let above: Vec<&str> = ancestors(context).iter().map(|one| one.name.as_str()).collect();
        for (metric, amount) in &context.metrics {
            if is_caused(metric) {
                // The first one is the program, and has all of it.
                if context.parent.is_none() {
                    add(&mut amounts, format!("{metric} in all"), amount.inclusive);
                }
                continue;
            }
            let of = |which: &str| format!("{metric} {which} of {} {} {above:?}", context.kind, context.name);
            add(&mut amounts, of("inclusive"), amount.inclusive);
            add(&mut amounts, of("exclusive"), amount.exclusive);
        }
    }
    amounts
}

fn assert_sum(page: &str, whole: Amounts, halves: [Amounts; 2]) {
    assert!(!whole.is_empty());
    let names: std::collections::BTreeSet<&String> =
        whole.keys().chain(halves[0].keys()).chain(halves[1].keys()).collect();
    for name in names {
        let of = |amounts: &Amounts| amounts.get(name).copied().unwrap_or_default();
        let sum = of(&halves[0]) + of(&halves[1]);
        assert_close(&format!("{page}: {name}"), sum, of(&whole), 1e-6 + 1e-6 * of(&whole).abs());
    }
}

fn assert_halves_add_up(program: &str, arguments: &[&str]) {
    let Some(program) = built(program) else { return };
    let run = record(program, arguments).succeeded();
    let [first, second] = halves(&run);
    let parts = |condition: &str| ["--where".to_string(), condition.to_string()];
    let (first, second) = (parts(&first), parts(&second));
    let (first, second) = (first.each_ref().map(String::as_str), second.each_ref().map(String::as_str));
    macro_rules! page {
        ($name:literal, $type:ty, $amounts:ident) => {
            let of = |options: &[&str]| $amounts(&run.page::<$type>($name, options));
            assert_sum($name, of(&[]), [of(&first), of(&second)]);
        };
    }
    page!("summary", Summary, of_summary);
    page!("threads", Threads, of_threads);
    page!("flat", Flat, of_flat);
    page!("tree", Tree, of_tree);
}

#[test]
fn of_waits_of_every_kind() {
    assert_halves_add_up("waits", &["0.1"]);
}

#[test]
fn of_work_in_many_threads() {
    assert_halves_add_up("ledger", &["1", "producers"]);
}

#[test]
fn of_many_processes() {
    assert_halves_add_up("process_tree", &["1"]);
}
