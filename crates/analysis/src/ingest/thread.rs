//! One thread's processor time, from the first record to the last.
//!
//! Every advance of the thread's CPU clock becomes a row, and only those: what is charged to contexts and
//! what is shown as the thread's CPU time are the same sum.

use proust_log::layout::LaneHeader;
use proust_log::operations::Operation;
use proust_log::records::{
    Event, Release, SAMPLE_IN_OPERATION, SAMPLE_PARTIAL, SAMPLE_TRUNCATED, Sample, Segments, Stay, Sum,
    ThreadBegin, ThreadEnd,
};
use proust_profile::SampleRow;

use super::events::{Bounds, Events, Finished};
use super::openmp::InRegions;
use super::releases::{RawRelease, Releases};

/// In a row's `context`, before contexts exist: a node's number, or one of the codes below.
pub(super) type Place = u32;
/// No node: a path of which nothing is known.
pub(super) const NO_PATH: Place = 0;
/// Time whose records were lost.
pub(super) const LOST: Place = u32::MAX;
/// Time whose samples found no room.
pub(super) const NOT_RECORDED: Place = u32::MAX - 1;

/// By how much a thread's CPU clock may run ahead of the time between two records: they are read one after
/// the other.
pub(super) const SLACK_NS: u64 = 2_000_000;

/// No run lasts longer, and no thread uses more CPU time: more is damage.
pub(super) const LONGEST_RUN_NS: u64 = 366 * 24 * 3600 * 1_000_000_000;

/// What the log says of all threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Later times are damage.
    pub(super) latest_ns: u64,
    /// The process ended in order, and some threads' last records found no room.
    pub(super) ends_without_room: bool,
}

/// How a thread's record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// By the thread, or for it at the end of the process.
    Complete,
    /// Killed, or still running: it ends where it was last seen.
    LastSeen,
    /// Its end was recorded and then lost.
    Lost,
}

/// CPU time of rows: in all, without records, without room, and of the collector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    pub(super) all_ns: u64,
    pub(super) lost_ns: u64,
    pub(super) unrecorded_ns: u64,
    pub(super) measurement_ns: u64,
}

impl Weights {
    #[inline]
    fn add(&mut self, row: &SampleRow) {
        self.all_ns += row.cpu_ns;
        self.measurement_ns += row.measurement_ns;
        match row.context {
            LOST => self.lost_ns += row.cpu_ns,
            NOT_RECORDED => self.unrecorded_ns += row.cpu_ns,
            _ => {}
        }
    }

    pub(super) fn sum(parts: impl Iterator<Item = Weights>) -> Weights {
        // A thread's sums are bounded, the number of threads with absurd ones is not.
        parts.fold(Weights::default(), |sum, part| Weights {
            all_ns: sum.all_ns.saturating_add(part.all_ns),
            lost_ns: sum.lost_ns.saturating_add(part.lost_ns),
            unrecorded_ns: sum.unrecorded_ns.saturating_add(part.unrecorded_ns),
            measurement_ns: sum.measurement_ns.saturating_add(part.measurement_ns),
        })
    }
}

/// What a thread did.
#[derive(Debug)]
pub(super) struct Thread {
    /// 0 = not known.
    pub(super) tid: u32,
    /// Found running: what it did before is not known.
    pub(super) found: bool,
    pub(super) name: Option<String>,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Its CPU clock at the end minus at the begin, whatever the rows say.
    pub(super) clock_ns: u64,
    /// Sorted by time; `context` holds a [`Place`].
    pub(super) rows: Vec<SampleRow>,
    /// Sums over the rows.
    pub(super) weights: Weights,
    /// Its intercepted operations.
    pub(super) events: Finished,
    /// What it let go, and whom it woke, sorted by time.
    pub(super) releases: Vec<RawRelease>,
    /// What it did in parallel regions.
    pub(super) in_regions: InRegions,
    pub(super) samples: u64,
    pub(super) partial: u64,
    pub(super) truncated: u64,
    pub(super) overruns: u64,
    pub(super) unrecorded_samples: u64,
    /// Records whose clocks contradict the thread's others.
    pub(super) implausible: u64,
    pub(super) closing: Closing,
    queued_before_ns: u64,
    queued_now_ns: u64,
}

impl Thread {
    /// Run-queue delay since its begin.
    pub(super) fn queued_ns(&self) -> u64 {
        self.queued_now_ns.saturating_sub(self.queued_before_ns)
    }

    pub(super) fn queued(&mut self, queued_ns: u64) {
        self.queued_now_ns = queued_ns;
    }

    /// The place of the operation that it was still in when its record ended.
    pub(super) fn open_place(&self) -> Option<Place> {
        self.events.rows.last().filter(|event| event.row.open).map(|event| event.row.context)
    }

    /// A thread that was never closed was in its open operation as long as anything is known of its process.
    pub(super) fn stay_until(&mut self, end_ns: u64) {
        if let Some(event) = self.events.rows.last_mut().filter(|event| event.row.open)
            && self.closing == Closing::LastSeen
        {
            event.row.end_ns = event.row.end_ns.max(end_ns);
            event.row.time_ns = event.row.end_ns - event.row.begin_ns;
            self.end_ns = self.end_ns.max(event.row.end_ns);
        }
    }
}

/// A thread while its records are read.
#[derive(Debug)]
pub(super) struct ThreadMeter {
    thread: Thread,
    limits: Limits,
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
    events: Events,
    releases: Releases,
    /// The place of what it was still in, as part of a region.
    open_place: Option<Place>,
    /// The place of that region itself.
    region_end: Option<Place>,
}

/// How much of an advance was spent in which mode, and in the collector.
#[derive(Clone, Copy, Default)]
struct Shares {
    user_us: u64,
    system_us: u64,
    own_ns: u64,
}

impl Shares {
    /// A row's times, scaled so that user and system time make up the weight.
    fn row(&mut self, weight: u64) -> SampleRow {
        let known = self.user_us + self.system_us;
        let system_ns = match known {
            0 => 0,
            _ => (u128::from(weight) * u128::from(self.system_us) / u128::from(known)) as u64,
        };
        let measurement_ns = self.own_ns.min(weight);
        self.own_ns -= measurement_ns;
        SampleRow {
            cpu_ns: weight,
            user_ns: weight - system_ns,
            system_ns,
            measurement_ns,
            ..SampleRow::default()
        }
    }
}

impl ThreadMeter {
    pub(super) fn begin(begin: &ThreadBegin, found: bool, limits: Limits) -> ThreadMeter {
        let mut meter = ThreadMeter::implied(begin.tid, begin.time_ns, begin.cpu_ns, limits);
        meter.place = begin.start_node;
        meter.thread.found = found;
        meter.thread.queued_before_ns = u64::from(begin.queued_us) * 1000;
        meter.thread.queued_now_ns = meter.thread.queued_before_ns;
        meter
    }

    /// A thread whose begin was lost.
    pub(super) fn implied(tid: u32, time_ns: u64, cpu_ns: u64, limits: Limits) -> ThreadMeter {
        let begin_ns = time_ns.min(limits.latest_ns);
        ThreadMeter {
            thread: Thread {
                tid,
                found: false,
                name: None,
                begin_ns,
                end_ns: begin_ns,
                clock_ns: 0,
                rows: Vec::new(),
                weights: Weights::default(),
                events: Finished::default(),
                releases: Vec::new(),
                in_regions: InRegions::default(),
                samples: 0,
                partial: 0,
                truncated: 0,
                overruns: 0,
                unrecorded_samples: 0,
                implausible: 0,
                closing: Closing::Lost,
                queued_before_ns: u64::MAX,
                queued_now_ns: 0,
            },
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
            events: Events::default(),
            releases: Releases::default(),
            open_place: None,
            region_end: None,
        }
    }

    /// A thread whose begin was lost, and whose first record is an operation: its CPU clock may not be known yet.
    pub(super) fn implied_by_operation(time_ns: u64, cpu_ns: Option<u64>, limits: Limits) -> ThreadMeter {
        let meter = ThreadMeter::implied(0, time_ns, cpu_ns.unwrap_or(0), limits);
        ThreadMeter { has_clock: cpu_ns.is_some(), ..meter }
    }

    /// A thread none of whose records found room: its header counts all of its samples as unrecorded.
    pub(super) fn of_header(header: &LaneHeader, limits: Limits) -> ThreadMeter {
        let used_ns = header.unrecorded_cpu_ns;
        let begin_ns = header.last_ns.saturating_sub(used_ns);
        ThreadMeter::implied(header.tid, begin_ns, header.last_cpu_ns.saturating_sub(used_ns), limits)
    }

    /// Whether this is, for all that is known, the thread `tid`.
    pub(super) fn may_be(&self, tid: u32) -> bool {
        self.thread.tid == tid || self.thread.tid == 0
    }

    /// Thread CPU clock at the newest record.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }

    /// Time of the newest record.
    pub(super) fn time_ns(&self) -> u64 {
        self.time_ns
    }

    pub(super) fn name(&mut self, name: &[u8]) {
        // A thread that ends may have lost its name already.
        if !name.is_empty() {
            self.thread.name = Some(String::from_utf8_lossy(name).into_owned());
        }
    }

    pub(super) fn queued(&mut self, queued_ns: u64) {
        self.thread.queued(queued_ns);
    }

    /// Goes on to a record's clocks; returns by how much the CPU clock advanced.
    ///
    /// A clock that goes back, or ahead of the time that passed, is damage that its check let through: the
    /// advance is clamped to what can be, and the next one is measured from here.
    #[inline]
    fn advance(&mut self, time_ns: u64, cpu_ns: u64) -> u64 {
        self.learn_clock(cpu_ns);
        let passed = time_ns.min(self.limits.latest_ns).saturating_sub(self.time_ns);
        let most = (passed.min(LONGEST_RUN_NS) / 64 * 65 + SLACK_NS).min(self.left_ns);
        let advance = cpu_ns.saturating_sub(self.cpu_ns);
        if time_ns < self.time_ns || cpu_ns < self.cpu_ns || time_ns > self.limits.latest_ns || advance > most
        {
            self.thread.implausible += 1;
        }
        self.time_ns = time_ns.clamp(self.thread.begin_ns, self.limits.latest_ns);
        self.cpu_ns = cpu_ns;
        self.thread.end_ns = self.thread.end_ns.max(self.time_ns);
        let believed = advance.min(most);
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

    fn bounds(&self) -> Bounds {
        Bounds {
            begin_ns: self.thread.begin_ns,
            begin_cpu_ns: self.begin_cpu_ns,
            latest_ns: self.limits.latest_ns,
            found: self.thread.found,
        }
    }

    /// An operation that was told alone. It takes no CPU time: that is the samples'.
    #[inline]
    pub(super) fn event(&mut self, operation: u16, head: u16, event: &Event) {
        if event.cpu_ns != 0 {
            self.learn_clock(event.cpu_ns);
        }
        let bounds = self.bounds();
        self.events.event(operation, head, event, &bounds);
    }

    /// Short operations.
    #[inline]
    pub(super) fn sum(&mut self, operation: u16, head: u16, sum: &Sum) {
        let bounds = self.bounds();
        self.events.sum(operation, head, sum, &bounds);
    }

    /// Something was let go, or somebody woken.
    #[inline]
    pub(super) fn release(&mut self, operation: u16, head: u16, release: &Release) {
        let bounds = self.bounds();
        let plausible = self.releases.release(operation, head, release, &bounds);
        self.thread.implausible += u64::from(!plausible);
    }

    /// The place of what it was still in when its record ended, as part of the region around it, and that of this region.
    pub(super) fn waits_in_region(&mut self, place: Place, of_region: Place) {
        (self.open_place, self.region_end) = (Some(place), Some(of_region));
    }

    /// It was in a parallel region.
    pub(super) fn stay(&mut self, number: u16, team: u16, stay: &Stay) {
        let bounds = self.bounds();
        let plausible = self.thread.in_regions.stay(number, team, stay, &bounds);
        self.thread.implausible += u64::from(!plausible);
    }

    /// What it worked before a site of a region, and waited there.
    pub(super) fn segments(&mut self, operation: u16, place: Place, segments: &Segments) {
        let plausible = self.thread.in_regions.segments(operation, place, segments);
        self.thread.implausible += u64::from(!plausible);
    }

    #[inline]
    pub(super) fn sample(&mut self, flags: u16, sample: &Sample, gap: bool) {
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
        self.thread.overruns = self.thread.overruns.saturating_add(sample.overruns.into());
        self.push(SampleRow {
            context: sample.node,
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
        self.push(SampleRow { context: place, time_ns, processor: u16::MAX, tail: true, ..row });
    }

    #[inline]
    fn push(&mut self, mut row: SampleRow) {
        // A damaged record may name one of the codes as its node.
        if !row.tail && (row.context == LOST || row.context == NOT_RECORDED) {
            row.context = NO_PATH;
        }
        self.thread.weights.add(&row);
        self.thread.rows.push(row);
    }

    /// The thread's last record.
    pub(super) fn end(mut self, end: &ThreadEnd, gap: bool) -> Thread {
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
        self.thread.overruns = end.overruns;
        self.thread.unrecorded_samples = end.unrecorded_samples;
        self.finish(Closing::Complete)
    }

    /// The thread never wrote a last record: what its lane's header knows stands for it.
    pub(super) fn close(mut self, header: &LaneHeader, gap: bool) -> Thread {
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
            // The header counts what was recorded, too: what is not here was lost.
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
        let (bounds, end_ns) = (self.bounds(), self.thread.end_ns.max(self.events.end_ns()));
        self.open_operation(header, end_ns, &bounds);
        self.finish(if closed { Closing::Complete } else { Closing::LastSeen })
    }

    /// What it was still in. At a region's end it waits for the others only until who opened it goes on.
    fn open_operation(&mut self, header: &LaneHeader, end_ns: u64, bounds: &Bounds) {
        let place = self.open_place.unwrap_or(header.wait_node);
        let (begin_ns, released_ns) = (header.wait_since_ns, header.wait_released_ns);
        let waits = header.wait_operation == Operation::OmpRegionEnd as u32;
        if waits && begin_ns != 0 && (begin_ns..=end_ns).contains(&released_ns) {
            let event = Event { begin_ns, end_ns: released_ns, node: place, ..Event::default() };
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
                ..*header
            };
            self.events.open(&idle, end_ns, bounds);
        } else {
            self.events.open(&LaneHeader { wait_node: place, ..*header }, end_ns, bounds);
        }
    }

    /// Nothing is known of the thread's end.
    pub(super) fn abandon(mut self) -> Thread {
        self.tail_of_events(&mut Shares::default());
        self.finish(Closing::Lost)
    }

    /// Of a thread that never wrote a last record, operations may have read the CPU clock after the last sample did.
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
        let newest_ns = self.thread.events.rows.last().map_or(0, |event| event.row.end_ns);
        self.thread.end_ns = self.thread.end_ns.max(newest_ns).max(self.releases.last_ns());
        self.thread.releases = self.releases.finish();
        self.thread.clock_ns = self.cpu_ns.saturating_sub(self.begin_cpu_ns);
        self.thread.implausible += self.thread.events.implausible;
        if self.thread.implausible > 0 {
            self.thread.rows.sort_by_key(|row| row.time_ns);
        }
        self.thread.rows.shrink_to_fit();
        self.thread
    }
}
