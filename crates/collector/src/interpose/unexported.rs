//! Hooks that this library does not export: of functions that not every C library has.
//!
//! Were they exported, a program whose C library lacks the name would find it all the same, by a weak
//! reference or by `dlsym`. So the dynamic linker binds the program as without us, and afterwards each word
//! that it has bound to the C library's function is given our hook's address: those of all that is loaded
//! when our constructor runs, and those of what is loaded later at the next `dlsym` or `dlopen`. A word that
//! is filled in at the first call gets the hook where only the C library defines the name. `dlsym` itself is
//! hooked in this way, and answers with the hook where the C library's function would be the answer
//! (`hooks::lookups`).
//!
//! A word in doubt stays as it is: the program runs as without us, and such calls are not recorded.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::object::{self, Name, Object, Reference, Tables, gnu_hash};
use super::{absent, scope, words};
use crate::marks::attach;
use crate::mpi::binding;
use crate::openmp::gomp::names::NAMES;
use crate::real::minor_version;

/// A hook that is not exported.
#[derive(Debug)]
pub struct Unexported {
    name: Name,
    hook: unsafe extern "C" fn(),
    /// The C library's function; 0 = none has been found.
    real: AtomicU64,
}

impl Unexported {
    /// The hook of the function `name`.
    pub const fn new(name: &'static CStr, hook: unsafe extern "C" fn()) -> Unexported {
        Unexported { name: Name::new(name, c""), hook, real: AtomicU64::new(0) }
    }

    /// The hook's address.
    pub fn hook(&self) -> u64 {
        self.hook as usize as u64
    }

    /// The address of the C library's function; 0 where it has none.
    pub fn real(&self) -> u64 {
        self.real.load(Ordering::Relaxed)
    }
}

/// Declares a hook that is not exported: of that name, or under a symbol of its own.
macro_rules! unexported {
    (caller $(($version:literal))?, $name:ident) => {};
    (since($version:literal), $name:ident) => {
        const _: () = assert!($crate::real::minor_version($version) >= $crate::interpose::unexported::OLDEST);
        $crate::interpose::unexported::unexported! { $name by $name }
    };
    ($name:ident by $hook:ident) => {
        const _: () = {
            mod hidden {
                $crate::arch::linker::hide!(stringify!($hook));
            }
            unsafe extern "C" {
                fn $hook();
            }
            static ROW: $crate::interpose::unexported::Unexported =
                $crate::interpose::unexported::Unexported::new(
                    $crate::real::c_name(concat!(stringify!($name), "\0")),
                    $hook,
                );
            #[used]
            #[unsafe(link_section = "proust_unexported")]
            static PLACE: &$crate::interpose::unexported::Unexported = &ROW;
        };
    };
}
pub(crate) use unexported;

// Not to be seen from outside: another library of the program may use the same section's name.
crate::arch::linker::hide!("__start_proust_unexported", "__stop_proust_unexported");

unsafe extern "C" {
    // The linker's own names for where a section begins and ends.
    #[link_name = "__start_proust_unexported"]
    static BEGIN: *const ();
    #[link_name = "__stop_proust_unexported"]
    static END: *const ();
}

fn rows() -> &'static [&'static Unexported] {
    let (begin, end) = ((&raw const BEGIN).cast::<&Unexported>(), (&raw const END).cast::<&Unexported>());
    let count = (end as usize - begin as usize) / size_of::<&Unexported>();
    // SAFETY: between both lie the references of all `unexported!`, next to each other.
    unsafe { core::slice::from_raw_parts(begin, count) }
}

/// How a name concerns us.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// The function of a hook that is not exported.
    Hooked(&'static Unexported),
    /// A function of OpenMP's runtimes, of which most hooks are exported.
    OfOpenMp(&'static Name),
}

impl Known {
    fn at(number: usize) -> Known {
        let rows = rows();
        match number.checked_sub(rows.len()) {
            None => Known::Hooked(rows[number]),
            Some(place) => Known::OfOpenMp(&NAMES[place]),
        }
    }

    fn name(self) -> &'static Name {
        match self {
            Known::Hooked(row) => &row.name,
            Known::OfOpenMp(name) => name,
        }
    }
}

/// Places of [`TABLE`]: several for each name.
const PLACES: usize = 1024;

/// Where each name is known by its hash, or behind the next free place: 1 + its number; 0 = free.
static TABLE: [AtomicU8; PLACES] = [const { AtomicU8::new(0) }; PLACES];

fn lay_table() {
    for number in 0..rows().len() + NAMES.len() {
        let Ok(entry @ 1..) = u8::try_from(number + 1) else { return };
        let mut place = Known::at(number).name().hash() as usize;
        while TABLE[place % PLACES].load(Ordering::Relaxed) != 0 {
            place += 1;
        }
        TABLE[place % PLACES].store(entry, Ordering::Relaxed);
    }
}

/// How this name concerns us.
pub fn find(name: &CStr) -> Option<Known> {
    let mut place = gnu_hash(name.to_bytes()) as usize;
    loop {
        let entry = TABLE[place % PLACES].load(Ordering::Relaxed);
        if entry == 0 {
            return None;
        }
        let known = Known::at(usize::from(entry) - 1);
        if known.name().text == name {
            return Some(known);
        }
        place += 1;
    }
}

/// The C library's function of this name, of which the hook is not exported; null where it has none.
pub fn real_of(name: &CStr) -> *mut c_void {
    match find(name) {
        Some(Known::Hooked(row)) => row.real() as *mut c_void,
        _ => core::ptr::null_mut(),
    }
}

/// The files of the C library in which such functions lie; the latter two before its version 2.34.
const LIBRARIES: [&CStr; 3] = [c"libc.so.6", c"libpthread.so.0", c"libdl.so.2"];

/// The oldest function with such a hook is of the C library's version 2.this, those of its `libdl` apart.
pub const OLDEST: u32 = 25;

/// Whether names that are looked for may be of this version of a library.
fn is_of_interest(library: &CStr, version: &CStr) -> bool {
    let version = version.to_bytes();
    match version.strip_prefix(b"GLIBC_") {
        Some(number) => {
            library == LIBRARIES[2]
                || core::str::from_utf8(number).is_ok_and(|number| minor_version(number) >= OLDEST)
        }
        None => version.starts_with(b"GOMP_") || version.starts_with(b"OMP_"),
    }
}

fn is_of_c_library(tables: &Tables) -> bool {
    tables.own_name().is_some_and(|name| LIBRARIES.contains(&name))
}

/// Finds the functions behind hooks that have none yet in an object that may be the C library's.
fn find_reals_in(object: &Object) {
    let Some(tables) = object.tables().filter(is_of_c_library) else { return };
    for row in rows() {
        if row.real() == 0
            && let Some(definition) = tables.definition(&row.name, None)
        {
            row.real.store(definition.address, Ordering::Relaxed);
        }
    }
}

/// Whether the program has opened a library: before, there is nothing to look for again.
static HAS_OPENED: AtomicBool = AtomicBool::new(false);

/// Objects that had been loaded and unloaded in all when [`WALKED`] was right. These, and the next two,
/// change under the dynamic linker's lock.
static ADDED: AtomicU64 = AtomicU64::new(0);
static REMOVED: AtomicU64 = AtomicU64::new(0);
/// The first so many objects have been walked.
static WALKED: AtomicUsize = AtomicUsize::new(0);
/// How often objects were found that another thread is about to bind.
static UNFINISHED: AtomicU32 = AtomicU32::new(0);

/// Most of these in succession: words that are not bound by then stay as they are.
const MOST_UNFINISHED: u32 = 32;

/// Finds the functions behind the hooks, and leads what is loaded to the hooks. By the constructor.
pub fn begin() {
    lay_table();
    object::without_unloads(walk_new);
}

/// The program is about to open a library.
pub fn opening() {
    HAS_OPENED.store(true, Ordering::Relaxed);
}

/// Whether anything has been loaded or unloaded since the last time.
pub fn has_changed() -> bool {
    HAS_OPENED.load(Ordering::Relaxed)
        && object::changes() != (ADDED.load(Ordering::Relaxed), REMOVED.load(Ordering::Relaxed))
}

/// Leads what has been loaded since the last time to the hooks.
pub fn look_again() {
    object::without_unloads(walk_new);
}

fn walk_new() {
    let changes = object::changes();
    let are_all_left = changes.1 == REMOVED.load(Ordering::Relaxed);
    let first = if are_all_left { WALKED.load(Ordering::Relaxed) } else { walked_and_left(changes.0) };
    let mut number = 0;
    object::each(&mut |object| {
        number += 1;
        if number > first {
            find_reals_in(object);
        }
        false
    });
    let (mut number, mut is_unfinished) = (0, !binding::walk(first, are_all_left));
    object::each(&mut |object| {
        number += 1;
        if number > first {
            attach::to(object);
            is_unfinished |= !walk(object);
        }
        false
    });
    if is_unfinished && UNFINISHED.fetch_add(1, Ordering::Relaxed) < MOST_UNFINISHED {
        return;
    }
    UNFINISHED.store(0, Ordering::Relaxed);
    WALKED.store(number, Ordering::Relaxed);
    ADDED.store(changes.0, Ordering::Relaxed);
    REMOVED.store(changes.1, Ordering::Relaxed);
}

/// How many of those that have been walked are left, where some were unloaded and `added` were loaded in all:
/// the dynamic linker lists what it loads behind all others. (musl counts otherwise, and never unloads.)
fn walked_and_left(added: u64) -> usize {
    let mut count = 0_usize;
    object::each(&mut |_| {
        count += 1;
        false
    });
    let since = added.saturating_sub(ADDED.load(Ordering::Relaxed));
    count.saturating_sub(usize::try_from(since).unwrap_or(usize::MAX))
}

/// Leads an object's references to the hooks, and takes those to nothing back; false if the dynamic linker
/// has still to bind some of them.
fn walk(object: &Object) -> bool {
    let Some(tables) = object.tables() else { return true };
    if object.contains(walk as *const () as u64) || is_of_c_library(&tables) {
        return true;
    }
    let versions = tables.versions(is_of_interest);
    let is_wanted = |name: &CStr| find(name).is_some();
    if !tables.may_refer_to(versions, &is_wanted) {
        return true;
    }
    let mut is_finished = true;
    tables.each_reference_to(
        &object.range,
        versions,
        &is_wanted,
        &mut |reference| match find(reference.name) {
            Some(Known::Hooked(row)) => is_finished &= lead_to_hook(object, row, &reference),
            Some(Known::OfOpenMp(name)) => absent::take_back(object, name, &reference),
            None => {}
        },
    );
    is_finished
}

/// Gives a reference the hook where it has the C library's function; false if the dynamic linker has still to
/// bind it.
fn lead_to_hook(object: &Object, row: &Unexported, reference: &Reference) -> bool {
    let real = row.real();
    if real == 0 {
        return true;
    }
    match reference.bound {
        Some(bound) if bound == real => {
            words::write(object, reference.place, row.hook());
        }
        // As it stands in the file.
        Some(bound) if bound == 0 || object.base != 0 && object.contains(object.base.wrapping_add(bound)) => {
            return !is_of_real(row, reference.version);
        }
        None if is_of_real(row, reference.version) && !is_defined_by_others(row) => {
            words::write(object, reference.place, row.hook());
        }
        _ => {}
    }
    true
}

/// Whether a reference to this version gets the C library's function.
fn is_of_real(row: &Unexported, version: Option<&CStr>) -> bool {
    let tables = object::at(row.real()).and_then(|library| library.tables());
    let definition = tables.and_then(|tables| tables.definition(&row.name, version));
    definition.is_some_and(|definition| definition.address == row.real())
}

fn is_defined_by_others(row: &Unexported) -> bool {
    let mut found = false;
    object::each(&mut |object| {
        let definition = object.tables().and_then(|tables| tables.definition(&row.name, None));
        found = definition
            .is_some_and(|definition| definition.address != row.real() && !scope::is_own(definition.address));
        found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_what_they_are_to_us() {
        if TABLE.iter().all(|entry| entry.load(Ordering::Relaxed) == 0) {
            lay_table();
        }
        assert!(rows().len() > 30 && rows().len() + NAMES.len() < 255, "{}", rows().len());
        for row in rows() {
            assert!(
                matches!(find(row.name.text), Some(Known::Hooked(found)) if core::ptr::eq(found, *row)),
                "{row:?}"
            );
        }
        for name in NAMES {
            assert!(
                matches!(find(name.text), Some(Known::OfOpenMp(found)) if core::ptr::eq(found, name)),
                "{name:?}"
            );
        }
        assert!(find(c"read").is_none() && find(c"").is_none());
    }

    #[test]
    fn versions_in_which_no_such_name_can_be_are_not_looked_at() {
        let is_wanted = [
            (c"libc.so.6", c"GLIBC_2.34", true),
            (c"libc.so.6", c"GLIBC_2.25", true),
            (c"libc.so.6", c"GLIBC_2.17", false),
            (c"libc.so.6", c"GLIBC_2.2.5", false),
            (c"libdl.so.2", c"GLIBC_2.2.5", true),
            (c"libstdc++.so.6", c"GLIBCXX_3.4", false),
            (c"libgomp.so.1", c"GOMP_4.0", true),
        ];
        for (library, version, expected) in is_wanted {
            assert_eq!(is_of_interest(library, version), expected, "{version:?}");
        }
    }
}
