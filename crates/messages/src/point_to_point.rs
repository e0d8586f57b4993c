//! Sends to receives: the k-th send from one rank to another in a communicator under a tag is received by the
//! k-th receive of such a message, in the order in which they were started (MPI lets no message overtake
//! another one). A wildcard receive counts as what it got.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

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

/// What waits in a channel. Most wait alone: for one, and its channel, nothing is allocated.
#[derive(Debug)]
struct Queue<E> {
    /// Whether these are sends; receives otherwise.
    are_sends: bool,
    first: Option<E>,
    /// Those behind it.
    others: VecDeque<E>,
    /// Probes that saw a message before its send is known, with the number of receives before them.
    probes: VecDeque<(usize, E)>,
}

/// Endpoints without a partner, by channel.
pub type Unmatched<E> = Vec<(Channel, E)>;

impl<E> Queue<E> {
    fn new(are_sends: bool, first: Option<E>) -> Queue<E> {
        Queue { are_sends, first, others: VecDeque::new(), probes: VecDeque::new() }
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    fn push(&mut self, are_sends: bool, one: E) {
        if self.first.is_none() {
            (self.are_sends, self.first) = (are_sends, Some(one));
        } else {
            self.others.push_back(one);
        }
    }

    fn pop(&mut self) -> Option<E> {
        let next = self.others.pop_front();
        std::mem::replace(&mut self.first, next)
    }

    /// Whether endpoints of this sort wait.
    fn has(&self, sends: bool) -> bool {
        self.first.is_some() && self.are_sends == sends
    }

    fn is_empty(&self) -> bool {
        self.first.is_none() && self.probes.is_empty()
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
        let mut queue = match self.channels.entry(channel) {
            Entry::Occupied(queue) => queue,
            Entry::Vacant(vacant) => {
                vacant.insert(Queue::new(true, Some(send)));
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
        let receive = if waiting.has(false) { waiting.pop() } else { None };
        let Some(receive) = receive else {
            waiting.push(true, send);
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
                vacant.insert(Queue::new(false, Some(receive)));
                return self.more();
            }
        };
        let waiting = queue.get_mut();
        let send = if waiting.has(true) { waiting.pop() } else { None };
        let Some(send) = send else {
            waiting.push(false, receive);
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
        let queue = self.channels.entry(channel).or_insert_with(|| Queue::new(false, None));
        match queue.first.filter(|_| queue.are_sends) {
            Some(send) => found(Matched::Probed(send, probe)),
            None => {
                let before = queue.len();
                queue.probes.push_back((before, probe));
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
            let of_sort = if queue.are_sends { &mut sends } else { &mut receives };
            of_sort.extend(queue.first.into_iter().chain(queue.others).map(|one| (channel, one)));
        }
        (sends, receives)
    }
}
