//! Answers are kept by threads in shards with a lock each; some go when there are more than wanted.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const SHARDS: usize = 32;
const MOST: usize = 40_000;
const QUESTIONS: usize = 1_800_000;
const BATCH: usize = 1000;

struct Answers {
    shards: Vec<Mutex<HashMap<u64, u64>>>,
}

impl Answers {
    fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, question: u64) -> &Mutex<HashMap<u64, u64>> {
        &self.shards[(question.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize]
    }

    fn find(&self, question: u64) -> Option<u64> {
        self.shard(question).lock().unwrap().get(&question).copied()
    }

    #[inline(never)]
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }

    #[inline(never)]
    fn keep(&self, question: u64, answer: u64) {
        let is_full = self.len() >= MOST; // FAULT: takes the locks of all shards for each answer
        let mut shard = self.shard(question).lock().unwrap();
        if is_full {
            if let Some(oldest) = shard.keys().next().copied() {
                shard.remove(&oldest);
            }
        }
        shard.insert(question, answer);
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn answer(question: u64) -> u64 {
    (1..60).fold(question, |value, step| (value * 31 + step) % 1_000_003)
}

fn serve(answers: &Answers, first: usize) -> u64 {
    let mut sum = 0;
    for number in first..first + BATCH {
        let question = number as u64 * 7919 % 120_011;
        sum += answers.find(question).unwrap_or_else(|| {
            let new = answer(question);
            answers.keep(question, new);
            new
        });
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (answers, next) = (Answers::new(), AtomicUsize::new(0));
    let work = || {
        let mut sum = 0;
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= QUESTIONS {
                return sum;
            }
            sum += serve(&answers, first);
        }
    };
    let sum: u64 = thread::scope(|scope| {
        let team: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        team.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{sum}");
}
