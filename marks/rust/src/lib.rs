//! Marks for [Proust](https://github.com/proust-profiler/proust): intervals of a program, by name, and control
//! of the recording.
//!
//! In a program that `proust record` runs the marks are recorded; in any other one each of them costs a load
//! and a branch. There is nothing to link and nothing to switch on.
//!
//! ```
//! use proust_marks::Interval;
//!
//! {
//!     let _solving = Interval::new("solve").begin();
//!     for level in 0..3 {
//!         let sweep = Interval::new("sweep").number(level).parallel().begin();
//!         sweep.iterations(1000);
//!     } // The interval ends with the guard.
//! }
//! proust_marks::sample("after solving");
//! ```
//!
//! An interval belongs to the thread that begins it. Intervals may be nested, repeated and recursive. A guard
//! that lives longer than one around it ends an interval that Proust has closed already; that is reported and
//! does no harm.

#![no_std]

use core::marker::PhantomData;
use core::panic::Location;

mod table;

use table::{functions, Mark};

/// An interval that can be begun.
#[derive(Clone, Copy, Debug)]
#[must_use = "an interval begins with `begin`"]
pub struct Interval<'n> {
    name: &'n str,
    number: i64,
    kind: u32,
    degree: u32,
}

/// The number of an interval that has none.
const NO_NUMBER: i64 = i64::MIN;

impl<'n> Interval<'n> {
    /// An interval of this name. 1023 bytes of it count.
    #[inline(always)]
    pub const fn new(name: &'n str) -> Interval<'n> {
        Interval { name, number: NO_NUMBER, kind: 0, degree: 0 }
    }

    /// With a number of the program's own: one for each level of a grid, for instance.
    #[inline(always)]
    pub const fn number(self, number: i64) -> Interval<'n> {
        Interval { number, ..self }
    }

    /// Its work is distributed over the processors.
    #[inline(always)]
    pub const fn parallel(self) -> Interval<'n> {
        Interval { kind: 1, ..self }
    }

    /// Its work is done in full by each of `degree` processors; 0 = by all ranks.
    #[inline(always)]
    pub const fn replicated(self, degree: u32) -> Interval<'n> {
        Interval { kind: 2, degree, ..self }
    }

    /// The calling thread begins the interval, and ends it when the guard is dropped.
    #[inline(always)]
    #[track_caller]
    pub fn begin(self) -> Guard<'n> {
        let place = Location::caller();
        if let Some(functions) = functions() {
            let mark = Mark::new(self.name, self.number, place, self.kind, self.degree);
            // SAFETY: the mark and its texts stay during the call.
            unsafe { (functions.begin)(&mark) };
        }
        Guard { name: self.name, number: self.number, place, of_this_thread: PhantomData }
    }
}

/// An interval that has begun: it ends when this is dropped, in the same thread.
#[derive(Debug)]
#[must_use = "the interval ends when its guard is dropped"]
pub struct Guard<'n> {
    name: &'n str,
    number: i64,
    place: &'static Location<'static>,
    of_this_thread: PhantomData<*const ()>,
}

impl Guard<'_> {
    /// Adds to the iterations of the innermost interval that the thread is in, which is this one unless
    /// another was begun since.
    #[inline(always)]
    pub fn iterations(&self, count: u64) {
        if let Some(functions) = functions() {
            (functions.iterations)(count);
        }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(functions) = functions() {
            let mark = Mark::new(self.name, self.number, self.place, 0, 0);
            // SAFETY: the mark and its texts stay during the call.
            unsafe { (functions.end)(&mark) };
        }
    }
}

/// Whether Proust is there. It may be paused, or have stopped.
#[inline(always)]
pub fn is_present() -> bool {
    functions().is_some()
}

/// Recording stops in this process, until [`resume`].
#[inline(always)]
pub fn pause() {
    if let Some(functions) = functions() {
        (functions.pause)();
    }
}

/// Recording goes on in this process.
#[inline(always)]
pub fn resume() {
    if let Some(functions) = functions() {
        (functions.resume)();
    }
}

/// Samples the process: what it has used and holds, under this label.
#[inline(always)]
pub fn sample(label: &str) {
    if let Some(functions) = functions() {
        // SAFETY: a text of that many bytes, which stays during the call.
        unsafe { (functions.sample)(label.as_ptr(), label.len() as u64) };
    }
}

/// Names the calling thread in reports. Its name for the system stays as it is.
#[inline(always)]
pub fn name_thread(name: &str) {
    if let Some(functions) = functions() {
        // SAFETY: as above.
        unsafe { (functions.name_thread)(name.as_ptr(), name.len() as u64) };
    }
}

/// Seconds of the calling thread on an account so far: `wall`, `cpu`, `compute` (`cpu` without Proust's own),
/// `user`, `system`, `measurement`, `wait` (calls that wait), `io`, `mpi`, and `paused`. None for accounts
/// that only the analysis knows (`lock`, `barrier`, `mpi-partner`, `serial`, `idle`, `fault`,
/// `oversubscribed`, `preempted`), and where nothing is recorded.
#[inline(always)]
pub fn elapsed(account: &str) -> Option<f64> {
    let functions = functions()?;
    // SAFETY: as above.
    let seconds = unsafe { (functions.elapsed)(account.as_ptr(), account.len() as u64) };
    (seconds >= 0.0).then_some(seconds)
}
