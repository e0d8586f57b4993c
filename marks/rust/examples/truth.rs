//! Marks its intervals, and says how long they took by its own clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use proust_marks::Interval;

#[inline(never)]
fn compute(time: Duration) {
    let begin = Instant::now();
    let mut x = 1_u64;
    while begin.elapsed() < time {
        for _ in 0..20_000 {
            x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

#[inline(never)]
fn solve(level: i64, time: Duration) -> Duration {
    let begin = Instant::now();
    {
        let solving = Interval::new("solve").number(level).parallel().begin();
        compute(time);
        solving.iterations(5);
    }
    begin.elapsed()
}

/// A comparison of the program's own clock with Proust's.
fn compared(account: &str, own: Duration) -> String {
    let elapsed_s = proust_marks::elapsed(account).unwrap_or(-1.0);
    format!("\"{account}\":{{\"own_s\":{:.9},\"elapsed_s\":{elapsed_s:.9}}}", own.as_secs_f64())
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let part = Duration::from_secs_f64(seconds / 4.0);
    let begin = Instant::now();
    let mut solved = Duration::ZERO;
    let left_s;
    let caught = {
        let _all = Interval::new("all").begin();
        for level in 0..3 {
            solved += solve(level, part);
        }
        std::panic::set_hook(Box::new(|_| ()));
        let left = Instant::now();
        let caught = std::panic::catch_unwind(|| {
            let _left = Interval::new("left by a panic").begin();
            compute(part);
            panic!("as it should");
        })
        .is_err();
        left_s = left.elapsed().as_secs_f64();
        caught
    };
    let all = begin.elapsed();
    assert!(caught);
    let begin = Instant::now();
    std::thread::sleep(part / 2);
    let waited = begin.elapsed();
    let begin = Instant::now();
    proust_marks::pause();
    compute(part / 2);
    proust_marks::resume();
    let paused = begin.elapsed();
    print!("{{\"elapsed\":{{{},{}}},", compared("wait", waited), compared("paused", paused));
    println!(
        "\"intervals\":{{\"all\":{{\"executions\":1,\"time_s\":{:.9}}},\
         \"solve\":{{\"executions\":3,\"time_s\":{:.9}}},\
         \"left by a panic\":{{\"executions\":1,\"time_s\":{:.9}}}}}}}",
        all.as_secs_f64(),
        solved.as_secs_f64(),
        left_s
    );
}
