//! The performance characteristics of the DVM system's analyzer (1998), and those of the analyzer of MPI
//! traces that was built on the same method: pure functions from what each processor spent to every number
//! that the two analyzers print.
//!
//! - [`terms`]: what a processor spent in an interval, and in which operations; the input
//! - [`operation`]: the rows of the table of operations
//! - [`name`]: the characteristics, their names and identifiers
//! - [`comparative`]: least, most and mean over the processors
//! - [`dvm`]: all characteristics of an interval
//! - [`pop`]: the efficiencies of the POP model, and the identity that links them to DVM's
//! - [`advice`]: how to read them, decision by decision
//! - [`mpi`]: the characteristics of the analyzer of MPI traces
//!
//! A term without a source is `None`, and what follows from it alone is `None`, too: not known, and never 0.
//! Times are whole nanoseconds, so that sums are exact in any order.
//!
//! This crate is not for programs, traces or text: it knows processors by their position only.
//!
//! ```
//! use proust_characteristics::dvm::Interval;
//! use proust_characteristics::operation::Operation;
//! use proust_characteristics::terms::{OperationTerms, Processor};
//!
//! // One of two threads computes alone for 4 s; then both compute, one for 6 s, and the other for 5 s.
//! let barrier = |ns| {
//!     let terms = OperationTerms { communication_ns: Some(ns), ..OperationTerms::default() };
//!     [(Operation::TeamBarrier, terms)].into()
//! };
//! let first = Processor { cpu_ns: 10, cpu_seq_ns: Some(4), operations: barrier(0), ..Processor::default() };
//! let second = Processor {
//!     cpu_ns: 5,
//!     cpu_seq_ns: Some(0),
//!     absent_seq_ns: Some(4),
//!     operations: barrier(1),
//!     ..Processor::default()
//! };
//! let interval = Interval::of(&[first, second]).unwrap();
//! assert_eq!((interval.total_ns, interval.productive_ns, interval.lost_ns), (20, 15, 5));
//! assert_eq!((interval.insufficient_ns, interval.communication_ns), (Some(4), Some(1)));
//! ```

pub mod advice;
pub mod comparative;
pub mod dvm;
pub mod mpi;
pub mod name;
pub mod operation;
pub mod pop;
pub mod terms;
