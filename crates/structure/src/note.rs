//! What could not be known about a module: what, why, and what still works.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something about a module that the reader of a report should know.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ModuleNote {
    /// The name stands for memory that is not a file.
    #[error("{name} is not a file: its code is shown as {name}+0xoffset")]
    NoFile {
        /// The module's name, such as `[vdso]`.
        name: String,
    },
    /// The file is gone or may not be read.
    #[error("{}: cannot be read ({reason}): its functions are shown as module+0xoffset", path.display())]
    Unreadable {
        /// The module's file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The file is no ELF file.
    #[error("{}: not an ELF file: its functions are shown as module+0xoffset", path.display())]
    NotElf {
        /// The module's file.
        path: PathBuf,
    },
    /// The file is an ELF file of another word size.
    #[error("{}: not a 64-bit ELF file: its functions are shown as module+0xoffset", path.display())]
    NotSixtyFourBit {
        /// The module's file.
        path: PathBuf,
    },
    /// The file is an ELF file that contradicts itself.
    #[error(
        "{}: damaged or truncated ELF file ({what}): its functions are shown as module+0xoffset",
        path.display()
    )]
    Damaged {
        /// The module's file.
        path: PathBuf,
        /// The first contradiction.
        what: String,
    },
    /// The file is not the one that was measured.
    #[error(
        "{}: {difference}: its functions are shown as module+0xoffset; analyse before rebuilding, or \
         restore the measured file",
        path.display()
    )]
    Replaced {
        /// The module's file.
        path: PathBuf,
        /// How that is known.
        difference: Difference,
    },
    /// Nothing was recorded by which the file could be recognised.
    #[error(
        "{}: neither a build-id nor a size and time were recorded, so the file may have been replaced \
         since the run",
        path.display()
    )]
    Unverified {
        /// The module's file.
        path: PathBuf,
    },
    /// There is no symbol table at all.
    #[error(
        "{}: no symbols: functions are shown as module+0xoffset; install its debug symbols or do not strip \
         it",
        path.display()
    )]
    NoSymbols {
        /// The module's file.
        path: PathBuf,
    },
    /// There are no source lines.
    #[error(
        "{}: no debug information: functions are named, lines and inlined calls are not; compile with -g \
         or install its debug symbols",
        path.display()
    )]
    NoDebugInfo {
        /// The module's file.
        path: PathBuf,
    },
    /// A separate debug file exists and was not used.
    #[error("{}: not used as debug symbols of {}: {reason}", path.display(), module.display())]
    DebugFileIgnored {
        /// The debug file.
        path: PathBuf,
        /// The module it was found for.
        module: PathBuf,
        /// Why it was not used.
        reason: String,
    },
    /// Debug information that contradicts itself.
    #[error(
        "{}: damaged debug information ({what}): lines may be missing, functions are named by symbols",
        path.display()
    )]
    DebugInfoDamaged {
        /// The module's file.
        path: PathBuf,
        /// The first contradiction.
        what: String,
    },
    /// A file of split debug information (`.dwo`) is missing.
    #[error("{}: split debug information not found: inlined calls of that unit are missing", path.display())]
    SplitDebugInfoMissing {
        /// The missing `.dwo` file.
        path: PathBuf,
    },
    /// The answer, or a part of it, is from an earlier lookup of the same build.
    #[error(
        "{}: names and lines come from the cache of an earlier analysis of the same build",
        path.display()
    )]
    FromCache {
        /// The module's file.
        path: PathBuf,
    },
    /// What was found could not be kept; the next analysis does the work again.
    #[error("{}: the cache of program structure cannot be written: {reason}", path.display())]
    CacheNotWritten {
        /// The cache's file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
}

/// How a file differs from the one that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Difference {
    /// Another build.
    #[error(
        "replaced since the run (measured build-id {recorded}, now {})",
        found.as_deref().unwrap_or("none")
    )]
    BuildId {
        /// The measured build-id in hexadecimal.
        recorded: String,
        /// The file's build-id in hexadecimal, if it has one.
        found: Option<String>,
    },
    /// Another size.
    #[error("replaced since the run (measured {recorded} bytes, now {found})")]
    Size {
        /// Bytes then.
        recorded: u64,
        /// Bytes now.
        found: u64,
    },
    /// Written to since.
    #[error("written to since the run")]
    Modified {
        /// Nanoseconds since the Unix epoch, then.
        recorded: u64,
        /// Nanoseconds since the Unix epoch, now.
        found: u64,
    },
}
