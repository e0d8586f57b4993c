//! The process's log file: a mapped window that grows by chunks.
//!
//! A chunk is reserved on storage before it is touched, since a write to a mapped page that the storage
//! cannot hold would kill the program. No descriptor is kept: the file is opened by path whenever it must
//! grow.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::layout::{CHUNK_BYTES, EXTENSION, FileHeader, HEADER_BYTES, LOG_FOLDER};

use crate::options::{self, Options};
use crate::{clock, raw};

mod patience;

use patience::{Lost, Next, Patience};

static BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static WINDOW_CHUNKS: AtomicU32 = AtomicU32::new(0);
static RESERVED_CHUNKS: AtomicU32 = AtomicU32::new(0);
static NEXT_CHUNK: AtomicU32 = AtomicU32::new(0);
static EXTENDING: AtomicBool = AtomicBool::new(false);
static CLOSED: AtomicBool = AtomicBool::new(false);
static CLOSED_AT: AtomicU32 = AtomicU32::new(0);
static PATH: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static PATH_BYTES: AtomicUsize = AtomicUsize::new(0);
static BUDGET_BYTES: AtomicU64 = AtomicU64::new(0);

/// Largest window, a bound on one process's log.
const MAX_WINDOW_BYTES: u64 = 1 << 30;
const MIN_WINDOW_BYTES: u64 = 1 << 20;
/// Part of a limited address space that the window may take: one of so many.
const ADDRESS_SPACE_SHARE: u64 = 64;
/// Chunks reserved at first, and the most at once later.
const FIRST_RESERVE: u32 = 2;
const MAX_RESERVE: u32 = 32;
/// Tries to get a chunk, of which others take one after the other, or which another thread reserves just now.
const MOST_TRIES: u32 = 100_000;

static LOST: Lost = Lost::never();

/// `folder` followed by `parts`, as a string that stays.
pub fn join(folder: &CStr, parts: &[&[u8]]) -> Option<&'static CStr> {
    let mut path = folder.to_bytes().to_vec();
    for part in parts {
        path.extend_from_slice(part);
    }
    path.push(0);
    CStr::from_bytes_with_nul(Vec::leak(path)).ok()
}

/// Digits of a number, at the end of `buffer`.
pub fn digits(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}

/// Creates the log of this process and maps it.
pub fn create(options: &Options, pid: u32, start_ns: u64) -> bool {
    let (mut pid_digits, mut time_digits) = ([0; 20], [0; 20]);
    let pid_digits = digits(pid.into(), &mut pid_digits);
    let mut stamp = start_ns;
    let (path, descriptor) = loop {
        let parts: [&[u8]; 7] =
            [b"/", LOG_FOLDER.as_bytes(), b"/", pid_digits, b"-", digits(stamp, &mut time_digits), b"."];
        let Some(stem) = join(options.folder, &parts) else { return false };
        let Some(path) = join(stem, &[EXTENSION.as_bytes()]) else { return false };
        // A process of the same number on another host may have taken the name.
        let outcome =
            raw::open_in_run(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, 0o644);
        if outcome == -(libc::EEXIST as isize) {
            stamp += 1;
            continue;
        }
        if raw::failed(outcome) {
            return false;
        }
        break (path, outcome as i32);
    };
    BUDGET_BYTES.store(options.budget_bytes, Ordering::Relaxed);
    PATH_BYTES.store(path.to_bytes_with_nul().len(), Ordering::Relaxed);
    PATH.store(path.as_ptr().cast_mut().cast(), Ordering::Release);
    CLOSED.store(false, Ordering::Relaxed);
    NEXT_CHUNK.store(0, Ordering::Relaxed);
    RESERVED_CHUNKS.store(0, Ordering::Relaxed);
    let first_bytes = (HEADER_BYTES + FIRST_RESERVE as usize * CHUNK_BYTES) as u64;
    let mapped = options::take_budget(first_bytes, options.budget_bytes)
        && reserve(descriptor, 0, first_bytes)
        && map_window(descriptor, options.budget_bytes);
    raw::close(descriptor);
    if mapped {
        RESERVED_CHUNKS.store(FIRST_RESERVE, Ordering::Release);
    }
    mapped
}

fn map_window(descriptor: i32, budget: u64) -> bool {
    // Where address space is limited, nearly all of it belongs to the program.
    let share = raw::limit(libc::RLIMIT_AS) / ADDRESS_SPACE_SHARE;
    let mut bytes = budget.min(share).clamp(MIN_WINDOW_BYTES, MAX_WINDOW_BYTES);
    loop {
        let window = HEADER_BYTES as u64 + bytes / CHUNK_BYTES as u64 * CHUNK_BYTES as u64;
        let memory = raw::map(
            window as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE,
            descriptor,
            0,
        );
        if !memory.is_null() {
            // Reading ahead into a file's unwritten part costs milliseconds on some file systems.
            raw::madvise(memory, window as usize, libc::MADV_RANDOM);
            WINDOW_CHUNKS.store((bytes / CHUNK_BYTES as u64) as u32, Ordering::Relaxed);
            BASE.store(memory, Ordering::Release);
            return true;
        }
        bytes /= 2;
        if bytes < MIN_WINDOW_BYTES {
            return false;
        }
    }
}

/// The parent's window, in a forked child.
#[derive(Clone, Copy)]
pub struct ParentWindow {
    memory: *mut u8,
    bytes: usize,
}

impl ParentWindow {
    /// Gives it up; `followed` tells whether the child has a log of its own now.
    pub fn give_up(self, followed: bool) {
        if self.memory.is_null() {
            return;
        }
        // SAFETY: mapped by `map_window` with this size, shared with the parent; the child is single-threaded and
        // holds no writer.
        unsafe {
            if !followed {
                let header = self.memory.cast::<FileHeader>();
                AtomicU64::from_ptr(&raw mut (*header).unfollowed_children).fetch_add(1, Ordering::Relaxed);
            }
            raw::unmap(self.memory, self.bytes);
        }
    }
}

/// Leaves the parent's log in a forked child, whose own one is created next.
pub fn abandon() -> ParentWindow {
    let memory = BASE.swap(core::ptr::null_mut(), Ordering::AcqRel);
    EXTENDING.store(false, Ordering::Relaxed);
    let bytes = HEADER_BYTES + WINDOW_CHUNKS.load(Ordering::Relaxed) as usize * CHUNK_BYTES;
    ParentWindow { memory, bytes }
}

/// The log's first page, or null.
pub fn header() -> *mut FileHeader {
    BASE.load(Ordering::Acquire).cast()
}

/// Runs `work` on the log's first page, if there is one.
pub fn with_header(work: impl FnOnce(&mut FileHeader)) {
    // SAFETY: the page stays mapped while the process records. Fields that several threads change are
    // counters and flags for which a lost update is harmless; those that must be exact use `counter`.
    if let Some(header) = unsafe { header().as_mut() } {
        work(header);
    }
}

/// Adds to a counter of the log's first page.
pub fn count(field: impl FnOnce(*mut FileHeader) -> *mut u64, amount: u64) {
    let header = header();
    if !header.is_null() {
        // SAFETY: the closure picks an aligned field of the mapped header.
        unsafe { AtomicU64::from_ptr(field(header)) }.fetch_add(amount, Ordering::Relaxed);
    }
}

/// A fresh chunk, mapped, reserved and zero; null if there is none to be had.
pub fn take_chunk() -> *mut u8 {
    let mut patience = Patience::default();
    for _ in 0..MOST_TRIES {
        if CLOSED.load(Ordering::Acquire) {
            break;
        }
        let next = NEXT_CHUNK.load(Ordering::Relaxed);
        if next < RESERVED_CHUNKS.load(Ordering::Acquire) {
            if NEXT_CHUNK.compare_exchange(next, next + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let base = BASE.load(Ordering::Acquire);
                // SAFETY: the header is mapped at the window's begin, and the field is aligned.
                let chunks = unsafe { AtomicU32::from_ptr(&raw mut (*base.cast::<FileHeader>()).chunks) };
                chunks.fetch_max(next + 1, Ordering::Relaxed);
                // SAFETY: chunk `next` is below the reserved ones, which lie inside the window.
                return unsafe { base.add(HEADER_BYTES + next as usize * CHUNK_BYTES) };
            }
            continue;
        }
        if EXTENDING.swap(true, Ordering::Acquire) {
            // Another thread is at it.
            match patience.next(&LOST, clock::now_ns) {
                Next::Look => core::hint::spin_loop(),
                Next::GiveAway => raw::give_processor_away(),
                Next::GiveUp => break,
            }
            continue;
        }
        let extended = extend();
        EXTENDING.store(false, Ordering::Release);
        if !extended {
            break;
        }
    }
    core::ptr::null_mut()
}

fn path() -> Option<&'static CStr> {
    let bytes = PATH_BYTES.load(Ordering::Relaxed);
    let path = PATH.load(Ordering::Acquire);
    if path.is_null() {
        return None;
    }
    // SAFETY: `create` stored a leaked string of this length, its final zero included.
    CStr::from_bytes_with_nul(unsafe { core::slice::from_raw_parts(path, bytes) }).ok()
}

fn extend() -> bool {
    let reserved = RESERVED_CHUNKS.load(Ordering::Relaxed);
    let window = WINDOW_CHUNKS.load(Ordering::Relaxed);
    let more = reserved.clamp(1, MAX_RESERVE).min(window.saturating_sub(reserved));
    for wanted in [more, 1] {
        let bytes = u64::from(wanted) * CHUNK_BYTES as u64;
        if wanted == 0 || !options::take_budget(bytes, BUDGET_BYTES.load(Ordering::Relaxed)) {
            with_header(|header| header.budget_exhausted = 1);
            continue;
        }
        let start = HEADER_BYTES as u64 + u64::from(reserved) * CHUNK_BYTES as u64;
        if grow_file(start, bytes) {
            RESERVED_CHUNKS.store(reserved + wanted, Ordering::Release);
            return true;
        }
        options::return_budget(bytes);
        with_header(|header| header.storage_failed = 1);
    }
    false
}

/// Reserves so much beyond what is reserved, as far as that goes: the file may soon be out of reach.
pub fn reserve_ahead(bytes: u64) {
    let wanted = (bytes / CHUNK_BYTES as u64) as u32;
    for _ in 0..wanted {
        let spare =
            RESERVED_CHUNKS.load(Ordering::Acquire).saturating_sub(NEXT_CHUNK.load(Ordering::Relaxed));
        if spare >= wanted || CLOSED.load(Ordering::Acquire) || EXTENDING.swap(true, Ordering::Acquire) {
            return;
        }
        let extended = extend();
        EXTENDING.store(false, Ordering::Release);
        if !extended {
            return;
        }
    }
}

fn grow_file(start: u64, bytes: u64) -> bool {
    let Some(path) = path() else { return false };
    let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
    if raw::failed(descriptor) {
        return false;
    }
    let reserved = reserve(descriptor as i32, start, bytes);
    raw::close(descriptor as i32);
    reserved
}

/// Makes sure that the storage holds these bytes of the file.
fn reserve(descriptor: i32, start: u64, bytes: u64) -> bool {
    // Growing a file beyond this limit would raise SIGXFSZ.
    if start + bytes > raw::limit(libc::RLIMIT_FSIZE) {
        return false;
    }
    let outcome = raw::fallocate(descriptor, start, bytes);
    if outcome == -(libc::EOPNOTSUPP as isize) || outcome == -(libc::ENOSYS as isize) {
        return write_zeros(descriptor, start, bytes);
    }
    !raw::failed(outcome)
}

/// On file systems without reservation, written zeros reserve.
fn write_zeros(descriptor: i32, start: u64, bytes: u64) -> bool {
    static ZEROS: [u8; 4096] = [0; 4096];
    (start..start + bytes).step_by(ZEROS.len()).all(|at| {
        let wanted = ZEROS.len().min((start + bytes - at) as usize);
        raw::pwrite(descriptor, &ZEROS[..wanted], at) == wanted as isize
    })
}

/// Hands out no more chunks and gives the unused reservation back.
pub fn close() {
    if CLOSED.swap(true, Ordering::AcqRel) {
        return;
    }
    let used = NEXT_CHUNK.swap(u32::MAX, Ordering::AcqRel);
    CLOSED_AT.store(used, Ordering::Release);
    let reserved = RESERVED_CHUNKS.load(Ordering::Acquire);
    if used >= reserved {
        return;
    }
    let Some(path) = path() else { return };
    let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
    if raw::failed(descriptor) {
        return;
    }
    let outcome = raw::ftruncate(descriptor as i32, (HEADER_BYTES + used as usize * CHUNK_BYTES) as u64);
    raw::close(descriptor as i32);
    if !raw::failed(outcome) {
        options::return_budget(u64::from(reserved - used) * CHUNK_BYTES as u64);
    }
}

/// Takes back [`close`] (exec failed and the process goes on); what was given back is gone.
pub fn reopen() {
    let used = CLOSED_AT.load(Ordering::Acquire);
    RESERVED_CHUNKS.store(used, Ordering::Release);
    NEXT_CHUNK.store(used, Ordering::Release);
    CLOSED.store(false, Ordering::Release);
}
