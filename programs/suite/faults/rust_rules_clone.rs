//! Messages are checked against a table of rules, which is replaced from time to time.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::RwLock;
use std::thread;

const RULES: usize = 1_500;
const RELOAD: usize = 5_000;

#[derive(Clone)]
struct Rule {
    name: String,
    mask: u64,
    sought: u64,
    score: f64,
}

struct Filter {
    rules: RwLock<Vec<Rule>>,
}

impl Filter {
    fn load(version: u64) -> Vec<Rule> {
        let rule = |number: u64| Rule {
            name: format!("rule {number}"),
            mask: 0xff << (number % 48),
            sought: (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version) & 0xff << (number % 48),
            score: 1.0 / (number + 1) as f64,
        };
        (0..RULES as u64).map(rule).collect()
    }

    fn reload(&self, version: u64) {
        let rules = Self::load(version);
        *self.rules.write().unwrap() = rules;
    }

    fn rules(&self) -> Vec<Rule> {
        self.rules.read().unwrap().clone() // FAULT: all rules are copied for each message
    }

    #[inline(never)]
    fn check(&self, message: u64) -> f64 {
        let rules = self.rules();
        let hits = rules.iter().filter(|rule| message & rule.mask == rule.sought && !rule.name.is_empty());
        hits.map(|rule| rule.score).sum()
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn digest(message: usize) -> u64 {
    (0..12_000).fold(message as u64, |sum, round| sum.rotate_left(7).wrapping_mul(0x100_0000_01b3) ^ round)
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (messages, next) = (18_000 * processors(), AtomicUsize::new(0));
    let filter = Filter { rules: RwLock::new(Filter::load(0)) };
    let checked: usize = thread::scope(|scope| {
        let work = || {
            let mut checked = 0;
            loop {
                let message = next.fetch_add(1, Ordering::Relaxed);
                if message >= messages {
                    return checked;
                }
                if message % RELOAD == RELOAD - 1 {
                    filter.reload(message as u64);
                }
                checked += usize::from(filter.check(digest(message)) >= 0.0);
            }
        };
        let team: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        team.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{checked} messages");
}
