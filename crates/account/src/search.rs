//! Searching long sorted lists without going through all of them.

/// As [`slice::partition_point`], beginning at a guess: it looks at as many elements as the logarithm of how
/// far that is off.
pub fn partition_near<T>(list: &[T], guess: usize, before: impl Fn(&T) -> bool) -> usize {
    let guess = guess.min(list.len());
    let mut step = 1;
    if list.get(guess).is_some_and(&before) {
        let mut from = guess + 1;
        while list.get(from + step - 1).is_some_and(&before) {
            from += step;
            step *= 2;
        }
        let to = list.len().min(from + step);
        return from + list[from..to].partition_point(before);
    }
    let mut to = guess;
    while step <= to && !before(&list[to - step]) {
        to -= step;
        step *= 2;
    }
    let from = to.saturating_sub(step);
    from + list[from..to].partition_point(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_guess_leads_to_the_same_place() {
        for length in 0..40 {
            let list: Vec<usize> = (0..length).map(|n| n / 3).collect();
            for wanted in 0..15 {
                let expected = list.partition_point(|&n| n < wanted);
                for guess in 0..length + 5 {
                    assert_eq!(partition_near(&list, guess, |&n| n < wanted), expected, "{length} {guess}");
                }
            }
        }
    }
}
