//! Marks that programs carry for other tools: the variables by which each interface finds its tool's library.

use std::ffi::OsString;
use std::path::Path;

use proust_log::control::COLLECTOR_FILE;

use super::RunFolder;

/// NVTX; ITT; Kokkos since 4.0, and before.
const VARIABLES: [&str; 4] =
    ["NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64", "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"];

/// Variables for the command's environment. Those that name another tool stay as they are; one that names the
/// collector of another run is that run's.
pub fn variables(folder: &RunFolder) -> impl Iterator<Item = (&'static str, OsString)> {
    let library = folder.library.clone().into_os_string();
    let is_free = |name: &&str| {
        std::env::var_os(name).is_none_or(|path| {
            path.is_empty() || Path::new(&path).file_name().is_some_and(|file| file == COLLECTOR_FILE)
        })
    };
    VARIABLES.into_iter().filter(is_free).map(move |name| (name, library.clone()))
}
