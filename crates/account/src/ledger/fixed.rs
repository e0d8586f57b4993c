//! Exact sums of fractions of nanoseconds.
//!
//! A slot shared by three workers gives each a third of its time. Such amounts are kept in fixed point, so
//! that their sum depends neither on the order of the summands nor on their sizes; only results are rounded,
//! and so that their sum stays what it was.

/// An amount of time in units of 2⁻³² ns.
pub(super) type Units = u128;

const BITS: u32 = 32;

/// Added before rounding down: a half and a little. Exact halves are common (two sharers), and an earlier
/// division may have left one a few units short; it shall be rounded as if it had not.
const ROUND_UP: Units = (1 << (BITS - 1)) + (1 << (BITS - 12));

/// `ns` whole nanoseconds.
pub(super) fn units(ns: u64) -> Units {
    Units::from(ns) << BITS
}

/// The amount in nanoseconds, for where an approximation is enough.
pub(super) fn to_ns_f64(amount: Units) -> f64 {
    amount as f64 / units(1) as f64
}

/// The whole nanoseconds of an amount.
pub(super) fn whole_ns(amount: Units) -> u64 {
    (amount >> BITS) as u64
}

/// `amount × part / whole`, rounded down, for `part ≤ whole`, without overflow.
pub(super) fn fraction(amount: Units, part: u64, whole: u64) -> Units {
    if part == whole {
        return amount;
    }
    let (part, whole) = (Units::from(part), Units::from(whole));
    amount / whole * part + amount % whole * part / whole
}

/// `amount × part / whole` for any sizes, to 60 bits; all of it where the part is not less than the whole.
pub(super) fn ratio(amount: Units, part: Units, whole: Units) -> Units {
    if part >= whole {
        return amount;
    }
    let shift = (Units::BITS - whole.leading_zeros()).saturating_sub(60);
    fraction(amount, (part >> shift) as u64, (whole >> shift) as u64)
}

/// Whole nanoseconds for amounts, none more than its bound, that sum up to `total_ns` if the bounds allow it.
///
/// `total_ns` is known exactly, and the amounts as sums of rounded parts: nearly all of them are off by less
/// than 1 ns.
pub(super) fn apportion(amounts: &[(Units, u64)], total_ns: u64) -> Vec<u64> {
    let mut given: Vec<u64> =
        amounts.iter().map(|&(amount, most_ns)| whole_ns(amount).min(most_ns)).collect();
    let sum_ns: u64 = given.iter().sum();
    let mut missing_ns = total_ns.saturating_sub(sum_ns);
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    order.sort_by_key(|&n| std::cmp::Reverse(amounts[n].0 % units(1)));
    // First one each to the largest fractions, then to where there is room.
    for step_ns in [1, u64::MAX] {
        for &n in &order {
            let more_ns = (amounts[n].1 - given[n]).min(step_ns).min(missing_ns);
            given[n] += more_ns;
            missing_ns -= more_ns;
        }
    }
    let mut surplus_ns = sum_ns.saturating_sub(total_ns);
    order.sort_by_key(|&n| std::cmp::Reverse(given[n]));
    for n in order {
        let less_ns = given[n].min(surplus_ns);
        given[n] -= less_ns;
        surplus_ns -= less_ns;
    }
    given
}

/// Rounds amounts to whole nanoseconds by rounding their running sum: each is off by less than 1 ns, and the
/// sum by at most a half.
pub(super) fn round_running(amounts: impl IntoIterator<Item = Units>) -> impl Iterator<Item = u64> {
    let (mut sum, mut given) = (0, 0);
    amounts.into_iter().map(move |amount| {
        sum += amount;
        let due = ((sum + ROUND_UP) >> BITS) as u64;
        let ns = due - given;
        given = due;
        ns
    })
}

/// The amount that each of several sharers has received since the beginning, as one number for all of them: a
/// sharer's part is the difference between the levels at its end and at its begin. So a change of state costs
/// the same for any number of sharers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    level: Units,
    /// The remainder of the division, less than one unit for each sharer; it goes with the next amount.
    carry: Units,
}

impl Level {
    /// Shares `slots × ns` equally among `sharers`.
    pub fn pour(&mut self, slots: u64, ns: u64, sharers: u64) {
        let sharers = Units::from(sharers);
        let amount = ((Units::from(slots) * Units::from(ns)) << BITS) + self.carry;
        self.level += amount / sharers;
        self.carry = amount % sharers;
    }

    /// The level now.
    pub fn now(&self) -> Units {
        self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_add_up() {
        let mut level = Level::default();
        level.pour(1, 100, 3);
        let parts = [level.now(); 3];
        // 33.33 + 33.33 + 33.33 rounded at 33.33, 66.67, 100.00
        assert_eq!(round_running(parts).collect::<Vec<_>>(), [33, 34, 33]);
    }

    #[test]
    fn what_a_division_leaves_over_is_not_lost() {
        let mut level = Level::default();
        (0..3).for_each(|_| level.pour(1, 1, 3));
        assert_eq!(level.now(), units(1));
    }

    #[test]
    fn halves_round_up_even_if_a_division_left_them_a_little_short() {
        let half = units(5) / 2;
        assert_eq!(round_running([half - 1, half + 1]).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(round_running([half, half]).collect::<Vec<_>>(), [3, 2]);
    }

    #[test]
    fn apportioned_amounts_sum_up_to_what_is_known() {
        let third = units(100) / 3;
        assert_eq!(apportion(&[(third, 50), (third, 50), (third, 50)], 100), [34, 33, 33]);
        assert_eq!(apportion(&[(units(7), 5), (units(3), 9)], 10), [5, 5]);
        assert_eq!(apportion(&[(units(7), 7), (units(3), 3)], 9), [6, 3]);
        assert_eq!(apportion(&[(units(7), 7)], 9), [7]);
    }

    #[test]
    fn ratios_of_long_times() {
        let year = 31_557_600_000_000_000;
        let near = |amount: Units, ns: u64| amount.abs_diff(units(ns)) < 1 << 16;
        assert!(near(ratio(units(year), units(year / 4), units(year)), year / 4));
        assert_eq!(ratio(units(3), units(5), units(5)), units(3));
    }

    #[test]
    fn fraction_of_long_times_does_not_overflow() {
        let year = 31_557_600_000_000_000;
        assert_eq!(fraction(units(year), year / 4, year), units(year / 4));
    }
}
