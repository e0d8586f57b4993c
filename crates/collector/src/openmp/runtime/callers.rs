//! The data of each caller: of the programs and libraries that refer to functions of the family.
//!
//! The whole family is looked up at once, for all callers that are loaded: when one of them first opens a
//! region, and before anything else is loaded or unloaded. So what a caller was bound to stays what it is,
//! although a library that is opened for all may be searched before it by then; and the threads of a region
//! find the tables of all that they may call, since they must not wait for the lock that `dlopen` holds
//! ([`scope`]).

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use proust_log::records::NoteCode;

use super::others;
use super::routes::{self, changing};
use super::unbound::Words;
use super::{Table, World};
use crate::interpose::object::{self, Object, Reference};
use crate::interpose::scope::{self, Found, Wanted};
use crate::openmp::gomp::names::{self, CALLERS, COUNT, Caller, Function, NAMES};
use crate::{arena, lane, life};

/// A caller and its table.
struct Known {
    /// Whether there is one.
    is_live: AtomicBool,
    object: Object,
    table: AtomicPtr<Table>,
    /// A place of the family by which the caller can be made to depend on its runtime.
    pin: usize,
    /// Whether it depends on that, or need not.
    is_pinned: AtomicBool,
    /// Places of the family that it refers to.
    refers: [u64; COUNT.div_ceil(64)],
    next: AtomicPtr<Known>,
}

/// The newest one.
static FIRST: AtomicPtr<Known> = AtomicPtr::new(core::ptr::null_mut());

fn all() -> impl Iterator<Item = &'static Known> {
    // SAFETY: they are never freed.
    let first = unsafe { FIRST.load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    core::iter::successors(first, |known| unsafe { known.next.load(Ordering::Acquire).as_ref() })
}

fn live() -> impl Iterator<Item = &'static Known> {
    all().filter(|known| known.is_live.load(Ordering::Acquire))
}

impl Known {
    fn table(&self) -> &'static Table {
        // SAFETY: set before it is published; tables are never freed.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    fn refers_to(&self, place: usize) -> bool {
        self.refers[place / 64] >> (place % 64) & 1 != 0
    }
}

/// A caller, as calls see it.
#[derive(Clone, Copy)]
pub struct Callee {
    known: &'static Known,
}

impl Callee {
    /// Its table.
    pub fn table(self) -> &'static Table {
        self.known.table()
    }

    /// Whether it refers to the function in this place of the family.
    pub fn refers_to(self, place: usize) -> bool {
        self.known.refers_to(place)
    }
}

/// The caller that contains this address, if it is known already.
pub fn known_at(address: u64) -> Option<Callee> {
    live().find(|known| known.object.contains(address)).map(|known| Callee { known })
}

/// Whether there are several tables.
pub fn are_several() -> bool {
    let mut tables = live().map(|known| known.table.load(Ordering::Relaxed));
    tables.next().is_some_and(|first| tables.any(|table| table != first))
}

/// How a lookup may proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// The dynamic linker's lock may be waited for.
    MayWait,
    /// The lock may be held by a thread that waits for this one.
    MustNot,
}

/// The references of a caller to the family: too large for the stack of a small thread.
struct References {
    wanted: [Wanted<'static>; COUNT],
    refers: [u64; COUNT.div_ceil(64)],
}

/// Memory for them, which is given back.
struct Workspace(core::ptr::NonNull<References>);

impl Workspace {
    fn new() -> Option<Workspace> {
        let place = core::ptr::NonNull::new(arena::pages(size_of::<References>()).cast::<References>())?;
        let empty = Wanted::default();
        for wanted in 0..COUNT {
            // SAFETY: fresh memory of this size; one element at a time, so that none of it lies on the stack.
            unsafe { (&raw mut (*place.as_ptr()).wanted[wanted]).write(empty) };
        }
        // The other field is all zero, as it must be.
        Some(Workspace(place))
    }

    fn get(&mut self) -> &mut References {
        // SAFETY: made by `new`, and only this value leads there.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // SAFETY: of `new`, and not used any more.
        unsafe { arena::give_back(self.0.as_ptr().cast(), size_of::<References>()) };
    }
}

/// Calls `visit` with each reference of an object to the family and its place there. If it is bound, it is to
/// us: one that is bound elsewhere is found before we are, and never leads here.
fn each_reference(object: &Object, visit: &mut dyn FnMut(usize, &Reference)) {
    let Some(tables) = object.tables() else { return };
    tables.each_reference(&object.range, &mut |reference| {
        if let Some(place) = names::place(reference.name)
            && CALLERS[place] != Caller::Ourselves
            && reference.bound.is_none_or(scope::is_own)
        {
            visit(place, &reference);
        }
    });
}

impl References {
    /// Those of an object that stays loaded for as long as they are used; whether there are any.
    fn read(&mut self, caller: &Object) -> bool {
        let mut any = false;
        each_reference(caller, &mut |place, reference| {
            let wanted = &mut self.wanted[place];
            (wanted.is_wanted, wanted.version) = (true, reference.version);
            self.refers[place / 64] |= 1 << (place % 64);
            any = true;
        });
        if any {
            for place in [Function::omp_get_thread_num, Function::omp_get_num_threads] {
                let wanted = &mut self.wanted[place as usize];
                (wanted.is_wanted, wanted.version) = (true, Some(NAMES[place as usize].version));
            }
        }
        any
    }
}

/// Finds the table of a caller that is loaded at `address`, and remembers it. None if it refers to nothing of
/// the family, or if what it refers to cannot be found without the lock.
pub fn learn(address: u64, lock: Lock) -> Option<Callee> {
    if let Some(known) = known_at(address) {
        return Some(known);
    }
    learn_of(&object::at(address)?, lock)
}

fn learn_of(caller: &Object, lock: Lock) -> Option<Callee> {
    let mut workspace = Workspace::new()?;
    let references = workspace.get();
    let any = object::without_unloads(|| {
        // Another thread may have unloaded it since it was found.
        let is_loaded = object::at(caller.text.start).is_some_and(|object| object.is(caller));
        let any = is_loaded && references.read(caller);
        if any {
            scope::survey(Some(caller), NAMES, &mut references.wanted);
            if references.wanted.iter().any(|wanted| wanted.found == Found::Ambiguous) {
                scope::survey_needs(caller, NAMES, &mut references.wanted);
            }
        }
        any
    });
    if any != Some(true) {
        return None;
    }
    let is_ambiguous = references.wanted.iter().any(|wanted| wanted.found == Found::Ambiguous);
    if is_ambiguous {
        if lock == Lock::MustNot {
            return None;
        }
        // SAFETY: the caller is running, or a thread is just about to load or unload something, and keeps it
        // loaded.
        unsafe { scope::ask_for_the_rest(caller, &names::MARKS, NAMES, &mut references.wanted) };
    }
    let table = table_of(&references.wanted)?;
    let pin = references.wanted.iter().position(|wanted| wanted.is_wanted).unwrap_or(0);
    let known = publish(caller, table, &references.refers, (pin, is_ambiguous));
    if table.world() == World::InDoubt {
        note(InDoubt::Ambiguous);
    }
    Some(known)
}

/// Why a runtime is in doubt, for the log.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum InDoubt {
    /// Several could be meant, or one caller has functions of several kinds.
    Ambiguous = 1,
    /// None was loaded, and one was loaded now.
    LoadedNow = 2,
}

/// Writes it to the log.
pub fn note(why: InDoubt) {
    if life::in_hook().is_some()
        && let Some(lane) = lane::current()
    {
        lane.with_record(|record| record.note(NoteCode::RuntimeInDoubt, why as u64));
    }
}

/// Makes the table of what was found; None if the family is nowhere.
fn table_of(wanted: &[Wanted<'_>; COUNT]) -> Option<&'static Table> {
    let main = wanted.iter().find_map(|wanted| wanted.found.address())?;
    object::without_unloads(|| {
        let mut world = World::Recorded;
        let mut is_mixed = None;
        let mut functions = [0; COUNT];
        let provider = object::at(main)?;
        let reports_to_tools = |object: &Object| {
            object.tables().is_some_and(|tables| {
                tables.definition(&names::REPORTS_TO_TOOLS, Some(names::REPORTS_TO_TOOLS.version)).is_some()
            })
        };
        for ((function, wanted), name) in functions.iter_mut().zip(wanted).zip(NAMES) {
            match wanted.found {
                Found::Certain(address) => *function = address as usize,
                Found::Doubtful(address) => {
                    *function = address as usize;
                    world = World::InDoubt;
                }
                // Functions that the caller does not name itself, its tail calls may: these are of the same
                // runtime.
                Found::Nothing | Found::Ambiguous => {
                    let definition = provider.tables()?.definition(name, Some(name.version));
                    *function = definition
                        .map_or(super::calls::undefined as *const () as usize, |definition| {
                            definition.address as usize
                        });
                    continue;
                }
            }
            let owner = if provider.contains(*function as u64) {
                provider.clone()
            } else {
                object::at(*function as u64)?
            };
            let reports = reports_to_tools(&owner);
            if *is_mixed.get_or_insert(reports) != reports {
                world = World::InDoubt;
            }
        }
        if world == World::Recorded && is_mixed == Some(true) {
            world = World::ReportsToTools;
        }
        Some(shared(Table { world, functions }))
    })?
}

/// The table of a runtime itself: of what its own code does for a caller that is not known.
pub fn table_of_runtime(address: u64) -> Option<&'static Table> {
    let mut workspace = Workspace::new()?;
    let wanted = &mut workspace.get().wanted;
    object::without_unloads(|| {
        let tables = object::at(address)?.tables()?;
        for (name, wanted) in NAMES.iter().zip(wanted.iter_mut()) {
            if let Some(definition) = tables.definition(name, Some(name.version)) {
                wanted.is_wanted = true;
                wanted.found = Found::Certain(definition.address);
            }
        }
        Some(())
    })??;
    if wanted[Function::GOMP_barrier as usize].is_wanted { table_of(wanted) } else { None }
}

/// The table of the runtime that is first in this process, and whether there is no other.
pub fn table_of_any() -> Option<(&'static Table, bool)> {
    let mut workspace = Workspace::new()?;
    let wanted = &mut workspace.get().wanted;
    for (name, wanted) in NAMES.iter().zip(wanted.iter_mut()) {
        (wanted.is_wanted, wanted.version) = (true, Some(name.version));
    }
    let is_only = object::without_unloads(|| {
        scope::survey(None, NAMES, wanted);
        let is_only = wanted.iter().all(|wanted| matches!(wanted.found, Found::Certain(_) | Found::Nothing));
        wanted.iter_mut().for_each(Wanted::take_first);
        is_only
    })?;
    Some((table_of(wanted)?, is_only))
}

/// Tables that say the same are one.
static TABLES: AtomicPtr<TableList> = AtomicPtr::new(core::ptr::null_mut());

struct TableList {
    table: Table,
    next: *mut TableList,
}

fn shared(table: Table) -> &'static Table {
    changing(|| {
        let mut at = TABLES.load(Ordering::Relaxed);
        // SAFETY: tables are never freed, and the list is changed here alone.
        while let Some(list) = unsafe { at.as_ref() } {
            if list.table == table {
                return &list.table;
            }
            at = list.next;
        }
        let list = Box::leak(Box::new(TableList { table, next: TABLES.load(Ordering::Relaxed) }));
        TABLES.store(list, Ordering::Relaxed);
        &list.table
    })
}

fn publish(
    object: &Object,
    table: &'static Table,
    refers: &[u64; COUNT.div_ceil(64)],
    (pin, is_pinned): (usize, bool),
) -> Callee {
    changing(|| {
        if let Some(known) = live().find(|known| known.object.is(object)) {
            return Callee { known };
        }
        let fresh = Known {
            is_live: AtomicBool::new(true),
            object: object.clone(),
            table: AtomicPtr::new(core::ptr::from_ref(table).cast_mut()),
            pin,
            is_pinned: AtomicBool::new(is_pinned),
            refers: *refers,
            next: AtomicPtr::new(FIRST.load(Ordering::Relaxed)),
        };
        // The same library at the same place, as it was before it was unloaded.
        let again = all().find(|known| {
            known.object.is(object) && core::ptr::eq(known.table(), table) && known.refers == fresh.refers
        });
        let known: &'static Known = match again {
            Some(known) => {
                known.is_pinned.store(is_pinned, Ordering::Relaxed);
                known.is_live.store(true, Ordering::Release);
                known
            }
            None => {
                let known = Box::leak(Box::new(fresh));
                FIRST.store(known, Ordering::Release);
                known
            }
        };
        Callee { known }
    })
}

/// Callers that are learnt in one go.
const AT_ONCE: usize = 16;

/// Learns all callers that are loaded and have had something bound.
pub fn learn_all(lock: Lock) {
    if others::nothing_is_new() {
        return;
    }
    loop {
        let changes = object::changes();
        if others::have_lost(changes.1) {
            others::forget_unloaded();
        }
        let mut fresh = [0_u64; AT_ONCE];
        let mut count = 0;
        let mut is_known_all = true;
        object::each(&mut |object| {
            // SAFETY: `each` keeps it loaded.
            if known_at(object.text.start).is_some() || unsafe { others::contain(object) } {
                return false;
            }
            let (mut words, mut is_bound) = (Words::default(), false);
            each_reference(object, &mut |_, reference| {
                is_bound |= reference.bound.is_some();
                words.push(reference.place);
            });
            if is_bound {
                fresh[count] = object.text.start;
                count += 1;
            } else {
                is_known_all &= others::add(object, &words);
            }
            count == AT_ONCE
        });
        let learnt = fresh.iter().take(count).filter(|&&address| learn(address, lock).is_some()).count();
        if count == 0 && is_known_all {
            others::all_are_known(changes);
        }
        if learnt == 0 {
            return;
        }
    }
}

/// Something is about to be loaded, or unloaded. By the thread that does it.
pub fn before_change() {
    learn_all(Lock::MayWait);
}

/// Something is about to be unloaded, perhaps. By the thread that does it; returns how much had been unloaded
/// before.
pub fn before_unloading() -> u64 {
    before_change();
    for known in live().filter(|known| !known.is_pinned.swap(true, Ordering::Relaxed)) {
        // SAFETY: this thread has not begun to unload it. Where another one does just now, it has no code any
        // more that could be running, and the dynamic linker is asked about an address that belongs to no
        // object.
        unsafe { scope::depend(&known.object, &NAMES[known.pin], None) };
    }
    routes::close();
    object::changes().1
}

/// That is over.
pub fn after_unloading(removed_before: u64) {
    if object::changes().1 != removed_before {
        forget_unloaded();
    }
    routes::open(&|key, table| known_at(key).is_some_and(|caller| core::ptr::eq(caller.table(), table)));
}

fn forget_unloaded() {
    let any = |wanted: &dyn Fn(&Object) -> bool| {
        let mut found = false;
        object::each(&mut |object| {
            found = wanted(object);
            found
        });
        found
    };
    for known in live() {
        let runtime = known.table().address(Function::omp_get_thread_num as usize) as u64;
        if !any(&|object| object.is(&known.object)) || !any(&|object| object.contains(runtime)) {
            known.is_live.store(false, Ordering::Release);
        }
    }
    others::forget_unloaded();
}

/// A forked child has no other threads.
pub fn after_fork() {
    routes::after_fork();
}

/// A table that is not that of any runtime.
#[cfg(test)]
pub fn table_for_tests(number: usize) -> &'static Table {
    shared(Table { world: World::Recorded, functions: [number; COUNT] })
}
