//! Accounts are looked up in a file of records that have the same length each, and interest is computed.

use std::fs::{self, File};
use std::io::Write;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const RECORD: usize = 64;
const ACCOUNTS: usize = 48_000;
const QUERIES: usize = 10_000;

fn threads_asked() -> usize {
    let asked = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let found = thread::available_parallelism().map_or(2, NonZero::get).max(2);
    if asked > 0 { asked } else { found }
}

fn make_accounts(path: &PathBuf) {
    let mut text = Vec::with_capacity(RECORD * ACCOUNTS);
    for account in 0..ACCOUNTS {
        writeln!(text, "{:<20}{:<43}", account * 7919 % 100_003, account % 997).unwrap();
    }
    fs::write(path, text).unwrap();
}

/// What an account has, by its number.
#[inline(never)]
fn balance(accounts: &File, account: usize) -> u64 {
    let mut record = [0; RECORD];
    accounts.read_exact_at(&mut record, (account * RECORD) as u64).unwrap();
    std::str::from_utf8(&record[..20]).unwrap().trim().parse().unwrap()
}

/// Interest of some years, day by day.
#[inline(never)]
fn interest(balance: u64) -> f64 {
    let mut value = balance as f64;
    for _ in 0..30_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

fn main() {
    let path = PathBuf::from(std::env::args().nth(2).unwrap_or("accounts".into()));
    make_accounts(&path);
    let accounts = File::open(&path).unwrap();
    let next = AtomicUsize::new(0);
    let answer = || {
        let mut sum = 0.0;
        loop {
            let query = next.fetch_add(1, Ordering::Relaxed);
            if query >= QUERIES {
                return sum;
            }
            sum += interest(balance(&accounts, query * 31 % ACCOUNTS));
        }
    };
    let total: f64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads_asked()).map(|_| scope.spawn(answer)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{total:.3}");
}
