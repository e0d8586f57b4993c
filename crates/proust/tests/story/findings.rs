//! Findings: for each kind a program that has the fault, and the same one repaired; and that nothing is found
//! where nothing is wrong.
//!
//! What a fault costs depends on the machine: threads that do not run at once do not wait for each other. So
//! a finding is asked for where the program lost something by its own clock, or was made so that it must.
//! Constructs of OpenMP need their threads to run at once: where others had the processors, that is no test
//! of them.

use std::path::{Path, PathBuf};

use serde_json::Value;

mod libraries;

use crate::command::{proust, run};
use crate::pages::Location;
use crate::programs::{built, folder};
use crate::recording::{Recorded, list, number, record};
use crate::tier;

/// How often a program may be recorded until its fault costs something.
const TRIES: usize = 5;
/// Of the run's total, what that is.
const COSTS: f64 = 0.1;
/// From one sample to the next, s of processor time.
const PERIOD_S: f64 = 0.01;
/// How far what is found may be off where it is only asked whether it costs something.
const ANY: f64 = 1e6;
/// Of the run's total, the time in line for a processor from which on threads do not run at once.
const BUSY: f64 = 0.1;

/// The kind of waits for whoever is late, each time another one.
const LATE_WORK: &str = "late-work";

/// What a program with a fault is asked for.
struct Fault {
    kind: &'static str,
    account: &'static str,
    function: &'static str,
    /// Whether what the program lost by its own clock is what is found, and how far it may be off, as a part
    /// of it.
    lost: Option<f64>,
    seconds: &'static str,
}

const FAULTS: [Fault; 52] = [
    fault("lock-across-io", "lock", "append_locked", Some(0.25), "0.7"),
    fault("lock-across-sleep", "lock", "pause_locked", None, "0.7"),
    fault("hot-section", "lock", "count_locked", Some(ANY), "1"),
    fault("convoy", "lock", "update_table", Some(0.25), "1"),
    fault("long-section", "lock", "work_locked", Some(0.25), "1"),
    fault("lock-spin", "lock", "work_spinning", Some(ANY), "1"),
    fault("serial-phase", "serial", "read_all_input", Some(0.25), "0.8"),
    fault("long-task", "serial", "do_task", Some(0.25), "0.8"),
    fault("idle-pool", "serial", "make_item", None, "1"),
    fault("late-thread", "barrier", "larger_part", Some(0.35), "0.8"),
    fault(LATE_WORK, "barrier", "meets_in_turn", Some(0.35), "0.8"),
    fault("work-by-turns", "serial", "wait_for_turn", None, "0.6"),
    fault("one-at-a-time", "serial", "enter_limited", None, "0.8"),
    fault("unexplained-wait", "asleep", "wait_out_interval", Some(0.25), "0.8"),
    fault("small-tasks", "compute", "", None, "0.6"),
    fault("oversubscription", "oversubscribed", "crowd_member", None, "0.6"),
    fault("bound-together", "oversubscribed", "bound_member", Some(0.25), "0.8"),
    fault("first-touch", "fault", "fill_table", None, "0.4"),
    fault("fault-startup", "fault", "fill_table", None, "0.8"),
    fault("fault-churn", "fault", "steps", None, "0.6"),
    fault("memory-clearing", "compute", "clear_scratch", Some(0.25), "0.8"),
    fault("memory-copying", "compute", "copy_table", Some(0.25), "0.8"),
    fault("text-scanning", "compute", "read_by_scanning", Some(0.25), "0.8"),
    fault("repeated-preparation", "compute", "compile", Some(0.25), "0.8"),
    // A third of the time, of which 0.8 s had 28 samples: too few for one run in a hundred.
    fault("allocation-churn", "compute", "make_parts", Some(0.35), "2.4"),
    fault("hot-atomic", "compute", "count_in_common", None, "0.8"),
    fault("unread-output", "serial", "reads_some", None, "0.8"),
    fault("round-trips", "asleep", "fetch_answer", None, "0.5"),
    fault("system-storm", "compute", "protect_page", None, "0.6"),
    fault("sleep-poll", "asleep", "sleep_until_turn", None, "1.5"),
    fault("sleeping-worker", "serial", "rest_a_while", Some(0.35), "0.8"),
    fault("spin-wait", "compute", "wait_by_yielding", Some(0.5), "1"),
    fault("busy-wait", "compute", "wait_by_reading", Some(0.25), "1"),
    fault("thread-churn", "compute", "thread_for_task", None, "0.5"),
    fault("process-churn", "compute", "length_by_shell", None, "0.8"),
    fault("tiny-io", "io", "write_number", Some(0.35), "0.6"),
    fault("much-io", "io", "read_table", Some(0.25), "0.5"),
    fault("file-churn", "io", "append_number", None, "0.6"),
    fault("sync-storm", "io", "make_safe", Some(0.25), "0.5"),
    fault("omp-deep-construct", "barrier", "divide_inner_loop", None, "1"),
    fault("omp-uneven-loop", "barrier", "divide_by_count", None, "1.5"),
    fault("omp-large-chunks", "barrier", "two_chunks", None, "1"),
    fault("omp-small-chunks", "compute", "one_at_a_time", None, "1"),
    fault("omp-hot-single", "compute", "settle_for_each", None, "1"),
    fault("omp-hot-critical", "lock", "add_in_critical", None, "1"),
    fault("omp-nested-teams", "oversubscribed", "inner_region", None, "1"),
    fault("omp-spinning-waits", "barrier", "beside_others", None, "1.5"),
    fault("omp-sleeping-waits", "barrier", "short_loops", None, "0.6"),
    // Only samples say what of parts as short as these lies between the regions: 0.8 s has too few for three
    // standard errors.
    fault("omp-serial-part", "serial", "smooth", None, "3"),
    fault("omp-team-of-one", "serial", "orphaned_loop", None, "0.6"),
    fault("omp-small-tasks", "barrier", "tasks_of", None, "1"),
    fault("omp-serial-tasks", "barrier", "tasks_if", None, "1"),
];

const fn fault(
    kind: &'static str,
    account: &'static str,
    function: &'static str,
    lost: Option<f64>,
    seconds: &'static str,
) -> Fault {
    Fault { kind, account, function, lost, seconds }
}

fn findings(run: &Recorded) -> Vec<Value> {
    list(&run.page::<Value>("summary", &[]), "/findings").to_vec()
}

pub fn of_kind<'f>(found: &'f [Value], kind: &str) -> Option<&'f Value> {
    found.iter().find(|finding| finding["kind"] == kind)
}

impl Fault {
    /// The programs that have it, or its repair: of OpenMP one source by each compiler, in turn for a fault
    /// and its repair, and the other way round for the next fault.
    fn programs(&self, repaired: bool) -> Vec<PathBuf> {
        let names: &[&str] = match self.kind {
            // Threads that wait in LLVM's runtime give their processors away when there are too few.
            "omp-spinning-waits" => &["openmp-findings-gcc"],
            // LLVM's runtime up to version 16 reports no requests for iterations: a loop that is handed out
            // looks as if it were divided by count.
            "omp-large-chunks" => &["openmp-findings-gcc"],
            _ if self.is_of_openmp() => &["openmp-findings-gcc", "openmp-findings-clang"],
            _ => &["findings"],
        };
        let place = FAULTS.iter().position(|fault| fault.kind == self.kind).expect("one of them");
        let names = tier::in_turn(names.to_vec(), place + usize::from(repaired));
        names.iter().filter_map(|name| built(name)).collect()
    }

    fn is_of_openmp(&self) -> bool {
        self.kind.starts_with("omp-")
    }

    /// Of the run's total, the time in line for a processor from which on it is no test.
    fn most_starved(&self) -> f64 {
        if self.is_of_openmp() { BUSY } else { STARVED }
    }
}

/// The lines of a function of C, as the style of the programs writes it: from its name to the brace in the
/// first column.
fn lines_of(file: &str, function: &str) -> Option<(u64, u64)> {
    let begins = |line: &str| !line.starts_with([' ', '/', '}']) && line.contains(&format!("{function}("));
    // Two have a file of the same name as the family that it is.
    ["findings", "openmp", "mpi"].iter().find_map(|of| {
        let text = std::fs::read_to_string(folder().join(of).join(file)).ok()?;
        let begin = text.lines().position(begins)?;
        let length = text.lines().skip(begin).position(|line| line == "}")?;
        Some((begin as u64 + 1, (begin + length) as u64 + 1))
    })
}

/// Where other processes took so much of the total, what a fault costs is no part of it worth a word.
const STARVED: f64 = 0.4;

/// Threads that sleep at a barrier go on so long after all have come, by the program's own clocks, where it
/// takes a while to wake them: half as long again as is worth a word. On some machines it hardly takes any
/// time.
const SLEEPS_S: f64 = 4.5e-6;
/// So much of their time that must be.
const SLEEPS: f64 = 0.15;

/// Time in line for a processor by the kernel's count, and all time, of all threads, s. The account of that
/// name leaves out who stands in line while it waits for others, as members at a barrier do.
fn queued_and_wall_s(run: &Recorded) -> (f64, f64) {
    let threads = run.threads().locations;
    let sum = |of: fn(&Location) -> f64| threads.iter().map(of).sum();
    (sum(|thread| thread.queued_s), sum(|thread| thread.wall_s))
}

/// Whether that is so, but for the time in line for a processor, by the kernel's count.
fn is_held_up(run: &Recorded) -> bool {
    let truth = run.truth();
    let (queued_s, wall_s) = queued_and_wall_s(run);
    let held_up_s = number(&truth, "/held_up_s") - queued_s;
    held_up_s > SLEEPS_S * number(&truth, "/waits") && held_up_s > SLEEPS * wall_s
}

/// Records a program with a fault until it had processors; if it knows what it lost, until that is something.
/// None, said as `SKIP:`, if it never is.
fn recorded(program: &Path, fault: &Fault) -> Option<Recorded> {
    // Whether threads sleep for a moment or are taken for queued is the kernel's choice in each run: one of
    // those in which it costs something has to tell.
    let is_chance = fault.kind == "omp-sleeping-waits";
    let mut last = None;
    for _ in 0..TRIES {
        let run = record(program, &[fault.seconds, fault.kind]).succeeded();
        let ledger = run.summary().ledger;
        let costs = match fault.lost {
            Some(_) => number(&run.truth(), "/lost_s") > COSTS * ledger.total_s,
            None => !is_chance || is_held_up(&run),
        };
        let is_told = || fault.is_of_openmp() && of_kind(&findings(&run), fault.kind).is_some();
        let (queued_s, wall_s) = queued_and_wall_s(&run);
        let has_processors = ledger.account_s("preempted") < fault.most_starved() * ledger.total_s
            && (!fault.is_of_openmp() || queued_s < 2.0 * BUSY * wall_s);
        if costs && is_chance && has_processors && !is_told() {
            last = Some(run);
        } else if costs && (has_processors || is_told()) {
            return Some(run);
        }
    }
    if last.is_some() {
        return last;
    }
    println!("SKIP: {} costs nothing on this machine as it is loaded now", fault.kind);
    None
}

fn assert_found(fault: &Fault) {
    for program in fault.programs(false) {
        assert_found_in(&program, fault);
    }
}

fn assert_found_in(program: &Path, fault: &Fault) {
    let Some(run) = recorded(program, fault) else { return };
    let found = findings(&run);
    let Some(finding) = of_kind(&found, fault.kind) else {
        let ledger = run.summary().ledger;
        panic!("{} is not found: {found:#?} {} {ledger:#?}", fault.kind, run.truth());
    };
    assert_eq!(finding["account"], fault.account, "{finding:#}");
    let (seconds, lost_s) = (number(finding, "/seconds"), number(finding, "/lost_s"));
    assert!(seconds <= lost_s + 1e-9, "{finding:#}");
    if let Some(off) = fault.lost {
        // By its own clock a thread waits for a processor, too, when it is woken, or because another one has
        // none.
        let ledger = run.summary().ledger;
        let queued_s = ledger.account_s("preempted") + ledger.account_s("oversubscribed");
        let truth_s = number(&run.truth(), "/lost_s");
        // The time of a computation is counted in samples.
        let chance_s = if fault.account == "compute" { 3.0 * (truth_s * PERIOD_S).sqrt() } else { 0.0 };
        let more_s = truth_s * off + 0.02 + chance_s;
        assert!(
            lost_s <= truth_s + more_s && lost_s >= truth_s - more_s - queued_s,
            "{lost_s} s are found, {truth_s} s were lost, {queued_s} s queued: {finding:#}"
        );
    }
    if !fault.function.is_empty() {
        assert_cause(finding, fault.function);
    }
    assert_derived(&run, finding);
}

/// The cause is this function, and its line is one of it.
pub fn assert_cause(finding: &Value, function: &str) {
    let cause = &finding["cause"];
    let is_region = cause["function"].as_str().is_some_and(|name| name.starts_with("parallel region at "));
    assert!(cause["function"] == function || is_region, "{finding:#}");
    let file = cause["file"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let line = cause["line"].as_u64().unwrap_or_default();
    let (first, last) =
        lines_of(file, function).unwrap_or_else(|| panic!("{function} is not in {file}: {finding:#}"));
    assert!(
        (first..=last).contains(&line),
        "line {line} is not in {function}, {first} to {last}: {finding:#}"
    );
}

/// Everything is said that a reader needs, and `explain` shows how it was made.
pub fn assert_derived(run_of: &Recorded, finding: &Value) {
    for field in ["title", "advice", "sure", "why_sure", "formula"] {
        assert!(finding[field].as_str().is_some_and(|text| text.len() > 3), "{field}: {finding:#}");
    }
    assert!(list(finding, "/evidence").len() >= 3, "{finding:#}");
    for check in list(finding, "/checks") {
        let (value, limit) = (number(check, "/value"), number(check, "/limit"));
        let holds = if check["at_least"] == true { value >= limit } else { value <= limit };
        assert!(holds, "{check:#}");
    }
    let handle = finding["handle"].as_str().unwrap();
    let ended = run(proust().arg("explain").arg(&run_of.dir).arg(handle));
    assert!(ended.status.success(), "{}", ended.said());
    for words in ["Thresholds", "Numbers", "What to do", "Look next at", finding["formula"].as_str().unwrap()]
    {
        let printed = ended.printed().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(words), "{words} is not in:\n{}", ended.printed());
    }
}

fn assert_not_found(fault: &Fault) {
    for program in fault.programs(true) {
        let run = record(program, &[fault.seconds, &format!("{}-repaired", fault.kind)]).succeeded();
        let found = findings(&run);
        let ledger = run.summary().ledger;
        let is_busy = ledger.account_s("preempted") > BUSY / 2.0 * ledger.total_s;
        // Each waits for who has no processor, too, and that is what this kind is about.
        if fault.kind == LATE_WORK && is_busy {
            println!("SKIP: {} is repaired, but the machine is busy", fault.kind);
            continue;
        }
        // What a team loses beside a load may look like the fault, but is never called more than possible.
        let finding = of_kind(&found, fault.kind);
        assert!(finding.is_none_or(|finding| is_busy && finding["sure"] == "possible"), "{found:#?}");
    }
}

fn fault_of(kind: &str) -> &'static Fault {
    FAULTS.iter().find(|fault| fault.kind == kind).unwrap()
}

macro_rules! kinds {
    ($($name:ident $repaired:ident $kind:literal;)*) => {
        $(
            #[test]
            fn $name() {
                assert_found(fault_of($kind));
            }

            #[test]
            fn $repaired() {
                assert_not_found(fault_of($kind));
            }
        )*

        #[test]
        fn every_kind_has_its_stories() {
            let told = [$($kind),*];
            assert_eq!(told.len(), FAULTS.len());
            let mut kinds = proust_kinds();
            kinds.retain(|kind| !told.contains(kind) && !libraries::KINDS.contains(kind));
            kinds.retain(|kind| !crate::mpi_findings::KINDS.contains(kind));
            kinds.retain(|kind| !crate::hybrid::KINDS.contains(kind));
            assert!(kinds.is_empty(), "{kinds:?}");
        }
    };
}

kinds! {
    a_lock_held_across_io a_lock_not_held_across_io "lock-across-io";
    a_lock_held_across_sleep a_lock_not_held_across_sleep "lock-across-sleep";
    a_short_section_in_a_hot_loop no_short_section_in_a_hot_loop "hot-section";
    a_convoy no_convoy "convoy";
    a_long_section no_long_section "long-section";
    spinning_for_a_lock no_spinning_for_a_lock "lock-spin";
    a_serial_phase no_serial_phase "serial-phase";
    a_long_task_at_the_end no_long_task_at_the_end "long-task";
    too_few_tasks enough_tasks "idle-pool";
    a_late_thread no_late_thread "late-thread";
    threads_late_in_turn threads_that_are_never_late "late-work";
    threads_that_take_turns threads_that_need_no_turn "work-by-turns";
    a_limit_of_one a_limit_of_two "one-at-a-time";
    a_wait_that_ends_by_its_time no_wait_between_steps "unexplained-wait";
    tasks_too_small tasks_large_enough "small-tasks";
    more_threads_than_processors as_many_threads_as_processors "oversubscription";
    threads_bound_to_one_processor threads_bound_to_none "bound-together";
    memory_touched_by_one memory_touched_by_each "first-touch";
    a_start_of_page_faults no_start_of_page_faults "fault-startup";
    memory_given_back_and_touched_again memory_kept "fault-churn";
    memory_cleared_for_each_query memory_cleared_where_it_was_used "memory-clearing";
    a_storm_of_system_calls no_storm_of_system_calls "system-storm";
    sleeping_to_look_again waiting_for_a_signal "sleep-poll";
    workers_that_sleep workers_that_never_sleep "sleeping-worker";
    spinning_to_wait blocking_to_wait "spin-wait";
    reading_to_wait blocking_instead_of_reading "busy-wait";
    threads_for_a_moment one_thread_for_all "thread-churn";
    processes_for_a_moment no_processes_for_a_moment "process-churn";
    io_of_a_few_bytes io_of_many_bytes "tiny-io";
    memory_copied_for_each_query memory_that_is_only_read "memory-copying";
    texts_searched_to_their_ends texts_read_from_a_place "text-scanning";
    a_pattern_compiled_for_each_line a_pattern_compiled_once "repeated-preparation";
    memory_allocated_all_the_time memory_that_is_kept "allocation-churn";
    a_counter_of_all_threads a_counter_for_each_thread "hot-atomic";
    output_that_is_not_read output_read_as_it_comes "unread-output";
    requests_sent_one_by_one requests_sent_at_once "round-trips";
    a_table_read_again_and_again a_table_read_once "much-io";
    files_opened_all_the_time a_file_kept_open "file-churn";
    files_made_safe_all_the_time files_made_safe_once "sync-storm";
    a_construct_too_deep a_construct_further_out "omp-deep-construct";
    a_loop_divided_by_count a_loop_handed_out "omp-uneven-loop";
    chunks_too_large chunks_small_enough "omp-large-chunks";
    chunks_too_small chunks_large_enough "omp-small-chunks";
    a_single_for_each_element elements_divided_between_threads "omp-hot-single";
    a_critical_section_in_a_hot_loop a_reduction "omp-hot-critical";
    teams_inside_teams teams_of_one_inside "omp-nested-teams";
    waits_that_keep_processors waits_that_give_them_away "omp-spinning-waits";
    waits_that_sleep_for_a_moment waits_that_look_again "omp-sleeping-waits";
    a_serial_part_between_regions a_divided_part_between_regions "omp-serial-part";
    a_loop_outside_of_regions a_loop_inside_of_one "omp-team-of-one";
    openmp_tasks_too_small openmp_tasks_large_enough "omp-small-tasks";
    openmp_tasks_one_at_a_time openmp_tasks_at_once "omp-serial-tasks";
}

/// The kinds that are documented.
fn proust_kinds() -> Vec<&'static str> {
    proust_findings::Kind::ALL.iter().map(|kind| kind.id()).collect()
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let Some(program) = built("findings") else { return };
    for case in ["control", "control-two", "control-phases", "control-sleepers"] {
        let run = record(&program, &["0.5", case]).succeeded();
        let mut found = findings(&run);
        // Others' load makes threads wait for each other.
        found.retain(|finding| finding["kind"] != "unexplained-wait");
        assert!(found.is_empty(), "{case}: {found:#?} {:#?}", run.summary().ledger);
    }
}

#[test]
fn a_finding_that_is_not_there_is_refused_with_what_is() {
    let Some(program) = built("findings") else { return };
    let recorded = record(program, &["0.2", "control"]).succeeded();
    let ended = run(proust().arg("explain").arg(&recorded.dir).arg("L7"));
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.said().contains("L7") && ended.said().contains("no findings"), "{}", ended.said());
    let text = run(proust().arg("report").arg(&recorded.dir));
    assert!(text.printed().contains("Findings"), "{}", text.printed());
}

#[test]
fn effort_is_read_as_idle_where_a_phase_is_serial() {
    let Some(program) = built("findings") else { return };
    let run = record(program, &["0.8", "serial-phase"]).succeeded();
    let page = run.page::<Value>("effort", &[]);
    let (work, idle) = (number(&page, "/work_s"), number(&page, "/idleness_s"));
    let sum = work + idle + number(&page, "/overhead_s");
    assert!((sum - number(&page, "/effort_s")).abs() < 1e-9, "{page:#}");
    assert!(matches!(page["reading"].as_str(), Some("refine" | "change-strategy")), "{page:#}");
    let idle_in = |name: &str| {
        let row = list(&page, "/contexts").iter().find(|row| row["name"] == name);
        number(row.unwrap_or_else(|| panic!("no {name}: {page:#}")), "/idleness")
    };
    // The machine may let one of the two that solve end long before the other.
    assert!(idle_in("read_all_input") > 0.3, "{page:#}");
    assert!(idle_in("read_all_input") > idle_in("solve_part") + 0.1, "{page:#}");
}
