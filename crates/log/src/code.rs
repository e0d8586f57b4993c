//! The text of a code object ([`crate::records::Subject::Code`]): what an interpreter executes.
//!
//! ```text
//! text = Head (12 bytes) , name , file , table of lines
//! ```
//!
//! Names are UTF-8. The table is the interpreter's own, and may be cut at its end.

/// Bytes of the head.
pub const HEAD_BYTES: usize = 12;
/// Most bytes of a text; a longer table of lines is cut.
pub const MOST_BYTES: usize = 32 << 10;

/// The head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Minor version of the interpreter, which is CPython 3: it says how the table of lines is read.
    pub minor_version: u16,
    /// Bytes of the name.
    pub name_bytes: u16,
    /// Bytes of the file's path.
    pub file_bytes: u16,
    /// The line on which the code begins.
    pub first_line: u32,
}

impl Head {
    /// As it is written.
    pub fn to_bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..2].copy_from_slice(&self.minor_version.to_ne_bytes());
        bytes[2..4].copy_from_slice(&self.name_bytes.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.file_bytes.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.first_line.to_ne_bytes());
        bytes
    }
}

/// A code object as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// Minor version of the interpreter.
    pub minor_version: u16,
    /// Name of the function, qualified where the interpreter knows that.
    pub name: &'a [u8],
    /// Path of its source file, as the interpreter has it.
    pub file: &'a [u8],
    /// The line on which it begins.
    pub first_line: u32,
    /// Its table of lines.
    pub lines: &'a [u8],
}

impl<'a> Code<'a> {
    /// Reads a text; None if it is shorter than it says.
    pub fn parse(text: &'a [u8]) -> Option<Code<'a>> {
        let half = |at: usize| Some(u16::from_ne_bytes(text.get(at..at + 2)?.try_into().ok()?));
        let first_line = u32::from_ne_bytes(text.get(8..HEAD_BYTES)?.try_into().ok()?);
        let (name, rest) = text.get(HEAD_BYTES..)?.split_at_checked(half(2)?.into())?;
        let (file, lines) = rest.split_at_checked(half(4)?.into())?;
        Some(Code { minor_version: half(0)?, name, file, first_line, lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_was_written_and_a_cut_one_is_not() {
        let head = Head { minor_version: 11, name_bytes: 3, file_bytes: 4, first_line: 70_000 };
        let text = [&head.to_bytes()[..], b"f.gx.pyLINES"].concat();
        let code = Code::parse(&text).unwrap();
        assert_eq!((code.minor_version, code.first_line), (11, 70_000));
        assert_eq!((code.name, code.file, code.lines), (&b"f.g"[..], &b"x.py"[..], &b"LINES"[..]));
        for end in 0..HEAD_BYTES + 7 {
            assert_eq!(Code::parse(&text[..end]), None);
        }
    }
}
