//! Melodies are made by rule and rated; scoped threads have as many each, and a result of their own.

use std::env;
use std::thread;

const MELODIES: usize = 48_000;
const NOTES: usize = 512;

#[inline(never)]
fn compose(number: usize, notes: &mut [u8]) {
    let mut state = number as u64 * 2 + 88_172_645_463_325_253;
    for note in notes.iter_mut() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *note = (state % 24) as u8;
    }
}

#[inline(never)]
fn rate(notes: &[u8]) -> u64 {
    let mut harmony = 0;
    for (at, note) in notes.iter().enumerate() {
        for later in &notes[at + 1..(at + 50).min(notes.len())] {
            let apart = note.abs_diff(*later) % 12;
            harmony += u64::from(apart == 7 || apart == 4) * 3 + u64::from(apart == 0);
        }
    }
    harmony
}

fn rate_share(first: usize, last: usize) -> u64 {
    let mut notes = [0; NOTES];
    let mut best = 0;
    for number in first..last {
        compose(number, &mut notes);
        best = best.max(rate(&notes));
    }
    best
}

fn main() {
    let threads: usize = env::args().nth(1).map_or(2, |given| given.parse().unwrap());
    let best = thread::scope(|scope| {
        let team: Vec<_> = (0..threads)
            .map(|part| {
                let (first, last) = (MELODIES * part / threads, MELODIES * (part + 1) / threads);
                scope.spawn(move || rate_share(first, last))
            })
            .collect();
        team.into_iter().map(|member| member.join().unwrap()).max()
    });
    println!("{}", best.unwrap());
}
