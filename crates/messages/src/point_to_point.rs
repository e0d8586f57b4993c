//! Sends to receives: the k-th send from one rank to another in a communicator under a tag is received by the
//! k-th receive of such a message, in the order in which they were started (MPI lets no message overtake
//! another one). A wildcard receive counts as what it got.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use proust_streams::Spool;
use rustc_hash::FxHashMap;

use crate::line::{Line, Stored};

/// A queue of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel {
    /// The communicator, by its number in the run.
    pub communicator: u32,
    /// Whether the sender is on the second side of an intercommunicator.
    pub from_second_side: bool,
    /// The sender's rank.
    pub from: u32,
    /// The receiver's rank.
    pub to: u32,
    /// The tag.
    pub tag: i32,
}

/// What happens in a channel; `E` is what the caller knows an endpoint by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched<E> {
    /// A message: sent there, received here.
    Message(E, E),
    /// A message sent there was seen here, and stays.
    Probed(E, E),
}

/// Matches the messages of all channels.
#[derive(Debug)]
pub struct PointToPoint<E> {
    channels: FxHashMap<Channel, Queue<E>>,
    spool: Spool,
    under_way: usize,
    most_under_way: usize,
}

/// What waits in a channel.
#[derive(Debug)]
struct Queue<E> {
    /// Whether these are sends; receives otherwise.
    are_sends: bool,
    waiting: Line<E>,
    /// Probes that saw a message before its send is known, with the number of receives before them.
    probes: VecDeque<(usize, E)>,
}

impl<E: Stored> Queue<E> {
    fn new() -> Queue<E> {
        Queue { are_sends: false, waiting: Line::default(), probes: VecDeque::new() }
    }

    fn push(&mut self, are_sends: bool, one: E, spool: &Spool) {
        self.are_sends = are_sends;
        self.waiting.push(one, spool);
    }

    /// The first one, if endpoints of this sort wait.
    fn pop(&mut self, sends: bool, spool: &Spool) -> Option<E> {
        if self.are_sends == sends { self.waiting.pop(spool) } else { None }
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.probes.is_empty()
    }
}

impl<E: Stored> PointToPoint<E> {
    /// Whose long queues lie in `spool`.
    pub fn new(spool: &Spool) -> PointToPoint<E> {
        let spool = spool.clone();
        PointToPoint { channels: FxHashMap::default(), spool, under_way: 0, most_under_way: 0 }
    }

    /// The next send of a channel.
    pub fn send(&mut self, channel: Channel, send: E, mut found: impl FnMut(Matched<E>)) {
        let mut queue = match self.channels.entry(channel) {
            Entry::Occupied(queue) => queue,
            Entry::Vacant(vacant) => {
                vacant.insert(Queue::new()).push(true, send, &self.spool);
                return self.more();
            }
        };
        let waiting = queue.get_mut();
        // Those that no receive preceded see this one.
        while let Some(&(0, probe)) = waiting.probes.front() {
            waiting.probes.pop_front();
            self.under_way -= 1;
            found(Matched::Probed(send, probe));
        }
        let Some(receive) = waiting.pop(false, &self.spool) else {
            waiting.push(true, send, &self.spool);
            return self.more();
        };
        waiting.probes.iter_mut().for_each(|(before, _)| *before -= 1);
        self.under_way -= 1;
        if waiting.is_empty() {
            queue.remove();
        }
        found(Matched::Message(send, receive));
    }

    /// The next receive of a channel.
    pub fn receive(&mut self, channel: Channel, receive: E, mut found: impl FnMut(Matched<E>)) {
        let mut queue = match self.channels.entry(channel) {
            Entry::Occupied(queue) => queue,
            Entry::Vacant(vacant) => {
                vacant.insert(Queue::new()).push(false, receive, &self.spool);
                return self.more();
            }
        };
        let waiting = queue.get_mut();
        let Some(send) = waiting.pop(true, &self.spool) else {
            waiting.push(false, receive, &self.spool);
            return self.more();
        };
        self.under_way -= 1;
        if waiting.is_empty() {
            queue.remove();
        }
        found(Matched::Message(send, receive));
    }

    /// A probe that has seen the next message of a channel.
    pub fn probe(&mut self, channel: Channel, probe: E, mut found: impl FnMut(Matched<E>)) {
        let queue = self.channels.entry(channel).or_insert_with(Queue::new);
        match queue.waiting.first().filter(|_| queue.are_sends) {
            Some(&send) => found(Matched::Probed(send, probe)),
            None => {
                let before = queue.waiting.len();
                queue.probes.push_back((before, probe));
                self.more();
            }
        }
    }

    fn more(&mut self) {
        self.under_way += 1;
        self.most_under_way = self.most_under_way.max(self.under_way);
    }

    /// The most endpoints that waited for their partners at once.
    pub fn most_under_way(&self) -> usize {
        self.most_under_way
    }

    /// Calls `each` with what is left without a partner, and whether that was sent. Probes that saw a message
    /// whose send is not known are left out: a receive of it is not.
    pub fn finish(self, mut each: impl FnMut(Channel, bool, E)) {
        let PointToPoint { channels, spool, .. } = self;
        for (channel, mut queue) in channels {
            while let Some(one) = queue.waiting.pop(&spool) {
                each(channel, queue.are_sends, one);
            }
        }
    }
}
