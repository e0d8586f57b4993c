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
}

/// Bits of an operation's number below its family.
const FAMILY_SHIFT: u32 = 12;

macro_rules! operations {
    ($($family:ident { $($number:literal $name:ident $text:literal $nature:ident;)* })*) => {
        /// An intercepted operation, by the function that the program called; variants of a function that
        /// differ in their types only (`pread64`, `__read_chk`) are one operation.
        #[repr(u16)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
            _ => Family::OpenMp,
        }
    }

    /// Whether it is a construct of OpenMP.
    pub const fn is_of_openmp(self) -> bool {
        matches!(self.family(), Family::OpenMp)
    }
}

/// One more than the largest number of an operation.
pub const OPERATIONS: usize = 2 << FAMILY_SHIFT;

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
