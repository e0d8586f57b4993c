//! Whole modules, built here with the machine's compilers, through the public interface.

mod atomics;
mod build;
mod c_programs;
mod cache;
mod cpp_programs;
mod damage;
mod fortran_programs;
mod labels;
mod own_executable;
mod replaced;
mod stripped;
mod system_library;
mod waiting_loops;
