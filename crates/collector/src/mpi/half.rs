//! Half of a message that a thread sends to itself as a mark.

use core::sync::atomic::{AtomicU64, Ordering};

/// Which half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It was sent.
    Sent,
    /// It was received.
    Received,
}

/// Of a sent half, so many bytes are kept.
const KEPT_BYTES: usize = 8;

/// The half that was called last, if the other one was not called since. Written by its thread alone.
#[derive(Debug, Default)]
pub struct Half {
    /// The tag, and above it 1 + the side; 0 = there is none.
    word: AtomicU64,
    content: AtomicU64,
    /// Bytes of the content; 0 = it is not kept.
    bytes: AtomicU64,
}

const fn word(tag: u32, side: Side) -> u64 {
    tag as u64 | (1 + side as u64) << 32
}

impl Half {
    /// Half of a message is called; true if it is the second one.
    pub fn call(&self, tag: u32, side: Side) -> bool {
        let other = if side == Side::Sent { Side::Received } else { Side::Sent };
        let is_second = self.word.load(Ordering::Relaxed) == word(tag, other);
        self.word.store(if is_second { 0 } else { word(tag, side) }, Ordering::Relaxed);
        is_second
    }

    /// The tag of a half that was sent and not received.
    pub fn sent_tag(&self) -> Option<u32> {
        let word = self.word.load(Ordering::Relaxed);
        (word >> 32 == 1 + Side::Sent as u64).then_some(word as u32)
    }

    /// Keeps what was sent.
    pub fn keep(&self, content: Option<&[u8]>) {
        let mut kept = [0; KEPT_BYTES];
        let place = content.and_then(|content| Some((kept.get_mut(..content.len())?, content)));
        let bytes = place.map_or(0, |(place, content)| {
            place.copy_from_slice(content);
            content.len()
        });
        self.content.store(u64::from_ne_bytes(kept), Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// What was kept, and how many bytes of it count.
    pub fn kept(&self) -> ([u8; KEPT_BYTES], usize) {
        let bytes = self.bytes.load(Ordering::Relaxed) as usize;
        (self.content.load(Ordering::Relaxed).to_ne_bytes(), bytes.min(KEPT_BYTES))
    }

    /// Forgets it.
    pub fn take(&self) {
        self.word.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_of_one_tag_are_a_message_in_either_order() {
        let half = Half::default();
        assert!(!half.call(7, Side::Sent));
        assert_eq!(half.sent_tag(), Some(7));
        assert!(half.call(7, Side::Received));
        assert_eq!(half.sent_tag(), None);
        assert!(!half.call(7, Side::Received) && half.call(7, Side::Sent));
        // One of another tag, or the same half again, begins a message of its own.
        assert!(!half.call(7, Side::Sent) && !half.call(8, Side::Received) && !half.call(8, Side::Received));
        assert!(half.call(8, Side::Sent) && !half.call(8, Side::Sent));
    }

    #[test]
    fn what_is_kept_is_what_was_sent() {
        let half = Half::default();
        half.keep(Some(&[1, 2, 3, 4]));
        assert_eq!(half.kept(), ([1, 2, 3, 4, 0, 0, 0, 0], 4));
        half.keep(Some(&[1; 9]));
        assert_eq!(half.kept().1, 0);
        half.keep(None);
        assert_eq!(half.kept().1, 0);
    }
}
