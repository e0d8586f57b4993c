//! Calls of MPI that a layer for a language makes for the program: those for Fortran, C++, Rust and Python. A
//! user wants to know where the program called, which is above the layer's frames.

use proust_log::operations::{Family, Operation};
use proust_profile::{Context, ContextId, ContextKind, Function, FunctionId};

use super::entrances::{is_of_crate, is_standard, type_of_rust};
use super::{CallPaths, Key, Line, Paths};

/// How the files' names begin: Open MPI's layers for Fortran and C++, MPICH's and those of its family,
/// Boost.MPI, and mpi4py.
const LAYERS: [&str; 10] = [
    "libboost_mpi",
    "libmpi_cxx",
    "libmpi_mpifh",
    "libmpi_usempi",
    "libmpichcxx",
    "libmpichfort",
    "libmpicxx",
    "libmpifort",
    "MPI.abi3",
    "MPI.cpython",
];

/// Whether a module of this name is one.
pub(super) fn is_layer(file: &str) -> bool {
    LAYERS.iter().any(|layer| file.starts_with(layer))
}

/// What a function of the program is in a layer, of which it has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InLayer {
    /// One of its functions.
    Part,
    /// Of a library of generic functions: what it calls belongs to what calls it.
    Between,
    No,
}

/// Begin of the folder of the crate `mpi`; the version follows.
const CRATES: [&str; 1] = ["/mpi-"];

/// By name and file: the C++ bindings that MPI 3 removed, in Open MPI's `comm_inln.h` and its like or MPICH's
/// `mpicxx.h`; Boost.MPI; Rust's crate `mpi`.
fn in_layer(name: &str, file: &str) -> InLayer {
    let is_binding = || file.ends_with("_inln.h") || file.ends_with("/mpicxx.h");
    let is_of_cpp = name.starts_with("boost::mpi::") || (name.starts_with("MPI::") && is_binding());
    let has_name_of_rust = || type_of_rust(name).starts_with("mpi::") || name.contains(" as mpi::");
    let is_of_rust = is_of_crate(file, &CRATES) || (file.ends_with(".rs") && has_name_of_rust());
    if is_of_cpp || is_of_rust {
        InLayer::Part
    } else if is_standard(name, file) || name.starts_with("boost::") {
        InLayer::Between
    } else {
        InLayer::No
    }
}

fn is_of_mpi(operation: usize) -> bool {
    let operation = u16::try_from(operation).ok().and_then(Operation::from_number);
    operation.is_some_and(|operation| operation.family() == Family::Mpi)
}

/// Where the program called, by the context in which a layer did. [`UNKNOWN`] = not looked for yet.
#[derive(Debug, Default)]
pub(super) struct Callers(Vec<ContextId>);

const UNKNOWN: ContextId = ContextId(u32::MAX);

impl Paths<'_> {
    /// Where the program made a call of the operation with this number in the log, by the context in which
    /// the call was made.
    pub(crate) fn context_of_call(&mut self, operation: usize, context: ContextId) -> ContextId {
        if self.shown != CallPaths::User || !is_of_mpi(operation) {
            return context;
        }
        let known = self.callers.0.get(context.index()).copied().unwrap_or(UNKNOWN);
        if known != UNKNOWN {
            return known;
        }
        let caller = self.above_layers(context).unwrap_or(context);
        if self.callers.0.len() <= context.index() {
            self.callers.0.resize(self.contexts.len(), UNKNOWN);
        }
        self.callers.0[context.index()] = caller;
        caller
    }

    /// The place that called the outermost of the layer's frames that end a path; None if none does, or if
    /// nothing above them is known.
    fn above_layers(&mut self, context: ContextId) -> Option<ContextId> {
        let (mut at, mut called) = (context, None);
        while let Some(one) = self.contexts.get(at.index())
            && let (Some(parent), Some(function)) = (one.parent, one.function)
        {
            let is_frame = matches!(one.kind, ContextKind::Frame | ContextKind::Inline);
            if !is_frame && one.kind != ContextKind::Line {
                break;
            }
            match self.role_in_layer(function) {
                InLayer::Part if is_frame => called = Some((parent, one)),
                InLayer::Part | InLayer::Between => {}
                InLayer::No => break,
            }
            at = parent;
        }
        let (parent, Context { file, line, .. }) = called?;
        let function = self.function_around(parent)?;
        let (file, line) = (file.clone(), *line);
        if line.is_none() {
            return Some(parent);
        }
        let file = file.map(|file| self.file(&file));
        let kind = ContextKind::Line;
        Some(self.context(Key { parent, kind, function: Some(function), at: Line { file, line } }))
    }

    fn role_in_layer(&self, function: FunctionId) -> InLayer {
        let Some(Function { name, file, module, .. }) = self.functions.get(function.index()) else {
            return InLayer::No;
        };
        if module.is_some_and(|module| self.mpi_layers.contains(&module)) {
            return InLayer::Part;
        }
        in_layer(name, file.as_deref().unwrap_or(""))
    }

    /// The function in which a context lies.
    fn function_around(&self, context: ContextId) -> Option<FunctionId> {
        let mut at = Some(context);
        while let Some(one) = at.and_then(|at| self.contexts.get(at.index())) {
            if matches!(one.kind, ContextKind::Frame | ContextKind::Inline) {
                return one.function;
            }
            at = one.parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{InLayer, in_layer, is_layer};

    #[test]
    fn layers_are_not_what_they_call() {
        let layers =
            ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpichfort.so.12", "MPI.cpython-311.so"];
        assert!(layers.iter().all(|file| is_layer(file)));
        let others = ["libmpi.so.40", "libmpich.so.12", "libmpiwrapper.so", "solver"];
        assert!(!others.iter().any(|file| is_layer(file)));
    }

    #[test]
    fn functions_of_a_layers_headers_are_not_the_programs() {
        let headers = "/usr/lib/x86_64-linux-gnu/openmpi/include/openmpi/ompi/mpi/cxx";
        for (name, file) in [
            ("MPI::Comm::Sendrecv", format!("{headers}/comm_inln.h")),
            ("MPI::Request::Waitall", "/usr/include/x86_64-linux-gnu/mpich/mpicxx.h".into()),
            ("boost::mpi::communicator::send<double>", "/usr/include/boost/mpi/communicator.hpp".into()),
        ] {
            assert_eq!(in_layer(name, &file), InLayer::Part, "{name}");
        }
        let crates = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        for (name, file) in [
            ("mpi::request::Request::wait_with", format!("{crates}/mpi-0.8.2/src/request.rs")),
            // Debug information with lines only has no paths.
            ("receive_with_tag::{{closure}}", format!("{crates}/mpi-0.8.2/src/point_to_point.rs")),
            ("<mpi::environment::Universe as core::ops::drop::Drop>::drop", "vendor/mpi/src/lib.rs".into()),
            ("<Rank as mpi::point_to_point::Destination>::send", "vendor/mpi/src/lib.rs".into()),
        ] {
            assert_eq!(in_layer(name, &file), InLayer::Part, "{name}");
        }
        // A vector of Boost.MPI's buffers allocates by MPI.
        let grown = "std::vector<char, boost::mpi::allocator<char>>::_M_default_append";
        assert_eq!(in_layer(grown, "/usr/include/c++/12/bits/vector.tcc"), InLayer::Between);
        // A program may have names of its own.
        for (name, file) in [
            ("MPI::Solver::step", "/home/me/solver.cpp"),
            ("MPIX::send", "/usr/include/mpich/mpicxx.h"),
            ("mpi::exchange", "/home/me/wrappers.cpp"),
            ("mpi_solver::exchange", "/home/me/.cargo/registry/src/index/mpi-solver-0.1.0/src/lib.rs"),
        ] {
            assert_eq!(in_layer(name, file), InLayer::No, "{name}");
        }
    }
}
