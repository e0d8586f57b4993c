//! The kinds of files and devices that descriptors lead to.
//!
//! Kept by descriptor, for all threads, and asked of the kernel again when the descriptor is closed or given
//! to something else by a function that is hooked, when an operation on it was long, and once in so many
//! operations of a thread: a descriptor may be closed and used again behind the collector's back. Never
//! followed by a lock, never counted per use: threads that use neighbouring descriptors must not pull a cache
//! line to and fro.

use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use proust_log::control::NO_IO;
use proust_log::operations::{Nature, Operation, Target};

use super::Kind;
use crate::{clock, lane, life, options, raw};

/// Descriptors from here on are looked up each time.
const KEPT: usize = 1 << 16;

/// Operations of a thread after which it asks again, whatever the descriptor. A prime: a thread that uses its
/// descriptors in turns asks about each of them.
const ASK_AGAIN_EVERY: u32 = 61;

/// [`Target`] by descriptor; 0 = not known. Memory that is never touched costs nothing.
///
/// With [`GUESSED`] it is what the path suggests: enough for closing it again, and asked of the kernel before
/// anything else.
static TARGETS: [AtomicU8; KEPT] = [const { AtomicU8::new(0) }; KEPT];

const GUESSED: u8 = 0x80;

/// The object of an operation that has no descriptor.
pub const NO_DESCRIPTOR: u64 = u64::MAX;

#[inline]
fn place(descriptor: c_int) -> Option<&'static AtomicU8> {
    TARGETS.get(usize::try_from(descriptor).ok()?)
}

/// A descriptor's target, as far as it is known cheaply.
#[inline]
pub fn of(descriptor: c_int) -> Target {
    if descriptor < 0 {
        return Target::None;
    }
    let known = known(descriptor);
    let looks = known == Target::None
        || lane::current().is_some_and(|lane| is_time_to_look(&lane.operations.targets_used));
    if looks { look_up(descriptor) } else { known }
}

/// A descriptor's known target.
#[inline]
pub fn known(descriptor: c_int) -> Target {
    place(descriptor).map_or(Target::None, |place| {
        let number = place.load(Ordering::Relaxed);
        if number & GUESSED == 0 { Target::from_number(number) } else { Target::None }
    })
}

/// As [`known`] or, where only that is known, as the path suggested, as a number below 8: one comparison, one
/// load.
#[inline(always)]
pub fn number(descriptor: c_int) -> Option<usize> {
    let place = TARGETS.get(descriptor as u32 as usize)?;
    // SAFETY: a byte. Volatile is all that this processor needs, and the compiler extends it as it loads it.
    Some(usize::from(unsafe { place.as_ptr().read_volatile() } & 7))
}

/// As [`known`], or what its path suggested.
#[inline]
fn supposed(descriptor: c_int) -> Target {
    place(descriptor)
        .map_or(Target::None, |place| Target::from_number(place.load(Ordering::Relaxed) & !GUESSED))
}

#[inline]
fn is_time_to_look(used: &AtomicU32) -> bool {
    let now = used.load(Ordering::Relaxed) + 1;
    let looks = now >= ASK_AGAIN_EVERY;
    used.store(if looks { 0 } else { now }, Ordering::Relaxed);
    looks
}

/// Whether the last descriptor to be closed was none.
static CLOSES_IN_VAIN: AtomicBool = AtomicBool::new(false);

/// As [`of`] for a descriptor that is about to be closed. Programs that close all possible descriptors,
/// before an exec, do so a million times: the kernel is not asked about unknown ones then.
#[inline]
pub fn of_closing(descriptor: c_int) -> Target {
    match supposed(descriptor) {
        Target::None if !CLOSES_IN_VAIN.load(Ordering::Relaxed) => of(descriptor),
        target => target,
    }
}

/// A descriptor was closed, or was none.
#[inline]
pub fn closed(in_vain: bool) {
    if CLOSES_IN_VAIN.load(Ordering::Relaxed) != in_vain {
        CLOSES_IN_VAIN.store(in_vain, Ordering::Relaxed);
    }
}

/// An open that took so long waited for something.
const LONG_NS: u64 = 10_000;

/// The target of `path`, which was opened as `descriptor` since `begin_ns`. The kernel is asked where the
/// path shows nothing: reads and writes of the descriptor ask when they happen.
///
/// # Safety
/// `path` is null or a C string.
#[inline]
pub unsafe fn of_opened(descriptor: c_int, path: *const c_char, begin_ns: u64) -> Target {
    if path.is_null() || clock::now_ns().saturating_sub(begin_ns) >= LONG_NS {
        return look_up(descriptor);
    }
    // SAFETY: the caller's promise.
    let (begin, is_whole) = unsafe { beginning(path) };
    match guess(&begin, is_whole) {
        Some(target) => {
            store(descriptor, target as u8 | GUESSED);
            target
        }
        None => look_up(descriptor),
    }
}

/// As many bytes of a path as identify what it is.
const IDENTIFYING_BYTES: usize = 16;

/// The path's first bytes, and whether these are all.
///
/// # Safety
/// A C string.
#[inline]
unsafe fn beginning(path: *const c_char) -> ([u8; IDENTIFYING_BYTES], bool) {
    let mut begin = [0; IDENTIFYING_BYTES];
    for (at, place) in begin.iter_mut().enumerate() {
        // SAFETY: the string did not end before.
        *place = unsafe { path.add(at).read() } as u8;
        if *place == 0 {
            return (begin, true);
        }
    }
    (begin, false)
}

/// The target of a path with this beginning, unless it is a pipe with a name: those wait when they are
/// opened. None where that is not known.
#[inline]
fn guess(begin: &[u8; IDENTIFYING_BYTES], is_whole: bool) -> Option<Target> {
    const DEVICES: [&[u8]; 5] = [b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom"];
    let length = if is_whole { begin.iter().position(|&byte| byte == 0)? } else { IDENTIFYING_BYTES };
    let text = begin.get(..length)?;
    if text.starts_with(b"/dev/") {
        return (is_whole && DEVICES.contains(&text)).then_some(Target::Device);
    }
    // Below that lie links to descriptors.
    (!text.starts_with(b"/proc/") && text != b"").then_some(Target::File)
}

/// Asks the kernel and keeps the answer.
#[cold]
#[inline(never)]
pub fn look_up(descriptor: c_int) -> Target {
    let Some(life) = life::recording() else { return Target::None };
    if options::live() & NO_IO != 0 {
        return Target::None;
    }
    let target = ask(descriptor);
    // A vforked child has its parent's memory, but descriptors of its own.
    if target != known(descriptor) && !life::is_borrowed(life) {
        keep(descriptor, target);
    }
    target
}

#[inline]
fn keep(descriptor: c_int, target: Target) {
    store(descriptor, target as u8);
}

#[inline]
fn store(descriptor: c_int, number: u8) {
    if let Some(place) = place(descriptor)
        && place.load(Ordering::Relaxed) != number
    {
        place.store(number, Ordering::Relaxed);
    }
}

/// The descriptor may lead to something else from now on.
#[inline]
pub fn forget(descriptor: c_int) {
    keep(descriptor, Target::None);
}

/// The kernel's answer for a descriptor.
fn ask(descriptor: c_int) -> Target {
    raw::fstat(descriptor).map_or(Target::None, |status| of_status(status.st_mode, status.st_rdev))
}

fn of_status(mode: libc::mode_t, device: libc::dev_t) -> Target {
    match mode & libc::S_IFMT {
        libc::S_IFIFO => Target::Pipe,
        libc::S_IFSOCK => Target::Socket,
        libc::S_IFCHR if is_terminal(libc::major(device)) => Target::Terminal,
        libc::S_IFCHR => Target::Device,
        // Objects without a file have no format: eventfd, timerfd, signalfd, inotify, epoll.
        0 => Target::Event,
        _ => Target::File,
    }
}

/// Major numbers of virtual consoles and serial lines, of `/dev/tty` and `/dev/console`, of pseudo terminals.
fn is_terminal(major: c_uint) -> bool {
    matches!(major, 4 | 5 | 136..=143)
}

/// Whether another party decides when bytes move.
fn is_waited_for(target: Target) -> bool {
    matches!(target, Target::Pipe | Target::Socket | Target::Terminal | Target::Event)
}

/// The target of a transfer between two descriptors: that of the two which it may have to wait for.
#[inline]
pub fn of_transfer(from: Target, to: Target) -> Target {
    if !is_waited_for(from) && is_waited_for(to) || from == Target::None { to } else { from }
}

/// The real target of an operation that turned out long: it is worth asking.
pub fn settled(kind: Kind, object: u64, object2: u64) -> Kind {
    let look = |object: u64| c_int::try_from(object).map_or(Target::None, look_up);
    let target = match kind.operation.nature() {
        Nature::Transfer if kind.operation != Operation::VectorSplice => {
            of_transfer(look(object), look(object2))
        }
        Nature::Transfer => look(object),
        Nature::Read | Nature::Write => look(object),
        _ => return kind,
    };
    // The descriptor may be closed by now.
    if target == Target::None { kind } else { Kind { target, ..kind } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_lead_to_what_they_are() {
        let mut ends = [0; 2];
        // SAFETY: plain system calls on descriptors of this test.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let event = libc::eventfd(0, 0);
            let file = libc::open(c"/proc/self/exe".as_ptr(), libc::O_RDONLY);
            let folder = libc::open(c"/".as_ptr(), libc::O_RDONLY);
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
            for (descriptor, target) in [
                (ends[0], Target::Pipe),
                (event, Target::Event),
                (file, Target::File),
                (folder, Target::File),
                (null, Target::Device),
                (socket, Target::Socket),
                (-1, Target::None),
            ] {
                assert_eq!(ask(descriptor), target);
                libc::close(descriptor);
            }
            assert_eq!(ask(ends[0]), Target::None);
            libc::close(ends[1]);
        }
        assert_eq!(of_status(libc::S_IFCHR, libc::makedev(136, 3)), Target::Terminal);
        assert_eq!(of_status(libc::S_IFCHR, libc::makedev(5, 0)), Target::Terminal);
        assert_eq!(of_status(libc::S_IFBLK, libc::makedev(8, 0)), Target::File);
    }

    #[test]
    fn a_path_shows_its_target_or_nothing() {
        for (path, target) in [
            (c"/etc/hostname", Some(Target::File)),
            (c"a", Some(Target::File)),
            (c"/a/rather/long/path/to/something", Some(Target::File)),
            (c"/dev/null", Some(Target::Device)),
            (c"/dev/urandom", Some(Target::Device)),
            (c"/dev/tty", None),
            (c"/dev/null/a/b/c/d/e", None),
            (c"/dev/shm/some/file/of/ours", None),
            (c"/proc/self/fd/3", None),
            (c"", None),
        ] {
            // SAFETY: a C string.
            let (begin, is_whole) = unsafe { beginning(path.as_ptr()) };
            assert_eq!(guess(&begin, is_whole), target, "{path:?}");
        }
    }

    #[test]
    fn what_a_path_showed_is_enough_for_closing() {
        // No time passes since then, whatever the machine does. SAFETY: a C string; the descriptor is none.
        let target = unsafe { of_opened(59_000, c"/etc/hostname".as_ptr(), u64::MAX) };
        assert_eq!((target, known(59_000), supposed(59_000)), (Target::File, Target::None, Target::File));
        assert_eq!(of_closing(59_000), Target::File);
        keep(59_000, Target::Pipe);
        assert_eq!((known(59_000), of_closing(59_000)), (Target::Pipe, Target::Pipe));
        forget(59_000);
    }

    #[test]
    fn what_is_kept_is_forgotten_by_number() {
        keep(60_000, Target::Socket);
        keep(60_001, Target::Pipe);
        forget(60_000);
        assert_eq!((known(60_000), known(60_001)), (Target::None, Target::Pipe));
        keep(KEPT as c_int, Target::Pipe);
        assert_eq!((known(KEPT as c_int), known(-1)), (Target::None, Target::None));
    }

    /// The hook of `dup2` is in this test's program, too; the system call is behind its back.
    #[test]
    fn a_descriptor_that_leads_to_something_else_is_noticed() {
        // SAFETY: plain system calls on descriptors of this test.
        unsafe {
            let file = libc::open(c"/proc/self/exe".as_ptr(), libc::O_RDONLY);
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
            let place = libc::fcntl(file, libc::F_DUPFD, 900);
            keep(place, ask(place));
            assert_eq!(known(place), Target::File);
            libc::dup2(socket, place);
            assert_eq!(known(place), Target::None);
            keep(place, ask(place));
            assert_eq!(known(place), Target::Socket);

            libc::syscall(libc::SYS_dup3, file, place, 0);
            assert_eq!(known(place), Target::Socket);
            let used = AtomicU32::new(0);
            let uses = (1..).find(|_| is_time_to_look(&used));
            assert_eq!(uses, Some(ASK_AGAIN_EVERY));
            keep(place, ask(place));
            assert_eq!(known(place), Target::File);
            for descriptor in [file, socket, place] {
                libc::close(descriptor);
            }
            assert_eq!(known(place), Target::None);
        }
    }

    #[test]
    fn a_transfer_is_about_what_it_may_wait_for() {
        use Target::{Device, File, None, Pipe, Socket};
        for (from, to, both) in [
            (File, File, File),
            (File, Socket, Socket),
            (Socket, File, Socket),
            (Socket, Pipe, Socket),
            (Device, Pipe, Pipe),
            (None, File, File),
            (File, None, File),
        ] {
            assert_eq!(of_transfer(from, to), both);
        }
    }
}
