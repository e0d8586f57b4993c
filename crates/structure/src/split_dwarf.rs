//! Debug information that the compiler left in `.dwo` files, or that was packed into one `.dwp`.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::gimli::{Dwarf, DwarfPackage, EndianSlice, RunTimeEndian, SectionId};
use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};

use crate::debug_info::DebugInfoError;
use crate::image::{Elf, Image, Keep, Slice, section};
use crate::paths;

/// Loads the split units of one module as lookups ask for them.
pub(crate) struct SplitDwarf<'a> {
    package_path: PathBuf,
    package: OnceCell<Option<DwarfPackage<Slice<'a>>>>,
    keep: &'a Keep,
    missing: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> SplitDwarf<'a> {
    pub(crate) fn new(module: &Path, keep: &'a Keep) -> Self {
        let mut package = module.as_os_str().to_owned();
        package.push(".dwp");
        Self { package_path: package.into(), package: OnceCell::new(), keep, missing: RefCell::default() }
    }

    /// Completes a lookup, with those of the files it requests that can be loaded.
    pub(crate) fn complete<L>(&self, mut lookup: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'a>>,
    {
        loop {
            lookup = match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => continuation.resume(self.load(&load)),
            };
        }
    }

    /// The `.dwo` files that were asked for and do not exist, or are of another build.
    pub(crate) fn missing(&self) -> Vec<PathBuf> {
        self.missing.borrow().iter().cloned().collect()
    }

    fn load(&self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Arc<Dwarf<Slice<'a>>>> {
        if let Some(package) = self.package.get_or_init(|| self.open_package())
            && let Ok(Some(unit)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(unit));
        }
        let text =
            |piece: &Option<Slice<'a>>| piece.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
        let path = PathBuf::from(paths::join(&[&text(&load.comp_dir), &text(&load.path)]));
        let unit = self.open_unit(&path, load);
        if unit.is_none() {
            self.missing.borrow_mut().insert(path);
        }
        unit
    }

    fn open_package(&self) -> Option<DwarfPackage<Slice<'a>>> {
        let elf = self.open(&self.package_path)?;
        let empty = EndianSlice::new(&[], RunTimeEndian::default());
        DwarfPackage::load(|id| self.split_section(&elf, id), empty).ok()
    }

    fn open_unit(&self, path: &Path, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Arc<Dwarf<Slice<'a>>>> {
        let elf = self.open(path)?;
        let mut dwarf = Dwarf::load(|id| self.split_section(&elf, id)).ok()?;
        let header = dwarf.units().next().ok()??;
        if dwarf.unit(header).ok()?.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }

    fn open(&self, path: &Path) -> Option<Elf<'a>> {
        self.keep.image(Image::open(path).ok()?).elf().ok()
    }

    fn split_section(&self, elf: &Elf<'a>, id: SectionId) -> Result<Slice<'a>, DebugInfoError> {
        Ok(section(elf, id.dwo_name().unwrap_or_default(), self.keep)?)
    }
}
