//! What a path depends on.

use crate::path::memo::{Memo, State};
use crate::path::tree::NodeId;

/// A path that depends on more words is found from scratch each time.
pub(super) const MOST_WORDS: usize = 200;

/// No distance of a word is larger.
pub(super) const MOST_DISTANCE: u16 = u16::MAX - 8;

/// What a path depends on: words by their distance from the stack pointer, leaf first.
pub(super) struct Words {
    pub(super) node: NodeId,
    pub(super) needs_bp: bool,
    pub(super) count: usize,
    all: [(u16, u64); MOST_WORDS],
}

impl Words {
    /// Of the path that `memo` has just found; None if it depends on more than a few words of the thread's
    /// own stack. `most`: what lies above so many does not matter.
    pub(super) fn of(state: &State, node: NodeId, memo: &Memo, most: usize) -> Option<Words> {
        let mut path = Words { node, needs_bp: false, count: 0, all: [(0, 0); MOST_WORDS] };
        path.needs_bp = memo.words(|address, word| {
            if path.count == most && most < MOST_WORDS {
                return true;
            }
            let distance = address.wrapping_sub(state.sp);
            let words = u16::try_from(distance / 8).ok().filter(|&words| words < MOST_DISTANCE);
            match (words, path.all.get_mut(path.count)) {
                (Some(words), Some(place)) if distance.is_multiple_of(8) => *place = (words, word),
                _ => return false,
            }
            path.count += 1;
            true
        })?;
        Some(path)
    }

    pub(super) fn words(&self) -> &[(u16, u64)] {
        &self.all[..self.count]
    }
}
