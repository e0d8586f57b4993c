//! Waits of every kind that Rust programs know, whose length is known: each thread times its own.
//! waits_rust [SECONDS of each kind] [KIND…]
//! KIND: mutex rwlock condvar barrier once oncelock park channel sync-channel join scope sleep parking-lot
//! parking-lot-rwlock parking-lot-condvar crossbeam. All of them, one after another, where none is given.
//!
//! Prints for each thread: tid, name, wall_s and cpu_s, and its waits: kind, object, how the wait counts
//! (lock, barrier, passive), calls, seconds. A call that did not block is a wait too, of well under a
//! microsecond.

mod truth;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use truth::Account::{Barrier as AtBarrier, Lock, Passive};
use truth::{burn_cpu, measured, process_cpu, threads, wait, wall};

/// A round of most kinds: the one works, the other waits.
const ROUND_S: f64 = 0.02;

fn start(name: &'static str, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(move || measured(name, work)).expect("a thread")
}

fn join(name: &'static str, thread: JoinHandle<()>) {
    wait("join", name, Passive, || thread.join()).expect("a thread that ended well");
}

fn both(
    first: (&'static str, impl FnOnce() + Send + 'static),
    second: (&'static str, impl FnOnce() + Send + 'static),
) {
    let one = start(first.0, first.1);
    let other = start(second.0, second.1);
    join(first.0, one);
    join(second.0, other);
}

/// A turn that passes from one thread to the other. Waiting for it counts like every wait.
#[derive(Clone)]
struct Turn {
    state: Arc<(Mutex<u32>, Condvar)>,
    name: &'static str,
}

impl Turn {
    fn new(name: &'static str) -> Self {
        Turn { state: Arc::default(), name }
    }

    fn pass(&self) {
        *wait("mutex", self.name, Lock, || self.state.0.lock().unwrap()) += 1;
        self.state.1.notify_one();
    }

    fn take(&self) {
        let turns = wait("mutex", self.name, Lock, || self.state.0.lock().unwrap());
        let mut turns = wait("condvar", self.name, Passive, || {
            self.state.1.wait_while(turns, |turns| *turns == 0).unwrap()
        });
        *turns -= 1;
    }
}

/// One thread holds something for 20 ms, the other waits for it, `rounds` times.
fn held_and_waited(
    names: (&'static str, &'static str),
    rounds: u64,
    mut hold: impl FnMut(&dyn Fn()) + Send + 'static,
    mut acquire: impl FnMut() + Send + 'static,
) {
    let (holding, taken) = (Turn::new("holding"), Turn::new("taken"));
    let (told, answer) = (holding.clone(), taken.clone());
    both(
        (names.0, move || {
            for _ in 0..rounds {
                hold(&|| {
                    holding.pass();
                    burn_cpu(ROUND_S);
                });
                taken.take();
            }
        }),
        (names.1, move || {
            for _ in 0..rounds {
                told.take();
                acquire();
                answer.pass();
            }
        }),
    );
}

fn with_mutex(rounds: u64) {
    let mutex = Arc::new(Mutex::new(0u64));
    let other = Arc::clone(&mutex);
    held_and_waited(
        ("mutex-holder", "mutex-waiter"),
        rounds,
        move |work| {
            let mut guard = wait("mutex", "mutex", Lock, || mutex.lock().unwrap());
            work();
            *guard += 1;
        },
        move || *wait("mutex", "mutex", Lock, || other.lock().unwrap()) += 1,
    );
}

fn with_rwlock(rounds: u64) {
    let lock = Arc::new(RwLock::new(0u64));
    let other = Arc::clone(&lock);
    let (mut writes, mut reads) = (true, true);
    held_and_waited(
        ("rwlock-holder", "rwlock-waiter"),
        rounds,
        move |work| {
            if writes {
                let mut guard = wait("rwlock", "rwlock", Lock, || lock.write().unwrap());
                work();
                *guard += 1;
            } else {
                let guard = wait("rwlock", "rwlock", Lock, || lock.read().unwrap());
                work();
                drop(guard);
            }
            writes = !writes;
        },
        move || {
            if reads {
                drop(wait("rwlock", "rwlock", Lock, || other.read().unwrap()));
            } else {
                *wait("rwlock", "rwlock", Lock, || other.write().unwrap()) += 1;
            }
            reads = !reads;
        },
    );
}

/// Making an item takes 10 ms, using it 2 ms.
fn with_condvar(rounds: u64) {
    let queue = Arc::new((Mutex::new(0u64), Condvar::new()));
    let other = Arc::clone(&queue);
    both(
        ("producer", move || {
            for _ in 0..2 * rounds {
                burn_cpu(0.010);
                *wait("mutex", "queue", Lock, || queue.0.lock().unwrap()) += 1;
                queue.1.notify_one();
            }
        }),
        ("consumer", move || {
            for _ in 0..2 * rounds {
                let mut items = wait("mutex", "queue", Lock, || other.0.lock().unwrap());
                while *items == 0 {
                    items = wait("condvar", "queue-changed", Passive, || other.1.wait(items).unwrap());
                }
                *items -= 1;
                drop(items);
                burn_cpu(0.002);
            }
        }),
    );
}

fn come(barrier: &Barrier, rounds: u64, work_s: f64) {
    for _ in 0..rounds {
        burn_cpu(work_s);
        wait("barrier", "barrier", AtBarrier, || barrier.wait());
    }
}

#[inline(never)]
fn come_late(barrier: &Barrier, rounds: u64) {
    come(barrier, rounds, ROUND_S);
}

#[inline(never)]
fn come_early(barrier: &Barrier, rounds: u64) {
    come(barrier, rounds, ROUND_S / 4.0);
}

fn with_barrier(rounds: u64) {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    both(("late", move || come_late(&barrier, rounds)), ("early", move || come_early(&other, rounds)));
}

fn with_once(rounds: u64) {
    let onces: Arc<Vec<Once>> = Arc::new((0..rounds).map(|_| Once::new()).collect());
    let others = Arc::clone(&onces);
    let (mut first, mut second) = (0, 0);
    held_and_waited(
        ("initialiser", "once-waiter"),
        rounds,
        move |work| {
            onces[first].call_once(work);
            first += 1;
        },
        move || {
            wait("once", "once", Lock, || others[second].call_once(|| unreachable!("it is begun already")));
            second += 1;
        },
    );
}

fn with_once_lock(rounds: u64) {
    let cells: Arc<Vec<OnceLock<u64>>> = Arc::new((0..rounds).map(|_| OnceLock::new()).collect());
    let others = Arc::clone(&cells);
    let (mut first, mut second) = (0, 0);
    held_and_waited(
        ("cell-maker", "cell-waiter"),
        rounds,
        move |work| {
            cells[first].get_or_init(|| {
                work();
                1
            });
            first += 1;
        },
        move || {
            wait("oncelock", "oncelock", Lock, || *others[second].get_or_init(|| 2));
            second += 1;
        },
    );
}

/// Permissions that come while the thread does not run count as one: it waits until the last has been given.
fn with_park(rounds: u64) {
    let done = Arc::new(AtomicBool::new(false));
    let last = Arc::clone(&done);
    let parked = start("parked", move || {
        while !done.load(Ordering::Acquire) {
            wait("park", "park", Passive, thread::park);
        }
        wait("park", "park_timeout", Passive, || thread::park_timeout(Duration::from_secs_f64(ROUND_S)));
    });
    let target = parked.thread().clone();
    let waker = start("unparker", move || {
        for round in 1..=rounds {
            burn_cpu(ROUND_S);
            last.store(round == rounds, Ordering::Release);
            target.unpark();
        }
    });
    join("unparker", waker);
    join("parked", parked);
}

fn with_channel(rounds: u64) {
    let (sender, receiver) = mpsc::channel();
    both(
        ("sender", move || {
            for item in 0..rounds {
                burn_cpu(ROUND_S);
                wait("channel", "send", Passive, || sender.send(item)).unwrap();
            }
        }),
        ("receiver", move || {
            for i in 0..rounds {
                if i % 2 == 0 {
                    wait("channel", "recv", Passive, || receiver.recv()).unwrap();
                } else {
                    let patience = Duration::from_secs(60);
                    wait("channel", "recv_timeout", Passive, || receiver.recv_timeout(patience)).unwrap();
                }
            }
        }),
    );
}

/// A bounded channel: the sender waits for room.
fn with_sync_channel(rounds: u64) {
    let (sender, receiver) = mpsc::sync_channel(1);
    both(
        ("sync-sender", move || {
            for item in 0..rounds {
                wait("channel", "send", Passive, || sender.send(item)).unwrap();
            }
        }),
        ("slow-receiver", move || {
            for _ in 0..rounds {
                wait("channel", "sync-recv", Passive, || receiver.recv()).unwrap();
                burn_cpu(ROUND_S);
            }
        }),
    );
}

fn with_join(rounds: u64) {
    let worker = start("joined", move || burn_cpu(ROUND_S * rounds as f64));
    join("joined", worker);
}

/// The end of a scope waits for its threads.
fn with_scope(rounds: u64) {
    wait("scope", "scope", Passive, || {
        thread::scope(|scope| {
            for name in ["scoped-1", "scoped-2"] {
                let share = if name == "scoped-1" { 1.0 } else { 0.5 };
                thread::Builder::new()
                    .name(name.into())
                    .spawn_scoped(scope, move || measured(name, || burn_cpu(share * ROUND_S * rounds as f64)))
                    .expect("a thread");
            }
        })
    });
}

fn with_sleep(rounds: u64) {
    let sleeper = start("sleeper", move || {
        for _ in 0..rounds {
            wait("sleep", "sleep", Passive, || thread::sleep(Duration::from_secs_f64(ROUND_S)));
            burn_cpu(0.001);
        }
    });
    join("sleeper", sleeper);
}

fn with_parking_lot(rounds: u64) {
    let mutex = Arc::new(parking_lot::Mutex::new(0u64));
    let other = Arc::clone(&mutex);
    held_and_waited(
        ("lot-holder", "lot-waiter"),
        rounds,
        move |work| {
            let mut guard = wait("mutex", "parking-lot", Lock, || mutex.lock());
            work();
            *guard += 1;
        },
        move || *wait("mutex", "parking-lot", Lock, || other.lock()) += 1,
    );
}

fn with_parking_lot_rwlock(rounds: u64) {
    let lock = Arc::new(parking_lot::RwLock::new(0u64));
    let other = Arc::clone(&lock);
    held_and_waited(
        ("lot-writer", "lot-reader"),
        rounds,
        move |work| {
            let mut guard = wait("rwlock", "parking-lot-rwlock", Lock, || lock.write());
            work();
            *guard += 1;
        },
        move || drop(wait("rwlock", "parking-lot-rwlock", Lock, || other.read())),
    );
}

fn with_parking_lot_condvar(rounds: u64) {
    let queue = Arc::new((parking_lot::Mutex::new(0u64), parking_lot::Condvar::new()));
    let other = Arc::clone(&queue);
    both(
        ("lot-producer", move || {
            for _ in 0..2 * rounds {
                burn_cpu(0.010);
                *wait("mutex", "lot-queue", Lock, || queue.0.lock()) += 1;
                queue.1.notify_one();
            }
        }),
        ("lot-consumer", move || {
            for _ in 0..2 * rounds {
                let mut items = wait("mutex", "lot-queue", Lock, || other.0.lock());
                while *items == 0 {
                    wait("condvar", "lot-queue-changed", Passive, || other.1.wait(&mut items));
                }
                *items -= 1;
                drop(items);
                burn_cpu(0.002);
            }
        }),
    );
}

fn with_crossbeam(rounds: u64) {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let (_never, silent) = crossbeam_channel::bounded::<u64>(1);
    both(
        ("cross-sender", move || {
            for item in 0..rounds {
                burn_cpu(ROUND_S);
                wait("channel", "crossbeam-send", Passive, || sender.send(item)).unwrap();
            }
        }),
        ("cross-receiver", move || {
            for i in 0..rounds {
                if i % 2 == 0 {
                    wait("channel", "crossbeam-recv", Passive, || receiver.recv()).unwrap();
                } else {
                    wait("channel", "crossbeam-select", Passive, || {
                        crossbeam_channel::select! {
                            recv(receiver) -> item => item.unwrap(),
                            recv(silent) -> item => item.unwrap(),
                        }
                    });
                }
            }
        }),
    );
}

const KINDS: [(&str, fn(u64)); 16] = [
    ("mutex", with_mutex),
    ("rwlock", with_rwlock),
    ("condvar", with_condvar),
    ("barrier", with_barrier),
    ("once", with_once),
    ("oncelock", with_once_lock),
    ("park", with_park),
    ("channel", with_channel),
    ("sync-channel", with_sync_channel),
    ("join", with_join),
    ("scope", with_scope),
    ("sleep", with_sleep),
    ("parking-lot", with_parking_lot),
    ("parking-lot-rwlock", with_parking_lot_rwlock),
    ("parking-lot-condvar", with_parking_lot_condvar),
    ("crossbeam", with_crossbeam),
];

fn main() {
    let began = wall();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds: f64 = arguments.first().and_then(|s| s.parse().ok()).unwrap_or(0.2);
    let rounds = (seconds / ROUND_S).round().max(1.0) as u64;
    let chosen = arguments.get(1..).unwrap_or_default();
    measured("waits_rust", || {
        for (name, run) in KINDS {
            if chosen.is_empty() || chosen.iter().any(|one| one == name) {
                run(rounds);
            }
        }
    });
    let wall_s = wall() - began;
    println!(
        "{{\"program\":\"waits_rust\",\"threads\":[{}],\"cpu_s\":{:.6},\"wall_s\":{wall_s:.6}}}",
        threads(),
        process_cpu()
    );
}
