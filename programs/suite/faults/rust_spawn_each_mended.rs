//! A puzzle's boards are rated, several at a time.

use std::num::NonZero;
use std::thread;

const BOARDS: usize = 20_000;

struct Board {
    cells: [u32; 16],
    rating: u64,
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

fn make_boards() -> Vec<Board> {
    let mut state = 88172645463325252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 97) as u32
    };
    (0..BOARDS).map(|_| Board { cells: std::array::from_fn(|_| next()), rating: 0 }).collect()
}

#[inline(never)]
fn rate(board: &mut Board) {
    let mut rating = 0;
    for round in 0..400u64 {
        for (place, cell) in board.cells.iter().enumerate() {
            rating = (rating * 31 + (u64::from(*cell) ^ (round * place as u64))) % 1_000_003;
        }
    }
    board.rating = rating;
}

#[inline(never)]
fn rate_all(boards: &mut [Board], threads: usize) {
    let share = boards.len().div_ceil(threads);
    thread::scope(|scope| {
        for some in boards.chunks_mut(share) {
            scope.spawn(|| some.iter_mut().for_each(rate));
        }
    });
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let mut boards = make_boards();
    rate_all(&mut boards, threads);
    println!("{}", boards.iter().map(|board| board.rating).sum::<u64>());
}
