//! Calls of MPI: what a lane holds of them, and the messages, collectives and waits that they make together.
//!
//! - `calls`: the records of a lane
//! - `acts`: the functions of MPI in the words of [`proust_messages`]
//! - `gathered`: the calls of all lanes, by process
//! - `made`: when they were made, and where
//! - `of_call`: what is known of each call while messages are matched, and after
//! - `exchanges`: how the calls of a message or collective lay to each other in time
//! - `handed_on`: which of them hand on what one process reads or writes
//! - `matching`: the profile's tables of messages
//! - `replayed`: what the replay reads of a process
//! - `side_by_side`: processes that are worked on at once
//! - `site`: where a call was made

mod acts;
mod calls;
mod exchanges;
mod gathered;
mod handed_on;
mod made;
mod matching;
mod of_call;
mod replayed;
mod side_by_side;
mod site;

pub(super) use acts::is_exchange;
pub(super) use calls::MpiCalls;
pub(super) use gathered::Places;
pub(super) use matching::fill;
