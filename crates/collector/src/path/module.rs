//! A load of an executable or library: what the collector knows of it, from memory or from its file.

use core::ffi::{CStr, c_int, c_void};

use framehop::{ExplicitModuleSectionInfo, Unwinder};
use proust_log::records;

use crate::arch::unwinding;
use crate::path::elf::{self, FileHeaders, ImageLayout, ProgramHeader};
use crate::path::maps::{self, Mapping};
use crate::path::needed;
use crate::path::rules::RuleTable;
use crate::path::tables;
use crate::turn::Mine;
use crate::{clock, raw, room};

/// An unwinder that knows one module.
pub type ModuleUnwinder = unwinding::Tables<&'static [u8]>;

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
    /// Its code, as far as it may be read; of a permanent module.
    pub code: core::ops::Range<u64>,
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

    /// Whether it is where it was. Reading the mappings takes 5 KiB of stack, and hooks ask this on the
    /// program's.
    #[cold]
    #[inline(never)]
    pub(super) fn is_still_loaded(&self) -> bool {
        room::apart(|| maps::find(self.start).is_some_and(|mapping| mapping.inode == self.inode))
    }
}

/// Leaves in `modules` those that are not where they were: none where that cannot be found out.
pub(super) fn keep_gone(modules: &mut Vec<&'static Module>) {
    if modules.is_empty() {
        return;
    }
    let is_read = maps::each(&mut |range, inode| {
        modules.retain(|module| !(range.contains(&module.start) && inode == module.inode));
    });
    if !is_read {
        modules.clear();
    }
}

/// Those that are loaded now and stay so for the process's life; `number` numbers them. Takes the dynamic
/// linker's lock.
pub(super) fn permanent(number: impl Fn() -> u32) -> Vec<&'static Module> {
    let mut loaded: Vec<Loaded> = Vec::with_capacity(32);
    // SAFETY: the callback matches, and its data pointer is the vector it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut loaded).cast()) };
    let own = visit as *const () as u64;
    let images: Vec<_> = loaded.iter().map(Loaded::image).collect();
    let stays = needed::by(&images, |image| image.range.contains(&own));
    let modules = loaded.iter().zip(stays).filter(|&(_, stays)| stays);
    let modules = modules.filter_map(|(one, _)| loaded_module(&number, one.bias, one.headers, one.name));
    modules.map(|module| &*Box::leak(Box::new(module))).collect()
}

/// The dynamic linker's data of an image.
struct Loaded {
    bias: u64,
    headers: &'static [ProgramHeader],
    name: &'static CStr,
}

impl Loaded {
    fn image(&self) -> needed::Image {
        let range = ImageLayout::of(self.headers).range;
        let range = self.bias.wrapping_add(range.0)..self.bias.wrapping_add(range.1);
        // SAFETY: the image is loaded, and its dynamic section mapped; nothing is closed while the
        // constructor runs.
        unsafe { needed::Image::of(range, self.bias, self.headers, self.name) }
    }
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid description; `data` is load_initial's vector.
    let (info, loaded) = unsafe { (&*info, &mut *data.cast::<Vec<Loaded>>()) };
    // SAFETY: its program headers are mapped; libc's type has the same layout as ours.
    let headers = unsafe {
        core::slice::from_raw_parts(info.dlpi_phdr.cast::<ProgramHeader>(), info.dlpi_phnum.into())
    };
    // SAFETY: a name is null or a zero-terminated string.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    loaded.push(Loaded { bias: info.dlpi_addr, headers, name });
    0
}

fn loaded_module(
    number: impl Fn() -> u32,
    bias: u64,
    headers: &[ProgramHeader],
    name: &CStr,
) -> Option<Module> {
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
        // SAFETY: these are ranges of loaded segments of a module that stays loaded (see `needed`).
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
    Some(describe(number(), start..end, bias, &layout, path, build_id, status.as_ref(), unwinder, true))
}

#[expect(clippy::too_many_arguments, reason = "the facts of a module come from as many places")]
fn describe(
    id: u32,
    range: core::ops::Range<u64>,
    bias: u64,
    layout: &ImageLayout,
    path: &'static CStr,
    build_id: Option<([u8; 24], u16)>,
    status: Option<&libc::stat>,
    unwinder: Option<ModuleUnwinder>,
    permanent: bool,
) -> Module {
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
    let code = if permanent { layout.readable_code } else { (0, 0) };
    Module {
        id,
        start: range.start,
        end: range.end,
        bias,
        code: bias.wrapping_add(code.0)..bias.wrapping_add(code.1),
        // In the unit tests the paths to be seen are this module's own.
        own: !cfg!(test) && range.contains(&here),
        permanent,
        unwinder,
        rules: RuleTable::new(layout.text.1.saturating_sub(layout.text.0)),
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
///
/// `number` numbers it; `known` are the others. Its file is trusted only as far as it cannot do harm: any
/// file may be mapped executable.
pub(super) fn from_file(
    mine: &Mine,
    mapping: &Mapping,
    now: u64,
    known: &[&'static Module],
    number: impl Fn() -> u32,
) -> &'static Module {
    // A file that waits for another process (a pipe) is not opened for good; it is none that was mapped.
    let descriptor = raw::open(mapping.path(), libc::O_RDONLY | libc::O_NONBLOCK, 0);
    if raw::failed(descriptor) {
        return nameless(number(), mapping, now);
    }
    let descriptor = descriptor as i32;
    let module = read_file(mine, descriptor, mapping, known, &number);
    raw::close(descriptor);
    module.unwrap_or_else(|| nameless(number(), mapping, now))
}

fn read_file(
    mine: &Mine,
    descriptor: i32,
    mapping: &Mapping,
    known: &[&'static Module],
    number: impl Fn() -> u32,
) -> Option<&'static Module> {
    let status = raw::fstat(descriptor).filter(|status| status.st_ino == mapping.inode)?;
    let headers = FileHeaders::read(descriptor)?;
    let layout = ImageLayout::of(headers.all());
    let bias = headers.bias_of_mapping(mapping.range.start, mapping.offset)?;
    let range = bias.wrapping_add(layout.range.0)..bias.wrapping_add(layout.range.1);
    let holds = range.start <= mapping.range.start && mapping.range.start < range.end;
    // A file that claims the place of another module, or more than a linker would give it, is known by its
    // mapping alone.
    let intrudes = known.iter().any(|old| old.permanent && old.start < range.end && range.start < old.end);
    if !holds || intrudes || range.end - range.start > MOST_MODULE_BYTES {
        return None;
    }
    let file_bytes = status.st_size as u64;
    let unwinder = layout.unwind_index.zip(layout.unwind_segment).and_then(|(index, segment)| {
        let (from, to, offset) = segment;
        // Addresses behind the file's end can be mapped, and kill the process that reads them.
        if offset.checked_add(to - from).is_none_or(|end| end > file_bytes) {
            return None;
        }
        let segment = tables::part(mine, descriptor, &status, offset, to - from)?;
        let index = segment.get((index.0 - from) as usize..(index.1 - from) as usize)?;
        self::unwinder(range.clone(), bias, &layout, index, segment)
    });
    let build_id = headers.build_id(descriptor);
    let path = keep(mapping.path());
    let module = describe(number(), range, bias, &layout, path, build_id, Some(&status), unwinder, false);
    Some(Box::leak(Box::new(module)))
}

/// A file that cannot be read any more (deleted, replaced, another root): known by its mapping only.
fn nameless(id: u32, mapping: &Mapping, now: u64) -> &'static Module {
    let layout = ImageLayout { text: (0, mapping.range.end - mapping.range.start), ..ImageLayout::default() };
    let bias = mapping.range.start.wrapping_sub(mapping.offset);
    let mut module =
        describe(id, mapping.range.clone(), bias, &layout, keep(mapping.path()), None, None, None, false);
    module.inode = mapping.inode;
    module.facts.time_ns = now;
    Box::leak(Box::new(module))
}

/// More than that no library covers.
const MOST_MODULE_BYTES: u64 = 1 << 40;

fn keep(path: &CStr) -> &'static CStr {
    Box::leak(path.to_owned().into_boxed_c_str())
}

fn executable_path() -> &'static CStr {
    let mut buffer = [0_u8; 4096];
    let got = raw::readlink(c"/proc/self/exe", &mut buffer[..4095]);
    let got = usize::try_from(got).unwrap_or(0);
    CStr::from_bytes_until_nul(&buffer[..=got]).map_or(c"", keep)
}
