//! Who arrived last at a barrier: all threads of a team share the same barriers, and agree on when it was.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use proust_models::arrivals::{Arrivals, Barriers, Visit};

const THREADS: usize = 2;

/// A barrier as runtimes make it: nobody passes it before all have arrive.
struct Barrier(AtomicUsize);

impl Barrier {
    fn pass(&self, number: usize) {
        self.0.fetch_add(1, Ordering::AcqRel);
        while self.0.load(Ordering::Acquire) < THREADS * (number + 1) {
            thread::yield_now();
        }
    }
}

/// When this thread arrives to a barrier. They are so far apart that each is shared.
fn arrived_ns(barrier: usize, thread: usize) -> u64 {
    1_000_000 * (barrier as u64 + 1) + if (barrier + thread).is_multiple_of(2) { 7 } else { 0 }
}

fn last_ns(barrier: usize) -> u64 {
    (0..THREADS).map(|thread| arrived_ns(barrier, thread)).max().unwrap()
}

/// Each thread runs `visit` at each barrier; it is given the thread's number, the barrier's, and the barrier.
fn team(barriers: usize, visit: fn(&Arrivals, &Barriers, usize, usize, &Barrier)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Arc::new((Arrivals::default(), Barrier(AtomicUsize::new(0))));
        let run = move |shared: &(Arrivals, Barrier), number: usize| {
            let own = Barriers::default();
            for barrier in 0..barriers {
                visit(&shared.0, &own, number, barrier, &shared.1);
            }
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || run(&shared, 1))
        };
        run(&shared, 0);
        other.join().unwrap();
    });
}

#[test]
fn threads_that_say_so_before_a_barrier_agree_behind_it() {
    team(3, |team, own, thread, barrier, wait| {
        team.arrive(own, thread == 0, arrived_ns(barrier, thread), || barrier as u32);
        wait.pass(barrier);
        let last = team.last(own).expect("each is shared");
        assert_eq!((last.ns, last.level), (last_ns(barrier), barrier as u32));
    });
}

#[test]
fn threads_that_leave_a_barrier_agree_behind_the_next_when_the_last_one_did() {
    team(3, |team, own, thread, barrier, wait| {
        team.arrive(own, thread == 0, arrived_ns(barrier, thread), || 0);
        wait.pass(barrier);
        team.last(own).expect("each is shared");
        // The lines are used in turn; nobody writes again into that of the barrier before.
        if let Some(before) = barrier.checked_sub(1) {
            assert_eq!(team.left_ns(before as u32), last_ns(before) + 9);
        }
        assert_eq!(team.leave(own, arrived_ns(barrier, thread) + 9), barrier as u32 % 2);
    });
}

#[test]
fn threads_that_say_so_behind_a_barrier_agree_behind_the_next() {
    team(4, |team, own, thread, barrier, wait| {
        wait.pass(barrier);
        let arrived_ns = arrived_ns(barrier, thread);
        let visit = Visit { at: barrier, arrived_ns, since_ns: arrived_ns, end_ns: arrived_ns + 9 };
        let awaited = team.passed(own, thread == 0, &visit, || barrier as u32);
        // One is shared, at the next one it is known how that was.
        assert_eq!(awaited.is_some(), barrier % 2 == 1);
        if let Some((of, last)) = awaited {
            assert_eq!((of.at, last.ns, last.level), (barrier - 1, last_ns(of.at), of.at as u32));
            assert_eq!(last.left_ns, last_ns(of.at) + 9);
        }
    });
}
