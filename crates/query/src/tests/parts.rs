//! Amounts are whole numbers: the parts of a whole sum to it, however they are grouped.

use proust_profile::EventRow;

use super::*;

/// The example; the worker waits 3 ns in three kinds of operations at one place, and of the account there
/// are 7 ns.
fn waiting() -> (Profile, Ledger) {
    let mut profile = profile();
    let names = ["pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"];
    profile.operations = names.map(proust_ingest::operation_info).into_iter().collect();
    let event = |operation: u32| EventRow {
        location: LocationId(1),
        context: ContextId(13),
        operation: OperationId(operation),
        begin_ns: u64::from(operation),
        end_ns: u64::from(operation) + 1,
        time_ns: 1,
        calls: 1,
        ..EventRow::default()
    };
    profile.events = (0..3).map(event).collect::<Vec<_>>().into();
    let row = Row { location: LocationId(1), account: Account::Lock, context: ContextId(13), ns: 7 };
    (profile, Ledger { spent: vec![row], ..Ledger::default() })
}

#[test]
fn the_parts_of_operations_and_of_their_negations_sum_to_the_account() {
    let (profile, ledger) = waiting();
    let of = |expression: &str| {
        select(&profile, expression).with_rows(&ledger).total(Measure::Account(Account::Lock))
    };
    let operations = ["pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"];
    let parts = operations.map(|operation| of(&format!("state={operation}")));
    assert_eq!((parts.iter().sum::<u128>(), of("state=lock")), (7, 7), "{parts:?}");
    for (operation, part) in operations.into_iter().zip(parts) {
        assert_eq!(part + of(&format!("state!={operation}")), 7, "{operation}");
    }
    let times = select(&profile, "state=pthread_mutex_lock").with_rows(&ledger).times_of_locations();
    assert_eq!(u128::from(times[1].0[Account::Lock]), parts[0]);
}

/// Whatever the page groups by: near 2⁶² an epsilon would hide a whole second.
#[test]
fn large_amounts_sum_exactly_by_context_function_line_module_and_location() {
    let mut profile = profile();
    for (n, value) in (0..).zip(&mut profile.values) {
        value.amount = (1 << 62) - n;
    }
    let selection = Selection::all(&profile);
    let all: u128 = profile.values.iter().map(|value| u128::from(value.amount)).sum();
    assert!(all > u128::from(u64::MAX));
    assert_eq!(selection.total(Metric::Cpu), all);
    assert_eq!(Amounts::by_context(&selection, Metric::Cpu).inclusive[0], all);
    assert_eq!(Amounts::by_function(&selection, Metric::Cpu).exclusive.iter().sum::<u128>(), all);
    let lines = OnPath::lines(&profile, selection.forest());
    let of_lines: u128 = lines.amounts(&selection, Metric::Cpu).exclusive.iter().sum();
    assert_eq!(of_lines + lines.rest(&selection, Metric::Cpu), all);
    let modules = OnPath::modules(&profile, selection.forest());
    let of_modules: u128 = modules.amounts(&selection, Metric::Cpu).exclusive.iter().sum();
    assert_eq!(of_modules + modules.rest(&selection, Metric::Cpu), all);
    let tree = BottomUp::new(&selection, 10);
    let roots = tree.nodes.iter().zip(tree.amounts(&selection, Metric::Cpu).exclusive);
    assert_eq!(roots.filter(|(node, _)| node.parent.is_none()).map(|of| of.1).sum::<u128>(), all);
    let threads = ["thread=0", "thread=1"].map(|thread| select(&profile, thread).total(Metric::Cpu));
    assert_eq!(threads.iter().sum::<u128>(), all);
}
