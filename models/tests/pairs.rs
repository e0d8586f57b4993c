//! Two words in place of one: each word has a pair of its own.

use loom::sync::Arc;
use loom::thread;
use proust_models::ompt::layout::Data;
use proust_models::ompt::pairs::{Pairs, Words};

struct Shared(Pairs, [Data; 2]);

impl Shared {
    fn words(&self, number: usize) -> Words {
        // SAFETY: a word that only the pairs use.
        unsafe { self.0.words(std::ptr::from_ref(&self.1[number]).cast_mut()) }
    }

    fn give_back(&self, number: usize) {
        // SAFETY: as above, and the caller does not use its halves any more.
        unsafe { self.0.give_back(std::ptr::from_ref(&self.1[number]).cast_mut()) };
    }
}

/// A tool writes its half and finds what it wrote; the checker fails the model if another thread is there.
fn use_half(half: *mut Data, value: u64) {
    // SAFETY: half of a pair, which stays.
    unsafe {
        (*half).used.with_mut(|used| {
            assert_eq!(*used, 0, "a word that no tool has written");
            *used = value;
        });
        (*half).used.with(|used| assert_eq!(*used, value));
    }
}

fn model(run: fn(&Arc<Shared>)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || run(&Arc::new(Shared(Pairs::new(), [Data::default(), Data::default()]))));
}

#[test]
fn two_regions_at_once_never_have_the_same_pair() {
    model(|shared| {
        let region = |shared: &Shared, number: usize| {
            for round in 1..3 {
                let words = shared.words(number);
                use_half(words.ours, round);
                use_half(words.other, round + 10);
                shared.give_back(number);
            }
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || region(&shared, 1))
        };
        region(shared, 0);
        other.join().unwrap();
    });
}

#[test]
fn threads_that_reach_one_word_at_once_find_one_pair() {
    model(|shared| {
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                let words = shared.words(0);
                use_half(words.other, 7);
                (words.ours as usize, words.other as usize)
            })
        };
        let mine = shared.words(0);
        use_half(mine.ours, 5);
        let theirs = other.join().unwrap();
        assert_eq!((mine.ours as usize, mine.other as usize), theirs);
        // The pair that one of them has made in vain is free: the other word gets it.
        let next = shared.words(1);
        assert_ne!(next.ours, mine.ours);
        use_half(next.ours, 3);
    });
}
