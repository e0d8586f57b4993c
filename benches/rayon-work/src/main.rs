//! A fixed amount of work on a rayon pool of two threads: rayon-work [AMOUNT]; 1 is about one second of CPU
//! time.

use std::ffi::{c_int, c_long};
use std::hint::black_box;

use rayon::prelude::*;

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

const PROCESS_CPU: c_int = 2;

/// About 20 µs.
#[inline(never)]
fn burn_chunk(seed: u64) -> u64 {
    let mut x = seed | 1;
    for _ in 0..13_000 + seed % 1000 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(x)
}

fn main() {
    let amount: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool of threads");
    let mut sum = 0_u64;
    for _ in 0..(amount * 84.0) as u32 {
        let chunks = || (0..800_u64).into_par_iter().map(burn_chunk).reduce(|| 0, u64::wrapping_add);
        let of_round = pool.install(chunks);
        sum = black_box(sum.wrapping_add(of_round));
    }
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the pointer is to a live value of the C type's layout.
    unsafe { clock_gettime(PROCESS_CPU, &mut time) };
    println!("{{\"sum\":{sum},\"cpu_s\":{:.6}}}", time.seconds as f64 + 1e-9 * time.nanoseconds as f64);
}
