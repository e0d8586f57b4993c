//! Degradation of all places of a program, from the runs of a sweep.

use std::collections::BTreeMap;

use super::advice::{Advice, advice};
use super::descent::{Tree, paths};
use super::ranks::{Definition, Degradation, Verdict, Why, correct, ranks};
use crate::JointId;
use crate::scaling::{Causes, Disagreement, Ensemble};
use proust_profile::Ns;
use rustc_hash::FxHashMap;

/// What was found in a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// By node.
    pub places: Vec<Degradation>,
    /// What is degraded, strongest first.
    pub findings: Vec<Finding>,
    /// Where runs did not do the same.
    pub disagreements: Vec<Disagreement>,
}

/// A degraded region, and the way down to what causes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// From the region to the code, each inside of the one before.
    pub path: Vec<JointId>,
    /// The rank that is followed: position of the count.
    pub count: usize,
    /// Position of the smaller count with which it is fastest.
    pub best: usize,
    /// What is lost there.
    pub loss: Ns,
    /// Processor time of the end of the path at that rank, by cause.
    pub causes: Causes,
    /// What of it is more than with the better count.
    pub more: Causes,
    /// How often each thread visited the end of the path; 0 = not counted.
    pub visits: u64,
    /// What to do.
    pub advice: Option<Advice>,
}

impl Assessment {
    /// Judges all places.
    pub fn of(ensemble: &Ensemble<'_>, definition: Definition) -> Assessment {
        let joint = ensemble.joint();
        let nodes = joint.len() as JointId;
        let disagreements = ensemble.disagreements();
        let differs: FxHashMap<JointId, &Disagreement> = disagreements.iter().map(|d| (d.node, d)).collect();
        let available = ensemble.available();
        let mut places: Vec<Degradation> =
            (0..nodes).map(|node| ranks(&ensemble.timings(node), definition, available)).collect();
        if let Definition::Robust(limits) = definition {
            correct(&mut places, &limits);
            for node in 0..nodes {
                // What is done a different number of times is not the same work.
                if differs.contains_key(&node) {
                    doubt(&mut places[node as usize]);
                }
            }
        }
        let findings = findings(ensemble, &places);
        Assessment { places, findings, disagreements }
    }
}

fn doubt(place: &mut Degradation) {
    for rank in place.ranks.iter_mut().filter(|rank| rank.is_degraded()) {
        rank.verdict = Verdict::Inconclusive(Why::OtherWork);
    }
}

fn findings(ensemble: &Ensemble<'_>, places: &[Degradation]) -> Vec<Finding> {
    let joint = ensemble.joint();
    let parents: Vec<Option<JointId>> = (0..joint.len() as JointId).map(|node| joint.parent(node)).collect();
    let loss: Vec<Ns> =
        places.iter().map(|place| place.worst().map_or(Ns::ZERO, |rank| rank.loss())).collect();
    let position = |count: u32| ensemble.counts().iter().position(|&other| other == count);
    // The rank that is followed from a place on, and the better one.
    let pair = |top: u32| {
        let worst = places[top as usize].worst()?;
        Some((position(worst.count)?, position(worst.best?)?))
    };
    let followed: BTreeMap<u32, (usize, usize)> =
        (0..parents.len() as u32).filter_map(|top| Some((top, pair(top)?))).collect();
    let excess = |top: u32, place: u32| {
        let Some(&(count, best)) = followed.get(&top) else { return Ns::ZERO };
        let ranks = &places[place as usize].ranks;
        ranks[count].time - ranks[best].time
    };
    let is_degraded = |top: u32, place: u32| {
        followed.get(&top).is_some_and(|&(count, _)| places[place as usize].ranks[count].is_degraded())
    };
    let tree = Tree { parents: &parents, loss: &loss, excess: &excess, is_degraded: &is_degraded };
    paths(&tree)
        .into_iter()
        .filter_map(|path| {
            let &(count, best) = followed.get(&path[0])?;
            let (top, end) = (path[0], path[path.len() - 1]);
            let causes = ensemble.causes(end, count);
            let more = causes.more_than(&ensemble.causes(end, best));
            let visits = ensemble.visits(end, count);
            let is_region = ensemble.is_region(end);
            let threads = ensemble.counts()[count];
            // Where threads lacked a processor their partners waited for them, as for one with more to do.
            let advice = match places[top as usize].ranks[count].may_be_of_others() {
                true => Some(Advice::QuietMachine),
                false => advice(&causes, &more, visits, threads, is_region),
            };
            Some(Finding { count, best, loss: loss[top as usize], causes, more, visits, advice, path })
        })
        .collect()
}
