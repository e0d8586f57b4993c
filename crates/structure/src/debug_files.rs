//! Debug information that lies in files of its own, found by build-id or by name and checked to be of the
//! same build.

use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use serde::{Deserialize, Serialize};

use crate::ModuleNote;
use crate::image::{Elf, Image, Keep, build_id, hexadecimal};

/// A module and the files that describe it.
pub(crate) struct Sources<'a> {
    pub(crate) path: PathBuf,
    pub(crate) module: Elf<'a>,
    /// The separate debug file, where the module itself was stripped.
    pub(crate) debug_file: Option<Found<'a>>,
    /// The file with the parts common to many debug files, made by a tool like dwz.
    pub(crate) supplementary: Option<Found<'a>>,
}

/// An accepted debug file.
pub(crate) struct Found<'a> {
    pub(crate) elf: Elf<'a>,
    identity: FoundIdentity,
}

/// The files that an answer is based on: a cached answer is as good as a new one only while this stays the
/// same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    symbols: bool,
    debug_info: bool,
    debug_file: Option<FoundIdentity>,
    supplementary: Option<FoundIdentity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FoundIdentity {
    path: PathBuf,
    size_bytes: u64,
    modified_ns: u64,
}

impl<'a> Sources<'a> {
    /// Looks for the separate files of `module`, loaded from `path`, below `roots` (`/usr/lib/debug`) and
    /// beside it.
    pub(crate) fn find(
        module: Elf<'a>,
        path: &Path,
        roots: &[PathBuf],
        keep: &'a Keep,
        notes: &mut Vec<ModuleNote>,
    ) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let search = Search { path: &path, roots, keep };
        let complete = has_debug_info(&module);
        let debug_file = if complete { None } else { search.debug_file(&module, notes) };
        let described = debug_file.as_ref().map_or(&module, |found| &found.elf);
        let described_at = debug_file.as_ref().map_or(path.as_path(), |found| &found.identity.path);
        let supplementary = search.supplementary(described, described_at, notes);
        Self { path, module, debug_file, supplementary }
    }

    /// The file with debug information, if there is one.
    pub(crate) fn debug_info(&self) -> Option<&Elf<'a>> {
        self.debug_file.iter().map(|found| &found.elf).chain([&self.module]).find(|elf| has_debug_info(elf))
    }

    /// The files with symbols, the module first.
    pub(crate) fn symbol_files(&self) -> Vec<&Elf<'a>> {
        [&self.module].into_iter().chain(self.debug_file.as_ref().map(|found| &found.elf)).collect()
    }

    pub(crate) fn evidence(&self) -> Evidence {
        let identity = |found: &Option<Found<'a>>| found.as_ref().map(|found| found.identity.clone());
        Evidence {
            symbols: self.symbol_files().iter().any(|elf| !elf.elf_symbol_table().is_empty()),
            debug_info: self.debug_info().is_some(),
            debug_file: identity(&self.debug_file),
            supplementary: identity(&self.supplementary),
        }
    }
}

impl Evidence {
    pub(crate) fn has_debug_info(&self) -> bool {
        self.debug_info
    }
}

fn has_debug_info(elf: &Elf<'_>) -> bool {
    // `objcopy --only-keep-debug` keeps the headers of the sections it empties, and so does stripping the
    // other way.
    elf.section_by_name(".debug_info")
        .is_some_and(|section| section.data().is_ok_and(|data| !data.is_empty()))
}

struct Search<'s, 'a> {
    path: &'s Path,
    roots: &'s [PathBuf],
    keep: &'a Keep,
}

/// How a candidate is recognised as belonging to the module.
enum Proof<'p> {
    BuildId(&'p [u8]),
    /// CRC-32 of the whole file, as written into `.gnu_debuglink`.
    Checksum(u32),
}

impl<'a> Search<'_, 'a> {
    fn debug_file(&self, module: &Elf<'a>, notes: &mut Vec<ModuleNote>) -> Option<Found<'a>> {
        let id = build_id(module);
        if let Some(id) = id {
            for candidate in self.by_build_id(id) {
                if let Some(found) = self.accept(candidate, &Proof::BuildId(id), notes) {
                    return Some(found);
                }
            }
        }
        let (name, checksum) = module.gnu_debuglink().ok().flatten()?;
        let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
        let folder = self.path.parent()?;
        let beside = [folder.join(name), folder.join(".debug").join(name)];
        let below_roots =
            self.roots.iter().map(|root| root.join(folder.strip_prefix("/").unwrap_or(folder)).join(name));
        let proof = id.map_or(Proof::Checksum(checksum), Proof::BuildId);
        beside
            .into_iter()
            .chain(below_roots)
            .filter(|candidate| candidate != self.path)
            .find_map(|candidate| self.accept(candidate, &proof, notes))
    }

    fn supplementary(
        &self,
        described: &Elf<'a>,
        at: &Path,
        notes: &mut Vec<ModuleNote>,
    ) -> Option<Found<'a>> {
        let (name, id) = described.gnu_debugaltlink().ok().flatten()?;
        let name = Path::new(std::str::from_utf8(name).ok()?);
        let folder = at.parent().unwrap_or(Path::new("/"));
        let pooled = self.roots.iter().filter_map(|root| Some(root.join(".dwz").join(name.file_name()?)));
        [folder.join(name)]
            .into_iter()
            .chain(self.by_build_id(id))
            .chain(pooled)
            .find_map(|candidate| self.accept(candidate, &Proof::BuildId(id), notes))
    }

    fn by_build_id(&self, id: &[u8]) -> Vec<PathBuf> {
        let [first, rest @ ..] = id else { return Vec::new() };
        let file = format!(".build-id/{first:02x}/{}.debug", hexadecimal(rest));
        self.roots.iter().map(|root| root.join(&file)).collect()
    }

    fn accept(&self, path: PathBuf, proof: &Proof<'_>, notes: &mut Vec<ModuleNote>) -> Option<Found<'a>> {
        if !path.exists() {
            return None;
        }
        match self.check(&path, proof) {
            Ok(found) => Some(found),
            Err(reason) => {
                notes.push(ModuleNote::DebugFileIgnored { path, module: self.path.to_owned(), reason });
                None
            }
        }
    }

    fn check(&self, path: &Path, proof: &Proof<'_>) -> Result<Found<'a>, String> {
        let image = self.keep.image(Image::open(path).map_err(|error| error.to_string())?);
        let elf = image.elf().map_err(|error| error.to_string())?;
        let same_build = match proof {
            Proof::BuildId(id) => build_id(&elf) == Some(id),
            Proof::Checksum(checksum) => crc32(image) == *checksum,
        };
        if !same_build {
            return Err("it belongs to another build".into());
        }
        let identity = FoundIdentity {
            path: path.to_owned(),
            size_bytes: image.size_bytes,
            modified_ns: image.modified_ns,
        };
        Ok(Found { elf, identity })
    }
}

/// The checksum of `.gnu_debuglink`: CRC-32 with the reflected polynomial of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut remainder = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                remainder = if remainder & 1 == 1 { 0xedb8_8320 ^ (remainder >> 1) } else { remainder >> 1 };
                bit += 1;
            }
            table[byte] = remainder;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |crc, &byte| TABLE[((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_has_its_published_check_value() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
