//! A digest that shows accidental damage.

/// Digest of `bytes`: 64 well-mixed bits, not meant against intent.
///
/// Every step is a bijection of the state for a given word, so a single changed word always changes it.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
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
    use super::digest;

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
