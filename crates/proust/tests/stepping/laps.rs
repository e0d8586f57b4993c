//! The laps of one call: each comes to one point of the way, is interrupted there, and is checked.

use std::path::PathBuf;

use crate::path::{self, Lost, Own, Point};
use crate::tracer::{self, Mark, Stop, Traced};

/// Failures that are told one by one; what follows them is mostly the same.
const MOST_TOLD: usize = 5;

/// Tries to come to one point.
const TRIES: usize = 3;

/// Ways that are tried as long as no point of one is reached: some work is due in few calls only.
const MOST_WAYS: usize = 8;

/// In the first of them all is used for the first time, and the second still differs from those that follow.
const LAPS_UNTIL_ALL_IS_USED: usize = 2;

/// What is to be done.
pub struct Laps {
    /// `programs/stepped.c`, built.
    pub program: PathBuf,
    /// The call.
    pub call: String,
    /// What its handler does, or `kill`.
    pub how: String,
    /// Points before this one are left out.
    pub first: usize,
    /// So many points at most, evenly spread.
    pub points: usize,
}

/// What came of it.
#[derive(Default)]
pub struct Outcome {
    /// Points of the way, those that were tried, and those at which the signal came.
    pub points: usize,
    pub tried: usize,
    pub reached: usize,
    /// CPU seconds of `late_work`, by the program's own clock.
    pub late_s: f64,
    /// What was not as it should be.
    pub wrong: Vec<String>,
    /// Why nothing was done.
    pub skipped: Option<String>,
}

impl Outcome {
    /// As a line, for the process that started this one.
    pub fn line(&self) -> String {
        serde_json::json!({
            "points": self.points, "tried": self.tried, "reached": self.reached, "late_s": self.late_s,
            "wrong": self.wrong, "skipped": self.skipped,
        })
        .to_string()
    }

    /// What [`Outcome::line`] says.
    pub fn of_line(line: &str) -> Option<Outcome> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let number = |name: &str| value[name].as_u64().map(|number| number as usize);
        Some(Outcome {
            points: number("points")?,
            tried: number("tried")?,
            reached: number("reached")?,
            late_s: value["late_s"].as_f64()?,
            wrong: value["wrong"]
                .as_array()?
                .iter()
                .filter_map(|one| Some(one.as_str()?.to_owned()))
                .collect(),
            skipped: value["skipped"].as_str().map(str::to_owned),
        })
    }

    fn failed(&mut self, point: usize, address: u64, what: &str) {
        if self.wrong.len() < MOST_TOLD {
            self.wrong.push(format!("at point {point} ({address:#x}): {what}"));
        }
    }
}

/// Goes on to the mark at which a lap begins; false if the program ends before.
fn to_begin(traced: &Traced) -> bool {
    let mut signal = 0;
    loop {
        match traced.go_on(signal) {
            Stop::Mark(Mark::Begin) => return true,
            Stop::Ended(_) => return false,
            Stop::Signal(other) => signal = other,
            Stop::Mark(Mark::Checked(_)) => {
                traced.answer(1);
                signal = 0;
            }
            _ => signal = 0,
        }
    }
}

/// Goes on, with `signal` first, to the end of the lap: how often something was wrong so far.
fn to_checked(traced: &Traced, mut signal: i32) -> Result<i64, String> {
    loop {
        match traced.go_on(signal) {
            Stop::Mark(Mark::Checked(failures)) => return Ok(failures),
            Stop::Ended(status) => return Err(ended(status)),
            Stop::Signal(other) => signal = other,
            _ => signal = 0,
        }
    }
}

/// Goes on to where the next lap begins; false if the program ends before.
fn later_lap(traced: &Traced) -> bool {
    let is_alive = to_checked(traced, 0).is_ok();
    traced.answer(1);
    is_alive && to_begin(traced)
}

fn ended(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("the program was ended by signal {}", libc::WTERMSIG(status))
    } else {
        format!("the program ended with exit code {}", libc::WEXITSTATUS(status))
    }
}

impl Laps {
    /// Makes them.
    pub fn run(&self) -> Outcome {
        tracer::watch();
        tracer::stay_on_one_processor();
        let mut outcome = Outcome::default();
        if self.how == "kill" {
            self.kill(&mut outcome)
        } else {
            self.interrupt(&mut outcome)
        }
        outcome
    }

    fn start(&self, outcome: &mut Outcome) -> Option<(Traced, Own)> {
        let handler = if self.how == "kill" { "return" } else { &self.how };
        let program = self.program.to_str()?;
        let Some(traced) = Traced::start(program.as_ref(), &[&self.call, handler]) else {
            outcome.skipped = Some("this system lets nobody trace".to_owned());
            return None;
        };
        if !to_begin(&traced) {
            outcome.wrong.push("the program ended before its first lap".to_owned());
            return None;
        }
        let own = Own::of(&traced);
        if own.is_empty() {
            outcome.wrong.push("the collector is not in the program".to_owned());
            return None;
        }
        Some((traced, own))
    }

    /// The way of the call, once all has been used for the first time.
    fn way(&self, traced: &Traced, own: &Own) -> Result<Vec<Point>, Lost> {
        if !(0..LAPS_UNTIL_ALL_IS_USED).all(|_| later_lap(traced)) {
            return Err(Lost::Differs);
        }
        path::find(traced, own, false, usize::MAX)
    }

    /// Of so many points as many as `most`, evenly spread.
    fn chosen(&self, count: usize, most: usize) -> Vec<usize> {
        let stride = count.div_ceil(most.max(1)).max(1);
        // Not always the same ones, if they are few: the process's number decides where to begin.
        let first = if stride == 1 { 0 } else { std::process::id() as usize % stride };
        (first..count).step_by(stride).collect()
    }

    fn interrupt(&self, outcome: &mut Outcome) {
        let Some((traced, own)) = self.start(outcome) else { return };
        let mut failures = 0;
        for way in 0..MOST_WAYS {
            if way > 0 {
                traced.answer(1);
                if !to_begin(&traced) {
                    return outcome.wrong.push("the program ended by itself".to_owned());
                }
            }
            if !self.interrupt_on_a_way(&traced, &own, &mut failures, outcome) {
                return;
            }
            if outcome.reached > 0 {
                break;
            }
        }
        traced.answer(0);
        let (status, printed) = traced.finish();
        if !(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0) {
            outcome.wrong.push(ended(status));
        }
        let truth =
            printed.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        outcome.late_s = truth.and_then(|truth| truth["late_s"].as_f64()).unwrap_or(0.0);
        if outcome.late_s == 0.0 {
            outcome.wrong.push(format!("the program did not say what it did: {printed}"));
        }
    }

    /// Interrupts the call at points of the way that it takes now; false if there is nothing left to go on
    /// with.
    fn interrupt_on_a_way(
        &self,
        traced: &Traced,
        own: &Own,
        failures: &mut i64,
        outcome: &mut Outcome,
    ) -> bool {
        let points = match self.way(traced, own) {
            Ok(points) => points,
            Err(lost) => {
                outcome.wrong.push(format!("the way was not found: {lost:?}"));
                return false;
            }
        };
        (outcome.points, outcome.tried) = (points.len(), 0);
        match to_checked(traced, 0) {
            Ok(now) if now != *failures => {
                *failures = now;
                outcome.wrong.push("the call fails without any signal".to_owned());
            }
            Ok(_) => {}
            Err(what) => {
                outcome.wrong.push(what);
                return false;
            }
        }
        for goal in self.chosen(points.len(), self.points) {
            if goal < self.first {
                continue;
            }
            outcome.tried += 1;
            for attempt in 0..TRIES {
                traced.answer(1);
                if !to_begin(traced) {
                    outcome.failed(goal, points[goal].address, "the program ended by itself");
                    return false;
                }
                let came = if attempt == 0 {
                    path::follow(traced, &points, goal, false)
                } else {
                    path::follow_slowly(traced, &points, goal)
                };
                let signal = if came.is_ok() { libc::SIGUSR1 } else { 0 };
                match to_checked(traced, signal) {
                    Err(what) => {
                        outcome.failed(goal, points[goal].address, &what);
                        return false;
                    }
                    Ok(now) if now != *failures => {
                        *failures = now;
                        outcome.failed(goal, points[goal].address, "a call did not do what it should");
                    }
                    Ok(_) => {}
                }
                if came.is_ok() {
                    outcome.reached += 1;
                    break;
                }
            }
            if outcome.tried.is_multiple_of(100) {
                eprintln!("{} {}: point {goal} of {}", self.call, self.how, points.len());
            }
        }
        true
    }

    /// In the first lap, when all is used for the first time, and in a later one: a process for each point at
    /// which what one leaves behind has changed.
    fn kill(&self, outcome: &mut Outcome) {
        for laps_before in [0, LAPS_UNTIL_ALL_IS_USED] {
            let Some((traced, own)) = self.start_of_lap(laps_before, outcome) else { return };
            let (points, changing) = match path::find_what_changes(&traced, &own) {
                Ok(found) => found,
                Err(lost) => {
                    outcome.wrong.push(format!("the way was not found: {lost:?}"));
                    return;
                }
            };
            traced.kill();
            outcome.points += points.len();
            let most = self.points.div_ceil(2);
            for goal in self.chosen(changing.len(), most).into_iter().map(|at| changing[at]) {
                if goal < self.first {
                    continue;
                }
                outcome.tried += 1;
                if !self.kill_at(&points, goal, laps_before, outcome) {
                    return;
                }
                if outcome.tried.is_multiple_of(100) {
                    eprintln!("{} kill: point {goal} of {}", self.call, points.len());
                }
            }
        }
    }

    /// False if nothing can be started any more.
    fn kill_at(&self, points: &[Point], goal: usize, laps_before: usize, outcome: &mut Outcome) -> bool {
        let mut came = Err(Lost::Differs);
        // One that took another way, as all that the clock does: in another process instructions are counted.
        for is_counted in [false, true] {
            let Some((traced, own)) = self.start_of_lap(laps_before, outcome) else { return false };
            came = if is_counted {
                path::find(&traced, &own, true, goal + 1).map(drop)
            } else {
                path::follow(&traced, points, goal, true)
            };
            traced.kill();
            if came.is_ok() {
                break;
            }
        }
        match came {
            Ok(()) => outcome.reached += 1,
            Err(lost) => {
                outcome.failed(goal, points[goal].address, &format!("{lost:?} before it was killed"))
            }
        }
        true
    }

    /// A process that has made so many laps and begins another one.
    fn start_of_lap(&self, laps_before: usize, outcome: &mut Outcome) -> Option<(Traced, Own)> {
        let (traced, own) = self.start(outcome)?;
        for _ in 0..laps_before {
            if !later_lap(&traced) {
                outcome.wrong.push("the program ended by itself".to_owned());
                return None;
            }
        }
        Some((traced, own))
    }
}
