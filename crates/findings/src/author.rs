//! Whose code a function is: the program's author's, a library's that is compiled in, or the system's.

use proust_account::ledger::State;
use proust_profile::event_metrics::Operations;
use proust_profile::{ContextId, ContextKind, Function, Module, ModuleId, Profile};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::Calls;
use super::names::names_nothing;

/// Beginnings of the file names of libraries that serialise their callers by a lock of their own.
pub(super) const WITH_A_LOCK: [&str; 2] = ["libopenblas", "libscipy_openblas"];

/// Whether a file of this name is a library of which a remedy is known.
fn is_known(file_name: &str) -> bool {
    WITH_A_LOCK.iter().any(|library| file_name.starts_with(library))
}

/// Folders of installed packages, wherever they are.
const INSTALLED: [&str; 3] = ["/site-packages/", "/dist-packages/", "/lib-dynload/"];

/// File names of shells, whose functions say nothing of the script.
const SHELLS: [&str; 7] = ["bash", "dash", "sh", "zsh", "ksh", "busybox", "fish"];

/// How functions of the languages' standard libraries and of runtimes begin, and of what compilers make for
/// them. Where the source file is known, it decides as well: without linkage names an inlined function has no
/// path.
const LIBRARIES: [&str; 26] = [
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
    // Go's.
    "runtime.",
    "runtime/",
    "internal/",
    "syscall.",
    // Free Pascal's.
    "fpc_",
    "SYSTEM_$$_",
    "CLASSES_$$_",
    "SYSUTILS_$$_",
    "CTHREADS_$$_",
    // OCaml's.
    "caml_",
    "camlStdlib",
    "camlCamlinternal",
    "camlThread",
    "camlUnix",
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

/// How the names of copies of Rust's types end: most are written by the compiler, and what is copied is the
/// caller's choice.
const COPIES: [&str; 2] = [" as core::clone::Clone>::clone", " as core::clone::Clone>::clone_from"];

/// Parts of the C library that are linked into programs themselves.
const START: [&str; 2] = ["_start", "__libc_csu_init"];

/// Of all calls of MPI and OpenMP, those that a library makes that is the program.
const OF_FRONTED: f64 = 0.9;

/// Whether it is where Python's library begins a process or a thread. What such a one does is called by
/// nothing of the program, though the path of a forked process leads on to where it was started.
pub(super) fn begins(function: &Function) -> bool {
    function.name.ends_with("_bootstrap") && function.is_of_pythons_library()
}

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

/// What the processes of a run execute.
#[derive(Debug)]
pub(super) struct Programs<'p> {
    executables: FxHashSet<&'p str>,
    /// Shells, and interpreters of which the functions of scripts are known: their own say nothing more.
    interpreters: FxHashSet<&'p str>,
    /// The system's libraries that are programs but for an executable around them ([`fronted`]).
    fronted: FxHashSet<ModuleId>,
}

impl<'p> Programs<'p> {
    pub(super) fn of(profile: &'p Profile, calls: &[Calls]) -> Programs<'p> {
        let module = |function: &Function| function.module.map(|module| &profile.modules[module]);
        let has_scripts = profile.functions.iter().any(|function| function.is_interpreted(module(function)));
        let is_interpreter =
            |module: &Module| has_scripts && module.is_python() || SHELLS.contains(&module.name());
        let interpreters = profile.modules.iter().filter(|module| is_interpreter(module));
        Programs {
            executables: profile.processes.iter().map(|process| process.executable.as_str()).collect(),
            interpreters: interpreters.map(|module| module.path.as_str()).collect(),
            fronted: fronted(profile, calls),
        }
    }
}

/// Libraries that are programs, as distributions have them (`lmp` and `liblammps`, `gmx` and `libgromacs`):
/// the executable of a program that uses MPI or OpenMP has no function with a name but `main`, so that it
/// says nothing of what is done, and one of the system's libraries makes nearly all of these calls.
fn fronted(profile: &Profile, calls: &[Calls]) -> FxHashSet<ModuleId> {
    let operations = Operations::of(profile);
    let mut of_executables: FxHashMap<&str, FxHashMap<Option<ModuleId>, u64>> = FxHashMap::default();
    // A worker without work is called by nobody.
    for call in calls.iter().filter(|call| !matches!(call.state, State::Passive(_))) {
        let kind = operations.get(call.operation);
        if kind.is_some_and(|kind| kind.is_of_mpi() || kind.is_of_openmp()) {
            let process = profile.locations[call.location].process;
            let by_caller = of_executables.entry(&profile.processes[process].executable).or_default();
            *by_caller.entry(caller(profile, call.context)).or_default() += call.calls;
        }
    }
    let is_named = |executable: &str| {
        let mut files = profile.modules.iter().enumerate().filter(|(_, module)| module.path == executable);
        files.any(|(id, _)| !names_nothing(profile, ModuleId::from_index(id)))
    };
    of_executables.retain(|executable, _| !is_named(executable));
    let mut fronted = FxHashSet::default();
    for by_caller in of_executables.into_values() {
        let all: u64 = by_caller.values().sum();
        let most = by_caller.into_iter().find(|(_, calls)| *calls as f64 >= OF_FRONTED * all as f64);
        let library = most.and_then(|(module, _)| module).filter(|&module| {
            let module = &profile.modules[module];
            module.is_system_library() && !is_package(module)
        });
        fronted.extend(library);
    }
    fronted
}

/// The file of the function that makes a call.
fn caller(profile: &Profile, context: ContextId) -> Option<ModuleId> {
    let mut at = Some(context);
    while let Some(context) = at.map(|id| &profile.contexts[id]) {
        let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
        if let Some(function) = context.function.filter(|_| is_call) {
            return profile.functions[function].module;
        }
        at = context.parent;
    }
    None
}

/// Whether it is a library for others by its folder or name, whoever calls it.
fn is_package(module: &Module) -> bool {
    INSTALLED.iter().any(|folder| module.path.contains(folder)) || is_known(module.name())
}

impl Author {
    pub(super) fn of(profile: &Profile, programs: &Programs<'_>, function: &Function) -> Author {
        let Some(module) = function.module else { return Author::System };
        let is_fronted = programs.fronted.contains(&module);
        let module = &profile.modules[module];
        if function.is_interpreted(Some(module)) {
            return if function.is_of_pythons_library() { Author::Package } else { Author::Program };
        }
        if programs.interpreters.contains(&*module.path) {
            return Author::System;
        }
        let (path, file_name) = (module.path.as_str(), module.name());
        let is_library = file_name.contains(".so") && !programs.executables.contains(path);
        let is_installed = module.is_in_system_folder() || is_package(module);
        let is_of_kernel = path.starts_with('[') && !module.is_made_at_run_time();
        if is_of_kernel || is_library && is_installed && !is_fronted {
            return Author::System;
        }
        let name = if function.full_name.is_empty() { &function.name } else { &function.full_name };
        let name = name.trim_start_matches(['<', '&']);
        let file = function.file.as_deref().unwrap_or_default();
        if LIBRARIES.iter().any(|library| name.starts_with(library))
            || START.contains(&name)
            || COPIES.iter().any(|copy| name.ends_with(copy))
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

#[cfg(test)]
mod tests {
    use proust_account::ledger::Work;
    use proust_profile::{
        Context, Detail, Family, FunctionId, Location, LocationId, Nature, OperationId, OperationInfo,
        OperationKind, Process,
    };

    use super::*;

    #[test]
    fn functions_of_gos_runtime_are_the_systems() {
        let mut profile = Profile::default();
        profile.modules.push(Module { path: "/usr/bin/rclone".into(), ..Module::default() });
        let names = ["runtime/internal/syscall.Syscall6", "syscall.read", "main.main", "internalize"];
        let authors = names.map(|name| {
            let module = Some(ModuleId::from_index(0));
            let function = Function { name: name.into(), module, ..Function::default() };
            Author::of(&profile, &Programs::of(&profile, &[]), &function)
        });
        assert_eq!(authors, [Author::System, Author::System, Author::Program, Author::Program]);
    }

    /// What the compiler writes to copy a type says less than who copies it.
    #[test]
    fn copies_of_rusts_types_are_the_systems() {
        let mut profile = Profile::default();
        profile.modules.push(Module { path: "/home/me/filter".into(), ..Module::default() });
        let names = ["<filter::Rule as core::clone::Clone>::clone", "filter::Rule::clone"];
        let authors = names.map(|name| {
            let module = Some(ModuleId::from_index(0));
            let function = Function { name: name.into(), module, ..Function::default() };
            Author::of(&profile, &Programs::of(&profile, &[]), &function)
        });
        assert_eq!(authors, [Author::System, Author::Program]);
    }

    #[test]
    fn functions_of_a_shell_say_nothing_of_the_script() {
        let mut profile = Profile::default();
        for file in ["/usr/bin/bash", "/home/me/bash-tool"] {
            let module = Some(ModuleId::from_index(profile.modules.len()));
            profile.modules.push(Module { path: file.into(), ..Module::default() });
            let function = Function { name: "make_child".into(), module, ..Function::default() };
            profile.functions.push(function);
        }
        let programs = Programs::of(&profile, &[]);
        let authors: Vec<Author> =
            profile.functions.iter().map(|function| Author::of(&profile, &programs, function)).collect();
        assert_eq!(authors, [Author::System, Author::Program]);
    }

    /// With scripts' functions at hand the interpreter's say nothing more; without them, it is the program.
    #[test]
    fn functions_of_scripts_are_by_their_files_and_stand_for_the_interpreter() {
        const PYTHON: &str = "/usr/bin/python3.11";
        const LIBRARY: &str = "/usr/lib/python3.11/threading.py";
        const PACKAGE: &str = "/home/me/.venv/lib/python3.11/site-packages/numpy/core/numeric.py";
        let files = [PYTHON, "/home/me/solver.py", LIBRARY, PACKAGE, "/usr/lib/python3.11/lib-dynload/a.so"];
        let mut profile = Profile::default();
        for file in files {
            let module = Some(ModuleId::from_index(profile.modules.len()));
            profile.modules.push(Module { path: file.into(), ..Module::default() });
            let file = Some(file.to_owned()).filter(|file| file.ends_with(".py"));
            profile.functions.push(Function { name: "f".into(), module, file, ..Function::default() });
        }
        let authors = |profile: &Profile| -> Vec<Author> {
            let programs = Programs::of(profile, &[]);
            profile.functions.iter().map(|function| Author::of(profile, &programs, function)).collect()
        };
        assert_eq!(
            authors(&profile),
            [Author::System, Author::Program, Author::Package, Author::Package, Author::System]
        );
        for function in profile.functions.iter_mut() {
            function.file = None;
        }
        assert_eq!(authors(&profile)[0], Author::Program);
    }

    /// The authors of `main`, of a library's function and of one of MPI's, where `main` makes so many of 100
    /// calls of MPI.
    fn authors_of(main: &str, by_main: u64) -> [Author; 3] {
        let mut profile = Profile::default();
        let files = ["/usr/bin/lmp", "/usr/lib/x86_64-linux-gnu/liblammps.so.0", "/usr/lib/libmpi.so.40"];
        let mut above = None;
        for (file, name) in files.into_iter().zip([main, "LAMMPS_NS::Run::command", "PMPI_Allreduce"]) {
            let module = Some(ModuleId::from_index(profile.modules.len()));
            profile.modules.push(Module { path: file.into(), ..Module::default() });
            let function = Some(FunctionId::from_index(profile.functions.len()));
            profile.functions.push(Function { name: name.into(), module, ..Function::default() });
            let context = ContextId::from_index(profile.contexts.len());
            let kind = ContextKind::Frame;
            profile.contexts.push(Context { parent: above, kind, function, file: None, line: None });
            above = Some(context);
        }
        let collective =
            OperationKind { nature: Nature::Collective, family: Family::Mpi, detail: Detail::Plain };
        profile.operations =
            vec![OperationInfo { name: "MPI_Allreduce".into(), kind: Some(collective) }].into();
        profile.processes.push(Process { executable: files[0].into(), ..Process::default() });
        profile.locations.push(Location::default());
        let calls = |context, calls| Calls {
            location: LocationId(0),
            context: ContextId(context),
            operation: OperationId(0),
            state: State::Working(Work::Compute),
            calls,
            bytes: 0,
            time_ns: 0,
        };
        let programs = Programs::of(&profile, &[calls(0, by_main), calls(1, 100 - by_main)]);
        [0, 1, 2].map(|id| Author::of(&profile, &programs, &profile.functions[FunctionId(id)]))
    }

    #[test]
    fn a_library_of_the_system_is_the_program_where_the_executable_says_nothing() {
        let (system, program) = (Author::System, Author::Program);
        assert_eq!(authors_of("main", 3), [program, program, system]);
        assert_eq!(authors_of("lmp+0x1240", 3), [program, program, system]);
        // It has functions of its own, or calls MPI itself.
        assert_eq!(authors_of("solve", 3), [program, system, system]);
        assert_eq!(authors_of("main", 30), [program, system, system]);
    }
}
