//! The measurement log: the files on disk after a run.
//!
//! Each measured process writes one log file, but a forked child that records nothing. It is written through
//! a shared memory mapping by code that may run in signal handlers, and is complete up to the last record at
//! every instant, so that a process ended by SIGKILL loses nothing that was recorded.
//!
//! ```text
//! file   = FileHeader (4096 bytes) , chunk 0 , chunk 1 , …
//! chunk  = ChunkHeader , [LaneHeader, in the first chunk of a lane] , record , … , zeros  (4 to 64 KiB)
//!        | ChunkHeader , slots of forked children that have no log of their own              (4 to 64 KiB)
//! record = Head { kind, length, check, … } , body          (8-byte aligned, at most 2040 bytes)
//! ```
//!
//! A *lane* is a sequence of chunks that one live thread owns. When the thread ends, the next thread of the
//! process continues in the same lane: a program with 10⁵ short threads needs as many lanes as threads
//! lived at once. A lane's context nodes stay valid for all its threads.
//!
//! Much that threads do again and again differs in its times only. Such records have a short form
//! ([`records::Short`]) that refers to what was written before ([`records::Shape`], [`records::Base`]).
//!
//! Addresses: an *AVMA* (actual virtual memory address) is an address in the measured process; an *SVMA*
//! (stated virtual memory address) is the one the ELF file states; `AVMA = SVMA + load bias`.
//!
//! - [`layout`]: the file, chunk and lane headers
//! - [`children`]: slots of forked children in their parent's log
//! - [`records`]: the records and their check
//! - [`code`]: what interpreters execute
//! - [`operations`]: the intercepted operations and their numbers
//! - [`control`]: the page through which `record` and all processes of a run agree
//! - [`shapes`]: the shapes that a lane's writer has written
//! - [`writer`]: appends records to a mapped lane; usable in signal handlers
//! - [`reader`]: validates and yields what is intact, whatever happened to the file
//!
//! The writer must be on the same kind of machine (byte order) as the file says; the reader refuses others.

pub mod children;
pub mod code;
pub mod control;
pub mod layout;
pub mod operations;
pub mod reader;
pub mod records;
pub mod shapes;
pub mod writer;

pub use reader::{Damage, Log, LogError, Record};
