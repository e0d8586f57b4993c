//! Whose code a function is: the program's author's, a library's that is compiled in, or the system's.

use proust_profile::{Function, Profile};
use rustc_hash::FxHashSet;

/// Beginnings of the file names of libraries that serialise their callers by a lock of their own.
pub(super) const WITH_A_LOCK: [&str; 2] = ["libopenblas", "libscipy_openblas"];

/// Whether a file of this name is a library of which a remedy is known.
fn is_known(file_name: &str) -> bool {
    WITH_A_LOCK.iter().any(|library| file_name.starts_with(library))
}

/// Folders of installed packages, wherever they are.
const INSTALLED: [&str; 3] = ["/site-packages/", "/dist-packages/", "/lib-dynload/"];

/// How functions of the languages' standard libraries and of runtimes begin, and of what compilers make for
/// them. Where the source file is known, it decides as well: without linkage names an inlined function has no
/// path.
const LIBRARIES: [&str; 12] = [
    "std::",
    "core::",
    "alloc::",
    "lock_api::",
    "parking_lot",
    "__gthread",
    "crossbeam",
    "rayon_core::",
    "rayon::",
    "tokio::",
    "drop_in_place",
    "drop_glue",
];

/// Folders of the sources of standard libraries, from the root.
const SOURCES: [&str; 7] = [
    "/rustc/",
    "/usr/include/",
    "/usr/local/include/",
    "/usr/lib/",
    "/usr/lib64/",
    "/usr/local/go/src/",
    "/build/glibc",
];
/// And anywhere in the path: Rust's own sources as toolchains have them.
const SOURCES_WITHIN: [&str; 5] = [
    "/library/std/src/",
    "/library/core/src/",
    "/library/alloc/src/",
    "/.rustup/toolchains/",
    "/lib/rustlib/src/",
];
/// Where package managers keep sources of libraries that are compiled into programs.
const PACKAGES: [&str; 4] = ["/.cargo/registry/", "/.cargo/git/", "/go/pkg/mod/", "/.conan2/p/"];

/// Parts of the C library that are linked into programs themselves.
const START: [&str; 2] = ["_start", "__libc_csu_init"];

/// The author of a function, as far as a program's author can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Author {
    /// The system, a language's standard library, a runtime; or it is not known.
    System,
    /// A library that is compiled into the program.
    Package,
    /// The program's author.
    Program,
}

impl Author {
    pub(super) fn of(profile: &Profile, programs: &FxHashSet<&str>, function: &Function) -> Author {
        let Some(module) = function.module else { return Author::System };
        let module = &profile.modules[module];
        let (path, file_name) = (module.path.as_str(), module.name());
        let is_library = file_name.contains(".so") && !programs.contains(path);
        let is_installed = module.is_in_system_folder()
            || INSTALLED.iter().any(|folder| path.contains(folder))
            || is_known(file_name);
        let is_of_kernel = path.starts_with('[') && !module.is_made_at_run_time();
        if is_of_kernel || is_library && is_installed {
            return Author::System;
        }
        let name = if function.full_name.is_empty() { &function.name } else { &function.full_name };
        let name = name.trim_start_matches(['<', '&']);
        let file = function.file.as_deref().unwrap_or_default();
        if function.is_of_pythons_library() {
            return if INSTALLED.iter().any(|folder| file.contains(folder)) {
                Author::Package
            } else {
                Author::System
            };
        }
        if LIBRARIES.iter().any(|library| name.starts_with(library))
            || START.contains(&name)
            || SOURCES.iter().any(|folder| file.starts_with(folder))
            || SOURCES_WITHIN.iter().any(|folder| file.contains(folder))
        {
            return Author::System;
        }
        match PACKAGES.iter().any(|folder| file.contains(folder)) {
            true => Author::Package,
            false => Author::Program,
        }
    }
}
