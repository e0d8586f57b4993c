//! A place in the program: the code that the reader wrote, and not a library's part of a lock.

use proust_profile::context::is_address;
use proust_profile::{ContextId, ContextKind, LocationId};
use proust_query::Selection;
use schemars::JsonSchema;
use serde::Serialize;

use super::{place, tree};
use crate::table::Cell;

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct Site {
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    /// Where no function is known: what the path begins in.
    #[serde(skip)]
    origin: String,
}

impl Site {
    /// The innermost function of a call path that is neither a library's part of locking nor an
    /// interpreter's nor a nameless one of the system: that is the code that the reader wrote.
    pub(super) fn of(selection: &Selection<'_>, id: ContextId) -> Site {
        let (profile, forest) = (selection.profile(), selection.forest());
        let own = forest.exclusive_of(id);
        let (mut call, mut line) = (own, Some(id));
        while let Some(above) = forest.call_above(call) {
            let function = profile.contexts[call].function.map(|id| &profile.functions[id]);
            let name = function.map_or("", |function| match function.full_name.is_empty() {
                true => &function.name,
                false => &function.full_name,
            });
            if !is_of_a_library(name) {
                break;
            }
            // A call's own place is where it is called from.
            (line, call) = (Some(call), above);
        }
        if is_of_no_function(selection, call) {
            (call, line) = (own, Some(id));
        }
        let above = interpreted_above(selection, call).or_else(|| named_above(selection, call));
        if let Some((above, below)) = above {
            (call, line) = (above, Some(below));
        }
        let function = profile.contexts[call].function.map(|id| &profile.functions[id]);
        let at = line.map(|id| &profile.contexts[id]);
        let (file, line) = match at {
            Some(at) if at.line.is_some() && (at.kind == ContextKind::Line || line != Some(own)) => {
                (at.file.clone(), at.line)
            }
            _ => function.map(|function| (function.file.clone(), function.line)).unwrap_or_default(),
        };
        Site {
            function: function.map(|function| function.name.clone()),
            file,
            line,
            origin: tree::name(profile, call),
        }
    }

    /// The same of one location: of a run of several programs, where no function is known, its own program.
    pub(super) fn of_location(selection: &Selection<'_>, id: ContextId, location: LocationId) -> Site {
        let site = Site::of(selection, id);
        let profile = selection.profile();
        let is_root = profile.contexts[selection.forest().exclusive_of(id)].parent.is_none();
        match site.function {
            None if is_root => {
                let process = profile.locations[location].process;
                Site { origin: profile.processes[process].name.clone(), ..site }
            }
            _ => site,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.function.as_deref().unwrap_or(&self.origin)
    }

    pub(super) fn cell(&self) -> Cell {
        Cell::from(self.name().to_owned())
            .with_tail(place(self.file.as_deref(), self.line).unwrap_or_default())
    }

    pub(super) fn text(&self) -> String {
        match place(self.file.as_deref(), self.line) {
            Some(place) => format!("{} ({place})", self.name()),
            None => self.name().to_owned(),
        }
    }
}

/// Of a call in an interpreter, or in an extension of it, the function of the script that made it, and what
/// that called. The interpreter's own functions say nothing of the script.
fn interpreted_above(selection: &Selection<'_>, mut call: ContextId) -> Option<(ContextId, ContextId)> {
    let (profile, forest) = (selection.profile(), selection.forest());
    loop {
        let function = &profile.functions[profile.contexts[call].function?];
        let module = &profile.modules[function.module?];
        // What `ctypes` calls by.
        let is_bridge = module.name().starts_with("libffi.so");
        let is_pythons = module.is_python() || module.is_extension_of_python() || is_bridge;
        if !is_pythons || function.is_interpreted(Some(module)) {
            return None;
        }
        let above = forest.call_above(call)?;
        let caller = profile.contexts[above].function.map(|id| &profile.functions[id])?;
        if caller.is_interpreted(caller.module.map(|module| &profile.modules[module])) {
            return Some((above, call));
        }
        call = above;
    }
}

/// Of code without a name in a library of the system (a Fortran runtime's part of `write`), the function of
/// the program that called into it, and what that called. Of a program without names there is none.
fn named_above(selection: &Selection<'_>, mut call: ContextId) -> Option<(ContextId, ContextId)> {
    let (profile, forest) = (selection.profile(), selection.forest());
    let kind_of = |call: ContextId| {
        let function = &profile.functions[profile.contexts[call].function?];
        let module = &profile.modules[function.module?];
        Some((module.is_system_library(), is_address(&function.name)))
    };
    if kind_of(call)? != (true, true) {
        return None;
    }
    loop {
        let above = forest.call_above(call)?;
        match kind_of(above)? {
            (true, _) => call = above,
            (false, is_nameless) => return (!is_nameless).then_some((above, call)),
        }
    }
}

fn is_of_no_function(selection: &Selection<'_>, context: ContextId) -> bool {
    selection.profile().contexts[context].function.is_none()
}

/// Functions of the standard libraries through which locks are used.
fn is_of_a_library(name: &str) -> bool {
    let name = name.trim_start_matches(['<', '&']);
    ["std::", "core::", "alloc::", "lock_api::", "parking_lot", "__gthread", "crossbeam"]
        .iter()
        .any(|library| name.starts_with(library))
        || name.starts_with("drop_in_place")
        || name.starts_with("drop_glue")
}
