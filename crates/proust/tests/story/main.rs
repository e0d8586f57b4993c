//! What a user does with Proust, from the command line to the numbers, on programs that know the truth about
//! themselves (`programs/` in the repository).
//!
//! The harness: [`programs`] builds them, [`command`] runs a command with a deadline, [`recording`] records
//! one and asks for its pages, [`pages`] holds the JSON contract, [`chance`] says how far samples may be from
//! the truth, [`waited`] compares waits, [`explained`] holds every recording of every story to account. The
//! other modules are the stories. Shares and ratios are compared, never absolute times: the machine may be
//! loaded.

mod chance;
mod command;
mod explained;
mod pages;
mod programs;
mod real_time;
mod recording;
mod waited;

mod agreement;
mod binaries;
mod blame;
mod budget;
mod callers;
mod characteristics;
mod children;
mod clocks;
mod comparisons;
mod damaged_runs;
mod doctor;
mod endings;
mod everyday;
mod exceptions;
mod findings;
mod findings_suite;
mod foreign_marks;
mod forks;
mod fortran;
mod hooked;
mod hostile_arguments;
mod hostile_data;
mod hostile_modules;
mod hostile_waits;
mod interruptions;
mod io;
mod jumps;
mod kernel_time;
mod launchers;
mod limits;
mod marks;
mod memo;
mod one_by_one;
mod openmp;
mod openmp_efficiency;
mod openmp_fine;
mod openmp_hostile;
mod openmp_intel;
mod openmp_often;
mod openmp_paths;
mod openmp_runtimes;
mod openmp_tools;
mod other_homes;
mod out_of_memory;
mod own_time;
mod pauses;
mod phases;
mod plugins;
mod process_numbers;
mod process_samples;
mod processes;
mod programs_of_the_ledger;
mod python_packages;
mod queries;
mod rayon_pool;
mod recursion;
mod refusals;
mod resident;
mod scaling;
mod semantics;
mod services;
mod shares;
mod signals;
mod slow_storage;
mod stacks;
mod states;
mod stopped;
mod storage;
mod streams;
mod sweeps;
mod terminal;
mod threads;
mod time_ranges;
mod traced;
mod waits;
mod word_size;
mod zoo;
