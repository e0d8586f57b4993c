//! The rows of the table of operations. Every operation belongs to exactly one of them.

/// Declares the rows with their identifiers and the names under which they are printed.
macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $id:literal $name:literal;)*) => {
        /// A kind of operation in which processors exchange data or wait for one another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operation { $($(#[$doc])* $variant,)* }

        impl Operation {
            /// All of them, in the order in which they are printed.
            pub const ALL: &'static [Operation] = &[$(Operation::$variant),*];

            /// The stable identifier.
            pub const fn id(self) -> &'static str {
                match self { $(Operation::$variant => $id,)* }
            }

            /// The name under which it is printed: that of 1998 where the row is as old.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name,)* }
            }
        }
    };
}

operations! {
    /// Begin of a reduction: Reduce, Allreduce, Scan; of one that does not wait, its first half.
    StartReduction "start_reduction" "Start_reduction";
    /// The wait for a reduction that was begun before.
    WaitReduction "wait_reduction" "Wait_reduction";
    /// Begin of a renewal of shadow edges: a group of Isend and Irecv, Sendrecv, neighbourhood collectives.
    StartShadow "start_shadow" "Start_shadow";
    /// The Wait that ends such a group.
    WaitShadow "wait_shadow" "Wait_shadow";
    /// One-sided access to the data of another rank.
    RemoteAccess "remote_access" "Remote_access";
    /// All data change their places: Alltoall, Gather, Scatter, Allgather.
    Redistribution "redistribution" "Redistribution";
    /// Input and output; its communication is what hands on the data.
    Io "io" "I/O";
    /// A barrier of ranks.
    Barrier "barrier" "Barrier";
    /// One rank hands data to all.
    Broadcast "broadcast" "Broadcast";
    /// Messages between two ranks that belong to no group.
    PointToPoint "point_to_point" "Point_to_point";
    /// MPI_Init and MPI_Finalize.
    Startup "startup" "Startup";
    /// Every other call of MPI.
    Other "other" "Other";
    /// A barrier inside of a parallel region, written or implied by the end of a loop.
    TeamBarrier "team_barrier" "Team_barrier";
    /// The barrier at the end of a parallel region, and the join of threads.
    RegionEnd "region_end" "Region_end";
    /// A reduction over the threads of a team.
    TeamReduction "team_reduction" "Team_reduction";
    /// The wait for the value that the thread of a `single` hands on.
    Single "single" "Single";
    /// The wait for tasks.
    TaskWait "task_wait" "Task_wait";
    /// A critical section, or an atomic update that takes a lock.
    Critical "critical" "Critical";
    /// A section in the order of the iterations, and a wait for an earlier iteration.
    Ordered "ordered" "Ordered";
    /// A lock: a mutex, a spin lock, a reader-writer lock, a lock of OpenMP.
    Lock "lock" "Lock";
    /// Fork, scheduling and tasking inside of the parallel runtime.
    Runtime "runtime" "Runtime";
}

impl Operation {
    /// The row of this identifier.
    pub fn from_id(id: &str) -> Option<Operation> {
        Operation::ALL.iter().copied().find(|operation| operation.id() == id)
    }

    /// The row that is printed under this name.
    pub fn from_name(name: &str) -> Option<Operation> {
        Operation::ALL.iter().copied().find(|operation| operation.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_names_lead_back() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::from_id(operation.id()), Some(operation));
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
            assert!(!operation.name().contains(' '), "a name is one word of the printed table");
        }
    }
}
