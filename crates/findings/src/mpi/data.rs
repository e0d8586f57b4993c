//! Functions that spend much of the ranks' time on moving data: large messages, and collectives of many
//! bytes.
//!
//! What is lost is the time in these calls without the waits for partners. That less could be sent, or that
//! it could be on its way while the rank computes, is an assumption.

use std::collections::BTreeMap;

use proust_profile::{FunctionId, Nature, Ns};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind};
use super::super::thresholds::{self as limits, Checks};
use super::call_sites::CallSite;
use super::spent::{Spent, possible};

/// What one function moved.
#[derive(Debug, Default)]
struct Moved {
    /// Messages and collectives with data.
    times: u64,
    bytes: u64,
    /// In calls that wait for messages as well.
    spent: Spent,
}

/// All of a run.
#[derive(Debug, Default)]
pub(super) struct Data(BTreeMap<Option<FunctionId>, Moved>);

impl Data {
    /// Adds the calls at a site of a function, as far as they are about messages, or collectives, and known
    /// one by one.
    pub(super) fn add(&mut self, site: &CallSite, function: Option<FunctionId>) {
        let moves = matches!(site.kind.nature, Nature::Message | Nature::Collective);
        if !moves || site.single.events == 0 {
            return;
        }
        let of = self.0.entry(function).or_default();
        of.times += site.single.with_bytes;
        of.bytes += site.single.bytes;
        *of.spent.entry((site.location, site.context)).or_default() += site.single.spent;
    }

    pub(super) fn findings(&self, facts: &Facts<'_>) -> Vec<Finding> {
        self.0.values().filter_map(|moved| moved.finding(facts)).collect()
    }
}

impl Moved {
    fn finding(&self, facts: &Facts<'_>) -> Option<Finding> {
        let lost: Ns = self.spent.values().sum();
        let each_bytes = self.bytes as f64 / self.times.max(1) as f64;
        let mut checks = Checks::default();
        if !checks.holds(&limits::LARGE_MESSAGES, self.times as f64)
            || !checks.holds(&limits::LARGE_MESSAGE_BYTES, each_bytes)
            || !checks.holds(&limits::MOVING, lost / facts.total.max(Ns::SHORTEST))
            || !facts.matters(&mut checks, lost, lost)
        {
            return None;
        }
        let evidence = vec![
            Figure::count(FigureId::Messages, self.times as f64),
            Figure::bytes(FigureId::BytesOfMessage, each_bytes),
            Figure::time(FigureId::CallsWithoutWaits, lost),
        ];
        possible(facts, Kind::MpiMuchData, &self.spent, evidence, checks)
    }
}
