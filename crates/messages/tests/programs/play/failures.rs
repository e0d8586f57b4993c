//! Calls that fail: they may have received a message, or sent one, and nothing says so.

use std::collections::VecDeque;

use proust_messages::call::{ANY_TAG, Partner};
use proust_messages::run::Failed;
use proust_messages::unmatched::Part;

use super::{Played, Posted, World, fits};

impl World {
    /// A receive, or one that sends, too, returns an error: it has got a message that had come, or none.
    pub(super) fn fail(
        &mut self,
        process: usize,
        (communicator, from, tag): (u32, u32, i32),
        (a, b): (u8, u8),
        what: u8,
    ) {
        let begin_ns = self.tick();
        let (any_source, any_tag) = (self.with.wildcards && a % 4 == 2, self.with.wildcards && b % 5 == 2);
        let posted = Posted {
            communicator,
            source: (!any_source).then_some(from),
            tag: (!any_tag).then_some(tag),
            begin_ns,
            slot: None,
            bytes: 8,
            also: None,
        };
        let count = self.procs.len() as u32;
        let (to, sent_tag) = ((from + 1) % count, (tag + 1) % 3);
        let sends = (what & 1 == 1).then_some((Part::Send, Partner::Rank(to), sent_tag));
        let source = posted.source.map_or(Partner::Any, Partner::Rank);
        let receives = (Part::Receive, source, posted.tag.unwrap_or(ANY_TAG));
        for (part, partner, tag) in sends.into_iter().chain([receives]) {
            let failed = Failed { begin_ns, part, communicator: Some(communicator + 1), partner, tag };
            self.played.failed[process].push((self.played.calls[process].len(), failed));
        }
        if sends.is_some() && what & 2 == 2 {
            self.sent(process, begin_ns, (communicator, to, sent_tag, 8));
            self.ways.get_mut(&(process as u32, to)).and_then(VecDeque::back_mut).unwrap().is_unseen = true;
        }
        let come = &mut self.procs[process].come;
        let at = come.iter().position(|sent| fits(&posted, sent)).filter(|_| what & 4 == 4);
        if let Some(sent) = at.map(|at| come.remove(at)) {
            self.under_way -= 1;
            self.played.unseen.push(((sent.from, sent.begin_ns), (process as u32, begin_ns)));
        }
        self.tick();
    }
}

impl Played {
    /// Whether a call that failed before names the channel of a message: it may have received one of its
    /// messages before, or sent one.
    pub fn is_named(&self, message: usize) -> bool {
        let ((from, sent_ns), (to, received_ns)) = self.messages[message];
        let (communicator, tag) = self.channels[message];
        let names = |process: u32, part: Part, partner: u32, begin_ns: u64| {
            self.failed[process as usize].iter().any(|(_, failed)| {
                failed.part == part
                    && failed.begin_ns <= begin_ns
                    && failed.communicator == Some(communicator)
                    && (failed.partner == Partner::Any || failed.partner == Partner::Rank(partner))
                    && (failed.tag == ANY_TAG || failed.tag == tag)
            })
        };
        names(to, Part::Receive, from, received_ns) || names(from, Part::Send, to, sent_ns)
    }
}
