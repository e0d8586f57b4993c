//! Where in the program: the tree of contexts, and the functions and modules it names.

use serde::{Deserialize, Serialize};

use crate::notes::ModuleNote;
use crate::{ContextId, FunctionId, ModuleId};

/// What a context is. The identifiers are part of the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ContextKind {
    /// The whole program; the root.
    Program,
    /// Root of the paths whose upper end could not be found.
    Partial,
    /// A function at a call site.
    Frame,
    /// An inlined call.
    Inline,
    /// A loop.
    Loop,
    /// A source line in which samples fell.
    Line,
    /// A marked interval.
    Interval,
    /// A parallel region.
    Region,
    /// An intercepted operation.
    Operation,
}

impl ContextKind {
    /// Identifier in JSON and tables.
    pub fn id(self) -> &'static str {
        match self {
            ContextKind::Program => "program",
            ContextKind::Partial => "partial",
            ContextKind::Frame => "frame",
            ContextKind::Inline => "inline",
            ContextKind::Loop => "loop",
            ContextKind::Line => "line",
            ContextKind::Interval => "interval",
            ContextKind::Region => "region",
            ContextKind::Operation => "operation",
        }
    }

    /// The kind with this identifier.
    pub fn from_id(id: &str) -> Option<ContextKind> {
        [
            ContextKind::Program,
            ContextKind::Partial,
            ContextKind::Frame,
            ContextKind::Inline,
            ContextKind::Loop,
            ContextKind::Line,
            ContextKind::Interval,
            ContextKind::Region,
            ContextKind::Operation,
        ]
        .into_iter()
        .find(|kind| kind.id() == id)
    }
}

/// A node of the tree.
///
/// Two calls of one function from different lines of its caller are two contexts. Samples are charged to
/// [`ContextKind::Line`] contexts (or to a frame or inlined call without line information); the
/// *exclusive* amount of a frame or inlined call is its own plus that of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    /// None for the program only.
    pub parent: Option<ContextId>,
    /// What it is.
    pub kind: ContextKind,
    /// Frames and inlined calls: the function. Lines: the function they belong to.
    pub function: Option<FunctionId>,
    /// Frames and inlined calls: the file of the call in the caller. Lines: their file.
    pub file: Option<String>,
    /// Frames and inlined calls: the line of the call in the caller. Lines: their number.
    pub line: Option<u32>,
}

/// A function as the user wrote it.
///
/// A name in brackets is not a function of the program: code outside all modules, or processor time whose
/// context is not known ([`LOST_RECORDS`], [`NOT_RECORDED`], [`NO_CALL_PATH`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Short demangled name; `module+0xoffset` where there is no symbol.
    pub name: String,
    /// Full demangled name.
    pub full_name: String,
    /// Name in the symbol table, where it has one.
    pub linkage_name: Option<String>,
    /// Module of its code; None for code outside all modules.
    pub module: Option<ModuleId>,
    /// File of its declaration.
    pub file: Option<String>,
    /// Line of its declaration.
    pub line: Option<u32>,
}

/// Name of the pseudo-function that is charged with the CPU time of records that were lost (a damaged or
/// truncated log, a killed process).
pub const LOST_RECORDS: &str = "[lost records]";
/// Name of the pseudo-function that is charged with the CPU time of samples that found no room in the log.
pub const NOT_RECORDED: &str = "[not recorded: size budget used up]";
/// Name of the pseudo-function that is charged with the CPU time of a thread of which neither a sample nor
/// the start function is known.
pub const NO_CALL_PATH: &str = "[no call path]";

/// Path of the pseudo-module of code that processes made at run time, where its functions have names.
pub const MADE_AT_RUN_TIME: &str = "[made at run time]";

/// Whether the name of a function is only a place in its module: there is no symbol.
pub fn is_address(name: &str) -> bool {
    name.contains("+0x")
}

/// An executable or library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Path at run time.
    pub path: String,
    /// GNU build-id as lower-case hexadecimal; empty = none.
    pub build_id: String,
    /// What could not be known of it, and why.
    pub notes: Vec<ModuleNote>,
}

/// Within the paths of the files that an installation of Python brings, packages included.
const OF_PYTHON: [&str; 2] = ["/lib/python3", "/lib64/python3"];

impl Function {
    /// Whether it belongs to Python's standard library or to a package that is installed with it, by its
    /// source file. `<frozen …>` are those that the interpreter itself contains, and
    /// `<__array_function__ internals>` are what NumPy makes to call its functions.
    pub fn is_of_pythons_library(&self) -> bool {
        let is_of_python = |file: &str| {
            file.starts_with("<frozen ")
                || file.starts_with("<__array_function__ ")
                || file.ends_with(".py") && OF_PYTHON.iter().any(|folder| file.contains(folder))
        };
        self.file.as_deref().is_some_and(is_of_python)
    }

    /// Whether an interpreter executes it: then its source file is its module.
    pub fn is_interpreted(&self, module: Option<&Module>) -> bool {
        module.is_some_and(|module| self.file.as_deref() == Some(&*module.path))
    }
}

/// Folders of a system's own libraries.
const SYSTEM_FOLDERS: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

impl Module {
    /// The file's name without its folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether it stands for code that processes made at run time.
    pub fn is_made_at_run_time(&self) -> bool {
        self.path == MADE_AT_RUN_TIME
    }

    /// Whether it is CPython, the program or its library.
    pub fn is_python(&self) -> bool {
        let name = self.name();
        name.starts_with("python3") || name.starts_with("libpython3")
    }

    /// Whether it is a module of Python that a compiler made (`_queue.cpython-311-x86_64-linux-gnu.so`,
    /// `_solver.abi3.so`).
    pub fn is_extension_of_python(&self) -> bool {
        self.name().contains(".cpython-3") || self.name().ends_with(".abi3.so")
    }

    /// Whether it lies where systems keep their libraries. Some programs do, too.
    pub fn is_in_system_folder(&self) -> bool {
        SYSTEM_FOLDERS.iter().any(|folder| self.path.starts_with(folder))
    }

    /// Whether it is a shared library of the system, by folder and name, or code that the kernel provides.
    pub fn is_system_library(&self) -> bool {
        let is_of_kernel = self.path.starts_with('[') && !self.is_made_at_run_time();
        is_of_kernel || self.is_in_system_folder() && self.name().contains(".so")
    }
}
