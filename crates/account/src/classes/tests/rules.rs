//! What each word of a rule does, on short paths; and what messages say.

use proust_profile::Nature;
use proust_profile::Profile;

use super::paths::read;
use crate::classes::{ClassError, Classes, Problem, STANDARD, STANDARD_FILE, parse, rule};
use crate::ledger::{PassiveReason, State, Wait, Work};

/// A path with all frames in one module, innermost first.
fn path(frames: &[&str]) -> (Profile, u32) {
    let text = frames.iter().fold("@ path".to_owned(), |text, frame| format!("{text}\n{frame}\tapp"));
    let (profile, paths) = read(&text);
    (profile, paths[0].0)
}

fn only(rules: &str) -> Classes {
    Classes { rules: rule::Rules::default() }.with("rules", rules).expect("rules")
}

fn blocked(classes: &Classes, frames: &[&str]) -> State {
    let (profile, context) = path(frames);
    classes.on(&profile).wait(context, Nature::Futex)
}

fn spinning(classes: &Classes, frames: &[&str]) -> Option<State> {
    let (profile, context) = path(frames);
    classes.on(&profile).spin(context)
}

const LOCK: State = State::Waiting(Wait::Lock);
const BARRIER: State = State::Waiting(Wait::Barrier);
const POOL: State = State::Passive(PassiveReason::Pool);
const FUTEX: State = State::Passive(PassiveReason::Futex);
const CONDITION: State = State::Passive(PassiveReason::Condition);

#[test]
fn the_built_in_table_has_no_mistakes() {
    let mut rules = rule::Rules::default();
    parse::parse(STANDARD_FILE, STANDARD, rule::Origin::Standard, &mut rules).expect("a table");
    assert!(!rules.rules.is_empty());
}

#[test]
fn the_innermost_final_rule_decides_and_a_weak_one_gives_way_outwards() {
    let classes = only("condition wait_changed weak\nbarrier meet\nlock take\nthrough lib_*");
    assert_eq!(blocked(&classes, &["wait_changed", "main"]), CONDITION);
    assert_eq!(blocked(&classes, &["wait_changed", "lib_loop", "meet", "main"]), BARRIER);
    assert_eq!(blocked(&classes, &["take", "meet", "main"]), LOCK);
    assert_eq!(blocked(&classes, &["wait_changed", "main", "meet"]), CONDITION, "main is the program's");
    assert_eq!(blocked(&classes, &["main", "take"]), FUTEX);
}

#[test]
fn of_two_weak_rules_the_outer_one_holds() {
    let classes = only("park stop weak\ncondition wait_changed weak");
    assert_eq!(blocked(&classes, &["stop", "wait_changed"]), CONDITION);
}

#[test]
fn what_is_nearest_outside_decides_what_a_runtime_waits_for() {
    let rules = "[pool]\nthrough run_*\nbarrier look under join\npool look under work_loop";
    let classes = only(rules);
    assert_eq!(blocked(&classes, &["look", "run_one", "join", "run_two", "look", "work_loop"]), BARRIER);
    assert_eq!(blocked(&classes, &["look", "work_loop"]), POOL);
    assert_eq!(blocked(&classes, &["look", "job", "work_loop"]), FUTEX, "a job is code of the program");
    assert_eq!(
        blocked(&classes, &["run_one", "look", "work_loop"]),
        FUTEX,
        "frames of a section before its rules"
    );
}

#[test]
fn a_direct_rule_holds_only_for_the_functions_own_waits() {
    let classes = only("lock once direct\nsleep doze weak");
    assert_eq!(blocked(&classes, &["once"]), LOCK);
    assert_eq!(blocked(&classes, &["doze", "once"]), State::Passive(PassiveReason::Sleep));
}

#[test]
fn rules_for_blocked_and_for_spinning_threads() {
    let classes = only("lock take when blocked\nbarrier meet when spinning\npool idle");
    assert_eq!((blocked(&classes, &["take"]), spinning(&classes, &["take"])), (LOCK, None));
    assert_eq!(blocked(&classes, &["meet"]), FUTEX);
    assert_eq!(spinning(&classes, &["meet"]), Some(State::Polling(Wait::Barrier)));
    assert_eq!((blocked(&classes, &["idle"]), spinning(&classes, &["idle"])), (POOL, Some(POOL)));
}

#[test]
fn rules_for_one_kind_of_operation() {
    let classes = only("lock library when condition\npool library weak");
    let (profile, context) = path(&["library", "main"]);
    let classes = classes.on(&profile);
    assert_eq!(classes.wait(context, Nature::Condition), LOCK);
    assert_eq!(classes.wait(context, Nature::Futex), POOL);
    assert_eq!(classes.spin(context), Some(POOL));
}

#[test]
fn modules_and_linkage_names() {
    let classes = only("pool idle in lib*.so*|app");
    assert_eq!(blocked(&classes, &["idle"]), POOL);
    assert_eq!(blocked(&only("pool idle in lib*"), &["idle"]), FUTEX);
    let (profile, paths) = read("@ path\napp::idle\tapp\t_ZN3app4idleE");
    assert_eq!(only("pool _ZN3app*").on(&profile).wait(paths[0].0, Nature::Futex), POOL);
}

#[test]
fn the_users_rules_overrule_the_table_anywhere_on_the_path() {
    let mutex = ["std::sys::sync::mutex::futex::Mutex::lock_contended", "app::Meeting::wait", "main"];
    assert_eq!(blocked(&Classes::standard(), &mutex), LOCK);
    let mine = Classes::standard().with("mine", "barrier app::Meeting::wait").expect("a rule");
    assert_eq!(blocked(&mine, &mutex), BARRIER);
    // Of two files the later one goes first.
    let later = mine.with("later", "pool app::Meeting::wait").expect("a rule");
    assert_eq!(blocked(&later, &mutex), POOL);
    let as_before = later.with("last", "work app::Meeting::wait").expect("a rule");
    assert_eq!(blocked(&as_before, &mutex), FUTEX);
}

#[test]
fn functions_that_say_what_they_wait_for_are_overruled_by_the_user_only() {
    let (profile, context) = path(&["rayon_core::latch::LockLatch::wait", "main"]);
    let standard = Classes::standard();
    assert_eq!(standard.on(&profile).wait(context, Nature::Lock), LOCK);
    assert_eq!(standard.on(&profile).wait(context, Nature::Condition), State::Passive(PassiveReason::Join));
    let mine = standard.with("mine", "pool rayon_core::latch::*").expect("a rule");
    assert_eq!(mine.on(&profile).wait(context, Nature::Lock), POOL);
}

#[test]
fn a_wait_that_takes_a_processor_is_polling() {
    let classes = only("barrier meet");
    let (profile, context) = path(&["meet"]);
    assert_eq!(classes.on(&profile).wait(context, Nature::Yield), State::Polling(Wait::Barrier));
    let (profile, context) = path(&["main"]);
    assert_eq!(classes.on(&profile).wait(context, Nature::Yield), State::Working(Work::Delayed));
    assert_eq!(classes.on(&profile).wait(context, Nature::Spin), State::Polling(Wait::Lock));
    assert_eq!(classes.on(&profile).by_path(context, Nature::Read), None);
    assert_eq!(classes.on(&profile).wait(u32::MAX, Nature::Futex), FUTEX, "a context of another profile");
}

#[test]
fn the_digest_follows_the_rules_and_not_their_dress() {
    let digest = |text: &str| Classes::standard().with("mine", text).expect("rules").digest();
    assert_eq!(digest("pool a in b weak # mine"), digest("# mine\n\n  pool  a weak in b"));
    let all = [
        "",
        "pool a",
        "pool b",
        "lock a",
        "pool a in m",
        "pool a under m",
        "pool a weak",
        "pool a direct",
        "pool a when blocked",
        "pool a when poll",
        "pool a when spinning",
        "through a",
        "[a]\npool a",
        "[b]\nthrough a",
    ];
    let digests: std::collections::BTreeSet<u64> = all.iter().map(|text| digest(text)).collect();
    assert_eq!(digests.len(), all.len());
}

#[test]
fn messages_name_the_line_and_what_to_do() {
    let message = |text: &str| only_error(text).to_string();
    assert!(message("pool a\nlok b").starts_with(
        "mine:2: 'lok' is no class of waits (did you mean 'lock'?); the classes are lock, barrier"
    ));
    assert_eq!(message("pool # a"), "mine:1: 'pool' of which function? write 'pool FUNCTION'");
    assert!(message("pool operator new").starts_with("mine:1: 'new' is not understood"));
    assert!(message("pool a undr b").contains("(did you mean 'under'?)"));
    assert_eq!(message("pool a in"), "mine:1: nothing follows 'in'; a module belongs there");
    assert_eq!(
        message("pool a in b in c"),
        "mine:1: 'in' is there twice; write alternatives with '|' between them"
    );
    assert!(
        message("pool a when idle").starts_with(
            "mine:1: 'when idle' is not understood; after 'when' may come blocked, spinning, lock"
        )
    );
    assert_eq!(
        message("\n\nthrough a weak"),
        "mine:3: 'weak' cannot stand in a line that begins with 'through'; only 'in MODULE' can"
    );
    assert_eq!(
        message("pool a||b"),
        "mine:1: an alternative in 'a||b' is empty; there must be something on both sides of each '|'"
    );
    assert_eq!(
        message("[rayon"),
        "mine:1: '[rayon' is no header of a section; write '[NAME]' and nothing else on the line"
    );
    assert!(matches!(
        only_error("not-recorded a"),
        ClassError::Line { problem: Problem::UnknownClass { .. }, .. }
    ));
}

fn only_error(text: &str) -> ClassError {
    Classes::standard().with("mine", text).expect_err("no rules")
}

#[test]
fn comments_begin_after_a_blank() {
    let classes = only("pool main::{lambda()#1}::operator() # the worker\n# pool main\nthrough x\t#");
    let (profile, paths) = read("@ path\nmain::{lambda()#1}::operator()\tapp");
    assert_eq!(classes.on(&profile).wait(paths[0].0, Nature::Futex), POOL);
}

#[test]
fn the_example_of_the_documents_is_read() {
    let guide = include_str!("../../../../../docs/wait-rules.md");
    let from = guide.find("# A job system of ours").expect("the example");
    let example = guide[from..].split("```").next().expect("its end");
    let classes = Classes::standard().with("guide", example).expect("rules");
    let found = ["jobs::Worker::find", "jobs::detail::help", "jobs::wait_all", "main"];
    assert_eq!(blocked(&classes, &found), BARRIER);
    assert_eq!(blocked(&classes, &["jobs::Worker::find", "jobs::Worker::main"]), POOL);
}
