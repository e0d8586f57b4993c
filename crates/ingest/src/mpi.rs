//! Calls of MPI: what a lane holds of them, and the messages, collectives and waits that they make together.
//!
//! - `calls`: the records of a lane
//! - `acts`: the functions of MPI in the words of [`proust_messages`]
//! - `gathered`: the calls of all lanes, by process
//! - `matching`: the profile's tables of messages

mod acts;
mod calls;
mod gathered;
mod matching;

pub(super) use acts::is_exchange;
pub(super) use calls::MpiCalls;
pub(super) use gathered::Places;
pub(super) use matching::fill;
