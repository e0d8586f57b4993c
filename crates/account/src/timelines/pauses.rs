//! Stretches in which recording was off: a thread does nothing there that anybody knows of.
//!
//! They are laid over the timeline first, like operations that were recorded alone, so that no time which is
//! known only as an amount (short operations, the run queue, unexplained time) is placed in them.

use proust_profile::{ContextId, IndexVec, ProcessId, Profile};

use super::operations::{Operations, Single};
use super::states::Class;
use crate::ledger::{PassiveReason, Window, Windows, Work};

/// The pauses of each process image, in order and apart.
#[derive(Debug)]
pub(super) struct Pauses(IndexVec<ProcessId, Windows>);

impl Pauses {
    pub(super) fn of(profile: &Profile) -> Pauses {
        let mut all: IndexVec<ProcessId, Vec<Window>> =
            profile.processes.iter().map(|_| Vec::new()).collect();
        for pause in &profile.facts.pauses {
            if let Some(of_process) = all.get_mut(pause.process) {
                of_process.push(Window::new(pause.begin_ns, pause.end_ns));
            }
        }
        Pauses(all.into_iter().map(|windows| windows.into_iter().collect()).collect())
    }

    pub(super) fn of_process(&self, process: ProcessId) -> &[Window] {
        self.0.get(process).map_or(&[], Windows::as_slice)
    }
}

impl Operations {
    /// Takes the pauses out of the operations of a location, which lives from `start_ns` to `end_ns`.
    pub(super) fn pause(&mut self, pauses: &[Window], (start_ns, end_ns): (u64, u64)) {
        let within = pauses.iter().map(|pause| (pause.start_ns.max(start_ns), pause.end_ns.min(end_ns)));
        let pieces = within.filter(|(from_ns, to_ns)| from_ns < to_ns).map(|(from_ns, to_ns)| Single {
            start_ns: from_ns,
            end_ns: to_ns,
            class: Class::Passive(PassiveReason::NotRecorded, Work::Compute),
            context: ContextId(0),
            asleep_until_ns: to_ns,
            queues: false,
        });
        self.replace(pieces.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Wait;

    #[test]
    fn a_pause_takes_its_time_from_what_the_thread_was_in() {
        let wait = Single {
            start_ns: 100,
            end_ns: 500,
            class: Class::Wait(Wait::Lock),
            context: ContextId(3),
            asleep_until_ns: 0,
            queues: true,
        };
        let mut operations = Operations { singles: vec![wait], ..Operations::default() };
        operations.pause(&[Window::new(50, 80), Window::new(200, 300), Window::new(900, 5000)], (60, 1000));
        let is_off = |class| class == Class::Passive(PassiveReason::NotRecorded, Work::Compute);
        let pieces: Vec<_> =
            operations.singles.iter().map(|s| (s.start_ns, s.end_ns, is_off(s.class))).collect();
        let expected =
            [(60, 80, true), (100, 200, false), (200, 300, true), (300, 500, false), (900, 1000, true)];
        assert_eq!(pieces, expected);
    }
}
