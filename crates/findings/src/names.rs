//! Places without a name: code of which there are no symbols, and interpreters, whose functions say nothing
//! of the script.

use proust_account::ledger::{PassiveReason, State, Work};
use proust_profile::context::is_address;
use proust_profile::{ContextId, ContextKind, FunctionId, ModuleId, OperationId, Profile};

use super::calls::Calls;

/// The function that every program has.
const MAIN: &str = "main";

/// Whether a function of which no source is known has no name either: it is an address in a file, or the
/// function that every program has, where no other one of its file has a name. `id` is the function.
pub(super) fn is_unnamed(profile: &Profile, name: &str, id: Option<FunctionId>) -> bool {
    let module = || profile.functions[id?].module;
    is_address(name) || name == MAIN && module().is_some_and(|module| names_nothing(profile, module))
}

/// Whether no function of a file has a name, but for those that every program has, and no source is known.
pub(super) fn names_nothing(profile: &Profile, file: ModuleId) -> bool {
    let mut functions = profile.functions.iter().filter(|function| function.module == Some(file));
    functions.all(|function| {
        let name = &*function.name;
        function.file.is_none() && (is_address(name) || [MAIN, "_start"].contains(&name))
    })
}

/// How the file names of interpreters begin, with or without `lib`.
const INTERPRETERS: [&str; 6] = ["python", "perl", "ruby", "lua", "guile", "php"];

/// Functions that execute a script, whatever it does.
const LOOPS: [&str; 4] = ["_PyEval_EvalFrameDefault", "Perl_runops_standard", "luaV_execute", "vm_exec_core"];

/// What an interpreter calls for a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// The outermost function with a name.
    Function(FunctionId),
    /// Such an operation.
    Operation(OperationId),
}

/// For each context below an interpreter's own function what that calls of another file; `own` is the
/// program's innermost function of each context.
pub(super) fn called(profile: &Profile, own: &[ContextId], calls: &[Calls]) -> Vec<Option<Called>> {
    let mut called: Vec<Option<Called>> = vec![None; profile.contexts.len()];
    let interpreter = |id: usize| {
        let function = profile.contexts[own[id]].function;
        function.filter(|&function| is_interpreter(profile, function))
    };
    for (id, context) in profile.contexts.iter().enumerate() {
        let (Some(eval), Some(parent)) = (interpreter(id), context.parent) else { continue };
        if own[id].index() == id {
            continue;
        }
        let is_other = |function: &FunctionId| {
            let (one, eval) = (&profile.functions[*function], &profile.functions[eval]);
            let is_foreign = one.module.is_some() && one.module != eval.module;
            is_foreign && !is_address(&one.name) && !one.name.contains("pthread_")
        };
        let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
        let this = context.function.filter(|_| is_call).filter(is_other).map(Called::Function);
        called[id] = called[parent.index()].or(this);
    }
    // What is called at once is on no path. Its own locks are the interpreter's business.
    let for_script =
        |call: &&Calls| matches!(call.state, State::Working(Work::Io) | State::Passive(PassiveReason::Sleep));
    for call in calls.iter().filter(for_script) {
        let id = call.context.index();
        if interpreter(id).is_some() {
            called[id].get_or_insert(Called::Operation(call.operation));
        }
    }
    called
}

/// Whether a function is an interpreter's that says nothing of the script.
fn is_interpreter(profile: &Profile, function: FunctionId) -> bool {
    let function = &profile.functions[function];
    function.file.is_none()
        && (is_address(&function.name) || LOOPS.contains(&&*function.name))
        && function.module.is_some_and(|module| {
            let name = profile.modules[module].name();
            let name = name.strip_prefix("lib").unwrap_or(name);
            INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter))
        })
}
