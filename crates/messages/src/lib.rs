//! Calls of MPI matched with each other: the send that each receive got, the members of each collective, and
//! the waits of each call for a partner that had not arrived yet. Pure functions of calls; they know neither
//! a log nor a profile.
//!
//! - [`call`]: the input, a call as its process recorded it
//! - [`endpoint`]: one end of a message, or one member's part of a collective
//! - [`requests`]: calls to endpoints, of one process: which call completes what another one started
//! - [`point_to_point`]: sends to receives
//! - [`collectives`]: members to instances
//! - [`waits`]: the time in a call before its partner arrived
//! - [`order`]: waits while other messages were there already
//! - [`replay`]: the run on an ideal network
//! - [`unmatched`]: why calls have no partner
//! - [`mod@line`]: first in, first out, in memory as far as it is short
//! - `failed`: channels of which a message may be missing
//! - `known`: the communicators, and which processes are their members
//! - [`stored`]: endpoints as numbers in a spool
//! - `under_way`: endpoints whose partners have not been met yet
//! - [`merge`]: the endpoints of all processes in order of time
//! - [`mod@run`]: the calls of all processes
//! - [`observer`]: who wants to know of each message and collective
//! - [`matched`]: all of it in one pass
//!
//! Matching holds what is under way: messages that were sent and not received yet, or the other way round,
//! and collectives that some members have not called yet. Of one that is far ahead of its partner only the
//! first are in memory.

pub mod call;
pub mod collectives;
pub mod endpoint;
mod failed;
mod known;
pub mod line;
pub mod matched;
pub mod merge;
pub mod observer;
pub mod order;
pub mod point_to_point;
pub mod replay;
pub mod requests;
pub mod run;
pub mod stored;
mod under_way;
pub mod unmatched;
pub mod waits;
