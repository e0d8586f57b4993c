//! The machine and its limits.

use super::{call, failed, sys};

/// Soft limit of a resource.
pub fn limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let outcome = sys!(SYS_prlimit64, 0, resource, 0, &raw mut limit);
    if failed(outcome) { libc::RLIM64_INFINITY } else { limit.rlim_cur }
}

/// Fills `bytes` with random numbers of the system's; false where it has none yet.
pub fn random(bytes: &mut [u8; 8]) -> bool {
    let got = sys!(SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), libc::GRND_NONBLOCK);
    got == bytes.len() as isize
}

/// The first two numbers of the kernel's version; zeros if it does not say.
pub fn kernel_version() -> (u32, u32) {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    sys!(SYS_uname, names.as_mut_ptr());
    // SAFETY: all-zero is a valid `utsname`.
    let names = unsafe { names.assume_init() };
    let mut numbers = names.release.split(|&byte| !(byte as u8).is_ascii_digit()).map(|digits| {
        digits
            .iter()
            .fold(0_u32, |number, &digit| number.wrapping_mul(10).wrapping_add(u32::from(digit as u8 - b'0')))
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Words of a set of processors, of which Linux knows at most 8192.
pub const MASK_WORDS: usize = 128;

/// The affinity mask of a thread, 0 for the caller, whose words were all 0; false, and so they stay, if the
/// kernel does not say, or has more processors.
pub fn affinity_of(tid: u32, mask: &mut [u64]) -> bool {
    let outcome = sys!(SYS_sched_getaffinity, tid, size_of_val(mask), mask.as_mut_ptr());
    !failed(outcome)
}

/// The processor the thread runs on.
pub fn processor() -> u32 {
    let mut processor = 0_u32;
    sys!(SYS_getcpu, &raw mut processor, 0, 0);
    processor
}

/// Host name, into `buffer`; number of bytes.
pub fn host_name(buffer: &mut [u8; 65]) -> usize {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    sys!(SYS_uname, names.as_mut_ptr());
    // SAFETY: all-zero is a valid `utsname`.
    let names = unsafe { names.assume_init() };
    let mut length = 0;
    for (to, &from) in buffer.iter_mut().zip(names.nodename.iter()) {
        if from == 0 {
            break;
        }
        *to = from as u8;
        length += 1;
    }
    length
}
