//! Rust programs that panic: in threads, while unwinding, in the end. `panics [abort]`: a panic that nobody
//! catches, or an abort.

use std::time::{Duration, Instant};

fn burn(milliseconds: u64) -> u64 {
    let until = Instant::now() + Duration::from_millis(milliseconds);
    let mut x = 1_u64;
    while Instant::now() < until {
        for _ in 0..10_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
    }
    std::hint::black_box(x)
}

struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        burn(5);
        println!("dropped {}", self.0);
    }
}

fn main() {
    std::panic::set_hook(Box::new(|info| eprintln!("panicked: {}", info.payload_as_str().unwrap_or("?"))));
    for round in 0..5 {
        let joined = std::thread::spawn(move || {
            let _guard = Guard("in a thread");
            burn(10);
            assert!(round % 2 == 0, "round {round}");
        })
        .join();
        println!("round {round}: {}", if joined.is_ok() { "returned" } else { "panicked" });
    }
    let caught = std::panic::catch_unwind(|| {
        let _guard = Guard("by catch_unwind");
        burn(20);
        panic!("to be caught");
    });
    println!("caught: {}", caught.is_err());
    let poisoned = std::sync::Mutex::new(1);
    std::thread::scope(|scope| {
        let _ = scope
            .spawn(|| {
                let _locked = poisoned.lock();
                panic!("with a lock");
            })
            .join();
    });
    println!("poisoned: {}", poisoned.is_poisoned());
    let _guard = Guard("at the end");
    burn(50);
    if std::env::args().nth(1).as_deref() == Some("abort") {
        std::process::abort();
    }
    panic!("the last one");
}
