//! What debug information says about one function: names, declaration, address ranges.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::gimli::{
    self, Attribute, AttributeValue, DebugInfoOffset, DebugLineOffset, DwLang, Dwarf, DwarfFileType,
    IncompleteLineProgram, Unit, UnitHeader, UnitOffset, UnitRef,
};

use crate::image::Slice;
use crate::names::{Names, demangle, without_clone_suffix};
use crate::paths;
use crate::scopes::Scopes;

/// A function as its debug entry and the entries it refers to describe it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declaration {
    /// The name in the source, without its scope.
    pub(crate) name: Option<String>,
    pub(crate) linkage_name: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// The parts of the function's own machine code; empty for an inlined call.
    pub(crate) ranges: Vec<Range<u64>>,
    language: Option<DwLang>,
    /// Only for functions without a linkage name, in languages with scopes.
    qualified: Option<Names>,
}

impl Declaration {
    /// Names for people. `symbol` is the linker's name of the function's first byte, if known.
    pub(crate) fn names(&self, symbol: Option<&str>) -> Option<Names> {
        let linkage_name = symbol.or(self.linkage_name.as_deref());
        let plain = || self.name.as_deref().map(|name| Names::same(without_clone_suffix(name)));
        let demangled = || linkage_name.and_then(demangle);
        let named = if has_scopes(self.language) {
            demangled().or_else(|| self.qualified.clone()).or_else(plain)
        } else if is_fortran(self.language) {
            demangled().or_else(plain)
        } else {
            plain()
        };
        named.or_else(|| linkage_name.map(Names::of_symbol))
    }

    /// The name under which a C library exports a function that it calls `__libc_malloc` or `_IO_puts`
    /// itself: the one that callers know, and the only one without debug information.
    pub(crate) fn public_alias<'n>(&self, candidates: &'n [String]) -> Option<&'n str> {
        let is_private = |name: &str| name.starts_with('_');
        let preferred = candidates.first().filter(|symbol| !is_private(symbol))?;
        (is_c(self.language) && self.name.as_deref().is_some_and(is_private)).then_some(preferred)
    }

    /// Which of the linker's names for the function's first byte is this function's own.
    pub(crate) fn own_symbol(&self, candidates: &[String]) -> Option<String> {
        let own = self.linkage_name.as_deref().or(self.name.as_deref());
        let exact = candidates.iter().find(|symbol| Some(without_clone_suffix(symbol)) == own);
        match (exact, &self.linkage_name) {
            (Some(symbol), _) => Some(symbol.clone()),
            (None, Some(linkage_name)) => Some(linkage_name.clone()),
            (None, None) => candidates.first().cloned(),
        }
    }
}

fn is_fortran(language: Option<DwLang>) -> bool {
    matches!(
        language,
        Some(
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18
        )
    )
}

fn is_c(language: Option<DwLang>) -> bool {
    matches!(
        language,
        Some(
            gimli::DW_LANG_C
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17
                | gimli::DW_LANG_UPC
        )
    )
}

/// Whether a function's name alone says too little: not so in C, assembler and Fortran.
fn has_scopes(language: Option<DwLang>) -> bool {
    !is_c(language) && !is_fortran(language) && language != Some(gimli::DW_LANG_Mips_Assembler)
}

/// Reads declarations, across units and files where entries refer to each other.
pub(crate) struct Declarations<'a> {
    dwarf: Arc<Dwarf<Slice<'a>>>,
    main: OtherUnits<'a>,
    supplementary: OtherUnits<'a>,
    scopes: Scopes,
    /// By place of the unit in memory and entry: samples crowd in few functions.
    known: RefCell<HashMap<(usize, UnitOffset), Rc<Declaration>>>,
}

/// Units that entries of other units refer to, by offset.
#[derive(Default)]
struct OtherUnits<'a> {
    headers: OnceCell<Vec<(usize, UnitHeader<Slice<'a>>)>>,
    units: RefCell<HashMap<usize, Rc<Unit<Slice<'a>>>>>,
}

/// References are followed this far; real chains are of length three.
const LONGEST_REFERENCE_CHAIN: usize = 16;

impl<'a> Declarations<'a> {
    pub(crate) fn new(dwarf: Arc<Dwarf<Slice<'a>>>) -> Self {
        Self {
            dwarf,
            main: OtherUnits::default(),
            supplementary: OtherUnits::default(),
            scopes: Scopes::default(),
            known: RefCell::default(),
        }
    }

    /// The declaration of the function at `entry` of `unit`, which must live as long as `self` does.
    pub(crate) fn of(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        entry: UnitOffset,
    ) -> gimli::Result<Rc<Declaration>> {
        let place = (std::ptr::from_ref(unit.unit).addr(), entry);
        if let Some(known) = self.known.borrow().get(&place) {
            return Ok(Rc::clone(known));
        }
        let mut declaration = Declaration { language: language(unit), ..Declaration::default() };
        self.read(unit, entry, 0, &mut declaration)?;
        let declaration = Rc::new(declaration);
        self.known.borrow_mut().insert(place, Rc::clone(&declaration));
        Ok(declaration)
    }

    /// Completes `into` from `entry`, then from the entry it refers to: the nearest wins.
    fn read(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        entry: UnitOffset,
        followed: usize,
        into: &mut Declaration,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(Some(entry))?;
        let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(()) };
        let mut origin = None;
        let mut bounds = Bounds::default();
        let mut names_it = false;
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            match attribute.name() {
                gimli::DW_AT_name if into.name.is_none() => {
                    into.name = string(unit, &attribute);
                    names_it = into.name.is_some();
                }
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name if into.linkage_name.is_none() => {
                    into.linkage_name = string(unit, &attribute);
                }
                gimli::DW_AT_decl_file if into.file.is_none() => into.file = file_name(unit, &attribute),
                gimli::DW_AT_decl_line if into.line.is_none() => {
                    into.line = attribute.udata_value().and_then(|line| u32::try_from(line).ok());
                    into.line = into.line.filter(|&line| line != 0);
                }
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                _ if followed == 0 => bounds.read(unit, &attribute)?,
                _ => {}
            }
        }
        if followed == 0 && abbreviation.tag() == gimli::DW_TAG_subprogram {
            into.ranges = bounds.ranges(unit)?;
        }
        if let Some(origin) = origin
            && followed < LONGEST_REFERENCE_CHAIN
        {
            self.follow(unit, origin, followed + 1, into)?;
        }
        if names_it && into.linkage_name.is_none() && has_scopes(into.language) {
            into.qualified = self.scopes.qualified(unit, entry);
        }
        Ok(())
    }

    fn follow(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        reference: AttributeValue<Slice<'a>>,
        followed: usize,
        into: &mut Declaration,
    ) -> gimli::Result<()> {
        match reference {
            AttributeValue::UnitRef(entry) => self.read(unit, entry, followed, into),
            AttributeValue::DebugInfoRef(offset) => {
                // An entry read from a supplementary file refers to that file.
                let in_supplementary = self.dwarf.sup().is_some_and(|sup| std::ptr::eq(sup, unit.dwarf));
                let others = if in_supplementary { &self.supplementary } else { &self.main };
                self.read_at(others, unit.dwarf, offset, followed, into)
            }
            AttributeValue::DebugInfoRefSup(offset) => match self.dwarf.sup() {
                Some(sup) => self.read_at(&self.supplementary, sup, offset, followed, into),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn read_at(
        &self,
        others: &OtherUnits<'a>,
        dwarf: &Dwarf<Slice<'a>>,
        offset: DebugInfoOffset,
        followed: usize,
        into: &mut Declaration,
    ) -> gimli::Result<()> {
        let Some(unit) = others.containing(dwarf, offset)? else { return Ok(()) };
        let Some(entry) = offset.to_unit_offset(&unit.header) else { return Ok(()) };
        self.read(UnitRef::new(dwarf, &unit), entry, followed, into)
    }
}

impl<'a> OtherUnits<'a> {
    fn containing(
        &self,
        dwarf: &Dwarf<Slice<'a>>,
        offset: DebugInfoOffset,
    ) -> gimli::Result<Option<Rc<Unit<Slice<'a>>>>> {
        let headers = self.headers.get_or_init(|| {
            let mut headers = Vec::new();
            let mut units = dwarf.units();
            while let Ok(Some(header)) = units.next() {
                headers.extend(header.debug_info_offset().map(|offset| (offset.0, header)));
            }
            headers
        });
        let after = headers.partition_point(|(start, _)| *start <= offset.0);
        let Some((start, header)) = headers[..after].last() else { return Ok(None) };
        if let Some(known) = self.units.borrow().get(start) {
            return Ok(Some(Rc::clone(known)));
        }
        let unit = Rc::new(dwarf.unit(*header)?);
        self.units.borrow_mut().insert(*start, Rc::clone(&unit));
        Ok(Some(unit))
    }
}

/// The attributes that bound a function's code.
#[derive(Default)]
struct Bounds<'a> {
    low: Option<u64>,
    high: Option<High>,
    list: Option<AttributeValue<Slice<'a>>>,
}

enum High {
    Address(u64),
    Bytes(u64),
}

impl<'a> Bounds<'a> {
    fn read(&mut self, unit: UnitRef<'_, Slice<'a>>, attribute: &Attribute<Slice<'a>>) -> gimli::Result<()> {
        match attribute.name() {
            gimli::DW_AT_low_pc => self.low = unit.attr_address(attribute.value())?,
            gimli::DW_AT_high_pc => {
                self.high = match attribute.udata_value() {
                    Some(bytes) => Some(High::Bytes(bytes)),
                    None => unit.attr_address(attribute.value())?.map(High::Address),
                }
            }
            gimli::DW_AT_ranges => self.list = Some(attribute.value()),
            _ => {}
        }
        Ok(())
    }

    /// The parts in the compiler's order: the one with the entry point first.
    fn ranges(self, unit: UnitRef<'_, Slice<'a>>) -> gimli::Result<Vec<Range<u64>>> {
        let mut ranges = Vec::new();
        if let Some(list) = self.list {
            if let Some(mut list) = unit.attr_ranges(list)? {
                while let Some(range) = list.next()? {
                    ranges.push(range.begin..range.end);
                }
            }
        } else if let (Some(low), Some(high)) = (self.low, self.high) {
            let end = match high {
                High::Address(address) => address,
                High::Bytes(bytes) => low.saturating_add(bytes),
            };
            ranges.push(low..end);
        }
        // Linkers leave functions they dropped at address 0 or 1, where they overlap whatever is there.
        ranges.retain(|range| range.start > 1 && range.start < range.end);
        Ok(ranges)
    }
}

pub(crate) fn string<'a>(unit: UnitRef<'_, Slice<'a>>, attribute: &Attribute<Slice<'a>>) -> Option<String> {
    let text = unit.attr_string(attribute.value()).ok()?;
    let text = text.to_string_lossy();
    (!text.is_empty()).then(|| text.into_owned())
}

pub(crate) fn language(unit: UnitRef<'_, Slice<'_>>) -> Option<DwLang> {
    let mut entries = unit.entries_raw(None).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification).ok()?;
        if let (gimli::DW_AT_language, AttributeValue::Language(language)) =
            (attribute.name(), attribute.value())
        {
            return Some(language);
        }
    }
    None
}

fn file_name<'a>(unit: UnitRef<'_, Slice<'a>>, attribute: &Attribute<Slice<'a>>) -> Option<String> {
    let index = match attribute.value() {
        AttributeValue::FileIndex(index) => index,
        _ => attribute.udata_value()?,
    };
    let own_table;
    let header = match &unit.line_program {
        Some(program) => program.header(),
        None => {
            own_table = split_unit_files(unit)?;
            own_table.header()
        }
    };
    let file = header.file(index)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned());
    let name = text(file.path_name())?;
    let build_folder = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    // Folder 0 is the build folder itself.
    let folder = match file.directory_index() {
        0 => String::new(),
        _ => file.directory(header).and_then(text).unwrap_or_default(),
    };
    paths::source_file(&paths::join(&[&build_folder, &folder, &name]))
}

/// A split unit has a table of files of its own, at the begin of the section, that no attribute mentions.
fn split_unit_files<'a>(unit: UnitRef<'_, Slice<'a>>) -> Option<IncompleteLineProgram<Slice<'a>>> {
    if unit.dwarf.file_type != DwarfFileType::Dwo {
        return None;
    }
    let address_bytes = unit.header.address_size();
    unit.dwarf.debug_line.program(DebugLineOffset(0), address_bytes, unit.comp_dir, unit.name).ok()
}
