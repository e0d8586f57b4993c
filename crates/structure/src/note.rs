//! What could not be known about a module, and why.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something about a module that the reader of a report should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModuleNote {
    /// The name stands for memory that is not a file.
    NoFile {
        /// The module's name, such as `[vdso]`.
        name: String,
    },
    /// The file is gone or may not be read.
    Unreadable {
        /// The module's file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The file is no ELF file.
    NotElf {
        /// The module's file.
        path: PathBuf,
    },
    /// The file is an ELF file of another word size.
    NotSixtyFourBit {
        /// The module's file.
        path: PathBuf,
    },
    /// The file is an ELF file that contradicts itself.
    Damaged {
        /// The module's file.
        path: PathBuf,
        /// The first contradiction.
        what: String,
    },
    /// The file is not the one that was measured.
    Replaced {
        /// The module's file.
        path: PathBuf,
        /// How that is known.
        difference: Difference,
    },
    /// Nothing was recorded by which the file could be recognised.
    Unverified {
        /// The module's file.
        path: PathBuf,
    },
    /// There is no symbol table at all.
    NoSymbols {
        /// The module's file.
        path: PathBuf,
    },
    /// There are no source lines.
    NoDebugInfo {
        /// The module's file.
        path: PathBuf,
    },
    /// A separate debug file exists and was not used.
    DebugFileIgnored {
        /// The debug file.
        path: PathBuf,
        /// The module it was found for.
        module: PathBuf,
        /// Why it was not used.
        reason: String,
    },
    /// Debug information that contradicts itself.
    DebugInfoDamaged {
        /// The module's file.
        path: PathBuf,
        /// The first contradiction.
        what: String,
    },
    /// A file of split debug information (`.dwo`) is missing.
    SplitDebugInfoMissing {
        /// The missing `.dwo` file.
        path: PathBuf,
    },
    /// The answer, or a part of it, is from an earlier lookup of the same build.
    FromCache {
        /// The module's file.
        path: PathBuf,
    },
    /// What was found could not be kept; the next analysis does the work again.
    CacheNotWritten {
        /// The cache's file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
}

/// How a file differs from the one that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// Another build.
    BuildId {
        /// The measured build-id in hexadecimal.
        recorded: String,
        /// The file's build-id in hexadecimal, if it has one.
        found: Option<String>,
    },
    /// Another size.
    Size {
        /// Bytes then.
        recorded: u64,
        /// Bytes now.
        found: u64,
    },
    /// Written to since.
    Modified {
        /// Nanoseconds since the Unix epoch, then.
        recorded: u64,
        /// Nanoseconds since the Unix epoch, now.
        found: u64,
    },
}
