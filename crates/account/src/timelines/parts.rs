//! The parts of a location's operations in its gaps, which are read again and again in order: encoded, in the
//! spool of the operations.
//!
//! All that is in memory of them are those of one gap, and while time in the run queue is placed in them
//! eight bytes for each that may take some.

use std::ops::Range;

use proust_profile::{ContextId, NumbersReader, NumbersWriter, Spool, SpooledNumbers};

use super::states::Class;

/// The part of an operation that lies in one gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) class: Class,
    pub(super) context: ContextId,
    /// With a processor.
    pub(super) cpu_ns: u64,
    /// In the run queue, after it was woken.
    pub(super) queued_ns: u64,
    /// The thread cannot have been woken before, if that is after the begin.
    pub(super) asleep_until_ns: u64,
    /// Whether the operation ends here, and does not continue in the next gap, and the thread may want a
    /// processor at its end.
    pub(super) may_queue: bool,
}

impl Part {
    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// Off the processor.
    pub(super) fn off_ns(&self) -> u64 {
        self.length_ns() - self.cpu_ns
    }

    /// Off the processor, and perhaps woken already. Linux since 6.12 counts sleeping threads as queued at
    /// times.
    fn perhaps_queued_ns(&self) -> u64 {
        let awake_ns = self.end_ns.saturating_sub(self.asleep_until_ns.max(self.start_ns));
        match self.class {
            // What polls has its processor time before it finds what it waits for.
            Class::Poll(_) => awake_ns.min(self.off_ns()),
            _ => awake_ns.saturating_sub(self.cpu_ns),
        }
    }

    /// How much longer it may have been in the run queue.
    fn room_ns(&self) -> u64 {
        if self.may_queue { self.perhaps_queued_ns().saturating_sub(self.queued_ns) } else { 0 }
    }
}

/// The parts of all gaps of a location.
#[derive(Debug, Default)]
pub(super) struct Parts {
    numbers: SpooledNumbers,
    classes: Vec<Class>,
    /// By gap where its parts begin, and how many they are.
    of_gaps: Vec<(u64, u32)>,
    /// Time in the run queue, of all parts of these gaps: in order and apart.
    queued: Vec<(Range<usize>, SpooledNumbers)>,
}

/// Writes [`Parts`], gap by gap.
#[derive(Debug)]
pub(super) struct PartsWriter {
    numbers: NumbersWriter,
    classes: Vec<Class>,
    of_gaps: Vec<(u64, u32)>,
}

impl PartsWriter {
    pub(super) fn new(spool: &Spool, gaps: usize) -> PartsWriter {
        let of_gaps = Vec::with_capacity(gaps);
        PartsWriter { numbers: NumbersWriter::new(spool), classes: Vec::new(), of_gaps }
    }

    /// Appends those of the next gap, in which nothing is queued yet.
    pub(super) fn add(&mut self, parts: &[Part]) {
        self.of_gaps.push((self.numbers.bytes(), parts.len() as u32));
        let mut from_ns = 0;
        for part in parts {
            let class = self.classes.iter().position(|class| *class == part.class).unwrap_or_else(|| {
                self.classes.push(part.class);
                self.classes.len() - 1
            });
            self.numbers.put(&[
                2 * class as u64 + u64::from(part.may_queue),
                part.start_ns - from_ns,
                part.length_ns(),
                part.context.0.into(),
                part.cpu_ns,
                part.asleep_until_ns.clamp(part.start_ns, part.end_ns) - part.start_ns,
            ]);
            from_ns = part.end_ns;
        }
    }

    pub(super) fn finish(self) -> Parts {
        let (numbers, queued) = (self.numbers.finish(), Vec::new());
        Parts { numbers, classes: self.classes, of_gaps: self.of_gaps, queued }
    }
}

impl Parts {
    /// Reads those of some gaps, one gap after the other.
    pub(super) fn of_gaps(&self, gaps: Range<usize>) -> PartsReader<'_> {
        let at_byte = self.of_gaps.get(gaps.start).map_or(0, |(at_byte, _)| *at_byte);
        let later = self.queued.partition_point(|(of_gaps, _)| of_gaps.end <= gaps.start);
        PartsReader {
            numbers: self.numbers.read_at(at_byte),
            parts: self,
            next: gaps.start,
            end: gaps.end,
            queued: None,
            later,
        }
    }

    /// Places time in the run queue in the parts of some gaps: in all of them as much, as far as there is
    /// room. Returns what is left. Of gaps in which something was placed all are among them, or none.
    pub(super) fn queue(&mut self, gaps: Range<usize>, queued_ns: u64, spool: &Spool) -> u64 {
        let mut rooms_ns = Vec::new();
        let mut reader = self.of_gaps(gaps.clone());
        let mut parts = Vec::new();
        while reader.next_gap(&mut parts) {
            rooms_ns.extend(parts.iter().map(Part::room_ns).filter(|&room_ns| room_ns > 0));
        }
        if rooms_ns.is_empty() {
            return queued_ns;
        }
        let mut even = Even::new(queued_ns, rooms_ns);
        let mut reader = self.of_gaps(gaps.clone());
        let mut placed = NumbersWriter::new(spool);
        while reader.next_gap(&mut parts) {
            parts.iter().for_each(|part| placed.put(&[part.queued_ns + even.next(part.room_ns())]));
        }
        let left_ns = even.left_ns();
        let from = self.queued.partition_point(|(of_gaps, _)| of_gaps.end <= gaps.start);
        let to = self.queued.partition_point(|(of_gaps, _)| of_gaps.start < gaps.end);
        self.queued.splice(from..to, [(gaps, placed.finish())]);
        left_ns
    }
}

/// Reads parts gap by gap.
#[derive(Debug)]
pub(super) struct PartsReader<'p> {
    numbers: NumbersReader<'p>,
    parts: &'p Parts,
    next: usize,
    end: usize,
    /// What is queued in the parts of gaps up to one.
    queued: Option<(usize, NumbersReader<'p>)>,
    /// The next of those.
    later: usize,
}

impl PartsReader<'_> {
    /// Reads the parts of the next gap in the place of what is in `to`. False = there is none.
    pub(super) fn next_gap(&mut self, to: &mut Vec<Part>) -> bool {
        to.clear();
        let Some(&(_, count)) = self.parts.of_gaps[..self.end].get(self.next) else { return false };
        self.queued.take_if(|(end, _)| *end <= self.next);
        if let Some((of_gaps, numbers)) = self.parts.queued.get(self.later)
            && of_gaps.start <= self.next
        {
            self.queued = Some((of_gaps.end, numbers.read()));
            self.later += 1;
        }
        self.next += 1;
        let mut from_ns = 0;
        for _ in 0..count {
            let mut next = || self.numbers.next();
            let part = || -> Option<Part> {
                let (number, start_ns) = (next()?, from_ns + next()?);
                Some(Part {
                    start_ns,
                    end_ns: start_ns + next()?,
                    class: *self.parts.classes.get(number as usize / 2)?,
                    context: ContextId(next()? as u32),
                    cpu_ns: next()?,
                    queued_ns: 0,
                    asleep_until_ns: start_ns + next()?,
                    may_queue: number % 2 == 1,
                })
            };
            // What cannot be read from the spool's file is left out; then the spool is damaged.
            let Some(mut part) = { part }() else { break };
            part.queued_ns = self.queued.as_mut().and_then(|(_, numbers)| numbers.next()).unwrap_or(0);
            from_ns = part.end_ns;
            to.push(part);
        }
        true
    }
}

/// An amount that is shared out evenly, with none above its room: as
/// [`by_weight`](super::shares::by_weight) does where all have the same weight.
#[derive(Debug)]
struct Even {
    /// Those with less room are filled.
    border_ns: u64,
    /// What is left for the others, and how many they are.
    level_ns: u64,
    others: u64,
    before: u64,
    given_ns: u64,
}

impl Even {
    /// `rooms_ns`: those that are not 0, in any order.
    fn new(amount_ns: u64, mut rooms_ns: Vec<u64>) -> Even {
        rooms_ns.sort_unstable();
        let mut even = Even {
            border_ns: u64::MAX,
            level_ns: amount_ns,
            others: rooms_ns.len() as u64,
            before: 0,
            given_ns: 0,
        };
        for room_ns in rooms_ns {
            if u128::from(even.level_ns) < u128::from(room_ns) * u128::from(even.others) {
                even.border_ns = room_ns;
                break;
            }
            even.level_ns -= room_ns;
            even.others -= 1;
        }
        even
    }

    /// The share of the next one.
    fn next(&mut self, room_ns: u64) -> u64 {
        if room_ns < self.border_ns {
            return room_ns;
        }
        self.before += 1;
        let due_ns = u128::from(self.level_ns) * u128::from(self.before) / u128::from(self.others);
        let part_ns = (due_ns as u64 - self.given_ns).min(room_ns);
        self.given_ns += part_ns;
        part_ns
    }

    /// What was given to none, when all have their shares.
    fn left_ns(&self) -> u64 {
        self.level_ns - self.given_ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::Budget;

    use super::super::shares::{Claim, by_weight};
    use super::*;
    use crate::ledger::{PassiveReason, Wait, Work};

    const CLASSES: [Class; 4] = [
        Class::Wait(Wait::Lock),
        Class::Poll(Wait::Barrier),
        Class::Passive(PassiveReason::Sleep, Work::Io),
        Class::Yield,
    ];

    /// Of some gaps the parts, one after the other.
    fn gaps() -> impl Strategy<Value = Vec<Vec<Part>>> {
        let part = (0_u64..9, 1_u64..99, 0..CLASSES.len(), 0_u64..99, 0_u64..120, any::<bool>());
        prop::collection::vec(prop::collection::vec(part, 0..9), 1..12).prop_map(|gaps| {
            let mut at_ns = 0;
            let mut made = |(gap_ns, length_ns, class, cpu_ns, asleep_ns, may_queue)| {
                let start_ns: u64 = at_ns + gap_ns;
                at_ns = start_ns + length_ns;
                Part {
                    start_ns,
                    end_ns: at_ns,
                    class: CLASSES[class],
                    context: ContextId(7 * class as u32),
                    cpu_ns: u64::min(cpu_ns, length_ns),
                    queued_ns: 0,
                    asleep_until_ns: (start_ns + u64::min(asleep_ns, length_ns)),
                    may_queue,
                }
            };
            gaps.into_iter().map(|parts| parts.into_iter().map(&mut made).collect()).collect()
        })
    }

    /// The same with claims in memory.
    fn queue(parts: &mut [Vec<Part>], queued_ns: u64) -> u64 {
        let claim = |part: &Part| Claim {
            weight: part.may_queue.into(),
            most_ns: part.perhaps_queued_ns().saturating_sub(part.queued_ns),
            given_ns: 0,
        };
        let mut claims: Vec<Claim> = parts.iter().flatten().map(claim).collect();
        let left_ns = by_weight(queued_ns, &mut claims);
        for (part, claim) in parts.iter_mut().flatten().zip(claims) {
            part.queued_ns += claim.given_ns;
        }
        left_ns
    }

    fn all_of(parts: &Parts, gaps: Range<usize>) -> Vec<Vec<Part>> {
        let (mut reader, mut of_gap, mut all) = (parts.of_gaps(gaps), Vec::new(), Vec::new());
        while reader.next_gap(&mut of_gap) {
            all.push(of_gap.clone());
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn parts_are_read_as_they_are_and_queue_as_claims_do(
            mut expected in gaps(),
            ranges in prop::collection::vec((0_usize..4, 0_usize..4, 0_u64..400), 0..5),
            rest_ns in 0_u64..4000,
            budget_bytes in prop_oneof![Just(0), Just(u64::MAX)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let mut writer = PartsWriter::new(&spool, expected.len());
            expected.iter().for_each(|of_gap| writer.add(of_gap));
            let mut parts = writer.finish();
            let count = expected.len();
            prop_assert_eq!(&all_of(&parts, 0..count), &expected);
            let mut from = 0;
            for (skipped, length, queued_ns) in ranges {
                let range = (from + skipped).min(count)..(from + skipped + length).min(count);
                from = range.end;
                let left_ns = queue(&mut expected[range.clone()], queued_ns);
                prop_assert_eq!(parts.queue(range.clone(), queued_ns, &spool), left_ns);
                prop_assert_eq!(&all_of(&parts, range.clone()), &expected[range]);
            }
            prop_assert_eq!(&all_of(&parts, 0..count), &expected);
            let left_ns = queue(&mut expected, rest_ns);
            prop_assert_eq!(parts.queue(0..count, rest_ns, &spool), left_ns);
            prop_assert_eq!(&all_of(&parts, 0..count), &expected);
        }
    }
}
