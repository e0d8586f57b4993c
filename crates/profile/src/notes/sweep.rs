//! What `sweep` noted of its runs.

crate::notes! {
    /// What a reader must know of the runs of a sweep.
    pub enum SweepFileNote {
        /// Runs were made on unlike machines, or with another binding.
        MadeElsewhere "made-elsewhere" Caution {
            /// Host of the first runs.
            first_host: String,
            /// Processors that these had.
            first_processors: u32,
            /// Host of later ones.
            host: String,
            /// Processors that these had.
            processors: u32,
        }
        /// Runs recorded one by one were made on unlike hosts.
        OtherHosts "other-hosts" Caution {
            /// Host of a run.
            host_a: String,
            /// Host of another.
            host_b: String,
        }
        /// The commands of runs recorded one by one differ in more than the count.
        OtherCommands "other-commands" Caution {
            /// Command of a run.
            command_a: String,
            /// Its name.
            run_a: String,
            /// Command of another.
            command_b: String,
            /// Its name.
            run_b: String,
        }
        /// A variable of the environment is set by each run.
        VariableOverridden "variable-overridden" Note {
            /// Its name.
            variable: String,
            /// The user's value.
            value: String,
        }
        /// The environment allows fewer threads than some runs are to have.
        ThreadLimit "thread-limit" Caution {
            /// The limit.
            limit: String,
            /// Most threads that are asked for.
            most: u32,
        }
        /// The runtime may use fewer threads than asked for.
        DynamicThreads "dynamic-threads" Caution {}
    }
}
