//! The clocks, the work, and what each thread notes of its waits.

use std::cell::RefCell;
use std::ffi::{c_int, c_long};
use std::hint::black_box;
use std::sync::Mutex;

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    fn gettid() -> c_int;
}

const MONOTONIC: c_int = 1;
const PROCESS_CPU: c_int = 2;
const THREAD_CPU: c_int = 3;

fn clock(number: c_int) -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the pointer is to a live value of the C type's layout.
    unsafe { clock_gettime(number, &mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}

pub fn wall() -> f64 {
    clock(MONOTONIC)
}

pub fn process_cpu() -> f64 {
    clock(PROCESS_CPU)
}

fn thread_id() -> c_int {
    // SAFETY: takes nothing, changes nothing.
    unsafe { gettid() }
}

/// Burns that much CPU time of this thread.
#[inline(never)]
pub fn burn_cpu(seconds: f64) {
    let end = clock(THREAD_CPU) + seconds;
    let mut x = 1u64;
    while clock(THREAD_CPU) < end {
        for _ in 0..200_000 {
            x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

/// How a wait counts: for a holder, for the last to come, or for work to appear.
#[derive(Clone, Copy)]
pub enum Account {
    Lock,
    Barrier,
    Passive,
}

impl Account {
    fn name(self) -> &'static str {
        match self {
            Account::Lock => "lock",
            Account::Barrier => "barrier",
            Account::Passive => "passive",
        }
    }
}

struct Waited {
    kind: &'static str,
    object: &'static str,
    account: Account,
    calls: u64,
    seconds: f64,
}

struct Thread {
    tid: c_int,
    name: String,
    wall_s: f64,
    cpu_s: f64,
    waits: Vec<Waited>,
}

static ENDED: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

thread_local! {
    static WAITS: RefCell<Vec<Waited>> = const { RefCell::new(Vec::new()) };
}

/// Times `call`, which waits for `object`.
pub fn wait<T>(kind: &'static str, object: &'static str, account: Account, call: impl FnOnce() -> T) -> T {
    let began = wall();
    let result = call();
    let seconds = wall() - began;
    WAITS.with_borrow_mut(|waits| {
        match waits.iter_mut().find(|one| one.kind == kind && one.object == object) {
            Some(one) => {
                one.calls += 1;
                one.seconds += seconds;
            }
            None => waits.push(Waited { kind, object, account, calls: 1, seconds }),
        }
    });
    result
}

/// Runs `work` as this thread's whole life, and notes what it cost.
pub fn measured<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let began = wall();
    let result = work();
    let thread = Thread {
        tid: thread_id(),
        name: name.to_string(),
        wall_s: wall() - began,
        cpu_s: clock(THREAD_CPU),
        waits: WAITS.take(),
    };
    ENDED.lock().unwrap().push(thread);
    result
}

/// All threads that were measured, as a JSON list.
pub fn threads() -> String {
    let ended = ENDED.lock().unwrap();
    let all: Vec<String> = ended
        .iter()
        .map(|thread| {
            let waits: Vec<String> = thread
                .waits
                .iter()
                .map(|one| {
                    format!(
                        "{{\"kind\":\"{}\",\"object\":\"{}\",\"account\":\"{}\",\"calls\":{},\
                         \"seconds\":{:.6}}}",
                        one.kind,
                        one.object,
                        one.account.name(),
                        one.calls,
                        one.seconds
                    )
                })
                .collect();
            format!(
                "{{\"tid\":{},\"name\":\"{}\",\"wall_s\":{:.6},\"cpu_s\":{:.6},\"waits\":[{}]}}",
                thread.tid,
                thread.name,
                thread.wall_s,
                thread.cpu_s,
                waits.join(",")
            )
        })
        .collect();
    all.join(",")
}
