//! Sharing an amount out among those who may have it.

/// What somebody may get of an amount.
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

/// Shares `amount_ns` out by weight, nobody getting more than the most he may. Returns what is left.
pub(super) fn by_weight(amount_ns: u64, claims: &mut [Claim]) -> u64 {
    share_out(amount_ns, claims, |claim| claim.weight)
}

/// Shares `amount_ns` out by how much more each may get. Returns what is left.
pub(super) fn by_room(amount_ns: u64, claims: &mut [Claim]) -> u64 {
    share_out(amount_ns, claims, Claim::room_ns)
}

fn share_out(amount_ns: u64, claims: &mut [Claim], weight: impl Fn(&Claim) -> u64) -> u64 {
    let mut left_ns = amount_ns;
    let is_open = |claim: &Claim| claim.room_ns() > 0 && weight(claim) > 0;
    // Each round fills at least one claim or gives all but the rounding away.
    for _ in 0..8 {
        let open = claims.iter().filter(|claim| is_open(claim));
        let weights = open.map(|claim| u128::from(weight(claim))).sum::<u128>();
        if left_ns == 0 || weights == 0 {
            return left_ns;
        }
        let before_ns = left_ns;
        for claim in claims.iter_mut().filter(|claim| is_open(claim)) {
            let part_ns = (u128::from(before_ns) * u128::from(weight(claim)) / weights) as u64;
            let part_ns = part_ns.min(claim.room_ns()).min(left_ns);
            claim.given_ns += part_ns;
            left_ns -= part_ns;
        }
    }
    // What rounding left over, and the last few to be filled.
    for claim in claims.iter_mut() {
        if is_open(claim) {
            let part_ns = claim.room_ns().min(left_ns);
            claim.given_ns += part_ns;
            left_ns -= part_ns;
        }
    }
    left_ns
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
