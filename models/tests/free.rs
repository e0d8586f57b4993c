//! The list of what is free: a thing has one user at a time.

use core::mem::offset_of;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;
use proust_models::free_list::FreeList;

#[repr(C, align(64))]
struct Thing {
    next: AtomicU64,
    used: UnsafeCell<u32>,
}

/// Things stay where they are while a model runs.
struct Things(FreeList, Vec<Box<Thing>>);

impl Things {
    fn new(count: usize) -> Arc<Things> {
        let list = FreeList::new(offset_of!(Thing, next));
        let things: Vec<_> = (0..count)
            .map(|_| Box::new(Thing { next: AtomicU64::new(0), used: UnsafeCell::new(0) }))
            .collect();
        for thing in &things {
            // SAFETY: mapped as long as the list, aligned, with a word for it, and nobody uses it.
            unsafe { list.give(core::ptr::from_ref(&**thing).cast_mut().cast()) };
        }
        Arc::new(Things(list, things))
    }

    /// Takes one and uses it.
    fn take(&self) -> Option<&Thing> {
        // SAFETY: null, or one of the things.
        let thing = unsafe { self.0.take().cast::<Thing>().as_ref() }?;
        self.use_it(thing);
        Some(thing)
    }

    fn use_it(&self, thing: &Thing) {
        thing.used.with_mut(|used| {
            // SAFETY: whoever has taken it is its only user: the checker fails the model otherwise.
            unsafe { *used += 1 }
        });
    }

    fn give(&self, thing: &Thing) {
        // SAFETY: it was taken from there.
        unsafe { self.0.give(core::ptr::from_ref(thing).cast_mut().cast()) };
    }

    fn check(&self) {
        let mut found = 0;
        while !self.0.take().is_null() {
            found += 1;
        }
        assert_eq!(found, self.1.len(), "each is in the list once");
    }
}

#[test]
fn two_threads_never_have_the_same_thing() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let things = Things::new(2);
        let other = {
            let things = things.clone();
            thread::spawn(move || {
                let one = things.take();
                let two = things.take();
                // The list begins as it did before, and is another one: who looked at it in between must
                // find that out.
                one.into_iter().for_each(|one| things.give(one));
                two.into_iter().for_each(|two| {
                    things.use_it(two);
                    things.give(two);
                });
            })
        };
        if let Some(mine) = things.take() {
            things.use_it(mine);
            things.give(mine);
        }
        other.join().unwrap();
        things.check();
    });
}

#[test]
fn where_there_is_one_somebody_has_it() {
    loom::model(|| {
        let things = Things::new(1);
        let use_one = |things: &Things| things.take().map(|thing| things.give(thing)).is_some();
        let other = {
            let things = things.clone();
            thread::spawn(move || use_one(&things))
        };
        let mine = use_one(&things);
        assert!(other.join().unwrap() || mine);
        things.check();
    });
}
