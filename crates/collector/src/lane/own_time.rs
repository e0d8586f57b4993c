//! The collector's own share of a thread's processor time.

use super::Record;
use super::usage::Usage;
use crate::clock;

/// Time in the collector.
#[derive(Clone, Copy, Default)]
pub struct OwnTime {
    /// Since the newest record, ns.
    pub recent_ns: u64,
    /// Of the whole thread, ns.
    pub total_ns: u64,
}

/// The collector is at work for so long at most times. A longer stretch may have been interrupted, and is
/// examined.
const SURELY_OWN_NS: u64 = 20_000;

/// Processor time of the calling thread since `begin_ns`, as far as it can be found cheaply. `switches` are
/// those before.
fn on_processor_since(begin_ns: u64, begin_cpu_ns: u64, switches: (u64, u64)) -> u64 {
    let elapsed_ns = clock::now_ns().saturating_sub(begin_ns);
    if elapsed_ns < SURELY_OWN_NS {
        elapsed_ns
    } else if begin_cpu_ns != 0 {
        elapsed_ns.min(clock::thread_cpu_ns().saturating_sub(begin_cpu_ns))
    } else if Usage::now().switches == switches {
        // It has not left the processor since its last sample.
        elapsed_ns
    } else {
        SURELY_OWN_NS
    }
}

impl Record {
    /// Adds to the time spent in the collector.
    pub fn spent(&mut self, ns: u64) {
        self.own.recent_ns += ns;
        self.own.total_ns += ns;
        let total = self.own.total_ns;
        self.output.header(|header| header.own_ns = total);
    }

    /// Adds what the thread spent in the collector since `begin_ns`, of which only processor time counts: a
    /// thread that loses the processor inside a hook is preempted, and does not measure. `begin_cpu_ns` is
    /// its CPU clock near the begin; 0 = it was not read.
    pub fn spent_since(&mut self, begin_ns: u64, begin_cpu_ns: u64) {
        let own_ns = on_processor_since(begin_ns, begin_cpu_ns, self.usage.switches);
        self.spent(own_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_off_the_processor_does_not_measure() {
        let (begin_ns, cpu_ns, before) = (clock::now_ns(), clock::thread_cpu_ns(), Usage::now().switches);
        std::thread::sleep(std::time::Duration::from_millis(40));
        assert!(clock::now_ns() - begin_ns >= 40_000_000);
        // By its CPU clock, where that was read; else since it has left its processor meanwhile.
        assert!(on_processor_since(begin_ns, cpu_ns, before) < 20_000_000);
        assert_eq!(on_processor_since(begin_ns, 0, before), SURELY_OWN_NS);
    }

    #[test]
    fn what_takes_long_on_the_processor_counts() {
        let (begin_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        while clock::thread_cpu_ns() - cpu_ns < 5_000_000 {}
        assert!(on_processor_since(begin_ns, cpu_ns, (0, 0)) >= 5_000_000);
        assert!(on_processor_since(begin_ns, 0, Usage::now().switches) >= 5_000_000);
        let now_ns = clock::now_ns();
        assert!(on_processor_since(now_ns, 0, (0, 0)) <= clock::now_ns() - now_ns + SURELY_OWN_NS);
    }
}
