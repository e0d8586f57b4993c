//! What a thread of a team learns of its regions' times: from the word that it gets with its work, from its
//! own header, from the team. Whatever it finds is true, or nothing.

use std::ptr::from_ref;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use proust_models::lane::LaneHeader;
use proust_models::lane::docked::{Docked, Released};
use proust_models::team::Team;
use proust_models::team::given::{Given, Numbers, word};
use proust_models::team::times::end_of_wait;

/// The operation of a thread that is docked.
const END: u32 = 9;

/// Regions are a microsecond apart, too far for the given word to know the one before where it says so.
const fn fork_ns(region: u64) -> u64 {
    1_000_000 + 1_000 * region
}

const fn end_ns(region: u64) -> u64 {
    fork_ns(region) + 500
}

/// A team that stays while the model runs, and longer.
fn team() -> &'static Team {
    Box::leak(Box::default())
}

/// A runtime's slot for work: it is handed over by a release, and waited for by an acquire.
struct Slot(AtomicU64);

impl Slot {
    fn hand_over(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }

    fn wait(&self, before: u64) -> u64 {
        loop {
            let word = self.0.load(Ordering::Acquire);
            if word != before {
                return word;
            }
            thread::yield_now();
        }
    }
}

fn docked(header: &LaneHeader) -> Docked {
    // SAFETY: a header that stays mapped while the model runs.
    unsafe { Docked::of(from_ref(header).cast_mut()) }.unwrap()
}

#[test]
fn a_given_word_leads_to_the_team_that_gave_it() {
    loom::model(|| {
        let shared = Arc::new((Numbers::new(), [0, 0].map(|_| Slot(AtomicU64::new(0)))));
        let open = |shared: &(Numbers, [Slot; 2]), number: usize| {
            let team = team();
            // SAFETY: no other thread knows the team yet.
            team.body.with_mut(|body| unsafe { *body = number as u32 + 1 });
            let given = match shared.0.number(team) {
                0 => std::ptr::from_ref(team) as u64,
                given => word(given, fork_ns(1), end_ns(0)),
            };
            shared.1[number].hand_over(given);
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || open(&shared, 1))
        };
        let reader = {
            let shared = shared.clone();
            thread::spawn(move || {
                // SAFETY: the word that the other opener made.
                let given = unsafe { Given::from_word(shared.1[1].wait(0) as usize) };
                // SAFETY: the team's opener wrote it before it handed the word over.
                given.team_of(&shared.0).body.with(|body| assert_eq!(unsafe { *body }, 2));
            })
        };
        open(&shared, 0);
        // SAFETY: as above.
        let given = unsafe { Given::from_word(shared.1[0].wait(0) as usize) };
        given.team_of(&shared.0).body.with(|body| assert_eq!(unsafe { *body }, 1));
        other.join().unwrap();
        reader.join().unwrap();
    });
}

/// The opener of two regions notifies the thread that is docked for it, or not; the thread has work in both
/// or only in the first.
fn an_opener_and_a_thread(is_notified: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Arc::new((
            LaneHeader::default(),
            Numbers::new(),
            [Slot(AtomicU64::new(0)), Slot(AtomicU64::new(0))],
        ));
        let team = team();
        let number = shared.1.number(team);
        assert_ne!(number, 0);
        let (team_word, region) = (from_ref(team) as u64, 3);
        let opener = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (header, _, [work, done]) = &*shared;
                for number_of in 0..2 {
                    team.times.open(fork_ns(number_of));
                    work.hand_over(word(number, fork_ns(number_of), team.times.before_end_ns()));
                    done.wait(number_of);
                    team.times.close(end_ns(number_of));
                    let docked = docked(header);
                    if is_notified && docked.is_for(team_word, fork_ns(number_of), END) {
                        let latency_ns = end_ns(number_of) - docked.since_ns();
                        docked.release(Released { at_ns: end_ns(number_of), latency_ns });
                    }
                }
            })
        };
        let (header, numbers, [work, done]) = &*shared;
        let header = docked(header);
        let mut before = 0;
        for number_of in 0..2 {
            before = work.wait(before);
            // SAFETY: the word that the opener made.
            let given = unsafe { Given::from_word(before as usize) };
            assert_eq!(from_ref(given.team_of(numbers)), from_ref(team));
            let now_ns = fork_ns(number_of) + 10;
            let opened = given.opened(now_ns).unwrap();
            assert_eq!(opened.fork_ns, fork_ns(number_of));
            let docked_ns = fork_ns(0) + 100;
            if number_of == 1 {
                let released = header.undock(docked_ns);
                if let Some(released) = released {
                    assert!(is_notified);
                    let expected = Released { at_ns: end_ns(0), latency_ns: end_ns(0) - docked_ns };
                    assert_eq!(released, expected);
                }
                let at_ns = released.map(|released| released.at_ns);
                // By each of the ways alone, as far as it knows, and by all together.
                let team_times = Some(&team.times);
                assert_eq!(end_of_wait(docked_ns, None, opened.before_end_ns, None), Some(end_ns(0)));
                assert_eq!(end_of_wait(docked_ns, None, None, team_times), Some(end_ns(0)));
                let end = end_of_wait(docked_ns, at_ns, opened.before_end_ns, team_times);
                assert_eq!(end, Some(end_ns(0)));
            }
            header.dock(fork_ns(number_of) + 100, (team_word, region), 1, END);
            done.hand_over(number_of + 1);
        }
        opener.join().unwrap();
    });
}

#[test]
fn a_thread_in_every_region_knows_when_the_one_before_was_over() {
    an_opener_and_a_thread(false);
    an_opener_and_a_thread(true);
}

#[test]
fn a_thread_that_left_for_another_team_discards_what_the_first_opener_writes_late() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new((LaneHeader::default(), [0, 0].map(|_| Slot(AtomicU64::new(0)))));
        let (first, second) = (team(), team());
        first.times.open(fork_ns(0));
        docked(&shared.0).dock(fork_ns(0) + 100, (from_ref(first) as u64, 1), 1, END);
        // The opener of the first team's region: the thread has done its part.
        let late = {
            let shared = shared.clone();
            thread::spawn(move || {
                first.times.close(end_ns(0));
                let docked = docked(&shared.0);
                if docked.is_for(from_ref(first) as u64, fork_ns(0), END) {
                    let latency_ns = end_ns(0) - docked.since_ns();
                    docked.release(Released { at_ns: end_ns(0), latency_ns });
                }
            })
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (header, [work, done]) = &*shared;
                second.times.open(fork_ns(5));
                work.hand_over(1);
                done.wait(0);
                second.times.close(end_ns(5));
                if docked(header).is_for(from_ref(second) as u64, fork_ns(5), END) {
                    docked(header).release(Released { at_ns: end_ns(5), latency_ns: 0 });
                }
            })
        };
        let (header, [work, done]) = &*shared;
        let header = docked(header);
        work.wait(0);
        // Work of the second team: the first one's region may be over, and its opener about to write so.
        let docked_ns = fork_ns(0) + 100;
        let released = header.undock(docked_ns);
        assert!(released.is_none_or(|released| released.latency_ns == 400), "{released:?}");
        let released = released.map(|released| released.at_ns);
        let end = end_of_wait(docked_ns, released, None, Some(&first.times));
        assert!(end.is_none_or(|end| end == end_ns(0)), "{end:?}");
        let docked_ns = fork_ns(5) + 100;
        header.dock(docked_ns, (from_ref(second) as u64, 2), 1, END);
        done.hand_over(1);
        // Work of a third one.
        let released = header.undock(docked_ns).map(|released| released.at_ns);
        let end = end_of_wait(docked_ns, released, None, Some(&second.times));
        assert!(end.is_none_or(|end| end == end_ns(5)), "{end:?}");
        late.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn a_thread_that_a_region_does_without_is_not_notified_of_its_end() {
    loom::model(|| {
        let header = Arc::new(LaneHeader::default());
        let team = team();
        let team_word = from_ref(team) as u64;
        let docked_ns = fork_ns(0) + 100;
        team.times.open(fork_ns(0));
        docked(&header).dock(docked_ns, (team_word, 1), 1, END);
        team.times.close(end_ns(0));
        // The team's next region is of its opener alone, and so is one of a team that the thread was in
        // before.
        let opener = {
            let header = header.clone();
            thread::spawn(move || {
                team.times.open(fork_ns(1));
                team.times.close(end_ns(1));
                assert!(!docked(&header).is_for(team_word, fork_ns(1), END));
                assert!(!docked(&header).is_for(team_word + 64, fork_ns(0), END));
            })
        };
        // Meanwhile the thread has work of another one.
        let released = docked(&header).undock(docked_ns).map(|released| released.at_ns);
        let end = end_of_wait(docked_ns, released, None, Some(&team.times));
        assert!(end.is_none_or(|end| end == end_ns(0)), "{end:?}");
        opener.join().unwrap();
    });
}
