//! The gaps between the clock points of a location: how much wall time and how much processor time passed in
//! each.
//!
//! Clock points are the begin of a location, its rows of samples, the ends of its operations at which the CPU
//! clock was read, and its end.

use proust_profile::{EventRow, SampleRow};

/// The time between two neighbouring clock points. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) cpu_ns: u64,
    /// The row whose time this is a part of; behind the last row: the number of rows.
    pub(super) row: usize,
}

impl Gap {
    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// The gaps from `start_ns` to `end_ns`, in order, without holes. `rows` and `events` are those of one
/// location.
pub(super) fn gaps(
    start_ns: u64,
    end_ns: u64,
    rows: &[SampleRow],
    events: impl Iterator<Item = EventRow>,
) -> Vec<Gap> {
    let mut gaps = Gaps { gaps: Vec::with_capacity(rows.len() + 1), from_ns: start_ns, end_ns, owed_ns: 0 };
    let mut clocks = events.filter_map(|event| Some((event.end_ns, event.cpu_clock_ns?))).peekable();
    let mut cpu_ns = 0_u64;
    for (number, row) in rows.iter().enumerate() {
        let row_cpu_ns = cpu_ns.saturating_add(row.cpu_ns);
        // The clocks of operations divide a row's time; they never add to it.
        let mut before_ns = cpu_ns;
        while let Some((time_ns, clock_ns)) = clocks.next_if(|&(time_ns, _)| time_ns <= row.time_ns) {
            let clock_ns = clock_ns.clamp(before_ns, row_cpu_ns);
            gaps.push(time_ns, clock_ns - before_ns, number);
            before_ns = clock_ns;
        }
        gaps.push(row.time_ns, row_cpu_ns - before_ns, number);
        cpu_ns = row_cpu_ns;
    }
    gaps.push(end_ns, 0, rows.len());
    gaps.settle()
}

struct Gaps {
    gaps: Vec<Gap>,
    from_ns: u64,
    end_ns: u64,
    /// CPU time that found no place in its own gap: two clocks are never read at the same instant.
    owed_ns: u64,
}

impl Gaps {
    fn push(&mut self, time_ns: u64, cpu_ns: u64, row: usize) {
        let to_ns = time_ns.clamp(self.from_ns, self.end_ns);
        let owed_ns = self.owed_ns.saturating_add(cpu_ns);
        let cpu_ns = owed_ns.min(to_ns - self.from_ns);
        self.owed_ns = owed_ns - cpu_ns;
        if to_ns > self.from_ns {
            self.gaps.push(Gap { start_ns: self.from_ns, end_ns: to_ns, cpu_ns, row });
        }
        self.from_ns = to_ns;
    }

    /// What is still owed at the end was spent before: backwards, into the nearest room.
    fn settle(mut self) -> Vec<Gap> {
        for gap in self.gaps.iter_mut().rev() {
            if self.owed_ns == 0 {
                break;
            }
            let room_ns = (gap.length_ns() - gap.cpu_ns).min(self.owed_ns);
            gap.cpu_ns += room_ns;
            self.owed_ns -= room_ns;
        }
        self.gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_ns: u64, cpu_ns: u64) -> SampleRow {
        SampleRow { time_ns, cpu_ns, ..SampleRow::default() }
    }

    fn clock(end_ns: u64, cpu_clock_ns: u64) -> EventRow {
        EventRow { end_ns, cpu_clock_ns: Some(cpu_clock_ns), ..EventRow::default() }
    }

    fn all(end_ns: u64, rows: &[SampleRow], events: &[EventRow]) -> Vec<(u64, u64, usize)> {
        gaps(0, end_ns, rows, events.iter().copied())
            .iter()
            .map(|gap| (gap.length_ns(), gap.cpu_ns, gap.row))
            .collect()
    }

    #[test]
    fn clocks_of_operations_divide_the_time_between_samples() {
        let rows = [row(10, 8), row(30, 12)];
        let unclocked = EventRow { end_ns: 15, ..EventRow::default() };
        let events = [clock(4, 4), unclocked, clock(20, 9), clock(35, 25)];
        // After the last row no clock adds anything: the last 1 ns is what found no room before.
        let expected = [(4, 4, 0), (6, 4, 0), (10, 1, 1), (10, 10, 1), (10, 1, 2)];
        assert_eq!(all(40, &rows, &events), expected);
    }

    #[test]
    fn a_clock_that_contradicts_the_samples_gives_way() {
        assert_eq!(all(20, &[row(20, 10)], &[clock(5, 99)]), [(5, 5, 0), (15, 5, 0)]);
        assert_eq!(all(20, &[row(10, 5), row(20, 5)], &[clock(15, 0)]), [(10, 5, 0), (5, 0, 1), (5, 5, 1)]);
    }

    #[test]
    fn processor_time_without_room_goes_on_or_back() {
        assert_eq!(all(30, &[row(10, 12), row(30, 5)], &[]), [(10, 10, 0), (20, 7, 1)]);
        assert_eq!(all(30, &[row(20, 5), row(30, 12)], &[]), [(20, 7, 0), (10, 10, 1)]);
    }
}
