//! The owner's part of a lane: one thread's clocks, contexts and log.

use proust_log::layout::{FileHeader, LaneHeader};
use proust_log::records::{
    self, Birth, Child, Note, NoteCode, Sample, SchedStat, Subject, Switched, SwitchedTo, ThreadBegin,
    ThreadEnd, ThreadOrigin,
};
use proust_log::writer::LaneWriter;

use super::lent::Lent;
use super::output::Output;
use super::usage::{Usage, scheduler_numbers};
use crate::openmp::Member;
use crate::openmp::regions::Regions;
use crate::openmp::settling;
use crate::openmp::sites::Sites;
use crate::openmp::tasks::Tasks;
use crate::operation::known_paths::KnownPaths;
use crate::operation::sums::Sums;
use crate::operation::threshold::{Limit, hook_ns};
use crate::path::memo::{Memo, State, Surroundings};
use crate::path::modules;
use crate::path::reference::Reference;
use crate::path::stack::{Given, OwnStack};
use crate::path::tree::{NodeId, Tree};
use crate::sample::allowance::Allowance;
use crate::{clock, control, life, logfile, raw, source};

/// Time off the processor since the scheduler's file was last read from which on it is read at a thread's
/// end; at its begin since its creation.
pub const WORTH_ASKING_NS: u64 = 200_000;

/// What a new thread shall run.
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
    /// Whether the log says of this lane that recording is off.
    is_marked_off: bool,
    /// Time in the collector since the newest record.
    pub own_ns: u64,
    /// Same, whole thread.
    pub own_total_ns: u64,
    /// Operations too short to be told alone.
    pub sums: Sums,
    /// From which length on they are.
    pub limit: Limit,
    /// What the thread is in of a parallel program.
    pub member: &'static Member,
    /// The parallel regions that it opened.
    pub regions: Regions,
    /// What it did in them.
    pub sites: Sites,
    /// The tasks that it is in.
    pub tasks: Tasks,
    /// From which length on its stays in them are told alone.
    pub stay_limit: Limit,
    /// Until when its operations are told, of those that are told alone.
    pub told_until_ns: u64,
    /// Merged timer expirations, whole thread.
    pub overruns: u64,
    /// What the thread's samples may take.
    pub allowance: Allowance,
    /// When the scheduler's numbers were last read.
    pub scheduler_read_ns: u64,
    /// Thread CPU clock at that time.
    scheduler_read_cpu_ns: u64,
    /// For the thread that this lane was claimed for.
    pub start: Start,
    /// Where a thread's start function hangs: for which place and modules, and the node.
    pub start_path: ((u64, u32), NodeId),
    /// The thread's name as last written; empty = not yet.
    pub name: [u8; 16],
    /// Checks paths in debug mode.
    pub reference: Option<Box<Reference>>,
    /// Images that vforked children loaded while this thread waited, to be told when it goes on.
    pub lent: Lent,
    /// Memory for the arguments and the environment of an exec.
    pub exec_memory: (*mut u8, usize),
}

/// So long the collector is at work at most times. What takes longer may have been interrupted, and is looked
/// at.
const SURELY_OWN_NS: u64 = 20_000;

/// Processor time of the calling thread since `begin_ns`, as far as it can be told cheaply. `switches` are
/// those before.
fn on_processor_since(begin_ns: u64, begin_cpu_ns: u64, switches: (u64, u64)) -> u64 {
    let elapsed_ns = clock::now_ns().saturating_sub(begin_ns);
    if elapsed_ns < SURELY_OWN_NS {
        elapsed_ns
    } else if begin_cpu_ns != 0 {
        elapsed_ns.min(clock::thread_cpu_ns().saturating_sub(begin_cpu_ns))
    } else if Usage::now().switches == switches {
        // It has not left the processor since its last sample.
        elapsed_ns
    } else {
        SURELY_OWN_NS
    }
}

impl Record {
    /// For a lane that writes through `writer`.
    pub fn new(writer: Option<LaneWriter>, member: &'static Member) -> Record {
        Record {
            output: Output::new(writer),
            tree: Tree::default(),
            memo: Memo::default(),
            own_stack: OwnStack::default(),
            usage: Usage::default(),
            switches: 0,
            is_marked_off: false,
            own_ns: 0,
            own_total_ns: 0,
            sums: Sums::default(),
            limit: Limit::default(),
            member,
            regions: Regions::default(),
            sites: Sites::default(),
            tasks: Tasks::default(),
            stay_limit: Limit::default(),
            told_until_ns: 0,
            overruns: 0,
            allowance: Allowance::default(),
            scheduler_read_ns: 0,
            scheduler_read_cpu_ns: 0,
            start: Start::default(),
            start_path: ((0, 0), 0),
            name: [0; 16],
            lent: Lent::default(),
            reference: None,
            exec_memory: (core::ptr::null_mut(), 0),
        }
    }

    /// What the thread used since the newest record, of which `usage` is the end; nothing if recording was
    /// switched off or on in between.
    pub fn take_used(&mut self, usage: Usage) -> Usage {
        let switches = control::switches();
        let before = if self.switches == switches { self.usage } else { usage };
        (self.usage, self.switches) = (usage, switches);
        usage.since(&before)
    }

    /// Notices that recording was switched off or on since: what the thread has summed up so far belongs to
    /// the time before.
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

    /// Adds to the time spent in the collector.
    pub fn spent(&mut self, ns: u64) {
        self.own_ns += ns;
        self.own_total_ns += ns;
        let total = self.own_total_ns;
        self.output.header(|header| header.own_ns = total);
    }

    /// Adds what the thread spent in the collector since `begin_ns`, of which only processor time counts: who
    /// loses the processor inside of a hook is displaced, and does not measure. `begin_cpu_ns` is its CPU
    /// clock near the begin; 0 = it was not read.
    pub fn spent_since(&mut self, begin_ns: u64, begin_cpu_ns: u64) {
        let own_ns = on_processor_since(begin_ns, begin_cpu_ns, self.usage.switches);
        self.spent(own_ns);
    }

    /// Tells the operations that were summed since the last time.
    pub fn tell_sums(&mut self) {
        settling::settle(self);
        self.sums.tell(&mut self.output);
        let calls = self.sums.take_calls();
        if calls > 0 {
            self.spent(calls * hook_ns());
        }
    }

    /// Makes the lane ready for a thread and writes its begin.
    pub fn begin(&mut self, begin: &ThreadBegin, origin: ThreadOrigin) {
        self.memo.forget();
        self.usage = Usage::default();
        self.switches = control::switches();
        self.is_marked_off = false;
        self.own_ns = 0;
        self.own_total_ns = 0;
        self.overruns = 0;
        self.allowance = Allowance::default();
        self.sums.forget();
        self.limit = Limit::default();
        self.sites.forget();
        self.tasks.forget();
        self.stay_limit = Limit::default();
        self.name = [0; 16];
        (self.scheduler_read_ns, self.scheduler_read_cpu_ns) = (begin.time_ns, begin.cpu_ns);
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

    /// As [`Record::path`], of a frame of the thread's own stack; notes it in `known` if it is whole.
    pub fn path_to_know(&mut self, leaf: State, process: u32, known: &KnownPaths) -> (NodeId, u16) {
        let (node, flags) = self.path(leaf, process);
        if flags == 0 && node != 0 {
            known.keep(&leaf, node, &self.memo);
        }
        (node, flags)
    }

    /// In debug mode: whether a path that is known is the one that is found.
    pub fn check_known(&mut self, leaf: State, process: u32, known: NodeId) {
        if self.path(leaf, process) != (known, 0) {
            logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.path_mismatches), 1);
        }
    }

    /// The node of the path that begins at `leaf`, and its sample flags.
    pub fn path(&mut self, leaf: State, process: u32) -> (NodeId, u16) {
        self.path_while(leaf, process, || true)
    }

    /// As [`Record::path`], of another thread, which may go on meanwhile: the path holds if `stands` says
    /// afterwards that it has not. Only then does the debug mode's comparison mean anything, which reads the
    /// stack a second time.
    pub fn path_while(&mut self, leaf: State, process: u32, stands: impl FnOnce() -> bool) -> (NodeId, u16) {
        use crate::path::memo::UpperEnd;
        let mut around = Surroundings { own_stack: self.own_stack, process, announce: &mut self.output };
        let generation = modules::generation();
        let path = self.memo.path(leaf, &mut self.tree, &mut around);
        if let Some(reference) = &mut self.reference
            && path.upper_end != UpperEnd::Truncated
        {
            let agrees = reference.agrees(leaf, path.node, &self.tree, &around)
                // A thread loaded or unloaded code meanwhile: the two saw different modules.
                || modules::generation() != generation;
            if stands() {
                let count = |pick: fn(&mut FileHeader) -> *mut u64| logfile::count(|h| field(h, pick), 1);
                count(|header| &raw mut header.paths_compared);
                if !agrees {
                    count(|header| &raw mut header.path_mismatches);
                }
            }
        }
        let flags = match path.upper_end {
            UpperEnd::Complete => 0,
            UpperEnd::Partial => records::SAMPLE_PARTIAL,
            UpperEnd::Truncated => records::SAMPLE_TRUNCATED,
        };
        (path.node, flags)
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

    /// Reads and writes the scheduler's numbers of the calling thread.
    pub fn push_scheduler(&mut self, now: u64, cpu_ns: u64) {
        self.push_scheduler_of(c"/proc/thread-self/schedstat", now, cpu_ns);
    }

    /// Whether the thread was off the processor for long enough since the scheduler's numbers were last read.
    pub fn is_worth_asking(&self, now: u64, cpu_ns: u64) -> bool {
        let wall_ns = now.saturating_sub(self.scheduler_read_ns);
        wall_ns.saturating_sub(cpu_ns.saturating_sub(self.scheduler_read_cpu_ns)) >= WORTH_ASKING_NS
    }

    /// Reads and writes the scheduler's numbers of this lane's thread, which are in that file.
    pub fn push_scheduler_of(&mut self, file: &core::ffi::CStr, now: u64, cpu_ns: u64) {
        (self.scheduler_read_ns, self.scheduler_read_cpu_ns) = (now, cpu_ns);
        if let Some((run_ns, queued_ns)) = scheduler_numbers(file) {
            self.output.push(0, 0, &SchedStat { time_ns: now, run_ns, queued_ns });
        }
    }

    /// Writes what vforked children became.
    pub fn tell_lent(&mut self) {
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
        // Reading the scheduler's file costs more than it can tell of a thread that hardly waited.
        if self.is_worth_asking(time_ns, cpu_ns) {
            self.push_scheduler(time_ns, cpu_ns);
        }
        self.push_name(tid);
        self.tell_lent();
        self.follow_switch();
        source::each(|source| source.settle(self));
        if self.limit.coarsest_ns > 0 {
            self.note(NoteCode::Coarsened, self.limit.coarsest_ns);
        }
        let usage = Usage::now();
        let delta = self.take_used(usage);
        let mut end = ThreadEnd {
            time_ns,
            cpu_ns,
            own_ns: self.own_total_ns,
            overruns: self.overruns,
            user_us: delta.user_us as u32,
            system_us: delta.system_us as u32,
            minor_faults: delta.faults.0 as u32,
            major_faults: delta.faults.1 as u32,
            voluntary_switches: delta.switches.0 as u32,
            involuntary_switches: delta.switches.1 as u32,
            tid,
            ..ThreadEnd::default()
        };
        let mut lost_cpu_ns = 0;
        self.output.header(|header| {
            end.unrecorded_samples = header.unrecorded_samples;
            end.unrecorded_cpu_ns = header.unrecorded_cpu_ns;
            lost_cpu_ns = header.unrecorded_cpu_ns + end.cpu_ns.saturating_sub(header.last_cpu_ns);
        });
        logfile::raise(|header| &raw mut header.peak_resident_kib, usage.peak_resident_kib);
        // Whoever reads the log must not take what is left in the header for a thread that is still there.
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

/// A field of a header by raw pointer.
fn field(header: *mut FileHeader, pick: impl FnOnce(&mut FileHeader) -> *mut u64) -> *mut u64 {
    // SAFETY: callers pass the mapped header of the log.
    pick(unsafe { &mut *header })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_off_the_processor_does_not_measure() {
        let (begin_ns, cpu_ns, before) = (clock::now_ns(), clock::thread_cpu_ns(), Usage::now().switches);
        std::thread::sleep(std::time::Duration::from_millis(40));
        assert!(clock::now_ns() - begin_ns >= 40_000_000);
        // By its CPU clock, where that was read; else since it has left its processor meanwhile.
        assert!(on_processor_since(begin_ns, cpu_ns, before) < 20_000_000);
        assert_eq!(on_processor_since(begin_ns, 0, before), SURELY_OWN_NS);
    }

    #[test]
    fn what_takes_long_on_the_processor_counts() {
        let (begin_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        while clock::thread_cpu_ns() - cpu_ns < 5_000_000 {}
        assert!(on_processor_since(begin_ns, cpu_ns, (0, 0)) >= 5_000_000);
        assert!(on_processor_since(begin_ns, 0, Usage::now().switches) >= 5_000_000);
        let now_ns = clock::now_ns();
        assert!(on_processor_since(now_ns, 0, (0, 0)) <= clock::now_ns() - now_ns + SURELY_OWN_NS);
    }
}
