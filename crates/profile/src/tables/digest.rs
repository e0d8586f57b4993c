//! A digest that shows accidental damage.

use std::io::{self, Read};

/// So many bytes of a file are in memory at once: whole words.
const READ_BYTES: usize = 1 << 16;

/// Digest of `bytes`: 64 well-mixed bits, not meant against intent.
///
/// Every step is a bijection of the state for a given word, so a single changed word always changes it.
pub fn digest(bytes: &[u8]) -> u64 {
    let (state, rest) = of_words(begin(bytes.len() as u64), bytes);
    end(state, rest)
}

/// That of the next so many bytes of `from`.
pub(super) fn digest_of(mut from: impl Read, bytes: u64) -> io::Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    let (mut state, mut left) = (begin(bytes), bytes);
    loop {
        let some = &mut buffer[..left.min(READ_BYTES as u64) as usize];
        from.read_exact(some)?;
        left -= some.len() as u64;
        let (next, rest) = of_words(state, some);
        state = next;
        if left == 0 {
            return Ok(end(state, rest));
        }
    }
}

fn begin(bytes: u64) -> u64 {
    0x9e37_79b9_7f4a_7c15 ^ bytes
}

/// Also returns what is behind the last whole word.
fn of_words(mut state: u64, bytes: &[u8]) -> (u64, &[u8]) {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    (state, rest)
}

fn end(mut state: u64, rest: &[u8]) -> u64 {
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    state = mix(state, u64::from_le_bytes(last));
    state ^ (state >> 29)
}

fn mix(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    state ^ (state >> 32)
}

#[cfg(test)]
mod tests {
    use super::{READ_BYTES, digest, digest_of};

    #[test]
    fn that_of_a_file_is_that_of_its_bytes() {
        let bytes: Vec<u8> = (0..3 * READ_BYTES).map(|i| (i * 31 % 251) as u8).collect();
        for length in [0, 1, 8, 13, READ_BYTES - 1, READ_BYTES, READ_BYTES + 9, bytes.len()] {
            let bytes = &bytes[..length];
            assert_eq!(digest_of(bytes, length as u64).unwrap(), digest(bytes), "{length}");
        }
    }

    #[test]
    fn any_changed_bit_and_any_length_changes_it() {
        let bytes: Vec<u8> = (0..61_u8).map(|i| i.wrapping_mul(7)).collect();
        let whole = digest(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(digest(&changed), whole);
        }
        for length in 0..bytes.len() {
            assert_ne!(digest(&bytes[..length]), whole);
        }
        assert_ne!(digest(&[]), digest(&[0]));
    }
}
