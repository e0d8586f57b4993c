//! Finds the file in which a runtime describes the code that it makes, in perf's jitdump format. The process
//! maps it executable, as `jit-PID.dump`, for no other reason than that profilers see it. Its path is written
//! beside the log, where `proust record` finds it.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use proust_log::layout::JITDUMP_PATH_EXTENSION;

use crate::path::maps;
use crate::turn::Mine;
use crate::{logfile, process};

/// Addresses that were in no module.
static MISSES: AtomicU32 = AtomicU32::new(0);
static FOUND: AtomicBool = AtomicBool::new(false);

/// Looks for the file, since an address is in no module. For signal handlers: makes system calls, at the
/// first such address, the second, the fourth and so on.
#[cold]
#[inline(never)]
pub fn look(_: &Mine) {
    if FOUND.load(Ordering::Relaxed) || process::is_confined() {
        return;
    }
    if !MISSES.fetch_add(1, Ordering::Relaxed).wrapping_add(1).is_power_of_two() {
        return;
    }
    if let Some(mapping) = maps::find_file(is_jitdump)
        && mapping.executable
        && logfile::write_beside(JITDUMP_PATH_EXTENSION, mapping.path().to_bytes())
    {
        FOUND.store(true, Ordering::Relaxed);
    }
}

/// The child has a log of its own, and looks itself.
pub fn after_fork() {
    FOUND.store(false, Ordering::Relaxed);
    MISSES.store(0, Ordering::Relaxed);
}

/// Whether it is a path ending with `/jit-NUMBER.dump`. A forked child has its parent's.
fn is_jitdump(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let number = name.strip_prefix(b"jit-").and_then(|rest| rest.strip_suffix(b".dump"));
    number.is_some_and(|number| maps::number(number, 10).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jitdump_is_known_by_its_name() {
        assert!(is_jitdump(b"/home/me/.debug/jit/x/jit-4711.dump"));
        for other in
            [&b"/tmp/jit-.dump"[..], b"/tmp/jit-1.dump (deleted)", b"/tmp/ajit-1.dump", b"", b"[heap]"]
        {
            assert!(!is_jitdump(other));
        }
    }
}
