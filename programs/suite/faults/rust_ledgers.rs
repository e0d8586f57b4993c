//! Bookings are drawn up by threads, each for a branch of a bank, and written to the branch's ledger.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::thread;

const BOOKINGS: u64 = 400_000;

#[inline(never)]
fn booking(branch: u64, number: u64) -> (u64, u64) {
    let mut mixed = (branch + 3) * 0x9e37_79b9_7f4a_7c15 ^ number;
    for _ in 0..40 {
        mixed ^= mixed >> 29;
        mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (mixed % 90_000, mixed >> 40)
}

#[inline(never)]
fn write_ledger(path: &str, branch: u64, count: u64) -> io::Result<u64> {
    let mut ledger = File::create(path)?;
    let mut sum = 0;
    for number in 0..count {
        let (account, cents) = booking(branch, number);
        sum += cents;
        writeln!(ledger, "{account};{cents}")?; // FAULT: the file has no buffer
    }
    ledger.flush()?;
    Ok(sum)
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let threads: u64 = arguments[1].parse().unwrap();
    let folder = arguments[2].clone();
    let mut team = Vec::new();
    for branch in 0..threads {
        let path = format!("{folder}/branch{branch}");
        team.push(thread::spawn(move || {
            let sum = write_ledger(&path, branch, BOOKINGS / threads).unwrap();
            fs::remove_file(&path).unwrap();
            sum
        }));
    }
    let sum: u64 = team.into_iter().map(|member| member.join().unwrap()).sum();
    println!("{}", sum > 0);
}
