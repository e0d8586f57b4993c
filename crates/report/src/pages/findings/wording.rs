//! The text of each kind of finding: what is wrong, and what to do.

use proust_findings::{Finding, Kind, Place};

use crate::pages::place;
use crate::shorten::middle;

/// The kind as a heading.
pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::LockAcrossIo => "lock held across I/O",
        Kind::LockAcrossSleep => "lock held while its holder sleeps",
        Kind::InterpreterLock => "an interpreter's lock",
        Kind::LibraryLock => "lock of a library",
        Kind::SlowLibrary => "slow implementation of a library",
        Kind::HotSection => "short critical section, entered constantly",
        Kind::Convoy => "convoy at a lock",
        Kind::LongSection => "long critical section",
        Kind::LockSpin => "spinning for a lock",
        Kind::SerialPhase => "serial phase",
        Kind::LongTask => "one long task at the end",
        Kind::IdlePool => "too few tasks",
        Kind::LateThread => "unbalanced phase",
        Kind::LateWork => "late in turn",
        Kind::WorkByTurns => "threads that take turns",
        Kind::SmallTasks => "tasks too small",
        Kind::BoundTogether => "threads bound to the same processors",
        Kind::Oversubscription => "more threads than processors",
        Kind::FirstTouch => "memory touched first by one thread",
        Kind::FaultStartup => "burst of page faults",
        Kind::FaultChurn => "memory given back and touched again",
        Kind::MemoryClearing => "much memory cleared",
        Kind::SystemStorm => "storm of system calls",
        Kind::SleepPoll => "polling by sleeping",
        Kind::SleepingWorker => "workers that sleep",
        Kind::SpinWait => "spin-waiting",
        Kind::BusyWait => "busy waiting",
        Kind::UnexplainedWait => "waits without a known cause",
        Kind::ThreadChurn => "short-lived threads",
        Kind::ProcessChurn => "short-lived processes",
        Kind::TinyIo => "I/O of a few bytes",
        Kind::FileChurn => "files opened again and again",
        Kind::SyncStorm => "files synchronised again and again",
        Kind::OmpDeepConstruct => "parallel construct too deep in the nest",
        Kind::OmpUnevenLoop => "static schedule over uneven work",
        Kind::OmpSmallChunks => "chunks too small",
        Kind::OmpHotCritical => "critical section in a hot loop",
        Kind::OmpNestedTeams => "teams inside teams",
        Kind::OmpSpinningWaits => "waits that occupy processors",
        Kind::OmpSleepingWaits => "waits that sleep briefly",
        Kind::OmpSerialPart => "serial part between parallel regions",
        Kind::OmpTeamOfOne => "loop or region with a team of one",
        Kind::OmpSmallTasks => "OpenMP tasks too small",
        Kind::MpiLateSender => "messages sent late",
        Kind::MpiLateReceiver => "messages received late",
        Kind::MpiImbalance => "unbalanced ranks",
        Kind::MpiSerialPhase => "serial phase of a rank",
        Kind::MpiSerialChain => "serial chain of ranks",
        Kind::MpiSmallMessages => "many small messages",
        Kind::MpiGroupableCollectives => "collectives that could be one",
        Kind::MpiWrongOrder => "messages taken in the wrong order",
        Kind::IntervalSequential => "sequential interval",
        Kind::IntervalNarrow => "interval with too little parallel work",
        Kind::IntervalUneven => "unbalanced interval",
        Kind::IntervalVaried => "interval whose operations end unevenly",
        Kind::IntervalCompensated => "interval of imbalances in turn",
        Kind::IntervalIo => "interval in which one processor does the I/O",
        Kind::IntervalOperations => "interval of communication",
    }
}

/// A place's function; where none has a name, whose it is.
pub(crate) fn who(place: &Place) -> String {
    /// Columns of a name in a sentence: template arguments can be thousands.
    const LONGEST: usize = 120;
    // What stands in brackets is no function: `[no call path]` cannot do anything.
    let function = place.function.as_ref().filter(|name| !(name.starts_with('[') && name.ends_with(']')));
    match (function, &place.thread, &place.process) {
        (Some(function), ..) => middle(function, LONGEST, false),
        (None, Some(thread), Some(process)) if thread != process => format!("thread {thread} of {process}"),
        (None, Some(thread), _) => format!("thread {thread}"),
        (None, None, Some(process)) => format!("process {process}"),
        (None, None, None) => "the program".into(),
    }
}

/// The ranks that others waited for.
fn ranks(finding: &Finding) -> String {
    let numbers: Vec<String> = finding.ranks.iter().map(u32::to_string).collect();
    match &numbers[..] {
        [] => "others".into(),
        [one] => format!("rank {one}"),
        [most @ .., last] => format!("ranks {} and {last}", most.join(", ")),
    }
}

/// The barrier at which threads wait.
fn barrier(finding: &Finding) -> String {
    let barrier = finding.victims.first().map(|victim| &victim.place);
    let at = barrier.and_then(|barrier| place(barrier.file.as_deref(), barrier.line));
    at.map_or_else(|| "a barrier".to_owned(), |at| format!("the barrier at {at}"))
}

/// One sentence about what happens.
pub(super) fn title(finding: &Finding) -> String {
    let who = &who(&finding.cause);
    let library = finding.library.as_deref().unwrap_or("a library");
    match finding.kind {
        Kind::LockAcrossIo => format!("Others wait for a lock that is held while {who} does I/O"),
        Kind::LockAcrossSleep => format!("Others wait for a lock that is held while {who} sleeps or waits"),
        Kind::InterpreterLock => {
            "Threads wait for the interpreter's lock, which lets one of them execute at a time".into()
        }
        Kind::LibraryLock => format!("Threads that call {library} wait for a lock of that library"),
        Kind::SlowLibrary => format!("{who} calls {library}, the reference implementation, which is slow"),
        Kind::HotSection => {
            format!("The short critical section in {who} is entered by several threads all the time")
        }
        Kind::Convoy => format!("Threads queue for the lock that {who} holds"),
        Kind::LongSection => format!("{who} holds a lock for long while others wait for it"),
        Kind::LockSpin => format!("Threads try again and again to get the lock that {who} holds"),
        Kind::SerialPhase => format!("{who} works alone while processors are empty"),
        Kind::LongTask => {
            format!("One thread goes on alone in {who} when the others have nothing left to do")
        }
        Kind::IdlePool => format!("Threads wait for work again and again while {who} works"),
        Kind::LateThread => {
            let barrier = barrier(finding);
            format!("All wait at {barrier} for one thread, which has more to do in {who}")
        }
        Kind::LateWork => {
            let barrier = barrier(finding);
            format!("Threads wait at {barrier} for one that is still in {who}, each time another one")
        }
        Kind::WorkByTurns => {
            format!("Threads wait for each other in turn, most of all in {who}, so that one works at a time")
        }
        Kind::SmallTasks => format!("Handing out tasks in {who} costs more than a task should"),
        Kind::BoundTogether => {
            format!("Threads of {who} are bound to fewer processors than they need, while others are empty")
        }
        Kind::Oversubscription => "More threads want to run than there are processors".into(),
        Kind::FirstTouch => format!("One thread touches in {who} the memory first that all use"),
        Kind::FaultStartup => format!("{who} touches much memory for the first time at once"),
        Kind::FaultChurn => {
            format!("{who} touches memory that was given back to the system, again and again")
        }
        Kind::MemoryClearing => format!("{who} spends much of the processor time on clearing memory"),
        Kind::SystemStorm => format!("{who} spends its time in system calls"),
        Kind::SleepPoll => format!("Everything stands still while {who} sleeps until its next check"),
        Kind::SleepingWorker => {
            format!("Threads sleep in {who} again and again, while others work and processors are empty")
        }
        Kind::SpinWait => format!("{who} waits by giving its processor away again and again"),
        Kind::BusyWait => format!("{who} only reads memory until another thread has written there"),
        Kind::UnexplainedWait => {
            format!("Threads wait, most of all in {who}, and no cause can be established")
        }
        Kind::ThreadChurn => format!("{who} creates threads that live only briefly"),
        Kind::ProcessChurn => format!("{who} starts processes that live only briefly"),
        Kind::TinyIo => format!("{who} moves a few bytes a call"),
        Kind::FileChurn => format!("{who} opens and closes files again and again"),
        Kind::SyncStorm => format!("{who} synchronises a file again and again"),
        Kind::OmpDeepConstruct => {
            format!("The construct in {who} is executed so often that waiting costs as much as its work")
        }
        Kind::OmpUnevenLoop => format!("Work in {who} is divided by count, and some threads get more of it"),
        Kind::OmpSmallChunks => format!("Threads ask for iterations in {who} more than they work on them"),
        Kind::OmpHotCritical => format!("All threads enter the critical section in {who} again and again"),
        Kind::OmpNestedTeams => {
            format!("The teams of {who}, opened inside another team, are more than the processors")
        }
        Kind::OmpSpinningWaits => {
            format!("Threads that wait in {who} occupy processors that other threads need")
        }
        Kind::OmpSleepingWaits => {
            format!("Threads that wait briefly in {who} go to sleep and have to be woken up")
        }
        Kind::OmpSerialPart => {
            format!(
                "One thread works in {who} between parallel regions, again and again, while its team waits"
            )
        }
        Kind::OmpTeamOfOne => {
            format!("What {who} is to share among a team is done by a team of one thread")
        }
        Kind::OmpSmallTasks => format!("Tasks of {who} take no longer than making them"),
        Kind::MpiLateSender => {
            format!("Ranks wait for messages of {}, delayed in {who} before sending", ranks(finding))
        }
        Kind::MpiLateReceiver => {
            format!("Ranks that send wait for {}, delayed in {who} before receiving", ranks(finding))
        }
        Kind::MpiImbalance => {
            format!("Ranks wait in a collective for {}, delayed in {who} before it", ranks(finding))
        }
        Kind::MpiSerialPhase => {
            format!("The other ranks wait while {} works alone in {who}", ranks(finding))
        }
        Kind::MpiSerialChain => {
            format!("Ranks work one after the other in {who}: each begins when the one before it has sent")
        }
        Kind::MpiSmallMessages => format!("{who} exchanges very many messages of a few bytes"),
        Kind::MpiGroupableCollectives => {
            format!("{who} calls the same collective again and again for a few bytes each")
        }
        Kind::MpiWrongOrder => {
            format!("{who} waits for {} while messages that it takes later are there", ranks(finding))
        }
        Kind::IntervalSequential => {
            format!("Interval {who} is the critical part: one processor works in it, or all do the same")
        }
        Kind::IntervalNarrow => {
            format!("Interval {who} is the critical part: it has too little parallel work for its processors")
        }
        Kind::IntervalUneven if finding.ranks.is_empty() => {
            format!("Interval {who} is the critical part: some processors have more to do in it than others")
        }
        Kind::IntervalUneven => {
            format!(
                "Interval {who} is the critical part: {} has more to do in it than others",
                ranks(finding)
            )
        }
        Kind::IntervalVaried => {
            format!("Interval {who} is the critical part: processors leave its operations at different times")
        }
        Kind::IntervalCompensated => {
            format!("Interval {who} is the critical part: its processors wait for one another in turn")
        }
        Kind::IntervalIo => {
            format!("Interval {who} is the critical part: one processor reads or writes for all")
        }
        Kind::IntervalOperations => {
            format!("Interval {who} is the critical part: it communicates for most of its lost time")
        }
    }
}

/// What to do about it.
pub(super) fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::LockAcrossIo => {
            "Prepare the data under the lock, let it go, and do the I/O afterwards; or give the I/O to a \
             thread of its own."
        }
        Kind::LockAcrossSleep => {
            "Let the lock go before sleeping or waiting; to wait for a change of what it guards, use a \
             condition variable."
        }
        Kind::InterpreterLock => {
            "Use processes in place of threads (multiprocessing, ProcessPoolExecutor), do the work in code \
             that releases the lock, or take a build of the interpreter without it."
        }
        Kind::LibraryLock => {
            "Let one thread call it, or use what has no state that all share: of OpenBLAS one thread for \
             each caller (OPENBLAS_NUM_THREADS=1, a build with USE_OPENMP=1); of the C library a generator \
             for each thread in place of rand, one conversion of times for many, memory that the same \
             thread frees."
        }
        Kind::SlowLibrary => {
            "Install an optimised implementation (OpenBLAS, BLIS, MKL): it has the same interface, so that \
             the program stays as it is (on Debian: libopenblas0, update-alternatives)."
        }
        Kind::HotSection => {
            "Let each thread collect on its own and join the results now and then; or split the lock, or \
             use an atomic."
        }
        Kind::Convoy => {
            "Do less under the lock, or split what it guards into parts with a lock each; fewer threads \
             would lose nothing."
        }
        Kind::LongSection => {
            "Move work that does not need the lock out of the section, or split what it guards."
        }
        Kind::LockSpin => {
            "Let threads block for the lock, or give them other work while it is taken; and hold it shorter."
        }
        Kind::SerialPhase => {
            "Divide this phase among the threads, overlap it with the parallel part, or make it shorter: \
             more processors do not help here."
        }
        Kind::LongTask => "Start the longest tasks first, or divide them, so that the threads end together.",
        Kind::IdlePool => {
            "Make more work available at once: produce it faster or ahead of time, in more and larger \
             portions."
        }
        Kind::LateThread => {
            "Divide the work between two barriers by what it costs, not by its count; or hand it out in \
             portions as threads come for more."
        }
        Kind::LateWork => {
            "Divide what one thread does there among all of them, or give the others something that does not \
             depend on it; where the pieces differ, hand out smaller ones."
        }
        Kind::WorkByTurns => {
            "Keep more than one piece of work under way: leave room for several items between the threads, \
             ask for the next one before the answer to the last is there, and wait only when all are started."
        }
        Kind::FileChurn => {
            "Keep a file open between uses, or do all that it is needed for while it is open; many small \
             files may be one."
        }
        Kind::ProcessChurn => {
            "Do in the process itself what these do, by a library or a function; or start a few that live on \
             and take one piece of work after the other."
        }
        Kind::SmallTasks => {
            "Make the tasks larger: hand out ranges or batches, so that each is worth a millisecond; and \
             wake one thread for each of them, not all."
        }
        Kind::BoundTogether => {
            "Bind each thread to a processor of its own, or none of them: see pthread_setaffinity_np and \
             sched_setaffinity, OMP_PROC_BIND and OMP_PLACES, and how ranks and their threads share the \
             processors."
        }
        Kind::Oversubscription => {
            "Start as many threads as there are processors: the same work takes no longer, with less \
             memory and fewer switches."
        }
        Kind::FirstTouch => {
            "Let each thread touch first what it will use; on machines with several memory nodes it is \
             near it then, too."
        }
        Kind::FaultStartup => {
            "Take large pages for it (madvise MADV_HUGEPAGE), touch it in parallel, or touch only what is \
             needed."
        }
        Kind::FaultChurn => {
            "Keep the memory and use it again; or let the allocator keep it (M_TRIM_THRESHOLD and \
             M_MMAP_THRESHOLD of mallopt)."
        }
        Kind::MemoryClearing => "Clear only what was used, or use memory as it is where all is written.",
        Kind::SystemStorm => "Call the system less often: keep its answers, or ask for more with one call.",
        Kind::SleepPoll => {
            "Wait for the event itself: a condition variable, a semaphore, poll on a descriptor. Then \
             nothing waits for the end of a sleep."
        }
        Kind::SleepingWorker => {
            "If they look for work, wait for the event itself: a condition variable, a semaphore, poll. If a \
             rate is to be kept, or a lock to become free, let them do other work meanwhile, and hold no lock \
             in their sleep."
        }
        Kind::SpinWait => {
            "Block until it happens: a condition variable, a futex, a semaphore. The processor is free for \
             others then."
        }
        Kind::BusyWait => {
            "Find out which thread it waits for, and why that one is late. Where waits are long, or other \
             threads need the processor, look some thousand times and then block: a condition variable, a \
             semaphore, a barrier of the runtime's."
        }
        Kind::UnexplainedWait => {
            "Where others had no processor, measure again on a quiet machine, or with fewer threads; \
             otherwise compare what the threads did before they waited here."
        }
        Kind::ThreadChurn => "Start the threads once and give them work through a queue: a pool.",
        Kind::TinyIo => "Collect the bytes in a buffer and move some 64 KiB with one call.",
        Kind::SyncStorm => "Synchronise once for many changes, or leave it to a thread of its own.",
        Kind::OmpDeepConstruct => {
            "Join neighbouring loops, and leave out barriers that nobody needs (nowait); where a loop \
             further out has independent iterations, divide that one, so that each time there is more to do."
        }
        Kind::OmpUnevenLoop => {
            "Hand the iterations out as threads come for them (schedule(dynamic) or guided, in chunks of \
             some microseconds), or deal them out in turns (schedule(static, 1)); where there are hardly \
             more of them than threads, divide them further (collapse)."
        }
        Kind::OmpSmallChunks => {
            "Make the chunks larger, schedule(dynamic, N), so that each takes some microseconds; or use \
             guided, or static where iterations are alike."
        }
        Kind::OmpHotCritical => {
            "Let each thread sum up on its own: reduction, or a private variable that is joined once at \
             the end; for a single number atomic is enough."
        }
        Kind::OmpNestedTeams => {
            "Give inner regions one thread (OMP_MAX_ACTIVE_LEVELS=1), or divide the processors between the \
             levels (OMP_NUM_THREADS=outer,inner)."
        }
        Kind::OmpSpinningWaits => {
            "Start fewer threads, so that each has a processor; or let waiting threads sleep: \
             OMP_WAIT_POLICY=passive."
        }
        Kind::OmpSleepingWaits => {
            "Let waiting threads look again for a while: OMP_WAIT_POLICY=active, or a longer \
             GOMP_SPINCOUNT or KMP_BLOCKTIME, if they have processors of their own."
        }
        Kind::OmpSerialPart => {
            "Divide its loops among the team as well, or do it while the others have work (single nowait, \
             a task): each time all of them wait for it."
        }
        Kind::OmpTeamOfOne => {
            "A loop: call it inside a parallel region, or write parallel for, since outside one thread does \
             it all. A region: look at its if and num_threads clauses, whose condition may be from a time \
             when there was less to do."
        }
        Kind::OmpSmallTasks => {
            "Put more work into each task: taskloop with a grainsize, if or final clauses, so that each \
             takes some microseconds."
        }
        Kind::MpiLateSender => {
            "Send as early as the data are ready, and work on what the receiver does not need afterwards; \
             give the late ranks less work, or let the receivers work on something else meanwhile \
             (MPI_Irecv, and MPI_Wait later)."
        }
        Kind::MpiLateReceiver => {
            "Start the receive earlier (MPI_Irecv before the work), or send without waiting for it \
             (MPI_Isend, and MPI_Wait later)."
        }
        Kind::MpiImbalance => {
            "Divide the work among the ranks by what it costs, not by its count; or do work that needs no \
             result of the collective meanwhile (MPI_Iallreduce, MPI_Ibarrier)."
        }
        Kind::MpiSerialPhase => {
            "Divide it among the ranks (each reads, prepares or writes its own part; MPI_File_read_all, \
             MPI_File_write_all), or let the others work on something else meanwhile (MPI_Ibcast, \
             MPI_Igather)."
        }
        Kind::MpiSerialChain => {
            "Divide what is handed on into smaller pieces, so that the next rank can begin earlier, or let \
             several chains run at once; or exchange with neighbours first and work on all ranks at once."
        }
        Kind::MpiSmallMessages => {
            "Collect what goes to the same rank, and send it as one message (an array, a derived datatype, \
             MPI_Pack)."
        }
        Kind::MpiGroupableCollectives => {
            "Collect the values of several calls in an array, and call the collective once for all of them, \
             where none depends on the result of another."
        }
        Kind::MpiWrongOrder => {
            "Take messages as they come: MPI_ANY_SOURCE, or MPI_Irecv for all of them and MPI_Waitany."
        }
        Kind::IntervalSequential => {
            "Look for a serial loop in it that does much, and divide it among the processors."
        }
        Kind::IntervalNarrow => {
            "Check the number of threads, the grid of processors, and how loops and data are distributed."
        }
        Kind::IntervalUneven => "Divide the work of its parallel loops by what it costs, not by its count.",
        Kind::IntervalVaried => {
            "Look at how its operations are carried out: the network, the placement of ranks, special roles \
             such as a processor for I/O."
        }
        Kind::IntervalCompensated => {
            "Mark its parts as intervals, and look at the load imbalance of each: over the whole they make \
             up for one another."
        }
        Kind::IntervalIo => {
            "Let all ranks read and write their own parts (MPI-IO), or less often, or while others compute."
        }
        Kind::IntervalOperations => {
            "Look at the row of the table of operations that has most of it: many small operations can be \
             grouped, and transfers be overlapped with work."
        }
    }
}

#[cfg(test)]
mod tests {
    use proust_findings::Sure;
    use proust_profile::Ns;

    use super::*;

    fn title_of(kind: Kind, cause: Place) -> String {
        title(&Finding {
            kind,
            account: String::new(),
            recoverable: Ns::SHORTEST,
            lost: Ns::SHORTEST,
            burned: Ns::ZERO,
            low: Ns::ZERO,
            high: Ns::ZERO,
            on_path: None,
            error: Ns::ZERO,
            cause,
            victims: Vec::new(),
            evidence: Vec::new(),
            checks: Vec::new(),
            sure: Sure::Likely,
            small: false,
            processes: Vec::new(),
            library: None,
            ranks: Vec::new(),
            lock: None,
        })
    }

    /// Who does it in a sentence is somebody: a function, a thread, a process, or the program.
    #[test]
    fn code_without_a_name_is_no_subject() {
        let (thread, process) = (Some("loader".to_owned()), Some("server".to_owned()));
        for &kind in Kind::ALL {
            for function in [None, Some("[unknown]"), Some("[no call path]"), Some("[incomplete paths]")] {
                let place = |thread: &Option<String>, process: &Option<String>| Place {
                    function: function.map(str::to_owned),
                    thread: thread.clone(),
                    process: process.clone(),
                    ..Place::default()
                };
                for place in [place(&None, &None), place(&thread, &process), place(&None, &process)] {
                    let (title, who) = (title_of(kind, place.clone()), who(&place));
                    assert!(!title.contains('[') && !who.contains('['), "{kind:?}: {title}");
                    assert!(!title.contains("  ") && !title.ends_with(' '), "{kind:?}: {title:?}");
                }
            }
        }
        let of = |thread, process| {
            who(&Place { function: Some("[unknown]".into()), thread, process, ..Place::default() })
        };
        assert_eq!(of(thread.clone(), process.clone()), "thread loader of server");
        assert_eq!(of(None, process), "process server");
        assert_eq!(of(None, None), "the program");
    }
}
