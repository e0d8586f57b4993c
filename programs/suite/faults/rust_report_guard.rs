//! Workers fill a table of prices, and after every few hundred orders one of them makes a report of it.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::RwLock;
use std::thread;

const KINDS: usize = 500;
const BETWEEN: usize = 250;

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn refine(mut value: f64, rounds: usize) -> f64 {
    for _ in 0..rounds {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn price(order: usize) -> f64 {
    refine(order as f64, 4000)
}

#[inline(never)]
fn summarize(table: &[f64]) -> f64 {
    table.iter().map(|&value| refine(value, 1600)).sum()
}

#[inline(never)]
fn report(table: &RwLock<Vec<f64>>) -> f64 {
    let prices = table.read().unwrap(); // FAULT: kept through the whole report, and those who write wait
    summarize(&prices)
}

fn work(table: &RwLock<Vec<f64>>, next: &AtomicUsize, orders: usize) -> usize {
    let mut reported = 0;
    loop {
        let order = next.fetch_add(1, Ordering::Relaxed);
        if order >= orders {
            return reported;
        }
        let value = price(order);
        table.write().unwrap()[order % KINDS] = value;
        if order % BETWEEN == BETWEEN - 1 {
            reported += usize::from(report(table) > 0.0);
        }
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let (orders, next) = (16_000 * processors(), AtomicUsize::new(0));
    let table = RwLock::new(vec![1.0; KINDS]);
    let reported: usize = thread::scope(|scope| {
        let team: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&table, &next, orders))).collect();
        team.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{reported}");
}
