//! Marked intervals against the programs' own clocks: nested, repeated, recursive, by several threads,
//! paused, unmatched, killed; in C, C++, Fortran, Rust.

use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::run;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, truth_in};

/// What may lie between the program's clock and the mark beside it on a busy machine, s.
pub const BESIDE_S: f64 = 0.05;

pub fn intervals(page: &Value) -> &[Value] {
    &list(page, "/intervals")[1..]
}

fn label(interval: &Value) -> String {
    let name = interval["name"].as_str().unwrap_or_default();
    interval["id"].as_i64().map_or_else(|| name.to_owned(), |id| format!("{name}[{id}]"))
}

/// The account closes in each interval, and each is inside of the one around it.
fn assert_closes(page: &Value) {
    let all = list(page, "/intervals");
    for interval in all {
        let accounts = interval["accounts"].as_object().expect("accounts");
        let sum: f64 = accounts.values().filter_map(Value::as_f64).sum();
        assert_close(&label(interval), sum, number(interval, "/total_s"), 1e-6);
        // Of several ranks the time is the sum over all of them.
        let has_one_owner = interval["alone"] == false && number(interval, "/ranks") < 2.0;
        if has_one_owner && number(interval, "/processors") > 0.0 {
            let slots = number(interval, "/processors") * number(interval, "/wall_s");
            assert_close(&label(interval), number(interval, "/total_s"), slots, 1e-3 * slots + 1e-6);
        }
        if let Some(parent) = interval["parent"].as_u64() {
            let around = &all[parent as usize];
            assert!(number(interval, "/level") > number(around, "/level"));
        }
    }
}

/// Records a program and compares the time and number of each interval that it reports; several of one name
/// and different places in the tree are taken together.
pub fn agrees(program: &str, arguments: &[&str]) -> Option<(Recorded, Value)> {
    let program = built(program)?;
    let run = record(&program, arguments).succeeded();
    let page = agreed(&run);
    Some((run, page))
}

/// As [`agrees`], of what was recorded; the page.
pub fn agreed(run: &Recorded) -> Value {
    let truth = run.truth();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    for (name, truth) in truth["intervals"].as_object().expect("the program's intervals") {
        let is_it = |one: &Value| label(one) == *name || one["name"] == *name.as_str();
        let found: Vec<&Value> = intervals(&page).iter().filter(|one| is_it(one)).collect();
        assert!(!found.is_empty(), "{name}: {page}");
        let executions: f64 = found.iter().map(|one| number(one, "/executions")).sum();
        assert_eq!(executions, number(truth, "/executions"), "{name}");
        // The time of a recursive one includes that of those inside it.
        let around = |one: &Value| Some(&list(&page, "/intervals")[one["parent"].as_u64()? as usize]);
        let outermost = found.iter().filter(|one| !around(one).is_some_and(is_it));
        let of_locations = |one: &&Value| {
            list(one, "/locations").iter().map(|location| number(location, "/time_s")).sum::<f64>()
        };
        let time_s: f64 = outermost.map(of_locations).sum();
        let truth_s = number(truth, "/time_s");
        if truth_s > 0.0 {
            assert_close(name, time_s, truth_s, BESIDE_S + 0.02 * truth_s);
        }
    }
    page
}

#[test]
fn nested_intervals_take_as_long_as_the_program_says() {
    for program in ["marks", "marks-nopie", "marks-lto"] {
        let Some((run, page)) = agrees(program, &["nested", "0.6"]) else { return };
        let all = intervals(&page);
        let levels: Vec<f64> = all.iter().map(|one| number(one, "/level")).collect();
        assert_eq!(levels, [1.0, 2.0, 3.0, 2.0, 3.0, 2.0, 3.0], "{page}");
        assert!(all.iter().all(|one| one["kind"] == "SEQ"));
        assert!(
            all[0]["file"].as_str().is_some_and(|file| file.ends_with("marks.c")) && all[0]["line"].is_u64()
        );
        // The body is below the interval, and that below the function that marks it.
        let tree: Value = run.page("tree", &[]);
        let contexts = list(&tree, "/contexts");
        let by_id = |id: &Value| contexts.iter().find(|context| context["id"] == *id);
        let step =
            contexts.iter().find(|context| context["kind"] == "interval" && context["name"] == "step[3]");
        let step = step.expect("an interval in the tree");
        assert_eq!(by_id(&step["parent"]).unwrap()["name"], "step", "{tree}");
        // Only what is in it, and only one execution of it.
        let one: Value = run.page("intervals", &["step[2]"]);
        assert_eq!(intervals(&one).len(), 2, "{one}");
        let flat: Value = run.page("flat", &["--where", "interval=step[3]"]);
        let burnt = list(&flat, "/functions").iter().find(|row| row["function"] == "burn_cpu").unwrap();
        // Its processor time, of which it wants half of the 0.6 s, and at most what it took by the clock.
        let cpu_s = number(burnt, "/metrics/cpu_s/inclusive");
        let most_s = number(&run.truth(), "/intervals/step[3]/time_s") + BESIDE_S;
        assert!((0.3 - BESIDE_S..=most_s).contains(&cpu_s), "{cpu_s} s, at most {most_s} s: {flat}");
    }
}

#[test]
fn repeated_and_recursive_intervals_count_each_execution() {
    let Some((run, page)) = agrees("marks", &["repeated", "0.5"]) else { return };
    let sweep = &intervals(&page)[0];
    assert_eq!((number(sweep, "/iterations"), sweep["kind"].as_str()), (10_000.0, Some("PAR")));
    assert_eq!(page["intervals"][0]["kind"], "COMB");
    let second: Value = run.page("intervals", &["sweep[7]#2"]);
    assert_eq!(number(&intervals(&second)[0], "/executions"), 1.0);
    let Some((_, page)) = agrees("marks", &["recursive", "0.5"]) else { return };
    assert_eq!(intervals(&page).len(), 5);
    let times: Vec<f64> = intervals(&page).iter().map(|one| number(one, "/execution_s")).collect();
    assert!(times.windows(2).all(|pair| pair[0] > pair[1]), "{times:?}");
}

#[test]
fn other_threads_count_in_an_interval_and_those_in_it_at_once_for_themselves() {
    let Some((_, page)) = agrees("marks", &["workers", "0.6"]) else { return };
    let work = &intervals(&page)[0];
    assert_eq!((work["alone"].as_bool(), number(work, "/processors")), (Some(true), 0.0));
    let Some((_, page)) = agrees("marks", &["idle", "0.8"]) else { return };
    let alone = intervals(&page).iter().find(|one| one["name"] == "alone").unwrap();
    if number(alone, "/processors") < 2.0 {
        println!("SKIP: the two threads never ran at once");
        return;
    }
    // While one thread computes the other one sleeps: its slot is empty.
    let empty = number(alone, "/accounts/serial") / number(alone, "/total_s");
    assert!((0.4..0.6).contains(&empty), "{alone}");
}

#[test]
fn a_pause_inside_an_interval_is_on_its_account() {
    let Some((run, page)) = agrees_paused() else { return };
    let half = &intervals(&page)[0];
    let truth = run.truth();
    let expected = number(&truth, "/intervals/paused/time_s") / number(&truth, "/intervals/half/time_s");
    let share = number(half, "/accounts/paused") / number(half, "/total_s");
    assert_close("share that was paused", share, expected, 0.1);
    assert_eq!(intervals(&page).len(), 1, "what was marked meanwhile is not there: {page}");
}

fn agrees_paused() -> Option<(Recorded, Value)> {
    let program = built("marks")?;
    let run = record(&program, &["paused", "0.6"]).succeeded();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    let half = number(&intervals(&page)[0], "/accounts/paused");
    assert_close("paused", half, number(&run.truth(), "/intervals/paused/time_s"), BESIDE_S);
    Some((run, page))
}

#[test]
fn marks_that_do_not_match_are_reported_with_their_places() {
    let Some((run, page)) = agrees("marks", &["unmatched", "0.5"]) else { return };
    let crossing = intervals(&page).iter().find(|one| one["name"] == "crossing").unwrap();
    assert_eq!(number(crossing, "/unmarked"), 1.0);
    let quality: Value = run.page("quality", &[]);
    let text = quality.to_string();
    for what in ["3 × `never begun[9]` (marks.c:", "1 × `crossing` (marks.c:", "1 × `left open` (marks.c:"]
    {
        assert!(text.contains(what) || text.contains(&what.replace("(marks", "(../marks")), "{what}: {text}");
    }
}

#[test]
fn intervals_of_a_killed_process_last_until_it_is() {
    let Some(program) = built("marks") else { return };
    let run = record(&program, &["killed", "0.6"]);
    let truth = run.truth();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    for (one, name) in intervals(&page).iter().zip(["outer", "inner[5]"]) {
        let truth_s = number(&truth["intervals"][name], "/time_s");
        assert_close(name, number(one, "/execution_s"), truth_s, BESIDE_S + 0.02 * truth_s);
        assert_eq!(number(one, "/unmarked"), 1.0);
    }
}

#[test]
fn intervals_of_a_program_that_becomes_another_one_last_until_it_does() {
    let Some((run, page)) = agrees("marks", &["exec", "0.6"]) else { return };
    let of_first = ["outer", "until exec"];
    for name in of_first {
        let one = intervals(&page).iter().find(|one| one["name"] == name).expect("an interval");
        assert_eq!((number(one, "/executions"), number(one, "/unmarked")), (1.0, 1.0), "{one}");
        let time_s = number(one, "/execution_s");
        assert!((0.3 - BESIDE_S..run.ended.wall_s).contains(&time_s), "{one}");
    }
    let quality = run.page::<Value>("quality", &[]).to_string();
    assert!(quality.contains("1 × `until exec[7]` (marks.c:"), "{quality}");
}

/// Of what four processors each do, three parts of four are repeated; of what two threads each do, half.
#[test]
fn repeated_work_is_on_its_account() {
    let Some((run, page)) = agrees("marks", &["replicated", "0.8"]) else { return };
    let share = |name: &str| {
        let one = intervals(&page).iter().find(|one| one["name"] == name).expect("an interval");
        let of = |account: &str| one["accounts"][account].as_f64().unwrap_or(0.0);
        assert!(of("compute") > 0.0, "{one}");
        of("replicated") / (of("compute") + of("replicated"))
    };
    assert_close("of four", share("setup"), 0.75, 1e-3);
    assert_close("inside of it", share("inside"), 0.75, 1e-3);
    assert_close("of nobody else", share("plain"), 0.0, 1e-9);
    assert_close("of two threads", share("each"), 0.5, 1e-3);
    let summary = run.summary();
    assert!(summary.quality.account_residual.abs() < 1e-3, "{:?}", summary.quality);
    let of_run = summary.ledger.account_s("replicated");
    let parts = |name: &str| {
        let one = intervals(&page).iter().find(|one| one["name"] == name).expect("an interval");
        number(one, "/accounts/replicated")
    };
    assert_close("the run", of_run, parts("setup") + parts("each"), 1e-3);
    let tree: Value = run.page("tree", &["--metrics", "replicated_s"]);
    let root = number(&list(&tree, "/contexts")[0], "/metrics/replicated_s/inclusive");
    assert_close("the tree", root, of_run, 1e-3);
}

#[test]
fn very_frequent_executions_are_all_counted() {
    let Some((_, page)) = agrees_often() else { return };
    let short = intervals(&page).iter().find(|one| one["name"] == "short").unwrap();
    assert_eq!(number(short, "/executions"), 1e6);
    assert!(number(short, "/recorded") < 5e5 && number(short, "/recorded") > 0.0, "{short}");
}

fn agrees_often() -> Option<(Recorded, Value)> {
    let program = built("marks")?;
    let run = record(&program, &["often"]).succeeded();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    Some((run, page))
}

#[test]
fn many_threads_forks_odd_names_and_opened_libraries() {
    let Some((_, _)) = agrees("marks", &["threads", "0"]) else { return };
    let Some((_, page)) = agrees("marks", &["fork", "0.4"]) else { return };
    let levels =
        intervals(&page).iter().filter(|one| one["name"] == "child").map(|one| number(one, "/level"));
    assert_eq!(levels.collect::<Vec<f64>>(), [2.0, 2.0], "{page}");
    let Some((_, page)) = agrees("marks", &["names", "0.4"]) else { return };
    assert!(intervals(&page).iter().any(|one| one["id"] == 1_i64 << 40), "{page}");
    agrees("marks", &["helpers", "0.4"]);
    agrees("marks-opened", &["0.4"]);
}

/// A handler of the program marks, too. Where it interrupts a mark, its own are not followed but counted.
#[test]
fn marks_of_signal_handlers_are_followed_or_counted() {
    let Some(program) = built("marks") else { return };
    let run = record(&program, &["handler", "0.5"]).succeeded();
    let truth = run.truth();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    let executions = |name: &str| -> f64 {
        let of = intervals(&page).iter().filter(|one| one["name"] == name);
        of.map(|one| number(one, "/executions")).sum()
    };
    assert_eq!(executions("work"), number(&truth, "/intervals/work/executions"));
    let handled = number(&truth, "/intervals/in handler/executions");
    let missed = handled - executions("in handler");
    assert!(handled > 10.0 && (0.0..=handled).contains(&missed), "{missed} of {handled}");
    let quality = run.page::<Value>("quality", &[]).to_string();
    let said = format!(": {} marks were not recorded", 2.0 * missed);
    assert!(missed == 0.0 || quality.contains(&said), "{missed} of {handled}: {quality}");
}

#[test]
fn a_program_samples_itself_names_its_thread_and_reads_its_clock() {
    let Some(program) = built("marks") else { return };
    let run = record(&program, &["samples", "0.4"]).succeeded();
    let truth = run.truth();
    let seconds = |what: &str| number(&truth, &format!("/intervals/{what}/time_s"));
    assert_close("elapsed", seconds("elapsed"), seconds("cpu"), 0.001);
    assert_eq!(seconds("unknown"), -1.0);
    let samples: Value = run.page("samples", &[]);
    let marked: Vec<&Value> =
        list(&samples, "/samples").iter().filter(|one| one["reason"] == "mark").collect();
    let labels: Vec<Option<&str>> = marked.iter().map(|one| one["label"].as_str()).collect();
    assert_eq!(labels, [Some("half done")], "{samples}");
    assert_close("half", number(marked[0], "/cpu_s"), 0.5 * seconds("cpu"), BESIDE_S);
    let threads: Value = run.page("threads", &[]);
    assert_eq!(list(&threads, "/locations")[0]["name"], "first of all threads", "{threads}");
}

/// Without Proust the marks do nothing, in the same programs.
#[test]
fn a_program_with_marks_runs_the_same_without_proust() {
    for (program, arguments) in [
        ("marks", ["nested", "0.1"]),
        ("marks", ["paused", "0.1"]),
        ("marks", ["samples", "0.1"]),
        ("marked-parts", ["parts", "0.1"]),
        ("marks-static", ["nested", "0.1"]),
        ("marks-cpp", ["0.1", ""]),
        ("marks-fortran", ["0.1", ""]),
        ("marks-rust", ["0.1", ""]),
    ] {
        let Some(file) = built(program) else { continue };
        let arguments = arguments.iter().filter(|argument| !argument.is_empty());
        let ended = run(Command::new(file).args(arguments));
        assert!(ended.status.success(), "{program}: {}", ended.said());
        let truth = truth_in(&ended);
        assert!(!truth["intervals"].as_object().expect("intervals").is_empty(), "{program}");
        assert!(truth["intervals"]["elapsed"].is_null() || truth["intervals"]["elapsed"]["time_s"] == -1.0);
    }
}

#[test]
fn other_languages_agree_too() {
    agrees("marks-cpp", &["0.5"]);
    agrees("marks-fortran", &["0.5"]);
    agrees("marks-rust", &["0.5"]);
    for example in ["marks-example-c", "marks-example-cpp", "marks-example-fortran"] {
        let Some(program) = built(example) else { continue };
        let page: Value = record::<&str>(&program, &[]).succeeded().page("intervals", &[]);
        assert_eq!(intervals(&page).len(), 5, "{example}: {page}");
    }
}

/// The example of the guide: its parallel intervals are marked so, and what is around them combines.
#[test]
fn the_phases_of_the_guide_are_there() {
    let Some(program) = built("marks-example-phases") else { return };
    let run = record::<&str>(&program, &[]).succeeded();
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    let found: Vec<(String, &str, f64)> = intervals(&page)
        .iter()
        .map(|one| (label(one), one["kind"].as_str().unwrap(), number(one, "/executions")))
        .collect();
    let expected =
        [("setup", "SEQ", 1.0), ("solve", "COMB", 1.0), ("sweep[0]", "PAR", 3.0), ("sweep[1]", "PAR", 3.0)];
    assert_eq!(found, expected.map(|(label, kind, count)| (label.to_owned(), kind, count)));
    assert_eq!(number(&intervals(&page)[3], "/iterations"), 3.0 * 4e7);
}

#[test]
fn the_end_of_a_region_is_in_the_interval_that_opened_it() {
    let Some(program) = built("marks-example-phases") else { return };
    let run = record(&program, &[] as &[&str]).succeeded();
    let tree: Value = run.page("tree", &[]);
    let contexts = list(&tree, "/contexts");
    let by_id = |id: &Value| contexts.iter().find(|context| context["id"] == *id);
    let is_in_solve = |context: &Value| {
        std::iter::successors(by_id(&context["parent"]), |context| by_id(&context["parent"]))
            .any(|context| context["kind"] == "interval" && context["name"] == "solve")
    };
    let sweeps: Vec<&Value> = contexts.iter().filter(|context| context["name"] == "sweep").collect();
    assert!(!sweeps.is_empty(), "no context of sweep");
    assert!(sweeps.into_iter().all(is_in_solve), "a context of sweep that is not in the interval");
}

/// What is wrong with marks is on their page, and what was not marked can be asked for there.
#[test]
fn the_page_of_intervals_has_their_notes_and_what_is_not_marked() {
    let Some(program) = built("marks") else { return };
    let run = record(&program, &["unmatched", "0.5"]).succeeded();
    let page: Value = run.page("intervals", &[]);
    let ids: Vec<&str> = list(&page, "/noted").iter().filter_map(|note| note["id"].as_str()).collect();
    for id in ["marks-unmatched", "intervals-crossed", "intervals-open"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    // Notes are wrapped.
    let text = printed(&run, &[]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("never begun[9]` (marks.c:"), "{text}");
    let functions: Value = run.page("intervals", &["--intervals", "functions"]);
    assert!(intervals(&functions).is_empty(), "{functions}");
    let places = list(&functions, "/places");
    let burnt = places.iter().find(|place| place["name"] == "burn_cpu").expect("a function");
    assert!(burnt["executions"].is_null() && burnt["error_s"].is_number(), "{burnt}");
    let found = run.flat().cpu("burn_cpu").inclusive;
    let accounts = burnt["accounts"].as_object().expect("accounts");
    let sum: f64 = accounts.values().filter_map(Value::as_f64).sum();
    assert_close("accounts", sum, number(burnt, "/total_s"), 1e-6);
    assert!(number(burnt, "/time_s") > 0.99 * found, "{found}: {burnt}");
    let wrong = crate::recording::report(&run.dir, "flat", &["--intervals", "all"]).said();
    assert!(wrong.contains("--intervals is for the page `intervals`"), "{wrong}");
}

/// The page as text.
fn printed(run: &Recorded, options: &[&str]) -> String {
    crate::recording::report(&run.dir, "intervals", options).printed()
}

#[test]
fn regions_and_operations_are_intervals_that_can_be_asked_for() {
    let Some(program) = built("marks-example-phases") else { return };
    let run = record::<&str>(&program, &[]).succeeded();
    let page: Value = run.page("intervals", &["--intervals", "all"]);
    assert_eq!(intervals(&page).len(), 4, "{page}");
    let of = |kind: &str| -> Vec<&Value> {
        list(&page, "/places").iter().filter(|place| place["of"] == kind).collect()
    };
    // Two levels of sweep, three times each; the region is the same construct in both intervals.
    let regions = of("region");
    let executions: f64 = regions.iter().map(|region| number(region, "/executions")).sum();
    assert_eq!(executions, 6.0, "{regions:?}");
    assert!(regions.iter().all(|region| region["kind"] == "PAR"), "{regions:?}");
    // All that threads did in regions is in the sweeps, and little of these is outside of regions.
    let in_regions: f64 = regions.iter().map(|region| number(region, "/accounts/compute")).sum();
    let in_sweeps: f64 = intervals(&page)[2..].iter().map(|sweep| number(sweep, "/accounts/compute")).sum();
    assert!(in_regions > 0.8 * in_sweeps && in_regions < 1.05 * in_sweeps, "{in_regions} {in_sweeps}");
    assert!(of("operation").iter().all(|place| number(place, "/executions") > 0.0), "{page}");
    // A region's account is that of the time in it: processors × time, idle ones included.
    for region in of("region") {
        assert_eq!(
            (region["windowed"].as_bool(), number(region, "/recorded")),
            (Some(true), 3.0),
            "{region}"
        );
        let slots_s = number(region, "/processors") * number(region, "/wall_s");
        assert_close("slots", number(region, "/total_s"), slots_s, 1e-3 * slots_s + 1e-6);
        let accounts = region["accounts"].as_object().expect("accounts");
        let sum: f64 = accounts.values().filter_map(Value::as_f64).sum();
        assert_close("accounts", sum, number(region, "/total_s"), 1e-6);
    }
    let text = printed(&run, &["--intervals", "regions"]);
    // A long name gives way to the accounts beside it.
    assert!(text.contains("Parallel regions") && text.contains("hases.c:"), "{text}");
}

/// A thread that waits in an interval for one that was late from another one lost that time because of it.
#[test]
fn what_was_lost_in_an_interval_was_caused_inside_or_before() {
    let Some(program) = built("marks") else { return };
    let run = record(&program, &["late", "0.8"]).succeeded();
    let truth_s = number(&run.truth(), "/intervals/waited/time_s");
    let page: Value = run.page("intervals", &[]);
    assert_closes(&page);
    let all = list(&page, "/intervals");
    let meet = all.iter().find(|one| one["name"] == "meet").expect("an interval");
    let before = list(meet, "/caused/before");
    let of_uneven = before.iter().find(|one| one["label"] == "uneven").expect("a cause");
    assert_eq!(all[number(of_uneven, "/interval") as usize]["name"], "uneven", "{page}");
    let caused_s = number(of_uneven, "/seconds");
    // What the late thread had no processor for is its own place's, too.
    assert_close("because of uneven", caused_s, truth_s, 0.1 * truth_s + BESIDE_S);
    assert!(number(meet, "/caused/inside_s") < 0.2 * truth_s + BESIDE_S, "{meet}");
    let uneven = all.iter().find(|one| one["name"] == "uneven").expect("an interval");
    assert!(number(uneven, "/caused/before_s") < BESIDE_S, "{uneven}");
    assert!(printed(&run, &[]).contains("Marked intervals"));
    let text = crate::recording::report(&run.dir, "intervals", &["meet"]).printed();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("before or beside it: uneven"), "{text}");
}
