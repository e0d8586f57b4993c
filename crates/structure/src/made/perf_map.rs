//! perf's map of code made at run time: lines `START SIZE NAME`, both numbers hexadecimal
//! (`tools/perf/Documentation/jit-interface.txt`).

use std::ops::Range;

/// A function of the map.
pub(super) struct Line<'a> {
    pub(super) code: Range<u64>,
    pub(super) name: &'a [u8],
}

/// Its functions, the last one first. A line that is none is left out: the process may have been killed while
/// it wrote it.
pub(super) fn lines_from_the_end(map: &[u8]) -> impl Iterator<Item = Line<'_>> {
    // What follows the last line feed is a line that was not finished.
    let whole = map.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last);
    map[..whole].rsplit(|&byte| byte == b'\n').filter_map(line)
}

fn line(text: &[u8]) -> Option<Line<'_>> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let mut fields = text.splitn(3, |&byte| byte == b' ');
    let start = hexadecimal(fields.next()?)?;
    let end = start.checked_add(hexadecimal(fields.next()?)?)?;
    let name = fields.next()?.trim_ascii();
    (start < end && !name.is_empty()).then_some(Line { code: start..end, name })
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    // Some runtimes write it, and perf accepts it.
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}
