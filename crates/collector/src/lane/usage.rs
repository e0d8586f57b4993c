//! The kernel's counts for a thread, and for the whole process.

use crate::raw;

/// Counters of a thread or a process as the kernel keeps them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User time, microseconds.
    pub user_us: u64,
    /// System time, microseconds.
    pub system_us: u64,
    /// Page faults without and with I/O.
    pub faults: (u64, u64),
    /// Voluntary and involuntary context switches.
    pub switches: (u64, u64),
    /// The most memory that the process had resident at once, KiB.
    pub peak_resident_kib: u64,
}

impl Usage {
    /// Before anything was counted.
    pub const NONE: Usage =
        Usage { user_us: 0, system_us: 0, faults: (0, 0), switches: (0, 0), peak_resident_kib: 0 };

    /// Of the calling thread.
    pub fn now() -> Usage {
        Usage::from(&raw::usage(libc::RUSAGE_THREAD))
    }

    /// Of the process.
    pub fn of_process() -> Usage {
        Usage::from(&raw::usage(libc::RUSAGE_SELF))
    }

    #[inline]
    fn from(usage: &libc::rusage) -> Usage {
        let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Usage {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            faults: (usage.ru_minflt as u64, usage.ru_majflt as u64),
            switches: (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64),
            peak_resident_kib: usage.ru_maxrss as u64,
        }
    }

    /// Voluntary switches but those for pages that had to be read.
    pub fn unexplained(&self) -> u64 {
        self.switches.0.wrapping_sub(self.faults.1)
    }

    /// The increase since `earlier`; the peak stays what it is.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            faults: (
                self.faults.0.saturating_sub(earlier.faults.0),
                self.faults.1.saturating_sub(earlier.faults.1),
            ),
            switches: (
                self.switches.0.saturating_sub(earlier.switches.0),
                self.switches.1.saturating_sub(earlier.switches.1),
            ),
            peak_resident_kib: self.peak_resident_kib,
        }
    }
}

/// Time on a processor and time waiting for one, nanoseconds, from a `schedstat` file.
pub fn scheduler_numbers(path: &core::ffi::CStr) -> Option<(u64, u64)> {
    raw::with_text::<96, _>(path, |text| {
        let mut words = text.split(u8::is_ascii_whitespace);
        let run_ns = crate::path::maps::number(words.next()?, 10)?;
        let queued_ns = crate::path::maps::number(words.next()?, 10)?;
        Some((run_ns, queued_ns))
    })?
}
