//! The answer: functions and the places in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::ModuleNote;

/// What is known about the asked addresses of one module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleStructure {
    /// The functions that occur in `addresses`, in the order of their first occurrence.
    pub functions: Vec<Function>,
    /// Every asked address with at least one frame.
    pub addresses: BTreeMap<u64, ResolvedAddress>,
    /// What could not be known, and why.
    pub notes: Vec<ModuleNote>,
}

impl ModuleStructure {
    /// The function of a frame of this structure.
    ///
    /// # Panics
    /// When `frame` is from another structure and its index is beyond this one's functions.
    pub fn function(&self, frame: &SourceFrame) -> &Function {
        &self.functions[frame.function as usize]
    }
}

/// A function of the source, or a piece of machine code in place of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Function {
    /// The name for people. C++: qualified, without parameters and template arguments. Rust: without hashes.
    /// Without any symbol: `module+0xoffset`.
    pub name: String,
    /// The complete demangled name; equal to `name` where there is nothing more to say.
    pub full_name: String,
    /// The linker's name, with the suffixes of compiler clones (`.isra.0`, `.cold`).
    pub linkage_name: Option<String>,
    /// The file of the declaration. Where no declaration is known, that of the function's first instruction;
    /// of a function seen only inlined, that of the code that executes.
    pub file: Option<String>,
    /// The line in `file`, from 1.
    pub line: Option<u32>,
    /// SVMA of the function's first byte; 0 for a function seen only inlined.
    pub address: u64,
    /// Bytes of machine code, all parts together; 0 where unknown or seen only inlined.
    pub size_bytes: u64,
}

/// One address and the frames that execute there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedAddress {
    /// The SVMA that was asked.
    pub address: u64,
    /// Outermost first: the physical function, then the calls inlined at this address. Never empty.
    pub frames: Vec<SourceFrame>,
    /// Where a call ends here that names a function of this module: index of that function in
    /// [`ModuleStructure::functions`]. If it is not what was called next, it ended in a tail call.
    pub calls: Option<u32>,
    /// Whether the instruction there belongs to a loop that only waits for another thread to write memory.
    pub waits: bool,
    /// Whether an atomic change of memory ends there, or begins.
    pub is_atomic: bool,
}

/// A function with the place that executes in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFrame {
    /// Index into [`ModuleStructure::functions`].
    pub function: u32,
    /// The source file that executes: for all but the innermost frame, that of the inlined call.
    pub file: Option<String>,
    /// The line in `file`, from 1.
    pub line: Option<u32>,
    /// False for the first frame of an address, true for all others.
    pub inlined: bool,
}

/// Functions by value, so that an inlined function met in many units is one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionTable {
    functions: Vec<Function>,
    index: HashMap<Function, u32>,
}

impl FunctionTable {
    pub(crate) fn add(&mut self, function: Function) -> u32 {
        if let Some(&known) = self.index.get(&function) {
            return known;
        }
        let new = self.functions.len() as u32;
        self.functions.push(function.clone());
        self.index.insert(function, new);
        new
    }

    pub(crate) fn get(&self, function: u32) -> Option<&Function> {
        self.functions.get(function as usize)
    }

    pub(crate) fn into_functions(self) -> Vec<Function> {
        self.functions
    }
}

/// Functions and addresses that refer to them, of no particular order: what the cache keeps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    pub(crate) functions: Vec<Function>,
    pub(crate) addresses: BTreeMap<u64, Vec<SourceFrame>>,
    /// Functions that calls name, by the address of the call's last byte.
    pub(crate) calls: BTreeMap<u64, u32>,
    /// Addresses in loops that only wait.
    pub(crate) waiting: BTreeSet<u64>,
    /// Addresses at which an atomic change of memory ends or begins.
    pub(crate) atomic: BTreeSet<u64>,
}

impl Findings {
    /// Whether every frame has a function: false only for a damaged cache.
    pub(crate) fn is_consistent(&self) -> bool {
        let exists = |function: u32| (function as usize) < self.functions.len();
        self.calls.values().all(|&function| exists(function))
            && self
                .addresses
                .values()
                .all(|frames| !frames.is_empty() && frames.iter().all(|frame| exists(frame.function)))
    }

    /// The asked part of `self`, with functions numbered by first occurrence, so that an answer does not
    /// depend on what the cache held before.
    pub(crate) fn select(&self, addresses: &[u64]) -> (Vec<Function>, BTreeMap<u64, ResolvedAddress>) {
        let mut wanted = addresses.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut table = FunctionTable::default();
        let mut selected = BTreeMap::new();
        for address in wanted {
            let Some(frames) = self.addresses.get(&address) else { continue };
            let frames = frames
                .iter()
                .map(|frame| SourceFrame {
                    function: table.add(self.functions[frame.function as usize].clone()),
                    ..frame.clone()
                })
                .collect();
            let calls = self.calls.get(&address);
            let calls = calls.map(|&function| table.add(self.functions[function as usize].clone()));
            let waits = self.waiting.contains(&address);
            let is_atomic = self.atomic.contains(&address);
            selected.insert(address, ResolvedAddress { address, frames, calls, waits, is_atomic });
        }
        (table.into_functions(), selected)
    }

    /// Adds what `other` knows; on an address both know, `other` wins.
    pub(crate) fn merge(&mut self, other: Findings) {
        let mut table = FunctionTable::default();
        for function in std::mem::take(&mut self.functions) {
            table.add_distinct(function);
        }
        let renumbered: Vec<u32> = other.functions.into_iter().map(|f| table.add(f)).collect();
        for (address, mut frames) in other.addresses {
            for frame in &mut frames {
                frame.function = renumbered[frame.function as usize];
            }
            self.addresses.insert(address, frames);
        }
        let calls = other.calls.into_iter();
        self.calls.extend(calls.map(|(address, function)| (address, renumbered[function as usize])));
        self.waiting.extend(other.waiting);
        self.atomic.extend(other.atomic);
        self.functions = table.into_functions();
    }
}

impl FunctionTable {
    /// Keeps the index of every function even if a foreign writer stored one twice.
    fn add_distinct(&mut self, function: Function) {
        let new = self.functions.len() as u32;
        self.functions.push(function.clone());
        self.index.entry(function).or_insert(new);
    }
}
