//! Calls whose cost is that of calling: many small messages, and collectives of a few bytes that follow each
//! other at once.
//!
//! What is lost is the time in these calls without the waits for partners.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::mpi_metrics::Waits;
use proust_profile::{ContextId, Detail, EventRow, FunctionId, Nature, Ns, OperationId};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::accesses::Accesses;
use super::data::Data;
use super::repeated::Repeated;
use super::spent::{Spent, victims};

/// The least bytes of a message whose cost is mostly that of its bytes.
const GOOD_BYTES: f64 = 65_536.0;
/// A collective that begins so soon after another one has ended follows it at once.
const AT_ONCE_NS: u64 = 5_000;
/// The part of the messages that must be sent to the same rank as the one before, without a message received
/// between, so that they could surely be one.
const IN_A_ROW: f64 = 0.5;

/// Messages in one function.
#[derive(Debug, Default)]
struct Messages {
    sends: u64,
    sent_bytes: u64,
    receives: u64,
    received_bytes: u64,
    /// Sends to the same rank, under the same tag, as the last one, with nothing received between.
    in_a_row: u64,
    /// Places of sends, or else of receives, by number.
    places: FxHashMap<ContextId, u64>,
    spent: Spent,
}

/// Collectives in one function that followed another one at once.
#[derive(Debug, Default)]
struct Grouped {
    times: u64,
    bytes: u64,
    spent: Spent,
}

/// What a location did last.
#[derive(Debug, Default)]
struct Last {
    /// Communicator and envelope of the last send, if nothing was received since.
    sent: Option<(u64, u64)>,
    /// The last collective: function, communicator, end.
    collective: Option<(OperationId, u64, u64)>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if !facts.operations.any(|kind| kind.is_of_mpi()) {
        return Vec::new();
    }
    let mut messages: BTreeMap<Option<FunctionId>, Messages> = BTreeMap::new();
    let mut grouped: BTreeMap<Option<FunctionId>, Grouped> = BTreeMap::new();
    let mut repeated = Repeated::new(facts.profile);
    let (mut accesses, mut data) = (Accesses::new(facts.profile), Data::default());
    let mut waits = Waits::of(&facts.profile.partner_waits);
    let (mut location, mut last) = (None, Last::default());
    for event in facts.profile.events.iter() {
        let event = &event;
        let Some(kind) = facts.operation(event.operation).filter(|kind| kind.is_of_mpi()) else { continue };
        if location != Some(event.location) {
            (location, last) = (Some(event.location), Last::default());
        }
        let waited_ns = waits.find(event).map_or(0, |wait| wait.length_ns());
        let spent = Ns::of(event.time_ns.saturating_sub(waited_ns));
        let function = facts.places.function(event.context);
        repeated.add(event, function, spent);
        accesses.add(event, function, spent);
        // Of polls, and others in sums, it is only known how long they took together.
        if event.summed || !matches!(kind.nature, Nature::Message | Nature::Collective) {
            last = Last::default();
            continue;
        }
        data.add(event, function, spent);
        if kind.nature == Nature::Message {
            last.collective = None;
            let of = messages.entry(function).or_default();
            of.add(event, kind.detail, &mut last.sent);
            *of.spent.entry((event.location, event.context)).or_default() += spent;
            continue;
        }
        last.sent = None;
        let before = last.collective.take();
        if kind.detail != Detail::Exchange {
            continue;
        }
        last.collective = Some((event.operation, event.object, event.end_ns));
        let follows = before.is_some_and(|(operation, communicator, end_ns)| {
            (operation, communicator) == (event.operation, event.object)
                && event.begin_ns <= end_ns.saturating_add(AT_ONCE_NS)
        });
        if follows && event.bytes > 0 {
            let of = grouped.entry(function).or_default();
            of.times += 1;
            of.bytes += event.bytes;
            *of.spent.entry((event.location, event.context)).or_default() += spent;
        }
    }
    let small = messages.values().filter_map(|of| small_messages(facts, of));
    let grouped = grouped.values().filter_map(|of| groupable(facts, of));
    let known = small.chain(grouped).chain(repeated.findings(facts));
    known.chain(accesses.findings(facts)).chain(data.findings(facts)).collect()
}

impl Messages {
    fn add(&mut self, event: &EventRow, detail: Detail, sent: &mut Option<(u64, u64)>) {
        let (sends, receives) = match detail {
            Detail::Send => (true, false),
            Detail::Receive => (false, true),
            Detail::SendReceive => (true, true),
            _ => return,
        };
        if sends {
            let to = (event.object, event.object2);
            self.in_a_row += u64::from(*sent == Some(to));
            *sent = Some(to);
            self.sends += 1;
            self.sent_bytes += event.bytes;
        }
        if receives {
            *sent = None;
            self.receives += 1;
            self.received_bytes += event.bytes;
        }
        // One place of a send outweighs all of receives.
        *self.places.entry(event.context).or_default() += if sends { 1 << 20 } else { 1 };
    }
}

fn small_messages(facts: &Facts<'_>, of: &Messages) -> Option<Finding> {
    let (messages, bytes) = match of.sends >= of.receives {
        true => (of.sends, of.sent_bytes),
        false => (of.receives, of.received_bytes),
    };
    let each_bytes = bytes as f64 / messages.max(1) as f64;
    let spent: Ns = of.spent.values().sum();
    let lost = spent * (1.0 - (each_bytes / GOOD_BYTES).min(1.0));
    let mut checks = Checks::default();
    if !checks.holds(&limits::SMALL_MESSAGES, messages as f64)
        || !checks.holds(&limits::SMALL_MESSAGE_BYTES, each_bytes)
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let (&context, _) =
        of.places.iter().max_by_key(|&(&context, &times)| (times, std::cmp::Reverse(context)))?;
    let cause = facts.located(facts.places.place(context), of.spent.keys().map(|key| key.0));
    let mut finding = facts.finding(Kind::MpiSmallMessages, Account::MpiTransfer, lost, lost, cause);
    finding.victims = victims(facts, &of.spent);
    let in_a_row = of.in_a_row as f64 / of.sends.max(1) as f64;
    finding.evidence = vec![
        Figure::count(FigureId::Messages, messages as f64),
        Figure::bytes(FigureId::BytesOfMessage, each_bytes),
        Figure::time(FigureId::TimeOfMessage, spent / messages as f64),
        Figure::time(FigureId::CallsWithoutWaits, spent),
        Figure::share(FigureId::ShareToSameRank, in_a_row),
    ];
    finding.sure = if in_a_row >= IN_A_ROW { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

fn groupable(facts: &Facts<'_>, of: &Grouped) -> Option<Finding> {
    let lost: Ns = of.spent.values().sum();
    let each_bytes = of.bytes as f64 / of.times.max(1) as f64;
    let mut checks = Checks::default();
    if !checks.holds(&limits::GROUPED_TIMES, of.times as f64)
        || !checks.holds(&limits::GROUPED_BYTES, each_bytes)
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let most = of.spent.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
    let cause = facts.located(facts.places.place(most.0.1), of.spent.keys().map(|key| key.0));
    let mut finding = facts.finding(Kind::MpiGroupableCollectives, Account::MpiTransfer, lost, lost, cause);
    finding.victims = victims(facts, &of.spent);
    finding.evidence = vec![
        Figure::count(FigureId::FollowingCollectives, of.times as f64),
        Figure::bytes(FigureId::BytesOfEach, each_bytes),
        Figure::time(FigureId::EachWithoutWaits, lost / of.times as f64),
        Figure::time(FigureId::AllOfThem, lost),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
