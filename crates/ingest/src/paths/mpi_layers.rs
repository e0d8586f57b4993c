//! Calls of MPI that a layer for a language makes for the program: Fortran's and C++'s of the libraries, and
//! Python's. A user wants to know where the program called, which is the frame above the layer's.

use proust_log::operations::{Family, Operation};

use super::{CallPaths, Paths};
use crate::nodes::NodeTable;
use crate::thread::Place;

/// How the files' names begin: Open MPI's layers for Fortran and C++, MPICH's and those of its family, and
/// mpi4py.
const LAYERS: [&str; 9] = [
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

fn is_of_mpi(operation: usize) -> bool {
    let operation = u16::try_from(operation).ok().and_then(Operation::from_number);
    operation.is_some_and(|operation| operation.family() == Family::Mpi)
}

impl Paths<'_> {
    /// Where the program made a call of the operation with this number in the log, by the place that did.
    pub(crate) fn place_of_call(
        &self,
        log: usize,
        nodes: &mut NodeTable,
        operation: usize,
        place: Place,
    ) -> Place {
        if self.mpi_layers.is_empty() || self.shown != CallPaths::User || !is_of_mpi(operation) {
            return place;
        }
        let inside = nodes.in_regions.get(place);
        let called = inside.map_or(place, |inside| inside.node);
        let mut at = called;
        while let Some(node) = nodes.get(at)
            && node.parent != 0
            && self.modules.module(log, node.module).is_some_and(|module| self.mpi_layers.contains(&module))
        {
            at = node.parent;
        }
        match inside {
            Some(inside) if at != called => {
                nodes.in_regions.place(at, (inside.region, inside.interval), inside.keeps_entry)
            }
            Some(_) => place,
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_layer;

    #[test]
    fn layers_are_not_what_they_call() {
        let layers =
            ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpichfort.so.12", "MPI.cpython-311.so"];
        assert!(layers.iter().all(|file| is_layer(file)));
        let others = ["libmpi.so.40", "libmpich.so.12", "libmpiwrapper.so", "solver"];
        assert!(!others.iter().any(|file| is_layer(file)));
    }
}
