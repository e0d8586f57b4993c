//! Sharing an amount among several receivers.

/// A receiver's claim to an amount.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claim {
    pub(super) weight: u64,
    pub(super) most_ns: u64,
    pub(super) given_ns: u64,
}

impl Claim {
    fn room_ns(&self) -> u64 {
        self.most_ns - self.given_ns
    }
}

/// Shares `amount_ns` out by weight, with no receiver above its maximum. Returns what is left.
pub(super) fn by_weight(amount_ns: u64, claims: &mut [Claim]) -> u64 {
    share_out(amount_ns, claims, |claim| claim.weight)
}

/// Shares `amount_ns` out by how much more each may get. Returns what is left.
pub(super) fn by_room(amount_ns: u64, claims: &mut [Claim]) -> u64 {
    share_out(amount_ns, claims, Claim::room_ns)
}

fn share_out(amount_ns: u64, claims: &mut [Claim], weight: impl Fn(&Claim) -> u64) -> u64 {
    let mut left_ns = amount_ns;
    let mut open: Vec<(usize, u64, u64)> = (claims.iter().enumerate())
        .map(|(at, claim)| (at, weight(claim), claim.room_ns()))
        .filter(|&(_, weight, room_ns)| weight > 0 && room_ns > 0)
        .collect();
    // The receiver with the least room for its weight is filled first; once one is not filled, none after him
    // is.
    open.sort_by(|a, b| {
        let (a, b) = ((a.0, u128::from(a.1), u128::from(a.2)), (b.0, u128::from(b.1), u128::from(b.2)));
        (a.2 * b.1).cmp(&(b.2 * a.1)).then(a.0.cmp(&b.0))
    });
    let mut weights: u128 = open.iter().map(|&(_, weight, _)| u128::from(weight)).sum();
    let mut filled = 0;
    for &(at, weight, room_ns) in &open {
        if u128::from(left_ns) * u128::from(weight) < u128::from(room_ns) * weights {
            break;
        }
        claims[at].given_ns += room_ns;
        left_ns -= room_ns;
        weights -= u128::from(weight);
        filled += 1;
    }
    // The others have room for their shares. Rounding their running sum leaves nothing over.
    let rest = &mut open[filled..];
    rest.sort_by_key(|&(at, ..)| at);
    let (level_ns, mut weight_before, mut given_ns) = (u128::from(left_ns), 0, 0);
    for &(at, weight, room_ns) in rest.iter() {
        weight_before += u128::from(weight);
        let due_ns = (level_ns * weight_before / weights) as u64;
        let part_ns = (due_ns - given_ns).min(room_ns);
        claims[at].given_ns += part_ns;
        given_ns += part_ns;
    }
    left_ns - given_ns
}

/// An amount that is spread over something larger, piece by piece: each piece gets its share, and all of them
/// all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    amount_ns: u64,
    over_ns: u64,
}

impl Spread {
    /// Spreads as much of `amount_ns` over `over_ns` as fits.
    pub(super) fn new(amount_ns: u64, over_ns: u64) -> Spread {
        Spread { amount_ns: amount_ns.min(over_ns), over_ns }
    }

    /// The share of the next piece; never more than its length.
    pub(super) fn next(&mut self, length_ns: u64) -> u64 {
        let rest_ns = self.over_ns.saturating_sub(length_ns);
        let share_ns = match (self.amount_ns, rest_ns) {
            (0, _) => 0,
            (all_ns, 0) => all_ns.min(length_ns),
            (amount_ns, _) => {
                (u128::from(amount_ns) * u128::from(length_ns)).div_ceil(self.over_ns.into()) as u64
            }
        };
        (self.amount_ns, self.over_ns) = (self.amount_ns - share_ns, rest_ns);
        share_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(of: &[(u64, u64)]) -> Vec<Claim> {
        of.iter().map(|&(weight, most_ns)| Claim { weight, most_ns, given_ns: 0 }).collect()
    }

    fn given(claims: &[Claim]) -> Vec<u64> {
        claims.iter().map(|claim| claim.given_ns).collect()
    }

    #[test]
    fn nobody_gets_more_than_he_may_and_nothing_is_lost() {
        let mut some = claims(&[(1, 100), (3, 30), (0, 50)]);
        // 20 and 60, of which the second may have 30; the other 30 go to the first; the third has no claim.
        assert_eq!(by_weight(80, &mut some), 0);
        assert_eq!(given(&some), [50, 30, 0]);
        assert_eq!(by_weight(80, &mut some), 30);
        assert_eq!(given(&some), [100, 30, 0]);
        assert_eq!(by_room(30, &mut some), 0);
        assert_eq!(given(&some), [100, 30, 30]);
    }

    /// However many are filled before, none gets more for being first.
    #[test]
    fn the_order_of_claims_decides_nothing() {
        // Each claim weighs eight times as much as the one before: they are filled one after the other.
        let forth: Vec<(u64, u64)> = (0..20).map(|n| (8_u64.pow(n), 1_000_000)).collect();
        let back: Vec<(u64, u64)> = forth.iter().rev().copied().collect();
        let of = |all: &[(u64, u64)]| {
            let mut all = claims(all);
            assert_eq!(by_weight(12_000_000, &mut all), 0);
            given(&all)
        };
        let (forth, mut back) = (of(&forth), of(&back));
        back.reverse();
        assert!(forth.iter().zip(&back).all(|(a, b)| a.abs_diff(*b) <= 1), "{forth:?}\n{back:?}");
        assert!(forth.is_sorted() && forth[..4].iter().sum::<u64>() < 100, "{forth:?}");
    }

    #[test]
    fn rounding_is_given_away_too() {
        let mut three = claims(&[(1, 100), (1, 100), (1, 100)]);
        assert_eq!(by_weight(100, &mut three), 0);
        assert_eq!(given(&three).iter().sum::<u64>(), 100);
    }

    #[test]
    fn a_spread_amount_is_the_sum_of_its_shares() {
        let mut spread = Spread::new(10, 30);
        assert_eq!([spread.next(10), spread.next(0), spread.next(1), spread.next(19)], [4, 0, 1, 5]);
        let mut full = Spread::new(50, 30);
        assert_eq!([full.next(10), full.next(20)], [10, 20]);
    }
}
