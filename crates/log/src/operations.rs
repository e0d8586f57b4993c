//! The operations that are intercepted: the name of each, and its nature.
//!
//! Numbers are part of the log's layout: they are never given twice. Each family has 4095 of its own.

/// The nature of an operation, before anything is known of the code that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nature {
    /// Waits, blocked, for a holder: a mutex, a reader-writer lock, a once, a locked file.
    Lock,
    /// Waits for a holder by trying again and again.
    Spin,
    /// Waits until all have arrived.
    Barrier,
    /// Waits for a condition variable.
    Condition,
    /// Waits for a semaphore.
    Semaphore,
    /// Waits for a thread to end.
    Join,
    /// Sleeps for a time that it names.
    Sleep,
    /// Gives the processor to others, and continues.
    Yield,
    /// Waits for descriptors to become ready.
    Poll,
    /// Waits for a child process.
    Process,
    /// Waits for a signal it names.
    Signal,
    /// Waits for any signal.
    Pause,
    /// Waits for a connection.
    Accept,
    /// Waits for a message of a queue.
    Queue,
    /// Waits for a futex: only its caller knows its purpose.
    Futex,
    /// Takes bytes in.
    Read,
    /// Gives bytes out.
    Write,
    /// Moves bytes from one descriptor to another.
    Transfer,
    /// Opens, closes, connects, synchronises.
    Manage,
    /// Releases a lock. Never an operation of its own: recorded by [`crate::records::Release`].
    Release,
    /// Wakes threads that wait for something else than a lock. Recorded in the same way.
    Wake,
    /// A parallel runtime's own work: opening a region, handing out iterations.
    Runtime,
    /// A pool's thread without work, blocked or spinning.
    Pool,
    /// A message between two processes of MPI: sent, received, or waited for.
    Message,
    /// What all processes of a communicator of MPI do together.
    Collective,
    /// Communicates by MPI in another way: in windows of memory, with other jobs.
    Communicate,
}

impl Nature {
    /// Whether it is I/O and not a wait.
    pub const fn is_io(self) -> bool {
        matches!(self, Nature::Read | Nature::Write | Nature::Transfer | Nature::Manage)
    }
}

/// Which interface's operations they are: the upper bits of an operation's number.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Functions of the C library: locks, waits, files.
    Library = 0,
    /// Constructs of OpenMP.
    OpenMp = 1,
    /// Functions of MPI.
    Mpi = 2,
}

/// Bits of an operation's number below its family.
const FAMILY_SHIFT: u32 = 12;

macro_rules! operations {
    ($($family:ident { $($number:literal $name:ident $text:literal $nature:ident;)* })*) => {
        /// An intercepted operation, by the function that the program called; variants of a function that
        /// differ in their types only (`pread64`, `__read_chk`) are one operation.
        #[repr(u16)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, reason = "MPI's own names")]
        pub enum Operation {
            $($(#[doc = concat!("`", $text,
                "`")] $name = (Family::$family as u16) << FAMILY_SHIFT | $number,)*)*
        }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Operation] = &[$($(Operation::$name),*),*];

            /// The function's name.
            pub const fn name(self) -> &'static str {
                match self { $($(Operation::$name => $text,)*)* }
            }

            /// Its nature.
            pub const fn nature(self) -> Nature {
                match self { $($(Operation::$name => Nature::$nature,)*)* }
            }

            /// The operation with this number.
            pub const fn from_number(number: u16) -> Option<Operation> {
                let (family, within) = (number >> FAMILY_SHIFT, number & ((1 << FAMILY_SHIFT) - 1));
                $(if family == Family::$family as u16 {
                    return match within { $($number => Some(Operation::$name),)* _ => None };
                })*
                None
            }

            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<Operation> {
                match name { $($($text => Some(Operation::$name),)*)* _ => None }
            }
        }
    };
}

impl Operation {
    /// Which interface's it is.
    pub const fn family(self) -> Family {
        match self as u16 >> FAMILY_SHIFT {
            0 => Family::Library,
            1 => Family::OpenMp,
            _ => Family::Mpi,
        }
    }

    /// Whether it is a construct of OpenMP.
    pub const fn is_of_openmp(self) -> bool {
        matches!(self.family(), Family::OpenMp)
    }

    /// Whether it is a function of MPI.
    pub const fn is_of_mpi(self) -> bool {
        matches!(self.family(), Family::Mpi)
    }
}

/// One more than the largest number of an operation.
pub const OPERATIONS: usize = 3 << FAMILY_SHIFT;

operations! {
    Library {
        1 MutexLock "pthread_mutex_lock" Lock;
        2 MutexTimedLock "pthread_mutex_timedlock" Lock;
        3 MutexClockLock "pthread_mutex_clocklock" Lock;
        4 MutexTryLock "pthread_mutex_trylock" Spin;
        5 SpinLock "pthread_spin_lock" Spin;
        6 SpinTryLock "pthread_spin_trylock" Spin;
        7 RwLockRead "pthread_rwlock_rdlock" Lock;
        8 RwLockTimedRead "pthread_rwlock_timedrdlock" Lock;
        9 RwLockClockRead "pthread_rwlock_clockrdlock" Lock;
        10 RwLockTryRead "pthread_rwlock_tryrdlock" Spin;
        11 RwLockWrite "pthread_rwlock_wrlock" Lock;
        12 RwLockTimedWrite "pthread_rwlock_timedwrlock" Lock;
        13 RwLockClockWrite "pthread_rwlock_clockwrlock" Lock;
        14 RwLockTryWrite "pthread_rwlock_trywrlock" Spin;
        15 MtxLock "mtx_lock" Lock;
        16 MtxTimedLock "mtx_timedlock" Lock;
        17 MtxTryLock "mtx_trylock" Spin;
        18 Once "pthread_once" Lock;
        19 CallOnce "call_once" Lock;
        20 FileLock "flock" Lock;
        21 LockFile "lockf" Lock;
        22 ControlLock "fcntl(F_SETLKW)" Lock;
        30 Barrier "pthread_barrier_wait" Barrier;
        35 ConditionWait "pthread_cond_wait" Condition;
        36 ConditionTimedWait "pthread_cond_timedwait" Condition;
        37 ConditionClockWait "pthread_cond_clockwait" Condition;
        38 CndWait "cnd_wait" Condition;
        39 CndTimedWait "cnd_timedwait" Condition;
        42 SemaphoreWait "sem_wait" Semaphore;
        43 SemaphoreTimedWait "sem_timedwait" Semaphore;
        44 SemaphoreClockWait "sem_clockwait" Semaphore;
        45 SemaphoreOperation "semop" Semaphore;
        46 SemaphoreTimedOperation "semtimedop" Semaphore;
        48 Join "pthread_join" Join;
        49 TimedJoin "pthread_timedjoin_np" Join;
        50 ClockJoin "pthread_clockjoin_np" Join;
        51 ThrdJoin "thrd_join" Join;
        54 NanoSleep "nanosleep" Sleep;
        55 ClockNanoSleep "clock_nanosleep" Sleep;
        56 MicroSleep "usleep" Sleep;
        57 Sleep "sleep" Sleep;
        58 ThrdSleep "thrd_sleep" Sleep;
        60 Yield "sched_yield" Yield;
        61 ThrdYield "thrd_yield" Yield;
        62 Poll "poll" Poll;
        63 SignalPoll "ppoll" Poll;
        64 Select "select" Poll;
        65 SignalSelect "pselect" Poll;
        66 EpollWait "epoll_wait" Poll;
        67 EpollSignalWait "epoll_pwait" Poll;
        68 EpollSignalWait2 "epoll_pwait2" Poll;
        69 RingEnter "io_uring_enter" Poll;
        72 WaitAny "wait" Process;
        73 WaitProcess "waitpid" Process;
        74 WaitUsage "wait3" Process;
        75 WaitProcessUsage "wait4" Process;
        76 WaitId "waitid" Process;
        77 System "system" Process;
        78 ClosePipeStream "pclose" Process;
        80 SignalWait "sigwait" Signal;
        81 SignalWaitInfo "sigwaitinfo" Signal;
        82 SignalTimedWait "sigtimedwait" Signal;
        83 Pause "pause" Pause;
        84 SignalSuspend "sigsuspend" Pause;
        86 Accept "accept" Accept;
        87 Accept4 "accept4" Accept;
        88 QueueReceive "mq_receive" Queue;
        89 QueueTimedReceive "mq_timedreceive" Queue;
        90 QueueSend "mq_send" Queue;
        91 QueueTimedSend "mq_timedsend" Queue;
        92 MessageReceive "msgrcv" Queue;
        93 MessageSend "msgsnd" Queue;
        95 FutexWait "futex" Futex;
        96 FutexWaitMany "futex_waitv" Futex;
        100 Read "read" Read;
        101 ReadAt "pread" Read;
        102 ReadVector "readv" Read;
        103 ReadVectorAt "preadv" Read;
        104 ReadVectorAt2 "preadv2" Read;
        105 Receive "recv" Read;
        106 ReceiveFrom "recvfrom" Read;
        107 ReceiveMessage "recvmsg" Read;
        108 ReceiveMessages "recvmmsg" Read;
        109 StreamRead "fread" Read;
        110 StreamLine "fgets" Read;
        111 StreamCharacter "fgetc" Read;
        112 StreamGetLine "getline" Read;
        113 StreamScan "fscanf" Read;
        114 ReadDirectory "readdir" Read;
        115 RandomBytes "getrandom" Read;
        116 Entropy "getentropy" Read;
        118 Write "write" Write;
        119 WriteAt "pwrite" Write;
        120 WriteVector "writev" Write;
        121 WriteVectorAt "pwritev" Write;
        122 WriteVectorAt2 "pwritev2" Write;
        123 Send "send" Write;
        124 SendTo "sendto" Write;
        125 SendMessage "sendmsg" Write;
        126 SendMessages "sendmmsg" Write;
        127 StreamWrite "fwrite" Write;
        128 StreamPutString "fputs" Write;
        129 StreamPutCharacter "fputc" Write;
        130 StreamPrint "fprintf" Write;
        131 PutString "puts" Write;
        132 StreamFlush "fflush" Write;
        133 DescriptorPrint "dprintf" Write;
        136 SendFile "sendfile" Transfer;
        137 Splice "splice" Transfer;
        138 Tee "tee" Transfer;
        139 VectorSplice "vmsplice" Transfer;
        140 CopyFileRange "copy_file_range" Transfer;
        145 Open "open" Manage;
        146 OpenAt "openat" Manage;
        147 Create "creat" Manage;
        148 Close "close" Manage;
        149 StreamOpen "fopen" Manage;
        150 StreamReopen "freopen" Manage;
        151 StreamClose "fclose" Manage;
        152 Synchronise "fsync" Manage;
        153 SynchroniseData "fdatasync" Manage;
        154 SynchroniseRange "sync_file_range" Manage;
        155 SynchroniseFileSystem "syncfs" Manage;
        156 SynchroniseAll "sync" Manage;
        157 SynchroniseMemory "msync" Manage;
        158 Connect "connect" Manage;
        159 Truncate "ftruncate" Manage;
        160 Allocate "fallocate" Manage;
        161 StreamSeek "fseek" Manage;
        162 OpenPipeStream "popen" Manage;
        163 OpenDirectory "opendir" Manage;
        164 CloseDirectory "closedir" Manage;
        165 Unlink "unlink" Manage;
        166 Rename "rename" Manage;
        170 MutexUnlock "pthread_mutex_unlock" Release;
        171 SpinUnlock "pthread_spin_unlock" Release;
        172 RwLockUnlock "pthread_rwlock_unlock" Release;
        173 MtxUnlock "mtx_unlock" Release;
        174 ConditionSignal "pthread_cond_signal" Wake;
        175 ConditionBroadcast "pthread_cond_broadcast" Wake;
        176 CndSignal "cnd_signal" Wake;
        177 CndBroadcast "cnd_broadcast" Wake;
        178 SemaphorePost "sem_post" Wake;
        179 FutexWake "futex(FUTEX_WAKE)" Wake;
    }
    OpenMp {
        1 OmpBarrier "omp barrier" Barrier;
        2 OmpRegionEnd "omp parallel end" Barrier;
        3 OmpFork "omp parallel begin" Runtime;
        4 OmpIdle "omp idle" Pool;
        5 OmpCritical "omp critical" Lock;
        6 OmpAtomic "omp atomic" Lock;
        7 OmpOrdered "omp ordered" Lock;
        8 OmpSetLock "omp_set_lock" Lock;
        9 OmpSetNestLock "omp_set_nest_lock" Lock;
        10 OmpTaskWait "omp taskwait" Barrier;
        11 OmpTaskGroup "omp taskgroup" Barrier;
        12 OmpCopyPrivate "omp single copyprivate" Barrier;
        13 OmpDoacross "omp ordered doacross" Barrier;
        14 OmpDispatch "omp dispatch" Runtime;
        15 OmpTask "omp task" Runtime;
        16 OmpBarrierOfOne "omp barrier of one" Runtime;
        17 OmpWaitOfOne "omp wait of one" Runtime;
        21 OmpCriticalEnd "omp critical end" Release;
        22 OmpAtomicEnd "omp atomic end" Release;
        23 OmpOrderedEnd "omp ordered end" Release;
        24 OmpUnsetLock "omp_unset_lock" Release;
        25 OmpUnsetNestLock "omp_unset_nest_lock" Release;
    }
    Mpi {
        1 MPI_Init "MPI_Init" Runtime; 2 MPI_Init_thread "MPI_Init_thread" Runtime;
        3 MPI_Finalize "MPI_Finalize" Runtime; 4 MPI_Abort "MPI_Abort" Runtime;
        5 MPI_Session_init "MPI_Session_init" Runtime;
        6 MPI_Session_finalize "MPI_Session_finalize" Runtime; 16 MPI_Send "MPI_Send" Message;
        17 MPI_Ssend "MPI_Ssend" Message; 18 MPI_Bsend "MPI_Bsend" Message;
        19 MPI_Rsend "MPI_Rsend" Message; 20 MPI_Recv "MPI_Recv" Message;
        21 MPI_Sendrecv "MPI_Sendrecv" Message; 22 MPI_Sendrecv_replace "MPI_Sendrecv_replace" Message;
        23 MPI_Probe "MPI_Probe" Message; 24 MPI_Mprobe "MPI_Mprobe" Message;
        25 MPI_Mrecv "MPI_Mrecv" Message; 26 MPI_Iprobe "MPI_Iprobe" Message;
        27 MPI_Improbe "MPI_Improbe" Message; 28 MPI_Isend "MPI_Isend" Message;
        29 MPI_Issend "MPI_Issend" Message; 30 MPI_Ibsend "MPI_Ibsend" Message;
        31 MPI_Irsend "MPI_Irsend" Message; 32 MPI_Irecv "MPI_Irecv" Message;
        33 MPI_Imrecv "MPI_Imrecv" Message; 34 MPI_Isendrecv "MPI_Isendrecv" Message;
        35 MPI_Isendrecv_replace "MPI_Isendrecv_replace" Message;
        48 MPI_Send_init "MPI_Send_init" Message; 49 MPI_Ssend_init "MPI_Ssend_init" Message;
        50 MPI_Bsend_init "MPI_Bsend_init" Message; 51 MPI_Rsend_init "MPI_Rsend_init" Message;
        52 MPI_Recv_init "MPI_Recv_init" Message; 53 MPI_Psend_init "MPI_Psend_init" Message;
        54 MPI_Precv_init "MPI_Precv_init" Message; 55 MPI_Start "MPI_Start" Message;
        56 MPI_Startall "MPI_Startall" Message; 57 MPI_Pready "MPI_Pready" Message;
        58 MPI_Pready_range "MPI_Pready_range" Message; 59 MPI_Pready_list "MPI_Pready_list" Message;
        60 MPI_Parrived "MPI_Parrived" Message; 64 MPI_Wait "MPI_Wait" Message;
        65 MPI_Waitall "MPI_Waitall" Message; 66 MPI_Waitany "MPI_Waitany" Message;
        67 MPI_Waitsome "MPI_Waitsome" Message; 68 MPI_Test "MPI_Test" Message;
        69 MPI_Testall "MPI_Testall" Message; 70 MPI_Testany "MPI_Testany" Message;
        71 MPI_Testsome "MPI_Testsome" Message;
        72 MPI_Request_get_status "MPI_Request_get_status" Message;
        73 MPI_Request_get_status_all "MPI_Request_get_status_all" Message;
        74 MPI_Request_get_status_any "MPI_Request_get_status_any" Message;
        75 MPI_Request_get_status_some "MPI_Request_get_status_some" Message;
        76 MPI_Cancel "MPI_Cancel" Message; 77 MPI_Request_free "MPI_Request_free" Message;
        78 MPI_Buffer_detach "MPI_Buffer_detach" Message; 79 MPI_Buffer_flush "MPI_Buffer_flush" Message;
        80 MPI_Buffer_iflush "MPI_Buffer_iflush" Message;
        81 MPI_Comm_detach_buffer "MPI_Comm_detach_buffer" Message;
        82 MPI_Comm_flush_buffer "MPI_Comm_flush_buffer" Message;
        83 MPI_Comm_iflush_buffer "MPI_Comm_iflush_buffer" Message;
        84 MPI_Session_detach_buffer "MPI_Session_detach_buffer" Message;
        85 MPI_Session_flush_buffer "MPI_Session_flush_buffer" Message;
        86 MPI_Session_iflush_buffer "MPI_Session_iflush_buffer" Message;
        100 MPI_Barrier "MPI_Barrier" Collective; 101 MPI_Bcast "MPI_Bcast" Collective;
        102 MPI_Gather "MPI_Gather" Collective; 103 MPI_Gatherv "MPI_Gatherv" Collective;
        104 MPI_Scatter "MPI_Scatter" Collective; 105 MPI_Scatterv "MPI_Scatterv" Collective;
        106 MPI_Allgather "MPI_Allgather" Collective; 107 MPI_Allgatherv "MPI_Allgatherv" Collective;
        108 MPI_Alltoall "MPI_Alltoall" Collective; 109 MPI_Alltoallv "MPI_Alltoallv" Collective;
        110 MPI_Alltoallw "MPI_Alltoallw" Collective; 111 MPI_Reduce "MPI_Reduce" Collective;
        112 MPI_Allreduce "MPI_Allreduce" Collective;
        113 MPI_Reduce_scatter "MPI_Reduce_scatter" Collective;
        114 MPI_Reduce_scatter_block "MPI_Reduce_scatter_block" Collective;
        115 MPI_Scan "MPI_Scan" Collective; 116 MPI_Exscan "MPI_Exscan" Collective;
        117 MPI_Neighbor_allgather "MPI_Neighbor_allgather" Collective;
        118 MPI_Neighbor_allgatherv "MPI_Neighbor_allgatherv" Collective;
        119 MPI_Neighbor_alltoall "MPI_Neighbor_alltoall" Collective;
        120 MPI_Neighbor_alltoallv "MPI_Neighbor_alltoallv" Collective;
        121 MPI_Neighbor_alltoallw "MPI_Neighbor_alltoallw" Collective;
        130 MPI_Ibarrier "MPI_Ibarrier" Collective; 131 MPI_Ibcast "MPI_Ibcast" Collective;
        132 MPI_Igather "MPI_Igather" Collective; 133 MPI_Igatherv "MPI_Igatherv" Collective;
        134 MPI_Iscatter "MPI_Iscatter" Collective; 135 MPI_Iscatterv "MPI_Iscatterv" Collective;
        136 MPI_Iallgather "MPI_Iallgather" Collective; 137 MPI_Iallgatherv "MPI_Iallgatherv" Collective;
        138 MPI_Ialltoall "MPI_Ialltoall" Collective; 139 MPI_Ialltoallv "MPI_Ialltoallv" Collective;
        140 MPI_Ialltoallw "MPI_Ialltoallw" Collective; 141 MPI_Ireduce "MPI_Ireduce" Collective;
        142 MPI_Iallreduce "MPI_Iallreduce" Collective;
        143 MPI_Ireduce_scatter "MPI_Ireduce_scatter" Collective;
        144 MPI_Ireduce_scatter_block "MPI_Ireduce_scatter_block" Collective;
        145 MPI_Iscan "MPI_Iscan" Collective; 146 MPI_Iexscan "MPI_Iexscan" Collective;
        147 MPI_Ineighbor_allgather "MPI_Ineighbor_allgather" Collective;
        148 MPI_Ineighbor_allgatherv "MPI_Ineighbor_allgatherv" Collective;
        149 MPI_Ineighbor_alltoall "MPI_Ineighbor_alltoall" Collective;
        150 MPI_Ineighbor_alltoallv "MPI_Ineighbor_alltoallv" Collective;
        151 MPI_Ineighbor_alltoallw "MPI_Ineighbor_alltoallw" Collective;
        160 MPI_Barrier_init "MPI_Barrier_init" Collective;
        161 MPI_Bcast_init "MPI_Bcast_init" Collective; 162 MPI_Gather_init "MPI_Gather_init" Collective;
        163 MPI_Gatherv_init "MPI_Gatherv_init" Collective;
        164 MPI_Scatter_init "MPI_Scatter_init" Collective;
        165 MPI_Scatterv_init "MPI_Scatterv_init" Collective;
        166 MPI_Allgather_init "MPI_Allgather_init" Collective;
        167 MPI_Allgatherv_init "MPI_Allgatherv_init" Collective;
        168 MPI_Alltoall_init "MPI_Alltoall_init" Collective;
        169 MPI_Alltoallv_init "MPI_Alltoallv_init" Collective;
        170 MPI_Alltoallw_init "MPI_Alltoallw_init" Collective;
        171 MPI_Reduce_init "MPI_Reduce_init" Collective;
        172 MPI_Allreduce_init "MPI_Allreduce_init" Collective;
        173 MPI_Reduce_scatter_init "MPI_Reduce_scatter_init" Collective;
        174 MPI_Reduce_scatter_block_init "MPI_Reduce_scatter_block_init" Collective;
        175 MPI_Scan_init "MPI_Scan_init" Collective; 176 MPI_Exscan_init "MPI_Exscan_init" Collective;
        177 MPI_Neighbor_allgather_init "MPI_Neighbor_allgather_init" Collective;
        178 MPI_Neighbor_allgatherv_init "MPI_Neighbor_allgatherv_init" Collective;
        179 MPI_Neighbor_alltoall_init "MPI_Neighbor_alltoall_init" Collective;
        180 MPI_Neighbor_alltoallv_init "MPI_Neighbor_alltoallv_init" Collective;
        181 MPI_Neighbor_alltoallw_init "MPI_Neighbor_alltoallw_init" Collective;
        200 MPI_Comm_dup "MPI_Comm_dup" Collective;
        201 MPI_Comm_dup_with_info "MPI_Comm_dup_with_info" Collective;
        202 MPI_Comm_idup "MPI_Comm_idup" Collective;
        203 MPI_Comm_idup_with_info "MPI_Comm_idup_with_info" Collective;
        204 MPI_Comm_split "MPI_Comm_split" Collective;
        205 MPI_Comm_split_type "MPI_Comm_split_type" Collective;
        206 MPI_Comm_create "MPI_Comm_create" Collective;
        207 MPI_Comm_create_group "MPI_Comm_create_group" Collective;
        208 MPI_Comm_create_from_group "MPI_Comm_create_from_group" Collective;
        209 MPI_Intercomm_create "MPI_Intercomm_create" Collective;
        210 MPI_Intercomm_create_from_groups "MPI_Intercomm_create_from_groups" Collective;
        211 MPI_Intercomm_merge "MPI_Intercomm_merge" Collective;
        212 MPI_Cart_create "MPI_Cart_create" Collective; 213 MPI_Cart_sub "MPI_Cart_sub" Collective;
        214 MPI_Graph_create "MPI_Graph_create" Collective;
        215 MPI_Dist_graph_create "MPI_Dist_graph_create" Collective;
        216 MPI_Dist_graph_create_adjacent "MPI_Dist_graph_create_adjacent" Collective;
        217 MPI_Comm_free "MPI_Comm_free" Collective;
        218 MPI_Comm_disconnect "MPI_Comm_disconnect" Collective;
        230 MPI_Comm_spawn "MPI_Comm_spawn" Communicate;
        231 MPI_Comm_spawn_multiple "MPI_Comm_spawn_multiple" Communicate;
        232 MPI_Comm_accept "MPI_Comm_accept" Communicate;
        233 MPI_Comm_connect "MPI_Comm_connect" Communicate;
        234 MPI_Comm_join "MPI_Comm_join" Communicate; 240 MPI_Win_create "MPI_Win_create" Collective;
        241 MPI_Win_allocate "MPI_Win_allocate" Collective;
        242 MPI_Win_allocate_shared "MPI_Win_allocate_shared" Collective;
        243 MPI_Win_create_dynamic "MPI_Win_create_dynamic" Collective;
        244 MPI_Win_free "MPI_Win_free" Collective; 245 MPI_Win_fence "MPI_Win_fence" Collective;
        250 MPI_Put "MPI_Put" Communicate; 251 MPI_Get "MPI_Get" Communicate;
        252 MPI_Accumulate "MPI_Accumulate" Communicate;
        253 MPI_Get_accumulate "MPI_Get_accumulate" Communicate;
        254 MPI_Fetch_and_op "MPI_Fetch_and_op" Communicate;
        255 MPI_Compare_and_swap "MPI_Compare_and_swap" Communicate; 256 MPI_Rput "MPI_Rput" Communicate;
        257 MPI_Rget "MPI_Rget" Communicate; 258 MPI_Raccumulate "MPI_Raccumulate" Communicate;
        259 MPI_Rget_accumulate "MPI_Rget_accumulate" Communicate;
        260 MPI_Win_start "MPI_Win_start" Communicate;
        261 MPI_Win_complete "MPI_Win_complete" Communicate; 262 MPI_Win_post "MPI_Win_post" Communicate;
        263 MPI_Win_wait "MPI_Win_wait" Communicate; 264 MPI_Win_test "MPI_Win_test" Communicate;
        265 MPI_Win_lock "MPI_Win_lock" Communicate; 266 MPI_Win_unlock "MPI_Win_unlock" Communicate;
        267 MPI_Win_lock_all "MPI_Win_lock_all" Communicate;
        268 MPI_Win_unlock_all "MPI_Win_unlock_all" Communicate;
        269 MPI_Win_flush "MPI_Win_flush" Communicate;
        270 MPI_Win_flush_all "MPI_Win_flush_all" Communicate;
        271 MPI_Win_flush_local "MPI_Win_flush_local" Communicate;
        272 MPI_Win_flush_local_all "MPI_Win_flush_local_all" Communicate;
        273 MPI_Win_sync "MPI_Win_sync" Communicate; 300 MPI_File_open "MPI_File_open" Manage;
        301 MPI_File_close "MPI_File_close" Manage; 302 MPI_File_delete "MPI_File_delete" Manage;
        303 MPI_File_preallocate "MPI_File_preallocate" Manage;
        304 MPI_File_set_size "MPI_File_set_size" Manage;
        305 MPI_File_set_view "MPI_File_set_view" Manage; 306 MPI_File_sync "MPI_File_sync" Manage;
        307 MPI_File_seek "MPI_File_seek" Manage; 308 MPI_File_seek_shared "MPI_File_seek_shared" Manage;
        320 MPI_File_read "MPI_File_read" Read; 321 MPI_File_read_at "MPI_File_read_at" Read;
        322 MPI_File_read_all "MPI_File_read_all" Read;
        323 MPI_File_read_at_all "MPI_File_read_at_all" Read;
        324 MPI_File_read_shared "MPI_File_read_shared" Read;
        325 MPI_File_read_ordered "MPI_File_read_ordered" Read;
        326 MPI_File_read_all_begin "MPI_File_read_all_begin" Read;
        327 MPI_File_read_all_end "MPI_File_read_all_end" Read;
        328 MPI_File_read_at_all_begin "MPI_File_read_at_all_begin" Read;
        329 MPI_File_read_at_all_end "MPI_File_read_at_all_end" Read;
        330 MPI_File_read_ordered_begin "MPI_File_read_ordered_begin" Read;
        331 MPI_File_read_ordered_end "MPI_File_read_ordered_end" Read;
        332 MPI_File_iread "MPI_File_iread" Read; 333 MPI_File_iread_at "MPI_File_iread_at" Read;
        334 MPI_File_iread_all "MPI_File_iread_all" Read;
        335 MPI_File_iread_at_all "MPI_File_iread_at_all" Read;
        336 MPI_File_iread_shared "MPI_File_iread_shared" Read; 350 MPI_File_write "MPI_File_write" Write;
        351 MPI_File_write_at "MPI_File_write_at" Write;
        352 MPI_File_write_all "MPI_File_write_all" Write;
        353 MPI_File_write_at_all "MPI_File_write_at_all" Write;
        354 MPI_File_write_shared "MPI_File_write_shared" Write;
        355 MPI_File_write_ordered "MPI_File_write_ordered" Write;
        356 MPI_File_write_all_begin "MPI_File_write_all_begin" Write;
        357 MPI_File_write_all_end "MPI_File_write_all_end" Write;
        358 MPI_File_write_at_all_begin "MPI_File_write_at_all_begin" Write;
        359 MPI_File_write_at_all_end "MPI_File_write_at_all_end" Write;
        360 MPI_File_write_ordered_begin "MPI_File_write_ordered_begin" Write;
        361 MPI_File_write_ordered_end "MPI_File_write_ordered_end" Write;
        362 MPI_File_iwrite "MPI_File_iwrite" Write; 363 MPI_File_iwrite_at "MPI_File_iwrite_at" Write;
        364 MPI_File_iwrite_all "MPI_File_iwrite_all" Write;
        365 MPI_File_iwrite_at_all "MPI_File_iwrite_at_all" Write;
        366 MPI_File_iwrite_shared "MPI_File_iwrite_shared" Write;
    }
}

/// The kind of file or device that a descriptor leads to.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// No descriptor, or it is not known what it leads to.
    #[default]
    None = 0,
    /// A file or folder, a block device.
    File = 1,
    /// A pipe or FIFO.
    Pipe = 2,
    /// A socket.
    Socket = 3,
    /// A terminal.
    Terminal = 4,
    /// Another character device (`/dev/null`, a GPU).
    Device = 5,
    /// An eventfd, timerfd, signalfd, inotify, epoll or other kernel object without a file.
    Event = 6,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 7] = [
        Target::None,
        Target::File,
        Target::Pipe,
        Target::Socket,
        Target::Terminal,
        Target::Device,
        Target::Event,
    ];

    /// The target with this number; unknown numbers read as [`Target::None`].
    pub fn from_number(number: u8) -> Target {
        Target::ALL.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// Identifier in JSON and tables.
    pub const fn id(self) -> &'static str {
        match self {
            Target::None => "none",
            Target::File => "file",
            Target::Pipe => "pipe",
            Target::Socket => "socket",
            Target::Terminal => "terminal",
            Target::Device => "device",
            Target::Event => "event",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::from_number(operation as u16), Some(operation));
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
            assert!((operation as usize) < OPERATIONS);
        }
        assert!(Operation::ALL.is_sorted());
        assert_eq!(Operation::MutexLock.family(), Family::Library);
        assert!(Operation::OmpBarrier.is_of_openmp() && !Operation::FutexWake.is_of_openmp());
        assert_eq!(Operation::from_number(0), None);
        assert_eq!(Operation::from_number(u16::MAX), None);
    }

    #[test]
    fn targets_are_their_positions() {
        for (position, target) in Target::ALL.into_iter().enumerate() {
            assert_eq!(target as usize, position);
            assert_eq!(Target::from_number(position as u8), target);
        }
        assert_eq!(Target::from_number(200), Target::None);
    }
}
