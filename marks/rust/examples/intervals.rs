//! The marks in use; it runs the same with Proust and without.

use proust_marks::Interval;

fn main() {
    proust_marks::name_thread("example");
    let mut sum = 0_u64;
    {
        let _all = Interval::new("all").begin();
        for level in 0..3 {
            let sweep = Interval::new("sweep").number(level).parallel().begin();
            for n in 0..1_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(n));
            }
            sweep.iterations(1_000_000);
        }
        let _setup = Interval::new("setup").replicated(4).begin();
    }
    proust_marks::pause();
    proust_marks::resume();
    proust_marks::sample("done");
    match proust_marks::elapsed("cpu") {
        Some(seconds) => println!("{sum}; {seconds:.3} s by Proust"),
        None => println!("{sum}; Proust is not there"),
    }
}
