//! The interpreter of this process: found among what is loaded, by the names that it exports.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::layout::Layout;
use crate::interpose::object::{self, Name, Object};
use crate::path::modules;
use crate::raw;

/// Null: there is none whose layout is known.
static LAYOUT: AtomicPtr<Layout> = AtomicPtr::new(core::ptr::null_mut());
static THREAD_STATE: AtomicUsize = AtomicUsize::new(0);
static CODE_TYPE: AtomicU64 = AtomicU64::new(0);
/// The function that evaluates: its begin and its end.
static EVALUATES: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Whether the program may unload it: it was opened at run time.
static MAY_BE_UNLOADED: AtomicBool = AtomicBool::new(false);
/// Threads that are calling its function, if it may be unloaded.
static CALLING: AtomicU32 = AtomicU32::new(0);

/// So often another thread gets the processor before an unloading goes on without it.
const MOST_YIELDS: u32 = 1000;

const THREAD_STATE_NAME: Name = Name::new(c"PyGILState_GetThisThreadState", c"");
const CODE_TYPE_NAME: Name = Name::new(c"PyCode_Type", c"");
const EVALUATES_NAME: Name = Name::new(c"_PyEval_EvalFrameDefault", c"");

/// Whether an interpreter was found.
#[inline]
pub fn is_there() -> bool {
    !LAYOUT.load(Ordering::Acquire).is_null()
}

/// The layout, and where the calling thread's state lies; None of a thread that the interpreter does not
/// know.
pub fn of_this_thread() -> Option<(&'static Layout, u64)> {
    if !MAY_BE_UNLOADED.load(Ordering::Relaxed) {
        return ask();
    }
    CALLING.fetch_add(1, Ordering::SeqCst);
    let thread = ask();
    CALLING.fetch_sub(1, Ordering::Release);
    thread
}

fn ask() -> Option<(&'static Layout, u64)> {
    // SAFETY: null, or one of the layouts, which are never freed.
    let layout = unsafe { LAYOUT.load(Ordering::SeqCst).as_ref() }?;
    let address = THREAD_STATE.load(Ordering::Relaxed);
    // SAFETY: the address of `PyGILState_GetThisThreadState`, in a module that stays loaded, or that
    // `before_unloading` waits with. It reads a value of the thread's by a key, without locks or memory;
    // before the interpreter has begun and after it has ended it returns null.
    let thread = unsafe {
        let function: unsafe extern "C" fn() -> *const u8 = core::mem::transmute(address);
        function()
    };
    (!thread.is_null()).then_some((layout, thread as u64))
}

/// A library is about to be unloaded, perhaps the interpreter: nothing is asked of it any more.
pub fn before_unloading() {
    if !MAY_BE_UNLOADED.load(Ordering::Relaxed) {
        return;
    }
    LAYOUT.store(core::ptr::null_mut(), Ordering::SeqCst);
    for _ in 0..MOST_YIELDS {
        if CALLING.load(Ordering::SeqCst) == 0 {
            return;
        }
        raw::give_processor_away();
    }
}

/// It was unloaded, or another one was.
pub fn after_unloading() {
    if MAY_BE_UNLOADED.load(Ordering::Relaxed) {
        find();
    }
}

/// The type of code objects.
pub fn code_type() -> u64 {
    CODE_TYPE.load(Ordering::Relaxed)
}

/// Whether an instruction, or the last byte of one, belongs to the function that evaluates.
pub fn evaluates(pc: u64) -> bool {
    let [begin, end] = EVALUATES.each_ref().map(|bound| bound.load(Ordering::Relaxed));
    begin <= pc && pc < end
}

/// Looks for the interpreter among what is loaded. Outside of signal handlers.
pub fn find() {
    object::each(&mut |object| {
        let Some(tables) = object.tables() else { return false };
        let find = |name: &Name| tables.definition(name, None);
        let Some(code_type) = find(&CODE_TYPE_NAME) else { return false };
        let (Some(thread_state), Some(evaluates)) = (find(&THREAD_STATE_NAME), find(&EVALUATES_NAME)) else {
            return false;
        };
        let Some(layout) = layout_of(object, thread_state.address) else { return false };
        let is_permanent = modules::known(thread_state.address).is_some_and(|module| module.permanent);
        MAY_BE_UNLOADED.store(!is_permanent, Ordering::SeqCst);
        CODE_TYPE.store(code_type.address, Ordering::Relaxed);
        THREAD_STATE.store(thread_state.address as usize, Ordering::Relaxed);
        EVALUATES[0].store(evaluates.address, Ordering::Relaxed);
        EVALUATES[1].store(evaluates.address.saturating_add(evaluates.bytes), Ordering::Relaxed);
        LAYOUT.store(core::ptr::from_ref(layout).cast_mut(), Ordering::Release);
        true
    });
}

fn layout_of(object: &Object, address: u64) -> Option<&'static Layout> {
    let path = object.path().to_bytes();
    // Of the program itself the linker says none.
    let minor = if path.is_empty() {
        minor_version(modules::known(address)?.for_log().2.to_bytes())
    } else {
        minor_version(path)
    };
    Layout::of(minor?)
}

/// Something has been loaded: perhaps an interpreter.
pub fn follow_changes() {
    if !is_there() {
        find();
    }
}

/// The minor version of Python 3 by the name of the file that it lies in: `python3.11`,
/// `libpython3.11.so.1.0`. None of other builds of it (`python3.14t`, `python3.11d`), whose objects are laid
/// out in another way.
fn minor_version(path: &[u8]) -> Option<u8> {
    let name = path.rsplit(|&byte| byte == b'/').next()?;
    let name = name.strip_prefix(b"lib").unwrap_or(name);
    let rest = name.strip_prefix(b"python3.")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(digits)?;
    let is_usual = rest.is_empty() || rest.starts_with(b".");
    is_usual.then(|| core::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_file() {
        for (path, version) in [
            (&b"/usr/bin/python3.11"[..], Some(11)),
            (b"/opt/lib/libpython3.9.so.1.0", Some(9)),
            (b"python3.8", Some(8)),
            (b"/usr/bin/python3", None),
            (b"/usr/lib/libpython3.so", None),
            (b"/usr/bin/python3.13t", None),
            (b"/usr/bin/python3.15", Some(15)),
            (b"/usr/bin/libpython3.11d.so.1.0", None),
            (b"/usr/bin/python3.999", None),
            (b"/usr/bin/pypy3.9", None),
            (b"", None),
        ] {
            assert_eq!(minor_version(path), version, "{}", String::from_utf8_lossy(path));
        }
    }
}
