//! The text of each kind of finding: what is wrong.

use proust_findings::{FigureId, Finding, Kind, Place};

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
        Kind::OneAtATime => "one at a time",
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
        Kind::HotAtomic => "memory that threads change atomically",
        Kind::UnreadOutput => "output that is not read",
        Kind::RoundTrips => "answers awaited one by one",
        Kind::BlockedLoop => "event loop that stands still",
        Kind::ProcessExchange => "data handed from process to process",
        Kind::TextScanning => "texts searched to their ends",
        Kind::OmpHotSingle => "single executed all the time",
        Kind::ExceptionChurn => "exceptions thrown all the time",
        Kind::RepeatedPreparation => "prepared again for each use",
        Kind::MemoryCopying => "much memory copied",
        Kind::AllocationChurn => "memory allocated again and again",
        Kind::UnexplainedWait => "waits without a known cause",
        Kind::ThreadChurn => "short-lived threads",
        Kind::ProcessChurn => "short-lived processes",
        Kind::TinyIo => "I/O of a few bytes",
        Kind::MuchIo => "much reading and writing of files",
        Kind::FileChurn => "files opened again and again",
        Kind::SyncStorm => "files synchronised again and again",
        Kind::OmpDeepConstruct => "parallel construct too deep in the nest",
        Kind::OmpUnevenLoop => "static schedule over uneven work",
        Kind::OmpLargeChunks => "chunks too large",
        Kind::OmpSmallChunks => "chunks too small",
        Kind::OmpHotCritical => "critical section in a hot loop",
        Kind::OmpNestedTeams => "teams inside teams",
        Kind::OmpSpinningWaits => "waits that occupy processors",
        Kind::OmpSleepingWaits => "waits that sleep briefly",
        Kind::OmpSerialPart => "serial part between parallel regions",
        Kind::OmpTeamOfOne => "loop or region with a team of one",
        Kind::OmpSmallTasks => "OpenMP tasks too small",
        Kind::OmpSerialTasks => "OpenMP tasks one at a time",
        Kind::MpiLateSender => "messages sent late",
        Kind::MpiLateReceiver => "messages received late",
        Kind::MpiImbalance => "unbalanced ranks",
        Kind::MpiSerialPhase => "serial phase of a rank",
        Kind::MpiSerialChain => "serial chain of ranks",
        Kind::MpiSmallMessages => "many small messages",
        Kind::MpiRepeatedSetup => "communicators made again and again",
        Kind::MpiIdleRank => "idle rank",
        Kind::MpiSmallAccesses => "many small accesses of MPI",
        Kind::MpiMuchData => "much data moved between ranks",
        Kind::MpiPolls => "questions to MPI in vain",
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
    if let (Some(region), Some(around)) = (function, &place.region_in) {
        return format!("{region} in {}", middle(around, LONGEST, false));
    }
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
        Kind::InterpreterLock if finding.library.is_some() => {
            format!("Threads wait for the {library} runtime's lock, which lets one of them execute at a time")
        }
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
        Kind::OneAtATime => {
            format!("Hardly ever two work at once: the others wait meanwhile, most of all in {who}")
        }
        Kind::SmallTasks => format!("Handing out tasks in {who} costs more than a task should"),
        Kind::BoundTogether => {
            format!("Threads of {who} are bound to fewer processors than they need, while others are empty")
        }
        Kind::Oversubscription => "More threads want to run than there are processors".into(),
        Kind::FirstTouch => format!("One thread touches in {who} the memory first that all use"),
        Kind::FaultStartup => format!("{who} touches much memory for the first time at once"),
        Kind::FaultChurn if finding.has(FigureId::CpuOfGivingBack) => {
            format!("{who} gives memory back to the system that is touched again and again")
        }
        Kind::FaultChurn => {
            format!("{who} touches memory that was given back to the system, again and again")
        }
        Kind::MemoryClearing => format!("{who} spends much of the processor time on clearing memory"),
        Kind::SystemStorm => format!("{who} spends its time in system calls"),
        Kind::SleepPoll => format!("Everything stands still while {who} sleeps until its next check"),
        Kind::SleepingWorker => {
            format!("Threads sleep in {who} again and again, while others work and processors are empty")
        }
        Kind::SpinWait if finding.has(FigureId::Looks) => {
            format!("{who} asks again and again whether something has happened, and takes a processor for it")
        }
        Kind::SpinWait => format!("{who} waits by giving its processor away again and again"),
        Kind::HotAtomic => format!("Threads change memory atomically all the time in {who}"),
        Kind::UnreadOutput => {
            format!("Processes wait to write, while {who} waits for what another one of them writes")
        }
        Kind::RoundTrips => {
            format!("{who} waits for an answer before the next request is sent, and nothing works meanwhile")
        }
        Kind::BlockedLoop => format!("The event loop serves nobody while {who} keeps it"),
        Kind::ProcessExchange => {
            format!(
                "Pickling and sending what {who} hands to other processes takes much of the processor time"
            )
        }
        Kind::TextScanning => format!("{who} looks for the ends of texts for much of the processor time"),
        Kind::OmpHotSingle => {
            format!("Threads settle all the time in {who} which of them does the next piece")
        }
        Kind::ExceptionChurn => {
            format!("{who} spends much of the processor time on throwing exceptions")
        }
        Kind::RepeatedPreparation => format!("{who} prepares again what can be used many times"),
        Kind::MemoryCopying => format!("{who} spends much of the processor time on copying memory"),
        Kind::AllocationChurn => {
            format!("{who} spends much of the processor time on allocating and freeing memory")
        }
        Kind::BusyWait => format!("{who} only reads memory until another thread has written there"),
        Kind::UnexplainedWait => {
            format!("Threads wait, most of all in {who}, and no cause can be established")
        }
        Kind::ThreadChurn => format!("{who} creates threads that live only briefly"),
        Kind::ProcessChurn => format!("{who} starts processes that live only briefly"),
        Kind::TinyIo if finding.has(FigureId::EachOnAverage) => {
            format!("{who} reads a block at a time, and waits for the device each time")
        }
        Kind::TinyIo => format!("{who} moves a few bytes a call"),
        Kind::MuchIo if finding.has(FigureId::ReadInAll) => {
            format!("{who} spends much of the run on reading files")
        }
        Kind::MuchIo => format!("{who} spends much of the run on writing files"),
        Kind::FileChurn => format!("{who} opens and closes files again and again"),
        Kind::SyncStorm => format!("{who} synchronises a file again and again"),
        Kind::OmpDeepConstruct => {
            format!("The construct in {who} is executed so often that waiting costs as much as its work")
        }
        Kind::OmpUnevenLoop => format!("Work in {who} is divided by count, and some threads get more of it"),
        Kind::OmpLargeChunks => {
            format!("Work in {who} is handed out in chunks so large that threads wait for the last one")
        }
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
        Kind::OmpSerialTasks => {
            format!("The tasks of {who} are executed one after the other, and the team waits")
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
            format!("Ranks work one after the other in {who}: each begins when the one before it is done")
        }
        Kind::MpiSmallMessages => format!("{who} exchanges very many messages of a few bytes"),
        Kind::MpiRepeatedSetup => {
            format!("{who} makes communicators, windows or files of MPI again and again")
        }
        Kind::MpiIdleRank => {
            format!("{} does hardly anything but wait in {who} for messages of the others", ranks(finding))
        }
        Kind::MpiSmallAccesses => {
            format!("{who} accesses memory of other ranks, or a file, by many calls for a little each")
        }
        Kind::MpiMuchData => format!("{who} spends much of the ranks' time on moving data between them"),
        Kind::MpiPolls => format!("{who} asks MPI again and again, and nothing has arrived"),
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
            beside: Ns::ZERO,
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
            unnamed: false,
            processes: Vec::new(),
            library: None,
            awaited: None,
            handed_over: None,
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
