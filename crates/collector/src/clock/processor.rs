//! The processor that a thread runs on.
//!
//! The kernel keeps its number in a word of each thread, where the C library has registered one
//! (`rseq`, glibc 2.35 and later): one load. Otherwise the vDSO is asked, which takes six times as long.

use core::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use crate::arch::registers::thread_pointer;
use crate::raw;

type GetCpu = unsafe extern "C" fn(*mut u32, *mut u32, *mut u8) -> i32;

static GET_CPU: AtomicUsize = AtomicUsize::new(0);

/// The distance from a thread's pointer to the word; 0 = there is none.
static WORD: AtomicIsize = AtomicIsize::new(0);

/// Where the number lies in what the kernel and the C library share, `struct rseq`.
const NUMBER_AT: isize = 4;

/// The vDSO's function lies here.
pub(super) fn is_answered_at(address: usize) {
    GET_CPU.store(address, Ordering::Relaxed);
}

/// Looks for the C library's description of the word. May leave a message for `dlerror`.
pub fn find() {
    // SAFETY: the names are C strings.
    let [offset, size] = [c"__rseq_offset", c"__rseq_size"]
        .map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    if offset.is_null() || size.is_null() {
        return;
    }
    // SAFETY: constants of the C library: a distance, and a number that is 0 where nothing was registered.
    let (offset, size) = unsafe { (*offset.cast::<isize>(), *size.cast::<u32>()) };
    if size as isize > NUMBER_AT {
        WORD.store(offset + NUMBER_AT, Ordering::Relaxed);
    }
}

/// The processor the calling thread runs on.
#[inline]
pub fn processor() -> u32 {
    let word = WORD.load(Ordering::Relaxed);
    if word != 0 {
        // SAFETY: the C library has laid the word at this distance from each thread's pointer. The kernel
        // writes it when the thread gets a processor, so it is read each time.
        let number = unsafe { (thread_pointer() as *const u8).offset(word).cast::<i32>().read_volatile() };
        // Negative in a thread that has not registered it.
        if number >= 0 {
            return number as u32;
        }
    }
    ask()
}

#[cold]
#[inline(never)]
fn ask() -> u32 {
    let function = GET_CPU.load(Ordering::Relaxed);
    if function == 0 {
        return raw::processor();
    }
    let mut processor = 0_u32;
    // SAFETY: the address is that of the vDSO's `getcpu`, which has this signature.
    unsafe {
        let function: GetCpu = core::mem::transmute(function);
        function(&mut processor, core::ptr::null_mut(), core::ptr::null_mut());
    }
    processor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_that_the_kernel_says() {
        crate::clock::find();
        find();
        for read in [processor, ask] {
            let mut compared = 0;
            while compared < 1_000 {
                let (before, found, after) = (raw::processor(), read(), raw::processor());
                if before == after {
                    assert_eq!(found, before);
                    compared += 1;
                }
            }
        }
    }
}
