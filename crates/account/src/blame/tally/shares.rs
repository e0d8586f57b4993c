//! The causes of each victim's loss, in proportion.

use proust_profile::{Array, Spool};
use rustc_hash::FxHashMap as Map;

use super::{Charged, VictimId};

/// What is charged, of a location's own time and of empty slots, ns.
pub(super) type Share = (Charged, f64, f64);

/// The shares of all victims, each victim's in a fixed order.
#[derive(Debug)]
pub(super) struct Shares {
    all: Array<Share>,
    /// Where those of each victim end.
    ends: Vec<usize>,
}

/// So many times a late thread may have waited for another late one.
const DEPTH: u32 = 6;

impl Shares {
    pub(super) fn new(spool: &Spool) -> Shares {
        Shares { all: Array::new(spool), ends: Vec::new() }
    }

    /// Adds those of the next victim.
    pub(super) fn push(&mut self, of_victim: impl IntoIterator<Item = Share>) {
        self.all.extend(of_victim);
        self.ends.push(self.all.len());
    }

    /// Those of a victim.
    pub(super) fn of(&self, victim: VictimId) -> &[Share] {
        let at = victim as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends.get(at).map_or(&[], |&end| &self.all[begin..end])
    }

    /// Those of all victims, by victim.
    pub(super) fn victims(&self) -> impl Iterator<Item = &[Share]> {
        (0..self.ends.len()).map(|victim| self.of(victim as VictimId))
    }

    fn are_final(&self) -> bool {
        self.all.iter().all(|(charged, ..)| matches!(charged, Charged::To(_)))
    }

    /// Passes amounts charged to waits on to the causes of these; to the one that was late, `late`, where
    /// that leads no further.
    pub(super) fn followed(mut self, mut late: impl FnMut(VictimId) -> Charged) -> Shares {
        let mut sums: Map<Charged, (f64, f64)> = Map::default();
        let mut of_victim: Vec<Share> = Vec::new();
        for depth in 0..=DEPTH {
            if self.are_final() {
                break;
            }
            let mut next = Shares::new(&self.all.spool());
            for shares in self.victims() {
                let mut give = |charged: Charged, ns: f64, slots_ns: f64| {
                    let sum = sums.entry(charged).or_default();
                    (sum.0, sum.1) = (sum.0 + ns, sum.1 + slots_ns);
                };
                for &(charged, ns, slots_ns) in shares {
                    let Charged::AsWaits(waits) = charged else {
                        give(charged, ns, slots_ns);
                        continue;
                    };
                    let of_waits = self.of(waits);
                    let all: f64 = of_waits.iter().map(|(_, ns, _)| ns).sum();
                    if depth < DEPTH && all > 0.0 {
                        for &(to, part, _) in of_waits {
                            give(to, ns * part / all, slots_ns * part / all);
                        }
                    } else {
                        give(late(waits), ns, slots_ns);
                    }
                }
                of_victim.extend(sums.drain().map(|(to, (ns, slots_ns))| (to, ns, slots_ns)));
                of_victim.sort_unstable_by_key(|(charged, ..)| *charged);
                next.push(of_victim.drain(..));
            }
            self = next;
        }
        self
    }

    /// Divides what is charged to some causes as `parts` says.
    pub(super) fn divided(self, parts: &Map<u32, Vec<(Charged, f64)>>) -> Shares {
        let is_divided = |(charged, ..): &Share| matches!(charged, Charged::To(id) if parts.contains_key(id));
        if !self.all.iter().any(is_divided) {
            return self;
        }
        let mut next = Shares::new(&self.all.spool());
        let mut of_victim: Vec<Share> = Vec::new();
        for shares in self.victims() {
            for &(charged, ns, slots_ns) in shares {
                let of_cause = if let Charged::To(id) = charged { parts.get(&id) } else { None };
                match of_cause {
                    Some(of_cause) => {
                        let part = |&(to, share): &(Charged, f64)| (to, ns * share, slots_ns * share);
                        of_victim.extend(of_cause.iter().map(part));
                    }
                    None => of_victim.push((charged, ns, slots_ns)),
                }
            }
            of_victim.sort_by_key(|(charged, ..)| *charged);
            next.push(of_victim.drain(..));
        }
        next
    }
}
