//! The modules of all processes, and the frames at their sampled addresses.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use proust_profile::context::MADE_AT_RUN_TIME;
use proust_profile::notes::ModuleNote;
use proust_profile::{Module, ModuleId};
use proust_structure::{
    Difference, FileIdentity, MadeCode, ModuleNote as Found, ModuleRequest, ModuleStructure, Names,
    Structurer, default_cache_dir,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::lane::{LaneHarvest, ModuleLoad};
use super::library_paths::LibraryPaths;
use super::log::LogHarvest;
use super::nodes::{LaneNode, NodeSet};
use super::process::module_paths;
use super::progress::{Counter, Stage};

/// The source of the frames at addresses.
pub trait Symbols: Sync {
    /// The structure at `addresses` (SVMAs) of one module.
    fn resolve(&self, module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure;
}

/// Reads binaries and their debug information, and keeps the results in the user's cache.
pub fn from_binaries() -> impl Symbols {
    Structurer::new(default_cache_dir())
}

impl Symbols for Structurer {
    fn resolve(&self, module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
        Structurer::resolve(self, module, addresses)
    }
}

impl<F: Fn(&ModuleRequest, &[u64]) -> ModuleStructure + Sync> Symbols for F {
    fn resolve(&self, module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
        self(module, addresses)
    }
}

/// The identity of a module in two loads: path, build-id, and without a build-id the file's size and time.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity {
    path: String,
    build_id: Vec<u8>,
    file: (u64, u64),
}

/// The modules of all processes.
#[derive(Default)]
pub(super) struct Modules {
    /// By [`ModuleId`].
    pub(super) modules: Vec<Module>,
    /// By [`ModuleId`].
    pub(super) structures: Vec<ModuleStructure>,
    /// Per log: the process's numbers.
    numbers: Vec<FxHashMap<u32, ModuleId>>,
    /// Per log: the names of code that its process made at run time.
    made: Vec<MadeCode>,
    /// What such code is shown as a part of; None where none has a name.
    made_module: Option<ModuleId>,
    /// Source files that interpreters execute.
    interpreted: FxHashMap<String, ModuleId>,
}

impl Modules {
    /// The module that a source file of an interpreter's is shown as.
    pub(super) fn interpreted(&self, file: &str) -> Option<ModuleId> {
        self.interpreted.get(file).copied()
    }

    /// The module with a process's number.
    pub(super) fn module(&self, log: usize, number: u32) -> Option<ModuleId> {
        self.numbers.get(log)?.get(&number).copied()
    }

    /// The function at an address outside of all modules at a time of the log's clock, and its module.
    pub(super) fn made(&self, log: usize, address: u64, time_ns: u64) -> Option<(ModuleId, &Names)> {
        Some((self.made_module?, self.made.get(log)?.at(address, time_ns)?))
    }

    /// When addresses of a log outside of all modules became something else.
    #[inline]
    pub(super) fn changes_of_made(&self, log: usize) -> &[u64] {
        self.made.get(log).map_or(&[], MadeCode::changes)
    }

    /// Finds the modules that were sampled in, and resolves the sampled addresses of each, modules side by
    /// side.
    pub(super) fn of(
        logs: &[LogHarvest],
        made: Vec<MadeCode>,
        symbols: &dyn Symbols,
        counter: &Counter,
    ) -> Modules {
        let mut found = Modules::default();
        let mut known: FxHashMap<Identity, ModuleId> = FxHashMap::default();
        let mut requests: Vec<ModuleRequest> = Vec::new();
        let mut addresses: Vec<BTreeSet<u64>> = Vec::new();
        let libraries = library_paths(logs);
        for log in logs {
            let paths = module_paths(log);
            let loads = loads(log);
            let mut numbers = FxHashMap::default();
            for (number, address) in log.lanes.iter().flat_map(sampled_addresses) {
                // Without its record a module has neither name nor file; its path alone is still a name.
                let (load, path) = (loads.get(&number), paths.get(&number));
                if number == 0 || (load.is_none() && path.is_none()) {
                    continue;
                }
                let id = *numbers.entry(number).or_insert_with(|| {
                    let identity = identity(load.copied(), path, &libraries);
                    *known.entry(identity.clone()).or_insert_with(|| {
                        found.modules.push(module(&identity));
                        requests.push(request(&identity, load.copied()));
                        addresses.push(BTreeSet::new());
                        ModuleId::from_index(found.modules.len() - 1)
                    })
                });
                if let Some(set) = addresses.get_mut(id.index()) {
                    set.insert(address);
                }
            }
            found.numbers.push(numbers);
        }
        counter.begin(Stage::Names, addresses.iter().map(|set| set.len() as u64).sum());
        found.structures = requests
            .par_iter()
            .zip(&addresses)
            .map(|(request, addresses)| {
                let sorted: Vec<u64> = addresses.iter().copied().collect();
                let structure = symbols.resolve(request, &sorted);
                counter.add(sorted.len() as u64);
                structure
            })
            .collect();
        for (module, structure) in found.modules.iter_mut().zip(&found.structures) {
            module.notes = notes(structure);
        }
        if made.iter().any(|made| !made.is_empty()) {
            found.made_module = Some(ModuleId::from_index(found.modules.len()));
            found.modules.push(Module { path: MADE_AT_RUN_TIME.into(), ..Module::default() });
            found.structures.push(ModuleStructure::default());
        }
        found.made = made;
        for lane in logs.iter().flat_map(|log| &log.lanes) {
            found.add_interpreted(lane);
        }
        found
    }

    fn add_interpreted(&mut self, lane: &LaneHarvest) {
        let sampled = sampled_nodes(lane);
        for (code, _) in sampled.into_iter().filter_map(|node| lane.nodes.interpreted(node)) {
            if !self.interpreted.contains_key(&code.file) {
                let id = ModuleId::from_index(self.modules.len());
                self.interpreted.insert(code.file.clone(), id);
                self.modules.push(Module { path: code.file.clone(), ..Module::default() });
                self.structures.push(ModuleStructure::default());
            }
        }
    }
}

/// What a process loaded, by its numbers.
fn loads(log: &LogHarvest) -> FxHashMap<u32, &ModuleLoad> {
    log.lanes.iter().flat_map(|lane| &lane.modules).map(|load| (load.module.id, load)).collect()
}

fn library_paths(logs: &[LogHarvest]) -> LibraryPaths {
    let mut libraries = LibraryPaths::default();
    for log in logs {
        let paths = module_paths(log);
        for (number, load) in loads(log) {
            if let Some(path) = paths.get(&number) {
                libraries.add(path, build_id(load));
            }
        }
    }
    libraries
}

fn build_id(load: &ModuleLoad) -> &[u8] {
    load.module.build_id.get(..usize::from(load.build_id_bytes)).unwrap_or_default()
}

fn identity(load: Option<&ModuleLoad>, path: Option<&String>, libraries: &LibraryPaths) -> Identity {
    let build_id = load.map_or(&[][..], build_id).to_vec();
    let file = match load {
        Some(load) if build_id.is_empty() => (load.module.file_bytes, load.module.file_modified_ns),
        _ => (0, 0),
    };
    let path = path.filter(|path| !path.is_empty()).cloned();
    let path = path.map_or_else(|| nameless(&build_id), |path| libraries.one(path, &build_id));
    Identity { path, build_id, file }
}

/// What a module is called whose path was lost: what remains known of it.
fn nameless(build_id: &[u8]) -> String {
    match build_id {
        [] => "[module whose path was lost]".into(),
        _ => format!("[module of build-id {}]", hexadecimal(build_id)),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn module(identity: &Identity) -> Module {
    let build_id = hexadecimal(&identity.build_id);
    Module { path: identity.path.clone(), build_id, notes: Vec::new() }
}

fn request(identity: &Identity, load: Option<&ModuleLoad>) -> ModuleRequest {
    let known = |value: u64| Some(value).filter(|&value| value != 0);
    ModuleRequest {
        path: identity.path.clone().into(),
        build_id: Some(identity.build_id.clone()).filter(|id| !id.is_empty()),
        code_id: load
            .map(|load| FileIdentity {
                size_bytes: known(load.module.file_bytes),
                modified_ns: known(load.module.file_modified_ns),
            })
            .filter(|id| *id != FileIdentity::default()),
    }
}

/// What a reader of names and lines must know; that they are from a cache is not worth a note.
fn notes(structure: &ModuleStructure) -> Vec<ModuleNote> {
    let nameless = structure.notes.iter().any(|note| matches!(note, Found::NoSymbols { .. }));
    structure.notes.iter().filter(|found| !is_the_rule(found, nameless)).filter_map(noted).collect()
}

/// A module without symbols has no lines either, and the vDSO never has any.
fn is_the_rule(found: &Found, nameless: bool) -> bool {
    matches!(found, Found::NoDebugInfo { path } if nameless || path.as_os_str() == "[vdso]")
}

/// As a profile keeps it; None for what is about the cache.
fn noted(found: &Found) -> Option<ModuleNote> {
    let shown = |path: &Path| path.display().to_string();
    Some(match found {
        Found::NoFile { name } => ModuleNote::NoFile { path: name.clone() },
        Found::Unreadable { path, reason } => {
            ModuleNote::Unreadable { path: shown(path), reason: reason.clone() }
        }
        Found::NotElf { path } => ModuleNote::NotElf { path: shown(path) },
        Found::NotSixtyFourBit { path } => ModuleNote::NotSixtyFourBit { path: shown(path) },
        Found::Damaged { path, what } => {
            ModuleNote::Damaged { path: shown(path), contradiction: what.clone() }
        }
        Found::Replaced { path, difference } => replaced(shown(path), difference),
        Found::Unverified { path } => ModuleNote::Unverified { path: shown(path) },
        Found::NoSymbols { path } => ModuleNote::NoSymbols { path: shown(path) },
        Found::NoDebugInfo { path } => ModuleNote::NoDebugInfo { path: shown(path) },
        Found::DebugFileIgnored { path, module, reason } => {
            ModuleNote::DebugFileIgnored { path: shown(path), module: shown(module), reason: reason.clone() }
        }
        Found::DebugInfoDamaged { path, what } => {
            ModuleNote::DebugInfoDamaged { path: shown(path), contradiction: what.clone() }
        }
        Found::SplitDebugInfoMissing { path } => ModuleNote::SplitDebugInfoMissing { path: shown(path) },
        Found::FromCache { .. } | Found::CacheNotWritten { .. } => return None,
    })
}

fn replaced(path: String, difference: &Difference) -> ModuleNote {
    match difference {
        Difference::BuildId { recorded, found } => {
            ModuleNote::OtherBuild { path, recorded: recorded.clone(), found: found.clone() }
        }
        &Difference::Size { recorded, found } => {
            ModuleNote::OtherSize { path, recorded_bytes: recorded, found_bytes: found }
        }
        Difference::Modified { .. } => ModuleNote::Modified { path },
    }
}

/// The sampled addresses of a log that are in no module.
pub(super) fn addresses_outside(log: &LogHarvest) -> BTreeSet<u64> {
    let all = log.lanes.iter().flat_map(sampled_addresses);
    all.filter(|&(module, _)| module == 0).map(|(_, address)| address).collect()
}

/// Module number and address of every node on a path that was sampled, each once.
fn sampled_addresses(lane: &LaneHarvest) -> impl Iterator<Item = (u32, u64)> {
    sampled_nodes(lane).into_iter().map(|node| (node.module, node.address))
}

/// Every node on a path that was sampled, each once.
fn sampled_nodes(lane: &LaneHarvest) -> Vec<LaneNode> {
    let mut seen = NodeSet::default();
    let mut sampled = Vec::new();
    for &leaf in &lane.sampled {
        lane.nodes.walk(leaf, |id, node| {
            let new = seen.insert(id, &lane.nodes);
            if new {
                sampled.push(node);
            }
            new
        });
    }
    sampled
}
