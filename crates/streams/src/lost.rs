//! What could not be read, as data.

use crate::record::{Kind, Location};

/// Blocks of a stream that could not be read. What their records say of the time between `from_ns` and
/// `to_ns` is not known; it is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Of which kind.
    pub kind: Kind,
    /// Whose.
    pub location: Location,
    /// The first block's number in the stream.
    pub sequence: u32,
    /// How many blocks.
    pub blocks: u32,
    /// The lost records end at this time or later, ns.
    pub from_ns: u64,
    /// The lost records end at this time or earlier, ns. [`u64::MAX`] where that is not known.
    pub to_ns: u64,
    /// Why.
    pub fault: Fault,
}

/// Why a block could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its number is not in the file.
    Missing,
    /// Its check does not agree with its bytes.
    Check,
    /// It is intact and another block than the index says.
    Differs,
    /// It is of another version of its kind.
    Version {
        /// The block's version.
        found: u8,
        /// The version that is read here.
        expected: u8,
    },
    /// Its check agrees, and its contents contradict each other.
    Contradiction,
    /// Its records lie before those of an earlier block.
    OutOfOrder,
    /// The system reported an error.
    System(String),
}

/// What opening a file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It has no footer, since its writer did not finish it: it was scanned.
    Unfinished,
    /// Its footer is damaged: it was scanned.
    DamagedFooter,
    /// Its first bytes are damaged; its blocks were looked for nevertheless.
    DamagedHeader,
    /// Bytes that belong to no intact block.
    Skipped {
        /// From where in the file.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Blocks that are not there, or not where they should be.
    Lost(Lost),
}
