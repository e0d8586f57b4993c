//! Work that tasks of tokio do for a known function: each function of work is called by one owner only.
//! owners_tokio [SECONDS of each owner] [THREADS]
//!
//! At the end it prints, for each owner, the function that worked for it and the CPU time that this cost.

use std::ffi::{c_int, c_long};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

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

work!(answer ANSWER, digest DIGEST, compose COMPOSE);

const PARTS: usize = 16;

/// Tasks that any worker executes, each in several steps.
async fn requests(seconds: f64) -> u64 {
    let task = || async move {
        let mut sum = 0;
        for _ in 0..4 {
            sum ^= answer(seconds / PARTS as f64 / 4.0);
            tokio::task::yield_now().await;
        }
        sum
    };
    let tasks: Vec<_> = (0..PARTS).map(|_| tokio::spawn(task())).collect();
    let mut sum = 0;
    for task in tasks {
        sum ^= task.await.expect("a task that ended");
    }
    sum
}

/// Work on a thread where it may block.
async fn blocking(seconds: f64) -> u64 {
    tokio::task::spawn_blocking(move || digest(seconds)).await.expect("a task that ended")
}

/// What the first thread does itself while it waits for the runtime.
async fn inside(seconds: f64) -> u64 {
    let mut sum = 0;
    for _ in 0..PARTS {
        sum ^= compose(seconds / PARTS as f64);
        tokio::task::yield_now().await;
    }
    sum
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(0.3);
    let threads: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).build().expect("a runtime");
    black_box(runtime.block_on(requests(seconds)));
    black_box(runtime.block_on(blocking(seconds)));
    black_box(runtime.block_on(inside(seconds)));

    let owners =
        [("requests", "answer", &ANSWER), ("blocking", "digest", &DIGEST), ("inside", "compose", &COMPOSE)];
    let items: Vec<String> = owners
        .iter()
        .map(|(owner, work, spent)| {
            let cpu_s = spent.load(Ordering::Relaxed) as f64 * 1e-9;
            format!("{{\"owner\":\"{owner}\",\"work\":\"{work}\",\"cpu_s\":{cpu_s:.6}}}")
        })
        .collect();
    println!("{{\"program\":\"owners_tokio\",\"owners\":[{}]}}", items.join(","));
}
