//! The process's log file: a mapped window that grows by pieces, from which chunks are handed out.
//!
//! A chunk is reserved on storage before it is touched, since a write to a mapped page without storage behind
//! it would kill the program. No descriptor is kept: the file is opened by path whenever it must grow.

use core::ffi::CStr;
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::layout::{EXTENSION, FileHeader, HEADER_BYTES, LOG_FOLDER, MAX_CHUNK_BYTES, UNIT_BYTES};
use proust_log::writer::Chunk;

use crate::options::{self, Options};
use crate::raw;
use crate::turn::Mine;

mod growth;
mod patience;
mod window;

use growth::{GROWING, Growing};

/// The file's first page.
static HEADER: AtomicPtr<FileHeader> = AtomicPtr::new(core::ptr::null_mut());
/// The first unit that was not handed out yet, and in the upper half how often the log was closed and opened
/// again: a thread that read it before that must not take from it.
static NEXT: AtomicU64 = AtomicU64::new(CLOSED as u64);
/// Units from the file's begin on that are reserved on storage and mapped.
static RESERVED: AtomicU32 = AtomicU32::new(0);
static PATH: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static PATH_BYTES: AtomicUsize = AtomicUsize::new(0);
static BUDGET_BYTES: AtomicU64 = AtomicU64::new(0);

/// In the place of a unit's number: nothing is handed out.
const CLOSED: u32 = u32::MAX;
/// Units of the header.
const HEADER_UNITS: u32 = (HEADER_BYTES / UNIT_BYTES) as u32;
/// Units that are reserved at first beside the header: a lane's first chunk and its second one.
pub const USUAL_UNITS: u32 = 3;
/// The same of a process that will hardly write more than what it is: a lane's first chunk. Most forked
/// children only exit or load another image, and reserving what is given back again takes a quarter as long
/// as making the file.
pub const FEW_UNITS: u32 = 1;
/// Units that are reserved later, at once.
const LEAST_MORE: u32 = 16;
const MOST_MORE: u32 = 512;
/// Tries to get a chunk of which others take one after the other.
const MOST_TRIES: u32 = 100_000;
/// How long the end of a log waits for a thread that makes it larger.
const PATIENCE_NS: u64 = 20_000_000;

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

/// Permissions of a log: a recording shows what its user's programs do.
const MODE: u32 = 0o600;

/// Creates the log of this process and maps it. Makes about ten system calls, takes no memory but the
/// arena's, and may be called in a hook or a handler, with all signals blocked; where a log is there already
/// it has to be left first ([`abandon`]). `units` are reserved beside the header.
pub fn create(options: &Options, pid: u32, start_ns: u64, units: u32) -> bool {
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
            raw::open_in_run(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, MODE);
        if outcome == -(libc::EEXIST as isize) {
            stamp += 1;
            continue;
        }
        if raw::failed(outcome) {
            return false;
        }
        break (path, outcome as i32);
    };
    // Whatever the program's umask is: the file is opened again by its path.
    raw::fchmod(descriptor, MODE);
    BUDGET_BYTES.store(options.budget_bytes, Ordering::Relaxed);
    PATH_BYTES.store(path.to_bytes_with_nul().len(), Ordering::Relaxed);
    PATH.store(path.as_ptr().cast_mut().cast(), Ordering::Release);
    let units = HEADER_UNITS + units;
    let bytes = u64::from(units) * UNIT_BYTES as u64;
    let made = options::take_budget(bytes, options.budget_bytes)
        && reserve(descriptor, 0, bytes).is_ok()
        && window::map(descriptor, units).is_ok();
    raw::close(descriptor);
    let Some((memory, _)) = window::at(0).filter(|_| made) else { return false };
    HEADER.store(memory.cast(), Ordering::Release);
    RESERVED.store(units, Ordering::Release);
    NEXT.store(HEADER_UNITS.into(), Ordering::Release);
    true
}

/// The parent's log, in a forked child.
pub struct ParentLog(window::Left);

impl ParentLog {
    /// Gives it up; `followed` says whether the child has a log of its own now. Where a handler has forked
    /// inside a hook, the child continues in the middle of it, and may still write what the hook was about
    /// to: into the lane's header `left`, or the file's. So memory that nothing reads takes the place of
    /// these two pages.
    pub fn give_up(self, followed: bool, left: *mut u8) {
        let header = self.0.header().cast::<FileHeader>();
        if header.is_null() {
            return;
        }
        // SAFETY: the header is mapped, shared with the parent; the child is single-threaded and has no
        // writer.
        unsafe {
            if !followed {
                AtomicU64::from_ptr(&raw mut (*header).unfollowed_children).fetch_add(1, Ordering::Relaxed);
            }
        }
        self.leave(left, 0..0);
    }

    /// As [`ParentLog::give_up`], in a child that has no log yet; the memory of `kept` stays mapped.
    pub fn leave(&self, left: *mut u8, kept: Range<usize>) {
        let header = self.0.header();
        if header.is_null() {
            return;
        }
        // SAFETY: mapped by this process's parent, shared with it; the child is single-threaded and has no
        // writer.
        unsafe {
            self.0.unmap_but(kept);
            for page in [header, left] {
                raw::put_scratch(page);
            }
        }
    }
}

/// Leaves the parent's log in a forked child, whose own one is created next.
pub fn abandon() -> ParentLog {
    NEXT.store(CLOSED.into(), Ordering::Relaxed);
    RESERVED.store(0, Ordering::Relaxed);
    HEADER.store(core::ptr::null_mut(), Ordering::Release);
    GROWING.after_fork();
    ParentLog(window::leave())
}

/// The log's first page, or null.
pub fn header() -> *mut FileHeader {
    HEADER.load(Ordering::Acquire)
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

/// Raises a field of the log's first page to `value`, unless it is larger already.
pub fn raise(field: impl FnOnce(&mut FileHeader) -> *mut u64, value: u64) {
    with_header(|header| {
        // SAFETY: the closure picks an aligned field of the mapped header.
        let field = unsafe { AtomicU64::from_ptr(field(header)) };
        // Most calls find it raised: they only read the line.
        if field.load(Ordering::Relaxed) < value {
            field.fetch_max(value, Ordering::Relaxed);
        }
    });
}

/// A fresh chunk of `bytes` bytes, or of fewer where there are no more; None if there is none to be had.
pub fn take_chunk(bytes: usize) -> Option<Chunk> {
    let wanted = (bytes.min(MAX_CHUNK_BYTES) / UNIT_BYTES) as u32;
    let mut may_grow = true;
    for _ in 0..MOST_TRIES {
        let next = NEXT.load(Ordering::Acquire);
        let unit = next as u32;
        if unit == CLOSED {
            return None;
        }
        let free = RESERVED.load(Ordering::Acquire).saturating_sub(unit);
        if free < wanted && may_grow {
            may_grow = match growth::turn() {
                Growing::Mine(mine) => grow(&mine, wanted),
                Growing::Over => true,
                Growing::Never => false,
            };
            continue;
        }
        let (start, behind) = window::at(unit).filter(|_| free > 0)?;
        let units = wanted.min(free).min(behind);
        // No other thread may have taken it, or closed the log meanwhile.
        if NEXT.compare_exchange(next, next + u64::from(units), Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            continue;
        }
        // SAFETY: the header stays mapped while the process records, and the field is aligned.
        let counter = unsafe { AtomicU32::from_ptr(&raw mut (*header()).units) };
        counter.fetch_max(unit + units - HEADER_UNITS, Ordering::Relaxed);
        return Some(Chunk { start, bytes: units as usize * UNIT_BYTES });
    }
    None
}

/// Makes a file beside the log, under its name with another extension, unless there is one. Makes a few
/// system calls and takes memory of the arena alone, as a handler may.
pub fn write_beside(extension: &str, bytes: &[u8]) -> bool {
    let stem = path().and_then(|path| path.to_bytes().strip_suffix(EXTENSION.as_bytes()));
    let Some(stem) = stem else { return false };
    let Some(name) = join(c"", &[stem, extension.as_bytes()]) else { return false };
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
    let descriptor = raw::open_in_run(name, flags, MODE);
    if raw::failed(descriptor) {
        return false;
    }
    let descriptor = descriptor as i32;
    raw::fchmod(descriptor, MODE);
    let written = raw::pwrite(descriptor, bytes, 0);
    raw::close(descriptor);
    written == bytes.len() as isize
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

/// Reserves and maps more of the file, `wanted` units at least; false where there is no more to be had.
fn grow(_: &Mine, wanted: u32) -> bool {
    let next = NEXT.load(Ordering::Acquire) as u32;
    let reserved = RESERVED.load(Ordering::Relaxed);
    if next == CLOSED {
        return false;
    }
    if reserved.saturating_sub(next) >= wanted {
        // Another thread was faster.
        return true;
    }
    let least = wanted - reserved.saturating_sub(next);
    let mut refusal = None;
    for more in [reserved.clamp(LEAST_MORE, MOST_MORE).max(least), least, 1] {
        let bytes = u64::from(more) * UNIT_BYTES as u64;
        if !options::take_budget(bytes, BUDGET_BYTES.load(Ordering::Relaxed)) {
            continue;
        }
        match grow_file(reserved, more) {
            Ok(()) => {
                RESERVED.store(reserved + more, Ordering::Release);
                return true;
            }
            Err(errno) => refusal = Some(errno),
        }
        options::return_budget(bytes);
    }
    with_header(|header| match refusal {
        Some(errno) => header.storage_failed = errno,
        None => header.budget_exhausted = 1,
    });
    false
}

/// Reserves so much beyond what is reserved, as far as that goes: the file may soon be out of reach.
pub fn reserve_ahead(bytes: u64) {
    let wanted = (bytes / UNIT_BYTES as u64) as u32;
    if let Some(mine) = GROWING.try_begin() {
        grow(&mine, wanted);
    }
}

/// Reserves and maps `more` units behind the `reserved` ones.
fn grow_file(reserved: u32, more: u32) -> Result<(), u32> {
    let path = path().ok_or(libc::ENOENT as u32)?;
    let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
    if raw::failed(descriptor) {
        return Err(-descriptor as u32);
    }
    let descriptor = descriptor as i32;
    // Mapped first: space that is reserved and cannot be used would be missing elsewhere.
    let outcome = window::map(descriptor, reserved + more).and_then(|()| {
        reserve(descriptor, u64::from(reserved) * UNIT_BYTES as u64, u64::from(more) * UNIT_BYTES as u64)
    });
    raw::close(descriptor);
    outcome
}

/// Makes sure that the storage has room for these bytes of the file.
fn reserve(descriptor: i32, start: u64, bytes: u64) -> Result<(), u32> {
    // Growing a file beyond this limit would raise SIGXFSZ.
    if start + bytes > raw::limit(libc::RLIMIT_FSIZE) {
        return Err(libc::EFBIG as u32);
    }
    let outcome = raw::fallocate(descriptor, start, bytes);
    if outcome == -(libc::EOPNOTSUPP as isize) || outcome == -(libc::ENOSYS as isize) {
        return write_zeros(descriptor, start, bytes);
    }
    if raw::failed(outcome) { Err(-outcome as u32) } else { Ok(()) }
}

/// On file systems without reservation, written zeros reserve.
fn write_zeros(descriptor: i32, start: u64, bytes: u64) -> Result<(), u32> {
    static ZEROS: [u8; 4096] = [0; 4096];
    let mut at = start;
    while at < start + bytes {
        let wanted = ZEROS.len().min((start + bytes - at) as usize);
        let written = raw::pwrite(descriptor, &ZEROS[..wanted], at);
        match written {
            0 => return Err(libc::ENOSPC as u32),
            _ if raw::failed(written) => return Err(-written as u32),
            _ => at += written as u64,
        }
    }
    Ok(())
}

/// Hands out no more chunks and gives the unused reservation back.
pub fn close() {
    let mut next = NEXT.load(Ordering::Acquire);
    loop {
        if next as u32 == CLOSED {
            return;
        }
        let closed = next & !u64::from(u32::MAX) | u64::from(CLOSED);
        match NEXT.compare_exchange(next, closed, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(other) => next = other,
        }
    }
    let used = next as u32;
    CLOSED_AT.store(used, Ordering::Release);
    // A thread that makes the file larger just now would hand out what is cut off here.
    let Some(_mine) = GROWING.begin_within(PATIENCE_NS) else { return };
    let reserved = RESERVED.load(Ordering::Acquire);
    if used >= reserved {
        return;
    }
    let Some(path) = path() else { return };
    let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
    if raw::failed(descriptor) {
        return;
    }
    let outcome = raw::ftruncate(descriptor as i32, u64::from(used) * UNIT_BYTES as u64);
    raw::close(descriptor as i32);
    if !raw::failed(outcome) {
        RESERVED.store(used, Ordering::Release);
        options::return_budget(u64::from(reserved - used) * UNIT_BYTES as u64);
    }
}

/// Where [`close`] found the log.
static CLOSED_AT: AtomicU32 = AtomicU32::new(0);

/// Takes back [`close`] (exec failed and the process continues); what was given back is gone.
pub fn reopen() {
    let closed = NEXT.load(Ordering::Acquire);
    if closed as u32 == CLOSED && !header().is_null() {
        let times = (closed >> 32).wrapping_add(1) << 32;
        NEXT.store(times | u64::from(CLOSED_AT.load(Ordering::Acquire)), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// One thread's exec fails again and again while others need chunks: their chunks are theirs, and lie in
    /// the file.
    #[test]
    fn what_is_handed_out_beside_an_end_that_is_taken_back_lies_in_the_file() {
        let folder = std::env::temp_dir().join(format!("proust-log-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(LOG_FOLDER)).unwrap();
        let name = join(c"", &[folder.canonicalize().unwrap().as_os_str().as_bytes()]).unwrap();
        assert!(create(&options::of_a_test(name), 1, 1, 3));
        let file = folder.join(LOG_FOLDER).join("1-1.plog");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let (done, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (taken, closed) = std::thread::scope(|scope| {
            let takers: Vec<_> = (1..=3_u64)
                .map(|mark| {
                    let (done, count) = (&done, &count);
                    scope.spawn(move || {
                        let mut mine: Vec<(usize, usize, u64)> = Vec::new();
                        while !done.load(Ordering::Relaxed) && mine.len() < 4000 {
                            let Some(chunk) = take_chunk(4096 << (mine.len() % 5)) else { continue };
                            assert!(chunk.bytes.is_multiple_of(UNIT_BYTES) && chunk.bytes > 0);
                            for word in (0..chunk.bytes).step_by(512) {
                                // SAFETY: inside the chunk, which is this thread's alone.
                                unsafe {
                                    let place = chunk.start.add(word).cast::<u64>();
                                    assert_eq!(place.read(), 0, "somebody else has it");
                                    place.write(mark);
                                }
                            }
                            mine.push((chunk.start as usize, chunk.bytes, mark));
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                        mine
                    })
                })
                .collect();
            let mut closed = 0;
            // On a busy machine the others may not get to run meanwhile.
            while closed < 300 || count.load(Ordering::Relaxed) < 100 && closed < 100_000 {
                close();
                reopen();
                closed += 1;
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            done.store(true, Ordering::Relaxed);
            let taken: Vec<_> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
            (taken, closed)
        });
        assert!(closed >= 300 && taken.len() >= 100, "{} chunks", taken.len());
        close();
        let bytes: usize = taken.iter().map(|(_, bytes, _)| bytes).sum();
        assert_eq!(file.metadata().unwrap().len() as usize, HEADER_BYTES + bytes);
        for (start, _, mark) in taken {
            // SAFETY: as above; the threads have ended.
            assert_eq!(unsafe { (start as *const u64).read() }, mark);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
