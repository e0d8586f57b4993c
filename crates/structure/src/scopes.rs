//! Qualified names for functions that have no linkage name, from the entries around them: namespaces, types
//! and functions.

use std::cell::RefCell;
use std::collections::HashMap;

use addr2line::gimli::{self, AttributeValue, DwTag, UnitOffset, UnitRef};

use crate::declaration::{language, string};
use crate::image::Slice;
use crate::names::{Arguments, Names};

/// The qualified names of the units that were asked about.
#[derive(Default)]
pub(crate) struct Scopes {
    /// By the unit's place in memory: units do not move while a lookup lives, and split units have no offset
    /// that would distinguish them.
    units: RefCell<HashMap<usize, HashMap<UnitOffset, Names>>>,
}

impl Scopes {
    /// The qualified name of the function whose name is in `entry`.
    pub(crate) fn qualified(&self, unit: UnitRef<'_, Slice<'_>>, entry: UnitOffset) -> Option<Names> {
        let place = std::ptr::from_ref(unit.unit).addr();
        let mut units = self.units.borrow_mut();
        units.entry(place).or_insert_with(|| qualified_names(unit)).get(&entry).cloned()
    }
}

struct Scope {
    depth: isize,
    component: String,
}

fn qualified_names(unit: UnitRef<'_, Slice<'_>>) -> HashMap<UnitOffset, Names> {
    let mut names = HashMap::new();
    // Data read before the damage are still valid.
    let _ = collect(unit, &mut names);
    names
}

fn collect(unit: UnitRef<'_, Slice<'_>>, names: &mut HashMap<UnitOffset, Names>) -> gimli::Result<()> {
    let mut around: Vec<Scope> = Vec::new();
    let arguments = match language(unit) {
        Some(gimli::DW_LANG_Rust) => Arguments::LeftOut,
        _ => Arguments::Kept,
    };
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let offset = entries.next_offset();
        let depth = entries.next_depth();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        while around.last().is_some_and(|scope| scope.depth >= depth) {
            around.pop();
        }
        if !is_scope(abbreviation.tag()) {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let mut name = None;
        let mut has_linkage_name = false;
        let mut origin = None;
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            match attribute.name() {
                gimli::DW_AT_name => name = string(unit, &attribute),
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => has_linkage_name = true,
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                _ => {}
            }
        }
        let is_function = abbreviation.tag() == gimli::DW_TAG_subprogram;
        if let (true, Some(name), false) = (is_function, &name, has_linkage_name) {
            let path: Vec<&str> =
                around.iter().map(|scope| scope.component.as_str()).chain([name.as_str()]).collect();
            names.insert(offset, Names::of_components(&path, arguments));
        }
        let component =
            name.or_else(|| name_of_origin(unit, origin?)).unwrap_or_else(|| anonymous(abbreviation.tag()));
        around.push(Scope { depth, component });
    }
    Ok(())
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_interface_type
            | gimli::DW_TAG_module
            | gimli::DW_TAG_subprogram
    )
}

fn anonymous(tag: DwTag) -> String {
    match tag {
        gimli::DW_TAG_namespace => "(anonymous namespace)",
        gimli::DW_TAG_subprogram => "(anonymous function)",
        _ => "(anonymous class)",
    }
    .to_owned()
}

/// The name of a function whose entry here only repeats another one, for the usual case that both are in the
/// same unit.
fn name_of_origin<'a>(unit: UnitRef<'_, Slice<'a>>, mut origin: AttributeValue<Slice<'a>>) -> Option<String> {
    const LONGEST_CHAIN: usize = 4;
    for _ in 0..LONGEST_CHAIN {
        let AttributeValue::UnitRef(entry) = origin else { return None };
        let mut entries = unit.entries_raw(Some(entry)).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        let mut next = None;
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification).ok()?;
            match attribute.name() {
                gimli::DW_AT_name => return string(unit, &attribute),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => next = Some(attribute.value()),
                _ => {}
            }
        }
        origin = next?;
    }
    None
}
