//! Facts that vforked children leave behind in the memory they borrow.

use crate::arena::Lazily;

const LENT_CHILDREN: usize = 4;

const LENT_PATH_BYTES: usize = 200;

/// Facts that vforked children left in the memory that they borrowed; more than fits is forgotten.
#[derive(Default)]
pub struct Lent {
    count: usize,
    children: Lazily<[Kept; LENT_CHILDREN]>,
}

/// Process id, and so many bytes of a path.
type Kept = (u32, usize, [u8; LENT_PATH_BYTES]);

impl Lent {
    /// Keeps what child `pid` is about to become. Called by the child, which may not write to the log.
    pub fn keep(&mut self, pid: u32, target: &[u8]) {
        let children = self.children.get_or_make(|| [(0, 0, [0; LENT_PATH_BYTES]); LENT_CHILDREN]);
        if let Some((place, length, path)) = children.and_then(|children| children.get_mut(self.count)) {
            *place = pid;
            *length = target.len().min(LENT_PATH_BYTES);
            path[..*length].copy_from_slice(&target[..*length]);
            self.count += 1;
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Process ids and what they became, to be written now.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, &[u8])> {
        let count = core::mem::take(&mut self.count);
        let kept = self.children.get().map_or(&[][..], |children| children).iter().take(count);
        kept.map(|(pid, length, path)| (*pid, path.get(..*length).unwrap_or(&[])))
    }
}
