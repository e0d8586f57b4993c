//! Where CPython keeps what a path needs, by version: for each, the offsets that its headers give
//! (`pystate.h`, `frameobject.h`, `code.h`, and those of `internal/`) on a machine of 64 bits.

/// How frames follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// The thread's innermost frame, each with the one above; an evaluation for each of them.
    Frames {
        /// The innermost frame, in the thread's state.
        innermost: u64,
    },
    /// Likewise, and each evaluation has an entry of a second list on the native stack.
    FramesAndMarkers {
        /// The innermost frame, in the thread's state.
        innermost: u64,
        /// The innermost entry.
        marker: u64,
        /// The entry above, in an entry.
        above: u64,
        /// The outermost entry, which is in the thread's state and of no evaluation.
        root: u64,
    },
    /// Each evaluation has an entry on the native stack, with the innermost of its frames.
    MarkersWithFrames {
        /// The innermost entry, in the thread's state.
        marker: u64,
        /// Its frame.
        frame: u64,
        /// The entry above.
        above: u64,
        /// The outermost entry, which is in the thread's state and of no evaluation.
        root: u64,
        /// The outermost frame of an evaluation has such a byte.
        last: Last,
    },
    /// The thread's innermost frame; above the outermost one of each evaluation stands one that lies on the
    /// native stack.
    FramesWithMarkers {
        /// The innermost frame, in the thread's state.
        innermost: u64,
        /// How those on the native stack are known.
        last: Last,
    },
}

/// A byte of a frame by which the end of an evaluation's frames is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It is not zero in the evaluation's outermost frame.
    NotZero(u64),
    /// It has this value in a frame behind that, which is no function's.
    Behind(u64, u8),
}

/// The place of a frame's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A signed 32-bit number, of units of so many bytes.
    Number {
        /// Where it stands.
        at: u64,
        /// Bytes of a unit.
        unit: u32,
    },
    /// A pointer.
    Pointer {
        /// Where it stands.
        at: u64,
        /// Where instructions begin in the code object.
        begin: u64,
    },
}

/// The layout of one version.
#[derive(Debug)]
pub struct Layout {
    /// Minor version: 11 of Python 3.11.
    pub minor: u8,
    /// The list of frames.
    pub chain: Chain,
    /// Of a frame: the one above it.
    pub previous: u64,
    /// Of a frame: its code object. The lowest bits of what stands there may say how it is counted (3.14).
    pub code: u64,
    /// Of a frame: where it executes.
    pub instruction: Instruction,
    /// Of a code object: its first line, 32 bits.
    pub first_line: u64,
    /// Of a code object: its name, qualified where it knows that.
    pub name: u64,
    /// Of a code object: its file.
    pub file: u64,
    /// Of a code object: its table of lines.
    pub lines: u64,
    /// Of a string of ASCII: where its characters begin.
    pub ascii: u64,
    /// Of another string: where its characters begin.
    pub other: u64,
}

impl Layout {
    /// Whether evaluations are known by addresses on the native stack.
    pub fn has_markers(&self) -> bool {
        !matches!(self.chain, Chain::Frames { .. })
    }

    /// The layout of Python 3.`minor`.
    pub fn of(minor: u8) -> Option<&'static Layout> {
        LAYOUTS.iter().find(|layout| layout.minor == minor)
    }
}

/// The lowest bits of a reference to an object are not of its address.
pub const ADDRESS: u64 = !7;
/// Of any object: its type.
pub const TYPE: u64 = 8;
/// Of any object with a length: that.
pub const LENGTH: u64 = 16;
/// Of a string: bits that say what it consists of.
pub const STATE: u64 = 32;
/// Of bytes: where they begin.
pub const BYTES: u64 = 32;

const NINE: Layout = Layout {
    minor: 9,
    chain: Chain::Frames { innermost: 24 },
    previous: 24,
    code: 32,
    instruction: Instruction::Number { at: 104, unit: 1 },
    first_line: 40,
    name: 112,
    file: 104,
    lines: 120,
    ascii: 48,
    other: 72,
};

const TWELVE: Layout = Layout {
    minor: 12,
    chain: Chain::MarkersWithFrames { marker: 56, frame: 0, above: 8, root: 272, last: Last::Behind(70, 3) },
    previous: 8,
    code: 0,
    instruction: Instruction::Pointer { at: 56, begin: 192 },
    first_line: 68,
    name: 128,
    file: 112,
    lines: 136,
    ascii: 40,
    other: 56,
};

const FOURTEEN: Layout = Layout {
    minor: 14,
    chain: Chain::FramesWithMarkers { innermost: 72, last: Last::Behind(74, 3) },
    instruction: Instruction::Pointer { at: 56, begin: 208 },
    ..TWELVE
};

static LAYOUTS: [Layout; 8] = [
    Layout { minor: 8, ..NINE },
    NINE,
    Layout {
        minor: 10,
        chain: Chain::FramesAndMarkers { innermost: 24, marker: 48, above: 8, root: 264 },
        instruction: Instruction::Number { at: 96, unit: 2 },
        ..NINE
    },
    Layout {
        minor: 11,
        chain: Chain::MarkersWithFrames {
            marker: 56,
            frame: 8,
            above: 16,
            root: 336,
            last: Last::NotZero(68),
        },
        previous: 48,
        code: 32,
        instruction: Instruction::Pointer { at: 56, begin: 184 },
        first_line: 72,
        name: 128,
        file: 112,
        lines: 136,
        ascii: 48,
        other: 72,
    },
    TWELVE,
    Layout {
        minor: 13,
        chain: Chain::FramesWithMarkers { innermost: 72, last: Last::Behind(70, 3) },
        instruction: Instruction::Pointer { at: 56, begin: 200 },
        ..TWELVE
    },
    FOURTEEN,
    Layout { minor: 15, ..FOURTEEN },
];
