//! MPI: calls by site, waits for partners by pattern, late processes, and messages between ranks.

pub mod critical_path;
pub mod delay_costs;
pub mod efficiency;
pub mod hybrid;
mod nearby;
pub mod sizes;
mod spending;

use proust_account::blame::{Blame, CauseKind};
use proust_account::ledger::Account;
use proust_profile::{
    ContextId, EventRow, LocationId, Nature, OperationId, OperationKind, PartnerWaitRow, ProcessId, Profile,
    WaitPattern,
};
use rustc_hash::FxHashMap as Map;

use crate::selection::Selection;

/// The calls of a function at a place, by all ranks in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSum {
    /// The function.
    pub operation: OperationId,
    /// From where.
    pub context: ContextId,
    /// How many.
    pub calls: u64,
    /// Time in them, ns.
    pub time_ns: u64,
    /// The part of it before partners arrived, ns.
    pub partner_ns: u64,
    /// Bytes that they sent or received.
    pub bytes: u64,
}

/// The waits of one pattern at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitSum {
    /// Why.
    pub pattern: WaitPattern,
    /// In which function.
    pub operation: OperationId,
    /// Where.
    pub context: ContextId,
    /// How many.
    pub waits: u64,
    /// How long together, ns.
    pub time_ns: u64,
    /// The longest one, ns.
    pub longest_ns: u64,
    /// The part that work on messages that were there already could have filled, ns.
    pub misordered_ns: u64,
}

/// What made others wait, and where these waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseSum {
    /// How.
    pub kind: CauseKind,
    /// The late location.
    pub late: LocationId,
    /// What it did meanwhile.
    pub context: ContextId,
    /// Where others waited for it.
    pub victim: ContextId,
    /// How long together, ns.
    pub time_ns: u64,
}

/// Messages from one process to another, and the waits for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairSum {
    /// How many. Of the whole run.
    pub messages: u64,
    /// Their bytes. Of the whole run.
    pub bytes: u64,
    /// Waits of the receiver for the sender, ns.
    pub late_sender_ns: u64,
    /// Waits of the sender for the receiver, ns.
    pub late_receiver_ns: u64,
}

/// All of it, in scope.
#[derive(Clone, Debug, Default)]
pub struct MpiSums {
    /// By time, longest first.
    pub calls: Vec<CallSum>,
    /// By time, longest first.
    pub waits: Vec<WaitSum>,
    /// By time, longest first.
    pub causes: Vec<CauseSum>,
    /// By sender and receiver.
    pub pairs: Vec<((ProcessId, ProcessId), PairSum)>,
    /// Waits in collectives by function, ns.
    pub collective_waits: Map<OperationId, u64>,
    /// Time in calls of MPI, ns; the sum of the four that follow.
    pub mpi_ns: u64,
    /// The part of it before partners arrived, ns.
    pub partner_ns: u64,
    /// The beginning and the end of MPI, and its own work in one process, ns.
    pub runtime_ns: u64,
    /// Files, ns.
    pub io_ns: u64,
    /// All else, ns.
    pub transfer_ns: u64,
}

impl MpiSums {
    /// Sums up what is in scope. The profile needs its operations.
    pub fn of(selection: &Selection<'_>, blame: &Blame) -> MpiSums {
        let profile = selection.profile();
        let mut sums = MpiSums::default();
        sums.add_calls(selection);
        sums.add_waits(selection);
        sums.add_causes(selection, blame);
        sums.add_traffic(profile, selection);
        sums
    }

    fn add_calls(&mut self, selection: &Selection<'_>) {
        let (profile, scope) = (selection.profile(), selection.scope());
        let mut sites: Map<(OperationId, ContextId), CallSum> = Map::default();
        for event in profile.events.iter().filter(|event| scope.has_event(event)) {
            let Some(kind) = kind(profile, event.operation).filter(|kind| kind.is_of_mpi()) else { continue };
            let EventRow { operation, context, .. } = event;
            let sum = sites.entry((operation, context)).or_insert(CallSum {
                operation,
                context,
                calls: 0,
                time_ns: 0,
                partner_ns: 0,
                bytes: 0,
            });
            sum.calls += u64::from(event.calls);
            sum.time_ns += event.time_ns;
            sum.bytes = sum.bytes.saturating_add(event.bytes);
            self.mpi_ns += event.time_ns;
            *match kind.nature {
                Nature::Runtime | Nature::Local => &mut self.runtime_ns,
                nature if nature.is_io() => &mut self.io_ns,
                _ => &mut self.transfer_ns,
            } += event.time_ns;
        }
        for wait in waits_in_scope(selection) {
            if let Some(sum) = sites.get_mut(&(wait.operation, wait.context)) {
                sum.partner_ns += wait.length_ns();
                let is_io = kind(profile, wait.operation).is_some_and(|kind| kind.nature.is_io());
                let of = if is_io { &mut self.io_ns } else { &mut self.transfer_ns };
                *of = of.saturating_sub(wait.length_ns());
                self.partner_ns += wait.length_ns();
            }
        }
        self.calls = sites.into_values().collect();
        self.calls.sort_unstable_by_key(|sum| (u64::MAX - sum.time_ns, sum.operation, sum.context));
    }

    fn add_waits(&mut self, selection: &Selection<'_>) {
        let mut sites: Map<(WaitPattern, OperationId, ContextId), WaitSum> = Map::default();
        for wait in waits_in_scope(selection) {
            let PartnerWaitRow { pattern, operation, context, .. } = *wait;
            let sum = sites.entry((pattern, operation, context)).or_insert(WaitSum {
                pattern,
                operation,
                context,
                waits: 0,
                time_ns: 0,
                longest_ns: 0,
                misordered_ns: 0,
            });
            sum.waits += 1;
            sum.time_ns += wait.length_ns();
            sum.longest_ns = sum.longest_ns.max(wait.length_ns());
            sum.misordered_ns += wait.misordered_ns.min(wait.length_ns());
            if !is_of_messages(pattern) {
                *self.collective_waits.entry(operation).or_default() += wait.length_ns();
            }
        }
        self.waits = sites.into_values().collect();
        self.waits
            .sort_unstable_by_key(|sum| (u64::MAX - sum.time_ns, sum.pattern, sum.operation, sum.context));
    }

    fn add_causes(&mut self, selection: &Selection<'_>, blame: &Blame) {
        let in_scope = |location: LocationId, context: ContextId| {
            selection.locations().binary_search(&location).is_ok() && selection.has_context(context)
        };
        let mut sums: Map<(CauseKind, LocationId, ContextId, ContextId), u64> = Map::default();
        let rows = blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots);
        for row in rows.filter(|row| in_scope(row.location, row.context)) {
            let cause = row.cause;
            *sums.entry((cause.kind, cause.location, cause.context, row.context)).or_default() += row.ns;
        }
        let sum =
            |((kind, late, context, victim), time_ns)| CauseSum { kind, late, context, victim, time_ns };
        self.causes = sums.into_iter().map(sum).collect();
        self.causes.sort_unstable_by_key(|sum| {
            (u64::MAX - sum.time_ns, sum.kind, sum.late, sum.context, sum.victim)
        });
    }

    fn add_traffic(&mut self, profile: &Profile, selection: &Selection<'_>) {
        let mut pairs: Map<(ProcessId, ProcessId), PairSum> = Map::default();
        let mut in_scope = vec![false; profile.processes.len()];
        for &location in selection.locations() {
            in_scope[profile.locations[location].process.index()] = true;
        }
        let is_in_scope = |process: ProcessId| in_scope[process.index()];
        for row in profile.traffic.iter().filter(|row| is_in_scope(row.from) || is_in_scope(row.to)) {
            let sum = pairs.entry((row.from, row.to)).or_default();
            (sum.messages, sum.bytes) = (row.messages, row.bytes);
        }
        let process = |location: LocationId| profile.locations[location].process;
        for wait in waits_in_scope(selection).filter(|wait| is_of_messages(wait.pattern)) {
            let (own, late) = (process(wait.location), process(wait.late));
            if wait.pattern == WaitPattern::LateSender {
                pairs.entry((late, own)).or_default().late_sender_ns += wait.length_ns();
            } else {
                pairs.entry((own, late)).or_default().late_receiver_ns += wait.length_ns();
            }
        }
        self.pairs = pairs.into_iter().collect();
        self.pairs.sort_unstable_by_key(|(pair, _)| *pair);
    }
}

fn kind(profile: &Profile, operation: OperationId) -> Option<OperationKind> {
    profile.operations[operation].kind
}

fn is_of_messages(pattern: WaitPattern) -> bool {
    matches!(pattern, WaitPattern::LateSender | WaitPattern::LateReceiver)
}

/// A wait is in scope as an operation is that ends when the partner arrives.
fn waits_in_scope<'p>(selection: &Selection<'p>) -> impl Iterator<Item = &'p PartnerWaitRow> {
    selection.profile().partner_waits.iter().filter(|wait| is_in_scope(selection, wait))
}

fn is_in_scope(selection: &Selection<'_>, wait: &PartnerWaitRow) -> bool {
    selection.scope().has_event(&EventRow {
        location: wait.location,
        context: wait.context,
        operation: wait.operation,
        begin_ns: wait.begin_ns,
        end_ns: wait.until_ns,
        ..EventRow::default()
    })
}
