//! Binaries in memory: mapped, never read whole, and kept as long as anything borrows from them.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use addr2line::gimli::{EndianSlice, RunTimeEndian};
use memmap2::Mmap;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection};
use thiserror::Error;

pub(crate) type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;
pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Why a file could not be taken as a module.
#[derive(Debug, Error)]
pub(crate) enum ImageError {
    #[error("{0}")]
    Unreadable(String),
    #[error("not an ELF file")]
    NotElf,
    #[error("not a 64-bit ELF file")]
    NotSixtyFourBit,
    #[error("damaged: {0}")]
    Damaged(String),
}

/// The bytes of a file, with the size and time it had when it was opened.
pub(crate) struct Image {
    bytes: Bytes,
    pub(crate) size_bytes: u64,
    pub(crate) modified_ns: u64,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Image {
    pub(crate) fn open(path: &Path) -> Result<Self, ImageError> {
        let unreadable = |error: io::Error| ImageError::Unreadable(error.to_string());
        // Opening a FIFO would block, opening a device may do anything.
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(ImageError::Unreadable("not a regular file".into()));
        }
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.len() == 0 {
            return Err(ImageError::NotElf);
        }
        // SAFETY: the mapping is private and read-only, and is only read through slices whose content every
        // parser treats as untrusted. Binaries are replaced by renaming (compilers, linkers and package
        // managers write new files), which leaves the mapped inode as it is. If another process truncates the
        // file in place at this very moment, this process ends with SIGBUS; that is the price of not reading
        // gigabytes of debug information.
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        Ok(Self {
            bytes: Bytes::Mapped(map),
            size_bytes: metadata.len(),
            modified_ns: modified_ns(&metadata),
        })
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { size_bytes: bytes.len() as u64, modified_ns: 0, bytes: Bytes::Owned(bytes) }
    }

    pub(crate) fn elf(&self) -> Result<Elf<'_>, ImageError> {
        let bytes: &[u8] = self;
        if !bytes.starts_with(b"\x7fELF") {
            return Err(ImageError::NotElf);
        }
        const CLASS: usize = 4;
        const CLASS_64: u8 = 2;
        if bytes.get(CLASS).is_some_and(|&class| class != CLASS_64) {
            return Err(ImageError::NotSixtyFourBit);
        }
        Elf::parse(bytes).map_err(|error| ImageError::Damaged(error.to_string()))
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// The modification time in nanoseconds since the Unix epoch; times before it count as the epoch.
pub(crate) fn modified_ns(metadata: &fs::Metadata) -> u64 {
    let ns = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    u64::try_from(ns).unwrap_or(0)
}

/// Keeps data found on the way (debug files, unpacked sections) at a fixed place until the lookup ends, so
/// that parsers can borrow from it while more is being added.
#[derive(Default)]
pub(crate) struct Keep {
    images: Shelf<Image>,
    sections: Shelf<Vec<u8>>,
}

impl Keep {
    pub(crate) fn image(&self, image: Image) -> &Image {
        self.images.put(image)
    }

    fn section(&self, bytes: Vec<u8>) -> &[u8] {
        self.sections.put(bytes)
    }
}

/// An append-only list whose items never move.
struct Shelf<T>(OnceCell<Box<(T, Shelf<T>)>>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

impl<T> Shelf<T> {
    fn put(&self, item: T) -> &T {
        let mut free = self;
        while let Some(taken) = free.0.get() {
            free = &taken.1;
        }
        &free.0.get_or_init(|| Box::new((item, Shelf::default()))).0
    }
}

pub(crate) fn byte_order(elf: &Elf<'_>) -> RunTimeEndian {
    if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// The bytes of a section, unpacked where compressed; empty where the section does not exist.
pub(crate) fn section<'a>(elf: &Elf<'a>, name: &str, keep: &'a Keep) -> Result<Slice<'a>, object::Error> {
    let bytes: &'a [u8] = match elf.section_by_name(name) {
        None => &[],
        Some(section) => match section.uncompressed_data()? {
            std::borrow::Cow::Borrowed(bytes) => bytes,
            std::borrow::Cow::Owned(bytes) => keep.section(bytes),
        },
    };
    Ok(EndianSlice::new(bytes, byte_order(elf)))
}

pub(crate) fn build_id<'a>(elf: &Elf<'a>) -> Option<&'a [u8]> {
    elf.build_id().ok().flatten().filter(|id| !id.is_empty())
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
