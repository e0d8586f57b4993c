//! The way of one request: the right binary, what the cache knows of it, and a look at the rest.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::cache::{Cache, Record};
use crate::debug_files::Sources;
use crate::image::{Elf, Image, ImageError, Keep, build_id, hexadecimal};
use crate::resolver::{Resolved, Resolver, nameless};
use crate::structure::{Findings, FunctionTable, SourceFrame};
use crate::{Difference, ModuleNote, ModuleRequest, ModuleStructure, vdso};

/// Answers which functions, inlined calls and lines are behind addresses. May be shared between threads; each
/// call opens the files it needs and closes them again.
#[derive(Debug, Clone)]
pub struct Structurer {
    cache: Option<Cache>,
    debug_roots: Vec<PathBuf>,
}

impl Structurer {
    /// With results kept in the folder `cache`, made when needed; `None` keeps nothing.
    pub fn new(cache: Option<PathBuf>) -> Self {
        Self { cache: cache.map(Cache::new), debug_roots: vec![PathBuf::from("/usr/lib/debug")] }
    }

    /// Looks for separate debug files below `roots` instead of `/usr/lib/debug`.
    #[must_use]
    pub fn with_debug_roots(self, roots: Vec<PathBuf>) -> Self {
        Self { debug_roots: roots, ..self }
    }

    /// What is known about `addresses` (SVMAs, in any order, repetitions allowed) of one module. Never fails:
    /// what cannot be known is in the notes of the answer, and every address has at least one frame.
    pub fn resolve(&self, module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
        let keep = Keep::default();
        let module_name = module.module_name();
        let mut notes = Vec::new();
        let mut sources = None;
        match measured_binary(module, &keep, &mut notes) {
            Ok(elf) => {
                sources = Some(Sources::find(elf, module.file_path(), &self.debug_roots, &keep, &mut notes));
            }
            Err(note) => notes.push(note),
        }
        let build_id = sources.as_ref().map_or(module.build_id(), |sources| build_id(&sources.module));
        let place = self.cache.as_ref().zip(build_id).and_then(|(cache, id)| cache.place(id));
        let evidence = sources.as_ref().map(Sources::evidence);
        let mut record =
            place.as_ref().and_then(|place| place.load(&module_name, evidence.as_ref())).unwrap_or_default();

        let wanted: BTreeSet<u64> = addresses.iter().copied().collect();
        let unknown: Vec<u64> = wanted
            .iter()
            .copied()
            .filter(|address| !record.findings.addresses.contains_key(address))
            .collect();
        if let (Some(sources), Some(evidence)) = (&sources, evidence) {
            if !evidence.has_debug_info() {
                notes.push(ModuleNote::NoDebugInfo { path: module.path.clone() });
            }
            if !unknown.is_empty() {
                record.add(Resolver::new(sources, &module_name, &keep).resolve_all(&unknown));
                if let Some(place) = &place
                    && let Err(error) = place.store(&module_name, evidence, &record)
                {
                    notes.push(ModuleNote::CacheNotWritten {
                        path: place.file().to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
        } else {
            if unknown.len() < wanted.len() {
                notes.push(ModuleNote::FromCache { path: module.path.clone() });
            }
            record.add(Resolved { findings: bare_offsets(&module_name, &unknown), notes: Vec::new() });
        }
        notes.append(&mut record.notes);
        let (functions, addresses) = record.findings.select(addresses);
        ModuleStructure { functions, addresses, notes }
    }
}

impl Record {
    fn add(&mut self, resolved: Resolved) {
        self.findings.merge(resolved.findings);
        for note in resolved.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

fn bare_offsets(module_name: &str, addresses: &[u64]) -> Findings {
    let mut functions = FunctionTable::default();
    let mut findings = Findings::default();
    for &address in addresses {
        let function = functions.add(nameless(module_name, address, 0));
        let frame = SourceFrame { function, file: None, line: None, inlined: false };
        findings.addresses.insert(address, vec![frame]);
    }
    findings.functions = functions.into_functions();
    findings
}

/// The binary that was measured and no other, or why it is not to be had.
fn measured_binary<'a>(
    module: &ModuleRequest,
    keep: &'a Keep,
    notes: &mut Vec<ModuleNote>,
) -> Result<Elf<'a>, ModuleNote> {
    let path = module.path.clone();
    let name = module.module_name();
    if name.starts_with('[') || module.path.as_os_str().is_empty() {
        let vdso = (name == "[vdso]").then(vdso::of_this_process).flatten().map(|image| keep.image(image));
        let elf = vdso.and_then(|image| image.elf().ok());
        // This machine's kernel need not be the one the run was recorded on.
        return elf
            .filter(|elf| module.build_id().is_some() && build_id(elf) == module.build_id())
            .ok_or(ModuleNote::NoFile { name });
    }
    let refused = |error| match error {
        ImageError::Unreadable(reason) => ModuleNote::Unreadable { path: path.clone(), reason },
        ImageError::NotElf => ModuleNote::NotElf { path: path.clone() },
        ImageError::NotSixtyFourBit => ModuleNote::NotSixtyFourBit { path: path.clone() },
        ImageError::Damaged(what) => ModuleNote::Damaged { path: path.clone(), what },
    };
    let image = Image::open(module.file_path()).map_err(refused)?;
    let image = keep.image(image);
    // A rebuilt file of the same name is the likelier explanation than one that is no ELF file any more.
    let replaced = |difference| ModuleNote::Replaced { path: path.clone(), difference };
    let elf = match image.elf() {
        Ok(elf) => elf,
        Err(error) => return Err(written_since(module, image).map_or_else(|| refused(error), replaced)),
    };
    match (module.build_id(), build_id(&elf)) {
        (Some(recorded), found) if found == Some(recorded) => Ok(elf),
        (Some(recorded), found) => Err(replaced(Difference::BuildId {
            recorded: hexadecimal(recorded),
            found: found.map(hexadecimal),
        })),
        (None, _) => match written_since(module, image) {
            Some(difference) => Err(replaced(difference)),
            None => {
                let identity = module.code_id.unwrap_or_default();
                if identity.size_bytes.is_none() && identity.modified_ns.is_none() {
                    notes.push(ModuleNote::Unverified { path });
                }
                Ok(elf)
            }
        },
    }
}

fn written_since(module: &ModuleRequest, image: &Image) -> Option<Difference> {
    let recorded = module.code_id?;
    let (size, modified) = (image.size_bytes, image.modified_ns);
    let size =
        recorded.size_bytes.filter(|&r| r != size).map(|recorded| Difference::Size { recorded, found: size });
    size.or_else(|| {
        let recorded = recorded.modified_ns.filter(|&r| r != modified)?;
        Some(Difference::Modified { recorded, found: modified })
    })
}
