//! Frames by which a system or a language's runtime begins a program or a thread, or passes a call on to a
//! closure: `_start`, `start_thread`, `std::rt::lang_start`, `std::__invoke`, `FnOnce::call_once`. Nothing in
//! them is the program's, so its author need not see them between their own functions.
//!
//! Such a frame is left out where the next frame below is the program's. Below the last of the program's
//! functions, and above a library's, all frames stay: what they do there is the only thing to be seen.

use proust_profile::{Function, Module};
use proust_words::arguments::without;

/// What a function is to the author of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It only begins something or passes a call on.
    Entrance,
    /// It belongs to a library of the system.
    System,
    /// It is the program's, or of a library that it brings.
    Program,
}

impl Role {
    /// Of a function in `module`.
    pub(super) fn of(function: &Function, module: Option<&Module>) -> Role {
        let is_of_system = module.is_some_and(Module::is_system_library);
        let is_known = is_named_so(&function.name)
            || function.file.as_deref().is_some_and(is_source_of_them)
            || is_of_system && function.name == "clone";
        match is_known || is_of_a_thread_of_rust(function) {
            true => Role::Entrance,
            false if is_of_system => Role::System,
            false => Role::Program,
        }
    }
}

/// Entrances by their whole names: of the C library, and of libstdc++.
const NAMES: [&str; 8] = [
    "_start",
    "clone3",
    "__clone",
    "__clone3",
    "start_thread",
    "generic_start_main",
    "execute_native_thread_routine",
    "__rust_try",
];

/// And by how their names begin.
const BEGINS: [&str; 23] = [
    "__libc_start_",
    "std::thread::_",
    "std::__invoke",
    "std::invoke",
    "std::__apply",
    "std::apply",
    "std::_Function_handler::",
    "std::function::operator()",
    "std::_Bind::",
    "std::reference_wrapper::operator()",
    "std::__1::__thread_",
    "std::__1::__invoke",
    "std::__1::invoke",
    "std::__1::__function::",
    "std::__1::function::operator()",
    "std::rt::",
    "std::panic::catch_unwind",
    "std::panicking::catch_unwind",
    "std::panicking::try",
    "std::sys::backtrace::__rust_begin",
    "std::sys::backtrace::__rust_end",
    "std::sys_common::backtrace::__rust_begin",
    "core::ops::function::",
];

/// Sources of Rust's standard library that hold nothing else. Names of inlined functions have no path where
/// debug information has lines only, so the source decides.
const SOURCES: [&str; 6] = [
    "/library/std/src/rt.rs",
    "/library/std/src/panic.rs",
    "/library/std/src/panicking.rs",
    "/library/std/src/sys/backtrace.rs",
    "/library/core/src/ops/function.rs",
    "/library/core/src/panic/unwind_safe.rs",
];

fn is_named_so(name: &str) -> bool {
    // `<&dyn core::ops::function::Fn as core::ops::function::FnOnce>::call_once`
    let is_implemented = name.starts_with('<') && name.contains(" as core::ops::function::Fn");
    let of_all_instances = without(name);
    is_implemented || NAMES.contains(&name) || BEGINS.iter().any(|begin| of_all_instances.starts_with(begin))
}

fn is_source_of_them(file: &str) -> bool {
    SOURCES.iter().any(|source| file.ends_with(source))
}

/// What lies between the system's thread and the closure that the program gave: in the sources that also hold
/// `spawn` and `scope`, which a program calls.
fn is_of_a_thread_of_rust(function: &Function) -> bool {
    let (name, file) = (function.name.as_str(), function.file.as_deref().unwrap_or_default());
    let is_of_threads = file.contains("/library/std/src/thread/")
        || file.contains("/library/std/src/sys/")
        || ["std::thread::", "std::sys::", "<std::sys::"].iter().any(|begin| name.starts_with(begin));
    let last = name.rsplit("::").next().unwrap_or(name);
    is_of_threads && (last.starts_with("{closure") || last == "thread_start")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, file: Option<&str>, module: &str) -> Role {
        let function = Function { name: name.into(), file: file.map(str::to_owned), ..Function::default() };
        Role::of(&function, Some(&Module { path: module.into(), ..Module::default() }))
    }

    #[test]
    fn a_frame_that_only_passes_on_is_known_by_name_or_by_source() {
        const STD: &str = "/rustc/5980/library/std/src";
        let of_rust = |name: &str, file: &str| role(name, Some(&format!("{STD}{file}")), "/home/me/program");
        for (name, file) in [
            ("catch_unwind", "/panic.rs"),
            ("do_call", "/panicking.rs"),
            ("{closure#1}", "/thread/lifecycle.rs"),
            ("<std::sys::thread::unix::Thread>::new::thread_start", "/sys/thread/unix.rs"),
            ("std::rt::lang_start_internal", "/rt.rs"),
        ] {
            assert_eq!(of_rust(name, file), Role::Entrance, "{name}");
        }
        for name in [
            "core::ops::function::FnOnce::call_once{{vtable.shim}}",
            "<alloc::boxed::Box as core::ops::function::FnOnce>::call_once",
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int>>>::_M_run",
            "std::function<void (int)>::operator()",
            "std::_Bind<void (*(int))(int)>::operator()",
            "__libc_start_call_main",
            "_start",
        ] {
            assert_eq!(role(name, None, "/lib/x86_64-linux-gnu/libc.so.6"), Role::Entrance, "{name}");
        }
    }

    #[test]
    fn functions_that_a_program_calls_are_no_entrances() {
        let of_rust = |name: &str, file: &str| role(name, Some(file), "/home/me/program");
        assert_eq!(of_rust("scope", "/rustc/59/library/std/src/thread/scoped.rs"), Role::Program);
        assert_eq!(
            of_rust("std::thread::scoped::scope", "/rustc/59/library/std/src/thread/scoped.rs"),
            Role::Program
        );
        assert_eq!(of_rust("{closure#1}", "/home/me/src/main.rs"), Role::Program);
        assert_eq!(of_rust("program::clone", "/home/me/src/main.rs"), Role::Program);
        assert_eq!(role("std::this_thread::sleep_for", None, "/home/me/program"), Role::Program);
        assert_eq!(role("gomp_thread_start", None, "/usr/lib/x86_64-linux-gnu/libgomp.so.1"), Role::System);
        assert_eq!(role("PyEval", None, "/usr/bin/python3.11"), Role::Program);
    }
}
