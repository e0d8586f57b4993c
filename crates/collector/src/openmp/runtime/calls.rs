//! Which caller a call belongs to, at the first call from a place.
//!
//! A function that is given a body is called by the object in which the body lies: the compiler made both.
//! Otherwise the caller is where the call returns to, if the call there leads to a hook. It need not: a
//! function that ends by calling a hook jumps to it, and the hook returns to the caller of that function. If
//! it was called through the usual table the table says in which object it is; if it was the body of a region
//! or task that we called, the word that we put on the stack shows it ([`run_body`]). Any other call belongs
//! to the region in which it is made.

use core::ffi::{CStr, c_char, c_void};

use super::Table;
use super::callers::{self, Callee, InDoubt, Lock};
use super::routes;
use crate::arch::routes::{proust_run_body, table_of_run_body};
use crate::interpose::object::{self, Object};
use crate::interpose::scope;
use crate::lane;
use crate::openmp::gomp::names::{self, CALLERS, Caller, NAMES};
use crate::room;

/// Runs the program's function with its argument, so that hooks it jumps to know the table.
///
/// # Safety
/// `body` is a function that takes `data`.
pub unsafe fn run_body(body: usize, data: *mut c_void, table: &'static Table) {
    // SAFETY: the caller's promise.
    unsafe { proust_run_body(body, data, table) };
}

/// The table of the call with this key, of the function in this place of the family. `entry` is the stack as
/// the hook found it: first the address it returns to.
///
/// # Safety
/// As the first instructions of a hook call it.
pub unsafe extern "C" fn route(key: u64, place: u32, entry: *const usize) -> *const Table {
    let place = place as usize;
    let is_of_body = CALLERS[place] == Caller::OfBody;
    // SAFETY: the body that jumped here found this stack.
    if !is_of_body && let Some(table) = unsafe { table_of_run_body(key, entry) } {
        return table;
    }
    // SAFETY: the calling thread's own.
    let errno = unsafe { *libc::__errno_location() };
    let table = room::apart(|| if is_of_body { of_body(key, place) } else { of_site(key, place) });
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    table
}

/// Whether this thread may wait for the dynamic linker's lock: a thread that works in a region of another one
/// must not, since that one may be in a constructor, and waits for the region's end.
fn lock() -> Lock {
    let works_for_another =
        lane::current().is_some_and(|lane| lane.member.team().is_some_and(|team| !team.is_opened_by(lane)));
    if works_for_another { Lock::MustNot } else { Lock::MayWait }
}

fn learn(address: u64) -> Option<Callee> {
    if let Some(known) = callers::known_at(address) {
        return Some(known);
    }
    let lock = lock();
    let learnt = callers::learn(address, lock);
    if lock == Lock::MayWait {
        // Threads of the region that this may become must find all callers that they may meet.
        callers::learn_all(lock);
    }
    learnt
}

/// The table of a call that passes this body, where its hook records it.
#[inline]
pub fn table_of_body(body: u64, function: names::Function) -> &'static Table {
    routes::known(body).unwrap_or_else(|| of_body(body, function as usize))
}

#[cold]
fn of_body(body: u64, place: usize) -> &'static Table {
    match learn(body) {
        Some(caller) => {
            routes::keep(body, caller.table());
            caller.table()
        }
        None => of_unknown_caller(place),
    }
}

fn of_site(site: u64, place: usize) -> &'static Table {
    let Some(object) = object::at(site) else { return of_unknown_caller(place) };
    let caller = match call_before(site, &object) {
        Call::OfHook => learn(site),
        Call::Of(function) => learn(function).filter(|caller| caller.refers_to(place)),
        Call::ThroughPointer => {
            let caller = learn(site).filter(|caller| caller.refers_to(place));
            if caller.is_some() && callers::are_several() {
                // It may have called a function of another caller, which jumped here.
                return of_region().or(caller.map(Callee::table)).unwrap_or_else(|| of_unknown_caller(place));
            }
            caller
        }
    };
    let table = caller.map(Callee::table).or_else(|| callers::table_of_runtime(site));
    match table {
        Some(table) => {
            routes::keep(site, table);
            table
        }
        None => of_unknown_caller(place),
    }
}

/// The instruction before the address that a call returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// A call of one of our hooks.
    OfHook,
    /// A call of this function.
    Of(u64),
    /// A call of something that is not known any more.
    ThroughPointer,
}

fn call_before(site: u64, object: &Object) -> Call {
    let text = &object.text;
    if !text.contains(&site) || site - text.start < 8 {
        return Call::ThroughPointer;
    }
    let byte = |address: u64| {
        // SAFETY: in the object's executable segment; something there has just called us.
        if text.contains(&address) { unsafe { (address as *const u8).read() } } else { 0 }
    };
    let behind = |address: u64| {
        let offset = [0, 1, 2, 3].map(|step| byte(address + step));
        (address + 4).wrapping_add_signed(i64::from(i32::from_le_bytes(offset)))
    };
    let through = |place: u64| {
        if !object.contains(place) || !place.is_multiple_of(8) {
            return Call::ThroughPointer;
        }
        // SAFETY: a place of the object's table of functions, which the call goes through.
        let function = unsafe { (place as *const u64).read() };
        if scope::is_own(function) { Call::OfHook } else { Call::Of(function) }
    };
    if (byte(site - 6), byte(site - 5)) == (0xff, 0x15) {
        return through(behind(site - 4));
    }
    if byte(site - 5) != 0xe8 {
        return Call::ThroughPointer;
    }
    let mut target = behind(site - 4);
    let function = target;
    if [0, 1, 2, 3].map(|step| byte(target + step)) == [0xf3, 0x0f, 0x1e, 0xfa] {
        target += 4;
    }
    if byte(target) == 0xf2 {
        target += 1;
    }
    if (byte(target), byte(target + 1)) == (0xff, 0x25) {
        through(behind(target + 2))
    } else {
        Call::Of(function)
    }
}

/// The table by which the region was opened that the calling thread is in.
fn of_region() -> Option<&'static Table> {
    lane::current()?.member.team()?.runtime()
}

/// No known object can have made the call. It belongs to the region's runtime, or to the only one; if there
/// are several it is in doubt, and if there is none one is loaded: our names made the program believe that
/// there is one.
#[cold]
fn of_unknown_caller(place: usize) -> &'static Table {
    if let Some(table) = of_region() {
        return table;
    }
    match callers::table_of_any() {
        Some((table, is_only)) => {
            if !is_only {
                callers::note(InDoubt::Ambiguous);
            }
            table
        }
        None => load(place),
    }
}

/// The names of GCC's runtime where it is installed, and where systems have it: the folders that the
/// environment names may contain something else of that name.
const LIBRARIES: [&CStr; 5] = [
    c"libgomp.so.1",
    c"/usr/lib/x86_64-linux-gnu/libgomp.so.1",
    c"/lib64/libgomp.so.1",
    c"/usr/lib64/libgomp.so.1",
    c"/usr/lib/libgomp.so.1",
];

#[cold]
fn load(place: usize) -> &'static Table {
    for library in LIBRARIES {
        // SAFETY: a name of a library; it stays loaded.
        let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if !library.is_null()
            && let Some((table, _)) = callers::table_of_any()
        {
            callers::note(InDoubt::LoadedNow);
            return table;
        }
    }
    refuse(NAMES.get(place).map_or(c"?", |name| name.text))
}

/// Does what the dynamic linker does where a function is called that is nowhere: reports it, and ends the
/// process.
fn refuse(name: &CStr) -> ! {
    for part in [c"symbol lookup error: undefined symbol: ", name, c"\n"] {
        let bytes = part.to_bytes();
        // SAFETY: bytes of that length.
        unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
    }
    // SAFETY: ends the process.
    unsafe { libc::_exit(127) }
}

/// Stands in a table for a function that its runtime does not have.
pub extern "C" fn undefined() -> ! {
    refuse(c"of OpenMP's runtime, which is older than what calls it")
}

/// The function that a hook would call for the object that contains `caller`; null if that refers to nothing
/// of the family, or if there is none. For tests, which compare it with what the dynamic linker says of the
/// bare program.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn proust_function_behind(caller: *const c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promise.
    let place = names::place(unsafe { CStr::from_ptr(name) });
    let Some((place, caller)) = place.zip(learn(caller as u64)) else { return core::ptr::null_mut() };
    if caller.refers_to(place) { caller.table().address(place) } else { core::ptr::null_mut() }
}
