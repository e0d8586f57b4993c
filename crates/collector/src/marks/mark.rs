//! One mark: an interval begins or ends in the calling thread.

use proust_log::records::{EXECUTION_CROSSED, IntervalKind, IntervalOrigin};

use super::definitions::Wanted;
use super::executions::Done;
use super::open::Opened;
use crate::arena::spread;
use crate::hooks::borrowers;
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::{clock, control, raw};

/// Most bytes of a name that count.
const MOST_NAME_BYTES: usize = 1023;

/// A mark as a front end hands it over. Texts are read during the call only.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'t> {
    /// Name of the interval.
    pub name: &'t [u8],
    /// The program's own number; [`proust_log::records::NO_NUMBER`] = none.
    pub number: i64,
    /// Source file of the call; empty = not known.
    pub file: &'t [u8],
    /// Line of the call; 0 = not known.
    pub line: u32,
    /// What is said of the work in it.
    pub kind: IntervalKind,
    /// Of a replicated one: by how many processors; 0 = by all ranks.
    pub degree: u32,
    /// By which interface.
    pub origin: IntervalOrigin,
    /// A frame of the front end, where the call path begins.
    pub state: State,
}

/// A name by which intervals are distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name {
    hash: u64,
    bytes: u32,
}

impl Name {
    /// Of this text.
    #[inline]
    pub fn of(text: &[u8]) -> Name {
        let text = &text[..text.len().min(MOST_NAME_BYTES)];
        let (words, rest) = text.as_chunks::<8>();
        let mut hash =
            words.iter().fold(0, |hash, word| spread(hash ^ u64::from_le_bytes(*word)).rotate_left(29));
        for &byte in rest {
            hash = spread(hash ^ u64::from(byte) ^ 0x100).rotate_left(29);
        }
        Name { hash, bytes: text.len() as u32 }
    }

    /// As one number.
    #[inline]
    pub fn number(self) -> u64 {
        self.hash ^ u64::from(self.bytes)
    }
}

impl Mark<'_> {
    /// The bytes of its name that count.
    pub fn name(&self) -> &[u8] {
        &self.name[..self.name.len().min(MOST_NAME_BYTES)]
    }
}

/// The calling thread's lane, where its marks are followed. They are while recording is paused, too: the
/// intervals that a thread is in have to be right when it resumes.
#[inline]
pub(super) fn lane_of_caller() -> Option<(&'static Life, &'static Lane)> {
    let life = life::in_hook()?;
    let lane = lane::current()?;
    // A task that has borrowed the thread's memory executes intervals of its own.
    (!borrowers::may_be() || lane.owner.load(core::sync::atomic::Ordering::Relaxed) == raw::gettid())
        .then_some((life, lane))
}

/// The calling thread begins an interval.
pub fn begin(mark: &Mark<'_>) {
    let Some((life, lane)) = lane_of_caller() else { return };
    let Some(_held) = lane.take_in_time() else {
        // A handler of the program that has interrupted the collector in this thread.
        return super::state::miss();
    };
    // SAFETY: called by the owner, which has taken the record.
    let record = unsafe { lane.record() };
    if !record.marks.is_ready() {
        // SAFETY: as above.
        unsafe { lane.with_room(|| record.marks.make()) };
    }
    let region = lane.member.region();
    let parent = record.marks.interval();
    let Some(of_thread) = record.marks.of_thread() else { return super::state::miss() };
    if of_thread.open.is_full() {
        of_thread.open.begin_beyond();
        return;
    }
    let name = Name::of(mark.name);
    let node = of_thread.paths.find(&mark.state, name);
    let wanted = Wanted {
        parent,
        name,
        number: mark.number,
        line: mark.line,
        node,
        region,
        kind: mark.kind,
        degree: mark.degree,
    };
    let known = if node == 0 { None } else { of_thread.definitions.find(&wanted) };
    let index = match known {
        Some(index) => index,
        // SAFETY: as above.
        None => unsafe { lane.with_room(|| define(life, lane, record, mark, wanted)) },
    };
    let begin_ns = clock::now_ns();
    let switches = control::switches();
    enter(lane, record, Opened { index, name, number: mark.number, begin_ns, switches, ..Opened::default() });
}

/// The thread is in one more interval.
#[inline]
fn enter(lane: &Lane, record: &mut Record, opened: Opened) {
    let Some(of_thread) = record.marks.of_thread() else { return };
    let id = of_thread.definitions.id(opened.index);
    let level = of_thread.open.push(opened);
    of_thread.marks += 1;
    if id != 0 {
        lane.begin_interval(level, opened.begin_ns, id);
        record.marks.set_interval(id);
    }
}

/// Finds the number of an interval that is none of those known by their call path.
#[cold]
#[inline(never)]
fn define(life: &Life, _: &Lane, record: &mut Record, mark: &Mark<'_>, mut wanted: Wanted) -> u32 {
    let entered_ns = clock::now_ns();
    if wanted.node == 0 && record.output.is_open() {
        let may_look =
            record.marks.of_thread().is_some_and(|of_thread| of_thread.allowance.takes(entered_ns));
        if may_look {
            wanted.node = path(life, record, mark, wanted.name);
        }
    }
    let index = number(record, mark, &wanted);
    record.spent_since(entered_ns, 0);
    index
}

fn path(life: &Life, record: &mut Record, mark: &Mark<'_>, name: Name) -> u32 {
    let (node, flags) = record.path(mark.state, life.pid);
    if flags == 0 && node != 0 {
        let Record { marks, memo, .. } = record;
        if let Some(of_thread) = marks.of_thread() {
            of_thread.paths.keep(&mark.state, name, node, memo);
        }
    }
    node
}

fn number(record: &mut Record, mark: &Mark<'_>, wanted: &Wanted) -> u32 {
    let Record { marks, output, .. } = record;
    marks.of_thread().map_or(0, |of_thread| of_thread.definitions.number(wanted, mark, output))
}

/// The calling thread ends an interval: the innermost open one of that name and number, and with it those
/// that were begun since.
pub fn end(mark: &Mark<'_>) {
    let end_ns = clock::now_ns();
    let Some((life, lane)) = lane_of_caller() else { return };
    let Some(_held) = lane.take_in_time() else { return super::state::miss() };
    // SAFETY: called by the owner, which has taken the record.
    let record = unsafe { lane.record() };
    let name = Name::of(mark.name);
    let is_paused = life::is_paused();
    if let Some(of_thread) = record.marks.of_thread() {
        of_thread.marks += 1;
        if of_thread.open.end_beyond() {
            return;
        }
        if of_thread.open.top().is_some_and(|top| top.is(name, mark.number)) {
            return leave(lane, record, end_ns, 0, is_paused);
        }
        if of_thread.open.has(name, mark.number) {
            while of_thread_top(record).is_some_and(|top| !top.is(name, mark.number)) {
                leave(lane, record, end_ns, EXECUTION_CROSSED, is_paused);
            }
            return leave(lane, record, end_ns, 0, is_paused);
        }
    }
    if !is_paused {
        // SAFETY: as above.
        unsafe { lane.with_room(|| super::unmatched::note(life, record, mark, end_ns)) };
    }
}

/// Adds to the iterations of the innermost interval that the calling thread is in.
pub fn add_iterations(count: u64) {
    let Some((_, lane)) = lane_of_caller() else { return };
    let Some(_held) = lane.take_in_time() else { return super::state::miss() };
    // SAFETY: called by the owner, which has taken the record.
    let record = unsafe { lane.record() };
    if let Some(top) = record.marks.of_thread().and_then(|of_thread| of_thread.open.top_mut()) {
        top.iterations = top.iterations.saturating_add(count);
    }
}

fn of_thread_top(record: &mut Record) -> Option<Opened> {
    record.marks.of_thread()?.open.top()
}

/// The thread leaves the innermost interval that it is in.
#[inline]
fn leave(lane: &Lane, record: &mut Record, end_ns: u64, flags: u16, is_paused: bool) {
    let Some(done) = pop(record, end_ns, flags) else { return };
    let interval = record.marks.interval();
    lane.in_interval(interval);
    let is_within_pause = is_paused && done.switches == control::switches();
    if done.is_followed() && !is_within_pause {
        super::executions::record(lane, record, &done);
    }
}

/// Takes the innermost interval off the stack.
#[inline]
pub(super) fn pop(record: &mut Record, end_ns: u64, flags: u16) -> Option<Done> {
    let of_thread = record.marks.of_thread()?;
    let opened = of_thread.open.pop()?;
    let around = of_thread.open.innermost(&of_thread.definitions);
    record.marks.set_interval(around);
    Some(Done {
        index: opened.index,
        begin_ns: opened.begin_ns,
        end_ns: end_ns.max(opened.begin_ns),
        iterations: opened.iterations,
        switches: opened.switches,
        flags: flags | opened.flags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_by_all_their_bytes() {
        let names: [&[u8]; 8] =
            [b"", b"\0", b"a", b"a\0", b"step 12345", b"step 12346", b"12345678", b"12345678\0"];
        for (at, name) in names.iter().enumerate() {
            for (other_at, other) in names.iter().enumerate() {
                assert_eq!(Name::of(name) == Name::of(other), at == other_at, "{name:?} {other:?}");
            }
        }
    }

    #[test]
    fn of_a_long_name_as_many_bytes_count_as_are_kept() {
        let long = [b'x'; MOST_NAME_BYTES + 1];
        assert_eq!(Name::of(&long), Name::of(&long[1..]));
        assert_ne!(Name::of(&long), Name::of(&long[2..]));
    }
}
