//! Which module an address belongs to, learnt without the dynamic linker's locks.
//!
//! What is loaded at the start comes from `dl_iterate_phdr`, outside of signal handlers; these modules are
//! never unloaded, and their unwind tables are read where they are. What is loaded later is found when a
//! path first leads through it, from `/proc/self/maps`; such a module may be unloaded at any time, so its
//! unwind tables are mapped a second time from its file and belong to the collector.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use framehop::x86_64::UnwinderX86_64;
use framehop::{ExplicitModuleSectionInfo, MustNotAllocateDuringUnwind, Unwinder};
use proust_log::records;

use crate::path::Announce;
use crate::path::elf::{self, FileHeaders, ImageLayout, ProgramHeader};
use crate::path::maps::{self, Mapping};
use crate::path::rules::RuleTable;
use crate::{clock, raw};

/// An unwinder that knows one module.
pub type ModuleUnwinder = UnwinderX86_64<&'static [u8], MustNotAllocateDuringUnwind>;

/// A load of an executable or library. Never freed: a handler may be looking at it.
pub struct Module {
    /// Number in the log, from 1.
    pub id: u32,
    /// Begin of its addresses.
    pub start: u64,
    /// End of its addresses.
    pub end: u64,
    /// AVMA − SVMA.
    pub bias: u64,
    /// Whether it is the collector itself.
    pub own: bool,
    /// Whether it stays loaded for the process's life.
    pub permanent: bool,
    /// framehop on its unwind tables; None if it has none.
    pub unwinder: Option<ModuleUnwinder>,
    /// Rules learnt so far.
    pub rules: RuleTable,
    inode: u64,
    facts: records::Module,
    build_id_bytes: u16,
    path: &'static CStr,
}

impl Module {
    /// Its record and its path, for the log.
    pub fn for_log(&self) -> (u16, &records::Module, &CStr) {
        (self.build_id_bytes, &self.facts, self.path)
    }
}

/// An immutable, sorted list of modules; a change makes a new one.
#[derive(Default)]
struct List {
    modules: Vec<&'static Module>,
}

static LIST: AtomicPtr<List> = AtomicPtr::new(core::ptr::null_mut());
static CHANGING: AtomicBool = AtomicBool::new(false);
static NEXT_ID: AtomicU32 = AtomicU32::new(1);
static GENERATION: AtomicU32 = AtomicU32::new(1);
static UNLOADING: AtomicU32 = AtomicU32::new(0);
static LAST_MISS_NS: AtomicU64 = AtomicU64::new(0);

/// After an address was found to be in no file, how long no other unknown address is looked up.
const MISS_PAUSE_NS: u64 = 50_000_000;

fn list() -> &'static [&'static Module] {
    // SAFETY: lists are never freed.
    unsafe { LIST.load(Ordering::Acquire).as_ref() }.map_or(&[], |list| &list.modules)
}

/// Changes whenever what is known may no longer hold; remembered paths of an older one are void.
#[inline]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// All modules known now.
pub fn all() -> &'static [&'static Module] {
    list()
}

/// Modules numbered so far.
pub fn count() -> u32 {
    NEXT_ID.load(Ordering::Relaxed) - 1
}

/// The module with `address`, if it is known.
#[inline]
pub fn known(address: u64) -> Option<&'static Module> {
    let modules = list();
    let behind = modules.partition_point(|module| module.start <= address);
    let module = *modules.get(behind.checked_sub(1)?)?;
    if address >= module.end {
        return None;
    }
    if !module.permanent && UNLOADING.load(Ordering::Acquire) != 0 && !still_loaded(module) {
        return None;
    }
    Some(module)
}

/// The module with `address`; looks for new ones. `announce` writes a new module to the log. For signal
/// handlers: makes system calls when the address is unknown, but never waits.
#[inline]
pub fn find(address: u64, announce: &mut dyn Announce) -> Option<&'static Module> {
    known(address).or_else(|| discover(address, announce))
}

#[cold]
fn discover(address: u64, announce: &mut dyn Announce) -> Option<&'static Module> {
    let now = clock::now_ns();
    if now.saturating_sub(LAST_MISS_NS.load(Ordering::Relaxed)) < MISS_PAUSE_NS || address < 4096 {
        return None;
    }
    let _changing = Changing::try_begin()?;
    if let Some(module) = known(address) {
        return Some(module);
    }
    let module = maps::find(address)
        .filter(|mapping| mapping.executable && mapping.inode != 0)
        .and_then(|mapping| load_from_file(&mapping, now));
    match module {
        Some(module) if module.start <= address && address < module.end => {
            announce.module(module);
            let mut modules: Vec<_> = list().to_vec();
            // What overlaps the new module is gone, whoever unloaded it.
            modules.retain(|old| old.end <= module.start || module.end <= old.start);
            publish(modules, module);
            Some(module)
        }
        _ => {
            LAST_MISS_NS.store(now, Ordering::Relaxed);
            None
        }
    }
}

/// The right to replace the list. Handlers only try; a hook may wait, since whoever holds it goes on.
struct Changing;

impl Changing {
    fn try_begin() -> Option<Changing> {
        (!CHANGING.swap(true, Ordering::Acquire)).then_some(Changing)
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        CHANGING.store(false, Ordering::Release);
    }
}

fn publish(mut modules: Vec<&'static Module>, added: &'static Module) {
    modules.push(added);
    store(modules);
}

fn store(mut modules: Vec<&'static Module>) {
    modules.sort_unstable_by_key(|module| module.start);
    LIST.store(Box::into_raw(Box::new(List { modules })), Ordering::Release);
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Learns what is loaded now. Outside of signal handlers only: takes the dynamic linker's lock.
pub fn load_initial() {
    let Some(_changing) = Changing::try_begin() else { return };
    let mut modules: Vec<&'static Module> = Vec::with_capacity(32);
    // SAFETY: the callback matches, and its data pointer is the vector it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut modules).cast()) };
    store(modules);
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid description; `data` is load_initial's vector.
    let (info, modules) = unsafe { (&*info, &mut *data.cast::<Vec<&'static Module>>()) };
    // SAFETY: its program headers are mapped; libc's type has the same layout as ours.
    let headers = unsafe {
        core::slice::from_raw_parts(info.dlpi_phdr.cast::<ProgramHeader>(), info.dlpi_phnum.into())
    };
    // SAFETY: a name is null or a zero-terminated string.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    if let Some(module) = loaded_module(info.dlpi_addr, headers, name) {
        modules.push(Box::leak(Box::new(module)));
    }
    0
}

fn loaded_module(bias: u64, headers: &[ProgramHeader], name: &CStr) -> Option<Module> {
    let layout = ImageLayout::of(headers);
    if layout.range.1 == 0 {
        return None;
    }
    let (start, end) = (bias.wrapping_add(layout.range.0), bias.wrapping_add(layout.range.1));
    let is_vdso = name.to_bytes().starts_with(b"linux-vdso") || name.to_bytes().starts_with(b"linux-gate");
    let path = if is_vdso {
        c"[vdso]"
    } else if name.is_empty() {
        executable_path()
    } else {
        keep(name)
    };
    let unwinder = layout.unwind_index.zip(layout.unwind_segment).and_then(|(index, segment)| {
        // SAFETY: these are ranges of loaded segments of a module that stays loaded: ctor-time modules are
        // never unloaded.
        let (index_bytes, segment_bytes) = unsafe {
            (
                elf::memory(bias.wrapping_add(index.0)..bias.wrapping_add(index.1)),
                elf::memory(bias.wrapping_add(segment.0)..bias.wrapping_add(segment.1)),
            )
        };
        unwinder(start..end, bias, &layout, index_bytes, segment_bytes)
    });
    // SAFETY: the note segments of a loaded module are mapped.
    let build_id = unsafe { elf::build_id_in_memory(headers, bias) };
    let status = raw::stat(path);
    Some(describe(start..end, bias, &layout, path, build_id, status.as_ref(), unwinder, true))
}

#[expect(clippy::too_many_arguments, reason = "the facts of a module come from as many places")]
fn describe(
    range: core::ops::Range<u64>,
    bias: u64,
    layout: &ImageLayout,
    path: &'static CStr,
    build_id: Option<([u8; 24], u16)>,
    status: Option<&libc::stat>,
    unwinder: Option<ModuleUnwinder>,
    permanent: bool,
) -> Module {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let (build_id, build_id_bytes) = build_id.unwrap_or_default();
    let here = visit as *const () as u64;
    let facts = records::Module {
        id,
        has_unwind_tables: u32::from(unwinder.is_some()),
        time_ns: clock::now_ns(),
        start: range.start,
        end: range.end,
        load_bias: bias,
        file_bytes: status.map_or(0, |s| s.st_size as u64),
        file_modified_ns: status.map_or(0, |s| {
            (s.st_mtime as u64).wrapping_mul(1_000_000_000).wrapping_add(s.st_mtime_nsec as u64)
        }),
        build_id,
    };
    Module {
        id,
        start: range.start,
        end: range.end,
        bias,
        // In the unit tests the paths to be seen are this module's own.
        own: !cfg!(test) && range.contains(&here),
        permanent,
        unwinder,
        rules: RuleTable::new(layout.text.1 - layout.text.0),
        inode: status.map_or(0, |s| s.st_ino),
        facts,
        build_id_bytes,
        path,
    }
}

fn unwinder(
    range: core::ops::Range<u64>,
    bias: u64,
    layout: &ImageLayout,
    index: &'static [u8],
    segment: &'static [u8],
) -> Option<ModuleUnwinder> {
    let (index_svma, _) = layout.unwind_index?;
    let (segment_start, segment_end, _) = layout.unwind_segment?;
    let table_svma = elf::frame_table_of_index(index, index_svma)?;
    let table = segment.get(usize::try_from(table_svma.checked_sub(segment_start)?).ok()?..)?;
    let mut unwinder = ModuleUnwinder::new();
    unwinder.add_module(framehop::Module::new(
        String::new(),
        range,
        bias.wrapping_add(layout.range.0),
        ExplicitModuleSectionInfo {
            base_svma: layout.range.0,
            text_svma: Some(layout.text.0..layout.text.1),
            eh_frame_svma: Some(table_svma..segment_end),
            eh_frame: Some(table),
            eh_frame_hdr_svma: Some(index_svma..index_svma + index.len() as u64),
            eh_frame_hdr: Some(index),
            ..ExplicitModuleSectionInfo::default()
        },
    ));
    Some(unwinder)
}

/// A module that was loaded after the start, from the mapping its code was found in.
fn load_from_file(mapping: &Mapping, now: u64) -> Option<&'static Module> {
    let path = mapping.path();
    let descriptor = raw::open(path, libc::O_RDONLY, 0);
    if raw::failed(descriptor) {
        return Some(nameless(mapping, now));
    }
    let descriptor = descriptor as i32;
    let module = read_file(descriptor, mapping);
    raw::close(descriptor);
    Some(module.unwrap_or_else(|| nameless(mapping, now)))
}

fn read_file(descriptor: i32, mapping: &Mapping) -> Option<&'static Module> {
    let status = raw::fstat(descriptor).filter(|status| status.st_ino == mapping.inode)?;
    let headers = FileHeaders::read(descriptor)?;
    let layout = ImageLayout::of(headers.all());
    let bias = headers.bias_of_mapping(mapping.range.start, mapping.offset)?;
    let range = bias.wrapping_add(layout.range.0)..bias.wrapping_add(layout.range.1);
    let unwinder = layout.unwind_index.zip(layout.unwind_segment).and_then(|(index, segment)| {
        let (from, to, offset) = segment;
        let skip = offset & 0xfff;
        let bytes = usize::try_from(to - from + skip).ok()?;
        let memory = raw::map(bytes, libc::PROT_READ, libc::MAP_PRIVATE, descriptor, offset - skip);
        if memory.is_null() {
            return None;
        }
        let base = memory as u64 + skip;
        // SAFETY: mapped above, read-only, and never unmapped; index lies inside the segment.
        let (index_bytes, segment_bytes) = unsafe {
            (
                elf::memory(base + (index.0 - from)..base + (index.1 - from)),
                elf::memory(base..base + (to - from)),
            )
        };
        self::unwinder(range.clone(), bias, &layout, index_bytes, segment_bytes)
    });
    let build_id = headers.build_id(descriptor);
    let path = keep(mapping.path());
    let module = describe(range, bias, &layout, path, build_id, Some(&status), unwinder, false);
    Some(Box::leak(Box::new(module)))
}

/// A file that cannot be read any more (deleted, replaced, another root): known by its mapping only.
fn nameless(mapping: &Mapping, now: u64) -> &'static Module {
    let layout = ImageLayout { text: (0, mapping.range.end - mapping.range.start), ..ImageLayout::default() };
    let bias = mapping.range.start.wrapping_sub(mapping.offset);
    let mut module =
        describe(mapping.range.clone(), bias, &layout, keep(mapping.path()), None, None, None, false);
    module.inode = mapping.inode;
    module.facts.time_ns = now;
    Box::leak(Box::new(module))
}

fn still_loaded(module: &Module) -> bool {
    maps::find(module.start).is_some_and(|mapping| mapping.inode == module.inode)
}

/// A library is about to be unloaded, perhaps.
pub fn unloading_begins() {
    UNLOADING.fetch_add(1, Ordering::AcqRel);
}

/// That is over. `retire` writes what is gone to the log.
pub fn unloading_ended(retire: &mut dyn FnMut(&Module)) {
    loop {
        if let Some(_changing) = Changing::try_begin() {
            let modules = list();
            let kept: Vec<_> = modules
                .iter()
                .copied()
                .filter(|module| {
                    module.permanent || still_loaded(module) || {
                        retire(module);
                        false
                    }
                })
                .collect();
            if kept.len() != modules.len() {
                store(kept);
            }
            break;
        }
        core::hint::spin_loop();
    }
    UNLOADING.fetch_sub(1, Ordering::AcqRel);
}

/// In a forked child nobody else is left who could hold the list.
pub fn after_fork() {
    CHANGING.store(false, Ordering::Release);
    UNLOADING.store(0, Ordering::Release);
}

fn keep(path: &CStr) -> &'static CStr {
    Box::leak(path.to_owned().into_boxed_c_str())
}

fn executable_path() -> &'static CStr {
    let mut buffer = [0_u8; 4096];
    let got = raw::readlink(c"/proc/self/exe", &mut buffer[..4095]);
    let got = usize::try_from(got).unwrap_or(0);
    CStr::from_bytes_until_nul(&buffer[..=got]).map_or(c"", keep)
}
