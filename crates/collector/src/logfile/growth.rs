//! Which thread makes the log larger: one at a time, with all signals blocked, so that its system calls are
//! not interrupted.

use super::patience::{Lost, Next, Patience};
use crate::turn::{Mine, Turn};
use crate::{clock, raw};

/// The right to change the file's length and what is mapped of it.
pub static GROWING: Turn = Turn::new();

static LOST: Lost = Lost::never();

/// Whether a thread that needs a longer log can make it so.
#[derive(Debug)]
pub enum Growing {
    /// It can.
    Mine(Mine),
    /// Another thread was growing the log until just now: this one may find enough room.
    Over,
    /// Another thread is growing the log, and was waited for long enough.
    Never,
}

/// Takes the right, or waits a moment for the thread that has it.
pub fn turn() -> Growing {
    if let Some(mine) = GROWING.try_begin() {
        return Growing::Mine(mine);
    }
    let mut patience = Patience::default();
    while !GROWING.is_free() {
        match patience.next(&LOST, clock::now_ns) {
            Next::Look => core::hint::spin_loop(),
            Next::GiveAway => raw::give_processor_away(),
            Next::GiveUp => return GROWING.try_begin_or_inherit().map_or(Growing::Never, Growing::Mine),
        }
    }
    Growing::Over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_needs_more_waits_for_the_growing_one_but_not_for_ever() {
        let mine = GROWING.try_begin();
        assert!(mine.is_some());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(matches!(turn(), Growing::Never)));
        });
        drop(mine);
        assert!(matches!(turn(), Growing::Mine(_)));
    }
}
