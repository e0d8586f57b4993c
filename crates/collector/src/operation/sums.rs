//! Operations too short to be recorded alone: how many, how long, how many bytes, by kind.
//!
//! Each kind's caller is found once in a while, after so much time in it, and represents all of that time: as
//! samples represent CPU time. Where the caller of each is known anyway, as that of MPI's calls is, there is
//! a sum for each of them.

use proust_log::records::{EVENT_TARGET_SHIFT, SUM_PATH_NS, Sum};

use super::Kind;
use super::elapsed::Elapsed;
use crate::arena::{Entry, Table, spread};
use crate::lane::Output;
use crate::path::tree::NodeId;
use crate::room;
use crate::turn::Quiet;

/// Slots for kinds that are summed at once; a thread that uses more than three quarters as many has them
/// written earlier.
const SLOTS: usize = 32;

/// The same for callers that are known, at first and at most; of those beyond, nothing is summed.
const KNOWN_SLOTS: usize = 64;
const MOST_KNOWN_SLOTS: usize = 2048;

/// One cache line: the program or the kernel has evicted the others since the last operation.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Slot {
    /// 0 = free.
    kind: u32,
    calls: u32,
    errors: u32,
    /// Whether a caller was looked for.
    found: bool,
    node: NodeId,
    node_flags: u16,
    /// Innermost parallel region of that caller.
    region: u32,
    ns: u64,
    bytes: u64,
    since_ns: u64,
    until_ns: u64,
    /// Innermost marked interval of that caller.
    interval: u32,
    /// Time since a caller was found; saturates.
    unfound_ns: u32,
}

/// The sums of one thread's short operations since they were last written.
#[derive(Default)]
pub struct Sums {
    slots: Table<Slot>,
    /// Those of which each one's caller is known: a slot for each operation and caller.
    known: Table<Slot>,
    /// Calls that were written since the last [`Sums::take_calls`].
    written: u64,
    /// Of these, how many are of an estimate.
    estimated: u64,
    /// The time in those that were written.
    elapsed: Elapsed,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    #[inline]
    fn add(&mut self, short: &Short, ns: u64) {
        if self.calls == 0 {
            self.since_ns = short.begin_ns;
        }
        self.calls = self.calls.saturating_add(1);
        self.errors = self.errors.saturating_add(u32::from(short.failed));
        self.ns += ns;
        self.bytes = self.bytes.saturating_add(short.bytes);
        self.until_ns = short.end_ns;
    }
}

// SAFETY: numbers.
unsafe impl Entry for Slot {
    #[inline]
    fn is_free(&self) -> bool {
        self.kind == 0
    }
}

/// The same operation on something else stands elsewhere.
#[inline]
fn hash(kind: u32) -> u64 {
    u64::from(kind ^ kind >> 13) << 32
}

/// The same operation of another caller stands elsewhere.
#[inline]
fn hash_known(kind: u32, node: NodeId) -> u64 {
    spread(u64::from(kind) << 32 | u64::from(node))
}

/// A short operation.
#[derive(Clone, Copy)]
pub struct Short {
    /// Which.
    pub kind: Kind,
    /// Begin.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it failed.
    pub failed: bool,
}

/// The caller of a short operation.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its call path; 0 = not known.
    pub node: NodeId,
    /// Flags of the path.
    pub flags: u16,
    /// Parallel region.
    pub region: u32,
    /// Innermost marked interval.
    pub interval: u32,
}

/// Operations of one kind that are added at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Several {
    /// Which.
    pub kind: Kind,
    /// How many.
    pub calls: u64,
    /// How long in all.
    pub ns: u64,
    /// Begin of the time in which they were.
    pub since_ns: u64,
    /// End of it.
    pub until_ns: u64,
}

impl Sums {
    #[inline]
    fn slot(&mut self, kind: u32) -> Option<&mut Slot> {
        let at = self.slots.position(hash(kind), |slot| slot.kind == kind)?;
        self.slots.at(at).filter(|slot| slot.kind != 0)
    }

    /// Position of the kind's slot, which is made if need be.
    #[inline]
    fn position(&mut self, kind: u32, output: &mut Output) -> Option<usize> {
        let at = self.slots.position(hash(kind), |slot| slot.kind == kind);
        match at {
            Some(position) if self.slots.at(position).is_some_and(|slot| slot.kind != 0) => at,
            _ => self.make(kind, output),
        }
    }

    #[inline]
    fn slot_or_new(&mut self, kind: u32, output: &mut Output) -> Option<&mut Slot> {
        let at = self.position(kind, output)?;
        self.slots.at(at)
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, kind: u32, output: &mut Output) -> Option<usize> {
        let _quiet = Quiet::begin();
        if self.slots.capacity() == 0 {
            self.slots.grow(SLOTS, |slot| hash(slot.kind));
        } else if self.slots.is_full() {
            room::apart(|| self.write(output));
            self.slots.clear();
        }
        let at = self.slots.position(hash(kind), |slot| slot.kind == kind)?;
        self.slots.put(at, Slot { kind, ..Slot::default() });
        Some(at)
    }

    /// Makes room for one kind, whose caller is not looked for.
    pub fn rehearse(&mut self, kind: Kind) {
        if let Some(slot) = self.slot_or_new(kind.number(), &mut Output::new(None)) {
            slot.found = true;
        }
    }

    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        self.slots.clear();
        self.known.clear();
        (self.written, self.estimated) = (0, 0);
        self.elapsed = Elapsed::default();
    }

    /// Adds the time in the thread's short operations so far.
    pub fn add_to(&mut self, elapsed: &mut Elapsed) {
        let written = self.elapsed;
        elapsed.merge(&written);
        let unwritten = self.slots.iter().chain(self.known.iter());
        unwritten.for_each(|slot| elapsed.add_number(Kind::parts(slot.kind).0, slot.ns));
    }

    /// Adds operations of which there is an estimate. Their caller is that of the next one of the kind that
    /// is measured.
    pub fn add_estimated(&mut self, estimated: &Several, output: &mut Output) {
        // No hook took time for them but what any call takes.
        self.estimated += u64::from(self.add_several(estimated, output));
    }

    /// Adds operations whose caller is not looked for: that of the next one of the kind whose caller is
    /// represents them. Returns how many were added.
    #[inline]
    pub fn add_several(&mut self, several: &Several, output: &mut Output) -> u32 {
        let calls = u32::try_from(several.calls).unwrap_or(u32::MAX);
        let Some(slot) = self.slot_or_new(several.kind.number(), output) else {
            leave_out(calls, several.ns, output);
            return 0;
        };
        if slot.calls == 0 || several.since_ns < slot.since_ns {
            slot.since_ns = several.since_ns;
        }
        slot.calls = slot.calls.saturating_add(calls);
        slot.ns += several.ns;
        slot.unfound_ns = longer(slot.unfound_ns, several.ns);
        slot.until_ns = slot.until_ns.max(several.until_ns);
        calls
    }

    /// Adds one; true if its caller is to be found and given to [`Sums::caller`].
    #[inline]
    pub fn add(&mut self, short: &Short, output: &mut Output) -> bool {
        let ns = short.end_ns.saturating_sub(short.begin_ns);
        let Some(slot) = self.slot_or_new(short.kind.number(), output) else {
            leave_out(1, ns, output);
            return false;
        };
        slot.add(short, ns);
        slot.unfound_ns = longer(slot.unfound_ns, ns);
        !slot.found || u64::from(slot.unfound_ns) >= SUM_PATH_NS
    }

    /// Adds one of which the caller is known; false if there is no room for one more caller. Nothing has to
    /// be found.
    #[inline]
    pub fn add_known(&mut self, short: &Short, caller: &Found, output: &mut Output) -> bool {
        let kind = short.kind.number();
        let is_it = |slot: &Slot| (slot.kind, slot.node) == (kind, caller.node);
        let place = self.known.position(hash_known(kind, caller.node), is_it);
        let at = match place {
            Some(at) if self.known.at(at).is_some_and(|slot| slot.kind != 0) => at,
            _ => match self.make_known(kind, caller.node) {
                Some(at) => at,
                None => return false,
            },
        };
        let Some(slot) = self.known.at(at) else { return false };
        if slot.calls > 0 && (slot.region, slot.interval) != (caller.region, caller.interval) {
            self.elapsed.add_number(Kind::parts(kind).0, slot.ns);
            let _quiet = Quiet::begin();
            self.written += u64::from(room::apart(|| write(slot, output)));
        }
        (slot.region, slot.interval) = (caller.region, caller.interval);
        slot.add(short, short.end_ns.saturating_sub(short.begin_ns));
        true
    }

    #[cold]
    #[inline(never)]
    fn make_known(&mut self, kind: u32, node: NodeId) -> Option<usize> {
        let _quiet = Quiet::begin();
        if self.known.capacity() == 0 || self.known.is_full() {
            let may_grow = self.known.capacity() < MOST_KNOWN_SLOTS;
            if !may_grow || !self.known.grow(KNOWN_SLOTS, |slot| hash_known(slot.kind, slot.node)) {
                return None;
            }
        }
        let is_it = |slot: &Slot| (slot.kind, slot.node) == (kind, node);
        let at = self.known.position(hash_known(kind, node), is_it)?;
        self.known.put(at, Slot { kind, node, ..Slot::default() });
        Some(at)
    }

    /// The caller of the operation that was just added; the sum of its kind is written as this caller's.
    pub fn caller(&mut self, kind: Kind, found: Found, output: &mut Output) {
        let Some(slot) = self.slot(kind.number()) else { return };
        slot.found = true;
        slot.node = found.node;
        slot.node_flags = found.flags;
        slot.region = found.region;
        slot.interval = found.interval;
        slot.unfound_ns = 0;
        let (number, ns) = (Kind::parts(slot.kind).0, slot.ns);
        self.written += u64::from(write(slot, output));
        self.elapsed.add_number(number, ns);
    }

    /// The last known caller of operations of this kind, and the flags of its path.
    pub fn last_caller(&mut self, kind: Kind) -> (NodeId, u16) {
        self.slot(kind.number()).map_or((0, 0), |slot| (slot.node, slot.node_flags))
    }

    /// Writes all sums.
    pub fn write(&mut self, output: &mut Output) {
        if self.slots.count() + self.known.count() > 0 {
            for slot in self.slots.iter_mut().chain(self.known.iter_mut()) {
                self.elapsed.add_number(Kind::parts(slot.kind).0, slot.ns);
                self.written += u64::from(write(slot, output));
            }
        }
        if self.known.is_full() {
            // Others may be the ones that are called now.
            self.known.clear();
        }
    }

    /// Calls that were written since the last call of this: for the cost of the hooks themselves.
    pub fn take_calls(&mut self) -> u64 {
        core::mem::take(&mut self.written).saturating_sub(core::mem::take(&mut self.estimated))
    }
}

#[inline]
fn longer(ns: u32, more_ns: u64) -> u32 {
    ns.saturating_add(u32::try_from(more_ns).unwrap_or(u32::MAX))
}

/// Counts operations for which there was no room.
fn leave_out(calls: u32, ns: u64, output: &mut Output) {
    output.header(|header| {
        header.unrecorded_operations += u64::from(calls);
        header.unrecorded_operation_ns += ns;
    });
}

/// Returns how many calls that were.
fn write(slot: &mut Slot, output: &mut Output) -> u32 {
    let calls = slot.calls;
    if calls == 0 {
        return 0;
    }
    let sum = Sum {
        since_ns: slot.since_ns,
        until_ns: slot.until_ns,
        ns: slot.ns,
        bytes: slot.bytes,
        calls: slot.calls,
        errors: slot.errors,
        node: slot.node,
        region: slot.region,
        interval: slot.interval,
        ..Sum::default()
    };
    let (operation, target) = Kind::parts(slot.kind);
    let flags = slot.node_flags | target << EVENT_TARGET_SHIFT;
    if !output.push_shaped(operation, flags, &sum) {
        leave_out(slot.calls, slot.ns, output);
    }
    (slot.calls, slot.errors, slot.ns, slot.bytes) = (0, 0, 0, 0);
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_log::operations::{Operation, Target};

    fn short(operation: Operation, begin_ns: u64, ns: u64) -> Short {
        Short {
            kind: Kind { operation, target: Target::None },
            begin_ns,
            end_ns: begin_ns + ns,
            bytes: 3,
            failed: false,
        }
    }

    #[test]
    fn a_caller_is_found_first_and_then_once_in_a_while() {
        let mut sums = Sums::default();
        let mut output = Output::new(None);
        let mut found = 0_u64;
        for call in 0..10_000_u64 {
            let one = short(Operation::Read, call * 1_000, 500);
            if sums.add(&one, &mut output) {
                found += 1;
                sums.caller(one.kind, Found { node: 7, flags: 0, region: 3, interval: 0 }, &mut output);
            }
        }
        // 10 000 × 500 ns are five times the time that one caller represents.
        assert_eq!(found, 1 + (10_000 - 1) * 500 / SUM_PATH_NS);
        assert_eq!(sums.last_caller(short(Operation::Read, 0, 0).kind), (7, 0));
    }

    #[test]
    fn callers_that_are_known_have_a_sum_each_until_there_are_too_many() {
        let (mut sums, mut output) = (Sums::default(), Output::new(None));
        let caller = |node, interval| Found { node, flags: 0, region: 0, interval };
        let one = short(Operation::MPI_Put, 1_000, 200);
        assert!(sums.add_known(&one, &caller(7, 0), &mut output));
        assert!(sums.add_known(&one, &caller(8, 0), &mut output));
        assert!(sums.add_known(&one, &caller(7, 0), &mut output));
        let of = |sums: &Sums| {
            let slots = sums.known.iter().filter(|slot| slot.calls > 0);
            let mut all: Vec<_> = slots.map(|slot| (slot.node, slot.interval, slot.calls, slot.ns)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(of(&sums), [(7, 0, 2, 400), (8, 0, 1, 200)]);
        // In another interval: what was before is written.
        assert!(sums.add_known(&one, &caller(7, 3), &mut output));
        assert_eq!(of(&sums), [(7, 3, 1, 200), (8, 0, 1, 200)]);
        assert_eq!(sums.take_calls(), 2);
        let kept = (9..9_000).filter(|&node| sums.add_known(&one, &caller(node, 0), &mut output)).count();
        assert_eq!(kept, MOST_KNOWN_SLOTS * 3 / 4 - 2);
        assert!(sums.add_known(&one, &caller(8, 0), &mut output));
        // Written ones are forgotten where there were too many.
        sums.write(&mut output);
        assert_eq!(of(&sums), []);
        assert!(sums.add_known(&one, &caller(9_000, 0), &mut output));
        assert_eq!(sums.take_calls(), kept as u64 + 3);
    }

    #[test]
    fn any_number_of_kinds_finds_room() {
        let mut sums = Sums::default();
        let mut output = Output::new(None);
        for round in 0..3 {
            for &operation in Operation::ALL {
                sums.add(&short(operation, round, 1), &mut output);
            }
        }
        assert_eq!(sums.slots.capacity(), SLOTS);
        sums.write(&mut output);
        assert_eq!(sums.take_calls(), 3 * Operation::ALL.len() as u64);
        assert_eq!(sums.take_calls(), 0);
    }
}
