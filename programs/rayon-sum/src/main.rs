//! Parallel iterators on a rayon pool, and named threads beside it.
//! rayon-sum [SECONDS of every pool thread] [POOL THREADS] [serial]
//!
//! With `serial` there are no named threads, and the first thread prepares each sum alone.

use std::ffi::{c_int, c_long};
use std::hint::black_box;
use std::thread;
use std::time::Instant;

use rayon::prelude::*;

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    fn gettid() -> c_int;
}

const PROCESS_CPU: c_int = 2;
const THREAD_CPU: c_int = 3;

fn clock(number: c_int) -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the pointer is to a live value of the C type's layout.
    unsafe { clock_gettime(number, &mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}

fn thread_id() -> c_int {
    // SAFETY: takes nothing, changes nothing.
    unsafe { gettid() }
}

/// About 20 µs.
#[inline(never)]
fn burn_chunk(seed: u64) -> u64 {
    let mut x = seed | 1;
    for _ in 0..13_000 + seed % 1000 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(x)
}

#[inline(never)]
fn named_work(chunks: u64) -> u64 {
    (0..chunks).map(burn_chunk).fold(0, u64::wrapping_add)
}

/// What the pool waits for.
#[inline(never)]
fn prepare(chunks: u64) -> u64 {
    (0..chunks).map(burn_chunk).fold(1, u64::wrapping_add)
}

/// What one thread measured of itself.
struct Truth {
    tid: c_int,
    name: String,
    cpu_s: f64,
}

impl Truth {
    fn of_this_thread() -> Self {
        let name = thread::current().name().unwrap_or("").to_string();
        Truth { tid: thread_id(), name, cpu_s: clock(THREAD_CPU) }
    }
}

fn print_list(key: &str, truths: &[Truth]) {
    let items: Vec<String> = truths
        .iter()
        .map(|t| format!("{{\"tid\":{},\"name\":\"{}\",\"cpu_s\":{:.6}}}", t.tid, t.name, t.cpu_s))
        .collect();
    print!("\"{key}\":[{}],", items.join(","));
}

fn main() {
    let began = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let threads: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2);

    let serial = arguments.next().is_some_and(|word| word == "serial");

    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("pool-{i}"))
        .build()
        .expect("a pool of threads");
    let named: Vec<thread::JoinHandle<Truth>> = ["reader", "writer"]
        .iter()
        .take(if serial { 0 } else { 2 })
        .map(|name| {
            thread::Builder::new()
                .name(name.to_string())
                .spawn(move || {
                    while clock(THREAD_CPU) < seconds / 4.0 {
                        black_box(named_work(50));
                    }
                    Truth::of_this_thread()
                })
                .expect("a thread")
        })
        .collect();

    let (mut sum, mut alone_s) = (0u64, 0.0);
    while pool.broadcast(|_| clock(THREAD_CPU)).iter().sum::<f64>() < seconds * threads as f64 {
        let chunks = 400 * threads as u64;
        if serial {
            let began = Instant::now();
            sum ^= prepare(400);
            alone_s += began.elapsed().as_secs_f64();
        }
        sum ^= pool.install(|| (0..chunks).into_par_iter().map(burn_chunk).reduce(|| 0, u64::wrapping_add));
    }
    black_box(sum);
    let of_pool = pool.broadcast(|_| Truth::of_this_thread());
    let of_named: Vec<Truth> = named.into_iter().map(|t| t.join().expect("a thread that ended")).collect();

    print!("{{\"program\":\"rayon-sum\",");
    print_list("pool", &of_pool);
    print_list("named", &of_named);
    print!("\"alone_s\":{alone_s:.6},");
    println!("\"cpu_s\":{:.6},\"wall_s\":{:.6}}}", clock(PROCESS_CPU), began.elapsed().as_secs_f64());
}
