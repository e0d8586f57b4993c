//! What vforked children leave behind in the memory they borrow.

const LENT_CHILDREN: usize = 4;

const LENT_PATH_BYTES: usize = 200;

/// What vforked children left in the memory that they borrowed; more than fits is forgotten.
pub struct Lent {
    count: usize,
    children: [(u32, usize, [u8; LENT_PATH_BYTES]); LENT_CHILDREN],
}

impl Default for Lent {
    fn default() -> Lent {
        Lent { count: 0, children: [(0, 0, [0; LENT_PATH_BYTES]); LENT_CHILDREN] }
    }
}

impl Lent {
    /// Keeps what child `pid` is about to become. Called by the child, which may not write to the log.
    pub fn keep(&mut self, pid: u32, target: &[u8]) {
        if let Some((place, length, path)) = self.children.get_mut(self.count) {
            *place = pid;
            *length = target.len().min(LENT_PATH_BYTES);
            path[..*length].copy_from_slice(&target[..*length]);
            self.count += 1;
        }
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Process ids and what they became.
    pub fn children(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let kept = self.children.iter().take(self.count);
        kept.map(|(pid, length, path)| (*pid, path.get(..*length).unwrap_or(&[])))
    }
}
