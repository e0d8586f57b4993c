//! The definition that the dynamic linker would have given a caller without this library.
//!
//! A preloaded library precedes every runtime that is loaded later, so it answers for all of them; which one
//! a caller would have got depends on what loaded the caller. The global scope behind us is searched first:
//! the program, its dependencies, and what was loaded for all; then what belongs to the roots that loaded the
//! caller.
//!
//! Two ways lead there:
//!
//! - [`survey`] reads the tables of what is loaded. It takes no lock, and is certain if what the program
//!   itself was started with defines the name, or if one object alone does.
//! - `ask` makes the dynamic linker search for the caller: `dlvsym` takes its caller to be the code that it
//!   returns to. So it is made to return to a `ret` in the caller's code, which leads back here. It passes
//!   over this library, which has a table of versions and defines no name in one. As binding does, it keeps
//!   the object it finds loaded for as long as the caller is. It takes the lock that `dlopen` holds while
//!   constructors run: never by a thread that a constructor may be waiting for.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::arch::linker::{call_as, has_shadow_stack};

use super::object::{self, Definition, Name, Object};

/// A name that a caller wants, and what was found for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Whether it wants it.
    pub is_wanted: bool,
    /// In this version.
    pub version: Option<&'a CStr>,
    /// The result of a search.
    pub found: Found,
    /// Which of the objects that define it is the first one.
    first: Option<Definition>,
    /// Whether one of them is such that `dlvsym` passes over it.
    has_unversioned: bool,
    /// The caller's own definition, where nothing precedes all others.
    own: Option<Definition>,
    /// Objects that define it, if none of those precedes all others.
    candidates: usize,
}

/// The definition that a name leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Found {
    /// Nothing that is loaded defines it.
    #[default]
    Nothing,
    /// This address, as for the bare program.
    Certain(u64),
    /// Several objects define it; which one the caller's scope leads to first is not known.
    Ambiguous,
    /// One of several, and nothing says which is right.
    Doubtful(u64),
}

impl Found {
    /// The address, if there is one.
    pub fn address(self) -> Option<u64> {
        match self {
            Found::Certain(address) | Found::Doubtful(address) => Some(address),
            Found::Nothing | Found::Ambiguous => None,
        }
    }
}

impl Wanted<'_> {
    /// Settles for the first object that defines the name.
    pub fn take_first(&mut self) {
        if let (Found::Ambiguous, Some(first)) = (self.found, self.first) {
            self.found = Found::Doubtful(first.address);
        }
    }
}

/// Objects that were loaded when this library's constructor ran: all that the program was started with, and
/// perhaps more.
static AT_START: AtomicUsize = AtomicUsize::new(0);

/// Remembers how many objects are loaded. By the constructor.
pub fn prepare() {
    let mut count = 0;
    object::each(&mut |_| {
        count += 1;
        false
    });
    AT_START.store(count, Ordering::Relaxed);
}

/// Whether the address lies in this library.
pub fn is_own(address: u64) -> bool {
    static START: AtomicU64 = AtomicU64::new(0);
    static END: AtomicU64 = AtomicU64::new(0);
    let mut own = START.load(Ordering::Acquire)..END.load(Ordering::Relaxed);
    if own.start == 0
        && let Some(object) = object::at(is_own as *const () as u64)
    {
        own = object.range;
        END.store(own.end, Ordering::Relaxed);
        START.store(own.start, Ordering::Release);
    }
    own.contains(&address)
}

/// The place of this library among what is loaded.
fn own_place() -> usize {
    let here = own_place as *const () as u64;
    let (mut place, mut count) = (0, 0);
    object::each(&mut |object| {
        place = count;
        count += 1;
        object.contains(here)
    });
    place
}

fn name_fits(object: &Object, needed: &CStr) -> bool {
    let path = object.path().to_bytes();
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let own_name = object.tables().and_then(|tables| tables.own_name());
    path == needed.to_bytes() || file == needed.to_bytes() || own_name.is_some_and(|name| name == needed)
}

/// Needs behind needs that are followed.
const DEPTH: usize = 12;

/// Whether the program was started with the object at `place`, which defines what is looked for: it needs it,
/// or it was preloaded.
fn is_of_start(target: &Object, place: usize, own: usize, depth: usize) -> bool {
    let count = AT_START.load(Ordering::Relaxed);
    if place <= own {
        return true;
    }
    if place >= count || depth == 0 {
        return false;
    }
    let (mut number, mut is_needed) = (0, false);
    let mut is_preloaded = place < count;
    object::each(&mut |other| {
        let this = number;
        number += 1;
        if this >= count {
            return true;
        }
        // Preloaded objects follow right behind us; the first object that another one needs ends them.
        if this > own && this < place && is_needed_by_any(other, count) {
            is_preloaded = false;
        }
        if this != place
            && other.tables().is_some_and(|tables| tables.needed().any(|needed| name_fits(target, needed)))
            && is_of_start(other, this, own, depth - 1)
        {
            is_needed = true;
        }
        is_needed
    });
    is_needed || is_preloaded
}

fn is_needed_by_any(target: &Object, count: usize) -> bool {
    let (mut number, mut is_needed) = (0, false);
    object::each(&mut |other| {
        number += 1;
        is_needed = number <= count
            && !other.is(target)
            && other.tables().is_some_and(|tables| tables.needed().any(|needed| name_fits(target, needed)));
        is_needed || number > count
    });
    is_needed
}

/// Finds what it can without a lock. Inside of [`object::without_unloads`].
pub fn survey(caller: Option<&Object>, names: &[Name], wanted: &mut [Wanted<'_>]) {
    let (own, mut number) = (own_place(), 0);
    object::each(&mut |object| {
        let place = number;
        number += 1;
        // An object before us would have been called instead of us.
        if place <= own {
            return false;
        }
        let Some(tables) = object.tables() else { return false };
        let is_caller = caller.is_some_and(|caller| caller.is(object));
        let mut is_first = None;
        for (name, wanted) in names.iter().zip(wanted.iter_mut()) {
            if !wanted.is_wanted || matches!(wanted.found, Found::Certain(_)) {
                continue;
            }
            let Some(definition) = tables.definition(name, wanted.version) else { continue };
            wanted.candidates += 1;
            wanted.has_unversioned |= definition.without_version;
            if is_caller {
                wanted.own = Some(definition);
            }
            let first = *wanted.first.get_or_insert(definition);
            if *is_first.get_or_insert_with(|| is_of_start(object, place, own, DEPTH)) {
                wanted.found = Found::Certain(definition.address);
            } else if wanted.candidates == 1 {
                wanted.found = Found::Doubtful(first.address);
            } else {
                wanted.found = Found::Ambiguous;
            }
        }
        false
    });
    for wanted in wanted.iter_mut() {
        if let (Found::Doubtful(address), 1) = (wanted.found, wanted.candidates) {
            wanted.found = Found::Certain(address);
        }
    }
}

/// Whether something may have been opened for all since the program began.
static IS_GLOBAL_GROWN: AtomicBool = AtomicBool::new(false);

/// The program is about to open a library with these flags.
pub fn opening(flags: c_int) {
    if flags & libc::RTLD_GLOBAL != 0 {
        IS_GLOBAL_GROWN.store(true, Ordering::Relaxed);
    }
}

/// Objects that are looked at behind one that is its own root.
const NEEDED: usize = 64;

/// Finds more without a lock, where the caller can have been loaded for its own sake only: then its scope is
/// what it needs. Inside of [`object::without_unloads`].
pub fn survey_needs(caller: &Object, names: &[Name], wanted: &mut [Wanted<'_>]) {
    if IS_GLOBAL_GROWN.load(Ordering::Relaxed) || is_needed_by_any(caller, usize::MAX) {
        return;
    }
    let mut found: [Option<Object>; NEEDED] = [const { None }; NEEDED];
    found[0] = Some(caller.clone());
    let (mut count, mut at) = (1, 0);
    // In breadth, as the dynamic linker lists them.
    while let Some(tables) = found.get(at).and_then(|object| object.as_ref()?.tables()) {
        for (name, wanted) in names.iter().zip(wanted.iter_mut()) {
            if wanted.found == Found::Ambiguous
                && let Some(definition) = tables.definition(name, wanted.version)
            {
                wanted.found = Found::Certain(definition.address);
            }
        }
        for needed in tables.needed() {
            object::each(&mut |object| {
                let is_it = name_fits(object, needed);
                if is_it && count < NEEDED && !found.iter().flatten().any(|known| known.is(object)) {
                    found[count] = Some(object.clone());
                    count += 1;
                }
                is_it
            });
        }
        at += 1;
    }
}

/// A name that runtimes of this kind define and this library does not: a lookup of it without a version finds
/// the first that defines it for the caller.
pub type Mark = &'static CStr;

/// Finds the rest by the caller's scope. Takes the dynamic linker's lock; outside of
/// [`object::without_unloads`].
///
/// # Safety
/// `caller` stays loaded meanwhile.
pub unsafe fn ask_for_the_rest(caller: &Object, marks: &[Mark], names: &[Name], wanted: &mut [Wanted<'_>]) {
    let gadget = if has_shadow_stack() { None } else { caller.returns_at() };
    let ask = |name: &CStr, version: Option<&CStr>| {
        // SAFETY: the byte is an instruction of the caller's.
        gadget.map_or(0, |gadget| unsafe { ask(gadget, name, version) })
    };
    let mut marked = None;
    for (name, wanted) in names.iter().zip(wanted.iter_mut()) {
        if wanted.found != Found::Ambiguous {
            continue;
        }
        if let Some(own) = wanted.own {
            // It is first in what its own root loaded.
            wanted.found = Found::Certain(own.address);
            continue;
        }
        let mut address = 0;
        if wanted.version.is_none() || wanted.has_unversioned {
            let provider = marked.get_or_insert_with(|| {
                let address = marks.iter().map(|mark| ask(mark, None)).find(|&address| address != 0)?;
                object::at(address)
            });
            let definition = provider.as_ref().and_then(|provider| {
                // SAFETY: the caller depends on what was found for it: that stays loaded.
                provider.tables()?.definition(name, wanted.version)
            });
            address = definition.map_or(0, |definition| definition.address);
        }
        if address == 0 {
            address = ask(name.text, Some(wanted.version.unwrap_or(name.version)));
        }
        wanted.found = match (address, wanted.first) {
            (0, Some(first)) => Found::Doubtful(first.address),
            (0, None) => Found::Nothing,
            (address, _) => Found::Certain(address),
        };
    }
    // SAFETY: forgets the calling thread's message, of which the program knows nothing.
    unsafe { libc::dlerror() };
}

/// Makes the caller depend on what defines this name for it, as binding it would.
///
/// # Safety
/// `caller` stays loaded meanwhile.
pub unsafe fn depend(caller: &Object, name: &Name, version: Option<&CStr>) {
    if has_shadow_stack() {
        return;
    }
    if let Some(gadget) = caller.returns_at() {
        // SAFETY: the byte is an instruction of the caller's; the message that is forgotten is not the
        // program's.
        unsafe {
            ask(gadget, name.text, Some(version.unwrap_or(name.version)));
            libc::dlerror();
        }
    }
}

/// `dlvsym(RTLD_DEFAULT, …)`, or `dlsym` without a version, as the object would call it that returns at
/// `gadget`; 0 if nothing is found.
///
/// # Safety
/// There is such an instruction, and it stays there.
unsafe fn ask(gadget: u64, name: &CStr, version: Option<&CStr>) -> u64 {
    type Search = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    let versioned: Search = libc::dlvsym;
    let (function, version) = match version {
        Some(version) => (versioned as usize, version.as_ptr()),
        None => (libc::dlsym as *const () as usize, core::ptr::null()),
    };
    // SAFETY: the caller's promise; the functions take these arguments.
    unsafe { call_as(function, libc::RTLD_DEFAULT, name.as_ptr(), version, gadget) as u64 }
}
