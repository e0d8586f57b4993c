//! I/O: calls, bytes and errors are exactly those that the program made, but for calls on a stream that touch
//! its buffer only; what it waited for over pipes is no I/O.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::chance::assert_close;
use crate::pages::Operations;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// Calls, bytes, errors, and the time in them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    calls: f64,
    bytes: f64,
    errors: f64,
    seconds: f64,
}

impl Done {
    fn add(&mut self, calls: f64, bytes: f64, errors: f64, seconds: f64) {
        self.calls += calls;
        self.bytes += bytes;
        self.errors += errors;
        self.seconds += seconds;
    }

    fn of(row: &Value) -> Done {
        let field = |name: &str| number(row, &format!("/{name}"));
        Done {
            calls: field("calls"),
            bytes: field("bytes"),
            errors: field("errors"),
            seconds: field("seconds"),
        }
    }

    fn counts(&self) -> [f64; 3] {
        [self.calls, self.bytes, self.errors]
    }
}

/// An operation and what its descriptors lead to; streams lead to several things.
type Row = (String, &'static str);
const STREAMS: &str = "streams";

fn target_of(truth: &str) -> &'static str {
    match truth {
        "file" | "folder" => "file",
        "/dev/null" | "/dev/zero" => "device",
        "pipe" => "pipe",
        "socket" => "socket",
        "none" => "none",
        "stream" => STREAMS,
        other => panic!("an unknown target: {other}"),
    }
}

/// Calls on a stream that may touch its buffer only, and are no operations then.
const OF_BUFFERS: [&str; 7] = ["fwrite", "fputs", "fputc", "fread", "fgets", "fgetc", "getline"];

const OF_STREAMS: [&str; 12] = [
    "fseek", "fopen", "fwrite", "fputs", "fprintf", "fputc", "fflush", "fread", "fgets", "fgetc", "getline",
    "fclose",
];

/// What the program did: its operations, its two pairs of threads over a pipe, and the truth that it printed.
fn done(run: &Recorded, truth: &Value) -> BTreeMap<Row, Done> {
    let mut done: BTreeMap<Row, Done> = BTreeMap::new();
    for row in list(truth, "/operations") {
        let target = target_of(row["target"].as_str().unwrap());
        let one = Done::of(row);
        let sum = done.entry((row["operation"].as_str().unwrap().into(), target)).or_default();
        sum.add(one.calls, one.bytes, one.errors, one.seconds);
    }
    for side in list(truth, "/threads") {
        let sum = done.entry((side["operation"].as_str().unwrap().into(), "pipe")).or_default();
        sum.add(number(side, "/calls"), number(side, "/bytes"), 0.0, number(side, "/seconds"));
    }
    let printed = run.ended.stdout.len() as f64;
    let prints = list(truth, "/operations").len() + list(truth, "/threads").len() + 3;
    done.entry(("fprintf".into(), STREAMS)).or_default().add(prints as f64, printed, 0.0, 0.0);
    // It goes back to the begin of a stream twice.
    done.entry(("fseek".into(), STREAMS)).or_default().add(2.0, 0.0, 0.0, 0.0);
    done.entry(("unlink".into(), "none")).or_default().add(3.0, 0.0, 0.0, 0.0);
    done
}

fn reported(page: &Operations) -> BTreeMap<Row, Done> {
    let mut reported: BTreeMap<Row, Done> = BTreeMap::new();
    for row in &page.operations {
        let target = if OF_STREAMS.contains(&row.operation.as_str()) {
            STREAMS
        } else {
            ["file", "device", "pipe", "socket", "none"]
                .into_iter()
                .find(|target| *target == row.target)
                .unwrap_or_else(|| panic!("an unexpected target: {row:?}"))
        };
        let sum = reported.entry((row.operation.clone(), target)).or_default();
        sum.add(row.calls as f64, row.bytes as f64, row.errors as f64, row.seconds);
    }
    reported
}

fn recorded() -> Option<(Recorded, Value)> {
    let run = record(built("io")?, &["0.6"]).succeeded();
    let truth = run.truth();
    assert_eq!(number(&truth, "/unexpected"), 0.0);
    Some((run, truth))
}

#[test]
fn calls_bytes_and_errors_are_exact() {
    let Some((run, truth)) = recorded() else { return };
    let (done, reported) = (done(&run, &truth), reported(&run.page("io", &[])));
    let is_of_buffer = |row: &Row| OF_BUFFERS.contains(&row.0.as_str());
    let rows: std::collections::BTreeSet<&Row> = done.keys().chain(reported.keys()).collect();
    let wrong: Vec<String> = rows
        .into_iter()
        .filter(|row| !is_of_buffer(row))
        .filter_map(|row| {
            let (done, found) = (done.get(row).copied(), reported.get(row).copied());
            let (done, found) = (done.unwrap_or_default(), found.unwrap_or_default());
            (done.counts() != found.counts())
                .then(|| format!("{row:?}: {found:?} in the report, really {done:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_on_a_stream_is_an_operation_if_its_buffer_is_not_enough() {
    let Some((run, truth)) = recorded() else { return };
    let reported = reported(&run.page("io", &[]));
    let mut rows = 0;
    for row in list(&truth, "/operations") {
        let operation = row["operation"].as_str().unwrap();
        if row["target"] != "stream" || !OF_BUFFERS.contains(&operation) {
            continue;
        }
        rows += 1;
        let (really, beyond) = (Done::of(row), number(row, "/beyond"));
        let found = reported.get(&(operation.into(), STREAMS)).copied().unwrap_or_default();
        assert!(beyond > 0.0 && beyond < really.calls / 2.0, "the program does not do what it is for: {row}");
        // A stream's first call and one that cannot be foreseen are operations, too; most calls are not.
        assert!(
            found.calls >= beyond,
            "{operation}: {found:?} in the report, {beyond} went beyond the buffer"
        );
        assert!(
            found.calls <= beyond + 0.02 * really.calls,
            "{operation}: {found:?} in the report, really {really:?}"
        );
        assert!(
            found.bytes <= really.bytes && found.errors == really.errors,
            "{operation}: {found:?}, {really:?}"
        );
    }
    assert_eq!(rows, OF_BUFFERS.len());
}

#[test]
fn the_time_in_calls_is_that_of_the_program() {
    let Some((run, truth)) = recorded() else { return };
    let (done, reported) = (done(&run, &truth), reported(&run.page("io", &[])));
    for (row, done) in done.iter().filter(|(row, _)| row.1 != STREAMS && row.0 != "unlink") {
        let found = reported[row].seconds;
        // The program's clock is read around hundreds of calls and their hooks. On a busy machine it may lose
        // the processor between any two of them.
        assert!(found <= done.seconds + 0.001, "{row:?}: {found} s in the report, really {done:?}");
        let queued: f64 = run
            .threads()
            .locations
            .iter()
            .map(|one| one.account_s("preempted") + one.account_s("oversubscribed"))
            .sum();
        let least = done.seconds - 5e-6 * done.calls - queued - 0.002;
        assert!(found >= 0.9 * least, "{row:?}: {found} s in the report, really {done:?}");
    }
}

#[test]
fn who_waits_over_a_pipe_is_passive() {
    let Some((run, truth)) = recorded() else { return };
    let threads = run.threads();
    let main = threads.thread(threads.locations[0].process);
    assert!(main.account_s("io") > 0.0, "{main:#?}");
    for side in list(&truth, "/threads") {
        let location = threads.thread(number(side, "/tid") as u64);
        let (name, seconds) = (side["name"].as_str().unwrap(), number(side, "/seconds"));
        let queued = location.account_s("preempted") + location.account_s("oversubscribed");
        let passive = location.passive_s("pipe");
        let allowed = 0.01 * seconds + 0.002 + 50e-6 * number(side, "/calls");
        let transfer = location.account_s("io");
        println!(
            "{name}: passive {passive}, transfer {transfer}, queued {queued}, by its own clock {seconds}"
        );
        if name.starts_with("waiting") {
            assert!(passive <= seconds + allowed, "{name}: {passive} s of {seconds} s: {location:#?}");
            assert!(
                passive + queued + transfer >= seconds - allowed,
                "{name}: {passive} s of {seconds} s: {location:#?}"
            );
            assert!(transfer <= 0.05 * seconds + 0.005, "{name}: nothing but waiting: {location:#?}");
        }
        // Nothing counts twice.
        let sum: f64 = location.accounts.values().chain(location.passive.values()).sum();
        assert_close(name, sum, location.wall_s, 0.001 * location.wall_s + 1e-5);
    }
}

/// Blocked on nothing but files.
#[test]
fn on_files_all_is_io() {
    let Some((run, _)) = recorded() else { return };
    let page: Operations = run.page("io", &[]);
    for row in page.operations.iter().filter(|row| matches!(row.target.as_str(), "file" | "device" | "none"))
    {
        assert_eq!((row.account.as_deref(), row.passive.as_deref()), (Some("io"), None), "{row:?}");
    }
    for row in page.operations.iter().filter(|row| row.target == "pipe" && row.operation == "read") {
        assert_eq!(row.passive.as_deref(), Some("pipe"), "{row:?}");
    }
    let totals: f64 = page.operations.iter().map(|row| row.seconds).sum();
    assert_close("the operations", totals, page.totals.seconds, 1e-6);
    let sites: f64 = page.call_sites.iter().map(|site| site.seconds).sum();
    assert_close("the call sites", sites, page.totals.seconds, 1e-6);
}
