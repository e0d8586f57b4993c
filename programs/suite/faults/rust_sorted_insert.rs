//! Players' games are rated by all threads, and the ratings are kept in order, the best one first.
//! Its fault: each rating is put at its place in one sorted list, which moves thousands under its lock.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const PLAYERS: usize = 45_000;

#[derive(Clone, Copy)]
struct Rating {
    points: f64,
    player: usize,
    games: [u32; 12],
}

struct Ranking {
    sorted: Mutex<Vec<Rating>>,
}

impl Ranking {
    #[inline(never)]
    fn enter(&self, rating: Rating) {
        let mut sorted = self.sorted.lock().unwrap();
        let place = sorted.partition_point(|other| other.points > rating.points);
        sorted.insert(place, rating); // FAULT: moves all that are worse while the others wait for the lock
    }
}

#[inline(never)]
fn rate(player: usize) -> Rating {
    let mut state = player as u64 * 0x9e37_79b9_7f4a_7c15 + 88_172_645_463_325_252;
    let mut points = 1500.0;
    let mut games = [0; 12];
    for game in 0..1200 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = 1000.0 + (state % 1000) as f64;
        let expected = 1.0 / (1.0 + ((other - points) / 400.0f64).exp());
        points += 16.0 * ((state >> 40 & 1) as f64 - expected);
        games[game % 12] += (state >> 40 & 1) as u32;
    }
    Rating { points, player, games }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { thread::available_parallelism().map_or(2, NonZero::get) };
    let ranking = Ranking { sorted: Mutex::new(Vec::with_capacity(PLAYERS)) };
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let player = next.fetch_add(1, Ordering::Relaxed);
                if player >= PLAYERS {
                    break;
                }
                ranking.enter(rate(player));
            });
        }
    });
    let sorted = ranking.sorted.into_inner().unwrap();
    let best = sorted[0];
    println!("{} of {}: {:.3} {}", best.player, sorted.len(), best.points, best.games[0]);
}
