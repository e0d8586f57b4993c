//! Messages and communicators of MPI.
//!
//! A call of MPI is an [`Event`](super::Event) like any other operation. Its fields mean:
//!
//! | call | `object` | `object2` | `bytes` | `request` |
//! |---|---|---|---|---|
//! | sends, receives or starts to | communicator | partner and tag ([`Envelope`]) | of the message; of a receive that is only started, of its buffer | one more than the request's slot; 0 = it has none |
//! | collective | communicator | root ([`Envelope`], as the partner) | this process's part of the data | likewise, where it is only started |
//! | prepares a message or collective | as above | as above | as above | of its persistent request |
//! | starts persistent requests | – | how many requests | – | one more than the first one's slot |
//! | completes requests | – | how many requests | – | likewise |
//! | another one | communicator, if it has one | – | – | – |
//!
//! A request has a *slot*, a small number, from its start to its completion; slots are used again. Requests
//! that are started or completed together mostly have neighbouring slots. Where they do not, [`Completed`]
//! records before the event name the others; and a [`Received`] record before it says what a receive, which
//! knew that only in part when it was started, has got. Of a call that starts to send and to receive with one
//! request the event has what is sent, and such a record what is expected. Both belong to the next event of
//! MPI in their lane.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// More requests that an [`Event`](super::Event) completes or starts: `head.a` is the first one's slot,
/// `head.b` how many follow each other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Completed {}

/// What a receive has got. `head.a` is the slot of its request, or [`NO_SLOT`] where the call that the record
/// belongs to received it itself, as `MPI_Sendrecv` does, or starts to, as `MPI_Isendrecv`; `head.b` has
/// [`RECEIVED_CANCELLED`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Received {
    /// The sender's rank in the communicator, or one of the codes of [`Envelope`].
    pub source: i32,
    /// The message's tag.
    pub tag: i32,
    /// Its bytes.
    pub bytes: u64,
}

/// A communicator, as a member knows it, or the group of processes behind a window or file: before the first
/// event that names it. `head.a` has the `COMMUNICATOR_` bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Communicator {
    /// When it was made, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The same on all members, and on no other communicator of the run.
    pub id: u64,
    /// Its number in this process, by which events name it. Never used again.
    pub number: u32,
    /// This process's rank in it.
    pub rank: u32,
    /// Processes in it; of an intercommunicator those of this process's own side.
    pub size: u32,
    /// Processes on the other side of an intercommunicator; 0 = it is none.
    pub remote_size: u32,
}

/// A comparison of this host's clock with that of rank 0's host, by messages. `head.a` has the `CLOCK_` bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ClockOffset {
    /// CLOCK_MONOTONIC of this process.
    pub own_ns: u64,
    /// The same of rank 0's at that instant.
    pub reference_ns: u64,
    /// How long question and answer took, ns: the instant is known to half of it.
    pub round_trip_ns: u64,
}

/// Bit of [`ClockOffset`]'s `head.a`: at the end of MPI, not at its begin.
pub const CLOCK_AT_END: u16 = 1;
/// Bit of `head.a`: this is rank 0, with whose clock the others are compared.
pub const CLOCK_REFERENCE: u16 = 2;

/// Bit of [`Communicator`]'s `head.a`: it is `MPI_COMM_WORLD`, so that `rank` is the process's world rank.
pub const COMMUNICATOR_WORLD: u16 = 1;
/// Bit of `head.a`: how it was made is not known. Its id is unique in this process only.
pub const COMMUNICATOR_UNKNOWN: u16 = 2;
/// Bit of `head.a`: of the two sides of an intercommunicator this process is on the second one.
pub const COMMUNICATOR_SECOND_SIDE: u16 = 4;

/// Bit of [`Received`]'s `head.b`: the receive was cancelled, and has got nothing.
pub const RECEIVED_CANCELLED: u16 = 1;

/// A message or call without a slot, in [`Received`].
pub const NO_SLOT: u16 = u16::MAX;

/// Partner and tag of a message, as an event's `object2` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The partner's rank in the communicator, or one of the codes below.
    pub partner: i32,
    /// The tag, or [`Envelope::ANY`].
    pub tag: i32,
}

impl Envelope {
    /// Any source, or any tag: of a receive that has been started only.
    pub const ANY: i32 = -1;
    /// No process (`MPI_PROC_NULL`): nothing is sent.
    pub const NOBODY: i32 = -2;
    /// This process is the root of a collective of an intercommunicator (`MPI_ROOT`).
    pub const ROOT: i32 = -3;
    /// No partner: a collective without a root.
    pub const NONE: i32 = -4;

    /// As one word.
    #[inline]
    pub fn word(self) -> u64 {
        u64::from(self.partner as u32) << 32 | u64::from(self.tag as u32)
    }

    /// Of a word.
    #[inline]
    pub fn of_word(word: u64) -> Envelope {
        Envelope { partner: (word >> 32) as i32, tag: word as i32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_a_word() {
        for (partner, tag) in [(0, 0), (7, i32::MAX), (Envelope::ANY, Envelope::ANY), (Envelope::NONE, 5)] {
            let envelope = Envelope { partner, tag };
            assert_eq!(Envelope::of_word(envelope.word()), envelope);
        }
    }
}
