//! As much of ELF as the collector needs: program headers, unwind tables, build-id, the vDSO's symbols.

use core::ops::Range;

use crate::raw;

/// A program header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProgramHeader {
    /// PT_ number.
    pub kind: u32,
    /// PF_ flags.
    pub flags: u32,
    /// Offset in the file.
    pub offset: u64,
    /// SVMA.
    pub address: u64,
    /// Not used on Linux.
    pub physical: u64,
    /// Bytes in the file.
    pub file_bytes: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Alignment.
    pub alignment: u64,
}

const PF_R: u32 = 4;
const PT_LOAD: u32 = 1;
/// Program header of the dynamic section.
pub const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const NT_GNU_BUILD_ID: u32 = 3;

/// What the program headers of an image say.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageLayout {
    /// First and last SVMA of all loaded segments.
    pub range: (u64, u64),
    /// SVMA range of `.eh_frame_hdr`.
    pub unwind_index: Option<(u64, u64)>,
    /// SVMA range, and offset in the file, of the file-backed part of the segment that holds the index.
    pub unwind_segment: Option<(u64, u64, u64)>,
    /// SVMA range of the executable segment.
    pub text: (u64, u64),
    /// The part of it that lies in the file, if it may be read.
    pub readable_code: (u64, u64),
}

impl ImageLayout {
    /// Reads program headers.
    pub fn of(headers: &[ProgramHeader]) -> ImageLayout {
        let mut layout = ImageLayout { range: (u64::MAX, 0), ..ImageLayout::default() };
        for header in headers {
            let end = header.address.saturating_add(header.memory_bytes);
            match header.kind {
                PT_LOAD => {
                    layout.range.0 = layout.range.0.min(header.address);
                    layout.range.1 = layout.range.1.max(end);
                    if header.flags & 1 != 0 && layout.text.1 == 0 {
                        layout.text = (header.address, end);
                        if header.flags & PF_R != 0 {
                            let end = header.address.saturating_add(header.file_bytes);
                            layout.readable_code = (header.address, end);
                        }
                    }
                }
                PT_GNU_EH_FRAME => layout.unwind_index = Some((header.address, end)),
                _ => {}
            }
        }
        if let Some((start, end)) = layout.unwind_index {
            layout.unwind_segment = headers
                .iter()
                .filter(|h| h.kind == PT_LOAD)
                .map(|h| (h.address, h.address.saturating_add(h.file_bytes), h.offset))
                .find(|&(from, to, _)| from <= start && start <= end && end <= to);
        }
        if layout.range.0 > layout.range.1 {
            layout.range = (0, 0);
        }
        layout
    }
}

/// An ELF image that is mapped as the loader (or the kernel) maps it.
#[derive(Clone, Copy, Debug)]
pub struct LoadedImage {
    base: usize,
}

impl LoadedImage {
    /// The image whose ELF header is at `base`.
    ///
    /// # Safety
    /// A well-formed ELF image is mapped there and stays mapped.
    pub unsafe fn new(base: usize) -> LoadedImage {
        LoadedImage { base }
    }

    fn headers(&self) -> &[ProgramHeader] {
        // SAFETY: `new`'s contract: a well-formed header; its program headers follow inside the image.
        unsafe {
            let offset = (self.base as *const u8).add(32).cast::<u64>().read_unaligned() as usize;
            let count = (self.base as *const u8).add(56).cast::<u16>().read_unaligned() as usize;
            core::slice::from_raw_parts((self.base + offset) as *const ProgramHeader, count)
        }
    }

    /// Address of a dynamic symbol (for the vDSO, which has few of them).
    pub fn symbol(&self, name: &[u8]) -> Option<usize> {
        let headers = self.headers();
        let first = headers.iter().find(|h| h.kind == PT_LOAD)?;
        let bias = self.base as u64 + first.offset - first.address;
        let dynamic = headers.iter().find(|h| h.kind == PT_DYNAMIC)?;
        let (mut strings, mut symbols, mut hash) = (0_u64, 0_u64, 0_u64);
        let mut entry = (bias + dynamic.address) as *const [u64; 2];
        // SAFETY: the dynamic section ends with a null entry; the tables it names are in the image. The
        // hash table's second word is the number of symbols.
        unsafe {
            while (*entry)[0] != 0 {
                match (*entry)[0] {
                    4 => hash = bias + (*entry)[1],
                    5 => strings = bias + (*entry)[1],
                    6 => symbols = bias + (*entry)[1],
                    _ => {}
                }
                entry = entry.add(1);
            }
            if strings == 0 || symbols == 0 || hash == 0 {
                return None;
            }
            let count = u64::from(*(hash as *const u32).add(1));
            for index in 0..count {
                let symbol = (symbols + index * 24) as *const u8;
                let text = (strings + u64::from(symbol.cast::<u32>().read_unaligned())) as *const _;
                if raw::text(text) == name {
                    let value = symbol.add(8).cast::<u64>().read_unaligned();
                    return (value != 0).then_some((bias + value) as usize);
                }
            }
        }
        None
    }
}

/// The build-id among mapped notes.
///
/// # Safety
/// The note segments of `headers`, moved by `bias`, are mapped.
pub unsafe fn build_id_in_memory(headers: &[ProgramHeader], bias: u64) -> Option<([u8; 24], u16)> {
    headers.iter().filter(|h| h.kind == PT_NOTE).find_map(|h| {
        // SAFETY: the caller's promise.
        let notes =
            unsafe { core::slice::from_raw_parts((bias + h.address) as *const u8, h.memory_bytes as usize) };
        build_id(notes)
    })
}

/// The build-id in the bytes of a note segment.
pub fn build_id(notes: &[u8]) -> Option<([u8; 24], u16)> {
    let word = |at: usize| -> Option<usize> {
        Some(u32::from_ne_bytes(notes.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    let mut at = 0;
    loop {
        let name_bytes = word(at)?;
        let id_bytes = word(at + 4)?;
        let kind = word(at + 8)?;
        let name = at.checked_add(12)?;
        let id = name.checked_add(name_bytes.checked_next_multiple_of(4)?)?;
        if kind as u32 == NT_GNU_BUILD_ID && notes.get(name..name + name_bytes.min(4))? == b"GNU\0" {
            let bytes = notes.get(id..id + id_bytes.min(24))?;
            let mut result = [0; 24];
            result[..bytes.len()].copy_from_slice(bytes);
            return Some((result, bytes.len() as u16));
        }
        at = id.checked_add(id_bytes.checked_next_multiple_of(4)?)?;
    }
}

/// Most program headers that are looked at in a file.
const MAX_HEADERS: usize = 24;

/// Program headers read from an open file, by system calls only.
pub struct FileHeaders {
    headers: [ProgramHeader; MAX_HEADERS],
    count: usize,
}

impl FileHeaders {
    /// Reads them; None if the file is no 64-bit ELF file of this machine.
    pub fn read(descriptor: i32) -> Option<FileHeaders> {
        let mut start = [0_u8; 64];
        if raw::pread(descriptor, &mut start, 0) != 64 || start[..6] != *b"\x7fELF\x02\x01" {
            return None;
        }
        let offset = u64::from_le_bytes(start[32..40].try_into().ok()?);
        let count = usize::from(u16::from_le_bytes([start[56], start[57]])).min(MAX_HEADERS);
        let mut bytes = [0_u8; MAX_HEADERS * size_of::<ProgramHeader>()];
        let wanted = count * size_of::<ProgramHeader>();
        if raw::pread(descriptor, bytes.get_mut(..wanted)?, offset) != wanted as isize {
            return None;
        }
        // SAFETY: program headers are plain numbers; any bytes are valid ones.
        let headers =
            unsafe { core::mem::transmute::<[u8; 56 * MAX_HEADERS], [ProgramHeader; MAX_HEADERS]>(bytes) };
        Some(FileHeaders { headers, count })
    }

    /// The headers.
    pub fn all(&self) -> &[ProgramHeader] {
        self.headers.get(..self.count).unwrap_or(&[])
    }

    /// AVMA − SVMA, if the file's bytes from `offset` are mapped executable at `start`.
    pub fn bias_of_mapping(&self, start: u64, offset: u64) -> Option<u64> {
        self.all()
            .iter()
            .filter(|h| h.kind == PT_LOAD && h.flags & 1 != 0)
            .find(|h| {
                h.offset & !0xfff == offset
                    || (h.offset..h.offset.saturating_add(h.file_bytes)).contains(&offset)
            })
            .map(|h| start.wrapping_sub(h.address.wrapping_sub(h.offset).wrapping_add(offset)))
    }

    /// Build-id read from the file.
    pub fn build_id(&self, descriptor: i32) -> Option<([u8; 24], u16)> {
        self.all().iter().filter(|h| h.kind == PT_NOTE).find_map(|h| {
            let mut notes = [0_u8; 512];
            let wanted = (h.file_bytes as usize).min(notes.len());
            let got = raw::pread(descriptor, notes.get_mut(..wanted)?, h.offset);
            build_id(notes.get(..usize::try_from(got).ok()?)?)
        })
    }
}

/// The `.eh_frame` address that an index (`.eh_frame_hdr`) names, if the index has the usual form.
pub fn frame_table_of_index(index: &[u8], index_svma: u64) -> Option<u64> {
    // Version 1; frame pointer relative to itself, four signed bytes (encoding 0x1b).
    if index.len() < 8 || index[0] != 1 || index[1] != 0x1b {
        return None;
    }
    let offset = i32::from_le_bytes(index[4..8].try_into().ok()?);
    Some(index_svma.wrapping_add(4).wrapping_add_signed(i64::from(offset)))
}

/// A sub-range as a slice of memory.
///
/// # Safety
/// The range is mapped readable for the process's life.
pub unsafe fn memory(range: Range<u64>) -> &'static [u8] {
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(range.start as *const u8, (range.end - range.start) as usize) }
}
