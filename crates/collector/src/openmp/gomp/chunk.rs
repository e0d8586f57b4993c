//! How many iterations a part of a loop has.

/// By how much the variable of a loop grows from one iteration to the next; 0 = not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step(u64);

impl Step {
    /// Of the runtime's argument: of loops that count down it is a negative number, or one that wraps.
    pub const fn of(argument: u64) -> Step {
        Step(argument)
    }

    /// The word that [`Step::of`] makes it of.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The iterations from `first` on, before `end`; 0 where that is not known.
    #[inline]
    pub fn iterations(self, first: u64, end: u64) -> u64 {
        let step = self.0.cast_signed();
        let (span, step) = if step < 0 { (first, step.unsigned_abs()) } else { (end, step.unsigned_abs()) };
        let from = if self.0.cast_signed() < 0 { end } else { first };
        let length = span.wrapping_sub(from);
        match step {
            0 => 0,
            1 => length,
            step => length.div_ceil(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_up_and_down_also_where_the_last_step_is_cut() {
        let count = |first: i64, end: i64, step: i64| {
            Step::of(step.cast_unsigned()).iterations(first.cast_unsigned(), end.cast_unsigned())
        };
        assert_eq!(count(0, 10, 1), 10);
        assert_eq!(count(-5, 5, 3), 4);
        assert_eq!(count(0, 10, 4), 3);
        assert_eq!(count(10, 0, -1), 10);
        assert_eq!(count(10, -1, -4), 3);
        assert_eq!(count(7, 7, 2), 0);
        assert_eq!(count(0, 10, 0), 0);
        // Of unsigned variables beyond half of their range.
        assert_eq!(Step::of(2).iterations(u64::MAX - 9, u64::MAX), 5);
    }
}
