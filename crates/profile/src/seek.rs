//! Positions in sorted rows, found from one that is near.

/// Position of the first row that is not before the one that is looked for; the search begins at `from`, and
/// takes time by how far that is off. Rows are in order: those before it come first.
pub fn seek<T>(rows: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let from = from.min(rows.len());
    let mut step = 1;
    if from == 0 || is_before(&rows[from - 1]) {
        let mut low = from;
        while low + step <= rows.len() && is_before(&rows[low + step - 1]) {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(rows.len());
        low + rows[low..high].partition_point(is_before)
    } else {
        let mut high = from - 1;
        while high >= step && !is_before(&rows[high - step]) {
            high -= step;
            step *= 2;
        }
        let low = high.saturating_sub(step);
        low + rows[low..high].partition_point(is_before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::seek;

    proptest! {
        #[test]
        fn it_is_where_a_search_of_all_rows_finds_it(
            mut rows in proptest::collection::vec(0_u32..40, 0..60), from in 0_usize..70, wanted in 0_u32..42,
        ) {
            rows.sort_unstable();
            let is_before = |row: &u32| *row < wanted;
            prop_assert_eq!(seek(&rows, from, is_before), rows.partition_point(is_before));
        }
    }
}
