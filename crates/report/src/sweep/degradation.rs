//! The page `degradation`: places that become slower with more threads, and the causes.
//!
//! JSON:
//! `{"schema":1,"sweep":{…},"definition":"robust"|"paper","counts":[…],"regions":[…],"findings":[…],
//! "disagreements":[…],"notes":[…]}`. A region is
//! `{"id","parent","children":[id],"kind","name","file","line","times":[…],"ranks":[count],
//! "oversubscribed_ranks":[count],"minimal_rank":count|null,"clean_below":count|null,"class":"degraded"|
//! "inconclusive"|"scales"|"flat"}`; one of its times
//! `{"count","oversubscribed","time_s","low_s","high_s","corrected_s","corrected_error_s","queued_share",
//! "speedup",
//! "efficiency","serial_speedup":…|null,"best":count|null,"verdict":"degraded"|"not"|"inconclusive",
//! "why":…|null,
//! "more_runs":n|null,"strength_s","loss_s","excess_s","scaling_loss_s","threads":[…]}`: `corrected_s` is
//! the time without the cost of measuring, and all fields after it are based on that. `threads` are those
//! of the fastest repetition, in regions and at their sites:
//! `{"handle","time_s","corrected_s","corrected_error_s"}`. A finding is
//! `{"path":[id],"region","cause","count","better","loss_s","causes":{…},"more":{…},"visits",
//! "advice":{"id","text"}|null}`.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use proust_compare::JointId;
use proust_compare::degradation::{Assessment, Degradation, Finding, Verdict};
use proust_compare::scaling::Causes;
use proust_compare::scaling::{Ensemble, ThreadTime};
use proust_profile::Ns;
use proust_query::Handle;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::head::{SweepBlock, notes};
use super::order::{disagreement, in_order};
use super::{Page, SweepQuestion, SweepView, wording};
use crate::number::exact;
use crate::pages::place;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::{Notes, SweepNote};

/// The least part of the program's time that a region must take with some count to be a row.
const SHOWN: f64 = 0.005;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DegradationPage {
    schema: u32,
    sweep: SweepBlock,
    definition: &'static str,
    pub counts: Vec<u32>,
    /// The least wall time of the serial reference.
    serial_s: Option<f64>,
    pub regions: Vec<RegionRow>,
    pub findings: Vec<FindingRow>,
    disagreements: Vec<DisagreementRow>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RegionRow {
    pub id: JointId,
    parent: Option<JointId>,
    children: Vec<JointId>,
    kind: &'static str,
    pub name: String,
    file: Option<String>,
    line: Option<u32>,
    pub times: Vec<TimeRow>,
    ranks: Vec<u32>,
    oversubscribed_ranks: Vec<u32>,
    pub minimal_rank: Option<u32>,
    clean_below: Option<u32>,
    pub class: &'static str,
    #[serde(skip)]
    pub depth: usize,
    #[serde(skip)]
    pub is_entrance: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TimeRow {
    pub count: u32,
    pub oversubscribed: bool,
    /// As it was measured.
    time_s: f64,
    low_s: f64,
    high_s: f64,
    /// Without the cost of measuring.
    pub corrected_s: f64,
    corrected_error_s: f64,
    queued_share: f64,
    pub speedup: f64,
    pub efficiency: f64,
    /// The serial reference's wall time by that of the program; of places inside it is not known.
    serial_speedup: Option<f64>,
    best: Option<u32>,
    pub verdict: &'static str,
    why: Option<&'static str>,
    more_runs: Option<u32>,
    pub strength_s: f64,
    pub loss_s: f64,
    excess_s: f64,
    scaling_loss_s: f64,
    threads: Vec<ThreadRow>,
}

/// A thread's time in a region, or up to a site and in it.
#[derive(Debug, Serialize, JsonSchema)]
struct ThreadRow {
    handle: String,
    time_s: f64,
    corrected_s: f64,
    corrected_error_s: f64,
}

impl ThreadRow {
    fn new(of: &ThreadTime) -> ThreadRow {
        ThreadRow {
            handle: Handle::Location(of.location).to_string(),
            time_s: of.time.as_seconds(),
            corrected_s: (of.time - Ns::from_seconds(of.cost.ns / 1e9)).max(Ns::ZERO).as_seconds(),
            corrected_error_s: of.cost.error_ns() / 1e9,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindingRow {
    pub path: Vec<JointId>,
    region: String,
    cause: String,
    file: Option<String>,
    line: Option<u32>,
    count: u32,
    better: u32,
    minimal_rank: Option<u32>,
    loss_s: f64,
    causes: BTreeMap<&'static str, f64>,
    more: BTreeMap<&'static str, f64>,
    visits: u64,
    advice: Option<AdviceRow>,
    #[serde(skip)]
    names: Vec<String>,
    #[serde(skip)]
    split: [Causes; 2],
}

#[derive(Debug, Serialize, JsonSchema)]
struct AdviceRow {
    id: &'static str,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DisagreementRow {
    id: JointId,
    name: String,
    fewest: u64,
    fewest_count: u32,
    most: u64,
    most_count: u32,
}

impl DegradationPage {
    pub fn build(view: &SweepView<'_>, question: &SweepQuestion) -> DegradationPage {
        let ensemble = view.ensemble;
        let assessment = view.assessment(question);
        let program = assessment.places.first();
        let longest = program.and_then(|place| place.ranks.iter().map(|rank| rank.time).max());
        let longest = longest.unwrap_or_default();
        let matters = |node: JointId| {
            let place = &assessment.places[node as usize];
            place.is_degraded() || place.ranks.iter().any(|rank| rank.time >= longest * SHOWN)
        };
        let ranks = |node: JointId| assessment.places[node as usize].ranks.iter();
        // The paper follows the strongest; the time that fewer threads would save is more useful, but the
        // paper does not use it.
        let weight = |node: JointId| match question.paper {
            true => ranks(node).map(|rank| rank.strength().as_seconds()).fold(0.0, f64::max),
            false => ranks(node).map(|rank| rank.excess.as_seconds()).fold(f64::NEG_INFINITY, f64::max),
        };
        let order = in_order(ensemble, &weight, &matters);
        let serial_s = view.serial_s.iter().copied().reduce(f64::min);
        let mut regions: Vec<RegionRow> = order
            .iter()
            .map(|&(node, depth)| {
                RegionRow::new(ensemble, &assessment.places[node as usize], (node, depth), serial_s)
            })
            .collect();
        let shown: BTreeSet<JointId> = regions.iter().map(|region| region.id).collect();
        let mut children: BTreeMap<JointId, Vec<JointId>> = BTreeMap::new();
        for region in &mut regions {
            // A place without time gets no row: the parent is the next one above that does.
            while let Some(parent) = region.parent.filter(|parent| !shown.contains(parent)) {
                region.parent = ensemble.joint().parent(parent);
            }
            if let Some(parent) = region.parent {
                children.entry(parent).or_default().push(region.id);
            }
        }
        for region in &mut regions {
            region.children = children.remove(&region.id).unwrap_or_default();
        }
        for region in &mut regions {
            region.is_entrance = wording::is_entrance(ensemble, region.id);
        }
        let mut notes = notes(view);
        let is_disturbed = |finding: &&Finding| {
            assessment.places[finding.path[0] as usize].ranks[finding.count].is_disturbed
        };
        let disturbed = assessment.findings.iter().filter(is_disturbed).count();
        if disturbed > 0 {
            notes.push(SweepNote::DisturbedRegions { regions: disturbed });
        }
        for difference in assessment.disagreements.iter().take(3) {
            notes.push(disagreement(ensemble, difference));
        }
        let findings =
            assessment.findings.iter().map(|finding| FindingRow::new(ensemble, &assessment, finding));
        let disagreements = assessment.disagreements.iter().map(|d| DisagreementRow {
            id: d.node,
            name: wording::name(ensemble, d.node),
            fewest: d.fewest.0,
            fewest_count: d.fewest.1,
            most: d.most.0,
            most_count: d.most.1,
        });
        DegradationPage {
            schema: SCHEMA,
            sweep: SweepBlock::new(view, question),
            definition: if question.paper { "paper" } else { "robust" },
            counts: ensemble.counts().to_vec(),
            serial_s,
            findings: findings.collect(),
            disagreements: disagreements.collect(),
            regions,
            notes,
            limit: question.limit,
        }
    }
}

impl RegionRow {
    fn new(
        ensemble: &Ensemble<'_>,
        judged: &Degradation,
        (node, depth): (JointId, usize),
        serial_s: Option<f64>,
    ) -> RegionRow {
        // The program is the first of all places.
        let serial_s = serial_s.filter(|_| node == 0);
        let label = ensemble.label(node);
        let minimal = judged.minimal();
        let timings = ensemble.timings(node);
        let times = judged.ranks.iter().zip(&timings).enumerate().map(|(at, (rank, timing))| TimeRow {
            count: rank.count,
            oversubscribed: rank.oversubscribed,
            time_s: rank.measured.as_seconds(),
            low_s: timing.interval().low.as_seconds(),
            high_s: timing.interval().high.as_seconds(),
            corrected_s: rank.time.as_seconds(),
            corrected_error_s: rank.time_error.as_seconds(),
            queued_share: timing.queued_share(),
            speedup: rank.speedup,
            efficiency: rank.efficiency,
            serial_speedup: (serial_s.filter(|_| rank.time.is_positive()))
                .map(|serial_s| serial_s / rank.time.as_seconds()),
            best: rank.best,
            verdict: rank.verdict.id(),
            why: match rank.verdict {
                Verdict::Inconclusive(why) => Some(why.id()),
                _ => None,
            },
            more_runs: rank.more_runs(),
            strength_s: rank.strength().as_seconds(),
            loss_s: rank.loss().as_seconds(),
            excess_s: rank.excess.as_seconds(),
            scaling_loss_s: rank.scaling_loss.as_seconds(),
            threads: ensemble.threads(node, at).iter().map(ThreadRow::new).collect(),
        });
        RegionRow {
            id: node,
            parent: ensemble.joint().parent(node),
            children: Vec::new(),
            kind: wording::kind(ensemble, node),
            name: wording::name(ensemble, node),
            file: label.file.map(str::to_owned),
            line: label.line,
            times: times.collect(),
            ranks: judged.set(),
            oversubscribed_ranks: judged.oversubscribed_set(),
            minimal_rank: minimal.map(|(rank, _)| rank),
            clean_below: minimal.map(|(_, clean)| clean),
            class: class(judged),
            depth,
            is_entrance: false,
        }
    }
}

/// What a region is as a whole. Flat: it takes as long with any count, like work of a single thread.
fn class(judged: &Degradation) -> &'static str {
    let inconclusive = |verdict: Verdict| matches!(verdict, Verdict::Inconclusive(_));
    let in_order = || judged.ranks.iter().filter(|rank| !rank.oversubscribed);
    if judged.is_degraded() {
        "degraded"
    } else if judged.ranks.iter().any(|rank| inconclusive(rank.verdict)) {
        "inconclusive"
    } else if in_order().skip(1).any(|rank| rank.speedup > 1.1) {
        "scales"
    } else {
        "flat"
    }
}

impl FindingRow {
    fn new(ensemble: &Ensemble<'_>, assessment: &Assessment, finding: &Finding) -> FindingRow {
        let end = finding.path[finding.path.len() - 1];
        let label = ensemble.label(end);
        let seconds =
            |causes: &Causes| causes.iter().map(|(cause, time)| (cause.id(), time.as_seconds())).collect();
        FindingRow {
            region: wording::name(ensemble, finding.path[0]),
            cause: wording::name(ensemble, end),
            file: label.file.map(str::to_owned),
            line: label.line,
            count: ensemble.counts()[finding.count],
            better: ensemble.counts()[finding.best],
            minimal_rank: assessment.places[end as usize].minimal().map(|(rank, _)| rank),
            loss_s: finding.loss.as_seconds(),
            causes: seconds(&finding.causes),
            more: seconds(&finding.more),
            visits: finding.visits,
            advice: finding
                .advice
                .map(|advice| AdviceRow { id: advice.id(), text: wording::advice(&advice) }),
            names: from_the_top(ensemble, finding)
                .iter()
                .filter(|&&node| !wording::is_entrance(ensemble, node))
                .map(|&node| path_name(ensemble, node))
                .collect(),
            split: [finding.causes, finding.more],
            path: finding.path.clone(),
        }
    }
}

/// The path with all places around its first one, which may not be degraded themselves.
fn from_the_top(ensemble: &Ensemble<'_>, finding: &Finding) -> Vec<JointId> {
    let mut above = Vec::new();
    let mut at = ensemble.joint().parent(finding.path[0]);
    while let Some(place) = at {
        above.push(place);
        at = ensemble.joint().parent(place);
    }
    above.into_iter().rev().chain(finding.path.iter().copied()).collect()
}

/// A place on a path, with where it is.
fn path_name(ensemble: &Ensemble<'_>, node: JointId) -> String {
    let label = ensemble.label(node);
    let name = wording::name(ensemble, node);
    match place(label.file, label.line) {
        Some(at) if !name.contains(&at) && !at.starts_with("libc_start") => format!("{name}  called at {at}"),
        _ => name,
    }
}

impl Page for DegradationPage {
    fn text(&self, style: &Style) -> String {
        let mut text = self.sweep.text(style, "Degradation");
        text.push_str(match self.definition {
            "paper" => {
                " degraded: slower than with some fewer threads, by however little (the original \
                 definition); the strongest first\n"
            }
            _ => {
                " degraded: slower than with some fewer threads, beyond the spread of repetitions, by 5 % \
                 and half a percent of the program\n"
            }
        });
        text.push('\n');
        text.push_str(&self.regions_text(style));
        if self.findings.is_empty() {
            text.push_str("\n Nothing is slower with more threads");
            text.push_str(if self.definition == "paper" { ".\n" } else { ", beyond doubt.\n" });
            let in_doubt = || self.regions.iter().filter(|region| region.class == "inconclusive");
            let doubtful = in_doubt().count();
            if doubtful > 0 {
                let times = in_doubt().flat_map(|region| &region.times);
                let advice = match times.filter_map(|time| time.more_runs).max() {
                    Some(more) => format!(
                        "the same sweep with --repeat {} would probably decide",
                        self.sweep.repetitions.saturating_add(more)
                    ),
                    None => "more repetitions would hardly decide".to_owned(),
                };
                text.push_str(&format!(" {} may be (?): {advice}.\n", counted(doubtful, "region")));
            }
        }
        for (number, finding) in self.findings.iter().enumerate() {
            text.push('\n');
            text.push_str(&finding.text(number + 1, style));
        }
        text.push_str(&self.notes.lines(style));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "id",
            "parent",
            "kind",
            "name",
            "file",
            "line",
            "count",
            "oversubscribed",
            "time_s",
            "low_s",
            "high_s",
            "corrected_s",
            "corrected_error_s",
            "speedup",
            "efficiency",
            "verdict",
            "strength_s",
            "loss_s",
            "scaling_loss_s",
            "minimal_rank",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for region in &self.regions {
            for time in &region.times {
                let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
                let mut row = vec![
                    region.id.to_string(),
                    number(region.parent),
                    region.kind.to_owned(),
                    region.name.clone(),
                    region.file.clone().unwrap_or_default(),
                    number(region.line),
                    time.count.to_string(),
                    time.oversubscribed.to_string(),
                ];
                let times = [time.time_s, time.low_s, time.high_s, time.corrected_s, time.corrected_error_s];
                row.extend(times.into_iter().chain([time.speedup, time.efficiency]).map(exact));
                row.push(time.verdict.to_owned());
                row.extend([time.strength_s, time.loss_s, time.scaling_loss_s].map(exact));
                row.push(number(region.minimal_rank));
                rows.push(row);
            }
        }
        rows
    }
}
