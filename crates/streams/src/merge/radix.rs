//! Stable sorting by a number, eleven bits at a time.

const DIGIT_BITS: u32 = 11;

/// Sorts pairs by their numbers; equal ones keep their order. `other` is as long as `pairs`.
pub(super) fn sort(pairs: &mut Vec<(u64, u32)>, other: &mut Vec<(u64, u32)>) {
    let highest = pairs.iter().map(|(number, _)| *number).max().unwrap_or(0);
    other.clear();
    other.reserve_exact(pairs.len());
    other.resize(pairs.len(), (0, 0));
    let mut shift = 0;
    while shift < 64 && highest >> shift > 0 {
        let digit = |number: u64| (number >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut places = [0u32; 1 << DIGIT_BITS];
        for (number, _) in pairs.iter() {
            places[digit(*number)] += 1;
        }
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &pair in pairs.iter() {
            let place = &mut places[digit(pair.0)];
            other[*place as usize] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, other);
        shift += DIGIT_BITS;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_library_does(numbers in prop::collection::vec((any::<u64>(), 0u32..64), 0..3000)) {
            let mut pairs: Vec<(u64, u32)> =
                numbers.into_iter().enumerate().map(|(at, (number, shift))| (number >> shift, at as u32)).collect();
            let mut expected = pairs.clone();
            expected.sort_by_key(|(number, _)| *number);
            super::sort(&mut pairs, &mut Vec::new());
            prop_assert_eq!(pairs, expected);
        }
    }
}
