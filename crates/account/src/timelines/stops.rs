//! Processes that were stopped, by a signal or a tracer.
//!
//! No thread of a stopped process can continue, so its threads are passive for that reason, whatever they
//! were in: a thread that sleeps, or waits for a lock, while its process is stopped would not have gone on
//! either. Where it is only known that the process stopped somewhere (between two looks of the recorder),
//! that explains time that nothing else does.

use proust_profile::{ContextId, IndexVec, ProcessId, Profile, Stop};

use super::operations::{Operations, Single};
use super::states::Class;
use crate::ledger::{PassiveReason, Work};

/// The stops of each process image, in order and apart.
#[derive(Debug)]
pub(super) struct Stops(IndexVec<ProcessId, Vec<Stop>>);

impl Stops {
    pub(super) fn of(profile: &Profile) -> Stops {
        let of_image = |process: &proust_profile::Process| {
            if process.host != profile.facts.host {
                return Vec::new();
            }
            let (start_ns, end_ns) = (process.start.unsigned(), process.end.unsigned());
            let of_pid = profile.facts.stops.iter().filter(|stop| stop.pid == process.pid);
            in_order(of_pid.filter(|stop| stop.before_ns < end_ns && stop.behind_ns > start_ns).copied())
        };
        Stops(profile.processes.iter().map(of_image).collect())
    }

    pub(super) fn of_process(&self, process: ProcessId) -> &[Stop] {
        self.0.get(process).map_or(&[], Vec::as_slice)
    }
}

/// Stops by time, each with its instants in order, none reaching into the next: input from outside may be
/// anything.
fn in_order(stops: impl Iterator<Item = Stop>) -> Vec<Stop> {
    let mut stops: Vec<Stop> = stops.collect();
    stops.sort_by_key(|stop| stop.before_ns);
    let mut free_ns = 0;
    stops.retain_mut(|stop| {
        stop.before_ns = stop.before_ns.max(free_ns);
        stop.begin_ns = stop.begin_ns.max(stop.before_ns);
        stop.end_ns = stop.end_ns.max(stop.begin_ns);
        stop.behind_ns = stop.behind_ns.max(stop.end_ns);
        free_ns = stop.behind_ns;
        stop.before_ns < stop.behind_ns
    });
    stops
}

impl Operations {
    /// Takes the time in which the location was certainly stopped out of its operations, and notes when it
    /// may have been. The location lives from `start_ns` to `end_ns`; `context_at` is where it was between
    /// operations.
    pub(super) fn stop(
        &mut self,
        stops: &[Stop],
        (start_ns, end_ns): (u64, u64),
        context_at: impl Fn(u64) -> ContextId,
    ) {
        if stops.is_empty() {
            return;
        }
        let within = |from_ns: u64, to_ns: u64| (from_ns.max(start_ns), to_ns.min(end_ns));
        let mut pieces = Vec::with_capacity(stops.len());
        for stop in stops {
            let (begin_ns, to_ns) = within(stop.begin_ns, stop.end_ns);
            for (from_ns, to_ns) in
                [within(stop.before_ns, begin_ns), within(stop.end_ns.max(begin_ns), stop.behind_ns)]
            {
                if from_ns < to_ns {
                    self.perhaps_stopped.push((from_ns, to_ns));
                }
            }
            if begin_ns < to_ns {
                let inside = self.singles.iter().find(|single| single.end_ns > begin_ns);
                let inside = inside.filter(|single| single.start_ns <= begin_ns);
                pieces.push(Single {
                    start_ns: begin_ns,
                    end_ns: to_ns,
                    class: Class::Passive(PassiveReason::Stopped, Work::Compute),
                    context: inside.map_or_else(|| context_at(begin_ns), |single| single.context),
                    asleep_until_ns: to_ns,
                    queues: false,
                });
            }
        }
        self.replace(pieces);
    }

    /// For how much of a stretch the location may have been stopped, ns.
    pub(super) fn perhaps_stopped_ns(&self, start_ns: u64, end_ns: u64) -> u64 {
        let first = self.perhaps_stopped.partition_point(|&(_, to_ns)| to_ns <= start_ns);
        let from = self.perhaps_stopped[first..].iter().take_while(|(from_ns, _)| *from_ns < end_ns);
        from.map(|&(from_ns, to_ns)| to_ns.min(end_ns) - from_ns.max(start_ns)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Wait;

    fn stop(times: [u64; 4]) -> Stop {
        Stop { pid: 7, before_ns: times[0], begin_ns: times[1], end_ns: times[2], behind_ns: times[3] }
    }

    fn single(start_ns: u64, end_ns: u64) -> Single {
        let class = Class::Wait(Wait::Lock);
        Single { start_ns, end_ns, class, context: ContextId(3), asleep_until_ns: 0, queues: true }
    }

    fn stopped(singles: &[Single], stops: &[Stop]) -> (Vec<(u64, u64, bool, ContextId)>, Operations) {
        let mut operations = Operations { singles: singles.to_vec(), ..Operations::default() };
        operations.stop(stops, (100, 1000), |_| ContextId(9));
        let is_stop = |class| class == Class::Passive(PassiveReason::Stopped, Work::Compute);
        let pieces = operations.singles.iter();
        (pieces.map(|s| (s.start_ns, s.end_ns, is_stop(s.class), s.context)).collect(), operations)
    }

    #[test]
    fn a_stop_interrupts_what_the_thread_was_in() {
        let (pieces, operations) = stopped(&[single(200, 600)], &[stop([250, 300, 400, 450])]);
        assert_eq!(
            pieces,
            [
                (200, 300, false, ContextId(3)),
                (300, 400, true, ContextId(3)),
                (400, 600, false, ContextId(3))
            ]
        );
        assert_eq!(operations.perhaps_stopped, [(250, 300), (400, 450)]);
        assert_eq!(operations.perhaps_stopped_ns(280, 420), 40);
        assert_eq!(operations.perhaps_stopped_ns(300, 400), 0);
    }

    #[test]
    fn stops_lie_inside_the_life_of_a_thread_and_may_cover_whole_operations() {
        let (pieces, _) = stopped(
            &[single(200, 300), single(300, 350), single(900, 1000)],
            &[stop([0, 0, 120, 120]), stop([250, 250, 400, 400]), stop([990, 990, 2000, 2000])],
        );
        let expected = [
            (100, 120, true, ContextId(9)),
            (200, 250, false, ContextId(3)),
            (250, 400, true, ContextId(3)),
            (900, 990, false, ContextId(3)),
            (990, 1000, true, ContextId(3)),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn without_stops_nothing_changes() {
        assert_eq!(stopped(&[single(200, 600)], &[]).0, [(200, 600, false, ContextId(3))]);
    }

    #[test]
    fn stops_that_contradict_each_other_come_in_order() {
        let ordered = in_order([stop([500, 400, 300, 900]), stop([100, 200, 600, 650])].into_iter());
        assert_eq!(ordered, [stop([100, 200, 600, 650]), stop([650, 650, 650, 900])]);
    }
}
