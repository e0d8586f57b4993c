//! Time namespaces: in one, CLOCK_MONOTONIC counts from another beginning than on the rest of the machine.

use crate::{path, raw};

/// How far the calling process's CLOCK_MONOTONIC is ahead of the machine's, in nanoseconds.
pub fn monotonic_offset_ns() -> i64 {
    raw::with_text::<256, _>(c"/proc/self/timens_offsets", offset_in).flatten().unwrap_or(0)
}

/// The line `monotonic SECONDS NANOSECONDS`, of which the seconds may be negative.
fn offset_in(text: &[u8]) -> Option<i64> {
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"monotonic"))?;
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty());
    let (seconds, nanoseconds) = (words.next()?, words.next()?);
    let (sign, digits) = seconds.strip_prefix(b"-").map_or((1, seconds), |digits| (-1, digits));
    let seconds = sign * i64::try_from(path::maps::number(digits, 10)?).ok()?;
    let nanoseconds = i64::try_from(path::maps::number(nanoseconds, 10)?).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_with_their_sign() {
        assert_eq!(offset_in(b"monotonic      100000         5\nboottime  1 0\n"), Some(100_000_000_000_005));
        assert_eq!(offset_in(b"boottime 7 0\nmonotonic -2 500000000\n"), Some(-1_500_000_000));
        assert_eq!(offset_in(b"monotonic 0 0\n"), Some(0));
        for damaged in [&b""[..], b"monotonic", b"monotonic x 0", b"monotonic 99999999999999999999 0"] {
            assert_eq!(offset_in(damaged), None);
        }
        assert_eq!(monotonic_offset_ns(), monotonic_offset_ns());
    }
}
