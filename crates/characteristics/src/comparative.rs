//! Least, most and mean of a characteristic over the processors.

/// A characteristic over the processors of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparative {
    /// The least.
    pub min: u64,
    /// The processor that has it, by position; of several the first.
    pub min_at: usize,
    /// The most.
    pub max: u64,
    /// The processor that has it, by position; of several the last.
    pub max_at: usize,
    /// Over all processors.
    pub sum: u64,
    /// How many processors there are.
    pub count: usize,
}

impl Comparative {
    /// Of one value for each processor; None if one is not known, or there are none.
    pub fn of(values: impl IntoIterator<Item = Option<u64>>) -> Option<Comparative> {
        let mut all: Option<Comparative> = None;
        for (at, value) in values.into_iter().enumerate() {
            let value = value?;
            let first = Comparative { min: value, min_at: at, max: value, max_at: at, sum: 0, count: 0 };
            let all = all.get_or_insert(first);
            if value < all.min {
                (all.min, all.min_at) = (value, at);
            }
            if value >= all.max {
                (all.max, all.max_at) = (value, at);
            }
            all.sum += value;
            all.count += 1;
        }
        all
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equals_the_first_is_least_and_the_last_most() {
        let over = Comparative::of([3, 1, 1, 3].map(Some)).unwrap();
        assert_eq!((over.min, over.min_at, over.max, over.max_at), (1, 1, 3, 3));
        assert_eq!(over.mean(), 2.0);
    }

    #[test]
    fn without_one_value_nothing_is_known() {
        assert_eq!(Comparative::of([Some(1), None]), None);
        assert_eq!(Comparative::of([]), None);
    }
}
