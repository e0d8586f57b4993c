//! The parts of a region's processor time, and which of them grew with the threads.

use std::ops::{AddAssign, Index, IndexMut};

use proust_profile::Ns;

/// The parts of processor time. Processor time of a region is the number of its threads times its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Running the program's code. What of it grows is work inflation: the same work takes more processor
    /// time.
    Work,
    /// Page faults.
    Faults,
    /// I/O.
    Io,
    /// Standing in the run queue while other programs run.
    Preemption,
    /// Standing in the run queue while the program itself has all processors.
    Oversubscription,
    /// Waiting at barriers and ends of regions for later arrivals.
    Imbalance,
    /// Waiting there after the last arrival: until the thread knows, and has a processor.
    ReleaseLatency,
    /// Opening and closing regions, handing out iterations and tasks.
    Runtime,
    /// Waiting for a lock.
    Lock,
    /// Waiting to enter a critical section.
    Critical,
    /// Waiting for one's turn in an ordered section.
    Ordered,
    /// Waiting for other ranks, and moving data to them.
    Messages,
    /// Processors that have nothing to do while others work.
    Serial,
    /// Proust's own time, empty slots beside waits, and what is not explained.
    Other,
}

impl Cause {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Cause; 14] = [
        Cause::Work,
        Cause::Faults,
        Cause::Io,
        Cause::Preemption,
        Cause::Oversubscription,
        Cause::Imbalance,
        Cause::ReleaseLatency,
        Cause::Runtime,
        Cause::Lock,
        Cause::Critical,
        Cause::Ordered,
        Cause::Messages,
        Cause::Serial,
        Cause::Other,
    ];

    /// Identifier in JSON; never renamed.
    pub const fn id(self) -> &'static str {
        match self {
            Cause::Work => "work",
            Cause::Faults => "faults",
            Cause::Io => "io",
            Cause::Preemption => "preemption",
            Cause::Oversubscription => "oversubscription",
            Cause::Imbalance => "imbalance",
            Cause::ReleaseLatency => "release-latency",
            Cause::Runtime => "runtime",
            Cause::Lock => "lock",
            Cause::Critical => "critical",
            Cause::Ordered => "ordered",
            Cause::Messages => "messages",
            Cause::Serial => "serial",
            Cause::Other => "other",
        }
    }
}

/// Processor time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes([Ns; Cause::ALL.len()]);

impl Causes {
    /// All causes with their times, those with zero included.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Ns)> + '_ {
        Cause::ALL.into_iter().map(|cause| (cause, self[cause]))
    }

    /// Their sum.
    pub fn sum(&self) -> Ns {
        self.0.iter().sum()
    }

    /// The excess of these over those, by cause; negative where it is less.
    pub fn more_than(&self, others: &Causes) -> Causes {
        let mut more = *self;
        more.0.iter_mut().zip(others.0).for_each(|(mine, theirs)| *mine -= theirs);
        more
    }

    /// All of them by this factor.
    pub fn times(&self, factor: f64) -> Causes {
        Causes(self.0.map(|time| time * factor))
    }

    /// The largest, if any is above zero.
    pub fn largest(&self) -> Option<(Cause, Ns)> {
        self.iter().filter(|(_, time)| time.is_positive()).max_by_key(|(_, time)| *time)
    }
}

impl Index<Cause> for Causes {
    type Output = Ns;
    fn index(&self, cause: Cause) -> &Ns {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Causes {
    fn index_mut(&mut self, cause: Cause) -> &mut Ns {
        &mut self.0[cause as usize]
    }
}

impl AddAssign<&Causes> for Causes {
    fn add_assign(&mut self, other: &Causes) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}
