//! The intervals that a forked child is in from its begin: those that the forking thread was in.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::records::{EXECUTION_INHERITED, IntervalOrigin, MOST_OPEN_INTERVALS};

use super::definitions::Wanted;
use super::mark::{Key, Mark};
use super::open::Opened;
use crate::lane::{self, Record};
use crate::path::memo::State;

/// So many of the outermost ones are passed on.
const MOST: usize = 16;
const _: () = assert!(MOST <= MOST_OPEN_INTERVALS);

#[derive(Clone, Copy)]
struct One {
    wanted: Wanted,
    texts: (&'static [u8], &'static [u8]),
    key: Key,
}

struct All {
    /// The control block of the thread that forks, which is its child's, too; 0 = none.
    thread: AtomicU64,
    count: AtomicU64,
    ones: UnsafeCell<[Option<One>; MOST]>,
}

// SAFETY: written by the thread whose control block is stored, which was 0 before, and read by its child.
unsafe impl Sync for All {}

static ALL: All =
    All { thread: AtomicU64::new(0), count: AtomicU64::new(0), ones: UnsafeCell::new([None; MOST]) };

/// The calling thread is about to fork. Where another one forks just now, the child of one of them is in no
/// interval.
pub fn note(record: &mut Record) {
    let thread = lane::control_block();
    let Some(of_thread) = record.marks.of_thread() else { return };
    let open = of_thread.open.all();
    if open.is_empty() || ALL.thread.compare_exchange(0, thread, Ordering::AcqRel, Ordering::Relaxed).is_err()
    {
        return;
    }
    let mut count = 0;
    for opened in open.iter().take(MOST) {
        if let Some(defined) = of_thread.definitions.get(opened.index) {
            // SAFETY: the thread that has them.
            unsafe {
                (*ALL.ones.get())[count] =
                    Some(One { wanted: defined.wanted, texts: defined.texts, key: opened.key });
            }
            count += 1;
        }
    }
    ALL.count.store(count as u64, Ordering::Relaxed);
}

/// The calling thread has forked: others may.
pub fn forget() {
    if ALL.thread.load(Ordering::Relaxed) == lane::control_block() {
        ALL.thread.store(0, Ordering::Release);
    }
}

/// A forked child begins at `begin_ns`, in its only thread.
pub fn begin(record: &mut Record, begin_ns: u64) {
    let is_mine = ALL.thread.swap(0, Ordering::AcqRel) == lane::control_block();
    let count = ALL.count.swap(0, Ordering::Relaxed) as usize;
    if !is_mine || count == 0 {
        return;
    }
    record.marks.make();
    // SAFETY: the only thread of a new process.
    let ones = unsafe { *ALL.ones.get() };
    for one in ones.iter().take(count).flatten() {
        let parent = record.marks.interval();
        let Record { marks, output, .. } = record;
        let Some(of_thread) = marks.of_thread() else { return };
        let mark = Mark {
            domain: &[],
            name: one.texts.0,
            number: one.wanted.number,
            file: one.texts.1,
            line: one.wanted.line,
            kind: one.wanted.kind,
            degree: one.wanted.degree,
            origin: IntervalOrigin::Proust,
            key: Key::NAMED,
            state: State::default(),
        };
        let wanted = Wanted { parent, node: 0, region: 0, ..one.wanted };
        let index = of_thread.definitions.number(&wanted, &mark, output);
        let level = of_thread.open.push(Opened {
            index,
            flags: EXECUTION_INHERITED,
            name: one.wanted.name,
            number: one.wanted.number,
            key: one.key,
            begin_ns,
            ..Opened::default()
        });
        let id = of_thread.definitions.id(index);
        if id != 0 {
            marks.set_interval(id);
            output.header(|header| {
                if let Some(place) = header.interval_begins_ns.get_mut(level as usize) {
                    *place = begin_ns;
                }
                header.interval = id;
            });
        }
    }
}
