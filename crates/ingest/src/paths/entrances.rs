//! Frames by which a system or a language's runtime begins a program, a thread or a task, or passes a call
//! on to a closure: `_start`, `start_thread`, `std::rt::lang_start`, `std::__invoke`, `rayon_core::join`.
//! Nothing in them is the program's, so its author need not see them between their own functions.
//!
//! Such a frame is left out where the next frame below is the program's. Below the last of the program's
//! functions, and above a library's, all frames stay: what they do there is the only thing to be seen.

use std::borrow::Cow;

use proust_profile::{Function, Module};
use proust_words::arguments::without;

/// What a function is to the author of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It only begins a program or passes a call on.
    Entrance,
    /// It begins a thread, or is of a runtime that has the program's functions executed by threads.
    Runtime,
    /// It is such a runtime's function that executes a task: whatever lies above has nothing to do with it.
    Task,
    /// It is of a language's library: a part of the runtime where one calls it, and else like the program's.
    Standard,
    /// Likewise, and else like the system's.
    SystemStandard,
    /// It belongs to a library of the system.
    System,
    /// It is the program's, or of a library that it brings.
    Program,
}

impl Role {
    /// Of a function in `module`.
    pub(super) fn of(function: &Function, module: Option<&Module>) -> Role {
        let name = without_arguments(&function.name);
        let name = name.as_ref();
        let file = function.file.as_deref().unwrap_or_default();
        let is_of_system = module.is_some_and(Module::is_system_library);
        let library = module.map_or("", Module::name);
        let is_python = module.is_some_and(Module::is_python);
        // Functions of a script stand for themselves, whatever they are called.
        if function.is_interpreted(module) {
            if function.is_of_pythons_library() { Role::Standard } else { Role::Program }
        } else if executes_task(name, library) {
            Role::Task
        } else if begins_thread(name, file)
            || is_of_system && name == "clone"
            || is_of_runtime(name, file, library)
        {
            Role::Runtime
        } else if passes_on(name, file) || is_python && is_between_python(name, library) {
            Role::Entrance
        } else if is_of_system && !is_python {
            match library.starts_with("libstdc++.so") || ONCE.contains(&name) {
                true => Role::SystemStandard,
                false => Role::System,
            }
        } else if is_standard(name, file) {
            Role::Standard
        } else {
            Role::Program
        }
    }
}

/// Functions of the C library by their whole names, with which a program begins; what Rust catches panics
/// with, and what calls a closure that creates threads.
const NAMES: [&str; 5] =
    ["_start", "generic_start_main", "__rust_try", "std::thread::scope", "std::thread::scoped::scope"];

/// And by how their names begin: also functions of C++ and Rust that pass a call on.
const BEGINS: &[&str] = &[
    "__libc_start_",
    "std::__invoke",
    "std::invoke",
    "std::__apply",
    "std::apply",
    "std::_Function_handler::",
    "std::function::operator()",
    "std::_Bind::",
    "std::reference_wrapper::operator()",
    "std::__1::__invoke",
    "std::__1::invoke",
    "std::__1::__function::",
    "std::__1::function::operator()",
    "std::rt::",
    "std::thread::local::LocalKey::with",
    "std::thread::local::LocalKey::try_with",
    "std::panic::catch_unwind",
    "std::panicking::catch_unwind",
    "std::panicking::try",
    "std::sys::backtrace::__rust_begin",
    "std::sys::backtrace::__rust_end",
    "std::sys_common::backtrace::__rust_begin",
    "core::ops::function::",
];

/// Functions that begin a thread, of the C library and of libstdc++.
const THREADS: [&str; 5] = ["clone3", "__clone", "__clone3", "start_thread", "execute_native_thread_routine"];

/// Where Go's runtime begins a goroutine, and threads of its own. Their frames do not say that they are the
/// outermost ones.
const GOROUTINES: [&str; 3] = ["runtime.goexit", "runtime.mstart", "runtime.rt0_go"];

/// What executes the program's functions, by how the names begin: threads and futures of C++'s libraries,
/// pools and their tasks.
const RUNTIMES: &[&str] = &[
    "std::thread::_",
    "std::jthread::_",
    "std::__future_base::",
    "std::packaged_task::operator()",
    "std::__1::__thread_",
    "std::__1::__async_",
    "std::__1::__packaged_task",
    "std::__1::packaged_task::operator()",
    "rayon::",
    "rayon_core::",
    "tokio::runtime::",
    "tokio::task::",
    // Its cells and locks, through which it calls a task.
    "tokio::loom::",
    "tbb::detail::",
    "tbb::interface",
    "tbb::internal::",
    "__pstl::",
    "__cilkrts_",
    "__cilk_",
    "cilk::",
];

/// Libraries that are nothing else, also where their functions have no names.
const LIBRARIES: &[&str] = &["libopencilk", "libcilkrts.so"];

/// Functions of runtimes that execute one task.
const TASKS: &[&str] = &["rayon_core::job::JobRef::execute", "tbb::detail::r1::"];

/// Libraries of which any function may be that, also where it has no name.
const LIBRARIES_OF_TASKS: &[&str] = &["libtbb.so", "libtbb_debug.so", "libtbb12.so"];

/// Functions of the C library that call others once, as futures do.
const ONCE: [&str; 4] = ["pthread_once", "__pthread_once", "__pthread_once_slow", "___pthread_once"];

/// Libraries of languages, by how their functions' names begin.
const STANDARD: &[&str] =
    &["std::", "core::", "alloc::", "__gnu_cxx::", "__gthread_once", "crossbeam_", "futures_"];

/// Sources of Rust's standard library that hold nothing else than what begins a program or passes a call on.
/// Names of inlined functions have no path where debug information has lines only, so the source decides.
const SOURCES: [&str; 6] = [
    "/library/std/src/rt.rs",
    "/library/std/src/panic.rs",
    "/library/std/src/panicking.rs",
    "/library/std/src/sys/backtrace.rs",
    "/library/core/src/ops/function.rs",
    "/library/core/src/panic/unwind_safe.rs",
];

/// Begins of the folders of crates that are runtimes; the version follows.
const CRATES: [&str; 2] = ["/rayon-", "/rayon-core-"];

/// Functions of CPython's interpreter between the evaluation of two functions of Python's.
const PYTHON: &[&str] = &[
    "_PyEval_Vector",
    "_PyEval_EvalFrame",
    "_PyFunction_Vectorcall",
    "_PyFunction_FastCall",
    "_PyObject_MakeTpCall",
    "_PyObject_Call",
    "_PyObject_FastCall",
    "_PyObject_Vectorcall",
    "PyObject_Call",
    "PyObject_Vectorcall",
    "PyVectorcall_Call",
    "_PyVectorcall_",
    "_PyCallMethodDescriptor",
    "_Py_BuiltinCall",
    "_Py_CallBuiltinClass",
    "_Py_VectorCall",
    "PyEval_EvalCode",
    "_PyEval_EvalCode",
    "PyEval_EvalFrame",
    "cfunction_call",
    "cfunction_vectorcall_",
    "method_vectorcall",
    "function_code_fastcall",
    "call_function",
    "do_call_core",
    "object_vacall",
    "slot_tp_call",
    "vectorcall_",
    "run_eval_code_obj",
    "run_mod",
    "pyrun_",
    "_PyRun_",
    "PyRun_",
    "pymain_",
    "Py_RunMain",
    "Py_BytesMain",
    "Py_Main",
    "thread_run",
    "t_bootstrap",
    "pythread_wrapper",
];

/// The evaluation itself is shown: it is where Python's functions execute.
const PYTHON_ITSELF: &str = "_PyEval_EvalFrameDefault";

/// Whether a goroutine, or a thread of Go's runtime, begins in a function of this name.
pub(super) fn begins_goroutine(name: &str) -> bool {
    // `.abi0`: Go's linker has two names for what follows either convention.
    GOROUTINES.contains(&name.strip_suffix(".abi0").unwrap_or(name))
}

fn is_any(begins: &[&str], name: &str) -> bool {
    begins.iter().any(|begin| name.starts_with(begin))
}

/// From the type on that a function of Rust belongs to: `<&rayon::vec::IntoIter as Iterator>::next` is
/// `rayon::vec::IntoIter as Iterator>::next`.
pub(super) fn type_of_rust(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '&', '*']);
    ["mut ", "const ", "dyn ", "impl "].iter().fold(name, |name, word| name.trim_start_matches(word))
}

fn begins_thread(name: &str, file: &str) -> bool {
    THREADS.contains(&name) || begins_goroutine(name) || is_of_a_thread_of_rust(name, file)
}

fn is_of_runtime(name: &str, file: &str, library: &str) -> bool {
    is_any(RUNTIMES, type_of_rust(name)) || is_any(LIBRARIES, library) || is_of_crate(file, &CRATES)
}

/// Whether a source file is of one of these crates, as cargo keeps them.
pub(super) fn is_of_crate(file: &str, crates: &[&str]) -> bool {
    let Some((_, kept)) = file.split_once("/registry/src/") else { return false };
    let is_version = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    crates.iter().any(|begin| kept.split_once(begin).is_some_and(|(_, rest)| is_version(rest)))
}

fn executes_task(name: &str, library: &str) -> bool {
    let is_of_rayon =
        name.starts_with("<rayon_core::job::") && name.ends_with(" as rayon_core::job::Job>::execute");
    is_of_rayon || is_any(TASKS, name) || is_any(LIBRARIES_OF_TASKS, library)
}

fn passes_on(name: &str, file: &str) -> bool {
    // `<&dyn core::ops::function::Fn as core::ops::function::FnOnce>::call_once`
    let is_implemented = name.starts_with('<') && name.contains(" as core::ops::function::Fn");
    is_implemented
        || NAMES.contains(&name)
        || is_any(BEGINS, name)
        || SOURCES.iter().any(|source| file.ends_with(source))
}

fn is_between_python(name: &str, library: &str) -> bool {
    // Most functions of a stripped interpreter have no names.
    let is_unnamed = || name.strip_prefix(library).is_some_and(|rest| rest.starts_with("+0x"));
    !name.starts_with(PYTHON_ITSELF) && (is_any(PYTHON, name) || is_unnamed())
}

pub(super) fn is_standard(name: &str, file: &str) -> bool {
    is_any(STANDARD, type_of_rust(name))
        || ["/library/core/src/", "/library/alloc/src/"].iter().any(|folder| file.contains(folder))
}

/// What lies between the system's thread and the closure that the program gave: in the sources that also hold
/// `spawn` and `scope`, which a program calls.
fn is_of_a_thread_of_rust(name: &str, file: &str) -> bool {
    let is_of_threads = file.contains("/library/std/src/thread/")
        || file.contains("/library/std/src/sys/")
        || ["std::thread::", "std::sys::", "<std::sys::"].iter().any(|begin| name.starts_with(begin));
    let last = name.rsplit("::").next().unwrap_or(name);
    is_of_threads && (last.starts_with("{closure") || last.starts_with("{{closure") || last == "thread_start")
}

/// Functions by which a program creates threads or waits for them, by how their names begin.
const CREATING: &[&str] = &[
    "std::thread::",
    "std::jthread::",
    "std::async",
    "std::future::",
    "std::__future_base::",
    "std::__basic_future::",
    "std::__1::thread::",
    "std::__1::async",
    "std::__1::future::",
    "pthread_",
    "__pthread_",
];

/// Whether a function that is of no runtime creates threads or waits for them.
pub(super) fn creates_threads(name: &str) -> bool {
    is_any(CREATING, without_arguments(name).as_ref())
}

/// A name without the arguments of templates: `std::function<void ()>::operator()` is
/// `std::function::operator()`.
pub(super) fn without_arguments(name: &str) -> Cow<'_, str> {
    if name.starts_with('<') { Cow::Borrowed(name) } else { without(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, file: Option<&str>, module: &str) -> Role {
        let function = Function { name: name.into(), file: file.map(str::to_owned), ..Function::default() };
        Role::of(&function, Some(&Module { path: module.into(), ..Module::default() }))
    }

    const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
    const PROGRAM: &str = "/home/me/program";

    #[test]
    fn a_frame_that_only_passes_on_is_known_by_name_or_by_source() {
        const STD: &str = "/rustc/5980/library/std/src";
        let of_rust = |name: &str, file: &str| role(name, Some(&format!("{STD}{file}")), PROGRAM);
        for (name, file, is) in [
            ("catch_unwind", "/panic.rs", Role::Entrance),
            ("do_call", "/panicking.rs", Role::Entrance),
            ("{closure#1}", "/thread/lifecycle.rs", Role::Runtime),
            ("std::thread::lifecycle::spawn_unchecked::{{closure}}", "/thread/lifecycle.rs", Role::Runtime),
            ("<std::sys::thread::unix::Thread>::new::thread_start", "/sys/thread/unix.rs", Role::Runtime),
            ("std::rt::lang_start_internal", "/rt.rs", Role::Entrance),
        ] {
            assert_eq!(of_rust(name, file), is, "{name}");
        }
        assert_eq!(of_rust("std::thread::scoped::scope::{{closure}}", "/thread/scoped.rs"), Role::Runtime);
        assert_eq!(of_rust("std::thread::scoped::Scope::spawn", "/thread/scoped.rs"), Role::Standard);
        for name in [
            "std::thread::scoped::scope",
            "std::thread::local::LocalKey<T>::with",
            "core::ops::function::FnOnce::call_once{{vtable.shim}}",
            "<alloc::boxed::Box as core::ops::function::FnOnce>::call_once",
            "std::_Bind<void (*(int))(int)>::operator()",
            "std::function::operator()",
            "std::function<void ()>::operator()",
            "std::__invoke_impl<void, main::{lambda()#1}>",
            "_start",
            "__libc_start_call_main",
        ] {
            assert_eq!(role(name, None, PROGRAM), Role::Entrance, "{name}");
        }
        assert_eq!(role("__libc_start_call_main", None, LIBC), Role::Entrance);
        let of_thread =
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int>>>::_M_run";
        assert_eq!(role(of_thread, None, PROGRAM), Role::Runtime);
    }

    #[test]
    fn runtimes_that_have_threads_execute_functions_are_known() {
        const CRATE: &str = "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rayon-core-1.13.0";
        for name in [
            "std::thread::_State_impl::_M_run",
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run",
            "std::__future_base::_State_baseV2::_M_do_set",
            "std::packaged_task<void ()>::operator()",
            "rayon_core::registry::main_loop",
            "<rayon_core::registry::DefaultSpawn as rayon_core::registry::ThreadSpawn>::spawn::{{closure}}",
            "<rayon::vec::IntoIter as rayon::iter::ParallelIterator>::drive_unindexed",
            "tokio::runtime::task::raw::poll",
            "tokio::loom::std::unsafe_cell::UnsafeCell::with_mut",
            "<tokio::runtime::blocking::task::BlockingTask as core::future::future::Future>::poll",
            "tbb::detail::d1::start_for::execute",
            "__cilkrts_hyper_lookup",
        ] {
            assert_eq!(role(name, None, PROGRAM), Role::Runtime, "{name}");
        }
        assert_eq!(role("in_worker", Some(&format!("{CRATE}/src/registry.rs")), PROGRAM), Role::Runtime);
        assert_eq!(role("work", Some("/home/me/rayon-sum/src/main.rs"), PROGRAM), Role::Program);
        for name in ["<rayon_core::job::StackJob as rayon_core::job::Job>::execute", "tbb::detail::r1::wait"]
        {
            assert_eq!(role(name, None, PROGRAM), Role::Task, "{name}");
        }
        assert_eq!(role("libtbb.so.12+0x22180", None, "/opt/tbb/lib/libtbb.so.12"), Role::Task);
        assert_eq!(
            role("<program::Rows as rayon::iter::ParallelIterator>::drive", None, PROGRAM),
            Role::Program
        );
    }

    #[test]
    fn functions_of_languages_libraries_belong_to_a_runtime_that_calls_them() {
        for name in ["core::iter::traits::iterator::Iterator::fold", "std::sort", "crossbeam_deque::steal"] {
            assert_eq!(role(name, None, PROGRAM), Role::Standard, "{name}");
        }
        assert_eq!(role("fold", Some("/rustc/59/library/core/src/iter/range.rs"), PROGRAM), Role::Standard);
        assert_eq!(
            role("libstdc++.so.6+0xd4490", None, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
            Role::SystemStandard
        );
        assert_eq!(role("__pthread_once_slow", None, LIBC), Role::SystemStandard);
    }

    #[test]
    fn between_two_functions_of_python_lies_the_interpreter() {
        for library in ["/usr/bin/python3.11", "/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0"] {
            assert_eq!(role("_PyFunction_Vectorcall", None, library), Role::Entrance);
            assert_eq!(role("_PyCallMethodDescriptorFast_StackRef", None, library), Role::Entrance);
            assert_eq!(role("_PyEval_EvalFrameDefault", None, library), Role::Program);
            assert_eq!(role("long_add", None, library), Role::Program);
        }
        assert_eq!(role("python3.11+0x5a8530", None, "/usr/bin/python3.11"), Role::Entrance);
        assert_eq!(role("_PyFunction_Vectorcall", None, PROGRAM), Role::Program);
    }

    /// Whatever they are called: a script may have a function `start_thread`.
    #[test]
    fn functions_of_scripts_are_the_programs_or_of_pythons_library() {
        for (file, expected) in [
            ("/home/me/solver.py", Role::Program),
            ("<string>", Role::Program),
            ("/usr/lib/python3.11/threading.py", Role::Standard),
            ("/home/me/.venv/lib/python3.12/site-packages/numpy/core/numeric.py", Role::Standard),
            ("<frozen importlib._bootstrap>", Role::Standard),
        ] {
            for name in ["start_thread", "<module>", "Thread.run", "std::invoke"] {
                assert_eq!(role(name, Some(file), file), expected, "{name} {file}");
            }
        }
    }

    #[test]
    fn functions_that_a_program_calls_are_no_entrances() {
        let of_rust = |name: &str, file: &str| role(name, Some(file), PROGRAM);
        assert_eq!(of_rust("scope", "/rustc/59/library/std/src/thread/scoped.rs"), Role::Program);
        assert_eq!(of_rust("{closure#1}", "/home/me/src/main.rs"), Role::Program);
        assert_eq!(of_rust("program::clone", "/home/me/src/main.rs"), Role::Program);
        assert_eq!(role("std::this_thread::sleep_for", None, PROGRAM), Role::Standard);
        assert_eq!(role("gomp_thread_start", None, "/usr/lib/x86_64-linux-gnu/libgomp.so.1"), Role::System);
        assert_eq!(role("memmove", None, LIBC), Role::System);
    }

    #[test]
    fn names_without_arguments() {
        for (name, plain) in [
            ("std::function<void (int)>::operator()", "std::function::operator()"),
            ("a<b<c>, d>::e<f>", "a::e"),
            ("operator<", "operator<"),
            ("stream::operator<<", "stream::operator<<"),
            ("a<(x)->y>::b", "a::b"),
            ("<a as b>::c", "<a as b>::c"),
            ("a<b", "a<b"),
        ] {
            assert_eq!(without_arguments(name), plain);
        }
    }
}
