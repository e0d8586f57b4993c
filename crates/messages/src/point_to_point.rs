//! Sends to receives: the k-th send from one rank to another in a communicator under a tag is received by the
//! k-th receive of such a message, in the order in which they were started (MPI lets no message overtake
//! another one). A wildcard receive counts as what it got.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

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
    under_way: usize,
    most_under_way: usize,
}

#[derive(Debug)]
struct Queue<E> {
    /// Of the two only one is not empty.
    sends: VecDeque<E>,
    receives: VecDeque<E>,
    /// Probes that saw a message before its send is known, with the number of receives before them.
    probes: VecDeque<(usize, E)>,
}

/// Endpoints without a partner, by channel.
pub type Unmatched<E> = Vec<(Channel, E)>;

impl<E> Default for Queue<E> {
    fn default() -> Queue<E> {
        Queue { sends: VecDeque::new(), receives: VecDeque::new(), probes: VecDeque::new() }
    }
}

impl<E> Default for PointToPoint<E> {
    fn default() -> PointToPoint<E> {
        PointToPoint { channels: FxHashMap::default(), under_way: 0, most_under_way: 0 }
    }
}

impl<E: Copy> PointToPoint<E> {
    /// The next send of a channel.
    pub fn send(&mut self, channel: Channel, send: E, mut found: impl FnMut(Matched<E>)) {
        let queue = self.channels.entry(channel).or_default();
        let mut seen = |probe: E| found(Matched::Probed(send, probe));
        // Those that no receive preceded see this one.
        while let Some(&(0, probe)) = queue.probes.front() {
            queue.probes.pop_front();
            self.under_way -= 1;
            seen(probe);
        }
        let Some(receive) = queue.receives.pop_front() else {
            queue.sends.push_back(send);
            return self.more();
        };
        queue.probes.iter_mut().for_each(|(before, _)| *before -= 1);
        self.under_way -= 1;
        if queue.receives.is_empty() && queue.probes.is_empty() {
            self.channels.remove(&channel);
        }
        found(Matched::Message(send, receive));
    }

    /// The next receive of a channel.
    pub fn receive(&mut self, channel: Channel, receive: E, mut found: impl FnMut(Matched<E>)) {
        let queue = self.channels.entry(channel).or_default();
        let Some(send) = queue.sends.pop_front() else {
            queue.receives.push_back(receive);
            return self.more();
        };
        self.under_way -= 1;
        if queue.sends.is_empty() && queue.probes.is_empty() {
            self.channels.remove(&channel);
        }
        found(Matched::Message(send, receive));
    }

    /// A probe that has seen the next message of a channel.
    pub fn probe(&mut self, channel: Channel, probe: E, mut found: impl FnMut(Matched<E>)) {
        let queue = self.channels.entry(channel).or_default();
        match queue.sends.front() {
            Some(&send) => found(Matched::Probed(send, probe)),
            None => {
                queue.probes.push_back((queue.receives.len(), probe));
                self.more();
            }
        }
    }

    fn more(&mut self) {
        self.under_way += 1;
        self.most_under_way = self.most_under_way.max(self.under_way);
    }

    /// The most endpoints that waited for their partners at once: what it kept in memory.
    pub fn most_under_way(&self) -> usize {
        self.most_under_way
    }

    /// What is left without a partner: sends, then receives, by channel. Probes that saw a message whose send
    /// is not known are not counted: a receive of it is.
    pub fn finish(self) -> (Unmatched<E>, Unmatched<E>) {
        let mut channels: Vec<(Channel, Queue<E>)> = self.channels.into_iter().collect();
        channels.sort_unstable_by_key(|(channel, _)| *channel);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (channel, queue) in channels {
            sends.extend(queue.sends.into_iter().map(|send| (channel, send)));
            receives.extend(queue.receives.into_iter().map(|receive| (channel, receive)));
        }
        (sends, receives)
    }
}
