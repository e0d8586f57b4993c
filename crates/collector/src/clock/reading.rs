//! How long reading the clock takes, with and without waiting for the instructions before it.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{now_ns, ordered_ns};

/// So often that is looked at: at the process's begin, before the counter's speed is known, it takes many
/// times as long as later on.
const LOOKS: u32 = 64;
const READINGS_EACH: u32 = 4;
/// It does not take longer on any machine.
const MOST_NS: u64 = 500;

static LEAST_NS: AtomicU64 = AtomicU64::new(MOST_NS);
static LEAST_ORDERED_NS: AtomicU64 = AtomicU64::new(MOST_NS);
static LOOKED: AtomicU32 = AtomicU32::new(0);

/// How long one reading takes, ns: the least that was seen, this one included.
#[inline]
pub fn reading_ns() -> u64 {
    if LOOKED.load(Ordering::Relaxed) < LOOKS {
        look();
    }
    LEAST_NS.load(Ordering::Relaxed)
}

/// The same of a reading by [`ordered_ns`].
#[inline]
pub fn ordered_reading_ns() -> u64 {
    if LOOKED.load(Ordering::Relaxed) < LOOKS {
        look();
    }
    LEAST_ORDERED_NS.load(Ordering::Relaxed)
}

#[cold]
fn look() {
    LEAST_NS.fetch_min(each_ns(now_ns), Ordering::Relaxed);
    LEAST_ORDERED_NS.fetch_min(each_ns(ordered_ns), Ordering::Relaxed);
    LOOKED.fetch_add(1, Ordering::Relaxed);
}

fn each_ns(read: impl Fn() -> u64) -> u64 {
    let begin_ns = read();
    for _ in 1..READINGS_EACH {
        read();
    }
    read().saturating_sub(begin_ns) / u64::from(READINGS_EACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_no_more_than_many_readings_take() {
        const MANY: u64 = 10_000;
        let each_ns = || {
            let begin_ns = now_ns();
            (1..MANY).for_each(|_| {
                now_ns();
            });
            now_ns().saturating_sub(begin_ns) / MANY
        };
        let around = [each_ns(), each_ns(), each_ns()];
        (0..LOOKS).for_each(|_| {
            reading_ns();
        });
        let most_ns = around.into_iter().max().unwrap_or(0);
        assert!(reading_ns() <= 2 * most_ns + 2, "{} ns, {around:?}", reading_ns());
    }
}
