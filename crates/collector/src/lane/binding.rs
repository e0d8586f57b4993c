//! The processors that a thread is bound to, where they are not those that its process began with.
//!
//! They are asked for once, at the end of the thread or of the process: programs bind their threads at the
//! begin. Of a process that is killed they are not known.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::records::Subject;

use super::Output;
use crate::facts::ranges;
use crate::raw;

/// Of machines with more than 1024 processors it is not recorded: a mask of theirs takes more of a stack than
/// a hook may.
const WORDS: usize = 16;
/// Room for the ranges. A set of more than fit is not recorded.
const TEXT_BYTES: usize = 96;

/// A digest of the set that the process began with; 0 = not known.
static OF_PROCESS: AtomicU64 = AtomicU64::new(0);

/// The process begins with this set.
pub fn begin_with(mask: &[u64]) {
    OF_PROCESS.store(digest(mask), Ordering::Relaxed);
}

/// Writes the processors of thread `tid` of this process, if they are others than its process began with.
pub fn push(output: &mut Output, tid: u32) {
    let mut mask = [0; WORDS];
    if !raw::affinity_of(tid, &mut mask) {
        return;
    }
    let of_process = OF_PROCESS.load(Ordering::Relaxed);
    if of_process == 0 || digest(&mask) == of_process {
        return;
    }
    let mut text = [0; TEXT_BYTES];
    if let (text, true) = ranges(&mask, &mut text) {
        output.push_text(Subject::ThreadProcessors, tid, text);
    }
}

/// The same for masks of any length with the same processors; never 0. FNV-1a over words.
fn digest(mask: &[u64]) -> u64 {
    let length = mask.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    let fold = |digest: u64, &word: &u64| (digest ^ word).wrapping_mul(0x0100_0000_01b3);
    mask[..length].iter().fold(0xcbf2_9ce4_8422_2325, fold).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_distinguished_whatever_their_length() {
        assert_eq!(digest(&[3]), digest(&[3, 0, 0]));
        assert_ne!(digest(&[3]), digest(&[1]));
        assert_ne!(digest(&[3]), digest(&[0, 3]));
        assert_ne!(digest(&[]), 0);
    }
}
