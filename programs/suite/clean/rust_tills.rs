//! A shop with many tills is simulated: threads take days by turns, which are equally long, and add up waits.

use std::num::NonZero;
use std::thread;

const DAYS: usize = 4_800;
const CUSTOMERS: usize = 60_000;
const TILLS: usize = 12;

fn threads_asked() -> usize {
    let asked = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let found = thread::available_parallelism().map_or(2, NonZero::get).max(2);
    if asked > 0 { asked } else { found }
}

fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// How long the customers of a day wait; each goes to the till that is free first.
#[inline(never)]
fn live_through(day: usize) -> u64 {
    let mut state = 88172645463325252 + 7919 * day as u64;
    let (mut free_at, mut now, mut waited) = ([0u64; TILLS], 0, 0);
    for _ in 0..CUSTOMERS {
        now += next_random(&mut state) % 20;
        let till = (0..TILLS).min_by_key(|&till| free_at[till]).unwrap();
        let begin = free_at[till].max(now);
        waited += begin - now;
        free_at[till] = begin + next_random(&mut state) % 225;
    }
    waited
}

fn main() {
    let count = threads_asked();
    let total: u64 = thread::scope(|scope| {
        let of_thread = |first| move || (first..DAYS).step_by(count).map(live_through).sum::<u64>();
        let threads: Vec<_> = (0..count).map(|first| scope.spawn(of_thread(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{total}");
}
