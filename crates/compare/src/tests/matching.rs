//! Which places are the same.

use proust_profile::{ContextId, ContextKind, IntervalContext, IntervalInfo, Metric, Unit};

use super::{outline, profile, profile_from, shown};
use crate::Joint;
use proust_query::{Amounts, Selection};

#[test]
fn the_same_run_lies_on_itself() {
    let run = profile("b", &[("main :3", 1.0), ("main work@5 :7", 2.0), ("main work@9 :7", 3.0)]);
    assert_eq!(shown(&[run.clone(), run]), ["main :3 1 1", "main work@5 :7 2 2", "main work@9 :7 3 3"]);
}

#[test]
fn moved_functions_are_the_same() {
    let paths = [("main :3", 1.0), ("main work@5 :7", 2.0), ("main work@9 :7", 3.0)];
    let (a, b) = (profile_from("a", 10, &paths), profile_from("b", 50, &paths));
    assert_eq!(shown(&[a, b]), ["main :53 1 1", "main work@55 :57 2 2", "main work@59 :57 3 3"]);
}

#[test]
fn lines_moved_inside_of_a_function_are_the_same_in_order() {
    let a = profile("a", &[("main f@10", 1.0), ("main f@20", 2.0), ("main f@30", 3.0), ("main :12", 4.0)]);
    let b = profile("b", &[("main f@20", 1.0), ("main f@30", 2.0), ("main f@40", 3.0), ("main :22", 4.0)]);
    assert_eq!(shown(&[a, b]), ["main :22 4 4", "main f@20 1 1", "main f@30 2 2", "main f@40 3 3"]);
}

#[test]
fn a_call_between_others_is_new() {
    let a = profile("a", &[("main f@10", 1.0), ("main f@20", 2.0), ("main f@30", 3.0)]);
    let b = profile("b", &[("main f@10", 1.0), ("main f@15", 9.0), ("main f@20", 2.0), ("main f@30", 3.0)]);
    let both = ["main f@10 1 1", "main f@15 - 9", "main f@20 2 2", "main f@30 3 3"];
    assert_eq!(shown(&[a, b]), both);
}

#[test]
fn within_one_build_nothing_moves() {
    let a = profile("a", &[("main :10", 1.0), ("main f@3", 1.0)]);
    let b = profile("a", &[("main :11", 1.0), ("main f@4", 1.0)]);
    assert_eq!(shown(&[a, b]), ["main :10 1 -", "main :11 - 1", "main f@3 1 -", "main f@4 - 1"]);
}

#[test]
fn added_and_vanished_places_stay() {
    let a = profile("a", &[("main old@3 deep@1", 1.0), ("main both@4", 2.0)]);
    let b = profile("b", &[("main both@4", 5.0), ("main new@5", 7.0)]);
    let tree = ["main both@4 2 5", "main new@5 - 7", "main old@3 0 -", "main old@3 deep@1 1 -"];
    assert_eq!(shown(&[a, b]), tree);
}

#[test]
fn functions_compare_without_debug_information() {
    let a = profile("a", &[("main :3", 1.0), ("main work@5 :7", 2.0)]);
    let b = profile("b", &[("main/-", 1.5), ("main/- work/-", 2.5)]);
    let outlines = [outline(&a), outline(&b)];
    let joint = Joint::of(&outlines);
    let names: Vec<&str> = joint.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["main", "work"]);
    assert_eq!(joint.functions()[1].file.as_deref(), Some("a.c"));
    let by_function: Vec<Amounts<f64>> =
        (0..2).map(|run| joint.amounts_by_function(run, Metric::Cpu)).collect();
    assert_eq!(by_function[0].exclusive, [1.0, 2.0]);
    assert_eq!(by_function[1].exclusive, [1.5, 2.5]);
    assert_eq!((by_function[0].inclusive[0], by_function[1].inclusive[0]), (3.0, 4.0));
}

#[test]
fn functions_without_symbols_are_the_same_in_order() {
    let a = profile("a", &[("main lib.so+0x10", 1.0), ("main lib.so+0x80", 2.0)]);
    let b = profile("b", &[("main lib.so+0x30", 1.0), ("main lib.so+0xa0", 2.0)]);
    assert_eq!(shown(&[a, b]), ["main lib.so+0x30 1 1", "main lib.so+0xa0 2 2"]);
}

#[test]
fn a_function_in_another_file_is_the_same_and_two_of_one_name_are_two() {
    let a = profile("a", &[("main init@1", 1.0), ("main setup@2", 4.0)]);
    let b = profile("b", &[("main init@1", 1.0), ("main setup@2/b.c", 4.0)]);
    assert_eq!(shown(&[a, b]), ["main init@1 1 1", "main setup@2 4 4"]);
    let a = profile("a", &[("main init@1", 1.0), ("main init@2/b.c", 2.0)]);
    let b = profile("b", &[("main init@1/b.c", 2.0), ("main init@2", 1.0)]);
    let outlines = [outline(&a), outline(&b)];
    let joint = Joint::of(&outlines);
    let seconds = [0, 1].map(|run| joint.amounts_by_function(run, Metric::Cpu).exclusive);
    assert_eq!(seconds, [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]);
}

#[test]
fn recursion_counts_once_and_lines_belong_to_their_function() {
    let run = profile("a", &[("main fact@1 :2", 1.0), ("main fact@1 fact@3 :2", 2.0), ("main :9", 4.0)]);
    let outlines = [outline(&run)];
    let joint = Joint::of(&outlines);
    let selection = Selection::all(&run);
    let expected = Amounts::by_function(&selection, Metric::Cpu).shown(Unit::SECONDS);
    assert_eq!(joint.amounts_by_function(0, Metric::Cpu), expected);
    assert_eq!(expected.inclusive, [7.0, 3.0]);
    let by_context = |amounts: Amounts<f64>| {
        let context = |node| joint.context_in(node, 0).unwrap().index();
        let of = |numbers: &[f64]| {
            (0..joint.len() as u32).map(|node| numbers[context(node)]).collect::<Vec<f64>>()
        };
        Amounts { inclusive: of(&amounts.inclusive), exclusive: of(&amounts.exclusive) }
    };
    let by_node = by_context(Amounts::by_context(&selection, Metric::Cpu).shown(Unit::SECONDS));
    assert_eq!(joint.amounts(0, Metric::Cpu), by_node);
    assert_eq!(joint.errors(0), by_context(Amounts::errors_by_context(&selection)));
    assert_eq!(joint.errors_by_function(0), Amounts::errors_by_function(&selection));
    assert_eq!(joint.most(0, Metric::Cpu).unwrap()[0], 7.0);
}

#[test]
fn what_is_executed_in_an_interval_is_the_functions_that_marks_it() {
    let mut run = profile("a", &[("main", 1.0), ("main step", 3.0), ("main step work", 5.0)]);
    let context = ContextId(2);
    run.contexts[context].kind = ContextKind::Interval;
    run.contexts[context].function = None;
    run.intervals = vec![IntervalInfo { name: "step".into(), ..IntervalInfo::default() }];
    run.interval_contexts = vec![IntervalContext { context, interval: 0 }];
    let outlines = [outline(&run)];
    let joint = Joint::of(&outlines);
    let found = joint.amounts_by_function(0, Metric::Cpu);
    let of = |name: &str| {
        let at = joint.functions().iter().position(|function| function.name == name).unwrap();
        (found.inclusive[at], found.exclusive[at])
    };
    assert_eq!((of("main"), of("work")), ((9.0, 4.0), (5.0, 5.0)));
    let expected = Amounts::by_function(&Selection::all(&run), Metric::Cpu).shown(Unit::SECONDS);
    assert_eq!(expected.exclusive.iter().sum::<f64>(), found.exclusive.iter().sum::<f64>());
}

#[test]
fn many_runs_are_one_tree() {
    let run =
        |build: &str, begin, extra| profile_from(build, begin, &[("main work@5 :7", 2.0), (extra, 1.0)]);
    let runs = [
        run("a", 0, "main one@6"),
        run("a", 0, "main two@7"),
        run("b", 30, "main one@6"),
        run("b", 30, "main two@8"),
    ];
    let tree = ["main one@36 1 - 1 -", "main two@38 - 1 - 1", "main work@35 :37 2 2 2 2"];
    assert_eq!(shown(&runs), tree);
}
