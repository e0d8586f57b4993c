//! What could not be known of modules, why, and what still works.

use proust_profile::notes::ModuleNote;

use super::Worded;

/// What happens to names where a file cannot be used.
const NAMELESS: &str = "its functions are shown as module+0xoffset";

impl Worded for ModuleNote {
    fn text(&self) -> String {
        match self {
            ModuleNote::NoFile { path } => {
                format!("{path} is not a file: its code is shown as {path}+0xoffset")
            }
            ModuleNote::Unreadable { path, reason } => {
                format!("{path}: cannot be read ({reason}): {NAMELESS}")
            }
            ModuleNote::NotElf { path } => format!("{path}: not an ELF file: {NAMELESS}"),
            ModuleNote::NotSixtyFourBit { path } => format!("{path}: not a 64-bit ELF file: {NAMELESS}"),
            ModuleNote::Damaged { path, contradiction } => {
                format!("{path}: damaged or truncated ELF file ({contradiction}): {NAMELESS}")
            }
            ModuleNote::OtherBuild { path, recorded, found } => replaced(
                path,
                &format!(
                    "replaced since the run (measured build-id {recorded}, now {})",
                    found.as_deref().unwrap_or("none")
                ),
            ),
            ModuleNote::OtherSize { path, recorded_bytes, found_bytes } => {
                let sizes = format!("measured {recorded_bytes} bytes, now {found_bytes}");
                replaced(path, &format!("replaced since the run ({sizes})"))
            }
            ModuleNote::Modified { path } => replaced(path, "written to since the run"),
            ModuleNote::Unverified { path } => format!(
                "{path}: neither a build-id nor a size and time were recorded, so the file may have been \
                 replaced since the run"
            ),
            ModuleNote::NoSymbols { path } => format!(
                "{path}: no symbols: functions are shown as module+0xoffset; install its debug symbols or do \
                 not strip it"
            ),
            ModuleNote::NoDebugInfo { path } => format!(
                "{path}: no debug information: functions are named, lines and inlined calls are not; compile \
                 with -g or install its debug symbols"
            ),
            ModuleNote::DebugFileIgnored { path, module, reason } => {
                format!("{path}: not used as debug symbols of {module}: {reason}")
            }
            ModuleNote::DebugInfoDamaged { path, contradiction } => format!(
                "{path}: damaged debug information ({contradiction}): lines may be missing, functions are \
                 named by symbols"
            ),
            ModuleNote::SplitDebugInfoMissing { path } => {
                format!("{path}: split debug information not found: inlined calls of that unit are missing")
            }
        }
    }
}

fn replaced(path: &str, how: &str) -> String {
    format!("{path}: {how}: {NAMELESS}; analyse before rebuilding, or restore the measured file")
}

/// All that is noted of a module, in one line.
pub fn joined(notes: &[ModuleNote]) -> String {
    notes.iter().map(Worded::text).collect::<Vec<_>>().join("; ")
}
