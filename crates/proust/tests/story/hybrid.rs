//! Characteristics of ranks with threads: a program that is built with MPI and OpenMP, with one of them left
//! out, or with neither, and times its parts itself.

use serde_json::Value;

use crate::chance::assert_close;
use crate::findings::{assert_derived, of_kind};
use crate::mpi::Mpi;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, report};
use crate::tier;

const MPIS: [Mpi; 2] = [Mpi::Open, Mpi::Mpich];

/// What may lie between the program's clock and the mark beside it on a busy machine, as a part of the time.
const BESIDE: f64 = 0.1;
/// And in seconds: a few turns of others on the processor.
const TURNS_S: f64 = 0.1;

/// Units of the part that each rank repeats, and of the one that is divided.
const REPEATED: &str = "12000";
const DIVIDED: &str = "48000";

fn divided(mpi: Mpi, ranks: u32, threads: &str, uneven: &str) -> Option<(Recorded, Value, Value)> {
    let run = mpi.record_ranks(ranks, "divided", &[REPEATED, DIVIDED, uneven, threads])?.succeeded();
    let (truth, page) = (run.truth(), run.page("intervals", &[]));
    Some((run, truth, page))
}

fn interval<'p>(page: &'p Value, name: &str) -> &'p Value {
    let found = list(page, "/intervals")[1..].iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no interval {name}: {page}"))
}

fn of(interval: &Value, characteristic: &str) -> f64 {
    number(interval, &format!("/dvm/{characteristic}_s"))
}

fn numbers(truth: &Value, field: &str) -> Vec<f64> {
    list(truth, &format!("/{field}")).iter().map(|number| number.as_f64().unwrap()).collect()
}

fn sum(truth: &Value, field: &str) -> f64 {
    numbers(truth, field).iter().sum()
}

fn largest(truth: &Value, field: &str) -> f64 {
    numbers(truth, field).into_iter().fold(0.0, f64::max)
}

/// Two ranks with two threads each are four processors, and the same table is about all of them.
fn two_ranks_of_two_threads(mpi: Mpi) {
    let Some((run, truth, page)) = divided(mpi, 2, "2", "0") else { return };
    let (ranks, threads) = (number(&truth, "/ranks"), number(&truth, "/threads"));
    assert_eq!((ranks, threads), (2.0, 2.0));
    let processors = ranks * threads;

    // One thread of each rank repeats the work of the other; the other threads are absent.
    let repeated = interval(&page, "repeated");
    assert_eq!(repeated["dvm"]["processors"].as_f64(), Some(processors), "{repeated:#}");
    let (all_s, longest_s) = (sum(&truth, "repeated_s"), largest(&truth, "repeated_s"));
    let near = BESIDE * processors * longest_s + TURNS_S;
    assert_close("repeated", of(repeated, "productive_time"), all_s / ranks, near);
    let lost_s = processors * longest_s - all_s / ranks;
    assert_close("repeated, lost", of(repeated, "lost_time"), lost_s, near);
    let absent_s = of(repeated, "absent_time");
    assert_close("absent", absent_s, all_s * (threads - 1.0), near);
    assert_eq!(of(repeated, "communication"), 0.0, "{repeated:#}");

    // All threads work, and wait at the ends of regions; one of each rank sums up over the ranks.
    let divided = interval(&page, "divided");
    let (work_s, longest_s) = (sum(&truth, "thread_s"), largest(&truth, "divided_s"));
    let near = BESIDE * processors * longest_s + TURNS_S;
    assert_close("total", of(divided, "total_time"), processors * longest_s, near);
    assert_close("work", of(divided, "cpu_time_par"), work_s, near);
    let waits_s = threads * sum(&truth, "regions_s") - work_s;
    let sums_s = sum(&truth, "sums_s");
    let communication_s = of(divided, "communication");
    assert!(communication_s <= 1.05 * (waits_s + sums_s) + near, "{communication_s}: {truth} {divided:#}");
    // While one thread of a rank sums up, or opens a region, the others have no part.
    let outside_s = (threads - 1.0) * (sum(&truth, "divided_s") - sum(&truth, "regions_s"));
    assert_close("absent", of(divided, "insufficient_parallelism"), outside_s, near);
    let count = |row: &str| number(divided, &format!("/dvm/operations/{row}/count"));
    assert_eq!(count("start_reduction"), number(&truth, "/steps"), "{divided:#}");
    assert_eq!(count("region_end"), number(&truth, "/steps") * ranks, "{divided:#}");

    // Each processor is one thread of one rank.
    let each = list(divided, "/dvm/each");
    let of_ranks: Vec<u64> = each.iter().filter_map(|one| one["rank"].as_u64()).collect();
    assert_eq!(of_ranks, [0, 0, 1, 1], "{divided:#}");
    let sums: f64 = each.iter().map(|one| number(one, "/lost_time_s")).sum();
    assert_close(
        "sum of the processors",
        sums,
        of(divided, "lost_time"),
        1e-6 * processors * longest_s + 1e-6,
    );

    // What links both families of efficiencies, in JSON and as it is printed.
    let classic = report(&run.dir, "intervals", &["--format", "dvm"]).printed();
    for one in list(&page, "/intervals") {
        let efficiency = number(one, "/dvm/efficiency");
        let pop = |field: &str| one["dvm"]["pop"][field].as_f64().unwrap_or(0.0);
        let by_pop = pop("parallel_efficiency") - pop("replicated_share");
        assert_close("identity", efficiency, by_pop, 1e-9);
        let useful_s = of(one, "cpu_time") + of(one, "io_time");
        let by_times = useful_s / of(one, "total_time");
        assert_close("parallel efficiency", pop("parallel_efficiency"), by_times, 1e-6);
        let line = format!(
            "Efficiency {efficiency:.6} = Parallel_efficiency {:.6} - replicated work / Total_time {:.6}",
            pop("parallel_efficiency"),
            pop("replicated_share")
        );
        assert!(classic.contains(&line), "{line}: {classic}");
    }
    drop(run);
}

#[test]
fn two_ranks_of_two_threads_with_open_mpi() {
    two_ranks_of_two_threads(Mpi::Open);
}

#[test]
fn two_ranks_of_two_threads_with_mpich() {
    two_ranks_of_two_threads(Mpi::Mpich);
}

/// The forecast of a run with ranks, a run on one processor, and the same program built without MPI and
/// OpenMP: each of the three is what that program measured itself.
fn three_times_of_one_program(mpi: Mpi) {
    let Some(alone) = built("divided-sequential") else { return };
    let (Some((two, of_two, _)), Some((one, of_one, _))) =
        (divided(mpi, 2, "1", "0"), divided(mpi, 1, "1", "0"))
    else {
        return;
    };
    let sequential = record(&alone, &[REPEATED, DIVIDED]).succeeded();
    let of_sequential = sequential.truth();
    let (serial, sequential) = (one.dir.display().to_string(), sequential.dir.display().to_string());
    let beside = ["--serial", serial.as_str(), "--sequential", sequential.as_str()];
    let page: Value = two.page("intervals", &beside);
    for name in ["repeated", "divided", "output"] {
        let field = format!("{name}_s");
        let own_s = |truth: &Value| sum(truth, &field);
        // What both ranks repeat counts once; of the rest the forecast has what is no communication.
        let expected_s = match name {
            "repeated" => own_s(&of_two) / 2.0,
            "divided" => sum(&of_two, "thread_s"),
            _ => sum(&of_two, "io_s"),
        };
        let times = &interval(&page, name)["one_processor"];
        let near = |what: &str, found: &str, expected_s: f64| {
            let limit_s = BESIDE * expected_s + TURNS_S;
            assert_close(&format!("{name} {what}"), number(times, found), expected_s, limit_s);
        };
        near("forecast", "/forecast_s", expected_s);
        near("serial", "/serial_s", own_s(&of_one));
        near("sequential", "/sequential_s", own_s(&of_sequential));
        assert_eq!(
            (&times["serial_executions"], &times["sequential_executions"]),
            (&1.0.into(), &1.0.into())
        );
    }
    // Side by side for people, with the caution beside them.
    let text = report(&two.dir, "intervals", &beside).printed();
    assert!(text.contains("On one processor"), "{text}");
    for heading in ["forecast", "serial", "sequential"] {
        assert!(text.contains(heading), "{heading}: {text}");
    }
    let caution = list(&page, "/noted").iter().find(|note| note["id"] == "forecast-is-no-measurement");
    let words = caution.and_then(|note| note["text"].as_str()).unwrap_or_else(|| panic!("{page}"));
    assert!(words.contains("cache") && words.contains("system"), "{words}");
}

#[test]
fn three_times_of_a_program_of_open_mpi() {
    three_times_of_one_program(Mpi::Open);
}

#[test]
fn three_times_of_a_program_of_mpich() {
    three_times_of_one_program(Mpi::Mpich);
}

/// The kinds of findings about intervals. One function finds all of them, and the last decision of one
/// reading says which it is: programs show two of them here, and each decision has a unit test.
pub const KINDS: [&str; 7] = [
    "interval-sequential",
    "interval-narrow",
    "interval-uneven",
    "interval-varied",
    "interval-compensated",
    "interval-io",
    "interval-operations",
];

/// An interval in which one rank has more to do is the critical part, and so is one that all repeat; where
/// neither is the case nothing is said.
#[test]
fn the_interval_that_carries_the_loss_is_found() {
    for mpi in tier::in_turn(MPIS.to_vec(), 0) {
        let case = |repeated: &str, divided: &str, uneven: &str| {
            let run = mpi.record("divided", &[repeated, divided, uneven, "1"])?.succeeded();
            let found = list(&run.page::<Value>("summary", &[]), "/findings").to_vec();
            Some((run, found))
        };
        // Much more than MPI takes to begin, which the run as a whole loses, too: half a second at times.
        let Some((run, found)) = case("0", "200000", "0.6") else { continue };
        let Some(finding) = of_kind(&found, "interval-uneven") else { panic!("{found:#?}") };
        assert_eq!(
            (&finding["cause"]["function"], &finding["ranks"]),
            (&"divided".into(), &serde_json::json!([0]))
        );
        let title = finding["title"].as_str().unwrap_or_default();
        assert!(title.contains("Interval divided is the critical part: rank 0"), "{title}");
        // Each level of the way, from the run to the critical part, with its efficiency.
        let evidence: Vec<&str> =
            list(finding, "/evidence").iter().filter_map(|one| one["what"].as_str()).collect();
        for level in ["level 0, ", "level 1, all: ", "level 2, divided: "] {
            let has = |what: &str| evidence.iter().any(|one| one.starts_with(level) && one.ends_with(what));
            assert!(has("Efficiency") && has("Lost_time"), "{level}: {evidence:?}");
        }
        let truth = run.truth();
        let threads = numbers(&truth, "thread_s");
        let lost_s = threads[0] - threads[1];
        let found_s = number(finding, "/lost_s");
        assert!((0.5 * lost_s..1.2 * lost_s + TURNS_S).contains(&found_s), "{found_s}: {truth}");
        assert_derived(&run, finding);

        let Some((_, found)) = case("160000", "20000", "0") else { continue };
        let Some(finding) = of_kind(&found, "interval-sequential") else { panic!("{found:#?}") };
        assert_eq!(finding["cause"]["function"], "repeated", "{finding:#}");
        assert_eq!(finding["account"], "replicated", "{finding:#}");

        let Some((run, found)) = case("0", "80000", "0") else { continue };
        assert_claims_are_true(&run, &found);
    }
}

/// What findings say of the intervals of equal ranks is what the program has measured: others may take the
/// processor of one of them, and then it is late.
fn assert_claims_are_true(run: &Recorded, found: &[Value]) {
    let truth = run.truth();
    let waited_s: f64 = numbers(&truth, "sums_s").iter().sum();
    let wall_s: f64 = numbers(&truth, "wall_s").iter().sum();
    let of_intervals = found.iter().filter(|one| {
        let starts = |key: &str, start: &str| one[key].as_str().is_some_and(|text| text.starts_with(start));
        // What the machine has taken is no matter of the ranks.
        starts("kind", "interval-") && !["preempted", "oversubscribed"].iter().any(|id| one["account"] == *id)
    });
    for one in of_intervals {
        let lost_s = number(one, "/lost_s");
        assert!(lost_s <= 1.2 * waited_s + TURNS_S, "waited {waited_s} s of {wall_s} s: {one:#}");
    }
}

/// What sums over the whole run cannot say of a part of it is n/a, and said.
#[test]
fn in_a_range_of_time_partners_are_not_known() {
    for mpi in MPIS {
        let Some((run, _, whole)) = divided(mpi, 2, "1", "0") else { continue };
        let page: Value = run.page("intervals", &["--where", "time=0.01s.."]);
        let (in_range, of_whole) = (interval(&page, "divided"), interval(&whole, "divided"));
        let rows = |one: &Value| one["dvm"]["operations"].as_object().expect("rows").clone();
        assert!(rows(of_whole).values().any(|row| row["count"].is_f64()), "{of_whole:#}");
        for (name, row) in rows(in_range) {
            for cell in ["count", "synchronization_s", "variation_s", "overlap_s"] {
                assert!(row[cell].is_null(), "{name}: {row}");
            }
        }
        for field in ["mpi_time_s", "sendrecv_time_s", "potent_sync_s", "message_span_s", "efficiency"] {
            assert!(in_range["dvm"]["mpi"][field].is_null(), "{field}: {in_range:#}");
        }
        let sum: f64 = rows(in_range).values().filter_map(|row| row["communication_s"].as_f64()).sum();
        assert_close("communication", of(in_range, "communication"), sum, 1e-6);
        let said =
            |page: &Value| list(page, "/noted").iter().any(|note| note["id"] == "operations-of-whole-run");
        assert!(said(&page) && !said(&whole), "{page}");
        let refused = report(&run.dir, "intervals", &["--format", "dvm-mpi", "--where", "time=0.01s.."]);
        assert_eq!(refused.status.code(), Some(2), "{}", refused.said());
        assert!(refused.said().contains("sums over the whole run"), "{}", refused.said());
        // A selection of ranks is no range of time: all is known of them.
        let of_one: Value = run.page("intervals", &["--where", "rank=1"]);
        let one = interval(&of_one, "divided");
        assert_eq!(one["dvm"]["mpi"]["ranks"], serde_json::json!([1]), "{one:#}");
        assert!(number(one, "/dvm/mpi/mpi_time_s") > 0.0 && !said(&of_one), "{one:#}");
    }
}
