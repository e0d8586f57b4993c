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

    fn advance(&mut self, lines: i64) {
        self.line = self.line.saturating_add(lines);
    }

    /// Pairs: so many bytes on have the line before, then the line advances.
    fn of_advances(&mut self, table: &[u8]) {
        for &[bytes, advance] in table.as_chunks().0 {
            self.add(bytes.into(), true);
            self.advance(advance.cast_signed().into());
        }
        self.add(u32::MAX, true);
    }

    /// Pairs: the line advances, and so many bytes have it.
    fn of_ranges(&mut self, table: &[u8]) {
        const NO_LINE: i8 = -128;
        for &[bytes, advance] in table.as_chunks().0 {
            let advance = advance.cast_signed();
            if advance != NO_LINE {
                self.advance(advance.into());
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
            self.advance(match kind {
                13 | 14 => signed(own)?,
                10..=12 => i64::from(kind) - 10,
                _ => 0,
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line, or none, and of how many instructions.
    type Runs = [(Option<u32>, usize)];

    fn code(minor_version: u16, table: &[u8]) -> InterpretedCode {
        InterpretedCode::new(minor_version, "sample".into(), "s.py".into(), 1, table)
    }

    /// Every instruction has the line that the interpreter itself says (`dis.findlinestarts`, and from 3.10
    /// on `co_lines`): of a function with a loop, an expression over two lines, a jump of 156 lines and an
    /// exception.
    fn assert_lines(minor_version: u16, table: &[u8], runs: &Runs) {
        let code = code(minor_version, table);
        let lines = runs.iter().flat_map(|&(line, count)| std::iter::repeat_n(line, count));
        for (place, line) in lines.enumerate() {
            assert_eq!(code.line(2 * place as u32), line, "3.{minor_version}, instruction {place}");
        }
    }

    #[test]
    fn tables_of_advances_are_read_as_the_interpreter_does() {
        let table = [0, 1, 4, 1, 12, 1, 8, 1, 4, 1, 2, 255, 8, 3, 8, 127, 0, 29, 10, 1, 2, 1, 10, 1, 12, 1];
        let runs =
            [(2, 2), (3, 6), (4, 4), (5, 2), (6, 1), (5, 4), (8, 4), (164, 5), (165, 1), (166, 5), (167, 6)];
        let runs = runs.map(|(line, count)| (Some(line), count));
        assert_lines(8, &table, &runs);
        assert_lines(9, &table, &[&runs[..], &[(Some(168), 6)]].concat());
    }

    #[test]
    fn tables_of_ranges_are_read_as_the_interpreter_does() {
        let table =
            [4, 1, 12, 1, 8, 1, 4, 1, 2, 1, 8, 255, 8, 3, 0, 127, 10, 29, 2, 1, 10, 1, 12, 1, 6, 1, 2, 255];
        let runs = [
            (2, 2),
            (3, 6),
            (4, 4),
            (5, 2),
            (6, 1),
            (5, 4),
            (8, 4),
            (164, 5),
            (165, 1),
            (166, 5),
            (167, 6),
            (168, 3),
            (167, 1),
        ];
        assert_lines(10, &table, &runs.map(|(line, count)| (Some(line), count)));
        // -128: no line.
        assert_lines(10, &[2, 1, 4, 128, 2, 1], &[(Some(2), 1), (None, 2), (Some(3), 1), (None, 1)]);
    }

    #[test]
    fn tables_of_locations_are_read_as_the_interpreter_does() {
        let of_11 = [
            128, 0, 216, 12, 13, 128, 69, 221, 13, 18, 144, 49, 137, 88, 140, 88, 240, 0, 97, 2, 5, 23, 240,
            0, 97, 2, 5, 23, 136, 1, 216, 11, 12, 136, 113, 137, 53, 240, 0, 96, 2, 9, 23, 216, 12, 17, 144,
            97, 216, 22, 23, 241, 3, 1, 23, 24, 241, 0, 1, 13, 25, 136, 69, 136, 69, 240, 6, 0, 13, 18, 144,
            81, 137, 74, 136, 69, 240, 120, 4, 0, 13, 18, 144, 81, 137, 74, 136, 69, 136, 69, 240, 2, 3, 5,
            20, 216, 15, 20, 144, 113, 137, 121, 208, 8, 24, 248, 221, 11, 28, 240, 0, 1, 5, 20, 240, 0, 1,
            5, 20, 240, 0, 1, 5, 20, 216, 15, 19, 136, 116, 136, 116, 240, 3, 1, 5, 20, 248, 248, 248,
        ];
        let some = |line| Some(line);
        assert_lines(
            11,
            &of_11,
            &[
                (some(1), 1),
                (some(2), 2),
                (some(3), 17),
                (some(4), 5),
                (some(5), 2),
                (some(6), 1),
                (some(5), 6),
                (some(8), 5),
                (some(164), 6),
                (some(165), 1),
                (some(166), 5),
                (None, 1),
                (some(167), 9),
                (some(168), 3),
                (some(167), 1),
                (None, 3),
            ],
        );
        let of_13 = [
            128, 0, 216, 12, 13, 128, 69, 220, 13, 18, 144, 49, 142, 88, 136, 1, 216, 11, 12, 136, 113, 143,
            53, 216, 12, 17, 216, 22, 23, 241, 3, 1, 23, 24, 241, 0, 1, 13, 25, 138, 69, 240, 6, 0, 13, 18,
            137, 74, 136, 69, 240, 120, 4, 0, 13, 18, 144, 81, 137, 74, 138, 69, 241, 67, 5, 0, 14, 22, 240,
            68, 5, 3, 5, 20, 216, 15, 20, 137, 121, 208, 8, 24, 248, 220, 11, 28, 243, 0, 1, 5, 20, 217, 15,
            19, 240, 3, 1, 5, 20, 250,
        ];
        assert_lines(
            13,
            &of_13,
            &[
                (some(1), 1),
                (some(2), 2),
                (some(3), 14),
                (some(4), 10),
                (some(5), 1),
                (some(6), 1),
                (some(5), 7),
                (some(8), 4),
                (some(164), 7),
                (some(3), 2),
                (some(165), 1),
                (some(166), 4),
                (None, 1),
                (some(167), 9),
                (some(168), 2),
                (some(167), 1),
                (None, 3),
            ],
        );
    }

    proptest! {
        /// Whatever a table holds, there are lines for what stands before the damage, and none behind it.
        #[test]
        fn any_table_is_read(
            minor_version in 0_u16..20,
            table in proptest::collection::vec(any::<u8>(), 0..300),
            first_line in any::<u32>(),
        ) {
            let code = InterpretedCode::new(minor_version, "f".into(), "f.py".into(), first_line, &table);
            prop_assert!(code.lines.is_sorted_by_key(|&(end, _)| end));
            for byte in [0, 1, 2, 100, u32::MAX] {
                let _ = code.line(byte);
            }
        }
    }
}
