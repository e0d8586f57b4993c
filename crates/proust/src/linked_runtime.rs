//! Runtimes of OpenMP that are linked into a program: its calls stay inside of it, so they cannot be
//! intercepted.

use std::fmt;
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

impl fmt::Display for LinkedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkedRuntime::Gcc => {
                "GCC's runtime of OpenMP is linked into the program: its parallel regions are not seen, \
                 its threads are shown as any others; link it dynamically (without -static-libgomp or \
                 -l:libgomp.a)"
            }
            LinkedRuntime::Llvm => {
                "LLVM's runtime of OpenMP is linked into the program: its parallel regions are seen only \
                 if it was built to ask for tools; link it dynamically where there are none"
            }
        })
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
