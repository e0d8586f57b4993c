//! One lane, record by record: the acts of its threads, and its records about the process.

use proust_log::Record;
use proust_log::layout::LaneHeader;
use proust_log::reader::Lane;
use proust_log::records::{Module, NoteCode, ProcessSample, Subject, Switched, SwitchedTo, ThreadOrigin};

use super::executed::RawInterval;
use super::interpreted::Codes;
use super::mpi::MpiCalls;
use super::nodes::{NodeSet, NodeTable};
use super::openmp::{RawRegion, is_region_place};
use super::texts::Texts;
use super::thread::{Limits, NO_PATH, SLACK_NS, Thread, ThreadMeter};

/// A module as it was loaded in one process.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleLoad {
    pub(super) module: Module,
    /// Bytes of its build-id in use.
    pub(super) build_id_bytes: u16,
}

/// Everything of one lane; bounded by its threads, nodes and texts, but for the rows of its threads.
#[derive(Debug, Default)]
pub(super) struct LaneHarvest {
    pub(super) threads: Vec<Thread>,
    pub(super) nodes: NodeTable,
    /// Nodes that rows are charged to, each once (or more, around damage).
    pub(super) sampled: Vec<u32>,
    pub(super) modules: Vec<ModuleLoad>,
    pub(super) texts: Texts,
    /// Process ids of children that were started.
    pub(super) children: Vec<u32>,
    /// Parallel regions that its threads opened.
    pub(super) regions: Vec<RawRegion>,
    /// Marked intervals that its threads began.
    pub(super) intervals: Vec<RawInterval>,
    /// Calls of MPI.
    pub(super) mpi: MpiCalls,
    pub(super) notes: Vec<(NoteCode, u64)>,
    /// Samples of the whole process: why, what was asked, and what it said.
    pub(super) process_samples: Vec<(u16, u16, ProcessSample)>,
    /// Recording switched off and on, by the threads of this lane.
    pub(super) switched: Vec<(u16, Switched)>,
    /// Places at which records were lost.
    pub(super) gaps: u64,
    /// Bytes that did not read as records.
    pub(super) skipped_bytes: u64,
    /// Operations that found no room, and the time in them.
    pub(super) unrecorded_operations: u64,
    pub(super) unrecorded_operation_ns: u64,
    /// A thread that only the lane's header knows.
    pub(super) thread_without_records: Option<u32>,
}

/// Reads a lane to its end.
pub(super) fn harvest(lane: &Lane<'_>, limits: Limits<'_>, codes: &Codes) -> LaneHarvest {
    let mut reading = Reading {
        harvest: LaneHarvest::default(),
        codes: Texts::default(),
        seen: NodeSet::default(),
        current: None,
        gap: false,
        limits,
        is_off: false,
    };
    let mut records = lane.records();
    for record in records.by_ref() {
        reading.take(record);
    }
    reading.harvest.skipped_bytes = records.skipped_bytes();
    reading.harvest.mpi.finish();
    for text in reading.codes.of(Subject::Code) {
        if let Some(code) = codes.of(text.bytes()) {
            reading.harvest.nodes.add_interpreted(text.id, code);
        }
    }
    reading.finish(lane.header)
}

struct Reading<'l> {
    harvest: LaneHarvest,
    /// What interpreters execute, as it was written.
    codes: Texts,
    seen: NodeSet,
    current: Option<ThreadMeter<'l>>,
    /// Records were lost since the last timed record.
    gap: bool,
    limits: Limits<'l>,
    /// The sums of the lane's thread belong to a time in which recording was off.
    is_off: bool,
}

impl<'l> Reading<'l> {
    fn take(&mut self, record: Record<'_>) {
        match record {
            Record::Sample(flags, mut sample) => {
                self.sampled(sample.node);
                sample.node =
                    self.harvest.nodes.in_regions.place(sample.node, (sample.region, sample.interval), true);
                let gap = std::mem::take(&mut self.gap);
                let implied = match &self.current {
                    None => true,
                    // A thread's clock never goes back: behind the gap another thread has taken the lane.
                    Some(meter) => gap && sample.cpu_ns < meter.cpu_ns(),
                };
                if implied {
                    self.leave();
                    self.current = Some(ThreadMeter::implied(0, sample.time_ns, sample.cpu_ns, self.limits));
                }
                if let Some(meter) = &mut self.current {
                    meter.sample(flags, &sample, gap);
                }
            }
            Record::Node(node) => self.harvest.nodes.add(&node),
            Record::ThreadBegin(origin, begin) => {
                self.leave();
                (self.gap, self.is_off) = (false, false);
                let found = origin == ThreadOrigin::Found as u16;
                self.current = Some(ThreadMeter::begin(&begin, found, self.limits));
            }
            Record::ThreadEnd(end) => {
                let gap = std::mem::take(&mut self.gap);
                if gap && self.current.as_ref().is_some_and(|meter| !meter.may_be(end.tid)) {
                    self.leave();
                }
                let meter = self
                    .current
                    .take()
                    .unwrap_or_else(|| ThreadMeter::implied(end.tid, end.time_ns, end.cpu_ns, self.limits));
                self.add(meter.end(&end, gap));
            }
            Record::Event(operation, head, mut event) => {
                self.called(event.node);
                event.node =
                    self.harvest.nodes.in_regions.place(event.node, (event.region, event.interval), false);
                let begin_ns = event.begin_ns.min(event.end_ns);
                let meter = self.thread_of_operation(begin_ns, (event.cpu_ns != 0).then_some(event.cpu_ns));
                meter.event(operation, head, &event);
                let thread = self.harvest.threads.len();
                self.harvest.mpi.event((operation, head), &event, thread, self.limits.spool);
            }
            Record::Completed(first, count) => self.harvest.mpi.completed(first, count),
            Record::Received(slot, flags, received) => self.harvest.mpi.received(slot, flags, &received),
            Record::Communicator(flags, communicator) => {
                self.harvest.mpi.communicator(flags, communicator);
            }
            Record::ClockOffset(flags, offset) => self.harvest.mpi.clock_offset(flags, offset),
            Record::Sum(operation, head, mut sum) => {
                self.called(sum.node);
                sum.node = self.harvest.nodes.in_regions.place(sum.node, (sum.region, sum.interval), false);
                self.thread_of_operation(sum.since_ns.min(sum.until_ns), None).sum(operation, head, &sum);
            }
            Record::Inside(operation, outer, mut inside) => {
                self.called(inside.node);
                let within = (inside.region, inside.interval);
                inside.node = self.harvest.nodes.in_regions.place(inside.node, within, false);
                let since_ns = inside.since_ns.min(inside.until_ns);
                self.thread_of_operation(since_ns, None).inside(operation, outer, &inside);
            }
            Record::Region(origin, region) => {
                self.harvest.regions.push(RawRegion::new(origin, &region));
                self.called(region.node);
                self.called(region.body);
            }
            Record::Interval(kind, _, interval) => {
                self.harvest.intervals.push(RawInterval::new(kind, &interval));
                self.called(interval.node);
            }
            Record::Execution(flags, execution) => {
                self.thread_of_operation(execution.begin_ns, None).execution(flags, &execution);
            }
            Record::ExecutionSum(sum) => self.thread_of_operation(sum.since_ns, None).execution_sum(&sum),
            Record::Unmatched(unmatched) => {
                self.called(unmatched.node);
                self.thread_of_operation(unmatched.time_ns, None).unmatched(&unmatched);
            }
            Record::Stay(number, team, stay) => {
                let meter = self.thread_of_operation(stay.begin_ns, None);
                meter.stay(number, team, &stay);
            }
            Record::Segments(..) if self.is_off => {}
            Record::Segments(operation, segments) => {
                self.called(segments.node);
                let place = self.harvest.nodes.in_regions.place(
                    segments.node,
                    (segments.region, segments.interval),
                    false,
                );
                // When they were is no matter: they are of the lane's thread, or of none.
                if let Some(meter) = &mut self.current {
                    meter.segments(operation, place, &segments);
                }
            }
            Record::Release(operation, head, mut release) => {
                self.called(release.node);
                self.called(release.site);
                release.node = self.harvest.nodes.in_regions.place(
                    release.node,
                    (release.region, release.interval),
                    false,
                );
                self.thread_of_operation(release.time_ns, None).release(operation, head, &release);
            }
            Record::SchedStat(stat) => {
                if let Some(meter) = &mut self.current {
                    meter.queued(stat.time_ns, stat.queued_ns);
                } else if let Some(thread) = self.harvest.threads.last_mut() {
                    thread.queued(stat.queued_ns);
                }
            }
            Record::Module(build_id_bytes, module) => {
                self.harvest.modules.push(ModuleLoad { module, build_id_bytes });
            }
            Record::Text { subject, part, id, text } => self.text(subject, part, id, text),
            Record::Child(_, child) => self.harvest.children.push(child.pid),
            Record::Note(code, note) => {
                if let Some(code) = NoteCode::from_number(code) {
                    self.harvest.notes.push((code, note.value));
                }
            }
            Record::Switched(to, switched) => match SwitchedTo::from_number(to) {
                Some(SwitchedTo::LaneOff) => self.is_off = true,
                Some(SwitchedTo::LaneOn) => self.is_off = false,
                Some(SwitchedTo::Off | SwitchedTo::On) => self.harvest.switched.push((to, switched)),
                None => {}
            },
            Record::ProcessSample(reason, asked, sample) => {
                self.harvest.process_samples.push((reason, asked, sample));
            }
            Record::Gap => {
                self.gap = true;
                self.harvest.gaps += 1;
                self.harvest.mpi.lost();
            }
            // Nodes name a module by its number, which is not given twice: its end changes nothing here.
            _ => {}
        }
    }

    /// The thread that an operation is of. It takes no notice of lost records: the next sample's weight spans
    /// them.
    fn thread_of_operation(&mut self, begin_ns: u64, cpu_ns: Option<u64>) -> &mut ThreadMeter<'l> {
        let goes_back = |meter: &ThreadMeter<'_>| {
            cpu_ns.is_some_and(|cpu_ns| cpu_ns.saturating_add(SLACK_NS) < meter.cpu_ns())
        };
        if self.gap && self.current.as_ref().is_some_and(goes_back) {
            self.leave();
        }
        let (gap, limits) = (&mut self.gap, self.limits);
        self.current.get_or_insert_with(|| {
            // The lost records preceded this thread's first one.
            *gap = false;
            ThreadMeter::implied_by_operation(begin_ns, cpu_ns, limits)
        })
    }

    fn text(&mut self, subject: u16, part: u16, id: u32, text: &[u8]) {
        let Some(subject) = Subject::from_number(subject) else { return };
        match &mut self.current {
            _ if subject == Subject::Code => self.codes.add(subject, part, id, 0, text),
            Some(meter) if subject == Subject::ThreadName && meter.may_be(id) => meter.name(text),
            current => {
                let now = current.as_ref().map_or(0, ThreadMeter::time_ns);
                self.harvest.texts.add(subject, part, id, now, text);
            }
        }
    }

    /// The current thread's end was lost: it ends where it was last seen.
    fn leave(&mut self) {
        if let Some(meter) = self.current.take() {
            self.add(meter.abandon());
        }
    }

    fn add(&mut self, mut thread: Thread) {
        if thread.samples == 0 {
            // Its tail, if it has one, is charged to its start.
            thread.rows.to_vec().iter().for_each(|row| self.sampled(row.context.0));
        }
        if let Some(place) = thread.open_place() {
            self.called(place);
        }
        self.harvest.threads.push(thread);
    }

    /// A node that an operation is charged to.
    #[inline]
    fn called(&mut self, node: u32) {
        if node != NO_PATH {
            self.sampled(node);
        }
    }

    #[inline]
    fn sampled(&mut self, node: u32) {
        // The id of a place in a region was checked when the place was met.
        if is_region_place(node) {
            return;
        }
        if self.seen.insert(node, &self.harvest.nodes) {
            self.harvest.sampled.push(node);
        }
    }

    fn finish(mut self, header: Option<LaneHeader>) -> LaneHarvest {
        if let Some(header) = &header {
            self.harvest.unrecorded_operations = header.unrecorded_operations;
            self.harvest.unrecorded_operation_ns = header.unrecorded_operation_ns;
        }
        // Where ends found no room, a thread that the end of the process did not close is one of them, and
        // its time is among theirs.
        let counted_elsewhere = |header: &LaneHeader| self.limits.ends_without_room && header.final_ns == 0;
        let header = header.filter(|header| header.tid != 0 && !counted_elsewhere(header));
        match (self.current.take(), header) {
            (Some(mut meter), Some(header)) if meter.may_be(header.tid) => {
                let gap = self.gap;
                meter.in_intervals(&header, &self.harvest.intervals);
                if header.wait_operation != 0 {
                    self.called(header.wait_node);
                    let places = &mut self.harvest.nodes.in_regions;
                    let place = places.place(header.wait_node, (header.region, header.interval), false);
                    let of_region = places.place(NO_PATH, (header.region, header.interval), false);
                    meter.waits_in_region(place, of_region);
                }
                self.add(meter.close(&header, gap));
            }
            (meter, header) => {
                if let Some(meter) = meter {
                    self.add(meter.abandon());
                }
                if let Some(header) = header {
                    self.harvest.thread_without_records = Some(header.tid);
                    let limits = self.limits;
                    self.add(ThreadMeter::of_header(&header, limits).close(&header, false));
                }
            }
        }
        self.harvest
    }
}
