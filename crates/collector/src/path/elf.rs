//! As much of ELF as the collector needs: program headers, unwind tables, build-id, the vDSO's symbols.
//!
//! `object` reads the format, on slices, without allocating and without leaving them.

use core::ops::Range;

use object::NativeEndian;
use object::elf::{
    DT_GNU_HASH, DT_HASH, DT_STRTAB, DT_SYMTAB, Dyn64, ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID,
    ProgramHeader64, Sym64,
};
use object::pod::slice_from_bytes;
use object::read::elf::ProgramHeader as _;
use object::read::elf::{Dyn as _, FileHeader as _, GnuHashTable, HashTable, NoteIterator, Sym as _};

use crate::arch::PAGE_BYTES;
use crate::raw;

type Header = FileHeader64<NativeEndian>;
const ENDIAN: NativeEndian = NativeEndian;

/// A program header.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
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

/// The content of an image's program headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageLayout {
    /// First and last SVMA of all loaded segments.
    pub range: (u64, u64),
    /// SVMA range of `.eh_frame_hdr`.
    pub unwind_index: Option<(u64, u64)>,
    /// SVMA range, and offset in the file, of the file-backed part of the segment that contains the index.
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

impl ProgramHeader {
    fn of(header: &ProgramHeader64<NativeEndian>) -> ProgramHeader {
        ProgramHeader {
            kind: header.p_type(ENDIAN).0,
            flags: header.p_flags(ENDIAN).0,
            offset: header.p_offset(ENDIAN),
            address: header.p_vaddr(ENDIAN),
            physical: header.p_paddr(ENDIAN),
            file_bytes: header.p_filesz(ENDIAN),
            memory_bytes: header.p_memsz(ENDIAN),
            alignment: header.p_align(ENDIAN),
        }
    }
}

/// An ELF image that is mapped as it lies in its file, as the kernel maps the vDSO.
#[derive(Clone, Copy, Debug)]
pub struct LoadedImage<'a> {
    bytes: &'a [u8],
}

impl LoadedImage<'static> {
    /// The image whose ELF header is at `base`.
    ///
    /// # Safety
    /// A well-formed ELF image is mapped there and stays mapped.
    pub unsafe fn new(base: usize) -> Option<LoadedImage<'static>> {
        let start = base as u64;
        // SAFETY: the caller's promise: the headers of an image lie in its first page, which is mapped.
        let first = unsafe { memory(start..start + PAGE_BYTES as u64) };
        let headers = Header::parse(first).ok()?.program_headers(ENDIAN, first).ok()?;
        let range = |header: &ProgramHeader64<NativeEndian>| header.file_range(ENDIAN);
        let ends = headers.iter().filter(|header| header.p_type(ENDIAN).0 == PT_LOAD).map(range);
        let end = ends.map(|(offset, bytes)| offset.saturating_add(bytes)).max()?;
        // SAFETY: as above: its segments are mapped.
        Some(LoadedImage { bytes: unsafe { memory(start..start.checked_add(end)?) } })
    }
}

impl LoadedImage<'_> {
    /// Address of a dynamic symbol (for the vDSO, which has few of them).
    pub fn symbol(&self, name: &[u8]) -> Option<usize> {
        let bytes = self.bytes;
        let headers = Header::parse(bytes).ok()?.program_headers(ENDIAN, bytes).ok()?;
        let first = headers.iter().find(|header| header.p_type(ENDIAN).0 == PT_LOAD)?;
        let place = |svma: u64| {
            let at = svma.checked_sub(first.p_vaddr(ENDIAN))?.checked_add(first.p_offset(ENDIAN))?;
            usize::try_from(at).ok()
        };
        let entries: &[Dyn64<NativeEndian>] =
            headers.iter().find_map(|header| header.dynamic(ENDIAN, bytes).ok().flatten())?;
        let table = |tag| {
            let entry = entries.iter().find(|entry| entry.tag(ENDIAN) == tag)?;
            bytes.get(place(entry.val(ENDIAN))?..)
        };
        let (strings, symbols) = (table(DT_STRTAB)?, table(DT_SYMTAB)?);
        let of_hash =
            || Some(HashTable::<Header>::parse(ENDIAN, table(DT_HASH)?).ok()?.symbol_table_length());
        // The values of this one reach to the end of the image, in whole words.
        let of_gnu_hash = || {
            let words = table(DT_GNU_HASH)?;
            let words = words.get(..words.len() / 4 * 4)?;
            GnuHashTable::<Header>::parse(ENDIAN, words).ok()?.symbol_table_length(ENDIAN)
        };
        let count = of_hash().or_else(of_gnu_hash)?;
        let (symbols, _) = slice_from_bytes::<Sym64<NativeEndian>>(symbols, count as usize).ok()?;
        let found = symbols.iter().find(|symbol| {
            let text = strings.get(symbol.st_name(ENDIAN) as usize..);
            let end = text.and_then(|text| text.iter().position(|&byte| byte == 0));
            text.zip(end).is_some_and(|(text, end)| text.get(..end) == Some(name))
        })?;
        let value = found.st_value(ENDIAN);
        if value == 0 { None } else { Some(bytes.as_ptr() as usize + place(value)?) }
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
        build_id(notes, h.alignment)
    })
}

/// The build-id in the bytes of a note segment of this alignment.
pub fn build_id(notes: &[u8], alignment: u64) -> Option<([u8; 24], u16)> {
    let mut notes = NoteIterator::<Header>::new(ENDIAN, alignment, notes).ok()?;
    while let Some(note) = notes.next().ok()? {
        if note.n_type(ENDIAN) == NT_GNU_BUILD_ID && note.name() == ELF_NOTE_GNU {
            let bytes = note.desc().get(..note.desc().len().min(24))?;
            let mut result = [0; 24];
            result[..bytes.len()].copy_from_slice(bytes);
            return Some((result, bytes.len() as u16));
        }
    }
    None
}

/// Most program headers that are looked at in a file.
const MAX_HEADERS: usize = 24;

/// Bytes that numbers of eight bytes are read from.
#[repr(align(8))]
struct Aligned<const BYTES: usize>([u8; BYTES]);

/// Program headers read from an open file, by system calls only.
pub struct FileHeaders {
    headers: [ProgramHeader; MAX_HEADERS],
    count: usize,
}

impl FileHeaders {
    /// Reads them; None if the file is no 64-bit ELF file of this machine.
    pub fn read(descriptor: i32) -> Option<FileHeaders> {
        let mut start = Aligned([0_u8; size_of::<Header>()]);
        if raw::pread(descriptor, &mut start.0, 0) != size_of::<Header>() as isize {
            return None;
        }
        let header = Header::parse(&start.0[..]).ok().filter(|header| header.is_little_endian())?;
        let mut bytes = Aligned([0_u8; MAX_HEADERS * size_of::<ProgramHeader>()]);
        let count = usize::from(header.e_phnum(ENDIAN)).min(MAX_HEADERS);
        let wanted = bytes.0.get_mut(..count * size_of::<ProgramHeader>())?;
        if raw::pread(descriptor, wanted, header.e_phoff(ENDIAN)) != wanted.len() as isize {
            return None;
        }
        let (read, _) = slice_from_bytes::<ProgramHeader64<NativeEndian>>(wanted, count).ok()?;
        let mut headers = [ProgramHeader::default(); MAX_HEADERS];
        headers.iter_mut().zip(read).for_each(|(header, read)| *header = ProgramHeader::of(read));
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
            build_id(notes.get(..usize::try_from(got).ok()?)?, h.alignment)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A note: the sizes of name and description, its type, and both, filled up.
    fn note(name: &[u8], kind: u32, description: &[u8], alignment: usize) -> Vec<u8> {
        let mut note = Vec::new();
        for number in [name.len() as u32, description.len() as u32, kind] {
            note.extend(number.to_ne_bytes());
        }
        for part in [name, description] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(alignment), 0);
        }
        note
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes_in_segments_of_either_alignment() {
        for alignment in [4, 8] {
            let mut notes = note(b"GNU\0", 5, &[1; 12], alignment);
            notes.extend(note(b"GNU\0", 3, &[7; 20], alignment));
            let (id, bytes) = build_id(&notes, alignment as u64).expect("it is there");
            assert_eq!((&id[..20], &id[20..], bytes), (&[7; 20][..], &[0; 4][..], 20));
            for end in 0..notes.len() - 4 {
                assert!(build_id(&notes[..end], alignment as u64).is_none(), "cut at {end}");
            }
        }
        assert!(build_id(&note(b"Go\0\0", 3, &[7; 20], 4), 4).is_none());
    }

    #[test]
    fn the_kernels_own_image_has_its_clock() {
        // SAFETY: the kernel's own image, as in `clock`.
        let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
        if base == 0 {
            println!("SKIP: the kernel gives no functions to this process");
            return;
        }
        // SAFETY: as above.
        let image = unsafe { LoadedImage::new(base) }.expect("it is well-formed");
        let [get_time, _] = crate::arch::elf::VDSO;
        let at = image.symbol(get_time).expect("every kernel has it");
        assert!(at > base && at - base < image.bytes.len());
        assert_eq!(image.symbol(b"no_such_function"), None);
        for bytes in 0..image.bytes.len().min(4096) {
            let _ = LoadedImage { bytes: &image.bytes[..bytes] }.symbol(get_time);
        }
    }
}
