//! The JSON contract (schema 1), as the stories read it. A page that lacks a field does not parse: that is a
//! failure. Where a field may be null it is an `Option`.

use std::collections::HashMap;

use serde::Deserialize;

/// A metric of a context or function.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Amount {
    pub inclusive: f64,
    /// Left out where it is zero.
    #[serde(default)]
    pub exclusive: f64,
    /// Standard error of the inclusive amount.
    #[serde(default)]
    pub inclusive_error: f64,
    /// Standard error of the exclusive amount.
    #[serde(default)]
    pub exclusive_error: f64,
}

/// `report summary`.
#[derive(Debug, Deserialize)]
pub struct Summary {
    pub run: Run,
    pub ledger: Ledger,
    pub quality: Quality,
}

#[derive(Debug, Deserialize)]
pub struct Run {
    pub dir: String,
    pub command: Vec<String>,
    pub start_unix_s: f64,
    pub wall_s: f64,
    pub processors: f64,
    pub available_processors: f64,
    pub processes: u64,
    pub threads: u64,
    pub ranks: u64,
}

#[derive(Debug, Deserialize)]
pub struct Ledger {
    pub total_s: f64,
    pub productive_s: f64,
    pub lost_s: f64,
    pub unattributed_s: f64,
    pub efficiency: Option<f64>,
    /// What stands beyond the processors, by account.
    pub beyond: HashMap<String, f64>,
    pub accounts: Vec<Account>,
}

impl Ledger {
    /// Seconds on an account, whether they fill processors or stand beyond them.
    pub fn account_s(&self, id: &str) -> f64 {
        let within = self.accounts.iter().filter(|account| account.id == id).map(|account| account.seconds);
        within.sum::<f64>() + self.beyond.get(id).copied().unwrap_or(0.0)
    }
}

#[derive(Debug, Deserialize)]
pub struct Account {
    pub id: String,
    pub class: String,
    pub seconds: f64,
}

#[derive(Debug, Deserialize)]
pub struct Quality {
    pub samples: u64,
    pub delivered_rate: f64,
    pub complete_paths: f64,
    pub cpu_residual: f64,
    pub account_residual: f64,
    pub dropped: u64,
    pub measurement_s: f64,
    pub notes: Vec<String>,
}

/// `report quality`: beside the fields of the summary, what the debug mode counted.
#[derive(Debug, Deserialize)]
pub struct QualityPage {
    pub quality: PathChecks,
}

#[derive(Debug, Deserialize)]
pub struct PathChecks {
    pub paths_compared: u64,
    pub path_mismatches: u64,
}

/// `report flat`.
#[derive(Debug, Deserialize)]
pub struct Flat {
    pub functions: Vec<FlatRow>,
}

#[derive(Debug, Deserialize)]
pub struct FlatRow {
    pub function: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub module: Option<String>,
    pub metrics: HashMap<String, Amount>,
}

impl FlatRow {
    pub fn amount(&self, metric: &str) -> Amount {
        self.metrics.get(metric).copied().unwrap_or_default()
    }
}

impl Flat {
    /// The row of a function; zeros where it was never seen.
    pub fn cpu(&self, function: &str) -> Amount {
        let mut sum = Amount::default();
        for row in self.functions.iter().filter(|row| is_function(&row.function, function)) {
            let amount = row.amount("cpu_s");
            sum.inclusive += amount.inclusive;
            sum.exclusive += amount.exclusive;
            sum.inclusive_error = sum.inclusive_error.hypot(amount.inclusive_error);
            sum.exclusive_error = sum.exclusive_error.hypot(amount.exclusive_error);
        }
        sum
    }

    /// The row of a function, which must be there.
    pub fn row(&self, function: &str) -> &FlatRow {
        self.functions.iter().find(|row| is_function(&row.function, function)).unwrap_or_else(|| {
            let names: Vec<&str> = self.functions.iter().map(|row| row.function.as_str()).collect();
            panic!("no function {function} in {names:?}")
        })
    }

    /// The sum over all functions: exclusive amounts count every sample once.
    pub fn total(&self, metric: &str) -> f64 {
        self.functions.iter().map(|row| row.amount(metric).exclusive).sum()
    }
}

/// `report tree`.
#[derive(Debug, Deserialize)]
pub struct Tree {
    pub contexts: Vec<Context>,
}

#[derive(Debug, Deserialize)]
pub struct Context {
    pub id: u64,
    pub parent: Option<u64>,
    pub kind: String,
    pub name: String,
    pub module: Option<String>,
    pub metrics: HashMap<String, Amount>,
}

impl Context {
    pub fn cpu(&self) -> Amount {
        self.metrics.get("cpu_s").copied().unwrap_or_default()
    }

    pub fn is(&self, function: &str) -> bool {
        matches!(self.kind.as_str(), "frame" | "inline") && is_function(&self.name, function)
    }
}

impl Tree {
    fn position(&self) -> HashMap<u64, usize> {
        self.contexts.iter().enumerate().map(|(position, context)| (context.id, position)).collect()
    }

    /// The contexts above each context, from its parent to the root.
    pub fn ancestors<'t>(&'t self) -> impl Fn(&Context) -> Vec<&'t Context> {
        let position = self.position();
        move |context| {
            let mut above = Vec::new();
            let mut next = context.parent;
            while let Some(id) = next {
                let parent = &self.contexts[position[&id]];
                above.push(parent);
                next = parent.parent;
            }
            above
        }
    }

    /// Contexts of a function, frames and inlined calls.
    pub fn of(&self, function: &str) -> Vec<&Context> {
        self.contexts.iter().filter(|context| context.is(function)).collect()
    }

    /// Exclusive CPU seconds of a function below another one.
    pub fn cpu_below(&self, function: &str, above: &str) -> f64 {
        let ancestors = self.ancestors();
        self.of(function)
            .into_iter()
            .filter(|context| ancestors(context).iter().any(|one| one.is(above)))
            .map(|context| context.cpu().exclusive)
            .sum()
    }

    /// What holds for every tree: it is one, it adds up, and no frame in it is the collector's.
    pub fn check(&self) {
        let position = self.position();
        assert_eq!(position.len(), self.contexts.len(), "context ids occur once");
        let mut below = vec![0.0; self.contexts.len()];
        for context in &self.contexts {
            if let Some(parent) = context.parent {
                let parent = *position.get(&parent).expect("a parent is a context");
                // A frame's own amount holds that of its lines.
                if context.kind != "line" {
                    below[parent] += context.cpu().inclusive;
                }
            }
            let module = context.module.as_deref().unwrap_or("");
            assert!(
                !module.contains("libproust_collector") && !context.name.contains("proust_"),
                "a frame of the collector is in the user's tree: {context:?}"
            );
        }
        for (context, below) in self.contexts.iter().zip(below) {
            let cpu = context.cpu();
            let sum = cpu.exclusive + below;
            assert!(
                (cpu.inclusive - sum).abs() <= 1e-6 + 1e-6 * cpu.inclusive,
                "{sum} s in and below, {} s inclusive: {context:?}",
                cpu.inclusive
            );
        }
    }
}

/// `report threads`.
#[derive(Debug, Deserialize)]
pub struct Threads {
    pub locations: Vec<Location>,
}

#[derive(Debug, Deserialize)]
pub struct Location {
    pub process: u64,
    pub rank: Option<u64>,
    pub thread: u64,
    pub name: String,
    pub program: String,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub queued_s: f64,
    pub accounts: HashMap<String, f64>,
    pub passive: HashMap<String, f64>,
}

impl Location {
    /// Its seconds on an account.
    pub fn account_s(&self, id: &str) -> f64 {
        self.accounts.get(id).copied().unwrap_or_default()
    }

    /// Its passive seconds for a reason.
    pub fn passive_s(&self, reason: &str) -> f64 {
        self.passive.get(reason).copied().unwrap_or_default()
    }
}

impl Threads {
    /// CPU seconds of a process: all threads of all its images.
    pub fn cpu_of_process(&self, pid: u64) -> f64 {
        self.locations.iter().filter(|location| location.process == pid).map(|location| location.cpu_s).sum()
    }

    pub fn thread(&self, tid: u64) -> &Location {
        self.locations
            .iter()
            .find(|location| location.thread == tid)
            .unwrap_or_else(|| panic!("thread {tid} is not in the report"))
    }
}

/// `report waits` and `report io`.
#[derive(Debug, Deserialize)]
pub struct Operations {
    pub totals: Calls,
    pub operations: Vec<OperationRow>,
    pub call_sites: Vec<CallSite>,
}

#[derive(Debug, Deserialize)]
pub struct Calls {
    pub seconds: f64,
}

#[derive(Debug, Deserialize)]
pub struct OperationRow {
    pub operation: String,
    pub target: String,
    pub account: Option<String>,
    pub passive: Option<String>,
    pub calls: u64,
    pub errors: u64,
    pub bytes: u64,
    pub seconds: f64,
}

#[derive(Debug, Deserialize)]
pub struct CallSite {
    pub function: Option<String>,
    pub seconds: f64,
}

impl Operations {
    /// Seconds of the calls in a function.
    pub fn called_in(&self, function: &str) -> f64 {
        let sites = self.call_sites.iter().filter(|site| site.function.as_deref() == Some(function));
        sites.map(|site| site.seconds).sum()
    }

    /// Calls of an operation, and seconds in them.
    pub fn of(&self, operation: &str) -> (u64, f64) {
        let rows = self.operations.iter().filter(|row| row.operation == operation);
        rows.fold((0, 0.0), |(calls, seconds), row| (calls + row.calls, seconds + row.seconds))
    }
}

/// Whether a name as shown is that of a function: `ns::name(int)`, `__module_MOD_name`, `name.constprop.0`
/// and `name::h0123` are all `name`.
pub fn is_function(shown: &str, function: &str) -> bool {
    let without_arguments = shown.split('(').next().unwrap_or(shown);
    without_arguments
        .split("::")
        .flat_map(|part| part.split("_MOD_"))
        .any(|part| part == function || part.strip_prefix(function).is_some_and(|rest| rest.starts_with('.')))
}

#[test]
fn names_are_recognised_in_any_dress() {
    for shown in ["sweep", "ns::sweep(unsigned long)", "__heat_MOD_sweep", "sweep.1", "heat::sweep"] {
        assert!(is_function(shown, "sweep"), "{shown}");
    }
    assert!(!is_function("sweeper", "sweep"));
    assert!(!is_function("run(sweep)", "sweep"));
}
