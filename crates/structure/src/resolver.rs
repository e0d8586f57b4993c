//! Addresses of one module to functions and lines, from the best source that knows them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ModuleNote;
use crate::atomics::{self, Atomic};
use crate::beginning::Beginning;
use crate::debug_files::Sources;
use crate::debug_info::{DebugFrame, DebugInfo};
use crate::declaration::Declaration;
use crate::direct_calls;
use crate::folded::with_folded;
use crate::image::{Elf, Keep};
use crate::location::Location;
use crate::names::Names;
use crate::plt::Stubs;
use crate::structure::{Findings, Function, FunctionTable, SourceFrame};
use crate::symbols::Symbols;
use crate::unwind_ranges::UnwindRanges;
use crate::waiting_loops;

/// Everything that can name the code of one module: debug information, then sized symbols, linker stubs,
/// unsized symbols, unwind tables, the entry point, and at last the bare offset.
pub(crate) struct Resolver<'s, 'a> {
    sources: &'s Sources<'a>,
    module_name: &'s str,
    debug_info: Option<DebugInfo<'a>>,
    symbols: Symbols<'a>,
    stubs: Stubs<'s, 'a>,
    unwind_ranges: Option<UnwindRanges<'a>>,
    beginning: Option<Beginning>,
    functions: FunctionTable,
    /// Functions made from declarations, by the declaration's place in memory, where `debug_info` keeps it.
    declared: HashMap<*const Declaration, u32>,
    notes: Vec<ModuleNote>,
}

/// The result of one lookup: names and lines, and what stood in the way.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) findings: Findings,
    pub(crate) notes: Vec<ModuleNote>,
}

impl<'s, 'a> Resolver<'s, 'a> {
    pub(crate) fn new(sources: &'s Sources<'a>, module_name: &'s str, keep: &'a Keep) -> Self {
        let mut notes = Vec::new();
        let supplementary = sources.supplementary.as_ref().map(|found| &found.elf);
        let debug_info = sources.debug_info().and_then(|elf: &Elf<'a>| {
            DebugInfo::read(elf, supplementary, &sources.path, keep)
                .inspect_err(|error| notes.push(damaged(sources, error)))
                .ok()
        });
        Self {
            sources,
            module_name,
            debug_info,
            symbols: Symbols::read(&sources.symbol_files()),
            stubs: Stubs::find(&sources.module),
            unwind_ranges: UnwindRanges::read(&sources.module, keep),
            beginning: Beginning::of(&sources.module),
            functions: FunctionTable::default(),
            declared: HashMap::new(),
            notes,
        }
    }

    pub(crate) fn resolve_all(mut self, addresses: &[u64]) -> Resolved {
        let mut findings = Findings::default();
        for &address in addresses {
            let mut frames = self.resolve(address);
            if let Some(function) = self.called(address) {
                findings.calls.insert(address, function);
            }
            if waiting_loops::is_in_one(&self.sources.module, address, |function| self.is_fence(function)) {
                findings.waiting.insert(address);
            }
            if let Some(atomic) = self.atomic(&frames, address) {
                findings.atomic.insert(address);
                if atomic == Atomic::Ends {
                    frames = self.resolve(address - 1);
                }
            }
            findings.addresses.insert(address, frames);
        }
        if self.symbols.is_empty() && self.debug_info.is_none() {
            self.notes.push(ModuleNote::NoSymbols { path: self.sources.path.clone() });
        }
        let missing = self.debug_info.iter().flat_map(DebugInfo::missing_split_files);
        self.notes.extend(missing.map(|path| ModuleNote::SplitDebugInfoMissing { path }));
        findings.functions = self.functions.into_functions();
        Resolved { findings, notes: self.notes }
    }

    fn resolve(&mut self, address: u64) -> Vec<SourceFrame> {
        let described = match &self.debug_info {
            Some(debug_info) => debug_info.frames(address),
            None => Ok(Vec::new()),
        };
        let described = described.unwrap_or_else(|error| {
            let note = damaged(self.sources, &error);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
            Vec::new()
        });
        match self.describe(address, &described) {
            Some(frames) => frames,
            None => vec![self.name_by_symbol(address, &described)],
        }
    }

    /// Whether what a call leads to only orders accesses to memory.
    fn is_fence(&self, function: u64) -> bool {
        let is_one = |name: &str| waiting_loops::FENCES.contains(&name);
        let stub = self.stubs.at(function, &self.symbols);
        stub.is_some_and(|stub| stub.name.strip_suffix("@plt").is_some_and(is_one))
            || self.symbols.starting_at(function).iter().any(|name| is_one(name))
    }

    /// Whether memory is changed atomically there.
    fn atomic(&self, outermost_first: &[SourceFrame], address: u64) -> Option<Atomic> {
        let function = self.functions.get(outermost_first.first()?.function)?;
        atomics::at(&self.sources.module, function.address, address)
    }

    /// The function of this module that the call names which ends at `address`.
    fn called(&mut self, address: u64) -> Option<u32> {
        let target = direct_calls::target(&self.sources.module, address)?;
        if self.stubs.at(target, &self.symbols).is_some() {
            return None;
        }
        let function = self.resolve(target).first()?.function;
        let named = self.functions.get(function)?;
        let is_function = named.address == target && named.size_bytes > 0 && named.linkage_name.is_some();
        (is_function && !direct_calls::is_thunk(&named.name)).then_some(function)
    }

    fn describe(&mut self, address: u64, innermost_first: &[DebugFrame]) -> Option<Vec<SourceFrame>> {
        let (physical, inlined) = innermost_first.split_last()?;
        let declaration = physical.declaration.as_ref()?;
        if !declaration.ranges.iter().any(|range| range.contains(&address)) {
            return None;
        }
        let function = self.declared(declaration, Self::physical_function)?;
        let mut frames = vec![frame(function, &physical.location, false)];
        for call in inlined.iter().rev() {
            let function = match &call.declaration {
                Some(declaration) if declaration.file.is_some() => {
                    self.declared(declaration, |_, it| Some(inlined_function(Some(it))))?
                }
                // One declaration may execute from several files; which is met first must not matter.
                other => self
                    .functions
                    .add(Function { file: call.location.file.clone(), ..inlined_function(other.as_deref()) }),
            };
            frames.push(frame(function, &call.location, true));
        }
        Some(frames)
    }

    /// The function of a declaration, made by `make` when it is met for the first time.
    fn declared(
        &mut self,
        declaration: &Rc<Declaration>,
        make: impl Fn(&Self, &Declaration) -> Option<Function>,
    ) -> Option<u32> {
        let place = Rc::as_ptr(declaration);
        if let Some(&known) = self.declared.get(&place) {
            return Some(known);
        }
        let function = make(self, declaration)?;
        let index = self.functions.add(function);
        self.declared.insert(place, index);
        Some(index)
    }

    fn physical_function(&self, declaration: &Declaration) -> Option<Function> {
        let address = declaration.ranges.first()?.start;
        let symbols = self.symbols.starting_at(address);
        let mut linkage_name = declaration.own_symbol(&symbols);
        let mut names = declaration.names(linkage_name.as_deref())?;
        if let Some(alias) = declaration.public_alias(&symbols) {
            names.short = Names::of_symbol(alias).short;
            linkage_name = Some(alias.to_owned());
        }
        let names = with_folded(names, &symbols);
        let declared = Location { file: declaration.file.clone(), line: declaration.line };
        let declared = if declared.file.is_some() { declared } else { self.entry(address) };
        Some(Function {
            name: names.short,
            full_name: names.full,
            linkage_name,
            file: declared.file,
            line: declared.line,
            address,
            size_bytes: declaration.ranges.iter().map(|r| r.end - r.start).fold(0, u64::saturating_add),
        })
    }

    /// The frame of an address whose function no debug information knows, though perhaps its line.
    fn name_by_symbol(&mut self, address: u64, described: &[DebugFrame]) -> SourceFrame {
        let location = match described {
            [only] if only.declaration.is_none() => only.location.clone(),
            _ => Location::default(),
        };
        let mut function = self.symbol_function(address);
        let declared = self.location(function.address);
        function.file = declared.file;
        function.line = declared.line;
        frame(self.functions.add(function), &location, false)
    }

    fn symbol_function(&self, address: u64) -> Function {
        let symbol = self.symbols.covering(address);
        if let Some(symbol) = symbol.as_ref().filter(|symbol| symbol.sized) {
            let function = named(&symbol.name, symbol.address, symbol.size_bytes);
            let names = Names { short: function.name, full: function.full_name };
            let names = with_folded(names, &self.symbols.starting_at(symbol.address));
            return Function { name: names.short, full_name: names.full, ..function };
        }
        if let Some(stub) = self.stubs.at(address, &self.symbols) {
            return Function { linkage_name: None, ..named(&stub.name, stub.address, stub.size_bytes) };
        }
        let unwound = self.unwind_ranges.as_ref().and_then(|ranges| ranges.around(address));
        match (symbol, unwound) {
            (Some(symbol), None) => named(&symbol.name, symbol.address, symbol.size_bytes),
            (Some(symbol), Some(range)) if range.start <= symbol.address => named(
                &symbol.name,
                symbol.address,
                range.end.min(symbol.address + symbol.size_bytes) - symbol.address,
            ),
            (_, Some(range)) => match self.beginning.as_ref().and_then(|known| known.name(range.start)) {
                Some(name) => named(name, range.start, range.end - range.start),
                None => nameless(self.module_name, range.start, range.end - range.start),
            },
            (None, None) => nameless(self.module_name, address, 0),
        }
    }

    /// Where the function at `address` itself begins, even if its first instruction is inlined code of
    /// another one: debug information with lines only does not say where functions are declared.
    fn entry(&self, address: u64) -> Location {
        let frames = self.debug_info.as_ref().and_then(|info| info.frames(address).ok());
        let physical = frames.and_then(|innermost_first| innermost_first.into_iter().next_back());
        physical.map_or_else(|| self.location(address), |frame| frame.location)
    }

    fn location(&self, address: u64) -> Location {
        self.debug_info.as_ref().map(|info| info.location(address)).unwrap_or_default()
    }
}

fn frame(function: u32, location: &Location, inlined: bool) -> SourceFrame {
    SourceFrame { function, file: location.file.clone(), line: location.line, inlined }
}

fn damaged(sources: &Sources<'_>, error: &dyn std::error::Error) -> ModuleNote {
    ModuleNote::DebugInfoDamaged { path: sources.path.clone(), what: error.to_string() }
}

fn inlined_function(declaration: Option<&Declaration>) -> Function {
    let unknown = || Names::same("(inlined function without a name)");
    Function {
        linkage_name: declaration.and_then(|d| d.linkage_name.clone()),
        file: declaration.and_then(|d| d.file.clone()),
        line: declaration.and_then(|d| d.line),
        ..unplaced(declaration.and_then(|d| d.names(None)).unwrap_or_else(unknown))
    }
}

fn named(symbol: &str, address: u64, size_bytes: u64) -> Function {
    Function {
        linkage_name: Some(symbol.to_owned()),
        address,
        size_bytes,
        ..unplaced(Names::of_symbol(symbol))
    }
}

/// A function known by its place alone.
pub(crate) fn nameless(module_name: &str, address: u64, size_bytes: u64) -> Function {
    Function { address, size_bytes, ..unplaced(Names::same(format!("{module_name}+{address:#x}"))) }
}

fn unplaced(names: Names) -> Function {
    Function {
        name: names.short,
        full_name: names.full,
        linkage_name: None,
        file: None,
        line: None,
        address: 0,
        size_bytes: 0,
    }
}
