//! Code that an interpreter executes: its function, and the line of each of its instructions.
//!
//! The tables of lines are CPython's: pairs of advances up to 3.9 (`Objects/lnotab_notes.txt`), those of
//! PEP 626 in 3.10, and the location table from 3.11 on (`Objects/locations.md`).

/// A function that an interpreter executes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterpretedCode {
    /// Its name, qualified where the interpreter knows that.
    pub name: String,
    /// Its source file, as the interpreter has it: `<string>` and the like where there is none.
    pub file: String,
    /// The line on which it begins.
    pub first_line: u32,
    /// Ends of ranges of its instructions, in order, and their line.
    lines: Vec<(u32, Option<u32>)>,
}

impl InterpretedCode {
    /// A function of CPython 3.`minor_version` with this table of lines. Of a damaged table the part before
    /// the damage counts.
    pub fn new(
        minor_version: u16,
        name: String,
        file: String,
        first_line: u32,
        table: &[u8],
    ) -> InterpretedCode {
        let mut lines = Lines { line: i64::from(first_line), end: 0, ranges: Vec::new() };
        match minor_version {
            ..=9 => lines.of_advances(table),
            10 => lines.of_ranges(table),
            _ => lines.of_locations(table).unwrap_or_default(),
        }
        InterpretedCode { name, file, first_line, lines: lines.ranges }
    }

    /// The line of the instruction at a byte of the code; None where it has none.
    pub fn line(&self, byte: u32) -> Option<u32> {
        let at = self.lines.partition_point(|&(end, _)| end <= byte);
        self.lines.get(at)?.1
    }
}

struct Lines {
    line: i64,
    end: u32,
    ranges: Vec<(u32, Option<u32>)>,
}

impl Lines {
    fn add(&mut self, bytes: u32, has_line: bool) {
        self.end = self.end.saturating_add(bytes);
        let line = if has_line { u32::try_from(self.line).ok() } else { None };
        match self.ranges.last_mut() {
            Some(last) if last.1 == line => last.0 = self.end,
            _ if bytes == 0 => {}
            _ => self.ranges.push((self.end, line)),
        }
    }

    /// Pairs: so many bytes on have the line before, then the line advances.
    fn of_advances(&mut self, table: &[u8]) {
        for &[bytes, advance] in table.as_chunks().0 {
            self.add(bytes.into(), true);
            self.line += i64::from(advance.cast_signed());
        }
        self.add(u32::MAX, true);
    }

    /// Pairs: the line advances, and so many bytes have it.
    fn of_ranges(&mut self, table: &[u8]) {
        const NO_LINE: i8 = -128;
        for &[bytes, advance] in table.as_chunks().0 {
            let advance = advance.cast_signed();
            if advance != NO_LINE {
                self.line += i64::from(advance);
            }
            self.add(bytes.into(), advance != NO_LINE);
        }
    }

    /// Entries whose first byte alone has its highest bit set.
    fn of_locations(&mut self, table: &[u8]) -> Option<()> {
        const UNIT_BYTES: u32 = 2;
        let mut rest = table;
        while let Some((&first, after)) = rest.split_first() {
            let next = after.iter().position(|byte| byte & 0x80 != 0).unwrap_or(after.len());
            let (own, following) = after.split_at_checked(next)?;
            rest = following;
            let kind = first >> 3 & 15;
            self.line += match kind {
                13 | 14 => signed(own)?,
                10..=12 => i64::from(kind) - 10,
                _ => 0,
            };
            self.add((u32::from(first & 7) + 1) * UNIT_BYTES, kind != 15);
        }
        Some(())
    }
}

/// A number in pieces of six bits, the lowest first; its own lowest bit is the sign.
fn signed(bytes: &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for (place, &byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x3f).checked_shl(u32::try_from(place).ok()?.checked_mul(6)?)?;
        if byte & 0x40 == 0 {
            let value = i64::try_from(number >> 1).ok()?;
            return Some(if number & 1 == 1 { -value } else { value });
        }
    }
    None
}
