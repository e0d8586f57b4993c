//! Which of many sources is due first, when always only the first one's time changes.

/// A tournament of sources: each inner node of a binary tree keeps the loser of its match, the one that is
/// due later, so that a new time of the winner is played against one loser on each level only, without a
/// branch that a processor could guess wrong.
pub(super) struct Tournament {
    /// Matches, the final first; the first place is not used. The leaves are not stored.
    losers: Vec<u128>,
    winner: u128,
    /// Sources that are still due.
    left: usize,
}

/// A source that is never due again; is after all others.
const NEVER: u128 = 1 << 127;
const SOURCE_BITS: u32 = 48;

/// What is compared: the time, and at the same time the source.
fn entry(source: usize, due_ns: Option<u64>) -> u128 {
    due_ns.map_or(NEVER, |due_ns| u128::from(due_ns) << SOURCE_BITS) | source as u128
}

impl Tournament {
    /// When each source is due for the first time; None = never.
    pub fn new(due_ns: &[Option<u64>]) -> Tournament {
        let sources = due_ns.len();
        // The winner of each match; the leaves follow the matches.
        let mut winners = vec![NEVER; sources];
        winners.extend(due_ns.iter().enumerate().map(|(source, &due_ns)| entry(source, due_ns)));
        let mut losers = vec![NEVER; sources];
        for node in (1..sources).rev() {
            let (one, other) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = (one.min(other), one.max(other));
        }
        let winner = winners.get(1).copied().unwrap_or(NEVER);
        Tournament { losers, winner, left: due_ns.iter().flatten().count() }
    }

    /// The source that is due first, and when; of those due at the same time the one with the lowest number.
    pub fn first(&self) -> Option<(u64, usize)> {
        let source = self.winner & ((1 << SOURCE_BITS) - 1);
        (self.left > 0).then_some(((self.winner >> SOURCE_BITS) as u64, source as usize))
    }

    /// When the first source, `source`, is due next.
    pub fn again(&mut self, source: usize, due_ns: Option<u64>) {
        self.left -= usize::from(due_ns.is_none());
        let mut winner = entry(source, due_ns);
        let mut node = (source + self.losers.len()) / 2;
        while node > 0 {
            let loser = self.losers[node];
            (winner, self.losers[node]) = (winner.min(loser), winner.max(loser));
            node /= 2;
        }
        self.winner = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_come_in_order_of_time_whatever_their_number() {
        for sources in 0..20 {
            let next = |source: usize, time: u64| match (time * 7 + source as u64 * 3) % 11 {
                0 => None,
                step => Some(time + 1 + step / 2),
            };
            let mut due: Vec<Option<u64>> = (0..sources).map(|source| next(source, source as u64)).collect();
            if sources > 3 {
                due[2] = Some(u64::MAX);
            }
            let mut tournament = Tournament::new(&due);
            loop {
                let expected =
                    due.iter().enumerate().filter_map(|(source, due)| Some(((*due)?, source))).min();
                assert_eq!(tournament.first(), expected, "{sources}");
                let Some((time, source)) = expected else { break };
                due[source] = if time < 1000 { next(source, time) } else { None };
                tournament.again(source, due[source]);
            }
        }
    }
}
