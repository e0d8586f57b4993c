//! The lines of the page `mpi`.

use proust_account::blame::CauseKind;
use proust_profile::{
    ClockBasis, CommunicatorInfo, HostClock, LocationId, MessageQuality, OperationId, ProcessId, Profile,
    UnmatchedRow, WaitPattern,
};
use proust_query::mpi::{CallSum, MpiSums, PairSum, WaitSum};
use proust_query::{Handle, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::site::Site;
use super::by_place::{Placed, by_place};
use crate::number::sum;

/// The waits of one pattern.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WaitState {
    pub(super) pattern: &'static str,
    pub(super) seconds: f64,
    pub(super) count: u64,
    pub(super) sites: Vec<WaitSite>,
}

/// A place where ranks waited.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct WaitSite {
    pub(super) operation: String,
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) seconds: f64,
    pub(super) count: u64,
    pub(super) longest_s: f64,
    pub(super) wrong_order_s: f64,
}

impl Placed for WaitSite {
    fn place(&self) -> String {
        format!("{} {}", self.operation, self.site.text())
    }

    fn add(&mut self, other: &WaitSite) {
        self.seconds += other.seconds;
        self.count += other.count;
        self.longest_s = self.longest_s.max(other.longest_s);
        self.wrong_order_s += other.wrong_order_s;
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}

impl WaitState {
    /// By seconds, most first; only patterns that occurred.
    pub(super) fn all(selection: &Selection<'_>, sums: &MpiSums) -> Vec<WaitState> {
        let profile = selection.profile();
        let state = |pattern: WaitPattern| {
            let site = |sum: &WaitSum| WaitSite {
                operation: operation(profile, sum.operation),
                site: Site::of(selection, sum.context),
                context: Handle::Context(sum.context).to_string(),
                seconds: seconds(sum.time_ns),
                count: sum.waits,
                longest_s: seconds(sum.longest_ns),
                wrong_order_s: seconds(sum.misordered_ns),
            };
            let of_pattern = || sums.waits.iter().filter(|sum| sum.pattern == pattern);
            WaitState {
                pattern: pattern.id(),
                seconds: seconds(of_pattern().map(|sum| sum.time_ns).sum()),
                count: of_pattern().map(|sum| sum.waits).sum(),
                sites: of_pattern().map(site).collect(),
            }
        };
        let mut states: Vec<WaitState> = WaitPattern::ALL.iter().map(|&pattern| state(pattern)).collect();
        states.retain(|state| state.count > 0);
        states.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        states
    }
}

/// What made others wait.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct CauseLine {
    pub(super) kind: &'static str,
    /// Of the late process; null if it is none of a job.
    pub(super) rank: Option<u32>,
    pub(super) thread: String,
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) seconds: f64,
    pub(super) victims: Vec<VictimLine>,
}

/// A place where others waited for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct VictimLine {
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) seconds: f64,
}

impl CauseLine {
    /// By seconds, most first.
    pub(super) fn all(selection: &Selection<'_>, sums: &MpiSums) -> Vec<CauseLine> {
        let profile = selection.profile();
        let mut order: Vec<_> = sums.causes.iter().collect();
        order.sort_by_key(|sum| (sum.late, sum.context, sum.kind));
        let same = |a: &&&_, b: &&&_| -> bool {
            let (a, b): (&proust_query::mpi::CauseSum, &proust_query::mpi::CauseSum) = (a, b);
            (a.late, a.context, a.kind) == (b.late, b.context, b.kind)
        };
        let mut lines: Vec<CauseLine> = order
            .chunk_by(|a, b| same(&a, &b))
            .map(|of_one| {
                let first = of_one[0];
                let mut victims: Vec<VictimLine> = (of_one.iter())
                    .map(|sum| VictimLine {
                        site: Site::of(selection, sum.victim),
                        context: Handle::Context(sum.victim).to_string(),
                        seconds: seconds(sum.time_ns),
                    })
                    .collect();
                victims.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
                CauseLine {
                    kind: first.kind.id(),
                    rank: rank(profile, first.late),
                    thread: Handle::Location(first.late).to_string(),
                    site: Site::of_location(selection, first.context, first.late),
                    context: Handle::Context(first.context).to_string(),
                    seconds: sum(victims.iter().map(|victim| victim.seconds)),
                    victims,
                }
            })
            .collect();
        lines.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        lines
    }

    /// The late process, as text.
    pub(super) fn by(&self) -> String {
        rank_or_thread(self.rank, &self.thread)
    }

    /// How it caused that, in words.
    pub(super) fn how(&self) -> &'static str {
        match self.kind {
            kind if kind == CauseKind::Late.id() => "",
            kind if kind == CauseKind::Displaced.id() => "queued",
            _ => "not known",
        }
    }
}

impl Placed for CauseLine {
    fn place(&self) -> String {
        format!("{} {} {}", self.by(), self.kind, self.site.text())
    }

    fn add(&mut self, other: &CauseLine) {
        self.seconds += other.seconds;
        self.victims = by_place(self.victims.iter().chain(&other.victims));
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}

impl Placed for VictimLine {
    fn place(&self) -> String {
        self.site.text()
    }

    fn add(&mut self, other: &VictimLine) {
        self.seconds += other.seconds;
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}

/// The calls of a function at a place.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct OperationLine {
    pub(super) operation: String,
    #[serde(flatten)]
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) calls: u64,
    pub(super) seconds: f64,
    pub(super) partner_s: f64,
    pub(super) bytes: u64,
}

impl OperationLine {
    pub(super) fn new(selection: &Selection<'_>, sum: &CallSum) -> OperationLine {
        OperationLine {
            operation: operation(selection.profile(), sum.operation),
            site: Site::of(selection, sum.context),
            context: Handle::Context(sum.context).to_string(),
            calls: sum.calls,
            seconds: seconds(sum.time_ns),
            partner_s: seconds(sum.partner_ns),
            bytes: sum.bytes,
        }
    }
}

impl Placed for OperationLine {
    fn place(&self) -> String {
        format!("{} {}", self.operation, self.site.text())
    }

    fn add(&mut self, other: &OperationLine) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.partner_s += other.partner_s;
        self.bytes += other.bytes;
    }

    fn amount_s(&self) -> f64 {
        self.seconds
    }
}

/// A process, as a sender or receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ProcessName {
    pub(super) rank: Option<u32>,
    pub(super) process: String,
}

impl ProcessName {
    pub(super) fn new(profile: &Profile, id: ProcessId) -> ProcessName {
        ProcessName { rank: profile.processes[id].rank, process: Handle::Process(id).to_string() }
    }

    pub(super) fn text(&self) -> String {
        self.rank.map_or_else(|| self.process.clone(), |rank| rank.to_string())
    }
}

/// Messages from one process to another.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PairLine {
    pub(super) from: ProcessName,
    pub(super) to: ProcessName,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) late_sender_s: f64,
    pub(super) late_receiver_s: f64,
}

impl PairLine {
    pub(super) fn new(profile: &Profile, (from, to): (ProcessId, ProcessId), sum: &PairSum) -> PairLine {
        PairLine {
            from: ProcessName::new(profile, from),
            to: ProcessName::new(profile, to),
            messages: sum.messages,
            bytes: sum.bytes,
            late_sender_s: seconds(sum.late_sender_ns),
            late_receiver_s: seconds(sum.late_receiver_ns),
        }
    }
}

/// Collectives of one function, of the whole run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CollectiveLine {
    pub(super) operation: String,
    pub(super) instances: u64,
    pub(super) bytes: u64,
    /// In scope.
    pub(super) partner_s: f64,
    /// By communicator, as positions in `communicators`.
    pub(super) communicators: Vec<u32>,
}

impl CollectiveLine {
    pub(super) fn all(profile: &Profile, sums: &MpiSums) -> Vec<CollectiveLine> {
        let mut lines: Vec<(OperationId, CollectiveLine)> = Vec::new();
        for row in &profile.gatherings {
            let at = lines.iter().position(|(id, _)| *id == row.operation).unwrap_or_else(|| {
                let waited_ns = sums.collective_waits.get(&row.operation).copied().unwrap_or(0);
                let line = CollectiveLine {
                    operation: operation(profile, row.operation),
                    instances: 0,
                    bytes: 0,
                    partner_s: seconds(waited_ns),
                    communicators: Vec::new(),
                };
                lines.push((row.operation, line));
                lines.len() - 1
            });
            let line = &mut lines[at].1;
            line.instances += row.instances;
            line.bytes = line.bytes.saturating_add(row.bytes);
            line.communicators.push(row.communicator);
        }
        let mut lines: Vec<CollectiveLine> = lines.into_iter().map(|(_, line)| line).collect();
        lines.sort_by(|a, b| b.partner_s.total_cmp(&a.partner_s).then(b.instances.cmp(&a.instances)));
        lines
    }
}

/// A communicator.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CommunicatorLine {
    pub(super) id: String,
    pub(super) world: bool,
    pub(super) size: u32,
    /// Processes on the other side of an intercommunicator; null if it is none.
    pub(super) second_size: Option<u32>,
    pub(super) recorded: u32,
    pub(super) known: bool,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// World ranks of its members; empty = not known.
    pub(super) members: Vec<u32>,
}

impl CommunicatorLine {
    pub(super) fn new(info: &CommunicatorInfo) -> CommunicatorLine {
        CommunicatorLine {
            id: format!("{:016x}", info.id),
            world: info.is_world,
            size: info.size,
            second_size: (info.second_size > 0).then_some(info.second_size),
            recorded: info.recorded,
            known: info.is_known,
            messages: info.messages,
            bytes: info.bytes,
            members: info.members.clone(),
        }
    }
}

/// Parts of messages and collectives without a partner.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UnmatchedLine {
    #[serde(flatten)]
    pub(super) process: ProcessName,
    pub(super) part: &'static str,
    pub(super) reason: &'static str,
    pub(super) count: u64,
}

impl UnmatchedLine {
    pub(super) fn new(profile: &Profile, row: &UnmatchedRow) -> UnmatchedLine {
        UnmatchedLine {
            process: ProcessName::new(profile, row.process),
            part: row.part.id(),
            reason: row.reason.id(),
            count: row.count,
        }
    }
}

/// How far messages can be trusted.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Matching {
    pub(super) messages: u64,
    pub(super) contradictions: u64,
    pub(super) violations: u64,
    pub(super) largest_violation_s: f64,
    pub(super) matched_until_s: Option<f64>,
    pub(super) unknown_requests: u64,
    pub(super) untraced_calls: u64,
}

impl Matching {
    pub(super) fn new(quality: &MessageQuality) -> Matching {
        Matching {
            messages: quality.messages,
            contradictions: quality.contradictions,
            violations: quality.violations,
            largest_violation_s: seconds(quality.largest_violation_ns),
            matched_until_s: quality.matched_until_ns.map(seconds),
            unknown_requests: quality.unknown_requests,
            untraced_calls: quality.untraced_calls,
        }
    }
}

/// The clock of a host.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClockLine {
    pub(super) host: String,
    /// `reference`, `messages` or `clock-of-day`.
    #[schemars(with = "String")]
    pub(super) basis: ClockBasis,
    /// What was added to its times where it was first compared.
    pub(super) offset_s: f64,
    pub(super) drift_ppm: f64,
    /// How far off it may be where it was compared; null = not known.
    pub(super) error_s: Option<f64>,
}

impl ClockLine {
    pub(super) fn new(clock: &HostClock) -> ClockLine {
        ClockLine {
            host: clock.host.clone(),
            basis: clock.basis,
            offset_s: clock.shift_ns as f64 / 1e9,
            drift_ppm: clock.drift_ppb as f64 / 1e3,
            error_s: clock.error_ns.map(seconds),
        }
    }
}

pub(super) fn operation(profile: &Profile, id: OperationId) -> String {
    profile.operations[id].name.clone()
}

pub(super) fn rank(profile: &Profile, location: LocationId) -> Option<u32> {
    profile.processes[profile.locations[location].process].rank
}

/// A late process as text: its rank, or the thread where it has none.
pub(super) fn rank_or_thread(rank: Option<u32>, thread: &str) -> String {
    rank.map_or_else(|| thread.to_owned(), |rank| rank.to_string())
}
