//! A thread's record while it is read: its clocks advance from record to record, and each advance becomes a
//! row.

mod ending;

use std::ops::RangeInclusive;

use proust_log::layout::LaneHeader;
use proust_log::records::{
    Event, Execution, ExecutionSum, Inside, Release, SAMPLE_AT_TICK, SAMPLE_IN_OPERATION, SAMPLE_LATE,
    SAMPLE_PARTIAL, SAMPLE_TRUNCATED, Sample, Segments, Stay, Sum, ThreadBegin, Unmatched,
};
use proust_profile::samples::NOT_READ;
use proust_profile::{ContextId, SampleRow};

use super::shares::Shares;
use super::{
    Closing, LONGEST_RUN_NS, LOST, Limits, NO_PATH, NOT_RECORDED, Place, RawSamples, SLACK_NS, STALL_NS,
    Thread, Weights, goes_on,
};
use crate::events::{Bounds, Events, Finished};
use crate::executed::{Executed, RawInterval};
use crate::openmp::InRegions;
use crate::raw_rows::RawRows;
use crate::releases::Releases;

/// A thread while its records are read.
#[derive(Debug)]
pub(crate) struct ThreadMeter<'l> {
    thread: Thread,
    /// Its rows.
    rows: Vec<SampleRow>,
    limits: Limits<'l>,
    begin_cpu_ns: u64,
    /// Whether any CPU clock of it was read yet.
    has_clock: bool,
    time_ns: u64,
    cpu_ns: u64,
    /// How much more CPU time is believed; keeps all sums of a thread far from overflow.
    left_ns: u64,
    /// Where the tail is charged.
    place: Place,
    place_is_partial: bool,
    place_is_operation: bool,
    sampled_own_ns: u64,
    /// The part of the time in the run queue that is in rows.
    queued_in_rows_us: u64,
    events: Events,
    releases: Releases,
    /// The place of its unfinished operation, as part of a region.
    open_place: Option<Place>,
    /// The place of that region itself.
    region_end: Option<Place>,
}

impl<'l> ThreadMeter<'l> {
    pub(crate) fn begin(begin: &ThreadBegin, found: bool, limits: Limits<'l>) -> ThreadMeter<'l> {
        let mut meter = ThreadMeter::implied(begin.tid, begin.time_ns, begin.cpu_ns, limits);
        meter.place = begin.start_node;
        meter.thread.found = found;
        meter.thread.queued_before_ns = u64::from(begin.queued_us) * 1000;
        meter.thread.queued_now_ns = meter.thread.queued_before_ns;
        meter
    }

    /// A thread whose begin was lost.
    pub(crate) fn implied(tid: u32, time_ns: u64, cpu_ns: u64, limits: Limits<'l>) -> ThreadMeter<'l> {
        let begin_ns = time_ns.min(limits.latest_ns);
        ThreadMeter {
            thread: Thread {
                tid,
                found: false,
                name: None,
                processors: String::new(),
                named_at_end: false,
                begin_ns,
                end_ns: begin_ns,
                begin_cpu_ns: cpu_ns,
                clock_ns: 0,
                rows: RawSamples::default(),
                weights: Weights::default(),
                events: Finished::default(),
                releases: RawRows::default(),
                in_regions: InRegions::default(),
                executed: Executed::default(),
                samples: 0,
                partial: 0,
                truncated: 0,
                late: 0,
                at_tick: 0,
                overruns: 0,
                unrecorded_samples: 0,
                implausible: 0,
                closing: Closing::Lost,
                queued_before_ns: u64::MAX,
                queued_now_ns: 0,
            },
            rows: Vec::new(),
            limits,
            begin_cpu_ns: cpu_ns,
            has_clock: true,
            time_ns: begin_ns,
            cpu_ns,
            left_ns: LONGEST_RUN_NS,
            place: NO_PATH,
            place_is_partial: false,
            place_is_operation: false,
            sampled_own_ns: 0,
            queued_in_rows_us: 0,
            events: Events::new(limits.spool),
            releases: Releases::new(limits.spool),
            open_place: None,
            region_end: None,
        }
    }

    /// A thread whose begin was lost, and whose first record is an operation: its CPU clock may not be known
    /// yet.
    pub(crate) fn implied_by_operation(
        time_ns: u64,
        cpu_ns: Option<u64>,
        limits: Limits<'l>,
    ) -> ThreadMeter<'l> {
        let meter = ThreadMeter::implied(0, time_ns, cpu_ns.unwrap_or(0), limits);
        ThreadMeter { has_clock: cpu_ns.is_some(), ..meter }
    }

    /// A thread none of whose records found room: its header counts all of its samples as unrecorded.
    pub(crate) fn of_header(header: &LaneHeader, limits: Limits<'l>) -> ThreadMeter<'l> {
        let used_ns = header.unrecorded_cpu_ns;
        let begin_ns = header.last_ns.saturating_sub(used_ns);
        ThreadMeter::implied(header.tid, begin_ns, header.last_cpu_ns.saturating_sub(used_ns), limits)
    }

    /// Whether this is, for all that is known, the thread `tid`.
    pub(crate) fn may_be(&self, tid: u32) -> bool {
        self.thread.tid == tid || self.thread.tid == 0
    }

    /// Thread CPU clock at the newest record.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }

    /// Time of the newest record.
    pub(crate) fn time_ns(&self) -> u64 {
        self.time_ns
    }

    pub(crate) fn name(&mut self, name: &[u8]) {
        // A thread that ends may have lost its name already.
        if !name.is_empty() {
            self.thread.name = Some(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// The scheduler was asked at this time. It is asked behind a sample, whose row then says for how long
    /// the thread queued up to it.
    pub(crate) fn queued(&mut self, time_ns: u64, queued_ns: u64) {
        let is_known = self.thread.queued_before_ns != u64::MAX;
        self.thread.queued(queued_ns);
        let so_far_us = self.thread.queued_ns() / 1000;
        let row = self.rows.last_mut().filter(|row| !row.tail && row.time_ns == time_ns);
        if let Some(row) = row.filter(|row| is_known && row.queued_us == NOT_READ) {
            let more_us = so_far_us.saturating_sub(self.queued_in_rows_us);
            row.queued_us = u32::try_from(more_us).unwrap_or(NOT_READ - 1).min(NOT_READ - 1);
            self.queued_in_rows_us += u64::from(row.queued_us);
        }
    }

    /// Goes on to a record's clocks; returns by how much the CPU clock advanced.
    ///
    /// A clock that goes back, or ahead of the time that passed, is damage that its check let through: the
    /// advance is clamped to a possible one, and the next one is measured from here.
    #[inline]
    fn advance(&mut self, time_ns: u64, cpu_ns: u64) -> u64 {
        self.learn_clock(cpu_ns);
        let cpu_ns = goes_on(self.cpu_ns, cpu_ns);
        let passed = time_ns.min(self.limits.latest_ns).saturating_sub(self.time_ns);
        let most = |slack_ns: u64| (passed.min(LONGEST_RUN_NS) / 64 * 65 + slack_ns).min(self.left_ns);
        let advance = cpu_ns.saturating_sub(self.cpu_ns);
        let believed = if advance > most(STALL_NS) { most(SLACK_NS) } else { advance };
        if time_ns < self.time_ns
            || cpu_ns < self.cpu_ns
            || time_ns > self.limits.latest_ns
            || believed < advance
        {
            self.thread.implausible += 1;
        }
        self.time_ns = time_ns.clamp(self.thread.begin_ns, self.limits.latest_ns);
        self.cpu_ns = cpu_ns;
        self.thread.end_ns = self.thread.end_ns.max(self.time_ns);
        self.left_ns -= believed;
        believed
    }

    /// The first CPU clock that is read is where this thread's CPU time begins.
    #[inline]
    fn learn_clock(&mut self, cpu_ns: u64) {
        if !self.has_clock {
            (self.begin_cpu_ns, self.cpu_ns, self.has_clock) = (cpu_ns, cpu_ns, true);
        }
    }

    fn begin_to_latest(&self) -> RangeInclusive<u64> {
        let Bounds { begin_ns, latest_ns, .. } = self.bounds();
        begin_ns..=latest_ns
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            begin_ns: self.thread.begin_ns,
            begin_cpu_ns: self.begin_cpu_ns,
            latest_ns: self.limits.latest_ns,
            found: self.thread.found,
        }
    }

    /// An operation that was recorded by itself. It takes no CPU time: that is the samples'.
    #[inline]
    pub(crate) fn event(&mut self, operation: u16, head: u16, event: &Event) {
        if event.cpu_ns != 0 {
            self.learn_clock(event.cpu_ns);
        }
        let bounds = self.bounds();
        self.events.event(operation, head, event, &bounds);
    }

    /// Short operations.
    #[inline]
    pub(crate) fn sum(&mut self, operation: u16, head: u16, sum: &Sum) {
        let bounds = self.bounds();
        self.events.sum(operation, head, sum, &bounds);
    }

    /// Operations inside others.
    #[inline]
    pub(crate) fn inside(&mut self, operation: u16, outer: u16, inside: &Inside) {
        let bounds = self.bounds();
        self.events.inside(operation, outer, inside, &bounds);
    }

    /// A release or a wake.
    #[inline]
    pub(crate) fn release(&mut self, operation: u16, head: u16, release: &Release) {
        let bounds = self.bounds();
        let plausible = self.releases.release(operation, head, release, &bounds);
        self.thread.implausible += u64::from(!plausible);
    }

    /// The place of its unfinished operation when its record ended, as part of the region around it, and that
    /// of this region.
    pub(crate) fn waits_in_region(&mut self, place: Place, of_region: Place) {
        (self.open_place, self.region_end) = (Some(place), Some(of_region));
    }

    /// It was in a parallel region.
    pub(crate) fn stay(&mut self, number: u16, team: u16, stay: &Stay) {
        let bounds = self.bounds();
        let plausible = self.thread.in_regions.stay(number, team, stay, &bounds);
        self.thread.implausible += u64::from(!plausible);
    }

    /// It executed a marked interval.
    pub(crate) fn execution(&mut self, flags: u16, execution: &Execution) {
        let within = self.begin_to_latest();
        let plausible = self.thread.executed.execution(flags, execution, &within);
        self.thread.implausible += u64::from(!plausible);
    }

    /// It executed a marked interval very often.
    pub(crate) fn execution_sum(&mut self, sum: &ExecutionSum) {
        let within = self.begin_to_latest();
        let plausible = self.thread.executed.sum(sum, &within);
        self.thread.implausible += u64::from(!plausible);
    }

    /// It made marks that end nothing.
    pub(crate) fn unmatched(&mut self, unmatched: &Unmatched) {
        self.thread.executed.unmatched(unmatched);
    }

    /// The intervals that it was in when its record ended without a last record.
    pub(crate) fn in_intervals(&mut self, header: &LaneHeader, intervals: &[RawInterval]) {
        let within = self.begin_to_latest();
        self.thread.executed.open(header, intervals, &within);
    }

    /// Its work before a site of a region, and its wait there.
    pub(crate) fn segments(&mut self, operation: u16, place: Place, segments: &Segments) {
        let plausible = self.thread.in_regions.segments(operation, place, segments);
        self.thread.implausible += u64::from(!plausible);
    }

    #[inline]
    pub(crate) fn sample(&mut self, flags: u16, sample: &Sample, gap: bool) {
        let weight = self.advance(sample.time_ns, sample.cpu_ns);
        let mut shares = Shares {
            user_us: sample.user_us.into(),
            system_us: sample.system_us.into(),
            own_ns: sample.own_ns.into(),
        };
        self.sampled_own_ns = self.sampled_own_ns.saturating_add(shares.own_ns);
        let mut own = weight;
        if gap && weight > 0 {
            // The weight spans records that were lost: it is not this sample's.
            let row = shares.row(weight);
            self.push_extra(row, LOST, self.time_ns);
            own = 0;
        }
        self.place = sample.node;
        self.place_is_partial = flags & (SAMPLE_PARTIAL | SAMPLE_TRUNCATED) != 0;
        self.place_is_operation = flags & SAMPLE_IN_OPERATION != 0;
        self.thread.samples += 1;
        self.thread.partial += u64::from(self.place_is_partial);
        self.thread.truncated += u64::from(flags & SAMPLE_TRUNCATED != 0);
        self.thread.late += u64::from(flags & SAMPLE_LATE != 0);
        self.thread.at_tick += u64::from(flags & SAMPLE_AT_TICK != 0);
        self.thread.overruns = self.thread.overruns.saturating_add(sample.overruns.into());
        self.push(SampleRow {
            context: ContextId(sample.node),
            time_ns: self.time_ns,
            minor_faults: sample.minor_faults,
            major_faults: sample.major_faults.into(),
            voluntary_switches: sample.voluntary_switches.into(),
            involuntary_switches: sample.involuntary_switches.into(),
            processor: sample.processor,
            partial: self.place_is_partial,
            in_operation: self.place_is_operation,
            ..shares.row(own)
        });
    }

    /// A row of time without a sample.
    fn push_extra(&mut self, row: SampleRow, place: Place, time_ns: u64) {
        self.push(SampleRow { context: ContextId(place), time_ns, processor: u16::MAX, tail: true, ..row });
    }

    #[inline]
    fn push(&mut self, mut row: SampleRow) {
        // A damaged record may name one of the codes as its node.
        if !row.tail && (row.context == ContextId(LOST) || row.context == ContextId(NOT_RECORDED)) {
            row.context = ContextId(NO_PATH);
        }
        self.thread.weights.add(&row);
        self.rows.push(row);
    }
}
