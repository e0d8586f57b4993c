//! The characteristics: their identifiers, and the names under which the analyzer of 1998 prints them.

/// Declares the characteristics with identifiers and names.
macro_rules! characteristics {
    ($($(#[$doc:meta])* $variant:ident $id:literal $name:literal;)*) => {
        /// A characteristic of an interval, or of a processor in it. [`crate::dvm`] has the formulas.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Characteristic { $($(#[$doc])* $variant,)* }

        impl Characteristic {
            /// All of them.
            pub const ALL: &'static [Characteristic] = &[$(Characteristic::$variant),*];

            /// The stable identifier, of times without their unit.
            pub const fn id(self) -> &'static str {
                match self { $(Characteristic::$variant => $id,)* }
            }

            /// The name under which it is printed.
            pub const fn name(self) -> &'static str {
                match self { $(Characteristic::$variant => $name,)* }
            }
        }
    };
}

characteristics! {
    /// Productive time ÷ total time.
    Efficiency "efficiency" "Efficiency";
    /// Of the processor that takes longest.
    ExecutionTime "execution_time" "Execution_time";
    /// How many.
    Processors "processors" "Processors";
    /// Processors × execution time.
    TotalTime "total_time" "Total_time";
    /// CPU time that is no repetition, and I/O: the forecast of the time on one processor.
    ProductiveTime "productive_time" "Productive_time";
    /// CPU time that is no repetition.
    ProductiveCpuTime "productive_cpu_time" "Productive_CPU_time";
    /// In I/O.
    IoTime "io_time" "I/O_time";
    /// Total time without the productive.
    LostTime "lost_time" "Lost_time";
    /// Repeated on several processors, or done without some.
    InsufficientParallelism "insufficient_parallelism" "Insufficient_parallelism";
    /// The same in sequential parts.
    InsufficientParallelismSeq "insufficient_parallelism_seq" "Insufficient_parallelism_Seq";
    /// The same in parallel parts.
    InsufficientParallelismPar "insufficient_parallelism_par" "Insufficient_parallelism_Par";
    /// In operations.
    Communication "communication" "Communication";
    /// After the end of the interval on this processor, until its end on the last.
    Idle "idle" "Idle";
    /// User code.
    CpuTime "cpu_time" "CPU_time";
    /// User code in sequential parts.
    CpuTimeSeq "cpu_time_seq" "CPU_time_Seq";
    /// User code in parallel parts.
    CpuTimePar "cpu_time_par" "CPU_time_Par";
    /// The part of CPU time in which the thread slept, or waited for the outside.
    CpuTimePassive "cpu_time_passive" "CPU_time_passive";
    /// The interval ran without this processor.
    AbsentTime "absent_time" "Absent_time";
    /// Potential waits for a common begin of operations.
    Synchronization "synchronization" "Synchronization";
    /// Spread of the ends of operations.
    TimeVariation "time_variation" "Time_variation";
    /// Computation beside exchanges.
    Overlap "overlap" "Overlap";
    /// What the processor with the most work does more.
    LoadImbalance "load_imbalance" "Load_Imbalance";
    /// Iterations of parallel loops.
    Iterations "iterations" "Parallel_loop_iteration";
}

impl Characteristic {
    /// The characteristic of this identifier.
    pub fn from_id(id: &str) -> Option<Characteristic> {
        Characteristic::ALL.iter().copied().find(|of| of.id() == id)
    }

    /// The characteristic that is printed under this name.
    pub fn from_name(name: &str) -> Option<Characteristic> {
        Characteristic::ALL.iter().copied().find(|of| of.name() == name)
    }

    /// Whether it is a time, in nanoseconds.
    pub const fn is_time(self) -> bool {
        !matches!(self, Characteristic::Efficiency | Characteristic::Processors | Characteristic::Iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_names_lead_back() {
        for &of in Characteristic::ALL {
            assert_eq!(Characteristic::from_id(of.id()), Some(of));
            assert_eq!(Characteristic::from_name(of.name()), Some(of));
        }
    }
}
