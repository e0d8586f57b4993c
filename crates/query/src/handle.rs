//! Short names of rows, which other pages and commands accept: `c12`, `f7`, `t3`, `p0`, `k1`, `L1`.

use std::fmt;

use proust_profile::{ContextId, FunctionId, LocationId, ProcessId};

use proust_account::blame::LockId;

/// A row's short name: one letter for the kind and its number in the profile. It stays the same from page to
/// page of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// `c12`: a context.
    Context(ContextId),
    /// `f7`: a function.
    Function(FunctionId),
    /// `t3`: a location, that is a thread.
    Location(LocationId),
    /// `p0`: a process image.
    Process(ProcessId),
    /// `k1`: a lock.
    Lock(LockId),
    /// `L1`: a finding, by its rank: the first is 1.
    Finding(u32),
}

impl Handle {
    /// The handle written so, if it is one.
    pub fn parse(text: &str) -> Option<Handle> {
        let number = text.get(1..)?;
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number: u32 = number.parse().ok()?;
        match text.as_bytes()[0] {
            b'c' => Some(Handle::Context(ContextId(number))),
            b'f' => Some(Handle::Function(FunctionId(number))),
            b't' => Some(Handle::Location(LocationId(number))),
            b'p' => Some(Handle::Process(ProcessId(number))),
            b'k' => Some(Handle::Lock(number)),
            b'L' => Some(Handle::Finding(number)),
            _ => None,
        }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Handle::Context(id) => format!("c{id}"),
            Handle::Function(id) => format!("f{id}"),
            Handle::Location(id) => format!("t{id}"),
            Handle::Process(id) => format!("p{id}"),
            Handle::Lock(id) => format!("k{id}"),
            Handle::Finding(rank) => format!("L{rank}"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_round_trip() {
        for text in ["c0", "f7", "t12", "p3", "k1", "L1"] {
            assert_eq!(Handle::parse(text).map(|handle| handle.to_string()).as_deref(), Some(text));
        }
        for text in ["", "c", "x1", "c1a", "compute", "é1", "c99999999999"] {
            assert_eq!(Handle::parse(text), None, "{text}");
        }
    }
}
