//! How a thread's record ends: by its last record, by its lane's header, or not at all.

use proust_log::layout::{LaneHeader, WAIT_PASSED};
use proust_log::operations::Operation;
use proust_log::records::{Event, Segments, ThreadEnd};
use proust_profile::SampleRow;

use super::{RawSamples, ThreadMeter};
use crate::events::{Bounds, target_head};
use crate::thread::shares::Shares;
use crate::thread::{Closing, LOST, NOT_RECORDED, Thread};

impl ThreadMeter<'_> {
    /// The thread's last record.
    pub(crate) fn end(mut self, end: &ThreadEnd, gap: bool) -> Thread {
        if self.thread.tid == 0 {
            self.thread.tid = end.tid;
        }
        let advance = self.advance(end.time_ns, end.cpu_ns);
        let unrecorded = end.unrecorded_cpu_ns.min(advance);
        let mut shares = Shares {
            user_us: end.user_us.into(),
            system_us: end.system_us.into(),
            own_ns: end.own_ns.saturating_sub(self.sampled_own_ns),
        };
        let tail = advance - unrecorded;
        if unrecorded > 0 {
            let row = shares.row(unrecorded);
            self.push_extra(row, NOT_RECORDED, self.before_now(tail));
        }
        let row = SampleRow {
            minor_faults: end.minor_faults,
            major_faults: end.major_faults,
            voluntary_switches: end.voluntary_switches,
            involuntary_switches: end.involuntary_switches,
            ..shares.row(tail)
        };
        self.push_tail(row, gap);
        self.thread.named_at_end = end.closed_by_other == 0;
        self.thread.overruns = end.overruns;
        self.thread.unrecorded_samples = end.unrecorded_samples;
        self.finish(Closing::Complete)
    }

    /// The thread never wrote a last record: its lane's header is used in its place.
    pub(crate) fn close(mut self, header: &LaneHeader, gap: bool) -> Thread {
        self.thread.tid = header.tid;
        let mut shares =
            Shares { own_ns: header.own_ns.saturating_sub(self.sampled_own_ns), ..Shares::default() };
        let closed = header.final_ns != 0;
        if !closed {
            self.tail_of_events(&mut shares);
        }
        // A record can be complete while the header still speaks of the one before.
        if header.last_ns >= self.time_ns && header.last_cpu_ns > self.cpu_ns {
            let advance = self.advance(header.last_ns, header.last_cpu_ns);
            let unrecorded = header.unrecorded_cpu_ns.min(advance);
            // The header counts recorded ones, too: those missing here were lost.
            if advance > unrecorded {
                let row = shares.row(advance - unrecorded);
                self.push_extra(row, LOST, self.before_now(unrecorded));
            }
            if unrecorded > 0 {
                let row = shares.row(unrecorded);
                self.push_extra(row, NOT_RECORDED, self.time_ns);
            }
        }
        if closed {
            let row = {
                let advance = self.advance(header.final_ns, header.final_cpu_ns);
                shares.row(advance)
            };
            self.push_tail(row, gap && header.last_cpu_ns == 0);
        }
        self.thread.overruns = header.overruns;
        self.thread.unrecorded_samples = header.unrecorded_samples;
        let bounds = self.bounds();
        if header.wait_operation & WAIT_PASSED == 0 {
            let end_ns = self.thread.end_ns.max(self.events.end_ns());
            self.open_operation(header, end_ns, &bounds);
        } else {
            self.passed_operation(header, &bounds);
        }
        self.finish(if closed { Closing::Complete } else { Closing::LastSeen })
    }

    /// The operation that was over, and would have been recorded next.
    fn passed_operation(&mut self, header: &LaneHeader, bounds: &Bounds) {
        let begin_ns = header.wait_since_ns;
        // Killed between the record and the word that says so.
        if begin_ns < self.events.end_ns() {
            return;
        }
        let operation = (header.wait_operation & !WAIT_PASSED).try_into().unwrap_or(0);
        let event = Event {
            begin_ns,
            end_ns: begin_ns.saturating_add(header.wait_passed_ns.into()),
            object: header.wait_object,
            node: self.open_place.unwrap_or(header.wait_node),
            ..Event::default()
        };
        self.events.event(operation, target_head(header), &event, bounds);
        self.thread.end_ns = self.thread.end_ns.max(self.events.end_ns());
    }

    /// Its unfinished operation. At a region's end it waits for the others only until the opener continues.
    fn open_operation(&mut self, header: &LaneHeader, end_ns: u64, bounds: &Bounds) {
        let place = self.open_place.unwrap_or(header.wait_node);
        let (begin_ns, released_ns) = (header.wait_since_ns, header.wait_released_ns);
        let waits = header.wait_operation == Operation::OmpRegionEnd as u32;
        if waits && begin_ns != 0 && (begin_ns..=end_ns).contains(&released_ns) {
            let object = header.wait_object;
            let event = Event { begin_ns, end_ns: released_ns, object, node: place, ..Event::default() };
            self.events.event(Operation::OmpRegionEnd as u16, 0, &event, bounds);
            let segments = Segments {
                wait_ns: released_ns - begin_ns,
                latency_ns: header.wait_latency_ns.min(released_ns - begin_ns),
                region: header.region,
                ..Segments::default()
            };
            if let Some(place) = self.region_end.filter(|_| header.region != 0) {
                self.segments(Operation::OmpRegionEnd as u16, place, &segments);
            }
            let idle = LaneHeader {
                wait_operation: Operation::OmpIdle as u32,
                wait_since_ns: released_ns,
                wait_object: 0,
                ..*header
            };
            self.events.open(&idle, end_ns, bounds);
        } else {
            self.events.open(&LaneHeader { wait_node: place, ..*header }, end_ns, bounds);
        }
    }

    /// Nothing is known of the thread's end.
    pub(crate) fn abandon(mut self) -> Thread {
        self.tail_of_events(&mut Shares::default());
        self.finish(Closing::Lost)
    }

    /// Of a thread that never wrote a last record, operations may have read the CPU clock after the last
    /// sample did.
    fn tail_of_events(&mut self, shares: &mut Shares) {
        let Some(clock) = self.events.last_clock() else { return };
        if clock.time_ns >= self.time_ns && clock.cpu_ns > self.cpu_ns {
            let advance = self.advance(clock.time_ns, clock.cpu_ns);
            let row = shares.row(advance);
            self.push_tail(row, false);
        }
    }

    fn before_now(&self, duration_ns: u64) -> u64 {
        self.time_ns.saturating_sub(duration_ns).max(self.thread.begin_ns)
    }

    fn push_tail(&mut self, row: SampleRow, gap: bool) {
        if row == SampleRow::default() {
            return;
        }
        let place = if gap && row.cpu_ns > 0 { LOST } else { self.place };
        let row = SampleRow {
            partial: self.place_is_partial && place != LOST,
            in_operation: self.place_is_operation && place != LOST,
            ..row
        };
        self.push_extra(row, place, self.time_ns);
    }

    fn finish(mut self, closing: Closing) -> Thread {
        self.thread.closing = closing;
        // Sums are not in order of their ends; the newest of all is behind none of them.
        self.thread.events = self.events.finish();
        let newest_ns = self.thread.events.rows.end_ns();
        self.thread.end_ns = self.thread.end_ns.max(newest_ns).max(self.releases.last_ns());
        self.thread.releases = self.releases.finish();
        self.thread.begin_cpu_ns = self.begin_cpu_ns;
        self.thread.clock_ns = self.cpu_ns.saturating_sub(self.begin_cpu_ns);
        self.thread.implausible += self.thread.events.implausible;
        // Clocks that went back, and time that the end says was lost before the newest sample.
        if !self.rows.is_sorted_by_key(|row| row.time_ns) {
            self.rows.sort_by_key(|row| row.time_ns);
        }
        self.thread.rows = RawSamples::new(self.rows, self.limits.spool);
        self.thread
    }
}
