//! I/O: what moves bytes, and what opens, closes and settles files.
//!
//! Each call is one operation with its descriptor, what that leads to, bytes and error. What the C library
//! does inside one of its own functions does not pass through here: a stream's calls are those of the
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
