//! The run's options for the collector: read once from the environment and the control page.

use core::ffi::CStr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use proust_log::control::{
    BEGIN_PAUSED, BLOCKED_AT, Blocked, CALIBRATED, CHECK_PATHS, CONTROL_BYTES, CONTROL_FILE, CONTROL_MAGIC,
    Control, NO_MPI_PATHS, RUN_VARIABLE, blocked_word,
};
use proust_log::layout::VERSION;

use crate::{control, launcher, raw};

/// The options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The run's folder, absolute.
    pub folder: &'static CStr,
    /// Mean distance of samples on a thread's CPU clock.
    pub mean_distance_ns: u64,
    /// Samples per second of CPU time.
    pub rate_hz: u32,
    /// Compare every path with a full unwind.
    pub check_paths: bool,
    /// Keep the paths of calls of MPI, and not only their sites.
    pub mpi_paths: bool,
    /// Bytes all logs of the run may take together.
    pub budget_bytes: u64,
    /// Bytes the log of this rank may take, as many as that of each other rank of its host; None of a process
    /// that is no rank ([`share_beside_ranks`]).
    pub share_bytes: Option<u64>,
    /// The limit of the run's control group, in thousandths of a processor; 0 = all.
    pub quota_milli: u32,
    /// Operations shorter than this are summed, ns; None = what is worth it here.
    pub sync_threshold_ns: Option<u64>,
    /// The signals that ask for a sample and that pause and resume; 0 = none.
    pub request_signals: [u32; 2],
    /// Each process begins paused by itself.
    pub begins_paused: bool,
}

static CONTROL: AtomicPtr<Control> = AtomicPtr::new(core::ptr::null_mut());

/// The value of `name` in an environment block.
///
/// # Safety
/// `environment` is a null-terminated array of C strings that live as long as the process.
pub unsafe fn variable(environment: *const *const core::ffi::c_char, name: &str) -> Option<&'static CStr> {
    let mut entry = environment;
    // SAFETY: the caller's promise.
    unsafe {
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry);
            if let Some(rest) = text.to_bytes_with_nul().strip_prefix(name.as_bytes())
                && rest.first() == Some(&b'=')
            {
                return CStr::from_bytes_with_nul(rest.get(1..)?).ok();
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Reads the options; None if this process is not to be recorded.
///
/// # Safety
/// As for [`variable`].
pub unsafe fn read(environment: *const *const core::ffi::c_char) -> Option<Options> {
    // SAFETY: passed on.
    let folder = unsafe { variable(environment, RUN_VARIABLE) }?;
    // The program may change its environment later: keep the text.
    let folder: &'static CStr = Box::leak(folder.to_owned().into_boxed_c_str());
    let control = map_control(folder)?;
    // SAFETY: mapped with at least the size of a control page, for the process's life.
    let page = unsafe { control.read_volatile() };
    if filters().is_some_and(|filters| filters > page.filters) {
        return None;
    }
    if page.magic != CONTROL_MAGIC || page.version != VERSION || page.rate_hz == 0 {
        return None;
    }
    CONTROL.store(control, Ordering::Release);
    if control::has_stopped() {
        return None;
    }
    // SAFETY: passed on.
    let ranks = launcher::ranks_here(|name| unsafe { variable(environment, name) });
    if let Some(ranks) = ranks {
        // SAFETY: the control page stays mapped; the field is aligned and only ever used atomically.
        unsafe { AtomicU32::from_ptr(&raw mut (*control).ranks) }.fetch_max(ranks, Ordering::Relaxed);
    }
    Some(Options {
        folder,
        mean_distance_ns: 1_000_000_000 / u64::from(page.rate_hz),
        rate_hz: page.rate_hz,
        check_paths: page.options & CHECK_PATHS != 0,
        mpi_paths: page.options & NO_MPI_PATHS == 0,
        budget_bytes: page.budget_bytes,
        share_bytes: ranks.map(|ranks| of_ranks(page.budget_bytes) / u64::from(ranks)),
        quota_milli: page.quota_milli,
        sync_threshold_ns: Some(page.sync_threshold_ns).filter(|&ns| ns != CALIBRATED),
        request_signals: [page.sample_signal, page.pause_signal],
        begins_paused: page.options & BEGIN_PAUSED != 0,
    })
}

/// System call filters that this process runs under; None where the kernel does not report it.
fn filters() -> Option<u32> {
    raw::with_text::<2048, _>(c"/proc/self/status", |text| {
        let line =
            text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"Seccomp_filters:"))?;
        crate::path::maps::number(line.trim_ascii(), 10).map(|filters| filters as u32)
    })?
}

fn map_control(folder: &CStr) -> Option<*mut Control> {
    let path = crate::logfile::join(folder, &[b"/", CONTROL_FILE.as_bytes()])?;
    let descriptor = raw::open_in_run(path, libc::O_RDWR, 0);
    if raw::failed(descriptor) {
        return None;
    }
    let long_enough =
        raw::fstat(descriptor as i32).is_some_and(|status| status.st_size as usize >= CONTROL_BYTES);
    let memory = if long_enough {
        raw::map(CONTROL_BYTES, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, descriptor as i32, 0)
    } else {
        core::ptr::null_mut()
    };
    raw::close(descriptor as i32);
    (!memory.is_null()).then_some(memory.cast())
}

/// The control page, [`CONTROL_BYTES`] long, once it is mapped.
#[inline]
pub fn page() -> Option<NonNull<Control>> {
    NonNull::new(CONTROL.load(Ordering::Relaxed))
}

/// The words for processes that have signals blocked until a new image is ready.
fn blocked_words() -> Option<&'static [AtomicU64; size_of::<Blocked>() / 8]> {
    let page = page()?;
    // SAFETY: the control page stays mapped, is so long, and has these words, aligned, at this place; they
    // are only ever used atomically.
    Some(unsafe { &*page.as_ptr().byte_add(BLOCKED_AT).cast() })
}

/// This process has these signals blocked from now on; false if there is no free word.
pub fn note_blocked(pid: u32, which: u32) -> bool {
    let take = |word: &AtomicU64| {
        word.compare_exchange(0, blocked_word(pid, which), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    blocked_words().is_some_and(|words| words.iter().any(take))
}

/// Which signals this process has blocked; from now on it has none.
pub fn take_blocked(pid: u32) -> u32 {
    let Some(words) = blocked_words() else { return 0 };
    let mut which = 0;
    for word in words {
        let value = word.load(Ordering::Acquire);
        if value as u32 == pid && value != 0 {
            which |= (value >> 32) as u32;
            word.store(0, Ordering::Release);
        }
    }
    which
}

/// The option bits as they stand now: some change during a run.
#[inline]
pub fn live() -> u32 {
    // SAFETY: the control page stays mapped; the field is aligned and only ever used atomically.
    unsafe { CONTROL.load(Ordering::Relaxed).as_mut() }.map_or(0, |control| {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(&raw mut control.options) }.load(Ordering::Relaxed)
    })
}

/// The part of a run's budget that its ranks share.
fn of_ranks(budget: u64) -> u64 {
    budget / 8 * 7
}

/// Bytes that the log of a process that is no rank may take: as long as no rank has begun all that is left,
/// then a small part, since launchers that poll would take as much as ranks that compute.
pub fn share_beside_ranks(budget: u64) -> u64 {
    // SAFETY: the control page stays mapped.
    let Some(control) = (unsafe { CONTROL.load(Ordering::Acquire).as_mut() }) else { return budget };
    // SAFETY: as above; the field is aligned and only ever used atomically.
    let ranks = unsafe { AtomicU32::from_ptr(&raw mut control.ranks) }.load(Ordering::Relaxed);
    if ranks == 0 { budget } else { (budget - of_ranks(budget)) / 2 }
}

/// Takes `bytes` of the run's budget; false if it is used up.
pub fn take_budget(bytes: u64, budget: u64) -> bool {
    // SAFETY: the control page stays mapped; the field is only ever used atomically.
    let Some(control) = (unsafe { CONTROL.load(Ordering::Acquire).as_mut() }) else { return false };
    // SAFETY: as above; the field is aligned.
    let taken = unsafe { AtomicU64::from_ptr(&raw mut control.taken_bytes) };
    if taken.fetch_add(bytes, Ordering::Relaxed) + bytes > budget {
        taken.fetch_sub(bytes, Ordering::Relaxed);
        return false;
    }
    true
}

/// Bytes of the run's budget that are taken.
pub fn taken() -> u64 {
    // SAFETY: as in `take_budget`.
    unsafe { CONTROL.load(Ordering::Acquire).as_mut() }.map_or(0, |control| {
        // SAFETY: as in `take_budget`.
        unsafe { AtomicU64::from_ptr(&raw mut control.taken_bytes) }.load(Ordering::Relaxed)
    })
}

/// Gives back what was taken and not used.
pub fn return_budget(bytes: u64) {
    // SAFETY: as in `take_budget`.
    if let Some(control) = unsafe { CONTROL.load(Ordering::Acquire).as_mut() } {
        // SAFETY: as in `take_budget`.
        unsafe { AtomicU64::from_ptr(&raw mut control.taken_bytes) }.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Options of a run in `folder` with a budget that is never used up.
#[cfg(test)]
pub fn of_a_test(folder: &'static CStr) -> Options {
    let page: &'static mut [u64] = Vec::leak(vec![0; CONTROL_BYTES / 8]);
    CONTROL.store(page.as_mut_ptr().cast(), Ordering::Release);
    Options {
        folder,
        mean_distance_ns: 5_000_000,
        rate_hz: 200,
        check_paths: false,
        mpi_paths: true,
        budget_bytes: u64::MAX,
        share_bytes: None,
        quota_milli: 0,
        sync_threshold_ns: None,
        request_signals: [0, 0],
        begins_paused: false,
    }
}
