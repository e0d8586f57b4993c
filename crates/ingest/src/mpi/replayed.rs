//! What the replay reads of a process: its calls, and what they depend on, as numbers.

use proust_messages::call::Collective;
use proust_messages::replay::{Arrival, Dependency, Step};
use proust_messages::waits::Times;
use proust_profile::{NumbersReader, NumbersWriter, Spool, SpooledNumbers, far, near};

/// Of the first number of a step: which it is.
const STEP_BITS: u32 = 3;

/// What was written, or read, before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    number: u64,
    time_ns: u64,
}

/// The steps of a process.
#[derive(Debug, Default)]
pub(super) struct StoredSteps(SpooledNumbers);

impl StoredSteps {
    pub(super) fn of(steps: impl Iterator<Item = Step>, spool: &Spool) -> StoredSteps {
        let (mut to, mut last) = (NumbersWriter::new(spool), Last::default());
        for step in steps {
            match step {
                Step::Call(Times { begin_ns, end_ns }) => {
                    let head = near(begin_ns, last.time_ns);
                    to.put(&[4, head, near(end_ns, begin_ns)]);
                    last.time_ns = end_ns;
                }
                Step::Depends(on) => put(&on, &mut to, &mut last),
            }
        }
        StoredSteps(to.finish())
    }

    pub(super) fn into_steps(self) -> impl Iterator<Item = Step> {
        let (mut from, mut last) = (self.0.into_reader(), Last::default());
        std::iter::from_fn(move || read_step(&mut from, &mut last))
    }
}

fn read_step(from: &mut NumbersReader<'_>, last: &mut Last) -> Option<Step> {
    let head = from.next()?;
    if head != 4 {
        return Some(Step::Depends(read(head, from, last)?));
    }
    let begin_ns = far(from.next()?, last.time_ns);
    let end_ns = far(from.next()?, begin_ns);
    last.time_ns = end_ns;
    Some(Step::Call(Times { begin_ns, end_ns }))
}

/// Appends a dependency.
pub(super) fn put(on: &Dependency, to: &mut NumbersWriter, last: &mut Last) {
    let (number, which) = match *on {
        Dependency::Sends(number) => (number, 0),
        Dependency::Takes(number) => (number, 1),
        Dependency::Arrives(Arrival { number, .. }) => (number, 2),
        Dependency::Meets { number, .. } => (number, 3),
    };
    let near_last = near(number, last.number);
    last.number = number;
    match *on {
        Dependency::Sends(_) | Dependency::Takes(_) => to.put(&[which, near_last]),
        Dependency::Meets { member, .. } => to.put(&[which, near_last, member.into()]),
        Dependency::Arrives(Arrival { kind, is_root, members, depending, member, .. }) => {
            let kind = Collective::ALL.iter().position(|&of| of == kind).unwrap_or_default() as u64;
            let which = which | kind << STEP_BITS << 1 | u64::from(is_root) << STEP_BITS;
            to.put(&[which, near_last, members.into(), depending.into(), member.into()]);
        }
    }
}

/// The dependency that begins with the number `head`.
pub(super) fn read(head: u64, from: &mut NumbersReader<'_>, last: &mut Last) -> Option<Dependency> {
    let number = far(from.next()?, last.number);
    last.number = number;
    Some(match head & ((1 << STEP_BITS) - 1) {
        0 => Dependency::Sends(number),
        1 => Dependency::Takes(number),
        2 => Dependency::Arrives(Arrival {
            number,
            kind: *Collective::ALL.get((head >> STEP_BITS >> 1) as usize)?,
            is_root: head >> STEP_BITS & 1 == 1,
            members: from.next()? as u32,
            depending: from.next()? as u32,
            member: from.next()? as u32,
        }),
        _ => Dependency::Meets { number, member: from.next()? as u32 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back() {
        let mut steps = vec![
            Step::Call(Times { begin_ns: u64::MAX, end_ns: 3 }),
            Step::Depends(Dependency::Takes(u64::MAX)),
            Step::Call(Times { begin_ns: 5, end_ns: 5 }),
            Step::Depends(Dependency::Sends(0)),
            Step::Depends(Dependency::Meets { number: 1 << 40, member: u32::MAX }),
        ];
        for (at, kind) in Collective::ALL.into_iter().enumerate() {
            let (members, member) = (u32::MAX - at as u32, at as u32);
            let arrival = Arrival { number: 9, kind, is_root: at % 2 == 0, members, depending: 1, member };
            steps.push(Step::Depends(Dependency::Arrives(arrival)));
        }
        let stored = StoredSteps::of(steps.iter().copied(), &Spool::default());
        assert_eq!(stored.into_steps().collect::<Vec<_>>(), steps);
    }
}
