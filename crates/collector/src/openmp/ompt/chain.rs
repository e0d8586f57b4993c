//! Another tool that gets the events, too: ours is the runtime's tool, and the other one asks ours.
//!
//! It gets the runtime's own functions, but for those that set what is called for an event and those that
//! show the words of regions and tasks ([`super::pairs`]). Events that concern no such word and not us go to
//! it directly.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::forward;
use super::layout::{Data, GetCallback, GetParallelInfo, GetTaskInfo, Lookup, SetCallback, StartToolResult};
use super::pairs::Words;

static BOTH: StartToolResult = StartToolResult { initialize, finalize, tool_data: Data { value: 0 } };
/// The other tool's result of `ompt_start_tool`.
static OTHER: AtomicPtr<StartToolResult> = AtomicPtr::new(core::ptr::null_mut());

/// More than there are events.
const EVENTS: usize = 64;
/// The other tool's functions, by event.
static CALLBACKS: [AtomicPtr<c_void>; EVENTS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; EVENTS];

/// The runtime's functions of these names.
static LOOKUP: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static SET_CALLBACK: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static GET_PARALLEL_INFO: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static GET_TASK_INFO: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// The tool that represents ours and `other`. None if another runtime has that one already: the events of two
/// runtimes must be kept apart, and nothing in them says whose they are.
pub fn with(other: *mut StartToolResult) -> Option<*mut StartToolResult> {
    OTHER.compare_exchange(core::ptr::null_mut(), other, Ordering::AcqRel, Ordering::Relaxed).ok()?;
    Some((&raw const BOTH).cast_mut())
}

/// The other tool's function for `event`; null if there is none.
#[inline]
pub fn callback(event: c_int) -> *mut c_void {
    let place = usize::try_from(event).ok().and_then(|event| CALLBACKS.get(event));
    place.map_or(core::ptr::null_mut(), |place| place.load(Ordering::Acquire))
}

/// A function of the runtime, as what it is.
fn of_runtime<F: Copy>(place: &AtomicPtr<c_void>) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let function = place.load(Ordering::Acquire);
    // SAFETY: the runtime gave it by its name; the caller names the type that the interface has for that.
    (!function.is_null()).then(|| unsafe { core::mem::transmute_copy(&function) })
}

unsafe extern "C" fn initialize(lookup: Lookup, device: c_int, _: *mut Data) -> c_int {
    // SAFETY: the runtime's function, and names.
    let find = |name: &CStr| unsafe { lookup(name.as_ptr()) };
    LOOKUP.store(lookup as *mut c_void, Ordering::Release);
    SET_CALLBACK.store(find(c"ompt_set_callback"), Ordering::Release);
    GET_PARALLEL_INFO.store(find(c"ompt_get_parallel_info"), Ordering::Release);
    GET_TASK_INFO.store(find(c"ompt_get_task_info"), Ordering::Release);
    let Some(set) = of_runtime::<SetCallback>(&SET_CALLBACK) else { return 0 };
    for event in forward::OURS {
        // SAFETY: each function has the type that the interface names for its event.
        unsafe { set(event, forward::function(event)) };
    }
    let other = OTHER.load(Ordering::Acquire);
    // SAFETY: the other tool's own, as the runtime would call it.
    let stays = unsafe { ((*other).initialize)(find_for_other, device, &raw mut (*other).tool_data) } != 0;
    if !stays {
        OTHER.store(core::ptr::null_mut(), Ordering::Release);
        (0..EVENTS as c_int).filter(|event| !callback(*event).is_null()).for_each(|event| {
            // SAFETY: takes back what it had set.
            unsafe { set_callback(event, core::ptr::null()) };
        });
    }
    1
}

unsafe extern "C" fn finalize(_: *mut Data) {
    // SAFETY: the other tool's own, as the runtime would call it; it is called once.
    unsafe {
        if let Some(other) = OTHER.load(Ordering::Acquire).as_mut() {
            (other.finalize)(&raw mut other.tool_data);
        }
    }
}

/// The function that the other tool finds by a name.
unsafe extern "C" fn find_for_other(name: *const c_char) -> *mut c_void {
    let Some(lookup) = of_runtime::<Lookup>(&LOOKUP) else { return core::ptr::null_mut() };
    // SAFETY: the other tool's string.
    let (found, name) = unsafe { (lookup(name), CStr::from_ptr(name)) };
    if found.is_null() {
        return found;
    }
    match name.to_bytes() {
        b"ompt_set_callback" => set_callback as SetCallback as *mut c_void,
        b"ompt_get_callback" => get_callback as GetCallback as *mut c_void,
        b"ompt_get_parallel_info" => get_parallel_info as GetParallelInfo as *mut c_void,
        b"ompt_get_task_info" => get_task_info as GetTaskInfo as *mut c_void,
        _ => found,
    }
}

/// `ompt_set_callback`, for the other tool. Returns what the runtime says of the event.
unsafe extern "C" fn set_callback(event: c_int, function: *const c_void) -> c_int {
    let Some(set) = of_runtime::<SetCallback>(&SET_CALLBACK) else { return 0 };
    let place = usize::try_from(event).ok().and_then(|event| CALLBACKS.get(event));
    let Some(place) = place else {
        // SAFETY: an event that is not known here: as the other tool asks for it.
        return unsafe { set(event, function) };
    };
    place.store(function.cast_mut(), Ordering::Release);
    let stands = if function.is_null() && !forward::OURS.contains(&event) {
        core::ptr::null()
    } else {
        Some(forward::function(event)).filter(|both| !both.is_null()).unwrap_or(function)
    };
    // SAFETY: ours, or the other tool's own: each has the type of the event.
    unsafe { set(event, stands) }
}

/// `ompt_get_callback`, for the other tool.
unsafe extern "C" fn get_callback(event: c_int, function: *mut *const c_void) -> c_int {
    let found = callback(event);
    if found.is_null() || function.is_null() {
        return 0;
    }
    // SAFETY: the other tool's place for it.
    unsafe { function.write(found) };
    1
}

/// Shows the other tool's half instead of the runtime's word.
unsafe fn show(word: *mut *mut Data) {
    // SAFETY: null, or the other tool's place for a word, which the runtime has just filled in.
    unsafe {
        if let Some(word) = word.as_mut() {
            *word = Words::of(*word).other;
        }
    }
}

/// `ompt_get_parallel_info`, for the other tool.
unsafe extern "C" fn get_parallel_info(level: c_int, parallel: *mut *mut Data, size: *mut c_int) -> c_int {
    let Some(function) = of_runtime::<GetParallelInfo>(&GET_PARALLEL_INFO) else { return 0 };
    // SAFETY: the runtime's function with the other tool's arguments. 2 = there is one, and it is known.
    unsafe {
        let found = function(level, parallel, size);
        if found == KNOWN {
            show(parallel);
        }
        found
    }
}

/// Returned by these when they have filled in everything.
const KNOWN: c_int = 2;

/// `ompt_get_task_info`, for the other tool.
unsafe extern "C" fn get_task_info(
    level: c_int,
    flags: *mut c_int,
    task: *mut *mut Data,
    frame: *mut *mut c_void,
    parallel: *mut *mut Data,
    number: *mut c_int,
) -> c_int {
    let Some(function) = of_runtime::<GetTaskInfo>(&GET_TASK_INFO) else { return 0 };
    // SAFETY: as above.
    unsafe {
        let found = function(level, flags, task, frame, parallel, number);
        if found == KNOWN {
            show(task);
            show(parallel);
        }
        found
    }
}
