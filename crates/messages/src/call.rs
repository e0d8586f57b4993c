//! A call of MPI, as the process that made it recorded it.

/// The number of a call in its process: its position in the order in which calls ended.
pub type CallId = u32;

/// A call of a process: its position among the processes of the run, and which call.
pub type Place = (u32, CallId);

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// When it began, ns. All processes of a run have one clock.
    pub begin_ns: u64,
    /// When it ended, ns.
    pub end_ns: u64,
    /// What it did.
    pub act: Act,
    /// Which function it was: a number of the caller's, that all members of a collective must have in common.
    pub operation: u32,
    /// Where it was called: a number of the caller's.
    pub site: u32,
    /// The communicator, by its process's number; 0 = none, or not known.
    pub communicator: u32,
    /// The other rank of the communicator; of a collective its root.
    pub partner: Partner,
    /// The message's tag. Of a receive that is only started it may be [`ANY_TAG`].
    pub tag: i32,
    /// Size of the message, or this process's part of a collective.
    pub bytes: u64,
    /// The slots of the requests that it starts, completes or gives up.
    pub slots: Slots<'a>,
    /// The contents of messages that it received, where that was not known when they were started.
    pub received: &'a [Received],
}

/// Any tag: of a receive that is only started.
pub const ANY_TAG: i32 = -1;

/// A rank in a communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Partner {
    /// This one.
    Rank(u32),
    /// Any: of a receive that is only started.
    Any,
    /// `MPI_PROC_NULL`: no message.
    Nobody,
    /// This process itself is the root, of a collective between two groups.
    Root,
    /// There is none.
    #[default]
    None,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends, and returns when that is done.
    Send(Mode),
    /// Receives, and returns when that is done.
    Receive,
    /// Sends and receives at once; what it received is in [`Call::received`], without a slot.
    SendReceive,
    /// Waits for a message, and leaves it where it is.
    Probe,
    /// Waits for a message, and takes it out of the queue for a call that receives it.
    MatchedProbe,
    /// Takes a message out of the queue that is there: a request is under way from here on.
    MatchedTest,
    /// Receives what a matched probe or test took.
    ReceiveMatched,
    /// Starts to receive what a matched probe took in this slot; the request is another one.
    StartMatched {
        /// The slot.
        from: u16,
    },
    /// Starts to send.
    StartSend(Mode),
    /// Starts to receive.
    StartReceive,
    /// Starts to send and to receive with one request; what it is to receive is in [`Call::received`],
    /// without a slot.
    StartSendReceive,
    /// Makes a request to send, to be started later.
    PrepareSend(Mode),
    /// Makes a request to receive, to be started later.
    PrepareReceive,
    /// Makes a request to take part in a collective, to be started later; all members do, in one order.
    PrepareCollective(Collective),
    /// Starts prepared requests.
    Start,
    /// Completes requests, and waits for that.
    Wait,
    /// Completes requests, if that can be done at once.
    Test,
    /// Gives a request up.
    Free,
    /// Takes part in a collective, and returns when that is done.
    Collective(Collective),
    /// Starts to take part in a collective.
    StartCollective(Collective),
    /// Starts something else that has a request.
    StartOther,
    /// Nothing that has a partner.
    Other,
}

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the library likes: it may wait for the receiver.
    Standard,
    /// When its data lie in a buffer: it never waits for the receiver.
    Buffered,
}

/// Who waits for whom in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// All for all: a barrier.
    Barrier,
    /// All for all, and data are exchanged.
    AllToAll,
    /// All of the others for the root.
    OneToAll,
    /// The root for all of the others.
    AllToOne,
    /// Each for those of a lower rank.
    Scan,
    /// All for all, or not: a call that need not wait, as for files and windows.
    Loose,
    /// Each for its neighbours, which are not known.
    Neighbours,
}

impl Collective {
    /// All of them; spools know one by its position.
    pub const ALL: [Collective; 7] = [
        Collective::Barrier,
        Collective::AllToAll,
        Collective::OneToAll,
        Collective::AllToOne,
        Collective::Scan,
        Collective::Loose,
        Collective::Neighbours,
    ];
}

/// Stretches of neighbouring slots of requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slots<'a> {
    /// Those that the call's own record has: the first, and how many.
    pub own: (u16, u16),
    /// Further ones.
    pub more: &'a [(u16, u16)],
}

impl Slots<'_> {
    /// One slot.
    pub fn one(slot: u16) -> Slots<'static> {
        Slots { own: (slot, 1), more: &[] }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let own = core::iter::once(&self.own);
        self.more.iter().chain(own).flat_map(|&(first, count)| (first..=u16::MAX).take(count.into()))
    }
}

/// What a receive has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Of which request; None = the call itself received it.
    pub slot: Option<u16>,
    /// From which rank.
    pub source: Partner,
    /// The message's tag.
    pub tag: i32,
    /// Its bytes.
    pub bytes: u64,
    /// Nothing: it was cancelled.
    pub cancelled: bool,
}
