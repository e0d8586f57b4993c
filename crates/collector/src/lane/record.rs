//! The owner's part of a lane: one thread's clocks, contexts and log.

use proust_log::layout::{FileHeader, LaneHeader};
use proust_log::records::{
    Birth, Child, Note, NoteCode, Sample, Subject, Switched, SwitchedTo, ThreadBegin, ThreadEnd, ThreadOrigin,
};
use proust_log::writer::LaneWriter;

use super::binding;
use super::lent::Lent;
use super::output::Output;
use super::own_time::OwnTime;
use super::paths::field;
use super::scheduler::Scheduler;
use super::usage::Usage;
use crate::openmp::{self, Member};
use crate::path::memo::Memo;
use crate::path::reference::Reference;
use crate::path::stack::{Given, OwnStack};
use crate::path::tree::{NodeId, Tree};
use crate::{clock, control, life, logfile, marks, mpi, operation, raw, sample, source};

/// The function that a new thread is to run.
#[derive(Clone, Copy, Default)]
pub struct Start {
    /// The program's start function.
    pub routine: usize,
    /// Its argument.
    pub argument: usize,
    /// Its stack.
    pub stack: Given,
    /// Kernel id of the creating thread.
    pub parent: u32,
    /// When it was asked to create this one.
    pub asked_ns: u64,
}

/// The owner's part of a lane.
pub struct Record {
    /// The log's end of the lane.
    pub output: Output,
    /// Contexts seen in this lane.
    pub tree: Tree,
    /// The last path.
    pub memo: Memo,
    /// The thread's stack, once it is known.
    pub own_stack: OwnStack,
    /// Use of resources at the newest record.
    pub usage: Usage,
    /// [`control::switches`] at that time.
    switches: u32,
    /// Whether the log has recorded that this lane is off.
    is_marked_off: bool,
    /// Time in the collector.
    pub own: OwnTime,
    /// The scheduler's numbers at their newest reading.
    pub scheduler: Scheduler,
    /// The thread's state of operations.
    pub operations: operation::Owned,
    /// The thread's state of parallel regions.
    pub parallel: openmp::Owned,
    /// The thread's state in calls of MPI.
    pub mpi: &'static mpi::Shared,
    /// The thread's state of marks.
    pub marks: marks::Owned,
    /// The thread's state of sampling.
    pub samples: sample::Owned,
    /// For the thread that this lane was claimed for.
    pub start: Start,
    /// Where a thread's start function hangs: for which place and modules, and the node.
    pub start_path: ((u64, u32), NodeId),
    /// The thread's name as last written; empty = not yet.
    pub name: [u8; 16],
    /// Checks paths in debug mode.
    pub reference: Option<Box<Reference>>,
    /// Images that vforked children loaded while this thread waited, to be written when it continues.
    pub lent: Lent,
    /// Memory for the arguments and the environment of an exec.
    pub exec_memory: (*mut u8, usize),
}

impl Record {
    /// For a lane that writes through `writer`.
    pub fn new(writer: Option<LaneWriter>, member: &'static Member, mpi: &'static mpi::Shared) -> Record {
        Record {
            output: Output::new(writer),
            tree: Tree::default(),
            memo: Memo::default(),
            own_stack: OwnStack::default(),
            usage: Usage::default(),
            switches: 0,
            is_marked_off: false,
            own: OwnTime::default(),
            scheduler: Scheduler::default(),
            operations: operation::Owned::default(),
            parallel: openmp::Owned::new(member),
            mpi,
            marks: marks::Owned::default(),
            samples: sample::Owned::default(),
            start: Start::default(),
            start_path: ((0, 0), 0),
            name: [0; 16],
            lent: Lent::default(),
            reference: None,
            exec_memory: (core::ptr::null_mut(), 0),
        }
    }

    /// The thread's use since the newest record, of which `usage` is the end; nothing if recording was
    /// switched off or on in between.
    pub fn take_used(&mut self, usage: Usage) -> Usage {
        let switches = control::switches();
        let before = if self.switches == switches { self.usage } else { usage };
        (self.usage, self.switches) = (usage, switches);
        usage.since(&before)
    }

    /// Notices that recording was switched off or on since: the thread's sums so far belong to the time
    /// before.
    pub fn follow_switch(&mut self) {
        let is_off = life::is_paused();
        if self.is_marked_off == is_off {
            return;
        }
        self.is_marked_off = is_off;
        source::each(|source| source.settle(self));
        let to = if is_off { SwitchedTo::LaneOff } else { SwitchedTo::LaneOn };
        self.output.push(to as u16, 0, &Switched { noticed_ns: clock::now_ns(), ..Switched::default() });
    }

    /// Makes the lane ready for a thread and writes its begin.
    pub fn begin(&mut self, begin: &ThreadBegin, origin: ThreadOrigin) {
        self.memo.forget();
        self.usage = Usage::default();
        self.switches = control::switches();
        self.is_marked_off = false;
        self.own = OwnTime::default();
        source::each(|source| source.record_begins(self));
        self.name = [0; 16];
        self.scheduler.begin(begin.time_ns, begin.cpu_ns);
        self.output.header(|header| {
            *header = LaneHeader {
                tid: begin.tid,
                last_ns: begin.time_ns,
                last_cpu_ns: begin.cpu_ns,
                ..LaneHeader::default()
            };
        });
        self.output.push(origin as u16, 0, begin);
    }

    /// Writes a sample, or counts it where there is no room.
    pub fn push_sample(&mut self, flags: u16, sample: &Sample) {
        let written = self.output.push(flags, 0, sample);
        self.output.header(|header| {
            if !written {
                header.unrecorded_samples += 1;
                header.unrecorded_cpu_ns += sample.cpu_ns.saturating_sub(header.last_cpu_ns);
            }
            header.last_ns = sample.time_ns;
            header.last_cpu_ns = sample.cpu_ns;
        });
    }

    /// Writes the calling thread's name, if it has changed since it was last written.
    pub fn push_name(&mut self, tid: u32) {
        let name = raw::thread_name();
        if name != self.name {
            self.name = name;
            let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
            self.output.push_text(Subject::ThreadName, tid, &name[..length]);
        }
    }

    /// Writes what vforked children became.
    pub fn write_lent(&mut self) {
        if self.lent.is_empty() {
            return;
        }
        let (lent, output) = (&mut self.lent, &mut self.output);
        for (pid, target) in lent.take() {
            let child = Child { time_ns: clock::now_ns(), pid, reserved: 0 };
            output.push(Birth::Fork as u16, 0, &child);
            output.push_text(Subject::ExecTarget, pid, target);
        }
    }

    /// Writes a note.
    pub fn note(&mut self, code: NoteCode, value: u64) {
        self.output.push(code as u16, 0, &Note { time_ns: clock::now_ns(), value });
    }

    /// Writes the end of the calling thread; where there is no room for it, its totals go to the log's first
    /// page.
    pub fn end(&mut self, tid: u32) {
        let time_ns = clock::now_ns();
        let cpu_ns = clock::thread_cpu_ns();
        // Reading the scheduler's file costs more than it yields for a thread that hardly waited.
        if self.is_worth_asking(time_ns, cpu_ns) {
            self.push_scheduler(time_ns, cpu_ns);
            binding::push(&mut self.output, tid);
        }
        self.push_name(tid);
        self.write_lent();
        self.follow_switch();
        source::each(|source| source.settle(self));
        let usage = Usage::now();
        let delta = self.take_used(usage);
        let mut end = ThreadEnd {
            time_ns,
            cpu_ns,
            own_ns: self.own.total_ns,
            user_us: delta.user_us as u32,
            system_us: delta.system_us as u32,
            minor_faults: delta.faults.0 as u32,
            major_faults: delta.faults.1 as u32,
            voluntary_switches: delta.switches.0 as u32,
            involuntary_switches: delta.switches.1 as u32,
            tid,
            ..ThreadEnd::default()
        };
        source::each(|source| source.record_ends(self, &mut end));
        let mut lost_cpu_ns = 0;
        self.output.header(|header| {
            end.unrecorded_samples = header.unrecorded_samples;
            end.unrecorded_cpu_ns = header.unrecorded_cpu_ns;
            lost_cpu_ns = header.unrecorded_cpu_ns + end.cpu_ns.saturating_sub(header.last_cpu_ns);
        });
        logfile::raise(|header| &raw mut header.peak_resident_kib, usage.peak_resident_kib);
        // A reader of the log must not take the fields left in the header for a thread that is still there.
        self.output.header(|header| header.tid = 0);
        if self.output.push_last(&end) {
            return;
        }
        logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.lost_thread_ends), 1);
        logfile::count(
            |header: *mut FileHeader| field(header, |h| &raw mut h.lost_thread_cpu_ns),
            lost_cpu_ns,
        );
    }
}
