//! The channels of which an unknown message may be missing, since a call failed, and from when on.
//!
//! A receive takes a message of its communicator, from its source and under its tag, where it names these;
//! a message belongs to one channel. So a call that failed leaves all other channels as they are.

use rustc_hash::FxHashMap;

use crate::call::{ANY_TAG, Partner};
use crate::endpoint::Endpoint;
use crate::run::{Process, Run};
use crate::unmatched::Part;

/// Process, whether it was to send or to receive, communicator of the run, partner and tag; all of them where
/// that is not known.
type Key = (u32, Part, Option<u32>, Partner, i32);

/// The calls of a run that failed.
#[derive(Debug, Default)]
pub(crate) struct FailedCalls(FxHashMap<Key, u64>);

impl FailedCalls {
    pub(crate) fn of(run: &Run) -> FailedCalls {
        let mut calls = FailedCalls::default();
        for (process, of) in (0..).zip(&run.processes) {
            for failed in &of.failed {
                let (communicator, partner, tag) = match communicator(of, failed.communicator) {
                    None => (None, Partner::Any, ANY_TAG),
                    known => (known, failed.partner, failed.tag),
                };
                let key = (process, failed.part, communicator, partner, tag);
                let from_ns = calls.0.entry(key).or_insert(failed.begin_ns);
                *from_ns = failed.begin_ns.min(*from_ns);
            }
        }
        calls
    }

    /// Whether a call that failed before may have sent or received a message of this one's channel. Of a
    /// receive that got nothing it is not known which that would be.
    pub(crate) fn may_shift(
        &self,
        of: (u32, Part),
        endpoint: &Endpoint,
        communicator: Option<u32>,
        begin_ns: u64,
    ) -> bool {
        !endpoint.is_unknown_receive()
            && self.may_lack(of, communicator, (endpoint.partner, endpoint.tag), begin_ns)
    }

    /// Whether a message of this channel may be missing that was sent, or received, before `begin_ns`.
    pub(crate) fn may_lack(
        &self,
        (process, part): (u32, Part),
        communicator: Option<u32>,
        (partner, tag): (Partner, i32),
        begin_ns: u64,
    ) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let is_before = |communicator, partner, tag| {
            let from_ns = self.0.get(&(process, part, communicator, partner, tag));
            from_ns.is_some_and(|&from_ns| from_ns <= begin_ns)
        };
        is_before(None, Partner::Any, ANY_TAG)
            || communicator.is_some()
                && [(partner, tag), (partner, ANY_TAG), (Partner::Any, tag), (Partner::Any, ANY_TAG)]
                    .into_iter()
                    .any(|(partner, tag)| is_before(communicator, partner, tag))
    }
}

/// Of the run, by the process's number of it.
fn communicator(process: &Process, number: Option<u32>) -> Option<u32> {
    process.communicators.get(&number?).map(|membership| membership.communicator)
}
