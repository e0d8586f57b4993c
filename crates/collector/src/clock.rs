//! Clocks: one time base, CLOCK_MONOTONIC, read through the vDSO or computed from the processor's counter;
//! CPU time by system calls.
//!
//! The vDSO is called directly and not through the C library, since a program or another preloaded
//! library may have put its own `clock_gettime` there.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::raw;

mod anchor;
pub mod processor;
mod reading;
pub mod ticks;

type GetTime = unsafe extern "C" fn(i32, *mut libc::timespec) -> i32;

static GET_TIME: AtomicUsize = AtomicUsize::new(0);

/// The program forbids itself the processor's counter, by `prctl(PR_SET_TSC)`: from here on nothing of ours
/// reads it, in no thread, and neither does the vDSO's clock for us. The kernel's setting is the calling
/// thread's and its children's.
pub fn forbid_counter() {
    ticks::forbid();
    anchor::forbid_counter();
    GET_TIME.store(0, Ordering::Release);
}

/// Finds the clocks. A counter that the program which called exec had forbidden itself stays forbidden.
pub fn find() {
    find_vdso();
    if raw::may_read_counter() {
        ticks::find();
    } else {
        forbid_counter();
    }
}

/// Finds the vDSO's functions. Without a vDSO the clocks fall back to system calls.
fn find_vdso() {
    // SAFETY: getauxval only reads the auxiliary vector.
    let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    if base == 0 {
        return;
    }
    // SAFETY: the kernel maps a whole, well-formed ELF image at this address for the process's life.
    let Some(image) = (unsafe { crate::path::elf::LoadedImage::new(base) }) else { return };
    let [get_time, get_processor] = crate::arch::elf::VDSO;
    if let Some(address) = image.symbol(get_time) {
        GET_TIME.store(address, Ordering::Relaxed);
    }
    if let Some(address) = image.symbol(get_processor) {
        processor::is_answered_at(address);
    }
}

pub use anchor::{now, now_ns, ordered_ns};
pub use processor::processor;
pub use reading::{ordered_reading_ns, reading_ns};

/// A forked child begins: another thread's work at the fork is void, and in a time namespace of its own the
/// clock counts from another beginning.
pub fn after_fork() {
    anchor::after_fork();
    ticks::after_fork();
}

/// CLOCK_MONOTONIC, nanoseconds, as the kernel reports it.
fn system_ns() -> u64 {
    let function = GET_TIME.load(Ordering::Relaxed);
    if function == 0 {
        return raw::clock_ns(libc::CLOCK_MONOTONIC);
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the address is that of the vDSO's `clock_gettime`, which has this signature.
    unsafe {
        let function: GetTime = core::mem::transmute(function);
        function(libc::CLOCK_MONOTONIC, &mut time);
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of the calling thread, nanoseconds.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    raw::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of the process, nanoseconds.
pub fn process_cpu_ns() -> u64 {
    raw::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The clock of another thread's CPU time (the kernel's encoding: complement of the id, then flags for
/// "one thread" and "scheduler's clock").
pub fn cpu_clock_of(tid: u32) -> i32 {
    (!(tid as i32) << 3) | 6
}

/// Processors the machine had online when the image first asked; 0 if unknown. A forked child has the number
/// from its parent.
pub fn online_processors() -> u32 {
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    let known = KNOWN.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let online = count_online();
    KNOWN.store(online, Ordering::Relaxed);
    online
}

fn count_online() -> u32 {
    raw::with_text::<256, _>(c"/sys/devices/system/cpu/online", |text| {
        let ranges = text.trim_ascii().split(|&byte| byte == b',').filter_map(|range| {
            let mut ends = range.splitn(2, |&byte| byte == b'-');
            let first = crate::path::maps::number(ends.next()?, 10)?;
            let last = ends.next().map_or(Some(first), |last| crate::path::maps::number(last, 10))?;
            Some(last.saturating_sub(first) as u32 + 1)
        });
        ranges.sum()
    })
    .unwrap_or(0)
}
