//! What to do about each kind of finding.

use proust_findings::Kind;

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
             that releases the lock, or take a build of the interpreter without it (OCaml: domains of \
             version 5). If the threads are those that serve a pool of processes, give each job more work \
             (chunksize)."
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
        Kind::OneAtATime => {
            "Let several work at once: start all before the first is awaited, give the pool a worker for \
             each processor, raise the limit that lets one in; do only what they share one after the other."
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
        Kind::SystemStorm => {
            "Call the system less often: keep its answers, or ask for more with one call. epoll has no need \
             to look at each of many descriptors, as poll and select do."
        }
        Kind::SleepPoll => {
            "Wait for the event itself: a condition variable, a semaphore, poll on a descriptor. Then \
             nothing waits for the end of a sleep."
        }
        Kind::SleepingWorker => {
            "If they look for work, wait for the event itself: a condition variable, a semaphore, poll. If a \
             rate is to be kept, or a lock to become free, let them do other work meanwhile, and hold no \
             lock in their sleep."
        }
        Kind::SpinWait => {
            "Block until it happens: a condition variable, a futex, a semaphore; a time to wait in place of \
             0 for poll, select or epoll_wait. The processor is free for others then."
        }
        Kind::HotAtomic => {
            "Give each thread memory of its own and add up at the end, or now and then; pass a shared \
             pointer by reference, or copy it once for each thread; take pieces of work in larger ranges. \
             Where other data lie in the same 64 bytes, move them apart."
        }
        Kind::UnreadOutput => {
            "Read from all of them as their output comes: poll, select, a thread for each; or let each write \
             to a file of its own."
        }
        Kind::RoundTrips => {
            "Have several requests on their way at once: send the next before the answer is there, let more \
             threads or tasks wait at the same time (asyncio.gather), or ask for several things at once."
        }
        Kind::BlockedLoop => {
            "Hand this to threads or processes that the loop waits for (asyncio.to_thread, run_in_executor, \
             spawn_blocking): to processes where an interpreter's lock is held meanwhile."
        }
        Kind::ProcessExchange => {
            "Hand large data over once: before the processes are forked, by the pool's initializer, or in \
             shared memory; send several jobs at a time (chunksize), and return what is needed only. Of \
             mpi4py the methods in upper case send arrays without pickling them."
        }
        Kind::TextScanning => {
            "Keep how long the text is, or where it has been read to: strlen, strcat and sscanf go to its \
             end each time. strtol, strtod and from_chars go on from a place."
        }
        Kind::OmpHotSingle => {
            "Have one thread make a task of each piece of work, or of several together; or collect the \
             pieces first and divide them by a loop (omp for)."
        }
        Kind::ExceptionChurn => {
            "Return what happens often (an error code, std::optional, std::expected, a Result), and throw \
             only what is rare: each exception costs some microseconds, and more with each frame it passes."
        }
        Kind::RepeatedPreparation => {
            "Prepare it once and keep it: a pattern that is compiled, a statement, a plan, a context is \
             made to be used many times."
        }
        Kind::MemoryCopying => {
            "Pass a reference or a range of what is only read, move what is not needed any more, and copy \
             once what several use."
        }
        Kind::AllocationChurn => {
            "Keep the memory between uses, allocate once for many, pass by reference what is copied only to \
             be read. An allocator for many threads (jemalloc, mimalloc, tcmalloc) makes each call cheaper."
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
        Kind::TinyIo => {
            "Collect the bytes in a buffer and move some 64 KiB with one call. Where each read waits for the \
             device, read ahead, or several pieces at once; what is read again the system can keep (without \
             O_DIRECT)."
        }
        Kind::MuchIo => {
            "Find out whether all of it is needed: what is read again can be kept in memory, a buffer is \
             emptied by each seek, and numbers take less room than their text. What is needed another thread \
             can read ahead or write behind."
        }
        Kind::SyncStorm => {
            "Synchronise once for many changes, or leave it to a thread of its own; a file opened with \
             O_SYNC or O_DSYNC is synchronised by each write."
        }
        Kind::OmpDeepConstruct => {
            "Join neighbouring loops, and leave out barriers that nobody needs (nowait); where a loop \
             further out has independent iterations, divide that one, so that each time there is more to do."
        }
        Kind::OmpUnevenLoop => {
            "Hand the iterations out as threads come for them (schedule(dynamic) or guided, in chunks of \
             some microseconds), or deal them out in turns (schedule(static, 1)); where there are hardly \
             more of them than threads, divide them further (collapse)."
        }
        Kind::OmpLargeChunks => {
            "Make the chunks smaller, schedule(dynamic, N), so that each thread gets at least ten of them, \
             each of some microseconds. A guided schedule hands out the largest chunk first, which does not \
             fit where the first iterations cost most."
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
        Kind::OmpSerialTasks => {
            "Let other threads take tasks: look for an if, final or mergeable clause that has them executed \
             where they are made, for a taskwait after each, and for depend clauses that make a chain of \
             tasks that need nothing of each other."
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
        Kind::MpiRepeatedSetup => {
            "Make it once, before the loop, and use it again; a file that all write stays open."
        }
        Kind::MpiIdleRank => {
            "Let the rank that hands out work do some itself, in a thread of its own or between requests; \
             divide the work beforehand where its parts are known; or start one rank more than there are \
             processors, if the one that waits leaves its processor."
        }
        Kind::MpiSmallAccesses => {
            "Access many elements by one call (a count, a derived type), and order accesses once for all of \
             them: one MPI_Win_fence, one MPI_Win_flush; read and write files in large pieces, by collective \
             calls (MPI_File_write_at_all)."
        }
        Kind::MpiMuchData => {
            "Send only what the receiver needs, or what has changed, in a smaller type where it suffices; \
             let a collective do what is gathered here and sent there (MPI_Allgather, MPI_Reduce_scatter); \
             begin transfers early, and compute meanwhile (MPI_Isend, MPI_Irecv, MPI_Iallreduce)."
        }
        Kind::MpiPolls => {
            "Ask once for many steps of work, or have a thread wait for messages; where there is nothing \
             else to do, wait (MPI_Wait, MPI_Probe)."
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
