//! A program that uses signals itself finds them unchanged.

use std::process::Command;

use crate::chance::{assert_close, assert_share};
use crate::command::run;
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{number, record, record_with, report, truth_in};

const EXACT: [&str; 7] = [
    "foreign_prof",
    "urgent_raised",
    "urgent_hits",
    "foreign_urgent",
    "urgent_was_default",
    "urgent_is_own",
    "mask_kept",
];

#[test]
fn own_handlers_masks_and_timers_work_as_without_proust() {
    let Some(program) = built("signals") else { return };
    let alone = truth_in(&run(Command::new(&program).arg("2")));
    let recorded = record(&program, &["2"]).succeeded();
    let truth = recorded.truth();
    for field in EXACT {
        assert_eq!(truth[field], alone[field], "{field}");
    }
    let (hits, expected) = (number(&truth, "/prof_hits"), number(&truth, "/prof_expected"));
    // By the timer's own clock, no hit can be too many; two that wait for a processor become one.
    assert!(
        hits >= 0.8 * expected - 2.0 && hits <= expected + 1.0,
        "{hits} hits of the program's own timer, {expected} expected"
    );
}

/// As Erlang's machine, which puts each handler on its alternate stack.
#[test]
fn a_program_that_has_functions_of_the_c_library_itself_is_called_by_nobody_else() {
    let Some(program) = built("own_sigaction") else { return };
    let alone = run(&mut Command::new(&program));
    let recorded = record(&program, &[] as &[&str]).succeeded();
    assert!(alone.printed().starts_with("100 handled"), "{}", alone.said());
    assert_eq!(recorded.ended.printed(), alone.printed());
}

#[test]
fn a_handler_that_is_prepared_at_the_same_tick_is_not_charged_with_what_it_interrupts() {
    let Some(program) = built("ticking") else { return };
    // A handler of the program's alone; and one of the signal that samples came with at first, on a stack of
    // its own, as Go's runtime has it.
    for arguments in [vec!["1", "14"], vec!["1", "23", "alternate"]] {
        let run = record(&program, &arguments).succeeded();
        run.except(Except::OwnCalls);
        let truth = run.truth();
        assert!(number(&truth, "/signals") > 50.0, "{arguments:?}: {truth}");
        let flat = run.flat();
        let worked = flat.cpu("work").exclusive / flat.total("cpu_s");
        let true_share = number(&truth, "/work_s") / number(&truth, "/cpu_s");
        // The handler counts a few hundred times; without a look below it all of the work is its own.
        assert!(true_share > 0.95 && worked > 0.9, "{arguments:?}: {worked} of {true_share}");
    }
}

#[test]
fn paths_go_through_a_signal_handler() {
    let Some(program) = built("signals") else { return };
    let recorded = record(&program, &["4"]).succeeded();
    let truth = recorded.truth();
    let flat = recorded.flat();
    let total = flat.total("cpu_s");
    let share = flat.cpu("compute_in_handler").inclusive / total;
    assert_share(
        "work in the handler",
        share,
        number(&truth, "/functions/compute_in_handler") / number(&truth, "/cpu_s"),
        flat.total("samples"),
    );
    // Above the handler stands what it interrupted.
    let through = recorded.tree().cpu_below("compute_in_handler", "interrupted_by_handler");
    assert!(
        through >= 0.97 * flat.cpu("compute_in_handler").inclusive,
        "{through} s of {share} of {total} s"
    );
}

#[test]
fn a_thread_that_blocks_all_signals_is_sampled_like_any_other() {
    let Some(program) = built("signals") else { return };
    let recorded = record(&program, &["4"]).succeeded();
    let truth = recorded.truth();
    let tid = number(&truth, "/blocked_thread/tid") as u64;
    let cpu_s = number(&truth, "/blocked_thread/cpu_s");
    assert_close("its CPU time", recorded.threads().thread(tid).cpu_s, cpu_s, 1e-4 * cpu_s + 0.002);
    let flat = recorded.flat_of_thread(tid);
    assert!(flat.cpu("all_signals_blocked").inclusive >= 0.95 * cpu_s, "{:#?}", flat.functions);
    // As many samples per second as the rest of the program has.
    let all = recorded.summary().quality.delivered_rate;
    let here = flat.total("samples") / cpu_s;
    assert!(here > 0.5 * all, "{here} samples a second here, {all} in the whole program");
}

/// What a case of `hostile_signals` prints alone and recorded, without the line that is never the same.
fn printed_by(case: &str) -> Option<(Vec<String>, Vec<String>)> {
    let program = built("hostile_signals")?;
    let lines = |printed: String| {
        printed.lines().filter(|line| !line.starts_with('{')).map(str::to_owned).collect::<Vec<_>>()
    };
    let alone = lines(run(Command::new(&program).arg(case)).printed());
    let recorded = record_with(&["--rate", "1000"], &program, &[case]).succeeded();
    Some((alone, lines(recorded.ended.printed())))
}

#[test]
fn whatever_sets_an_action_or_a_mask_reads_back_as_without_proust() {
    let Some((alone, recorded)) = printed_by("names") else { return };
    assert!(alone.len() > 500, "{} lines", alone.len());
    for (alone, recorded) in alone.iter().zip(&recorded) {
        assert_eq!(recorded, alone);
    }
    assert_eq!(alone.len(), recorded.len());
}

#[test]
fn handlers_that_are_waited_for_come_once() {
    let Some((alone, recorded)) = printed_by("paused_for") else { return };
    assert_eq!(recorded, alone);
}

/// Names of the C library with `sig` in them that need no hook, with the reason.
const NEED_NO_HOOK: [(&[&str], &str); 6] = [
    (
        &[
            "__sigaddset",
            "__sigdelset",
            "__sigismember",
            "sigaddset",
            "sigandset",
            "sigdelset",
            "sigemptyset",
            "sigfillset",
            "sigisemptyset",
            "sigismember",
            "sigorset",
            "_sys_siglist",
            "sys_siglist",
            "sys_sigabbrev",
            "psiginfo",
            "psignal",
            "sigabbrev_np",
            "sigdescr_np",
            "strsignal",
            "__libc_allocate_rtsig",
            "__libc_allocate_rtsig_private",
            "__libc_current_sigrtmax",
            "__libc_current_sigrtmax_private",
            "__libc_current_sigrtmin",
            "__libc_current_sigrtmin_private",
        ],
        "reads or changes memory of the program only",
    ),
    (
        &["gsignal", "pidfd_send_signal", "pthread_sigqueue", "sigqueue"],
        "sends a signal: the handler tells it from a sample's",
    ),
    (
        &["__sigsetjmp", "siglongjmp", "__sigsetjmp_cancel"],
        "keeps a copy of the kernel's mask, which says itself what the program blocks",
    ),
    (
        &["sigpause", "__sigsuspend", "__sigtimedwait", "__libc_sigaction"],
        "waits under a mask that the program gives, or is the C library's own",
    ),
    (
        &[
            "posix_spawnattr_getsigdefault",
            "posix_spawnattr_getsigmask",
            "posix_spawnattr_setsigdefault",
            "posix_spawnattr_setsigmask",
            "sigreturn",
        ],
        "for a new program, whose mask is the program's own; or does nothing",
    ),
    (
        &[
            "__signbit",
            "__signbitf",
            "__signbitl",
            "__signbitf128",
            "copysign",
            "copysignf",
            "copysignl",
            "_dl_signal_error",
            "_dl_signal_exception",
            "cnd_signal",
            "pthread_cond_signal",
            "significand",
            "significandf",
            "significandl",
        ],
        "has nothing to do with signals, or is hooked as a condition variable",
    ),
];

/// Names that a library defines for others.
fn defined_in(library: &std::path::Path) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let bytes = std::fs::read(library).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

#[test]
fn no_name_of_the_c_library_that_has_to_do_with_signals_is_forgotten() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(library) = maps.split_whitespace().find(|word| word.ends_with("/libc.so.6")) else {
        println!("SKIP: this C library is not GNU's, or is linked statically");
        return;
    };
    let hooked = crate::hooked::declared();
    let mut names: Vec<String> =
        defined_in(library.as_ref()).into_iter().filter(|name| name.contains("sig")).collect();
    names.extend(["prctl", "sigaltstack", "ppoll", "pselect", "epoll_pwait"].map(str::to_owned));
    let is_judged = |name: &str| {
        hooked.iter().any(|hook| hook == name) || NEED_NO_HOOK.iter().any(|(names, _)| names.contains(&name))
    };
    assert!(hooked.iter().any(|name| name == "sigaction") && names.len() > 50, "{} names", names.len());
    let forgotten: Vec<&String> = names.iter().filter(|name| !is_judged(name)).collect();
    assert!(forgotten.is_empty(), "neither hooked nor judged to need no hook: {forgotten:?}");
}

#[test]
fn small_alternate_stacks_and_fibers_stay_whole() {
    let Some(program) = built("hostile_signals") else { return };
    let recorded =
        record_with(&["--rate", "1000"], program, &["alternate_stacks_of_every_size", "small_fibers"]);
    let said = recorded.ended.printed();
    let recorded = recorded.succeeded();
    assert!(!said.contains("WRONG"), "{said}");
    // Fibers are sampled, and threads with the smallest stacks are not, which is said.
    let flat = recorded.flat();
    assert!(flat.cpu("fiber").inclusive > 0.1 && flat.cpu("in_context").inclusive > 0.05, "{flat:#?}");
    let quality = report(&recorded.dir, "quality", &[] as &[&str]).printed();
    assert!(quality.contains("has an alternate signal stack of 2048 bytes"), "{quality}");
}

/// Languages give each thread an alternate stack of the size that the kernel asks for. On processors with
/// AMX that includes registers which hardly any process uses.
#[test]
fn threads_with_alternate_stacks_of_the_usual_size_are_sampled() {
    let Some(program) = built("hostile_signals") else { return };
    let recorded = record(program, &["usual_alternate_stack"]);
    assert!(!recorded.ended.printed().contains("WRONG"), "{}", recorded.ended.printed());
    let recorded = recorded.succeeded();
    recorded.assert_trustworthy();
    // Half a second of its own clock.
    let found_s = recorded.flat().cpu("usual_alternate_stack").inclusive;
    assert!(found_s > 0.45, "{found_s} s");
}

/// Once a process uses these registers, the kernel's frame fills such a stack.
#[test]
fn registers_that_fill_an_alternate_stack_harm_nothing() {
    let Some(program) = built("hostile_signals") else { return };
    let recorded = record_with(&["--rate", "1000"], program, &["tiles_on_a_usual_alternate_stack"]);
    let printed = recorded.ended.printed();
    assert!(!printed.contains("WRONG"), "{printed}");
    let recorded = recorded.succeeded();
    if printed.contains("no tiles") {
        println!("SKIP: this processor has no AMX, or the kernel does not offer it");
        return;
    }
    let quality = report(&recorded.dir, "quality", &[] as &[&str]).printed();
    assert!(quality.contains("uses registers that fill its alternate signal stacks"), "{quality}");
}

#[test]
fn a_program_that_forbids_itself_the_counter_goes_on() {
    let Some(program) = built("forbidden_counter") else { return };
    for how in ["called", "by_number"] {
        let recorded = record(&program, &["1", how]);
        assert!(!recorded.ended.printed().contains("WRONG"), "{}", recorded.ended.printed());
        let recorded = recorded.succeeded();
        recorded.assert_trustworthy();
        let cpu_s = number(&recorded.truth(), "/cpu_s");
        let found = recorded.flat().cpu("work_without_counter").inclusive;
        assert!(found > 0.9 * cpu_s, "{found} s of {cpu_s} s");
    }
}

#[test]
fn calls_that_samples_interrupt_go_on() {
    let Some(program) = built("hostile_signals") else { return };
    // As on kernels whose CPU timers interrupt calls: the program asks for it, and sends such signals itself.
    let recorded = record(program, &["interrupted_calls"]);
    assert!(!recorded.ended.printed().contains("WRONG"), "{}", recorded.ended.printed());
    recorded.succeeded();
}

#[test]
fn a_sampler_that_fails_leaves_the_program_alone() {
    let Some(program) = built("hostile_signals") else { return };
    let recorded = record_with(&["--rate", "1000"], program, &["failing_sampler"]);
    assert!(!recorded.ended.printed().contains("WRONG"), "{}", recorded.ended.printed());
    recorded.except(Except::Killed);
    let recorded = recorded.succeeded();
    let quality = report(&recorded.dir, "quality", &[] as &[&str]).printed();
    assert!(quality.contains("did not end normally"), "{quality}");
}
