//! Parallel regions and operations as intervals: the account of the time in which they were executed.
//!
//! Where begin and end of an execution are recorded it is a window like that of a marked interval: other
//! threads of the process, and empty slots, count in it. Short executions are known as sums, without begin
//! and end; then the account is that of the recorded ones, in proportion to the time.

use std::collections::BTreeMap;

use proust_account::ledger::{Executed, Inside, LedgerError, Processors, Window, Windows, inside};
use proust_account::stored::StoredTimelines;
use proust_profile::{EventRow, LocationId, Profile, RegionId};

use crate::Selection;

/// The account of the time in which something that is not marked was executed.
#[derive(Clone, Debug, Default)]
pub struct Windowed {
    /// The account of the recorded executions.
    pub inside: Inside,
    /// Executions whose begin and end are recorded.
    pub recorded: u64,
    /// The account times this is that of all executions; 0 where none is recorded by itself.
    pub scale: f64,
}

/// The times of executions of one thing, ns: of those with begin and end, and of all.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    recorded: u64,
    recorded_ns: u64,
    all_ns: u64,
}

impl Times {
    fn scale(self) -> f64 {
        match self.recorded_ns {
            0 => 0.0,
            recorded_ns => self.all_ns.max(recorded_ns) as f64 / recorded_ns as f64,
        }
    }
}

/// The accounts of `count` groups of regions; `group_of` is the group of a region. A region lasts from its
/// fork until the last of its threads has done its part.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn regions_windowed(
    selection: &Selection<'_>,
    processors: Option<u32>,
    windows: &Windows,
    count: usize,
    group_of: impl Fn(RegionId) -> Option<usize>,
) -> Result<Vec<Windowed>, LedgerError> {
    let profile = selection.profile();
    // By region and fork: the thread that opened it, and the last end.
    let mut teams: BTreeMap<(RegionId, u64), (Option<LocationId>, u64)> = BTreeMap::new();
    for stay in profile.stays.iter() {
        let team = teams.entry((stay.region, stay.fork_ns)).or_default();
        if stay.number == 0 {
            team.0 = Some(stay.location);
        }
        team.1 = team.1.max(stay.end_ns);
    }
    let mut times = vec![Times::default(); count];
    let mut executed = Vec::new();
    for ((region, fork_ns), (opened_by, end_ns)) in teams {
        let (Some(group), Some(location)) = (group_of(region), opened_by) else { continue };
        let window = Window::new(fork_ns, end_ns);
        let length_ns = windows.within(window).length_ns();
        if length_ns == 0 || selection.locations().binary_search(&location).is_err() {
            continue;
        }
        times[group].recorded += 1;
        times[group].recorded_ns += length_ns;
        times[group].all_ns += length_ns;
        executed.push(Executed { what: group as u32, location, window });
    }
    drawn_up(profile, processors, windows, &times, &executed)
}

/// The accounts of `count` groups of operations; `group_of` is the group of a row.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn operations_windowed(
    selection: &Selection<'_>,
    processors: Option<u32>,
    windows: &Windows,
    count: usize,
    group_of: impl Fn(&EventRow) -> Option<usize>,
) -> Result<Vec<Windowed>, LedgerError> {
    let profile = selection.profile();
    let mut times = vec![Times::default(); count];
    let mut executed = Vec::new();
    for event in profile.events.iter().filter(|event| selection.scope().has_event(event)) {
        let Some(group) = group_of(&event) else { continue };
        times[group].all_ns += event.time_ns;
        if event.summed {
            continue;
        }
        let window = Window::new(event.begin_ns, event.end_ns);
        times[group].recorded += 1;
        times[group].recorded_ns += window.length_ns();
        executed.push(Executed { what: group as u32, location: event.location, window });
    }
    drawn_up(profile, processors, windows, &times, &executed)
}

fn drawn_up(
    profile: &Profile,
    processors: Option<u32>,
    windows: &Windows,
    times: &[Times],
    executed: &[Executed],
) -> Result<Vec<Windowed>, LedgerError> {
    let stored = StoredTimelines::of(profile);
    let run = stored.whole_run(profile);
    let processors = match processors {
        Some(total) => Processors::given(&run, total)?,
        None => Processors::measured(&run, &Windows::all())?,
    };
    let all = inside(&run, &processors, windows, times.len(), executed)?;
    let of = |(inside, times): (Inside, &Times)| Windowed {
        inside,
        recorded: times.recorded,
        scale: times.scale(),
    };
    Ok(all.into_iter().zip(times).map(of).collect())
}
