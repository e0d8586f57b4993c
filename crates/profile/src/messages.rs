//! MPI: communicators, messages between processes, collectives, and the waits of calls for their partners.

pub(crate) mod record;

use proust_streams::Array;
use serde::{Deserialize, Serialize};

use crate::by_location::ByLocation;
use crate::operations::identified;
use crate::{ContextId, EventRow, LocationId, OperationId, ProcessId};

/// Waits for partners, by location and begin; read by position.
pub type PartnerWaits = Array<PartnerWaitRow>;

/// What calls sent and received, each location's in the order of their ends.
pub type Transfers = ByLocation<TransferRow>;

identified! {
    /// Why a call of MPI waited for another process.
    WaitPattern {
        /// A receive, or a wait for one, began before the message was sent.
        LateSender "late-sender",
        /// A send, or a wait for one, began before its receive was started.
        LateReceiver "late-receiver",
        /// A process arrived at a barrier before the last one.
        Barrier "wait-at-barrier",
        /// A process arrived at an exchange of all with all before the last one.
        AllToAll "wait-at-n-to-n",
        /// A process arrived at a broadcast or scatter before the root.
        LateBroadcast "late-broadcast",
        /// The root arrived at a reduction or gather before the last of the others.
        EarlyReduce "early-reduce",
        /// A process arrived at a scan before the last one of a lower rank.
        EarlyScan "early-scan",
    }
}

impl WaitPattern {
    /// Its number in streams.
    fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<WaitPattern> {
        WaitPattern::ALL.get(usize::from(number)).copied()
    }
}

identified! {
    /// One end of a message, or a process's part of a collective.
    MessagePart {
        /// It was sent.
        Send "send",
        /// It is received.
        Receive "receive",
        /// A part of a collective.
        Collective "collective",
    }
}

identified! {
    /// Why a part has no partner.
    UnmatchedReason {
        /// The partner's process has no log.
        NotRecorded "not-recorded",
        /// How the communicator was made is not known.
        UnknownCommunicator "unknown-communicator",
        /// A process's record has holes from some time on: nothing after it is matched.
        BehindGap "behind-gap",
        /// The partner's process was killed or aborted.
        CutOff "cut-off",
        /// It, or one before it that may have got its message, was never completed.
        NeverCompleted "never-completed",
        /// The other end is not in the record: its call is one whose messages are not recorded, or it was
        /// never made.
        Missing "missing",
    }
}

/// The first part of a call of MPI, in which its partner had not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerWaitRow {
    /// The location that waited.
    pub location: LocationId,
    /// The call site.
    pub context: ContextId,
    /// The call.
    pub operation: OperationId,
    /// When it began, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// When the partner arrived; no later than the call's end.
    pub until_ns: u64,
    /// Why.
    pub pattern: WaitPattern,
    /// The location that arrived then.
    pub late: LocationId,
    /// Its call site.
    pub late_context: ContextId,
    /// The part of it that work on messages that were there already could have filled, ns.
    pub misordered_ns: u64,
    /// Bytes of the message that was waited for; 0 in a collective.
    pub bytes: u64,
}

impl PartnerWaitRow {
    /// How long, ns.
    pub fn length_ns(&self) -> u64 {
        self.until_ns - self.begin_ns
    }
}

/// What a call has besides its own: the messages that it started and that were completed, and the prepared
/// collectives that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferRow {
    /// The location that called.
    pub location: LocationId,
    /// The call site.
    pub context: ContextId,
    /// The call.
    pub operation: OperationId,
    /// When it began, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Messages that it sent, or started to.
    pub sends: u32,
    /// Messages that it received, or started to.
    pub receives: u32,
    /// Bytes of those that it sent.
    pub sent_bytes: u64,
    /// Bytes of those that it received, as they came.
    pub received_bytes: u64,
    /// Prepared collectives that it started; a call that is a collective itself is not among them.
    pub collectives: u32,
    /// This process's part of their data, bytes.
    pub collective_bytes: u64,
}

impl TransferRow {
    /// The call, as far as it decides whether it is in scope.
    pub fn as_event(&self) -> EventRow {
        let TransferRow { location, context, operation, begin_ns, end_ns, .. } = *self;
        EventRow { location, context, operation, begin_ns, end_ns, calls: 1, ..EventRow::default() }
    }
}

/// A communicator of MPI, or the processes of a window or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommunicatorInfo {
    /// The same number on all members.
    pub id: u64,
    /// Its members; of an intercommunicator those of its first side.
    pub size: u32,
    /// Members of an intercommunicator's second side; 0 = it is none.
    pub second_size: u32,
    /// Whether it is `MPI_COMM_WORLD`.
    pub is_world: bool,
    /// Whether all members know it by the same number. If not, nothing in it is matched.
    pub is_known: bool,
    /// How many of its members were recorded.
    pub recorded: u32,
    /// Messages sent in it, as far as they were matched.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// World ranks of its members in their order; empty = not known.
    pub members: Vec<u32>,
}

/// What a location did in the calls of one function of MPI at one call site, and how its partners' calls lay
/// to them in time. Calls that were recorded as sums are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExchangeRow {
    /// The location.
    pub location: LocationId,
    /// The call site.
    pub context: ContextId,
    /// The function.
    pub operation: OperationId,
    /// The function that started what these calls completed; None = they started it themselves.
    pub completes: Option<OperationId>,
    /// Whether they belong to groups of messages to and from others that one call completes together.
    pub is_group: bool,
    /// Whether they hand on data that one process reads or writes for others.
    pub hands_on_io: bool,
    /// How many calls.
    pub calls: u64,
    /// Time in them, ns.
    pub time_ns: u64,
    /// The part of it before partners arrived, ns.
    pub partner_ns: u64,
    /// Each call divided by those who take part in it.
    pub shares: f64,
    /// Calls that have partners all of which are known.
    pub matched: u64,
    /// Calls that have partners some of which are not known.
    pub unmatched: u64,
    /// Σ of (begin of the last partner's call − own begin), where that is later, ns.
    pub later_begins_ns: u64,
    /// The same of their ends.
    pub later_ends_ns: u64,
    /// Of calls that complete: Σ of (own begin − end of the last call that started any part of it), ns.
    pub overlap_ns: u64,
    /// Of receives: Σ of (begin of the send − own begin), as far as it lies before the receive's end, ns.
    pub late_sends_ns: u64,
    /// Messages that they received.
    pub received: u64,
    /// Σ of (end of the receive − begin of the send) of these messages, ns; negative where clocks differ.
    pub spans_ns: f64,
}

/// Messages from one process to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficRow {
    /// Sender.
    pub from: ProcessId,
    /// Receiver.
    pub to: ProcessId,
    /// How many.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Collectives of one function in one communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatheringRow {
    /// Position in [`crate::Profile::communicators`].
    pub communicator: u32,
    /// The function.
    pub operation: OperationId,
    /// How often all members executed it together.
    pub instances: u64,
    /// All members' parts of the data, bytes.
    pub bytes: u64,
}

/// Parts of messages and collectives for which no partner was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedRow {
    /// Whose.
    pub process: ProcessId,
    /// What.
    pub part: MessagePart,
    /// Why.
    pub reason: UnmatchedReason,
    /// How many.
    pub count: u64,
}

/// How far the messages of a run can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageQuality {
    /// Messages of which both ends are known.
    pub messages: u64,
    /// Collectives whose members did not all call the same function with the same root.
    pub contradictions: u64,
    /// Messages that were received before they were sent, as far as the clocks go.
    pub violations: u64,
    /// The largest such difference, ns.
    pub largest_violation_ns: u64,
    /// From when on nothing was matched, ns since the run's start; None = all was.
    pub matched_until_ns: Option<u64>,
    /// Requests that were completed, of which it is not known what started them.
    pub unknown_requests: u64,
    /// Calls that send or receive messages of which the log holds nothing but their time.
    pub untraced_calls: u64,
    /// How long all of MPI took, and would have taken on an ideal network; None without two processes of one
    /// job.
    pub ideal: Option<IdealNetwork>,
}

/// A run replayed on a network without latency and with unlimited bandwidth, in which each process computes
/// as long as it did, and waits for messages and collectives only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdealNetwork {
    /// From the first process's begin of MPI to the last one's end, ns.
    pub time_ns: u64,
    /// The same on that network, ns; None where not all is matched.
    pub ideal_ns: Option<u64>,
    /// By process: time between its calls of MPI, ns.
    pub outside: Vec<(ProcessId, u64)>,
}
