//! I/O: functions that move bytes, and functions that open, close and sync files.
//!
//! Each call is one operation with its descriptor, what that leads to, bytes and error. Calls that the C
//! library makes inside one of its own functions do not pass through here: a stream's calls are those of the
//! program, not those of its buffer. Formatted printing and reading have a variable number of arguments; they
//! are passed on as a `va_list`.

pub mod bracket;
pub mod buffered;
pub mod characters;
pub mod descriptors;
pub mod duplicates;
pub mod files;
pub mod folders;
pub mod formats;
pub mod lines;
pub mod sockets;
pub mod stream;
pub mod streams;
pub mod transfers;
pub mod variadic;
