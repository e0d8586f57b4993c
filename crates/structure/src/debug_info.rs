//! Functions, inlined calls and lines from DWARF.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use addr2line::Context;
use addr2line::gimli::{self, AbbreviationsCacheStrategy, Dwarf};
use thiserror::Error;

use crate::declaration::{Declaration, Declarations};
use crate::image::{Elf, Keep, Slice, section};
use crate::location::Location;
use crate::split_dwarf::SplitDwarf;
use crate::survive::survive;

/// Debug information that cannot be read.
#[derive(Debug, Error)]
pub(crate) enum DebugInfoError {
    #[error("{0}")]
    Section(#[from] object::Error),
    #[error("{0}")]
    Content(#[from] gimli::Error),
    #[error("it contradicts itself in a way its readers do not expect")]
    Unexpected,
}

/// The debug information of one module.
pub(crate) struct DebugInfo<'a> {
    context: Context<Slice<'a>>,
    split: SplitDwarf<'a>,
    declarations: Declarations<'a>,
}

/// A function at an address, with the frames that execute in it.
pub(crate) struct DebugFrame {
    /// Absent where only the line is known, as for assembler code.
    pub(crate) declaration: Option<Rc<Declaration>>,
    pub(crate) location: Location,
}

impl<'a> DebugInfo<'a> {
    /// Reads the directory of units in `debug`; the units themselves wait until an address asks for them.
    pub(crate) fn read(
        debug: &Elf<'a>,
        supplementary: Option<&Elf<'a>>,
        module_path: &Path,
        keep: &'a Keep,
    ) -> Result<Self, DebugInfoError> {
        survive(|| Self::read_directory(debug, supplementary, module_path, keep))
            .unwrap_or(Err(DebugInfoError::Unexpected))
    }

    fn read_directory(
        debug: &Elf<'a>,
        supplementary: Option<&Elf<'a>>,
        module_path: &Path,
        keep: &'a Keep,
    ) -> Result<Self, DebugInfoError> {
        let mut dwarf = Dwarf::load(|id| section(debug, id.name(), keep))?;
        if let Some(supplementary) = supplementary {
            dwarf.load_sup(|id| section(supplementary, id.name(), keep))?;
        }
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let dwarf = Arc::new(dwarf);
        Ok(Self {
            context: Context::from_arc_dwarf(Arc::clone(&dwarf))?,
            split: SplitDwarf::new(module_path, keep),
            declarations: Declarations::new(dwarf),
        })
    }

    /// The functions at `address`, innermost first. Empty where the debug information says nothing.
    pub(crate) fn frames(&self, address: u64) -> Result<Vec<DebugFrame>, DebugInfoError> {
        survive(|| self.look_up(address)).unwrap_or(Err(DebugInfoError::Unexpected))
    }

    fn look_up(&self, address: u64) -> Result<Vec<DebugFrame>, DebugInfoError> {
        let mut frames = self.split.complete(self.context.find_frames(address))?;
        let unit = self.split.complete(self.context.find_dwarf_and_unit(address));
        let mut found = Vec::new();
        while let Some(frame) = frames.next()? {
            let declaration = match (unit, frame.dw_die_offset) {
                (Some(unit), Some(entry)) => Some(self.declarations.of(unit, entry)?),
                _ => None,
            };
            found.push(DebugFrame {
                declaration,
                location: frame.location.map(Location::from).unwrap_or_default(),
            });
        }
        Ok(found)
    }

    /// The file and line of one instruction.
    pub(crate) fn location(&self, address: u64) -> Location {
        let found = survive(|| self.context.find_location(address).ok().flatten().map(Location::from));
        found.flatten().unwrap_or_default()
    }

    /// Split debug information that was needed and not found.
    pub(crate) fn missing_split_files(&self) -> Vec<PathBuf> {
        self.split.missing()
    }
}
