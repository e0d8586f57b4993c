//! Which contexts are in an event loop: below the function of a library that calls what the loop serves.

use proust_profile::{ContextKind, Function, Profile};

/// Where loops of libraries written in C call what they serve: libuv, libevent, libev, GLib.
const LOOPS: [&str; 4] = ["uv_run", "event_base_loop", "ev_run", "g_main_context_dispatch"];
/// Where Tokio does in its executor of one thread.
const TOKIO: &str = "tokio::runtime::scheduler::current_thread::";
/// Where Python's own does.
const ASYNCIO: (&str, &str) = ("asyncio/base_events.py", "_run_once");

/// Whether each context is in an event loop, or in what one calls.
pub(super) fn inside(profile: &Profile) -> Vec<bool> {
    let mut inside = vec![false; profile.contexts.len()];
    for (id, context) in profile.contexts.iter_enumerated() {
        let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
        let function = context.function.filter(|_| is_call).map(|function| &profile.functions[function]);
        let below = context.parent.is_some_and(|parent| inside[parent.index()]);
        inside[id.index()] = below || function.is_some_and(is_loop);
    }
    inside
}

/// Whether a function is one from which a loop calls what it serves.
fn is_loop(function: &Function) -> bool {
    let name = function.name.as_str();
    let (file, method) = ASYNCIO;
    LOOPS.contains(&name)
        || function.full_name.trim_start_matches('<').starts_with(TOKIO)
        || name.trim_start_matches('<').starts_with(TOKIO)
        || name.ends_with(method) && function.file.as_deref().is_some_and(|path| path.ends_with(file))
}
