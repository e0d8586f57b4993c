//! Proust's collector: the library that `proust record` preloads into the measured program.
//!
//! It samples every thread by its CPU clock, unwinds in the signal handler, and writes what it finds through
//! shared memory into the process's log. The program has priority: the collector never allocates from its
//! heap, never blocks it, never changes its results, keeps its `errno`, and switches itself off where it
//! cannot work.
//!
//! A sample's way: [`sample::handler`] → [`path::memo`] → [`path::tree`] → [`lane`] → [`logfile`].
//!
//! - [`life`]: off → on → ended, and the facts of the process
//! - [`control`]: recording pauses, resumes, or ends while the program runs
//! - [`options`], [`logfile`], [`lane`]: the run's options, its log, one thread's record
//! - [`thread`], [`process`]: begin and end of threads; fork, exec, exit
//! - [`source`]: the sources that are measured, and when each is asked
//! - [`operation`]: a thread's time inside a hooked function
//! - [`hooks`]: the functions that the program calls instead of the C library's
//! - [`interpose`]: which functions these are, as data, and how the real ones are found
//! - [`mpi`]: calls of MPI, whatever library the program has
//! - [`marks`]: intervals that the program names, and its requests to the recording
//! - [`openmp`]: parallel regions, by interception or as the runtime reports them
//! - [`real`]: the functions behind the hooks
//! - [`room`]: a stack to work on where the thread's own has little room
//! - `other_homes`: parts of the library's needs that other roots lack
//! - [`arch`]: all that knows the processor
//! - [`raw`], [`clock`], [`arena`]: system calls, clocks and memory that belong to the collector alone

pub mod arch;
pub mod arena;
pub mod brief;
pub mod clock;
pub mod control;
pub mod facts;
pub mod free_list;
pub mod hooks;
pub mod interpose;
pub mod lane;
pub mod launcher;
pub mod life;
pub mod logfile;
pub mod marks;
pub mod mpi;
pub mod openmp;
pub mod operation;
pub mod options;
#[cfg(not(test))]
mod other_homes;
pub mod path;
pub mod placement;
pub mod process;
pub mod raw;
pub mod real;
pub mod room;
pub mod sample;
pub mod single_threaded;
pub mod source;
pub mod sync;
pub mod thread;
pub mod time_namespace;
pub mod turn;
