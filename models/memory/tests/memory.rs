//! The collector's memory: blocks of threads never overlap, and what is used again is zero.

use proust_memory_model::arena::{self, Lazily};

const ROUNDS: usize = if cfg!(miri) { 60 } else { 5000 };

#[test]
fn threads_never_get_the_same() {
    std::thread::scope(|scope| {
        for mark in 1..=3_u8 {
            scope.spawn(move || {
                let mut mine: Vec<(*mut u8, usize)> = Vec::new();
                for round in 0..ROUNDS {
                    let bytes = 64 << (round * 7 % 5);
                    let memory = arena::pages(bytes);
                    // SAFETY: so many bytes were handed out to this thread, and are given back once.
                    unsafe {
                        assert!(core::slice::from_raw_parts(memory, bytes).iter().all(|&b| b == 0));
                        memory.write_bytes(mark, bytes);
                        mine.push((memory, bytes));
                        if round % 3 != 0 {
                            let (memory, bytes) = mine.swap_remove(round * 31 % mine.len());
                            assert!(core::slice::from_raw_parts(memory, bytes).iter().all(|&b| b == mark));
                            arena::give_back(memory, bytes);
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn blocks_of_all_sizes_are_used_again_and_zero() {
    for bytes in [1, 100, 3000, 4096, 60_000, 70_000, 2 << 20] {
        for _ in 0..2 {
            let memory = arena::pages(bytes);
            // SAFETY: so many bytes were handed out, and are given back once.
            unsafe {
                let places = [0, bytes / 2, bytes - 1];
                assert!(places.iter().all(|&at| memory.add(at).read() == 0));
                places.iter().for_each(|&at| memory.add(at).write(7));
                arena::give_back(memory, bytes);
            }
        }
    }
}

#[test]
fn a_value_is_made_when_it_is_used() {
    let mut value = Lazily::<[u64; 20]>::default();
    assert!(value.get().is_none());
    value.get_or_make(|| [3; 20]).unwrap()[7] = 4;
    assert_eq!(value.get().unwrap().iter().sum::<u64>(), 61);
}
