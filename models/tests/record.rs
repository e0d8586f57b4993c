//! A lane's record: its owner takes it in hooks, other threads take it at the process's end.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use proust_models::lane::record_lock::RecordLock;
use proust_models::path::stack::OwnStack;

struct Lane {
    lock: RecordLock,
    record: UnsafeCell<u32>,
}

impl Lane {
    fn new() -> Arc<Lane> {
        Arc::new(Lane { lock: RecordLock::new(), record: UnsafeCell::new(0) })
    }

    /// The checker fails the model if another thread is at the record.
    fn use_record(&self) {
        self.record.with_mut(|record| {
            // SAFETY: whoever calls this has taken the record.
            unsafe { *record += 1 }
        });
    }

    fn as_owner(&self) -> bool {
        let guard = self.lock.acquire(OwnStack::default);
        if guard.is_some() {
            self.use_record();
        }
        guard.is_some()
    }

    fn as_other(&self) -> bool {
        let guard = self.lock.acquire_from_owner();
        if guard.is_some() {
            self.use_record();
        }
        guard.is_some()
    }
}

#[test]
fn the_owner_and_another_thread_never_have_it_both() {
    loom::model(|| {
        let lane = Lane::new();
        let other = {
            let lane = lane.clone();
            thread::spawn(move || lane.as_other())
        };
        let owner = lane.as_owner();
        let again = lane.as_owner();
        let other = other.join().unwrap();
        // Who finds it taken does without; not everybody does, unless they met.
        let used = lane.record.with(|record| {
            // SAFETY: the other thread has ended.
            unsafe { *record }
        });
        assert_eq!(used, u32::from(owner) + u32::from(again) + u32::from(other));
    });
}

#[test]
fn of_two_other_threads_one_has_it_at_a_time() {
    loom::model(|| {
        let lane = Lane::new();
        let others = [(); 2].map(|()| {
            let lane = lane.clone();
            thread::spawn(move || lane.as_other())
        });
        lane.as_owner();
        for other in others {
            other.join().unwrap();
        }
    });
}

#[test]
fn whoever_takes_it_later_sees_what_was_done_with_it() {
    loom::model(|| {
        let lane = Lane::new();
        let owner = {
            let lane = lane.clone();
            thread::spawn(move || lane.as_owner())
        };
        // Until the owner is done, or found it taken.
        if lane.as_other() {
            lane.as_other();
        }
        owner.join().unwrap();
        assert!(lane.as_other(), "nobody has it any more");
    });
}
