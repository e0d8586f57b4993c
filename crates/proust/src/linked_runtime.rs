//! Runtimes of OpenMP that are linked into a program: its calls stay inside of it, so they cannot be
//! intercepted.

use proust_profile::notes::RunNote;
use std::path::Path;

use crate::symbol_table::each_name;

/// Whose runtime it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkedRuntime {
    /// libgomp: regions are not seen.
    Gcc,
    /// libomp or libiomp5: it reports to tools, if it finds them.
    Llvm,
}

/// A function that each runtime has.
const KNOWN: [(&[u8], LinkedRuntime); 2] =
    [(b"__kmpc_fork_call", LinkedRuntime::Llvm), (b"GOMP_parallel", LinkedRuntime::Gcc)];

impl LinkedRuntime {
    /// Looks into a program file; None if there is none, or the file has no names.
    pub fn of(path: &Path) -> Option<LinkedRuntime> {
        let mut found = [false; KNOWN.len()];
        each_name(path, |name| {
            if name.is_defined
                && let Some(at) = KNOWN.iter().position(|(known, _)| name.is(known))
            {
                found[at] = true;
            }
        })?;
        // LLVM's has the names of GCC's, too.
        KNOWN.iter().zip(found).find(|(_, found)| *found).map(|((_, runtime), _)| *runtime)
    }
}

impl LinkedRuntime {
    /// What a reader of the run must know.
    pub fn note(self) -> RunNote {
        RunNote::RuntimeLinkedIn { is_llvm: matches!(self, LinkedRuntime::Llvm) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_program_has_none() {
        assert_eq!(LinkedRuntime::of(&std::env::current_exe().unwrap()), None);
        assert_eq!(LinkedRuntime::of(Path::new("/no/such/file")), None);
    }
}
