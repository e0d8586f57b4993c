//! The signals of `--sample-signal` and `--pause-signal` between the start of the command and the collector's
//! handlers: blocked, since they would end a program that does not handle them. The collector unblocks them.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use proust_log::control::{BLOCKED_AT, Blocked, CONTROL_BYTES, CONTROL_FILE, blocked_word};

/// What the command's process needs to block them, between fork and exec.
#[derive(Clone, Copy)]
pub struct BlockedSignals {
    /// By the bits of [`Blocked`]; 0 = there is none.
    signals: [libc::c_int; 2],
    words: &'static [AtomicU64; size_of::<Blocked>() / 8],
}

impl BlockedSignals {
    /// For the run in `folder`; None if it asks by no signal, or its page cannot be mapped.
    pub fn of(folder: &Path, signals: [Option<u32>; 2]) -> Option<BlockedSignals> {
        if signals == [None, None] {
            return None;
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
        let file = file.open(folder.join(CONTROL_FILE)).ok()?;
        // SAFETY: a new mapping of a file of that length, which stays for the life of this process.
        let page = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), CONTROL_BYTES, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if page == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: inside of the mapping, aligned, and only ever used atomically.
        let words = unsafe { &*page.byte_add(BLOCKED_AT).cast() };
        Some(BlockedSignals { signals: signals.map(|signal| signal.unwrap_or(0) as libc::c_int), words })
    }

    /// In the command's process, between fork and exec: blocks those that would end the command, and says so
    /// in the run's page. Makes async-signal-safe calls only.
    pub fn block(&self) {
        // SAFETY: all-zero is a valid set and a valid action; the pointers are valid for the calls.
        unsafe {
            let (mut set, mut blocked): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigprocmask(libc::SIG_BLOCK, &set, &mut blocked);
            let mut which = 0;
            for (bit, &signal) in self.signals.iter().enumerate().filter(|(_, signal)| **signal != 0) {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut action);
                let is_free = libc::sigismember(&blocked, signal) == 0;
                if is_free && action.sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(&mut set, signal);
                    which |= 1 << bit;
                }
            }
            let word = blocked_word(libc::getpid() as u32, which);
            let take = |place: &AtomicU64| {
                place.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            };
            if which != 0 && self.words.iter().any(take) {
                libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            }
        }
    }
}
