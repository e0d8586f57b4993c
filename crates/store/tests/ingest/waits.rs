//! Waits of threads that wait very often, one of them as long as the run: all that the analysis says of them
//! is known to the nanosecond, and does not depend on how many threads analyse, nor on their memory.

use std::collections::BTreeMap;
use std::path::Path;

use crate::synthetic::waits::{Answer, Executed, Kind, OfKind, Spent, Waits, function, interval};
use proust_account::blame::BesideRows;
use proust_account::ledger::{Account, Ledger, PassiveReason};
use proust_findings::Whole;
use proust_ingest::{CallPaths, Counter, Making, from_binaries, ingest};
use proust_profile::{Budget, ContextId, LocationId, OperationId, Profile, Spool};

const KINDS: [(Kind, &str); 3] = [
    (Kind::Lock, "pthread_mutex_lock"),
    (Kind::Barrier, "pthread_barrier_wait"),
    (Kind::Condition, "pthread_cond_wait"),
];

const PLAIN: Waits = Waits {
    seed: 1,
    ranks: 1,
    threads: 4,
    waits: 3_000,
    contexts: 50,
    nesting: 1,
    skew: 1,
    released: 50,
    has_longest: false,
};

/// An analysis, and what is asked of it.
struct Analysed {
    profile: Profile,
    whole: Whole,
}

/// By so many threads, with so many bytes of memory for rows.
fn analysed(dir: &Path, threads: usize, memory_bytes: u64) -> Analysed {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let spool = Spool::new(dir, Budget::new(memory_bytes));
        let making = Making { paths: CallPaths::User, symbols: &from_binaries(), spool: &spool };
        let profile = ingest(dir, making, &Counter::default()).unwrap();
        profile.check().unwrap();
        let whole = Whole::of(&profile, None).unwrap();
        let has_file = memory_bytes < u64::MAX && !profile.events.is_empty();
        assert_eq!((spool.file_bytes() > 0, spool.is_damaged()), (has_file, false));
        Analysed { profile, whole }
    })
}

impl Analysed {
    fn kind(&self, operation: OperationId) -> Kind {
        let name = &self.profile.operations[operation].name;
        KINDS.iter().find(|(_, of_kind)| of_kind == name).expect("no other operations").0
    }

    /// The number of the function whose context it is.
    fn function(&self, context: ContextId) -> u32 {
        let id = self.profile.contexts[context].function.expect("a function");
        let name = &self.profile.functions[id].name;
        let number = name.strip_prefix('f').and_then(|number| number.parse().ok()).expect("its number");
        assert_eq!(*name, function(number));
        number
    }

    fn tid(&self, location: LocationId) -> u32 {
        self.profile.locations[location].tid
    }

    /// What the rows of the profile, the sums of operations and the ledger say, by `K`.
    fn spent<K: Ord>(&self, of: impl Fn(LocationId, ContextId) -> K) -> BTreeMap<K, Spent> {
        let mut all: BTreeMap<K, Spent> = BTreeMap::new();
        for row in &self.whole.operations.rows {
            let spent = all.entry(of(row.location, row.context)).or_default();
            let of_kind = spent.waits.entry(self.kind(row.operation)).or_default();
            of_kind.calls += row.calls;
            of_kind.ns += row.time_ns;
            of_kind.longest_ns = of_kind.longest_ns.max(row.longest_ns.unwrap_or(0));
        }
        for row in &self.whole.ledger.spent {
            if row.account == Account::Compute {
                all.entry(of(row.location, row.context)).or_default().computed_ns += row.ns;
            }
        }
        for sample in self.profile.samples.iter().filter(|sample| !sample.tail) {
            all.entry(of(sample.location, sample.context)).or_default().samples += 1;
        }
        for release in self.profile.releases.iter() {
            all.entry(of(release.location, release.context)).or_default().releases += 1;
        }
        all
    }

    /// The time of waits by the ledger, which knows none of them.
    fn waited_ns<K: Ord>(&self, of: impl Fn(LocationId, ContextId) -> K) -> BTreeMap<(K, Kind), u64> {
        let mut all = BTreeMap::new();
        let ledger = &self.whole.ledger;
        for row in &ledger.spent {
            let kind = match row.account {
                Account::Compute => continue,
                Account::Lock => Kind::Lock,
                Account::Barrier => Kind::Barrier,
                other => panic!("nothing is on the account {other:?}: {row:?}"),
            };
            *all.entry((of(row.location, row.context), kind)).or_default() += row.ns;
        }
        for row in &ledger.passive {
            assert_eq!(row.reason, PassiveReason::Condition, "{row:?}");
            *all.entry((of(row.location, row.context), Kind::Condition)).or_default() += row.ns;
        }
        all.retain(|_, ns| *ns > 0);
        all
    }

    /// Causes and findings, as they are kept.
    fn found(&self) -> String {
        let found = (BesideRows::of(&self.whole.blame), &self.whole.findings);
        format!("{}{:?}", serde_json::to_string(&found).unwrap(), self.whole.blame.rows)
    }

    fn intervals(&self) -> BTreeMap<u32, Executed> {
        let mut all: BTreeMap<u32, Executed> = BTreeMap::new();
        for row in self.profile.executions.iter() {
            let mut around = 0;
            let mut outer = self.profile.intervals[row.interval as usize].parent;
            while let Some(id) = outer {
                around += 1;
                outer = self.profile.intervals[id as usize].parent;
            }
            assert_eq!(self.profile.intervals[row.interval as usize].name, interval(around));
            let executed = all.entry(around).or_default();
            executed.executions += 1;
            executed.ns += row.end_ns - row.begin_ns;
        }
        all
    }
}

/// The waits of a kind, as far as they have a length.
fn waits<K: Ord + Copy>(spent: &BTreeMap<K, Spent>) -> BTreeMap<(K, Kind), u64> {
    let of = |(&key, spent): (&K, &Spent)| {
        spent.waits.iter().map(move |(&kind, of_kind)| ((key, kind), of_kind.ns)).collect::<Vec<_>>()
    };
    spent.iter().flat_map(of).filter(|&(_, ns)| ns > 0).collect()
}

fn assert_closes(ledger: &Ledger, answer: &Answer) {
    let locations = answer.threads.len() as u64;
    let all = |kind: Kind| answer.threads.values().map(|spent| spent.of(kind).ns).sum::<u64>();
    let computed_ns: u64 = answer.threads.values().map(|spent| spent.computed_ns).sum();
    // Empty slots are on the accounts of what others wait for.
    let empty_ns = |account: Account| ledger.slots.iter().map(|slots| slots.accounts[account]).sum::<u64>();
    let within = |account: Account| ledger.accounts[account] + ledger.beyond[account] - empty_ns(account);
    assert_eq!(within(Account::Compute), computed_ns);
    assert_eq!(within(Account::Lock), all(Kind::Lock));
    assert_eq!(within(Account::Barrier), all(Kind::Barrier));
    let in_all = computed_ns + KINDS.into_iter().map(|(kind, _)| all(kind)).sum::<u64>();
    assert_eq!(in_all, locations * answer.wall_ns, "the answer closes");
    assert_eq!((ledger.wall_ns, ledger.overlap_ns), (answer.wall_ns, 0));
    for location in &ledger.locations {
        assert_eq!(location.wall_ns, answer.wall_ns);
    }
}

fn assert_known(of: Waits) {
    let dir = tempfile::tempdir().unwrap();
    let answer = of.write(dir.path()).unwrap();
    let mut before: Option<Analysed> = None;
    for (threads, memory_bytes) in [(1, u64::MAX), (2, 0), (4, u64::MAX), (1, 100)] {
        let found = analysed(dir.path(), threads, memory_bytes);
        assert_eq!(found.profile.quality.implausible_records, 0, "{of:?}");
        assert_eq!(found.spent(|location, _| found.tid(location)), answer.threads, "{of:?}");
        assert_eq!(found.spent(|_, context| found.function(context)), answer.functions, "{of:?}");
        assert_eq!(found.waited_ns(|location, _| found.tid(location)), waits(&answer.threads), "{of:?}");
        assert_eq!(found.waited_ns(|_, context| found.function(context)), waits(&answer.functions), "{of:?}");
        assert_eq!(found.intervals(), answer.intervals, "{of:?}");
        assert_closes(&found.whole.ledger, &answer);
        if let Some(before) = &before {
            assert!(found.profile == before.profile, "{of:?}: {threads} threads, another profile");
            assert!(found.whole.ledger == before.whole.ledger, "{of:?}: {threads} threads, another ledger");
            let [found, before] = [&found, before].map(Analysed::found);
            assert_eq!(found, before, "{of:?}: {threads} threads");
        }
        before = Some(found);
    }
}

#[test]
fn of_a_hundred_thousand_waits_all_is_known() {
    for (seed, released) in [(1, 50), (2, 1), (3, 7)] {
        assert_known(Waits {
            seed,
            ranks: 2,
            threads: 8,
            waits: 100_000,
            contexts: 2_000,
            nesting: 8,
            skew: 100,
            released,
            has_longest: true,
        });
    }
}

#[test]
fn corner_cases_are_known() {
    for of in [
        PLAIN,
        Waits { threads: 1, waits: 1, ..PLAIN },
        Waits { threads: 1, waits: 1, has_longest: true, ..PLAIN },
        Waits { nesting: 0, ..PLAIN },
        Waits { nesting: 8, threads: 1, ..PLAIN },
        Waits { contexts: 1, ..PLAIN },
        Waits { released: 1, ..PLAIN },
        Waits { ranks: 7, threads: 1, skew: 100, ..PLAIN },
        Waits { skew: 1_000_000, ..PLAIN },
    ] {
        assert_known(of);
    }
}

#[test]
fn the_longest_wait_is_as_long_as_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let answer = Waits { has_longest: true, ..PLAIN }.write(dir.path()).unwrap();
    let longest = answer.threads.values().find(|spent| spent.computed_ns == 0).unwrap();
    let wall_ns = answer.wall_ns;
    assert_eq!(longest.of(Kind::Lock), OfKind { calls: 1, ns: wall_ns, longest_ns: wall_ns });
}

/// The answer depends on what is asked: a test that compares it does not pass for all runs.
#[test]
fn other_seeds_have_other_answers() {
    let answer = |of: Waits| of.write(tempfile::tempdir().unwrap().path()).unwrap();
    assert_eq!(answer(PLAIN), answer(PLAIN));
    assert_ne!(answer(PLAIN), answer(Waits { seed: 2, ..PLAIN }));
}
