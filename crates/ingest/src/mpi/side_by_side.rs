//! Processes whose calls are in memory at once: as many as there are threads, and as the budget for rows has
//! room for. One is always read, however large it is.

use proust_profile::Budget;
use rayon::prelude::*;

/// About so many bytes for a call, while its process's calls are turned into endpoints, or what was found of
/// them into rows.
const CALL_BYTES: u64 = 300;

/// Makes something of each process, several at once, and hands it to `take` in their order. `calls` says how
/// many calls a process has; a process without calls costs nothing.
pub(super) fn of_each<P: Send, T: Send>(
    processes: impl IntoIterator<Item = P>,
    budget: &Budget,
    calls: impl Fn(&P) -> usize,
    made: impl Fn(P) -> T + Sync,
    mut take: impl FnMut(T),
) {
    let mut rest = processes.into_iter().peekable();
    while let Some(first) = rest.next() {
        let (mut batch, mut room) = (vec![first], Vec::new());
        while batch.len() < rayon::current_num_threads() {
            let bytes = |process: &P| (calls(process) as u64).saturating_mul(CALL_BYTES);
            let Some(more) = rest.peek().and_then(|process| budget.take(bytes(process))) else { break };
            room.push(more);
            batch.extend(rest.next());
        }
        let all: Vec<T> = batch.into_par_iter().map(&made).collect();
        all.into_iter().for_each(&mut take);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The results, and the most processes that were worked on at once.
    fn worked_on(calls: &[usize], budget_bytes: u64) -> (Vec<usize>, usize) {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let budget = Budget::new(budget_bytes);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let made = |calls: usize| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(5));
            now.fetch_sub(1, Ordering::SeqCst);
            calls + 1
        };
        let mut all = Vec::new();
        pool.install(|| of_each(calls.to_vec(), &budget, |&calls| calls, made, |one| all.push(one)));
        assert_eq!(budget.left_bytes(), budget_bytes, "what was taken is given back");
        (all, most.into_inner())
    }

    #[test]
    fn as_many_are_in_memory_as_have_room() {
        let calls: Vec<usize> = (0..12).collect();
        let expected: Vec<usize> = (1..13).collect();
        let (all, most) = worked_on(&calls, u64::MAX);
        assert_eq!(all, expected);
        assert!((2..=4).contains(&most), "{most}");
        // Those with one call and more are alone.
        let (all, most) = worked_on(&calls[1..], CALL_BYTES - 1);
        assert_eq!((all, most), (expected[1..].to_vec(), 1));
    }
}
