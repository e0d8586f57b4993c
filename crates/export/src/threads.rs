//! The threads in scope, and their samples in the order of time.

use proust_profile::{Location, LocationId, Process, SampleRow};
use proust_query::Selection;

/// A thread in scope.
#[derive(Clone, Copy, Debug)]
pub struct Thread<'p> {
    /// Which.
    pub id: LocationId,
    /// Itself.
    pub location: &'p Location,
    /// Its process.
    pub process: &'p Process,
}

impl<'p> Thread<'p> {
    /// One of the profile's.
    pub fn of(selection: &Selection<'p>, id: LocationId) -> Thread<'p> {
        let profile = selection.profile();
        let location = &profile.locations[id];
        Thread { id, location, process: &profile.processes[location.process] }
    }

    /// Whether it is the first of its process.
    pub fn is_main(&self) -> bool {
        self.location.tid == self.process.pid
    }

    /// Its name, or its program's, or its number.
    pub fn name(&self) -> String {
        let names = [&self.location.name, &self.process.name].into_iter();
        names.map(|name| one_line(name)).find(|name| !name.trim().is_empty()).unwrap_or_else(|| self.number())
    }

    /// Its program's name, or its process's number.
    pub fn program(&self) -> String {
        let name = one_line(&self.process.name);
        if name.trim().is_empty() { format!("process {}", self.process.pid) } else { name }
    }

    fn number(&self) -> String {
        format!("thread {}", self.location.tid)
    }

    /// Its name, number and program: nothing else on earth is called so.
    pub fn label(&self) -> String {
        let Thread { location, process, .. } = self;
        if self.name() == self.program() {
            format!("{} {}", self.name(), location.tid)
        } else {
            format!("{} {} of {} {}", self.name(), location.tid, self.program(), process.pid)
        }
    }
}

/// A name without control characters, which may be anything in the name of a thread or a file.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The threads in scope.
pub fn threads<'p>(selection: &Selection<'p>) -> Vec<Thread<'p>> {
    selection.locations().iter().map(|&id| Thread::of(selection, id)).collect()
}

/// The processor time of a thread in scope, in the order of time; its ends that no sample stands for are part
/// of it.
pub fn samples<'s>(selection: &'s Selection<'_>, thread: LocationId) -> impl Iterator<Item = SampleRow> + 's {
    let rows = selection.profile().samples.of(thread);
    rows.filter(|row| row.cpu_ns > 0 && selection.has_sample(row))
}
