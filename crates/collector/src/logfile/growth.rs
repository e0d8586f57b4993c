//! Which thread makes the log larger: one at a time, with all signals blocked, so that its system calls are
//! not interrupted.

use super::patience::{Lost, Next, Patience};
use crate::turn::{Mine, Turn};
use crate::{clock, raw};

/// The right to change a file's length and what is mapped of it.
pub struct Growth {
    turn: Turn,
    lost: Lost,
}

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

impl Growth {
    /// Of a file that no thread makes larger.
    pub const fn new() -> Growth {
        Growth { turn: Turn::new(), lost: Lost::never() }
    }

    /// The right itself.
    pub fn right(&'static self) -> &'static Turn {
        &self.turn
    }

    /// Takes the right, or waits a moment for the thread that has it.
    pub fn turn(&'static self) -> Growing {
        if let Some(mine) = self.turn.try_begin() {
            return Growing::Mine(mine);
        }
        let mut patience = Patience::default();
        while !self.turn.is_free() {
            match patience.next(&self.lost, clock::now_ns) {
                Next::Look => core::hint::spin_loop(),
                Next::GiveAway => raw::give_processor_away(),
                Next::GiveUp => {
                    return self.turn.try_begin_or_inherit().map_or(Growing::Never, Growing::Mine);
                }
            }
        }
        Growing::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_needs_more_waits_for_the_growing_one_but_not_for_ever() {
        static GROWTH: Growth = Growth::new();
        let mine = GROWTH.right().try_begin();
        assert!(mine.is_some());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(matches!(GROWTH.turn(), Growing::Never)));
        });
        drop(mine);
        assert!(matches!(GROWTH.turn(), Growing::Mine(_)));
    }
}
