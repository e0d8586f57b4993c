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
    /// Group of names, written before the name; empty = none.
    pub domain: &'t [u8],
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
    /// What its end names, where that does not repeat name and number.
    pub key: Key,
    /// A frame of the front end, where the call path begins.
    pub state: State,
}

/// What ends an interval, in interfaces whose ends do not repeat its name. The end closes the innermost one
/// of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// Of an interval that is ended by its name and number.
    pub const NAMED: Key = Key(0);

    /// Of a stack of intervals, which the interface has one of for each `group`.
    pub const fn innermost(origin: IntervalOrigin, group: u64) -> Key {
        Key((origin as u64) << 56 | group & (Key::SINGLE - 1))
    }

    /// Of a single interval, to which the interface gave this number.
    pub const fn single(origin: IntervalOrigin, number: u64) -> Key {
        Key((origin as u64) << 56 | Key::SINGLE | number & (Key::SINGLE - 1))
    }

    const SINGLE: u64 = 1 << 55;
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
        let text = counted(text);
        let (words, rest) = text.as_chunks::<8>();
        let mut hash =
            words.iter().fold(0, |hash, word| spread(hash ^ u64::from_le_bytes(*word)).rotate_left(29));
        for &byte in rest {
            hash = spread(hash ^ u64::from(byte) ^ 0x100).rotate_left(29);
        }
        Name { hash, bytes: text.len() as u32 }
    }

    /// Of this text in a group of names.
    #[inline]
    pub fn within(domain: &[u8], text: &[u8]) -> Name {
        let name = Name::of(text);
        if domain.is_empty() {
            return name;
        }
        let domain = Name::of(domain);
        Name { hash: spread(domain.number().rotate_left(31) ^ name.hash), bytes: domain.bytes + name.bytes }
    }

    /// As one number.
    #[inline]
    pub fn number(self) -> u64 {
        self.hash ^ u64::from(self.bytes)
    }
}

/// Stands between a group of names and a name.
const AFTER_DOMAIN: &[u8] = b": ";

impl Mark<'_> {
    /// Its name, by which it is distinguished.
    #[inline]
    pub fn name(&self) -> Name {
        Name::within(self.domain, self.name)
    }

    /// Its name as it is shown: as many bytes as count. With all signals blocked.
    pub fn text(&self) -> Vec<u8> {
        let mut text = match self.domain {
            [] => Vec::new(),
            domain => [counted(domain), AFTER_DOMAIN].concat(),
        };
        text.extend_from_slice(counted(self.name));
        text
    }

    /// Whether this mark ends that interval.
    #[inline]
    fn ends(&self, opened: &Opened, name: Name) -> bool {
        opened.key == self.key && (self.key != Key::NAMED || opened.is(name, self.number))
    }
}

/// The bytes of a text that count.
fn counted(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MOST_NAME_BYTES)]
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
    let Some(_guard) = lane.acquire_in_time() else {
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
    let name = mark.name();
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
    let Mark { number, key, .. } = *mark;
    enter(lane, record, Opened { index, name, number, key, begin_ns, switches, ..Opened::default() });
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

/// The calling thread ends an interval: the innermost open one of that name and number, or of that key, and
/// with it those that were begun since.
pub fn end(mark: &Mark<'_>) {
    let end_ns = clock::now_ns();
    let Some((life, lane)) = lane_of_caller() else { return };
    let Some(_guard) = lane.acquire_in_time() else { return super::state::miss() };
    // SAFETY: called by the owner, which has taken the record.
    let record = unsafe { lane.record() };
    let name = mark.name();
    let is_paused = life::is_paused();
    if let Some(of_thread) = record.marks.of_thread() {
        of_thread.marks += 1;
        if of_thread.open.end_beyond() {
            return;
        }
        if of_thread.open.top().is_some_and(|top| mark.ends(&top, name)) {
            return leave(lane, record, end_ns, 0, is_paused);
        }
        if of_thread.open.all().iter().any(|opened| mark.ends(opened, name)) {
            while of_thread_top(record).is_some_and(|top| !mark.ends(&top, name)) {
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
    let Some(_guard) = lane.acquire_in_time() else { return super::state::miss() };
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
    fn a_group_of_names_is_part_of_the_name() {
        let names = [(&b""[..], &b"ab"[..]), (b"a", b"b"), (b"b", b"a"), (b"ab", b""), (b"c", b"b")];
        for (at, one) in names.iter().enumerate() {
            for (other_at, other) in names.iter().enumerate() {
                let is_same = Name::within(one.0, one.1) == Name::within(other.0, other.1);
                assert_eq!(is_same, at == other_at, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn keys_of_stacks_and_of_single_intervals_differ_by_interface() {
        let origins = [IntervalOrigin::Nvtx, IntervalOrigin::Itt, IntervalOrigin::Kokkos];
        let of = |origin| [Key::innermost(origin, 7), Key::single(origin, 7), Key::innermost(origin, 8)];
        let keys: std::collections::HashSet<u64> =
            origins.into_iter().flat_map(of).map(|key| key.0).chain([Key::NAMED.0]).collect();
        assert_eq!(keys.len(), 3 * origins.len() + 1);
    }

    #[test]
    fn of_a_long_name_as_many_bytes_count_as_are_kept() {
        let long = [b'x'; MOST_NAME_BYTES + 1];
        assert_eq!(Name::of(&long), Name::of(&long[1..]));
        assert_ne!(Name::of(&long), Name::of(&long[2..]));
    }
}
