//! Which instances of a barrier are measured where barriers follow each other closely: the rule.
//!
//! Visits to a site are counted from the begin of the region's execution. They are cut into blocks of 2^level
//! visits, and one visit of each block is *drawn*: which one is a hash of the seed and the block. All threads
//! of a team count the same visits and have the same seed, so they draw the same instances, and each knows
//! which before it arrives. A hash and not every n-th visit: programs repeat themselves, and every n-th visit
//! may always be the same one of a loop's body.

/// Drawn instances of a thread are about so far apart, over all its sites: the cost of measuring one, 300 to
/// 1000 ns where the collector's code and data are in no near cache any more, stays below one percent then.
pub const APART_NS: u64 = 100_000;

/// Of so many visits, as a power of two, at least one is drawn.
pub const HIGHEST_LEVEL: u32 = 7;

/// The seed for an execution of a region by a team.
pub fn seed(team: u64, epoch: u64) -> u64 {
    mixed(team.rotate_left(32) ^ epoch)
}

/// The first visit that is drawn, from visit `from` on.
pub fn next(seed: u64, from: u64, level: u32) -> u64 {
    let drawn_of = |block: u64| {
        let chance = mixed(seed ^ (block << 8 | u64::from(level)));
        (block << level) + (chance >> 32 & ((1 << level) - 1))
    };
    let block = from >> level;
    let drawn = drawn_of(block);
    if drawn >= from { drawn } else { drawn_of(block + 1) }
}

/// The level for a site whose visits are `apart_ns` apart, beside others: `sites` are visited about as often.
pub fn level(apart_ns: u64, sites: u64) -> u32 {
    let one_of = APART_NS * sites.max(1) / apart_ns.max(1);
    one_of.checked_ilog2().unwrap_or(0).min(HIGHEST_LEVEL)
}

/// One block of so many is followed by visits that are counted twice.
const DOUBLED_OF: u64 = 8;
/// Blocks of fewer visits than two to this power have too few in between.
const DOUBLED_FROM_LEVEL: u32 = 2;

/// Whether the visits between the drawn one of the block that `visit` lies in and the next drawn one are
/// counted twice. The blocks before and behind such a one are not, so that it can be compared with them.
pub fn is_doubled(seed: u64, visit: u64, level: u32) -> bool {
    let block = visit >> level;
    let chance = mixed(seed.rotate_left(29) ^ ((block / DOUBLED_OF) << 8 | u64::from(level)));
    let which = 1 + (chance >> 32) % (DOUBLED_OF - 2);
    level >= DOUBLED_FROM_LEVEL && block % DOUBLED_OF == which
}

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, level: u32, visits: u64) -> Vec<u64> {
        let mut all = vec![next(seed, 0, level)];
        while let Some(&last) = all.last()
            && last < visits
        {
            all.push(next(seed, last + 1, level));
        }
        all.pop();
        all
    }

    #[test]
    fn one_of_each_block_is_drawn() {
        for level in 0..=HIGHEST_LEVEL {
            let all = drawn(seed(77, u64::from(level)), level, 1 << (level + 10));
            assert_eq!(all.len(), 1 << 10);
            assert!(all.iter().enumerate().all(|(block, visit)| visit >> level == block as u64));
        }
    }

    /// Whatever the period of a program: each of its phases is drawn about as often as any other.
    #[test]
    fn no_phase_of_a_loop_is_left_out() {
        for period in [2_u64, 3, 8, 16, 32, 64, 100, 128] {
            let level = 4;
            let mut of_phase = vec![0_u64; period as usize];
            for execution in 0..64 {
                for visit in drawn(seed(0x7f00_1234_5640, 1_000_000 + execution), level, 100 * 16 * period) {
                    of_phase[(visit % period) as usize] += 1;
                }
            }
            // So many are expected of each; the standard deviation is at most the root of that.
            let expected = 64.0 * 100.0;
            for (phase, &count) in of_phase.iter().enumerate() {
                let off = (count as f64 - expected) / expected.sqrt();
                assert!(off.abs() < 5.0, "period {period}, phase {phase}: {count} of {expected}");
            }
        }
    }

    #[test]
    fn one_block_of_eight_is_followed_by_visits_counted_twice_and_never_two_beside_each_other() {
        let seed = seed(0x7f00_1234_5640, 99);
        let doubled: Vec<u64> = (0..80_000).filter(|block| is_doubled(seed, block << 4, 4)).collect();
        assert_eq!(doubled.len(), 10_000);
        assert!(doubled.windows(2).all(|pair| pair[1] - pair[0] >= 3));
        // Each of the six places is about as frequent as any other.
        for place in 1..7 {
            let count = doubled.iter().filter(|&block| block % 8 == place).count();
            assert!((1_450..1_900).contains(&count), "place {place}: {count}");
        }
        assert!((0..8_000).all(|visit| !is_doubled(seed, visit, 1)));
    }

    #[test]
    fn what_follows_closely_is_drawn_seldom_and_what_is_rare_always() {
        assert_eq!(level(100_000, 1), 0);
        assert_eq!(level(2_500_000, 20), 0);
        assert_eq!(level(1_000, 1), 6);
        assert_eq!(level(3_000, 3), 6);
        assert_eq!(level(0, 1), HIGHEST_LEVEL);
    }
}
