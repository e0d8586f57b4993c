//! When messages under way were sent, in the replay. Of a sender that is far ahead there may be as many as
//! the run has: so many are in a table, and the others in an array by number, which leaves memory.

use proust_streams::{Array, Spool};
use rustc_hash::FxHashMap;

/// So many messages under way are in the table.
const NEAR: usize = 1 << 17;

/// Messages under way, by number.
#[derive(Debug)]
pub(super) struct Sent {
    near: FxHashMap<u64, u64>,
    most_near: usize,
    /// One more than when the message of each number was sent, ns; 0 = it is not here.
    far: Array<u64>,
}

impl Sent {
    /// None yet. Numbers are given one after the other.
    pub(super) fn new(spool: &Spool) -> Sent {
        Sent { near: FxHashMap::default(), most_near: NEAR, far: Array::new(spool) }
    }

    pub(super) fn insert(&mut self, message: u64, sent_ns: u64) {
        if self.near.len() < self.most_near {
            self.near.insert(message, sent_ns);
            return;
        }
        let at = message as usize;
        if self.far.len() <= at {
            let missing = at + 1 - self.far.len();
            self.far.extend(std::iter::repeat_n(0, missing));
        }
        self.far[at] = sent_ns.saturating_add(1);
    }

    /// When it was sent; it is under way no more. None = it has not been sent yet.
    #[inline]
    pub(super) fn remove(&mut self, message: u64) -> Option<u64> {
        self.near.remove(&message).or_else(|| {
            let sent_ns = self.far.get_mut(message as usize).map_or(0, std::mem::take);
            sent_ns.checked_sub(1)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_are_found_once_however_many_are_under_way(
            acts in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..200),
            most_near in 0_usize..9,
        ) {
            let mut sent = Sent { most_near, ..Sent::new(&Spool::default()) };
            let mut expected = FxHashMap::default();
            let mut sent_before = 0;
            for (which, sends) in acts {
                if sends {
                    sent.insert(sent_before, 10 * sent_before);
                    expected.insert(sent_before, 10 * sent_before);
                    sent_before += 1;
                } else {
                    let message = which.index(sent_before as usize + 1) as u64;
                    prop_assert_eq!(sent.remove(message), expected.remove(&message));
                }
                prop_assert!(sent.near.len() <= most_near);
            }
        }
    }
}
