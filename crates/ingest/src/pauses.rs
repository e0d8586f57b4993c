//! Stretches in which recording was switched off: nothing of a thread is kept from there.
//!
//! A command to pause or to resume has its time, and the log has the value of each thread's CPU clock then
//! ([`Switched`]). For a process that noticed nothing, since it slept or was killed, the commands that
//! `record` kept are used; its threads' CPU time is then divided by time.

use std::collections::BTreeMap;

use proust_log::layout::Ending;
use proust_log::records::{Switched, SwitchedTo};
use proust_profile::{ContextId, EventRow, SampleRow, Spool};
use rustc_hash::FxHashMap;

use super::log::LogHarvest;
use super::raw_rows::{Raw, RawRows, RawRowsBuilder};
use super::thread::{NO_PATH, RawSamples, Thread, Weights};

/// No end: it lasted as long as anything is known of the process.
const NEVER: u64 = u64::MAX;

/// One stretch.
#[derive(Debug)]
struct Pause {
    from_ns: u64,
    to_ns: u64,
    /// CPU clocks at its begin and at its end, by thread; 0 = the process.
    cpu_from: FxHashMap<u32, u64>,
    cpu_to: FxHashMap<u32, u64>,
}

/// The content of one switch.
type Clocks = FxHashMap<u32, u64>;

/// Cuts the process's data at its pauses; `others` are stretches that the log may not know, by the log's
/// clock.
pub(super) fn cut(log: &mut LogHarvest, others: &[(u64, u64)], spool: &Spool) {
    let noted = log.lanes.iter().flat_map(|lane| &lane.switched).copied();
    let pauses = with_others(from_switches(noted), others, (log.start_ns(), log.end_ns()));
    if pauses.is_empty() {
        return;
    }
    log.paused_cpu_ns = process_cpu_ns(&pauses, log);
    log.paused = pauses.iter().map(|pause| (pause.from_ns, pause.to_ns.min(log.end_ns()))).collect();
    for thread in log.lanes.iter_mut().flat_map(|lane| &mut lane.threads) {
        cut_thread(thread, &pauses, spool);
    }
    log.weights = Weights::sum(log.threads().map(|thread| thread.weights));
}

/// The stretches recorded in a log, in order and without overlap.
fn from_switches(noted: impl Iterator<Item = (u16, Switched)>) -> Vec<Pause> {
    let mut switches: BTreeMap<(u64, u64, u16), Clocks> = BTreeMap::new();
    for (to, switched) in noted {
        let clocks = switches.entry((switched.time_ns, switched.noticed_ns, to)).or_default();
        clocks.insert(switched.tid, switched.cpu_ns);
    }
    let mut pauses: Vec<Pause> = Vec::new();
    for ((time_ns, _, to), clocks) in switches {
        let last = pauses.last_mut().filter(|pause| pause.to_ns == NEVER);
        match last {
            Some(pause) if to == SwitchedTo::On as u16 => {
                (pause.to_ns, pause.cpu_to) = (time_ns, clocks);
            }
            None if to == SwitchedTo::Off as u16 => {
                let cpu_to = FxHashMap::default();
                pauses.push(Pause { from_ns: time_ns, to_ns: NEVER, cpu_from: clocks, cpu_to });
            }
            _ => {}
        }
    }
    pauses
}

/// Adds the parts of `others` outside of them, within the life of the process.
fn with_others(mut pauses: Vec<Pause>, others: &[(u64, u64)], life: (u64, u64)) -> Vec<Pause> {
    for &(from_ns, to_ns) in others {
        let (mut from_ns, to_ns) = (from_ns.max(life.0), to_ns.min(life.1));
        for at in 0..=pauses.len() {
            let (next_from_ns, next_to_ns) =
                pauses.get(at).map_or((NEVER, NEVER), |pause| (pause.from_ns, pause.to_ns));
            let end_ns = to_ns.min(next_from_ns);
            if from_ns < end_ns {
                let (cpu_from, cpu_to) = Default::default();
                pauses.insert(at, Pause { from_ns, to_ns: end_ns, cpu_from, cpu_to });
                from_ns = end_ns;
            } else {
                from_ns = from_ns.max(next_to_ns);
            }
            if from_ns >= to_ns {
                break;
            }
        }
    }
    pauses.retain(|pause| pause.from_ns < pause.to_ns);
    pauses
}

/// The whole process's CPU time in its pauses, as far as its clock was read.
fn process_cpu_ns(pauses: &[Pause], log: &LogHarvest) -> u64 {
    let at_end = (log.ending() != Ending::Open).then_some(log.header.process_cpu_end_ns);
    let of_pause = |pause: &Pause| {
        let from_ns = *pause.cpu_from.get(&0)?;
        let to_ns = pause.cpu_to.get(&0).copied().or(at_end)?;
        Some(to_ns.saturating_sub(from_ns))
    };
    pauses.iter().filter_map(of_pause).sum()
}

/// A pause in the life of a thread. CPU times are those since its begin.
#[derive(Clone, Copy, Debug)]
struct Cut {
    from_ns: u64,
    to_ns: u64,
    cpu_from: Option<u64>,
    cpu_to: Option<u64>,
}

fn cut_thread(thread: &mut Thread, pauses: &[Pause], spool: &Spool) {
    let since_begin = |cpu_ns: &u64| cpu_ns.saturating_sub(thread.begin_cpu_ns);
    let cuts: Vec<Cut> = pauses
        .iter()
        .filter(|pause| pause.from_ns < thread.end_ns && pause.to_ns > thread.begin_ns)
        .map(|pause| Cut {
            from_ns: pause.from_ns.max(thread.begin_ns),
            to_ns: pause.to_ns,
            cpu_from: match pause.from_ns <= thread.begin_ns {
                true => Some(0),
                false => pause.cpu_from.get(&thread.tid).map(since_begin),
            },
            cpu_to: pause.cpu_to.get(&thread.tid).map(since_begin),
        })
        .collect();
    if cuts.is_empty() {
        return;
    }
    let (rows, left_out) = rows(&thread.rows.to_vec(), thread.begin_ns, &cuts);
    thread.samples = rows.iter().filter(|row| !row.tail).count() as u64;
    thread.clock_ns = thread.clock_ns.saturating_sub(left_out.iter().map(|out| out.cpu_ns).sum());
    thread.weights = Weights::of(&rows);
    thread.rows = RawSamples::new(rows, spool);
    thread.events.rows = events(thread.events.rows.iter(), &cuts, &left_out, spool);
    let stretches: Vec<(u64, u64)> = cuts.iter().map(|cut| (cut.from_ns, cut.to_ns)).collect();
    thread.executed.cut(&stretches);
    let is_in_pause = |begin_ns: u64, end_ns: u64| {
        stretches.iter().any(|&(from_ns, to_ns)| from_ns <= begin_ns && end_ns <= to_ns)
    };
    thread.events.inside.retain(|row| !is_in_pause(row.begin_ns, row.end_ns));
    let is_kept = |time_ns: u64| !cuts.iter().any(|cut| (cut.from_ns..cut.to_ns).contains(&time_ns));
    thread.releases = thread.releases.filtered(spool, |release| is_kept(release.time_ns));
    thread
        .in_regions
        .stays
        .retain(|stay| !cuts.iter().any(|cut| cut.from_ns <= stay.begin_ns && stay.end_ns <= cut.to_ns));
}

/// CPU time that a thread used in a pause, from `before_ns` of its clock on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeftOut {
    before_ns: u64,
    cpu_ns: u64,
}

/// The rows of a thread without the CPU time in pauses, and that time, for each pause. CPU time before a
/// pause and after the last sample is charged to that sample's place.
fn rows(rows: &[SampleRow], begin_ns: u64, cuts: &[Cut]) -> (Vec<SampleRow>, Vec<LeftOut>) {
    let mut kept = Vec::with_capacity(rows.len() + cuts.len());
    let mut left_out = vec![LeftOut { before_ns: 0, cpu_ns: 0 }; cuts.len()];
    let (mut time_ns, mut cpu_ns) = (begin_ns, 0_u64);
    let mut place = (NO_PATH, false);
    let mut cut_at = 0;
    for row in rows {
        let end_cpu_ns = cpu_ns + row.cpu_ns;
        let length_ns = row.time_ns.saturating_sub(time_ns);
        let (row_begin_ns, row_begin_cpu_ns) = (time_ns, cpu_ns);
        // Amounts without a reading are divided by time.
        let by_time = |at_ns: u64| {
            let part_ns = u128::from(at_ns.saturating_sub(row_begin_ns).min(length_ns));
            let share = u128::from(row.cpu_ns) * part_ns / u128::from(length_ns.max(1));
            row_begin_cpu_ns + share as u64
        };
        let mut is_kept = true;
        while let Some(cut) = cuts.get(cut_at).filter(|cut| cut.from_ns < row.time_ns) {
            if cut.from_ns >= time_ns {
                let from_cpu_ns =
                    cut.cpu_from.unwrap_or_else(|| by_time(cut.from_ns)).clamp(cpu_ns, end_cpu_ns);
                if from_cpu_ns > cpu_ns {
                    let before = part(row, from_cpu_ns - cpu_ns);
                    let (context, partial) = if place.0 == NO_PATH {
                        (row.context, row.partial)
                    } else {
                        (ContextId(place.0), place.1)
                    };
                    kept.push(SampleRow {
                        context,
                        time_ns: cut.from_ns,
                        processor: u16::MAX,
                        tail: true,
                        partial,
                        ..before
                    });
                }
                cpu_ns = from_cpu_ns;
                left_out[cut_at].before_ns = from_cpu_ns;
            }
            if cut.to_ns >= row.time_ns {
                left_out[cut_at].cpu_ns += end_cpu_ns - cpu_ns;
                is_kept = false;
                break;
            }
            let to_cpu_ns = cut.cpu_to.unwrap_or_else(|| by_time(cut.to_ns)).clamp(cpu_ns, end_cpu_ns);
            left_out[cut_at].cpu_ns += to_cpu_ns - cpu_ns;
            (time_ns, cpu_ns) = (cut.to_ns, to_cpu_ns);
            cut_at += 1;
        }
        if is_kept {
            let is_cut = cpu_ns != row_begin_cpu_ns || time_ns != row_begin_ns;
            let rest = part(row, end_cpu_ns - cpu_ns);
            // Switches were not counted from the pause on: the thread may have blocked.
            let voluntary_switches =
                if is_cut { row.voluntary_switches.max(1) } else { row.voluntary_switches };
            kept.push(SampleRow {
                cpu_ns: rest.cpu_ns,
                user_ns: rest.user_ns,
                system_ns: rest.system_ns,
                measurement_ns: rest.measurement_ns,
                voluntary_switches,
                ..*row
            });
            place = (row.context.0, row.partial);
        }
        (time_ns, cpu_ns) = (row.time_ns, end_cpu_ns);
    }
    (kept, left_out)
}

/// So much of a row's processor time, and of its parts.
fn part(row: &SampleRow, cpu_ns: u64) -> SampleRow {
    let share = |ns: u64| (u128::from(ns) * u128::from(cpu_ns) / u128::from(row.cpu_ns.max(1))) as u64;
    let system_ns = share(row.system_ns);
    SampleRow {
        cpu_ns,
        user_ns: cpu_ns - system_ns.min(cpu_ns),
        system_ns: system_ns.min(cpu_ns),
        measurement_ns: share(row.measurement_ns).min(cpu_ns),
        ..SampleRow::default()
    }
}

/// The operations of a thread without their parts in pauses. One that reaches over a pause is two, of which
/// the first one counts as the call.
fn events(
    events: impl Iterator<Item = Raw<EventRow>>,
    cuts: &[Cut],
    left_out: &[LeftOut],
    spool: &Spool,
) -> RawRows<EventRow> {
    let mut kept = RawRowsBuilder::new(spool);
    for event in events {
        let EventRow { begin_ns, end_ns, summed, .. } = event.row;
        let clock = event.row.cpu_clock_ns.map(|clock_ns| without(clock_ns, left_out));
        let pieces = outside(begin_ns, end_ns, cuts);
        let (Some(&first), Some(&last)) = (pieces.first(), pieces.last()) else { continue };
        if summed {
            // Only calls outside of pauses were added up.
            let time_ns = event.row.time_ns.min(last.1 - first.0);
            let row = EventRow { begin_ns: first.0, end_ns: last.1, time_ns, ..event.row };
            kept.push(Raw { row, ..event });
            continue;
        }
        for (number, &(from_ns, to_ns)) in pieces.iter().enumerate() {
            let is_last = number + 1 == pieces.len() && to_ns == end_ns;
            let mut row =
                EventRow { begin_ns: from_ns, end_ns: to_ns, time_ns: to_ns - from_ns, ..event.row };
            if number > 0 {
                (row.calls, row.errors, row.bytes) = (0, 0, 0);
            }
            row.cpu_clock_ns = clock.filter(|_| is_last);
            (row.left, row.open) = (row.left && is_last, row.open && is_last);
            kept.push(Raw { row, ..event });
        }
    }
    kept.finish()
}

/// A reading of a thread's CPU clock without its use in pauses until then.
fn without(clock_ns: u64, left_out: &[LeftOut]) -> u64 {
    let before = left_out.iter().map(|out| clock_ns.saturating_sub(out.before_ns).min(out.cpu_ns));
    clock_ns - before.sum::<u64>().min(clock_ns)
}

/// The parts of a stretch that lie outside of pauses; a reading of a clock has no length.
fn outside(begin_ns: u64, end_ns: u64, cuts: &[Cut]) -> Vec<(u64, u64)> {
    let mut pieces = Vec::new();
    let mut from_ns = begin_ns;
    for cut in cuts.iter().filter(|cut| cut.to_ns > begin_ns && cut.from_ns < end_ns) {
        if from_ns < cut.from_ns {
            pieces.push((from_ns, cut.from_ns));
        }
        from_ns = from_ns.max(cut.to_ns);
    }
    if from_ns < end_ns || begin_ns == end_ns && from_ns == begin_ns {
        pieces.push((from_ns, end_ns));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_ns: u64, cpu_ns: u64, context: u32) -> SampleRow {
        SampleRow { time_ns, cpu_ns, user_ns: cpu_ns, context: ContextId(context), ..SampleRow::default() }
    }

    fn cut_at(from_ns: u64, to_ns: u64, cpu_from: u64, cpu_to: u64) -> Cut {
        Cut { from_ns, to_ns, cpu_from: Some(cpu_from), cpu_to: Some(cpu_to) }
    }

    fn kept(all: &[SampleRow], cuts: &[Cut]) -> Vec<(u64, u64, u32, bool)> {
        let (kept, left_out) = rows(all, 0, cuts);
        let sum = |rows: &[SampleRow]| rows.iter().map(|row| row.cpu_ns).sum::<u64>();
        let out: u64 = left_out.iter().map(|out| out.cpu_ns).sum();
        assert_eq!(sum(&kept) + out, sum(all), "nothing is lost, and nothing is there twice");
        kept.iter().map(|row| (row.time_ns, row.cpu_ns, row.context.0, row.tail)).collect()
    }

    #[test]
    fn a_row_over_a_pause_is_what_lies_before_and_behind() {
        let all = [row(10, 8, 1), row(100, 60, 2), row(110, 10, 3)];
        let expected = [(10, 8, 1, false), (20, 7, 1, true), (100, 13, 2, false), (110, 10, 3, false)];
        assert_eq!(kept(&all, &[cut_at(20, 80, 15, 55)]), expected);
    }

    #[test]
    fn rows_in_a_pause_are_left_out() {
        let all = [row(10, 8, 1), row(30, 5, 2), row(50, 5, 3), row(90, 20, 4)];
        assert_eq!(
            kept(&all, &[cut_at(20, 70, 9, 25)]),
            [(10, 8, 1, false), (20, 1, 1, true), (90, 13, 4, false)]
        );
        // One that lasts until the end.
        let stopped = Cut { cpu_to: None, ..cut_at(20, NEVER, 9, 0) };
        assert_eq!(kept(&all, &[stopped]), [(10, 8, 1, false), (20, 1, 1, true)]);
    }

    #[test]
    fn a_thread_that_begins_in_a_pause_has_only_what_comes_behind() {
        assert_eq!(kept(&[row(40, 30, 1)], &[cut_at(0, 20, 0, 12)]), [(40, 18, 1, false)]);
    }

    #[test]
    fn clocks_that_nobody_read_are_divided_by_time_and_those_that_contradict_give_way() {
        let unread = Cut { from_ns: 50, to_ns: 75, cpu_from: None, cpu_to: None };
        assert_eq!(kept(&[row(100, 40, 1)], &[unread]), [(50, 20, 1, true), (100, 10, 1, false)]);
        assert_eq!(
            kept(&[row(100, 40, 1)], &[cut_at(50, 75, 900, 2)]),
            [(50, 40, 1, true), (100, 0, 1, false)]
        );
    }

    #[test]
    fn several_pauses_between_two_samples() {
        let cuts = [cut_at(10, 20, 5, 10), cut_at(30, 40, 15, 30)];
        let expected = [(10, 5, 1, true), (30, 5, 1, true), (50, 10, 1, false)];
        assert_eq!(kept(&[row(50, 40, 1)], &cuts), expected);
    }

    fn event(begin_ns: u64, end_ns: u64) -> Raw<EventRow> {
        let row = EventRow {
            begin_ns,
            end_ns,
            time_ns: end_ns - begin_ns,
            calls: 1,
            cpu_clock_ns: Some(end_ns / 2),
            ..EventRow::default()
        };
        Raw { row, partial: false }
    }

    #[test]
    fn an_operation_over_a_pause_is_two_and_one_call() {
        let cuts = [cut_at(20, 40, 10, 18)];
        let out = [LeftOut { before_ns: 10, cpu_ns: 8 }];
        let all = [event(0, 10), event(10, 60), event(60, 70)];
        let pieces = events(all.into_iter(), &cuts, &out, &Spool::default());
        let said: Vec<_> = pieces
            .iter()
            .map(|event| (event.row.begin_ns, event.row.end_ns, event.row.calls, event.row.cpu_clock_ns))
            .collect();
        let expected = [(0, 10, 1, Some(5)), (10, 20, 1, None), (40, 60, 0, Some(22)), (60, 70, 1, Some(27))];
        assert_eq!(said, expected);
        let inside = events([event(25, 30), event(38, 50)].into_iter(), &cuts, &out, &Spool::default());
        assert_eq!(inside.iter().map(|event| event.row.begin_ns).collect::<Vec<_>>(), [40]);
    }

    fn switched(to: SwitchedTo, time_ns: u64, tid: u32, cpu_ns: u64) -> (u16, Switched) {
        (to as u16, Switched { time_ns, cpu_ns, noticed_ns: time_ns + 1, tid, reserved: 0 })
    }

    #[test]
    fn switches_become_pauses_and_what_others_know_fills_in() {
        let noted = [
            switched(SwitchedTo::On, 40, 7, 9),
            switched(SwitchedTo::Off, 20, 7, 5),
            switched(SwitchedTo::Off, 20, 0, 6),
            switched(SwitchedTo::Off, 90, 0, 20),
        ];
        let pauses = from_switches(noted.into_iter());
        let times = |pauses: &[Pause]| pauses.iter().map(|p| (p.from_ns, p.to_ns)).collect::<Vec<_>>();
        assert_eq!(times(&pauses), [(20, 40), (90, NEVER)]);
        assert_eq!((pauses[0].cpu_from[&7], pauses[0].cpu_to[&7], pauses[0].cpu_from[&0]), (5, 9, 6));
        let all = with_others(pauses, &[(20, 40), (50, 60), (85, 95), (900, 950)], (10, 100));
        assert_eq!(times(&all), [(20, 40), (50, 60), (85, 90), (90, NEVER)]);
    }
}
