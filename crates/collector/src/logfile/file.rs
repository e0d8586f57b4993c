//! A log file that is being written: a mapped window that grows by pieces, from which chunks are handed out.
//!
//! A chunk is reserved on storage before it is touched, since a write to a mapped page without storage behind
//! it would kill the program. No descriptor is kept: the file is opened by path whenever it must grow.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::layout::{EXTENSION, FileHeader, HEADER_BYTES, LOG_FOLDER, MAX_CHUNK_BYTES, UNIT_BYTES};
use proust_log::writer::Chunk;

use super::growth::{Growing, Growth};
use super::parent::ParentLog;
use super::storage::reserve;
use super::window::Window;
use super::{digits, join};
use crate::options::{self, Options};
use crate::raw;
use crate::turn::Mine;

/// In the place of a unit's number: nothing is handed out.
const CLOSED: u32 = u32::MAX;
/// Units of the header.
const HEADER_UNITS: u32 = (HEADER_BYTES / UNIT_BYTES) as u32;
/// Units that are reserved at first beside the header: a lane's first chunk and its second one.
pub const USUAL_UNITS: u32 = 3;
/// The same where the first chunk has room for the facts of a process: a short one writes no more, and giving
/// back what it did not need takes longer than making the file (75 µs on ext4).
pub const FEW_UNITS: u32 = 1;
/// Units that are reserved later, at once: a lane's second chunk at first, then as many as there are.
const LEAST_MORE: u32 = 2;
const MOST_MORE: u32 = 128;
/// Tries to get a chunk of which others take one after the other.
const MOST_TRIES: u32 = 100_000;
/// How long the end of a log waits for a thread that makes it larger.
const PATIENCE_NS: u64 = 20_000_000;

/// Permissions of a log: a recording shows what its user's programs do.
const MODE: u32 = 0o600;

/// From which part of a budget on it is spared.
fn sparing_from(budget_bytes: u64) -> u64 {
    budget_bytes / 4 * 3
}

/// A log file, or the place of one that was not created yet.
pub struct LogFile {
    /// The file's first page.
    header: AtomicPtr<FileHeader>,
    /// The first unit that was not handed out yet, and in the upper half how often the log was closed and
    /// opened again: a thread that read it before that must not take from it.
    next: AtomicU64,
    /// Units from the file's begin on that are reserved on storage and mapped.
    reserved: AtomicU32,
    /// Where [`LogFile::close`] found `next`.
    closed_at: AtomicU32,
    path: AtomicPtr<u8>,
    path_bytes: AtomicUsize,
    budget_bytes: AtomicU64,
    /// [`Options::share_bytes`]; 0 = it is none of a rank.
    share_bytes: AtomicU64,
    /// So much of it is used that what is left is for samples and sums.
    spares: AtomicBool,
    window: Window,
    growth: Growth,
}

impl LogFile {
    /// One that was not created yet.
    pub const fn closed() -> LogFile {
        LogFile {
            header: AtomicPtr::new(core::ptr::null_mut()),
            next: AtomicU64::new(CLOSED as u64),
            reserved: AtomicU32::new(0),
            closed_at: AtomicU32::new(0),
            path: AtomicPtr::new(core::ptr::null_mut()),
            path_bytes: AtomicUsize::new(0),
            budget_bytes: AtomicU64::new(0),
            share_bytes: AtomicU64::new(0),
            spares: AtomicBool::new(false),
            window: Window::closed(),
            growth: Growth::new(),
        }
    }

    /// Creates the log of process `pid` and maps it. Makes about ten system calls, takes no memory but the
    /// arena's, and may be called in a hook or a handler, with all signals blocked; where a log is there
    /// already it has to be left first ([`LogFile::abandon`]). `units` are reserved beside the header.
    pub fn create(&self, options: &Options, pid: u32, start_ns: u64, units: u32) -> bool {
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
        self.budget_bytes.store(options.budget_bytes, Ordering::Relaxed);
        self.spares.store(false, Ordering::Relaxed);
        self.share_bytes.store(options.share_bytes.map_or(0, |bytes| bytes.max(1)), Ordering::Relaxed);
        self.path_bytes.store(path.to_bytes_with_nul().len(), Ordering::Relaxed);
        self.path.store(path.as_ptr().cast_mut().cast(), Ordering::Release);
        let units = HEADER_UNITS + units;
        let bytes = u64::from(units) * UNIT_BYTES as u64;
        let made = options::take_budget(bytes, options.budget_bytes)
            && reserve(descriptor, 0, bytes).is_ok()
            && self.window.map(descriptor, units).is_ok();
        raw::close(descriptor);
        let Some((memory, _)) = self.window.at(0).filter(|_| made) else { return false };
        self.header.store(memory.cast(), Ordering::Release);
        self.reserved.store(units, Ordering::Release);
        self.next.store(HEADER_UNITS.into(), Ordering::Release);
        true
    }

    /// Leaves the parent's log in a forked child, whose own one is created next.
    pub fn abandon(&'static self) -> ParentLog {
        self.next.store(CLOSED.into(), Ordering::Relaxed);
        self.reserved.store(0, Ordering::Relaxed);
        self.header.store(core::ptr::null_mut(), Ordering::Release);
        self.growth.right().after_fork();
        ParentLog(self.window.leave())
    }

    /// The log's first page, or null.
    pub fn header(&self) -> *mut FileHeader {
        self.header.load(Ordering::Acquire)
    }

    /// Runs `work` on the log's first page, if there is one.
    pub fn with_header(&self, work: impl FnOnce(&mut FileHeader)) {
        // SAFETY: the page stays mapped while the process records. Fields that several threads change are
        // counters and flags for which a lost update is harmless; those that must be exact use `counter`.
        if let Some(header) = unsafe { self.header().as_mut() } {
            work(header);
        }
    }

    /// Adds to a counter of the log's first page.
    pub fn count(&self, field: impl FnOnce(*mut FileHeader) -> *mut u64, amount: u64) {
        let header = self.header();
        if !header.is_null() {
            // SAFETY: the closure picks an aligned field of the mapped header.
            unsafe { AtomicU64::from_ptr(field(header)) }.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Raises a field of the log's first page to `value`, unless it is larger already.
    pub fn raise(&self, field: impl FnOnce(&mut FileHeader) -> *mut u64, value: u64) {
        self.with_header(|header| {
            // SAFETY: the closure picks an aligned field of the mapped header.
            let field = unsafe { AtomicU64::from_ptr(field(header)) };
            // Most calls find it raised: they only read the line.
            if field.load(Ordering::Relaxed) < value {
                field.fetch_max(value, Ordering::Relaxed);
            }
        });
    }

    /// A fresh chunk of `bytes` bytes, or of fewer where there are no more; None if there is none to be had.
    pub fn take_chunk(&'static self, bytes: usize) -> Option<Chunk> {
        let wanted = (bytes.min(MAX_CHUNK_BYTES) / UNIT_BYTES) as u32;
        let mut may_grow = true;
        for _ in 0..MOST_TRIES {
            let next = self.next.load(Ordering::Acquire);
            let unit = next as u32;
            if unit == CLOSED {
                return None;
            }
            let free = self.reserved.load(Ordering::Acquire).saturating_sub(unit);
            if free < wanted && may_grow {
                may_grow = match self.growth.turn() {
                    Growing::Mine(mine) => self.grow(&mine, wanted),
                    Growing::Over => true,
                    Growing::Never => {
                        self.note_busy();
                        false
                    }
                };
                continue;
            }
            let (start, behind) = self.window.at(unit).filter(|_| free > 0)?;
            let units = wanted.min(free).min(behind);
            // No other thread may have taken it, or closed the log meanwhile.
            if self
                .next
                .compare_exchange(next, next + u64::from(units), Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
            {
                continue;
            }
            // SAFETY: the header stays mapped while the process records, and the field is aligned.
            let counter = unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).units) };
            counter.fetch_max(unit + units - HEADER_UNITS, Ordering::Relaxed);
            return Some(Chunk { start, bytes: units as usize * UNIT_BYTES });
        }
        None
    }

    /// A thread went without a chunk, since the one that was to make the log longer took too long.
    fn note_busy(&self) {
        self.with_header(|header| {
            if header.storage_failed == 0 && header.budget_exhausted == 0 {
                header.storage_failed = libc::ETIMEDOUT as u32;
            }
        });
    }

    /// Makes a file beside the log, under its name with another extension, unless there is one. Makes a few
    /// system calls and takes memory of the arena alone, as a handler may.
    pub fn write_beside(&self, extension: &str, bytes: &[u8]) -> bool {
        let stem = self.path().and_then(|path| path.to_bytes().strip_suffix(EXTENSION.as_bytes()));
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

    fn path(&self) -> Option<&'static CStr> {
        let bytes = self.path_bytes.load(Ordering::Relaxed);
        let path = self.path.load(Ordering::Acquire);
        if path.is_null() {
            return None;
        }
        // SAFETY: `create` stored a leaked string of this length, its final zero included.
        CStr::from_bytes_with_nul(unsafe { core::slice::from_raw_parts(path, bytes) }).ok()
    }

    /// Reserves and maps more of the file, `wanted` units at least; false where there is no more to be had.
    fn grow(&self, _: &Mine, wanted: u32) -> bool {
        let next = self.next.load(Ordering::Acquire) as u32;
        let reserved = self.reserved.load(Ordering::Relaxed);
        if next == CLOSED {
            return false;
        }
        if reserved.saturating_sub(next) >= wanted {
            // Another thread was faster.
            return true;
        }
        let least = wanted - reserved.saturating_sub(next);
        let budget_bytes = self.budget_bytes.load(Ordering::Relaxed);
        let share_bytes = match self.share_bytes.load(Ordering::Relaxed) {
            0 => options::share_beside_ranks(budget_bytes),
            of_rank => of_rank,
        };
        let mut refusal = None;
        for more in [reserved.clamp(LEAST_MORE, MOST_MORE).max(least), least, 1] {
            let bytes = u64::from(more) * UNIT_BYTES as u64;
            let all_bytes = u64::from(reserved) * UNIT_BYTES as u64 + bytes;
            if all_bytes > share_bytes || !options::take_budget(bytes, budget_bytes) {
                continue;
            }
            match self.grow_file(reserved, more) {
                Ok(()) => {
                    self.reserved.store(reserved + more, Ordering::Release);
                    if all_bytes > sparing_from(share_bytes) || options::taken() > sparing_from(budget_bytes)
                    {
                        self.spares.store(true, Ordering::Relaxed);
                    }
                    return true;
                }
                Err(errno) => refusal = Some(errno),
            }
            options::return_budget(bytes);
        }
        self.spares.store(true, Ordering::Relaxed);
        self.with_header(|header| match refusal {
            Some(errno) => header.storage_failed = errno,
            None => header.budget_exhausted = 1,
        });
        false
    }

    /// Whether short calls that are usually recorded one by one are to be summed: a program that makes a
    /// million of them a second would otherwise leave no room for anything else.
    #[inline]
    pub fn spares(&self) -> bool {
        self.spares.load(Ordering::Relaxed)
    }

    /// Reserves so much beyond what is reserved, as far as that goes: the file may soon be out of reach.
    pub fn reserve_ahead(&'static self, bytes: u64) {
        let wanted = (bytes / UNIT_BYTES as u64) as u32;
        if let Some(mine) = self.growth.right().try_begin() {
            self.grow(&mine, wanted);
        }
    }

    /// Reserves and maps `more` units behind the `reserved` ones.
    fn grow_file(&self, reserved: u32, more: u32) -> Result<(), u32> {
        let path = self.path().ok_or(libc::ENOENT as u32)?;
        let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
        if raw::failed(descriptor) {
            return Err(-descriptor as u32);
        }
        let descriptor = descriptor as i32;
        // Mapped first: space that is reserved and cannot be used would be missing elsewhere.
        let outcome = self.window.map(descriptor, reserved + more).and_then(|()| {
            reserve(descriptor, u64::from(reserved) * UNIT_BYTES as u64, u64::from(more) * UNIT_BYTES as u64)
        });
        raw::close(descriptor);
        outcome
    }

    /// Hands out no more chunks and gives the unused reservation back.
    pub fn close(&'static self) {
        let mut next = self.next.load(Ordering::Acquire);
        loop {
            if next as u32 == CLOSED {
                return;
            }
            let closed = next & !u64::from(u32::MAX) | u64::from(CLOSED);
            match self.next.compare_exchange(next, closed, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(other) => next = other,
            }
        }
        let used = next as u32;
        self.closed_at.store(used, Ordering::Release);
        // A thread that makes the file larger just now would hand out what is cut off here.
        let Some(_mine) = self.growth.right().begin_within(PATIENCE_NS) else { return };
        let reserved = self.reserved.load(Ordering::Acquire);
        if used >= reserved {
            return;
        }
        let Some(path) = self.path() else { return };
        let descriptor = raw::open_in_run(path, libc::O_RDWR | libc::O_NOFOLLOW, 0);
        if raw::failed(descriptor) {
            return;
        }
        let outcome = raw::ftruncate(descriptor as i32, u64::from(used) * UNIT_BYTES as u64);
        raw::close(descriptor as i32);
        if !raw::failed(outcome) {
            self.reserved.store(used, Ordering::Release);
            options::return_budget(u64::from(reserved - used) * UNIT_BYTES as u64);
        }
    }

    /// Takes back [`LogFile::close`] (exec failed and the process continues); what was given back is gone.
    pub fn reopen(&self) {
        let closed = self.next.load(Ordering::Acquire);
        if closed as u32 == CLOSED && !self.header().is_null() {
            let times = (closed >> 32).wrapping_add(1) << 32;
            self.next.store(times | u64::from(self.closed_at.load(Ordering::Acquire)), Ordering::Release);
        }
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
        let log: &'static LogFile = Box::leak(Box::new(LogFile::closed()));
        assert!(log.create(&options::of_a_test(name), 1, 1, 3));
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
                            let Some(chunk) = log.take_chunk(4096 << (mine.len() % 5)) else { continue };
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
                log.close();
                log.reopen();
                closed += 1;
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            done.store(true, Ordering::Relaxed);
            let taken: Vec<_> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
            (taken, closed)
        });
        assert!(closed >= 300 && taken.len() >= 100, "{} chunks", taken.len());
        log.close();
        let bytes: usize = taken.iter().map(|(_, bytes, _)| bytes).sum();
        assert_eq!(file.metadata().unwrap().len() as usize, HEADER_BYTES + bytes);
        for (start, _, mark) in taken {
            // SAFETY: as above; the threads have ended.
            assert_eq!(unsafe { (start as *const u64).read() }, mark);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
    /// A process may write several logs, of whichever processes.
    #[test]
    fn two_logs_of_one_process_do_not_share_anything() {
        let folder = std::env::temp_dir().join(format!("proust-logs-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(LOG_FOLDER)).unwrap();
        let name = join(c"", &[folder.canonicalize().unwrap().as_os_str().as_bytes()]).unwrap();
        let logs: [&'static LogFile; 2] = [7, 8].map(|pid| {
            let log: &'static LogFile = Box::leak(Box::new(LogFile::closed()));
            assert!(log.take_chunk(UNIT_BYTES).is_none(), "nothing was created yet");
            assert!(log.create(&options::of_a_test(name), pid, 1, 1));
            log
        });
        for (round, &log) in logs.iter().cycle().take(40).enumerate() {
            let chunk = log.take_chunk(UNIT_BYTES << (round % 3)).unwrap();
            // SAFETY: inside the chunk, which nothing else has.
            unsafe { chunk.start.write_bytes(1 + (round % 2) as u8, chunk.bytes) };
        }
        logs[0].close();
        assert!(logs[0].take_chunk(UNIT_BYTES).is_none() && logs[1].take_chunk(UNIT_BYTES).is_some());
        logs[1].close();
        for (pid, mark) in [(7, 1), (8, 2)] {
            let bytes = std::fs::read(folder.join(LOG_FOLDER).join(format!("{pid}-1.plog"))).unwrap();
            let marks = &bytes[HEADER_BYTES..];
            assert!(marks.len() >= 20 * UNIT_BYTES);
            let others = marks.iter().filter(|&&byte| byte != mark && byte != 0).count();
            assert_eq!(others, 0, "bytes of the other log");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
