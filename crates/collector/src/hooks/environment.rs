//! The environment of children: the collector's entries in it, and how they are put back.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicPtr, Ordering};

use proust_log::control::{COLLECTOR_FILE, RUN_VARIABLE};

use crate::arch::PAGE_BYTES;
use crate::lane::Record;
use crate::options::Options;
use crate::real::Strings;
use crate::{arena, logfile};

/// The variable through which the dynamic linker loads the collector.
const PRELOAD: &[u8] = b"LD_PRELOAD=";

static RUN_ENTRY: AtomicPtr<c_char> = AtomicPtr::new(core::ptr::null_mut());
static PRELOAD_ENTRY: AtomicPtr<c_char> = AtomicPtr::new(core::ptr::null_mut());

/// The collector's own entry in a list of libraries to preload.
pub fn own_entry(list: &[u8]) -> Option<&'static CStr> {
    let own = list
        .split(|&byte| byte == b':' || byte == b' ')
        .find(|path| path.ends_with(COLLECTOR_FILE.as_bytes()))?;
    logfile::join(c"", &[own])
}

/// Prepares the entries for children whose environment lacks them.
pub fn prepare(options: &Options, library: &CStr) {
    let run = [RUN_VARIABLE.as_bytes(), b"=", options.folder.to_bytes()];
    let preload = [PRELOAD, library.to_bytes()];
    if let (Some(run), Some(preload)) = (logfile::join(c"", &run), logfile::join(c"", &preload))
        && !library.is_empty()
    {
        RUN_ENTRY.store(run.as_ptr().cast_mut(), Ordering::Release);
        PRELOAD_ENTRY.store(preload.as_ptr().cast_mut(), Ordering::Release);
    }
}

/// The file that is preloaded, if that is known.
pub fn library() -> Option<&'static CStr> {
    let preload = PRELOAD_ENTRY.load(Ordering::Acquire);
    if preload.is_null() {
        return None;
    }
    // SAFETY: made by `prepare`, and stays; the text after the name ends where the whole does.
    unsafe { Some(CStr::from_ptr(preload.add(PRELOAD.len()))) }
}

/// Whether a variable says how a program runs in parallel; only these are recorded.
pub fn concerns_parallelism(entry: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 20] = [
        b"OMP_",
        b"GOMP_",
        b"KMP_",
        b"OMPI_COMM_WORLD_",
        b"OMPI_UNIVERSE_SIZE",
        b"PMI_",
        b"PMIX_RANK",
        b"PMIX_NAMESPACE",
        b"OMPI_MCA_ess_base_jobid",
        b"OMPI_MCA_orte_hnp_uri",
        b"MV2_COMM_WORLD_",
        b"MPI_LOCAL",
        b"SLURM_PROCID",
        b"SLURM_NTASKS",
        b"SLURM_JOB",
        b"SLURM_STEP",
        b"SLURM_TASKS_PER_NODE",
        b"LSB_MCPU_HOSTS",
        b"RAYON_NUM_THREADS",
        b"TBB_NUM_THREADS",
    ];
    PREFIXES.iter().any(|prefix| entry.starts_with(prefix))
}

/// What an environment has of the collector's entries.
struct Found {
    /// The entries that must be there.
    run: &'static CStr,
    preload: &'static CStr,
    /// Entries that there are.
    count: usize,
    has_run: bool,
    /// Where the list of libraries to preload stands, and what it says.
    theirs: Option<(usize, &'static [u8])>,
    has_library: bool,
}

/// None where nothing is to be put into an environment: the collector was not prepared for that, or another
/// run's recorder is being started.
///
/// # Safety
/// `given` is null or a null-terminated list of C strings, which live as long as what is returned is used.
unsafe fn look_through(given: Strings) -> Option<Found> {
    let run = RUN_ENTRY.load(Ordering::Acquire);
    let preload = PRELOAD_ENTRY.load(Ordering::Acquire);
    if run.is_null() || preload.is_null() {
        return None;
    }
    // SAFETY: both were made by `prepare` and stay.
    let (run, preload) = unsafe { (CStr::from_ptr(run), CStr::from_ptr(preload)) };
    let library = preload.to_bytes().get(PRELOAD.len()..).unwrap_or(b"");
    let (mut count, mut has_run, mut theirs) = (0, false, None);
    // SAFETY: the caller's promise.
    for (index, entry) in unsafe { crate::life::Strings::new(given) }.enumerate() {
        count = index + 1;
        if let Some(list) = entry.strip_prefix(PRELOAD) {
            theirs = Some((index, list));
        } else if entry.strip_prefix(RUN_VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")) {
            // Another run's recorder is being started, or our entry is there already.
            if entry != run.to_bytes() {
                return None;
            }
            has_run = true;
        }
    }
    let has_library = theirs.is_some_and(|(_, list)| {
        list.split(|&byte| byte == b':' || byte == b' ').any(|path| path == library)
    });
    Some(Found { run, preload, count, has_run, theirs, has_library })
}

/// Whether an image with this environment loads the collector for this run as it is.
///
/// # Safety
/// As for [`mended`].
pub unsafe fn loads_collector(given: Strings) -> bool {
    // SAFETY: the caller's promise.
    unsafe { look_through(given) }.is_some_and(|found| found.has_run && found.has_library)
}

/// An environment for a new image in which the collector is present: the given one if it has it. The second
/// value says whether something was put back.
///
/// Works in memory that belongs to the calling thread's lane and needs no lock, so that it may be used
/// between vfork and exec, when the thread that owns the lane waits for the child.
///
/// # Safety
/// `given` is null or a null-terminated list of C strings.
pub unsafe fn mended(given: Strings, record: &mut Record) -> (Strings, bool) {
    // SAFETY: the caller's promise.
    let Some(found) = (unsafe { look_through(given) }) else { return (given, false) };
    let Found { run, preload, count, has_run, theirs, has_library } = found;
    if has_run && has_library {
        return (given, false);
    }
    let pointers = (count + 3) * size_of::<*const c_char>();
    let text = preload.count_bytes() + theirs.map_or(0, |(_, list)| list.len()) + 2;
    let Some(memory) = exec_memory(record, pointers + text) else { return (given, false) };
    // SAFETY: the memory holds count + 3 pointers and behind them the text; `given` has `count` entries.
    unsafe {
        let list = memory.cast::<*const c_char>();
        let joined = memory.add(pointers);
        let mut end = joined;
        let mut append = |bytes: &[u8]| {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
            end = end.add(bytes.len());
        };
        append(preload.to_bytes());
        if let Some((_, list)) = theirs.filter(|(_, list)| !list.is_empty() && !has_library) {
            append(b":");
            append(list);
        }
        append(b"\0");
        let mut used = 0;
        for index in 0..count {
            if theirs.is_some_and(|(at, _)| at == index) && !has_library {
                continue;
            }
            list.add(used).write(*given.add(index));
            used += 1;
        }
        if !has_library {
            list.add(used).write(joined.cast());
            used += 1;
        }
        if !has_run {
            list.add(used).write(run.as_ptr());
            used += 1;
        }
        list.add(used).write(core::ptr::null());
        (list.cast_const(), true)
    }
}

/// An environment in which nothing loads the collector.
///
/// # Safety
/// As for [`mended`].
pub unsafe fn without_collector(given: Strings) -> Strings {
    let preload = PRELOAD_ENTRY.load(Ordering::Acquire);
    if preload.is_null() {
        return given;
    }
    // SAFETY: made by `prepare`, and stays.
    let preload = unsafe { CStr::from_ptr(preload) }.to_bytes();
    let library = preload.get(PRELOAD.len()..).unwrap_or(b"");
    let mut kept: Vec<*const c_char> = Vec::new();
    // SAFETY: the caller's promise.
    for (index, entry) in unsafe { crate::life::Strings::new(given) }.enumerate() {
        let Some(list) = entry.strip_prefix(PRELOAD) else {
            // SAFETY: `given` has at least this many entries.
            kept.push(unsafe { *given.add(index) });
            continue;
        };
        let others = list.split(|&byte| byte == b':' || byte == b' ').filter(|path| *path != library);
        let rest = others.collect::<Vec<_>>().join(&b':');
        if !rest.is_empty()
            && let Some(entry) = logfile::join(c"", &[PRELOAD, &rest])
        {
            kept.push(entry.as_ptr());
        }
    }
    kept.push(core::ptr::null());
    kept.leak().as_ptr()
}

/// At least `bytes` of memory for an exec, kept with the lane.
pub fn exec_memory(record: &mut Record, bytes: usize) -> Option<*mut u8> {
    let (memory, size) = record.exec_memory;
    if size >= bytes {
        return Some(memory);
    }
    if !memory.is_null() {
        // SAFETY: returned by `pages` below; used only until the exec that asked for it.
        unsafe { arena::give_back(memory, size) };
    }
    let size = bytes.next_multiple_of(PAGE_BYTES);
    let memory = arena::pages(size);
    record.exec_memory = if memory.is_null() { (memory, 0) } else { (memory, size) };
    (!memory.is_null()).then_some(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane;
    use std::ffi::CString;

    /// The environment that a child gets when the program gives it `given`.
    fn child(given: &[&str]) -> (Vec<String>, bool) {
        let texts: Vec<CString> = given.iter().map(|text| CString::new(*text).unwrap()).collect();
        let mut list: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        list.push(core::ptr::null());
        let lane = lane::claim().unwrap();
        // SAFETY: the lane is ours, and the list ends with null.
        let (mended, changed) = unsafe { mended(list.as_ptr(), lane.record()) };
        // SAFETY: as above.
        let strings = unsafe { crate::life::Strings::new(mended) };
        let strings = strings.map(|text| String::from_utf8(text.to_vec()).unwrap()).collect();
        lane.release();
        (strings, changed)
    }

    #[test]
    fn what_is_missing_is_put_back_and_the_rest_left_alone() {
        RUN_ENTRY.store(c"PROUST_RUN=/r".as_ptr().cast_mut(), Ordering::Release);
        PRELOAD_ENTRY.store(c"LD_PRELOAD=/r/libproust_collector.so".as_ptr().cast_mut(), Ordering::Release);
        let ours = "LD_PRELOAD=/r/libproust_collector.so";
        assert_eq!(child(&[]), (vec![ours.into(), "PROUST_RUN=/r".into()], true));
        assert!(!child(&["A=1", ours, "PROUST_RUN=/r"]).1);
        assert_eq!(
            child(&["A=1", "PROUST_RUN=/r"]),
            (vec!["A=1".into(), "PROUST_RUN=/r".into(), ours.into()], true)
        );
        let theirs = child(&["LD_PRELOAD=/x.so", "B=2"]);
        assert_eq!(theirs.0, ["B=2", "LD_PRELOAD=/r/libproust_collector.so:/x.so", "PROUST_RUN=/r"]);
        // Another command records this child, for another run.
        assert_eq!(child(&["PROUST_RUN=/other"]), (vec!["PROUST_RUN=/other".into()], false));
        assert_eq!(child(&["PROUST_RUNNER=1"]).0, ["PROUST_RUNNER=1", ours, "PROUST_RUN=/r"]);
    }

    #[test]
    fn the_own_entry_is_found_among_others() {
        let found = own_entry(b"/a.so:/r/libproust_collector.so /b.so").unwrap();
        assert_eq!(found, c"/r/libproust_collector.so");
        assert_eq!(own_entry(b"/a.so"), None);
    }
}
