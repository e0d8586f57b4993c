//! The collector's instructions on the way of one call: found by a first lap, and come to by the others.

use crate::remains::Remains;
use crate::tracer::{Mark, Stop, Traced};

/// An instruction that is about to be executed.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its address.
    pub address: u64,
    /// The stack pointer.
    pub sp: u64,
    /// Whether the one after it is the next one that is executed; otherwise others come between, which are
    /// not ours, or during which all signals are blocked.
    is_followed: bool,
}

impl Point {
    fn is_at(&self, other: Point) -> bool {
        (self.address, self.sp) == (other.address, other.sp)
    }
}

/// Most instructions that are looked at.
const MOST_STEPS: usize = 400_000;

/// Most instructions of one visit to the kernel's code. Reading the clock starts again if the kernel has set
/// it meanwhile, and never ends where a step takes milliseconds, as on a busy machine.
const MOST_STEPS_IN_KERNELS_CODE: usize = 200;

/// How a lap has ended early.
#[derive(Debug, PartialEq, Eq)]
pub enum Lost {
    /// It took another way than the first one.
    Differs,
    /// It stopped for something else than a step or a breakpoint.
    Stopped(Stop),
    /// It made so many steps without coming to the end of the call.
    TooLong(usize),
    /// The program is gone.
    Ended(i32),
}

/// The collector's code and the kernel's that it calls.
pub struct Own {
    collector: Vec<(u64, u64)>,
    kernels: Vec<(u64, u64)>,
}

fn is_in(ranges: &[(u64, u64)], address: u64) -> bool {
    ranges.iter().any(|&(from, to)| from <= address && address < to)
}

impl Own {
    /// Of a program that has come to its first mark.
    pub fn of(traced: &Traced) -> Own {
        Own { collector: traced.ranges(&["libproust_collector"]), kernels: traced.ranges(&["[vdso]"]) }
    }

    fn contains(&self, address: u64) -> bool {
        is_in(&self.collector, address) || is_in(&self.kernels, address)
    }

    /// Whether the collector is there at all.
    pub fn is_empty(&self) -> bool {
        self.collector.is_empty()
    }
}

/// Steps from the mark at which the call begins to the one at its end, or until so many instructions were
/// found. With `in_quiet` also through what is done with all signals blocked.
pub fn find(traced: &Traced, own: &Own, in_quiet: bool, most: usize) -> Result<Vec<Point>, Lost> {
    find_seen(traced, own, in_quiet, most, |_| {})
}

/// As [`find`] through all of the call; and of its points, by their numbers, those at which a process that is
/// killed leaves something else behind than at the one before.
pub fn find_what_changes(traced: &Traced, own: &Own) -> Result<(Vec<Point>, Vec<usize>), Lost> {
    let mut remains = Remains::of(traced);
    let mut changing = Vec::new();
    let mut number = 0;
    let points = find_seen(traced, own, true, usize::MAX, |is_alone| {
        // What a system call wrote is not necessarily mapped.
        if remains.differ(traced, !is_alone) || !is_alone {
            changing.push(number);
        }
        number += 1;
    })?;
    Ok((points, changing))
}

/// A call of the kernel's code that has not returned yet.
struct Visit {
    steps: usize,
    /// Where it returns to, and the stack pointer then.
    back: u64,
    sp: u64,
}

/// `seen` is called at each point, with whether nothing but the last instruction was executed since the one
/// before, and that was no system call.
fn find_seen(
    traced: &Traced,
    own: &Own,
    in_quiet: bool,
    most: usize,
    mut seen: impl FnMut(bool),
) -> Result<Vec<Point>, Lost> {
    let mut points: Vec<Point> = Vec::new();
    let mut stands_at = traced.registers();
    let mut visit: Option<Visit> = None;
    for _ in 0..MOST_STEPS {
        let was_own = own.contains(stands_at.rip);
        let at_system_call = was_own && traced.word(stands_at.rip) & 0xffff == 0x050f;
        match traced.step() {
            Stop::Stepped => {}
            Stop::Mark(Mark::End) => return Ok(points),
            Stop::Ended(status) => return Err(Lost::Ended(status)),
            stop => return Err(Lost::Stopped(stop)),
        }
        let mut follows = was_own;
        if at_system_call && !in_quiet && traced.blocks_signals() {
            while traced.blocks_signals() {
                match traced.to_system_call() {
                    Stop::SystemCall => {}
                    Stop::Ended(status) => return Err(Lost::Ended(status)),
                    stop => return Err(Lost::Stopped(stop)),
                }
            }
            follows = false;
        }
        stands_at = traced.registers();
        if was_own && !own.contains(stands_at.rip) {
            let back = traced.word(stands_at.rsp);
            if own.contains(back) {
                came_there(traced.run_to(back, stands_at.rsp + 8))?;
                stands_at = traced.registers();
                follows = false;
            }
        }
        if !is_in(&own.kernels, stands_at.rip) {
            visit = None;
        } else if let Some(Visit { steps, back, sp }) = &mut visit {
            *steps += 1;
            if *steps > MOST_STEPS_IN_KERNELS_CODE {
                came_there(traced.run_to(*back, *sp))?;
                stands_at = traced.registers();
                follows = false;
                visit = None;
            }
        } else {
            let (back, sp) = (traced.word(stands_at.rsp), stands_at.rsp + 8);
            visit = Some(Visit { steps: 0, back, sp });
        }
        if own.contains(stands_at.rip) {
            if let Some(last) = points.last_mut() {
                last.is_followed = follows;
            }
            points.push(Point { address: stands_at.rip, sp: stands_at.rsp, is_followed: false });
            seen(follows && !at_system_call);
            if points.len() >= most {
                return Ok(points);
            }
        }
    }
    Err(Lost::TooLong(MOST_STEPS))
}

/// From the mark at which the call begins to the instruction `goal` of `points`: a breakpoint there is met as
/// often as the first lap came by. Where signals are blocked it is not on the way, unless `in_quiet`. What an
/// instruction repeats by itself (`rep`) is stepped through: a breakpoint stops before the first time only.
pub fn follow(traced: &Traced, points: &[Point], goal: usize, in_quiet: bool) -> Result<(), Lost> {
    let point = points[goal];
    let begins = |&at: &usize| points[at].is_at(point) && (at == 0 || !points[at - 1].is_at(point));
    let mut visits = (0..=goal).filter(begins).count();
    let steps = points[..goal].iter().rev().take_while(|other| other.is_at(point)).count();
    while visits > 0 {
        came_there(traced.run_to(point.address, point.sp))?;
        if in_quiet || !traced.blocks_signals() {
            visits -= 1;
        }
    }
    for _ in 0..steps {
        came_there(traced.step())?;
    }
    let registers = traced.registers();
    if (registers.rip, registers.rsp) == (point.address, point.sp) { Ok(()) } else { Err(Lost::Differs) }
}

fn came_there(stop: Stop) -> Result<(), Lost> {
    match stop {
        Stop::Stepped => Ok(()),
        Stop::Ended(status) => Err(Lost::Ended(status)),
        stop => Err(Lost::Stopped(stop)),
    }
}

/// From the mark at which the call begins to the instruction `goal` of `points`, by single steps: what the
/// collector does only after some time is on the way of a slow program alone.
pub fn follow_slowly(traced: &Traced, points: &[Point], goal: usize) -> Result<(), Lost> {
    for at in 0..=goal {
        let point = points[at];
        let stop = if at > 0 && points[at - 1].is_followed {
            traced.step()
        } else {
            traced.run_to(point.address, point.sp)
        };
        came_there(stop)?;
        let registers = traced.registers();
        if registers.rip != point.address || registers.rsp != point.sp {
            return Err(Lost::Differs);
        }
    }
    Ok(())
}
