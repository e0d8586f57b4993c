//! Work that other threads do for a known function: each function of work is called by one owner only.
//! owners_rust [SECONDS of each owner] [POOL THREADS]
//!
//! At the end it prints, for each owner, the function that worked for it and the CPU time that this cost.

use std::ffi::{c_int, c_long};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

fn thread_cpu_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the pointer is to a live value of the C type's layout; 3 is the thread's CPU clock.
    unsafe { clock_gettime(3, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// A function of work that burns `seconds` of its thread's CPU time and counts them.
macro_rules! work {
    ($($name:ident $spent:ident),*) => { $(
        static $spent: AtomicU64 = AtomicU64::new(0);

        #[inline(never)]
        fn $name(seconds: f64) -> u64 {
            let from = thread_cpu_ns();
            let end = from + (seconds * 1e9) as u64;
            let mut x = from | 1;
            let mut now = from;
            while now < end {
                for _ in 0..130_000 {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                }
                black_box(x);
                now = thread_cpu_ns();
            }
            $spent.fetch_add(now - from, Ordering::Relaxed);
            black_box(x)
        }
    )* };
}

work!(shade SHADE, advance ADVANCE, scan SCAN, leaf LEAF, tile TILE, in_scope IN_SCOPE, apart APART);
work!(common COMMON);

const PARTS: usize = 32;

/// A parallel iterator.
#[inline(never)]
fn picture(seconds: f64) -> u64 {
    (0..PARTS).into_par_iter().map(|_| shade(seconds / PARTS as f64)).reduce(|| 0, u64::wrapping_add)
}

/// Two closures side by side; each does its share in parts.
#[inline(never)]
fn simulate(seconds: f64) -> u64 {
    let half = || (0..PARTS / 4).map(|_| advance(2.0 * seconds / PARTS as f64)).fold(0, u64::wrapping_add);
    let (a, b) = rayon::join(
        || half() ^ black_box(1),
        || half() ^ black_box(2),
    );
    a ^ b
}

/// Tasks of a scope.
#[inline(never)]
fn search(seconds: f64) {
    rayon::scope(|scope| {
        for _ in 0..PARTS {
            scope.spawn(move |_| {
                black_box(scan(seconds / PARTS as f64));
            });
        }
    });
}

/// A function that divides its work and calls itself.
#[inline(never)]
fn divide(seconds: f64, parts: usize) -> u64 {
    if parts == 1 {
        return leaf(seconds);
    }
    let (a, b) = rayon::join(|| divide(seconds / 2.0, parts / 2), || divide(seconds / 2.0, parts / 2));
    a ^ b
}

/// A parallel iterator in a closure of another one.
#[inline(never)]
fn nested(seconds: f64) -> u64 {
    (0..4usize).into_par_iter().map(|_| tiles(seconds / 4.0)).reduce(|| 0, u64::wrapping_add)
}

#[inline(never)]
fn tiles(seconds: f64) -> u64 {
    (0..8usize).into_par_iter().map(|_| tile(seconds / 8.0)).reduce(|| 0, u64::wrapping_add)
}

/// Threads of the standard library that end with the scope.
#[inline(never)]
fn scoped(seconds: f64) {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| black_box(in_scope(seconds / 2.0)));
        }
    });
}

/// A thread of its own.
#[inline(never)]
fn detached(seconds: f64) -> u64 {
    std::thread::spawn(move || apart(seconds)).join().expect("a thread that ended")
}

/// It is called by two functions: whose work another thread does, its path does not say.
#[inline(never)]
fn shared(seconds: f64) -> u64 {
    (0..PARTS).into_par_iter().map(|_| common(seconds / PARTS as f64)).reduce(|| 0, u64::wrapping_add)
}

#[inline(never)]
fn first(seconds: f64) -> u64 {
    black_box(shared(seconds)) ^ 1
}

#[inline(never)]
fn second(seconds: f64) -> u64 {
    black_box(shared(seconds)) ^ 2
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(0.3);
    let threads: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a pool of threads");

    black_box(picture(seconds));
    black_box(simulate(seconds));
    search(seconds);
    black_box(divide(seconds, PARTS));
    black_box(nested(seconds));
    scoped(seconds);
    black_box(detached(seconds));
    black_box(first(seconds / 2.0));
    black_box(second(seconds / 2.0));

    let owners = [
        ("picture", "shade", &SHADE),
        ("simulate", "advance", &ADVANCE),
        ("search", "scan", &SCAN),
        ("divide", "leaf", &LEAF),
        ("tiles", "tile", &TILE),
        ("scoped", "in_scope", &IN_SCOPE),
        ("detached", "apart", &APART),
        ("shared", "common", &COMMON),
    ];
    let items: Vec<String> = owners
        .iter()
        .map(|(owner, work, spent)| {
            let cpu_s = spent.load(Ordering::Relaxed) as f64 * 1e-9;
            format!("{{\"owner\":\"{owner}\",\"work\":\"{work}\",\"cpu_s\":{cpu_s:.6}}}")
        })
        .collect();
    println!("{{\"program\":\"owners_rust\",\"owners\":[{}]}}", items.join(","));
}
