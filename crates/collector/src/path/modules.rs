//! Which module an address belongs to, learnt without the dynamic linker's locks.
//!
//! The modules that the program and the collector need are listed by `dl_iterate_phdr`, outside of signal
//! handlers; these are never unloaded, and their unwind tables are read where they are. Any other module is
//! found when a path first leads through it, from `/proc/self/maps`, even if it was there at the start:
//! another library's constructor may have opened it, and may close it. Such a module's unwind tables are
//! mapped a second time from its file and belong to the collector.
//!
//! The list is a value ([`Modules`]); the functions here are about this process's own.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::interpose::object;
use crate::path::Announce;
use crate::path::jitdump;
use crate::path::maps;
use crate::path::module::{self, Module};
use crate::turn::{Mine, Quiet, Turn};
use crate::{clock, lane};

/// An immutable, sorted list of modules; a change makes a new one.
#[derive(Default)]
struct List {
    modules: Vec<&'static Module>,
}

/// The modules of an address space, as they are known.
pub struct Modules {
    list: AtomicPtr<List>,
    /// The right to replace the list.
    changing: Turn,
    next_id: AtomicU32,
    generation: AtomicU32,
    /// Threads that may be unloading a library.
    unloading: AtomicU32,
    /// When the time will have passed that all looks for unknown addresses so far may take.
    looks_due_ns: AtomicU64,
}

/// Those of this process.
static OWN: Modules = Modules::none();

/// For a look that found its address in no file, the time that has to pass: where code without a file is
/// executed, looking takes half a percent of the time.
fn due_ns(look_cpu_ns: u64) -> u64 {
    look_cpu_ns.saturating_mul(200).min(50_000_000)
}

/// How far looks may be ahead of the time. While they are further ahead, libraries that have been loaded
/// since stay unknown: an address that is wrong now and then, as where a path is lost, must not have that
/// consequence.
const AHEAD_NS: u64 = 500_000_000;

/// [`Modules::generation`]
#[inline]
pub fn generation() -> u32 {
    OWN.generation()
}

/// [`Modules::all`]
pub fn all() -> &'static [&'static Module] {
    OWN.all()
}

/// [`Modules::known`]
#[inline]
pub fn known(address: u64) -> Option<&'static Module> {
    OWN.known(address)
}

/// [`Modules::find`]
#[inline]
pub fn find(address: u64, announce: &mut dyn Announce) -> Option<&'static Module> {
    OWN.find(address, announce)
}

/// [`Modules::loading`]
pub fn loading() {
    OWN.loading(clock::now_ns());
}

/// [`Modules::load_initial`]
pub fn load_initial() {
    OWN.load_initial();
}

impl Modules {
    /// Without any.
    pub const fn none() -> Modules {
        Modules {
            list: AtomicPtr::new(core::ptr::null_mut()),
            changing: Turn::new(),
            next_id: AtomicU32::new(1),
            generation: AtomicU32::new(1),
            unloading: AtomicU32::new(0),
            looks_due_ns: AtomicU64::new(0),
        }
    }

    /// Changes whenever what is known may have become invalid; remembered paths of an older one are void.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// All that are known now.
    #[inline]
    pub fn all(&self) -> &'static [&'static Module] {
        // SAFETY: lists are never freed.
        unsafe { self.list.load(Ordering::Acquire).as_ref() }.map_or(&[], |list| &list.modules)
    }

    /// The module with `address`, if it is known.
    #[inline]
    pub fn known(&self, address: u64) -> Option<&'static Module> {
        let modules = self.all();
        let behind = modules.partition_point(|module| module.start <= address);
        let module = *modules.get(behind.checked_sub(1)?)?;
        if address >= module.end {
            return None;
        }
        let may_be_gone = !module.permanent && self.unloading.load(Ordering::Acquire) != 0;
        if may_be_gone && !module.is_still_loaded() {
            return None;
        }
        Some(module)
    }

    /// The module with `address`; looks for new ones. `announce` writes a new module to the log. For signal
    /// handlers: makes system calls when the address is unknown, but never waits.
    #[inline]
    pub fn find(&'static self, address: u64, announce: &mut dyn Announce) -> Option<&'static Module> {
        self.known(address).or_else(|| self.discover(address, announce))
    }

    #[cold]
    fn discover(&'static self, address: u64, announce: &mut dyn Announce) -> Option<&'static Module> {
        let now = clock::now_ns();
        if !self.may_look(now) || address < 4096 {
            return None;
        }
        let changing = self.changing.try_begin()?;
        if let Some(module) = self.known(address) {
            return Some(module);
        }
        let began_ns = clock::thread_cpu_ns();
        let module = maps::find(address)
            .filter(|mapping| mapping.executable && mapping.inode != 0)
            .map(|mapping| module::from_file(&changing, &mapping, now, self.all(), || self.number()));
        match module {
            Some(module) if module.start <= address && address < module.end => {
                announce.module(module);
                let mut modules: Vec<_> = self.all().to_vec();
                // Modules that overlap the new one are gone, whichever thread unloaded them.
                modules.retain(|old| old.end <= module.start || module.end <= old.start);
                modules.push(module);
                self.store(modules);
                Some(module)
            }
            _ => {
                jitdump::look(&changing);
                // By the CPU clock: what takes long for lack of a processor is no reason to look less often.
                self.looked_in_vain(now, clock::thread_cpu_ns().saturating_sub(began_ns));
                None
            }
        }
    }

    fn may_look(&self, now_ns: u64) -> bool {
        self.looks_due_ns.load(Ordering::Relaxed) <= now_ns.saturating_add(AHEAD_NS)
    }

    fn looked_in_vain(&self, now_ns: u64, look_cpu_ns: u64) {
        let due_ns =
            self.looks_due_ns.load(Ordering::Relaxed).max(now_ns).saturating_add(due_ns(look_cpu_ns));
        self.looks_due_ns.store(due_ns, Ordering::Relaxed);
    }

    /// A library will be loaded: the next unknown address is looked up, however many were in vain.
    pub fn loading(&self, now_ns: u64) {
        self.looks_due_ns.fetch_min(now_ns.saturating_add(AHEAD_NS), Ordering::Relaxed);
    }

    /// A number that no module had before.
    fn number(&self) -> u32 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn store(&self, mut modules: Vec<&'static Module>) {
        modules.sort_unstable_by_key(|module| module.start);
        self.list.store(Box::into_raw(Box::new(List { modules })), Ordering::Release);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Learns what is loaded now. Outside of signal handlers only: takes the dynamic linker's lock.
    pub fn load_initial(&'static self) {
        let Some(_changing) = self.changing.try_begin() else { return };
        self.store(module::permanent(|| self.number()));
    }

    /// Removes what has been unloaded. `has_loaded`: something was loaded meanwhile, perhaps at the place of
    /// one that is gone.
    fn remove_gone(&self, _: &Mine, has_loaded: bool, retire: &mut dyn FnMut(&Module)) {
        let modules = self.all();
        let mut gone: Vec<_> = modules.iter().copied().filter(|module| !module.permanent).collect();
        // The dynamic linker's list is far cheaper than that of all mappings.
        if !has_loaded && !gone.is_empty() {
            object::each(&mut |object| {
                gone.retain(|module| !object.contains(module.start));
                gone.is_empty()
            });
        }
        module::keep_gone(&mut gone);
        if !gone.is_empty() {
            gone.iter().for_each(|module| retire(module));
            let is_kept = |module: &&'static Module| !gone.iter().any(|gone| core::ptr::eq(*gone, *module));
            self.store(modules.iter().copied().filter(is_kept).collect());
        }
    }
}

/// A thread unloads a library, perhaps; until [`Unloading::end`]. While any does, modules are looked for
/// before they are believed.
///
/// Where the thread leaves it by a jump, this shows it to the next thread in it: a word of its lane is the
/// hook's stack pointer.
#[must_use]
#[derive(Debug)]
pub struct Unloading {
    /// Other threads see it in the lane's word.
    is_shown: bool,
    /// What had been loaded and unloaded in all, before.
    before: (u64, u64),
}

/// How long the end of an unload waits for a thread that changes the list.
const PATIENCE_NS: u64 = 20_000_000;

impl Unloading {
    /// Begins one, in a hook whose stack pointer is `sp`. Without a lane other threads could not see it:
    /// nothing is begun.
    pub fn begin(sp: u64) -> Unloading {
        let before = object::changes();
        let Some(lane) = lane::current() else { return Unloading { is_shown: false, before } };
        let _quiet = Quiet::begin();
        forget_left(lane, sp.saturating_add(1));
        let word = lane.unloading();
        if word.load(Ordering::Relaxed) != 0 {
            // Of a library's own destructor: the outer one is still unloading.
            return Unloading { is_shown: false, before };
        }
        OWN.unloading.fetch_add(1, Ordering::AcqRel);
        word.store(sp, Ordering::Relaxed);
        Unloading { is_shown: true, before }
    }

    /// That is over. `retire` is called with each module that is gone.
    pub fn end(self, retire: &mut dyn FnMut(&Module)) {
        let now = object::changes();
        // A thread that gets no turn leaves the list as it is: the next unload, or what is found at the same
        // place, puts it right. Most calls of `dlclose` only count down.
        if now.1 != self.before.1
            && let Some(changing) = OWN.changing.begin_within(PATIENCE_NS)
        {
            OWN.remove_gone(&changing, now.0 != self.before.0, retire);
        }
        if self.is_shown
            && let Some(lane) = lane::current()
        {
            let _quiet = Quiet::begin();
            finish(lane);
        }
    }
}

fn finish(lane: &lane::Lane) {
    if lane.unloading().swap(0, Ordering::Relaxed) != 0 {
        OWN.unloading.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The owner of `lane`, which has reached `sp`, may have left an unload by a jump.
pub fn forget_left(lane: &lane::Lane, sp: u64) {
    let began = lane.unloading().load(Ordering::Relaxed);
    // SAFETY: the caller is the owner.
    let own = unsafe { lane.own_stack() };
    if began != 0 && own.contains(began) && own.contains(sp) && began < sp {
        finish(lane);
    }
}

/// The owner of `lane` is gone, or its lane is given to another one.
pub fn forget_unloading_of(lane: &lane::Lane) {
    finish(lane);
}

/// In a forked child no other thread is left that could have the list.
pub fn after_fork() {
    OWN.changing.after_fork();
    OWN.unloading.store(0, Ordering::Release);
    jitdump::after_fork();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of an unknown address each 10 ms, for 100 s, are looked up, for 100 µs each.
    fn looks(modules: &Modules) -> u64 {
        (0..10_000_u64)
            .filter(|tick| {
                let now_ns = tick * 10_000_000;
                let looks = modules.may_look(now_ns);
                if looks {
                    modules.looked_in_vain(now_ns, 100_000);
                }
                looks
            })
            .count() as u64
    }

    #[test]
    fn looking_for_code_without_a_file_takes_little_time() {
        let looks_ns = looks(&Modules::none()) * 100_000;
        // Half a percent of 100 s.
        assert!((490_000_000..=510_000_000).contains(&looks_ns), "{looks_ns}");
    }

    #[test]
    fn a_wrong_address_now_and_then_hides_no_library() {
        let modules = Modules::none();
        for now_ns in (0..1000).map(|look| look * 100_000_000) {
            assert!(modules.may_look(now_ns));
            // Two of a slow machine, one after the other.
            modules.looked_in_vain(now_ns, 400_000);
            assert!(modules.may_look(now_ns + 1_000_000));
        }
    }

    #[test]
    fn where_looking_has_to_wait_a_library_that_is_loaded_is_found() {
        let modules = Modules::none();
        (0..100).for_each(|_| modules.looked_in_vain(0, u64::MAX));
        assert!(!modules.may_look(1_000_000_000));
        modules.loading(1_000_000_000);
        assert!(modules.may_look(1_000_000_000));
    }

    #[test]
    fn lists_do_not_share_anything() {
        let lists: [&'static Modules; 2] = [(); 2].map(|()| &*Box::leak(Box::new(Modules::none())));
        let here = lists_do_not_share_anything as *const () as u64;
        lists[0].load_initial();
        let module = lists[0].known(here).expect("the test's own program");
        assert!(module.permanent && module.start <= here && here < module.end);
        assert!(lists[1].known(here).is_none() && lists[1].all().is_empty());
        assert_ne!(lists[0].generation(), lists[1].generation());
        lists[1].load_initial();
        let ids = lists.map(|list| list.known(here).map(|module| module.id));
        assert_eq!(ids[0], ids[1], "each numbers from 1");
    }
}
