//! The JSON contract, schema 1: every field is there, with its type. Fields may be added, never changed.
#![allow(dead_code)]

use std::collections::HashMap;

use proust_report::{Format, PageName, Question, Style, render};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::example::{crowded, profile, waiting};

/// A field that must be there, though it may be null.
type Nullable<T> = Option<T>;

#[derive(Deserialize)]
struct Summary {
    schema: u32,
    run: Run,
    ledger: Ledger,
    findings: Vec<serde_json::Value>,
    quality: Quality,
}

#[derive(Deserialize)]
struct Run {
    dir: String,
    command: Vec<String>,
    start_unix_s: f64,
    wall_s: f64,
    processors: u32,
    available_processors: u32,
    processes: u64,
    threads: u64,
    ranks: u64,
}

#[derive(Deserialize)]
struct Ledger {
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    unattributed_s: f64,
    efficiency: f64,
    beyond_s: f64,
    beyond: HashMap<String, f64>,
    active: u32,
    accounts: Vec<Account>,
}

#[derive(Deserialize)]
struct Account {
    id: String,
    class: String,
    seconds: f64,
}

#[derive(Deserialize)]
struct Quality {
    samples: u64,
    delivered_rate: f64,
    complete_paths: f64,
    cpu_residual: f64,
    account_residual: f64,
    events: u64,
    dropped: u64,
    measurement_s: f64,
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Head {
    id: String,
    unit: String,
}

#[derive(Deserialize)]
struct Amount {
    inclusive: f64,
    /// Left out where it is zero.
    #[serde(default)]
    exclusive: f64,
}

#[derive(Deserialize)]
struct Tree {
    schema: u32,
    metrics: Vec<Head>,
    contexts: Vec<Context>,
}

#[derive(Deserialize)]
struct Context {
    id: u64,
    parent: Nullable<u64>,
    kind: String,
    name: String,
    file: Nullable<String>,
    line: Nullable<u32>,
    module: Nullable<String>,
    metrics: HashMap<String, Amount>,
}

#[derive(Deserialize)]
struct Flat {
    schema: u32,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    function: String,
    file: Nullable<String>,
    line: Nullable<u32>,
    module: Nullable<String>,
    metrics: HashMap<String, Amount>,
}

#[derive(Deserialize)]
struct Threads {
    schema: u32,
    locations: Vec<Location>,
    slots: Vec<Slot>,
}

#[derive(Deserialize)]
struct Location {
    process: u32,
    rank: Nullable<u32>,
    thread: u32,
    name: String,
    wall_s: f64,
    cpu_s: f64,
    accounts: HashMap<String, f64>,
    passive: HashMap<String, f64>,
}

#[derive(Deserialize)]
struct Slot {
    process: u32,
    accounts: HashMap<String, f64>,
}

fn read<T: DeserializeOwned>(page: PageName) -> T {
    read_of(&profile(), page)
}

fn read_of<T: DeserializeOwned>(profile: &proust_profile::Profile, page: PageName) -> T {
    let question = Question { page, format: Format::Json, ..Question::default() };
    let text = render(profile, &question, &Style::default()).unwrap().page;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}: {text}", page.id()))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn the_summary_closes() {
    let summary: Summary = read(PageName::Summary);
    assert_eq!((summary.schema, summary.run.processors, summary.run.threads), (1, 1, 2));
    let ledger = summary.ledger;
    let of = |id: &str| ledger.accounts.iter().find(|account| account.id == id).unwrap().seconds;
    assert!(close(ledger.accounts.iter().map(|account| account.seconds).sum(), ledger.total_s));
    // One thread after the other: one processor for 3 s, of which 0.5 s nobody worked.
    assert!(close(ledger.total_s, 3.0) && close(of("asleep"), 0.5));
    assert!(close(of("compute") + of("measurement"), 2.5), "{} {}", of("compute"), of("measurement"));
    assert!(close(ledger.efficiency, ledger.productive_s / 2.5));
    assert!(close(ledger.lost_s, of("measurement")));
    assert!(ledger.accounts.iter().all(|account| !account.class.is_empty()));
}

#[test]
fn the_tree_adds_up() {
    let tree: Tree = read(PageName::Tree);
    assert_eq!(tree.schema, 1);
    assert_eq!((tree.metrics[0].id.as_str(), tree.metrics[0].unit.as_str()), ("cpu_s", "s"));
    assert!(tree.contexts[0].parent.is_none() && close(tree.contexts[0].metrics["cpu_s"].inclusive, 2.5));
    for context in &tree.contexts {
        let below =
            tree.contexts.iter().filter(|other| other.parent == Some(context.id) && other.kind != "line");
        let below: f64 = below.map(|other| other.metrics["cpu_s"].inclusive).sum();
        let cpu = &context.metrics["cpu_s"];
        assert!(close(cpu.exclusive + below, cpu.inclusive), "{}", context.name);
    }
}

#[test]
fn recursion_counts_once_in_flat() {
    let flat: Flat = read(PageName::Flat);
    let cpu = |name: &str| &flat.functions.iter().find(|row| row.function == name).unwrap().metrics["cpu_s"];
    assert!(close(cpu("refine").inclusive, 1.5) && close(cpu("refine").exclusive, 1.0));
    assert!(close(flat.functions.iter().map(|row| row.metrics["cpu_s"].exclusive).sum(), 2.5));
    assert!(close(cpu("solve").inclusive, 2.0) && close(cpu("solve").exclusive, 0.0));
}

#[test]
fn a_threads_accounts_and_passive_time_are_its_wall_time() {
    let threads: Threads = read(PageName::Threads);
    assert_eq!((threads.schema, threads.locations.len(), threads.slots.len()), (1, 2, 1));
    for location in threads.locations {
        let sum: f64 = location.accounts.values().chain(location.passive.values()).sum();
        assert!(close(sum, location.wall_s), "{}: {sum} of {}", location.name, location.wall_s);
    }
}

#[derive(Deserialize)]
struct LedgerPage {
    schema: u32,
    run: Run,
    ledger: Ledger,
    owners: Vec<Owner>,
    locations: Vec<Spent>,
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Owner {
    process: u32,
    rank: Nullable<u32>,
    processors: u32,
    total_s: f64,
    locations: HashMap<String, f64>,
    slots: HashMap<String, f64>,
    beyond_s: f64,
}

#[derive(Deserialize)]
struct Spent {
    handle: String,
    charged: bool,
    owner: Nullable<usize>,
    wall_s: f64,
    active_s: f64,
    passive_s: f64,
    accounts: HashMap<String, f64>,
    beyond: HashMap<String, f64>,
}

#[test]
fn the_ledger_page_adds_up_in_every_direction() {
    for (profile, beyond_s) in [(profile(), 0.0), (crowded(), 0.5)] {
        let page: LedgerPage = read_of(&profile, PageName::Ledger);
        assert_eq!((page.schema, page.owners.len(), page.locations.len()), (1, 1, 2));
        for owner in &page.owners {
            let parts = owner.locations.values().chain(owner.slots.values());
            assert!(close(parts.sum(), owner.total_s));
        }
        let ledger = &page.ledger;
        assert!(close(page.owners.iter().map(|owner| owner.total_s).sum(), ledger.total_s));
        assert!(close(page.owners.iter().map(|owner| owner.beyond_s).sum(), ledger.beyond_s));
        assert!(close(ledger.beyond.values().sum(), ledger.beyond_s) && close(ledger.beyond_s, beyond_s));
        assert!(close(ledger.total_s, 3.0) && ledger.active == if beyond_s > 0.0 { 2 } else { 1 });
        let of = |map: &HashMap<String, f64>, id: &str| map.get(id).copied().unwrap_or(0.0);
        for account in &ledger.accounts {
            let threads: f64 = page.locations.iter().map(|row| of(&row.accounts, &account.id)).sum();
            let beyond: f64 = page.locations.iter().map(|row| of(&row.beyond, &account.id)).sum();
            let slots: f64 = page.owners.iter().map(|owner| of(&owner.slots, &account.id)).sum();
            assert!(close(threads - beyond + slots, account.seconds), "{}", account.id);
            assert!(close(beyond, of(&ledger.beyond, &account.id)), "{}", account.id);
        }
        for row in &page.locations {
            assert!(close(row.accounts.values().sum(), row.active_s));
            assert!(close(row.active_s + row.passive_s, row.wall_s));
        }
    }
}

#[derive(Deserialize)]
struct Timeline {
    schema: u32,
    start_s: f64,
    end_s: f64,
    locations: Vec<Life>,
}

#[derive(Deserialize)]
struct Life {
    handle: String,
    process: u32,
    rank: Nullable<u32>,
    thread: u32,
    name: String,
    start_s: f64,
    end_s: f64,
    cpu_s: f64,
    active_s: f64,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    start_s: f64,
    end_s: f64,
    state: String,
    account: Nullable<String>,
    passive: Nullable<String>,
    context: u32,
    #[serde(default)]
    parts: HashMap<String, f64>,
}

#[test]
fn the_timeline_covers_every_life_once() {
    let page: Timeline = read(PageName::Timeline);
    assert_eq!((page.schema, page.start_s, page.end_s), (1, 0.0, 3.0));
    for life in &page.locations {
        assert!(close(life.spans[0].start_s, life.start_s));
        assert!(close(life.spans.last().unwrap().end_s, life.end_s));
        assert!(life.spans.windows(2).all(|pair| pair[0].end_s == pair[1].start_s));
        assert!(life.spans.iter().all(|span| span.account.is_some() != span.passive.is_some()));
        let active = life.spans.iter().filter(|span| span.state != "passive");
        assert!(close(active.map(|span| span.end_s - span.start_s).sum(), life.active_s));
    }
    // A hundred samples of one place are one span; the worker is in four places and is blocked at the end.
    let spans = |n: usize| page.locations[n].spans.iter().map(|span| span.context).collect::<Vec<_>>();
    assert_eq!((spans(0), spans(1)), (vec![3, 3], vec![6, 8, 10, 11, 11]));
    assert!(close(page.locations[0].spans[0].parts["measurement"], 0.001));
}

#[derive(Deserialize)]
struct OperationsPage {
    schema: u32,
    totals: Calls,
    threads: u64,
    operations: Vec<Operation>,
    call_sites: Vec<Site>,
    inside: Vec<Inside>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inside {
    operation: String,
    inside: String,
    context: u32,
    handle: String,
    calls: u64,
    errors: u64,
    bytes: u64,
    seconds: f64,
    longest_s: f64,
}

#[derive(Deserialize)]
struct Calls {
    calls: u64,
    errors: u64,
    bytes: u64,
    seconds: f64,
    off_processor_s: f64,
    mean_s: f64,
    longest_s: Nullable<f64>,
}

#[derive(Deserialize)]
struct Operation {
    operation: String,
    target: String,
    account: Nullable<String>,
    passive: Nullable<String>,
    objects: u64,
    #[serde(flatten)]
    calls: Calls,
}

#[derive(Deserialize)]
struct Site {
    operation: String,
    context: u64,
    handle: String,
    function: Nullable<String>,
    function_handle: Nullable<String>,
    file: Nullable<String>,
    line: Nullable<u32>,
    threads: u64,
    #[serde(flatten)]
    calls: Calls,
}

fn read_waiting<T: DeserializeOwned>(page: PageName) -> T {
    let question = Question { page, format: Format::Json, ..Question::default() };
    let text = render(&waiting(), &question, &Style::default()).unwrap().page;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}: {text}", page.id()))
}

#[test]
fn operations_and_call_sites_sum_to_the_totals() {
    for (page, calls, seconds) in [(PageName::Io, 22, 0.302), (PageName::Waits, 2, 2.55)] {
        let page: OperationsPage = read_waiting(page);
        assert_eq!((page.schema, page.totals.calls, page.threads), (1, calls, 2));
        assert!(close(page.totals.seconds, seconds), "{}", page.totals.seconds);
        let all = |of: &dyn Fn(&Calls) -> f64| {
            let rows: f64 = page.operations.iter().map(|row| of(&row.calls)).sum();
            let sites: f64 = page.call_sites.iter().map(|row| of(&row.calls)).sum();
            assert!(close(rows, of(&page.totals)) && close(sites, of(&page.totals)));
        };
        all(&|calls| calls.calls as f64);
        all(&|calls| calls.errors as f64);
        all(&|calls| calls.bytes as f64);
        all(&|calls| calls.seconds);
        all(&|calls| calls.off_processor_s);
        assert!(page.operations.iter().all(|row| row.account.is_some() != row.passive.is_some()));
        assert!(page.call_sites.iter().all(|row| row.handle == format!("c{}", row.context)));
    }
    let io: OperationsPage = read_waiting(PageName::Io);
    let short = io.operations.iter().find(|row| row.operation == "write").unwrap();
    assert_eq!((short.calls.longest_s, short.calls.errors), (None, 1));
    // What is inside a wait is on the page of the wait, whatever it is itself.
    assert_eq!(io.inside, []);
    let waits: OperationsPage = read_waiting(PageName::Waits);
    let expected = Inside {
        operation: "pthread_join".into(),
        inside: "write".into(),
        context: 1,
        handle: "c1".into(),
        calls: 12,
        errors: 2,
        bytes: 640,
        seconds: 0.0034,
        longest_s: 0.0011,
    };
    assert_eq!(waits.inside, [expected]);
}

#[test]
fn every_second_of_every_thread_is_in_a_context() {
    let flat: Tree = read_waiting(PageName::Tree);
    let threads: Threads = read_waiting(PageName::Threads);
    let root = &flat.contexts[0].metrics;
    let wall: f64 = threads.locations.iter().map(|row| row.wall_s).sum();
    assert!(close(root["wall_s"].inclusive, wall));
    assert!(close(root["active_s"].inclusive + root["passive_s"].inclusive, wall));
    for id in ["lock", "io", "compute"] {
        let threads: f64 = threads.locations.iter().filter_map(|row| row.accounts.get(id)).sum();
        assert!(close(root[&format!("{id}_s")].inclusive, threads), "{id}");
    }
    for id in ["join", "socket"] {
        let threads: f64 = threads.locations.iter().filter_map(|row| row.passive.get(id)).sum();
        assert!(threads > 0.0 && close(root[&format!("passive_{id}_s")].inclusive, threads), "{id}");
    }
    // `main` never computes: it waits for its worker, and is there.
    let main = flat.contexts.iter().find(|row| row.name == "main").unwrap();
    assert!(close(main.metrics["passive_join_s"].inclusive, 2.3));
    // What threads did and what empty slots were charged for is all but what nobody can be charged with.
    let summary: Summary = read_waiting(PageName::Summary);
    let nobodys = ["asleep", "idle", "paused"];
    let charged: f64 = summary
        .ledger
        .accounts
        .iter()
        .filter(|row| !nobodys.contains(&&*row.id))
        .map(|row| row.seconds)
        .sum();
    let of = |id: &str| root.get(id).map_or(0.0, |amount| amount.inclusive);
    assert!(close(of("active_s") + of("empty_s"), charged));
    // All that is lost is caused by something.
    assert!(close(of("caused_s"), summary.ledger.lost_s));
}
