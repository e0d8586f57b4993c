//! The CPU time of loading programs, and of starting to measure them: time that is on no thread's accounts.
//!
//! A process is measured from the moment its program is loaded. The work of the kernel and the dynamic linker
//! before that, Proust's own library included, is in the process's CPU clock at that moment.

use proust_log::layout::{FileHeader, Origin};
use rustc_hash::FxHashMap;

use proust_profile::Ns;
use proust_profile::notes::RunNote;

/// From which part of the run's CPU time on it is said.
const MATTERS: f64 = 0.05;
/// A single program is loaded in any run.
const FEWEST: usize = 10;

/// Sums over the images of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Loading {
    /// Programs that were loaded.
    images: usize,
    /// CPU time before their measurement began, ns.
    before_ns: u64,
    /// Wall time of beginning to measure them, and forked children, ns.
    beginning_ns: u64,
}

impl Loading {
    /// Of headers in the order of their starts.
    fn of<'h>(headers: impl Iterator<Item = &'h FileHeader>) -> Loading {
        let mut sums = Loading::default();
        // The clock of each process at the end of its last image.
        let mut clocks: FxHashMap<u32, u64> = FxHashMap::default();
        for header in headers {
            if header.origin == Origin::Image as u32 {
                let used_ns = clocks.get(&header.pid).copied().unwrap_or(0);
                sums.images += 1;
                // Process ids are used again: another process's clock starts at zero.
                let before_ns = header.process_cpu_start_ns;
                let since_ns = before_ns.checked_sub(used_ns).unwrap_or(before_ns);
                sums.before_ns = sums.before_ns.saturating_add(since_ns);
            }
            sums.beginning_ns = sums.beginning_ns.saturating_add(header.startup_ns);
            clocks.insert(header.pid, header.process_cpu_end_ns);
        }
        sums
    }
}

/// What a reader must know of it; None where it does not matter beside the threads' CPU time.
pub(super) fn note<'h>(headers: impl Iterator<Item = &'h FileHeader>, cpu: Ns) -> Option<RunNote> {
    let Loading { images, before_ns, beginning_ns } = Loading::of(headers);
    let before = Ns::of(before_ns);
    let share = before.share_of(before + cpu);
    (images >= FEWEST && share >= MATTERS).then_some(RunNote::ProgramsLoaded {
        programs: images,
        before_ns,
        share,
        beginning_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(pid: u32, origin: Origin, from_ms: u64, to_ms: u64) -> FileHeader {
        FileHeader {
            pid,
            origin: origin as u32,
            process_cpu_start_ns: from_ms * 1_000_000,
            process_cpu_end_ns: to_ms * 1_000_000,
            startup_ns: 500_000,
            ..FileHeader::default()
        }
    }

    #[test]
    fn loading_is_what_a_process_used_between_its_images() {
        let headers = [
            header(7, Origin::Image, 3, 10),
            header(8, Origin::Fork, 0, 1),
            // The child loads a program, which takes 4 ms.
            header(8, Origin::Image, 5, 6),
            // Another process of that number.
            header(8, Origin::Image, 2, 9),
        ];
        let found = Loading::of(headers.iter());
        assert_eq!(found, Loading { images: 3, before_ns: 9_000_000, beginning_ns: 2_000_000 });
    }

    #[test]
    fn it_is_said_of_many_programs_that_do_little() {
        let many = [header(9, Origin::Image, 2, 3); 20];
        let said = note(many.iter(), Ns::of(20_000_000)).unwrap();
        assert!(
            matches!(said, RunNote::ProgramsLoaded { programs: 20, before_ns: 2_000_000.., .. }),
            "{said:?}"
        );
        assert_eq!(note(many.iter(), Ns::of(5_000_000_000)), None);
        assert_eq!(note(many[..5].iter(), Ns::ZERO), None);
    }
}
