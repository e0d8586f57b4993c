//! Threads before and after.

use std::collections::BTreeMap;

use super::super::disturbance::Disturbance;
use super::super::run::{ComparedRun, ComparedThread};
use proust_account::ledger::Account;
use proust_profile::{LocationId, Ns};
use proust_statistics::{Change, Matters, Observation};

/// A thread that a side, or both, have.
#[derive(Clone, Debug)]
pub struct ThreadChange {
    /// The file name of its process's executable.
    pub process: String,
    /// Its process's rank.
    pub rank: Option<u32>,
    /// Its name.
    pub name: String,
    /// Which of several of that name, in the order in which they began, from 0 on.
    pub number: usize,
    /// Its location in the last run of A that has it.
    pub a: Option<LocationId>,
    /// The same of B.
    pub b: Option<LocationId>,
    /// From its begin to its end, s.
    pub wall: Change,
    /// CPU time, s.
    pub cpu: Change,
    /// What it lost itself, s.
    pub lost: Change,
    /// When it was passive, s.
    pub passive: Change,
    /// Accounts of which either side has anything, s.
    pub accounts: Vec<(Account, Change)>,
}

type Key<'r> = (Option<u32>, &'r str, &'r str, usize);

fn keyed(run: &ComparedRun) -> BTreeMap<Key<'_>, &ComparedThread> {
    let mut seen: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut keyed = BTreeMap::new();
    for thread in &run.threads {
        let kind = (thread.rank, thread.process.as_str(), thread.name.as_str(), 0);
        let number = seen.entry(kind).or_default();
        keyed.insert((kind.0, kind.1, kind.2, *number), thread);
        *number += 1;
    }
    keyed
}

/// The disturbances are those of the runs of A, and after them those of B.
pub(super) fn matched(
    a: &[ComparedRun],
    b: &[ComparedRun],
    disturbances: &[Disturbance],
) -> Vec<ThreadChange> {
    let (by_a, by_b) = disturbances.split_at(a.len());
    let of_a: Vec<_> = a.iter().map(keyed).collect();
    let of_b: Vec<_> = b.iter().map(keyed).collect();
    let mut keys: Vec<Key<'_>> = of_a.iter().chain(&of_b).flat_map(|of| of.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut changes = Vec::new();
    for key in keys {
        let of = |side: &[BTreeMap<Key<'_>, &ComparedThread>]| {
            side.iter().rev().find_map(|run| run.get(&key)).map(|thread| thread.location)
        };
        let side = |by: &[Disturbance],
                    keyed: &[BTreeMap<Key<'_>, &ComparedThread>],
                    time: &dyn Fn(&ComparedThread) -> Ns,
                    disturbed: &dyn Fn(&Disturbance, f64) -> f64| {
            let of_run = |(by, threads): (&Disturbance, &BTreeMap<Key<'_>, &ComparedThread>)| {
                let value = threads.get(&key).map_or(Ns::ZERO, |thread| time(thread)).as_seconds();
                Observation { value, error: 0.0, disturbed: disturbed(by, value) }
            };
            by.iter().zip(keyed).map(of_run).collect::<Vec<Observation>>()
        };
        let wall = of_a.iter().chain(&of_b).filter_map(|run| run.get(&key)).map(|thread| thread.wall);
        let matters = Matters::of_total(wall.max().unwrap_or_default().as_seconds());
        let change = |time: &dyn Fn(&ComparedThread) -> Ns, disturbed: &dyn Fn(&Disturbance, f64) -> f64| {
            Change::of(&side(by_a, &of_a, time, disturbed), &side(by_b, &of_b, time, disturbed), &matters)
        };
        let waits = |by: &Disturbance, value: f64| by.of_waits(value);
        let accounts = Account::ALL.into_iter().filter_map(|account| {
            let time = |thread: &ComparedThread| Ns::of(thread.accounts[account]);
            let change = change(&time, &|by, value| by.of_account(account, value));
            (change.a.max > 0.0 || change.b.max > 0.0).then_some((account, change))
        });
        changes.push(ThreadChange {
            process: key.1.to_owned(),
            rank: key.0,
            name: key.2.to_owned(),
            number: key.3,
            a: of(&of_a),
            b: of(&of_b),
            wall: change(&|thread| thread.wall, &|by, value| by.of_wall(value)),
            cpu: change(&|thread| thread.cpu, &|by, value| by.of_work(value)),
            lost: change(
                &|thread| Ns::of(thread.accounts.lost_ns(proust_account::ledger::IoAs::Productive)),
                &waits,
            ),
            passive: change(&|thread| thread.wall - Ns::of(thread.accounts.sum_ns()), &waits),
            accounts: accounts.collect(),
        });
    }
    changes
}
