//! How long a thread waits for another one that grows the log.
//!
//! Growing takes some microseconds, but the thread that grows may lose its processor meanwhile, on a busy
//! machine for tens of milliseconds: then it gets the waiting thread's. It may also be stuck in slow
//! storage, and a waiting thread may be in a signal handler: so the wait is short, and after one in vain
//! threads do not wait for a while.

use core::sync::atomic::{AtomicU64, Ordering};

/// Looks before the processor is given away.
const LOOKS: u32 = 1000;
/// Most time given away at once.
const MOST_NS: u64 = 80_000_000;
/// How long no thread waits after a wait in vain.
const PAUSE_NS: u64 = 4_000_000_000;

/// When a wait last ended in vain.
#[derive(Debug, Default)]
pub struct Lost(AtomicU64);

impl Lost {
    /// Never yet.
    pub const fn never() -> Lost {
        Lost(AtomicU64::new(0))
    }
}

/// The next step of a thread that has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Look again.
    Look,
    /// Give the processor away, and look again.
    GiveAway,
    /// Do without.
    GiveUp,
}

/// One wait.
#[derive(Debug, Default)]
pub struct Patience {
    looks: u32,
    since_ns: u64,
}

impl Patience {
    /// The next step after one more look in vain.
    pub fn next(&mut self, lost: &Lost, now_ns: impl FnOnce() -> u64) -> Next {
        if self.looks < LOOKS {
            self.looks += 1;
            return Next::Look;
        }
        let now_ns = now_ns();
        if self.since_ns == 0 {
            self.since_ns = now_ns;
        }
        let lost_ns = lost.0.load(Ordering::Relaxed);
        if lost_ns != 0 && now_ns.saturating_sub(lost_ns) < PAUSE_NS {
            return Next::GiveUp;
        }
        if now_ns.saturating_sub(self.since_ns) < MOST_NS {
            return Next::GiveAway;
        }
        lost.0.store(now_ns, Ordering::Relaxed);
        Next::GiveUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks, and nanoseconds given away, until it gives up; each look after the first takes `step_ns`.
    fn waited(lost: &Lost, start_ns: u64, step_ns: u64) -> (u32, u64) {
        let (mut patience, mut looks, mut now_ns) = (Patience::default(), 0, start_ns);
        loop {
            match patience.next(lost, || now_ns) {
                Next::Look => looks += 1,
                Next::GiveAway => now_ns += step_ns,
                Next::GiveUp => return (looks, now_ns - start_ns),
            }
        }
    }

    #[test]
    fn a_thread_that_waited_in_vain_does_not_wait_again_at_once() {
        let lost = Lost::never();
        assert_eq!(waited(&lost, 1_000, 3_000_000), (LOOKS, 81_000_000));
        assert_eq!(waited(&lost, 2_000_000_000, 3_000_000), (LOOKS, 0));
        assert_eq!(waited(&lost, 4_100_000_000, 5_000_000), (LOOKS, 80_000_000));
    }
}
