//! Calls whose cost is that of calling: many small messages, and collectives of a few bytes that follow each
//! other at once.
//!
//! What is lost is the time in these calls without the waits for partners.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::{ContextId, Detail, FunctionId, Nature, Ns};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::accesses::Accesses;
use super::call_sites::{CallSite, call_sites};
use super::data::Data;
use super::repeated::Repeated;
use super::spent::{Spent, victims};

/// The least bytes of a message whose cost is mostly that of its bytes.
const GOOD_BYTES: f64 = 65_536.0;
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

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if !facts.operations.any(|kind| kind.is_of_mpi()) {
        return Vec::new();
    }
    let mut messages: BTreeMap<Option<FunctionId>, Messages> = BTreeMap::new();
    let mut grouped: BTreeMap<Option<FunctionId>, Grouped> = BTreeMap::new();
    let mut repeated = Repeated::new(facts.profile);
    let (mut accesses, mut data) = (Accesses::new(facts.profile), Data::default());
    for site in &call_sites(facts) {
        let function = facts.places.function(site.context);
        repeated.add(site, function);
        accesses.add(site, function);
        data.add(site, function);
        if site.kind.nature == Nature::Message && site.single.events > 0 {
            messages.entry(function).or_default().add(site);
        }
        if site.followed.events > 0 {
            grouped.entry(function).or_default().add(site);
        }
    }
    let small = messages.values().filter_map(|of| small_messages(facts, of));
    let grouped = grouped.values().filter_map(|of| groupable(facts, of));
    let known = small.chain(grouped).chain(repeated.findings(facts));
    known.chain(accesses.findings(facts)).chain(data.findings(facts)).collect()
}

impl Messages {
    fn add(&mut self, site: &CallSite) {
        let of = &site.single;
        *self.spent.entry((site.location, site.context)).or_default() += of.spent;
        let (sends, receives) = match site.kind.detail {
            Detail::Send => (true, false),
            Detail::Receive => (false, true),
            Detail::SendReceive => (true, true),
            _ => return,
        };
        if sends {
            self.in_a_row += site.in_a_row;
            self.sends += of.events;
            self.sent_bytes += of.bytes;
        }
        if receives {
            self.receives += of.events;
            self.received_bytes += of.bytes;
        }
        // One place of a send outweighs all of receives.
        *self.places.entry(site.context).or_default() += of.events << if sends { 20 } else { 0 };
    }
}

impl Grouped {
    fn add(&mut self, site: &CallSite) {
        self.times += site.followed.events;
        self.bytes += site.followed.bytes;
        *self.spent.entry((site.location, site.context)).or_default() += site.followed.spent;
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
