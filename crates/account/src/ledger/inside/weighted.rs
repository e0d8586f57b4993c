//! The account of a thing from those of its parts, where some executions stand for others.

use super::super::account::Accounts;
use super::super::fixed::{Units, units};
use super::super::state::PassiveTimes;
use super::finished::lost_rows;
use super::sums::Lost;
use super::{Inside, InsideOwner};

impl Inside {
    /// The sum of the accounts of parts of one thing, each times its weight: an amount of ns is rounded once
    /// for each part. The accounts sum to the total, and the lost rows to their accounts, as in each part.
    pub fn weighted(parts: impl IntoIterator<Item = (f64, Inside)>) -> Inside {
        let mut parts = parts.into_iter().filter(|(weight, part)| *weight > 0.0 && !part.owners.is_empty());
        let Some((weight, first)) = parts.next() else { return Inside::default() };
        let rest: Vec<(f64, Inside)> = parts.collect();
        if weight == 1.0 && rest.is_empty() {
            return first;
        }
        let mut sum = Sum::default();
        sum.add(weight, &first);
        rest.iter().for_each(|(weight, part)| sum.add(*weight, part));
        sum.finish()
    }
}

#[derive(Default)]
struct Sum {
    inside: Inside,
    lost: Lost,
}

impl Sum {
    fn add(&mut self, weight: f64, part: &Inside) {
        let to = &mut self.inside;
        to.alone |= part.alone;
        to.wall_ns += scaled(part.wall_ns, weight);
        add(&mut to.accounts, &part.accounts, weight);
        to.beyond_ns += scaled(part.beyond_ns, weight);
        for (&location, (accounts, passive)) in &part.locations {
            let of_location = to.locations.entry(location).or_default();
            add(&mut of_location.0, accounts, weight);
            let mut weighted = PassiveTimes::default();
            passive.iter().for_each(|(reason, ns)| weighted[reason] = scaled(ns, weight));
            of_location.1 += &weighted;
        }
        for (to, from) in [(&mut to.beyond, &part.beyond), (&mut to.in_regions, &part.in_regions)] {
            for (&location, accounts) in from {
                add(to.entry(location).or_default(), accounts, weight);
            }
        }
        let positions: Vec<usize> = part.owners.iter().map(|owner| self.owner(weight, owner)).collect();
        for (&location, &owner) in &part.owner_of {
            self.inside.owner_of.insert(location, positions[owner]);
        }
        for row in &part.lost {
            let amount = units(row.ns) as f64 * weight;
            self.lost.add((row.account, row.location, row.context), amount as Units);
        }
    }

    /// Adds an owner; its position.
    fn owner(&mut self, weight: f64, owner: &InsideOwner) -> usize {
        let owners = &mut self.inside.owners;
        let position = owners.iter().position(|known| known.process == owner.process).unwrap_or_else(|| {
            let InsideOwner { process, processors, .. } = *owner;
            owners.push(InsideOwner { process, processors, ..InsideOwner::default() });
            owners.len() - 1
        });
        let to = &mut owners[position];
        for (to, ns) in [
            (&mut to.wall_ns, owner.wall_ns),
            (&mut to.paused_ns, owner.paused_ns),
            (&mut to.serial_ns, owner.serial_ns),
            (&mut to.narrow_ns, owner.narrow_ns),
            (&mut to.asleep_ns, owner.asleep_ns),
            (&mut to.total_ns, owner.total_ns),
            (&mut to.beyond_ns, owner.beyond_ns),
        ] {
            *to += scaled(ns, weight);
        }
        add(&mut to.slots, &owner.slots, weight);
        position
    }

    fn finish(self) -> Inside {
        let mut inside = self.inside;
        if !inside.alone {
            inside.processors = inside.owners.iter().map(|owner| owner.processors).sum();
        }
        inside.total_ns = inside.accounts.sum_ns();
        inside.lost = lost_rows(self.lost.in_order(), &inside.accounts);
        inside
    }
}

fn add(to: &mut Accounts, from: &Accounts, weight: f64) {
    from.iter().for_each(|(account, ns)| to[account] += scaled(ns, weight));
}

fn scaled(ns: u64, weight: f64) -> u64 {
    if weight == 1.0 { ns } else { (ns as f64 * weight).round() as u64 }
}
