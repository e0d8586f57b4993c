//! Raw system calls.
//!
//! The collector never calls the C library's wrappers for these: it would meet its own hooks, and the
//! wrappers write `errno`, which belongs to the program. Errors come back as negative numbers.

use core::arch::asm;
use core::ffi::{CStr, c_char, c_void};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("Proust's collector supports Linux on x86-64 only");

/// Result of a system call: a value, or a negated errno between -4095 and -1.
pub type Outcome = isize;

/// Whether a system call failed.
pub fn failed(outcome: Outcome) -> bool {
    (-4095..0).contains(&outcome)
}

/// How often a call is made again that a signal has interrupted before it did anything.
const MOST_INTERRUPTIONS: u32 = 100;

/// Makes a call again as long as it is interrupted: by a signal, or by work that the kernel does for the thread.
fn until_done(mut make: impl FnMut() -> Outcome) -> Outcome {
    for _ in 0..MOST_INTERRUPTIONS {
        let outcome = make();
        if outcome != -(libc::EINTR as isize) {
            return outcome;
        }
    }
    -(libc::EINTR as isize)
}

/// A system call with up to six arguments.
///
/// # Safety
/// The call must be sound for the process: pointers valid for what the kernel does with them.
#[inline]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Outcome {
    let result: isize;
    // SAFETY: the kernel's calling convention for x86-64: number in rax, arguments in rdi, rsi, rdx, r10,
    // r8, r9; rcx and r11 are overwritten. What the call does is the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result
}

macro_rules! sys {
    ($number:ident $(, $argument:expr)*) => {{
        let given = [$($argument as usize),*];
        let mut arguments = [0_usize; 6];
        arguments[..given.len()].copy_from_slice(&given);
        // SAFETY: each use in this module passes pointers to live memory of the sizes the call expects.
        unsafe { call(libc::$number, arguments) }
    }};
}

/// Kernel id of the calling thread.
#[inline]
pub fn gettid() -> u32 {
    sys!(SYS_gettid, 0) as u32
}

/// Process id.
pub fn getpid() -> u32 {
    sys!(SYS_getpid, 0) as u32
}

/// Parent's process id.
pub fn getppid() -> u32 {
    sys!(SYS_getppid, 0) as u32
}

/// User id.
pub fn getuid() -> u32 {
    sys!(SYS_getuid, 0) as u32
}

/// Clock reading in nanoseconds; 0 if the kernel refuses the clock.
#[inline]
pub fn clock_ns(clock: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let outcome = sys!(SYS_clock_gettime, clock, &raw mut time);
    if failed(outcome) { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Resolution of a clock in nanoseconds.
pub fn clock_resolution_ns(clock: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let outcome = sys!(SYS_clock_getres, clock, &raw mut time);
    if failed(outcome) { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Resource use of the calling thread.
#[inline]
pub fn thread_usage(usage: &mut libc::rusage) {
    sys!(SYS_getrusage, libc::RUSAGE_THREAD, usage as *mut libc::rusage);
}

/// Opens a file; the descriptor is closed on exec.
pub fn open(path: &CStr, flags: i32, mode: u32) -> Outcome {
    until_done(|| sys!(SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags | libc::O_CLOEXEC, mode))
}

/// As [`open`], by a path relative to the folder of a descriptor.
pub fn open_at(folder: i32, path: &CStr, flags: i32) -> Outcome {
    sys!(SYS_openat, folder as isize, path.as_ptr(), flags | libc::O_CLOEXEC, 0)
}

/// Whether the process may use a file so (`X_OK`, `R_OK`).
pub fn may(path: &CStr, mode: i32) -> bool {
    !failed(sys!(SYS_faccessat, libc::AT_FDCWD as isize, path.as_ptr(), mode, 0))
}

/// The kernel's `open_how`.
#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// Opens a file by an absolute path in which nothing is a symbolic link: somebody may have put one in the place of the run's
/// folder, or of the one with the logs.
pub fn open_in_run(path: &CStr, flags: i32, mode: u32) -> Outcome {
    until_done(|| open_without_links(path, flags, mode))
}

fn open_without_links(path: &CStr, flags: i32, mode: u32) -> Outcome {
    const NO_SYMLINKS: u64 = 4;
    let how = OpenHow { flags: (flags | libc::O_CLOEXEC) as u64, mode: mode.into(), resolve: NO_SYMLINKS };
    let outcome =
        sys!(SYS_openat2, libc::AT_FDCWD as isize, path.as_ptr(), &raw const how, size_of::<OpenHow>());
    if outcome != -(libc::ENOSYS as isize) && outcome != -(libc::EPERM as isize) {
        return outcome;
    }
    // An older kernel, or one that may not be asked: by steps, from the run's folder on.
    let mut folder = [0_u8; 4096];
    let bytes = path.to_bytes();
    let Some(end) = bytes.iter().rposition(|&byte| byte == b'/').filter(|&end| end < folder.len()) else {
        return -(libc::ENAMETOOLONG as isize);
    };
    folder[..end].copy_from_slice(&bytes[..end]);
    let in_folder = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let parent = sys!(SYS_openat, libc::AT_FDCWD as isize, folder.as_ptr(), in_folder, 0);
    if failed(parent) {
        return parent;
    }
    // SAFETY: what follows the last slash ends where the path does.
    let name = unsafe { path.as_ptr().add(end + 1) };
    let outcome = sys!(SYS_openat, parent, name, flags | libc::O_NOFOLLOW | libc::O_CLOEXEC, mode);
    close(parent as i32);
    outcome
}

/// Closes a descriptor.
pub fn close(descriptor: i32) {
    sys!(SYS_close, descriptor);
}

/// Reads into `buffer`.
pub fn read(descriptor: i32, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_read, descriptor, buffer.as_mut_ptr(), buffer.len())
}

/// Reads into `buffer` from `offset`.
pub fn pread(descriptor: i32, buffer: &mut [u8], offset: u64) -> Outcome {
    sys!(SYS_pread64, descriptor, buffer.as_mut_ptr(), buffer.len(), offset)
}

/// Writes `bytes` at `offset`.
pub fn pwrite(descriptor: i32, bytes: &[u8], offset: u64) -> Outcome {
    until_done(|| sys!(SYS_pwrite64, descriptor, bytes.as_ptr(), bytes.len(), offset))
}

/// Reserves storage for a range of a file, extending it.
pub fn fallocate(descriptor: i32, offset: u64, bytes: u64) -> Outcome {
    until_done(|| sys!(SYS_fallocate, descriptor, 0, offset, bytes))
}

/// Cuts a file.
pub fn ftruncate(descriptor: i32, bytes: u64) -> Outcome {
    until_done(|| sys!(SYS_ftruncate, descriptor, bytes))
}

/// Sets the permissions of an open file.
pub fn fchmod(descriptor: i32, mode: u32) {
    sys!(SYS_fchmod, descriptor, mode);
}

/// Status of an open file.
pub fn fstat(descriptor: i32) -> Option<libc::stat> {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let outcome = sys!(SYS_fstat, descriptor, status.as_mut_ptr());
    // SAFETY: all-zero is a valid `stat`, and the kernel filled it in on success.
    (!failed(outcome)).then(|| unsafe { status.assume_init() })
}

/// Status of a path.
pub fn stat(path: &CStr) -> Option<libc::stat> {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let outcome = sys!(SYS_newfstatat, libc::AT_FDCWD as isize, path.as_ptr(), status.as_mut_ptr(), 0);
    // SAFETY: as above.
    (!failed(outcome)).then(|| unsafe { status.assume_init() })
}

/// Entries of an open folder, in the kernel's `linux_dirent64` layout.
pub fn getdents(descriptor: i32, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_getdents64, descriptor, buffer.as_mut_ptr(), buffer.len())
}

/// Target of a symbolic link; number of bytes.
pub fn readlink(path: &CStr, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_readlinkat, libc::AT_FDCWD as isize, path.as_ptr(), buffer.as_mut_ptr(), buffer.len())
}

/// Working folder; number of bytes, the final zero included.
pub fn getcwd(buffer: &mut [u8]) -> Outcome {
    sys!(SYS_getcwd, buffer.as_mut_ptr(), buffer.len())
}

/// Soft limit of a resource.
pub fn limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let outcome = sys!(SYS_prlimit64, 0, resource, 0, &raw mut limit);
    if failed(outcome) { libc::RLIM64_INFINITY } else { limit.rlim_cur }
}

/// Maps memory; null on failure.
pub fn map(bytes: usize, protection: i32, flags: i32, descriptor: i32, offset: u64) -> *mut u8 {
    let outcome = sys!(SYS_mmap, 0, bytes, protection, flags, descriptor as isize, offset);
    if failed(outcome) { core::ptr::null_mut() } else { outcome as *mut u8 }
}

/// Maps memory without access, at `address` or where the kernel puts it; null on failure.
pub fn map_at(address: usize, bytes: usize, flags: i32, descriptor: i32, offset: u64) -> *mut u8 {
    let outcome = sys!(SYS_mmap, address, bytes, libc::PROT_NONE, flags, descriptor as isize, offset);
    if failed(outcome) { core::ptr::null_mut() } else { outcome as *mut u8 }
}

/// Puts a page of private memory where nothing is mapped any more, at this address; none if it is null.
///
/// # Safety
/// What lies there is the caller's.
pub unsafe fn put_scratch(address: *mut u8) {
    const PAGE: usize = 4096;
    let start = address as usize & !(PAGE - 1);
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    if start != 0 {
        sys!(SYS_mmap, start, PAGE, access, flags, -1_isize, 0);
    }
}

/// Sets the access to memory.
pub fn protect(start: *mut u8, bytes: usize, protection: i32) -> Outcome {
    sys!(SYS_mprotect, start, bytes, protection)
}

/// Lets the kernel take memory away from a process that has locked all that it maps.
pub fn unlock(start: *mut u8, bytes: usize) {
    sys!(SYS_munlock, start, bytes);
}

/// Unmaps memory.
///
/// # Safety
/// The range was mapped by [`map`] and nothing uses it any more.
pub unsafe fn unmap(start: *mut u8, bytes: usize) {
    sys!(SYS_munmap, start, bytes);
}

/// Advice about memory.
pub fn madvise(start: *mut u8, bytes: usize, advice: i32) -> Outcome {
    sys!(SYS_madvise, start, bytes, advice)
}

/// Lets other threads run on the caller's processor.
pub fn give_processor_away() {
    sys!(SYS_sched_yield, 0);
}

/// The calling thread's alternate signal stack; empty if it has none.
pub fn alternate_stack() -> core::ops::Range<u64> {
    let mut stack = [0_u64; 3];
    let outcome = sys!(SYS_sigaltstack, 0, stack.as_mut_ptr());
    let is_off = failed(outcome) || stack[1] as u32 & libc::SS_DISABLE as u32 != 0;
    if is_off { 0..0 } else { stack[0]..stack[0].saturating_add(stack[2]) }
}

/// Whether there is a thread of that kernel id; in any process, since a child may run in its parent's memory.
pub fn has_thread(tid: u32) -> bool {
    sys!(SYS_tkill, tid, 0) != -(libc::ESRCH as isize)
}

/// Sleeps for so long, or until a signal comes.
pub fn sleep_ns(ns: u64) {
    let time = [(ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64];
    sys!(SYS_nanosleep, time.as_ptr(), 0);
}

/// Asks the kernel to be ready for [`barrier`]; whether it is. Cheap while the process has one thread.
pub fn register_barriers() -> bool {
    !failed(sys!(SYS_membarrier, libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
}

/// Every thread of this process executes a full memory barrier before this returns. Only after [`register_barriers`].
pub fn barrier() {
    sys!(SYS_membarrier, libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/// Reads memory that may not be mapped; number of bytes read.
pub fn read_memory(process: u32, address: u64, buffer: &mut [u8]) -> Outcome {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast::<c_void>(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: buffer.len() };
    sys!(SYS_process_vm_readv, process, &raw const local, 1, &raw const remote, 1, 0)
}

/// Sends a signal to thread `tid` of this process.
pub fn signal_thread(tid: u32, signal: i32) {
    sys!(SYS_tgkill, getpid(), tid, signal);
}

/// Sends a signal again, as it came, with all that is known of it: to the calling thread if it was meant for that one,
/// otherwise to the process.
///
/// # Safety
/// `info` is what the kernel gave to a handler of `signal`.
pub unsafe fn queue_signal(signal: i32, info: *const libc::siginfo_t) {
    // SAFETY: the caller's promise.
    let mut copy = unsafe { *info };
    if copy.si_code == libc::SI_TKILL {
        sys!(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
    } else if failed(sys!(SYS_rt_sigqueueinfo, getpid(), signal, info)) {
        // Only the first thread may repeat what the kernel or another process said.
        copy.si_code = libc::SI_QUEUE;
        sys!(SYS_rt_sigqueueinfo, getpid(), signal, &raw const copy);
    }
}

/// Takes pending signals of these numbers away, as long as they are `ours`; one that is not is sent again.
pub fn drop_pending(mask: u64, ours: impl Fn(*const libc::siginfo_t) -> bool) {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        let mut info = core::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let number =
            sys!(SYS_rt_sigtimedwait, &raw const mask, info.as_mut_ptr(), &raw const now, size_of::<u64>());
        if failed(number) {
            return;
        }
        if !ours(info.as_ptr()) {
            // SAFETY: what the kernel told of it.
            unsafe { queue_signal(number as i32, info.as_ptr()) };
            return;
        }
    }
}

/// The first two numbers of the kernel's version; zeros if it does not say.
pub fn kernel_version() -> (u32, u32) {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    sys!(SYS_uname, names.as_mut_ptr());
    // SAFETY: all-zero is a valid `utsname`.
    let names = unsafe { names.assume_init() };
    let mut numbers = names.release.split(|&byte| !(byte as u8).is_ascii_digit()).map(|digits| {
        digits
            .iter()
            .fold(0_u32, |number, &digit| number.wrapping_mul(10).wrapping_add(u32::from(digit as u8 - b'0')))
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Signals that wait to be delivered to the calling thread.
pub fn pending_signals() -> u64 {
    let mut pending = 0_u64;
    sys!(SYS_rt_sigpending, &raw mut pending, size_of::<u64>());
    pending
}

/// Blocks or unblocks signals of the calling thread; the old mask comes back.
pub fn signal_mask(how: i32, mask: u64) -> u64 {
    let mut old = 0_u64;
    sys!(SYS_rt_sigprocmask, how, &raw const mask, &raw mut old, size_of::<u64>());
    old
}

/// The kernel's own `sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelAction {
    /// Handler, or 0 for default, 1 for ignore.
    pub handler: usize,
    /// SA_ flags.
    pub flags: u64,
    /// Where the handler returns to.
    pub restorer: usize,
    /// Signals blocked in the handler.
    pub mask: u64,
}

/// Sets a signal's action; the old one comes back.
pub fn signal_action(signal: i32, new: Option<&KernelAction>) -> Result<KernelAction, i32> {
    let mut old = KernelAction::default();
    let new = new.map_or(core::ptr::null(), |new| new as *const KernelAction);
    let outcome = sys!(SYS_rt_sigaction, signal, new, &raw mut old, size_of::<u64>());
    if failed(outcome) { Err(-outcome as i32) } else { Ok(old) }
}

/// The kernel's `sigevent` for a signal to one thread.
#[repr(C)]
struct ThreadEvent {
    value: usize,
    signal: i32,
    notify: i32,
    thread: i32,
    padding: [i32; 11],
}

/// Creates a timer that signals thread `tid`; the timer's id, or an errno.
pub fn timer_create(clock: i32, signal: i32, value: usize, tid: u32) -> Result<i32, i32> {
    let event =
        ThreadEvent { value, signal, notify: libc::SIGEV_THREAD_ID, thread: tid as i32, padding: [0; 11] };
    let mut timer = 0_i32;
    let outcome = sys!(SYS_timer_create, clock as isize, &raw const event, &raw mut timer);
    if failed(outcome) { Err(-outcome as i32) } else { Ok(timer) }
}

/// Arms a timer with a period.
pub fn timer_set(timer: i32, period_ns: u64) -> Outcome {
    let period = libc::timespec {
        tv_sec: (period_ns / 1_000_000_000) as i64,
        tv_nsec: (period_ns % 1_000_000_000) as i64,
    };
    let setting = libc::itimerspec { it_interval: period, it_value: period };
    sys!(SYS_timer_settime, timer, 0, &raw const setting, 0)
}

/// Deletes a timer.
pub fn timer_delete(timer: i32) {
    sys!(SYS_timer_delete, timer);
}

/// Whether the calling thread may read the processor's counter.
pub fn may_read_counter() -> bool {
    let mut setting = libc::PR_TSC_ENABLE;
    sys!(SYS_prctl, libc::PR_GET_TSC, &raw mut setting);
    setting != libc::PR_TSC_SIGSEGV
}

/// Number of processors in the calling thread's affinity mask.
pub fn affinity_count() -> u32 {
    let mut mask = [0_u64; 128];
    let outcome = sys!(SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr());
    if failed(outcome) { 0 } else { mask.iter().map(|word| word.count_ones()).sum() }
}

/// The processor the thread runs on.
pub fn processor() -> u32 {
    let mut processor = 0_u32;
    sys!(SYS_getcpu, &raw mut processor, 0, 0);
    processor
}

/// Host name, into `buffer`; number of bytes.
pub fn host_name(buffer: &mut [u8; 65]) -> usize {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    sys!(SYS_uname, names.as_mut_ptr());
    // SAFETY: all-zero is a valid `utsname`.
    let names = unsafe { names.assume_init() };
    let mut length = 0;
    for (to, &from) in buffer.iter_mut().zip(names.nodename.iter()) {
        if from == 0 {
            break;
        }
        *to = from as u8;
        length += 1;
    }
    length
}

/// Bytes of a C string.
///
/// # Safety
/// `text` points to a zero-terminated string that lives as long as the result is used.
pub unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}
