//! The invariants of every profile, whichever code made it.

use thiserror::Error;

use crate::{
    ContextId, ContextKind, EventRow, Events, ExecutionRow, IndexSlice, InsideRow, LocationId,
    PartnerWaitRow, Profile, RegionId, Releases, Samples, Stays, TransferRow, Transfers,
};

/// How a profile contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BrokenInvariant {
    /// The first context is not the program, or another one claims to be.
    #[error("context {context} is out of place: the program, and only it, is context 0 and has no parent")]
    Root {
        /// The context at fault; 0 when there is none at all.
        context: usize,
    },
    /// A context whose parent is not before it.
    #[error("context {context} has parent {parent}, which does not come before it")]
    ParentAfterChild {
        /// The context at fault.
        context: usize,
        /// The parent it names.
        parent: ContextId,
    },
    /// A reference to something that does not exist.
    #[error("{table} row {row} refers to {target} {id}, but there are only {count}")]
    OutOfRange {
        /// The table of the reference.
        table: &'static str,
        /// The row of the reference.
        row: usize,
        /// The entry it refers to.
        target: &'static str,
        /// The number it names.
        id: u32,
        /// How many of the target there are.
        count: usize,
    },
    /// Rows that are not in order.
    #[error("{table} row {row} is not in order ({order})")]
    Unsorted {
        /// The table at fault.
        table: &'static str,
        /// The first row that is out of order.
        row: usize,
        /// The order that holds.
        order: &'static str,
    },
    /// An operation whose times contradict each other.
    #[error("events row {row}: its {time_ns} ns do not lie between {begin_ns} and {end_ns} ns")]
    EventTimes {
        /// The row at fault.
        row: usize,
        /// Its begin.
        begin_ns: u64,
        /// Its end.
        end_ns: u64,
        /// Its time.
        time_ns: u64,
    },
    /// Operations inside others whose times contradict each other.
    #[error("inside row {row}: its {time_ns} ns do not lie between {begin_ns} and {end_ns} ns")]
    InsideTimes {
        /// The row at fault.
        row: usize,
        /// Its begin.
        begin_ns: u64,
        /// Its end.
        end_ns: u64,
        /// Its time.
        time_ns: u64,
    },
    /// A context that is said to be an interval and is none, or the reverse.
    #[error("context {context} is of kind interval, or an interval's context, but not both")]
    IntervalContext {
        /// The context at fault.
        context: u32,
    },
    /// An execution of an interval that ends before it begins.
    #[error("{table} row {row}: it ends at {end_ns} ns, before it begins at {begin_ns} ns")]
    ExecutionTimes {
        /// The table at fault.
        table: &'static str,
        /// The row at fault.
        row: usize,
        /// Its begin.
        begin_ns: u64,
        /// Its end.
        end_ns: u64,
    },
    /// A wait for a partner that is over before it begins.
    #[error("partner_waits row {row}: it is over at {until_ns} ns, and begins at {begin_ns} ns")]
    PartnerWaitTimes {
        /// The row at fault.
        row: usize,
        /// Its begin.
        begin_ns: u64,
        /// When the partner arrived.
        until_ns: u64,
    },
    /// More of a wait could have been filled than there is of it.
    #[error("partner_waits row {row}: {misordered_ns} ns could have been filled, more than it waited")]
    Misordered {
        /// Position in the table.
        row: usize,
        /// What could have been filled.
        misordered_ns: u64,
    },
}

fn in_range<Id, T>(
    table: &'static str,
    row: usize,
    target: &'static str,
    id: Id,
    targets: &IndexSlice<Id, T>,
) -> Result<(), BrokenInvariant>
where
    Id: Copy + Into<u32>,
    usize: From<Id>,
{
    let count = targets.len();
    if usize::from(id) < count {
        Ok(())
    } else {
        Err(BrokenInvariant::OutOfRange { table, row, target, id: id.into(), count })
    }
}

fn interval_in_range(table: &'static str, row: usize, id: u32, count: usize) -> Result<(), BrokenInvariant> {
    let target = "interval";
    if (id as usize) < count {
        Ok(())
    } else {
        Err(BrokenInvariant::OutOfRange { table, row, target, id, count })
    }
}

impl Profile {
    /// Checks every invariant of [`Profile`].
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        self.check_contexts()?;
        for (row, location) in self.locations.iter().enumerate() {
            in_range("locations", row, "process", location.process, &self.processes)?;
        }
        self.check_values()?;
        check_samples(&self.samples, self)?;
        check_events(&self.events, self)?;
        self.check_inside()?;
        check_releases(&self.releases, self)?;
        self.check_regions()?;
        check_stays(&self.stays, self)?;
        self.check_intervals()?;
        check_executions(&self.executions, self)?;
        self.check_messages()?;
        check_partner_waits(&self.partner_waits, self)?;
        check_transfers(&self.transfers, self)?;
        for (row, sample) in self.process_samples.iter().enumerate() {
            in_range("process_samples", row, "process", sample.process, &self.processes)?;
        }
        Ok(())
    }

    fn check_inside(&self) -> Result<(), BrokenInvariant> {
        for (row, inside) in self.inside.iter().enumerate() {
            in_range("inside", row, "location", inside.location, &self.locations)?;
            in_range("inside", row, "context", inside.context, &self.contexts)?;
            in_range("inside", row, "operation", inside.outer, &self.operations)?;
            in_range("inside", row, "operation", inside.operation, &self.operations)?;
            let &InsideRow { begin_ns, end_ns, time_ns, longest_ns, .. } = inside;
            let length_ns = end_ns.checked_sub(begin_ns);
            if length_ns.is_none_or(|length_ns| time_ns > length_ns) || longest_ns > time_ns {
                return Err(BrokenInvariant::InsideTimes { row, begin_ns, end_ns, time_ns });
            }
        }
        Ok(())
    }

    fn check_regions(&self) -> Result<(), BrokenInvariant> {
        for (row, region) in self.regions.iter().enumerate() {
            in_range("regions", row, "process", region.process, &self.processes)?;
            in_range("regions", row, "context", region.context, &self.contexts)?;
            if let Some(parent) = region.parent {
                // A region is opened after the one around it.
                in_range("regions", row, "region", parent, &self.regions[..RegionId::from_index(row)])?;
            }
        }
        let mut previous = None;
        for (row, segment) in self.segments.iter().enumerate() {
            in_range("segments", row, "location", segment.location, &self.locations)?;
            in_range("segments", row, "region", segment.region, &self.regions)?;
            in_range("segments", row, "operation", segment.operation, &self.operations)?;
            in_range("segments", row, "context", segment.context, &self.contexts)?;
            let key = (segment.location, segment.region, segment.operation, segment.context);
            if previous.is_some_and(|previous| previous >= key) {
                let order = "by location, region, operation and context, each combination once";
                return Err(BrokenInvariant::Unsorted { table: "segments", row, order });
            }
            previous = Some(key);
        }
        Ok(())
    }

    fn check_intervals(&self) -> Result<(), BrokenInvariant> {
        for (row, interval) in self.intervals.iter().enumerate() {
            if let Some(parent) = interval.parent {
                // Those around others come first.
                interval_in_range("intervals", row, parent, row)?;
            }
        }
        let mut is_interval = vec![false; self.contexts.len()];
        let mut previous = None;
        for (row, place) in self.interval_contexts.iter().enumerate() {
            in_range("interval_contexts", row, "context", place.context, &self.contexts)?;
            interval_in_range("interval_contexts", row, place.interval, self.intervals.len())?;
            if previous.is_some_and(|previous| previous >= place.context) {
                let order = "by context, each once";
                return Err(BrokenInvariant::Unsorted { table: "interval_contexts", row, order });
            }
            previous = Some(place.context);
            is_interval[place.context.index()] = true;
        }
        for (id, (context, &is_interval)) in self.contexts.iter().zip(&is_interval).enumerate() {
            if (context.kind == ContextKind::Interval) != is_interval {
                return Err(BrokenInvariant::IntervalContext { context: id as u32 });
            }
        }
        for (row, sum) in self.execution_sums.iter().enumerate() {
            in_range("execution_sums", row, "location", sum.location, &self.locations)?;
            interval_in_range("execution_sums", row, sum.interval, self.intervals.len())?;
            if sum.end_ns < sum.begin_ns {
                let (table, begin_ns, end_ns) = ("execution_sums", sum.begin_ns, sum.end_ns);
                return Err(BrokenInvariant::ExecutionTimes { table, row, begin_ns, end_ns });
            }
        }
        Ok(())
    }

    fn check_messages(&self) -> Result<(), BrokenInvariant> {
        for (row, traffic) in self.traffic.iter().enumerate() {
            in_range("traffic", row, "process", traffic.from, &self.processes)?;
            in_range("traffic", row, "process", traffic.to, &self.processes)?;
        }
        for (row, gathering) in self.gatherings.iter().enumerate() {
            in_range("gatherings", row, "operation", gathering.operation, &self.operations)?;
            let (id, count) = (gathering.communicator, self.communicators.len());
            if id as usize >= count {
                let (table, target) = ("gatherings", "communicator");
                return Err(BrokenInvariant::OutOfRange { table, row, target, id, count });
            }
        }
        for (row, exchange) in self.exchanges.iter().enumerate() {
            in_range("exchanges", row, "location", exchange.location, &self.locations)?;
            in_range("exchanges", row, "context", exchange.context, &self.contexts)?;
            in_range("exchanges", row, "operation", exchange.operation, &self.operations)?;
            if let Some(completes) = exchange.completes {
                in_range("exchanges", row, "operation", completes, &self.operations)?;
            }
        }
        for (row, unmatched) in self.unmatched.iter().enumerate() {
            in_range("unmatched", row, "process", unmatched.process, &self.processes)?;
        }
        Ok(())
    }

    fn check_contexts(&self) -> Result<(), BrokenInvariant> {
        if self.contexts.is_empty() {
            return Err(BrokenInvariant::Root { context: 0 });
        }
        for (row, context) in self.contexts.iter().enumerate() {
            let is_program = context.kind == ContextKind::Program;
            match context.parent {
                None if row == 0 && is_program => {}
                Some(_) if row == 0 || is_program => return Err(BrokenInvariant::Root { context: row }),
                None => return Err(BrokenInvariant::Root { context: row }),
                Some(parent) if parent.index() >= row => {
                    return Err(BrokenInvariant::ParentAfterChild { context: row, parent });
                }
                Some(_) => {}
            }
            if let Some(function) = context.function {
                in_range("contexts", row, "function", function, &self.functions)?;
            }
        }
        for (row, function) in self.functions.iter().enumerate() {
            if let Some(module) = function.module {
                in_range("functions", row, "module", module, &self.modules)?;
            }
        }
        Ok(())
    }

    fn check_values(&self) -> Result<(), BrokenInvariant> {
        let mut previous = None;
        for (row, value) in self.values.iter().enumerate() {
            in_range("values", row, "context", value.context, &self.contexts)?;
            in_range("values", row, "location", value.location, &self.locations)?;
            let key = (value.context, value.location, value.metric);
            if previous.is_some_and(|previous| previous >= key) {
                let order = "by context, location and metric, each combination once";
                return Err(BrokenInvariant::Unsorted { table: "values", row, order });
            }
            previous = Some(key);
        }
        Ok(())
    }
}

/// Checks the samples of a profile of which the rest is known. That they are in order holds for all
/// [`Samples`].
pub(crate) fn check_samples(samples: &Samples, profile: &Profile) -> Result<(), BrokenInvariant> {
    if !samples.ids().are_of(profile) {
        for (row, sample) in samples.iter().enumerate() {
            in_range("samples", row, "context", sample.context, &profile.contexts)?;
            in_range("samples", row, "location", sample.location, &profile.locations)?;
        }
    }
    Ok(())
}

/// Checks the operations of a profile of which the rest is known. That they are in order, and none ends
/// before it begins, holds for all [`Events`].
pub(crate) fn check_events(events: &Events, profile: &Profile) -> Result<(), BrokenInvariant> {
    if !events.ids().are_of(profile) {
        for (row, event) in events.iter().enumerate() {
            in_range("events", row, "context", event.context, &profile.contexts)?;
            in_range("events", row, "location", event.location, &profile.locations)?;
            in_range("events", row, "operation", event.operation, &profile.operations)?;
        }
    }
    if let Some((row, EventRow { begin_ns, end_ns, time_ns, .. })) = events.contradiction() {
        return Err(BrokenInvariant::EventTimes { row, begin_ns, end_ns, time_ns });
    }
    Ok(())
}

/// Checks the releases of a profile of which the rest is known. That they are in order holds for all
/// [`Releases`].
pub(crate) fn check_releases(releases: &Releases, profile: &Profile) -> Result<(), BrokenInvariant> {
    if !releases.ids().are_of(profile) {
        for (row, release) in releases.iter().enumerate() {
            let site = release.site.unwrap_or(ContextId::PROGRAM);
            in_range("releases", row, "context", release.context, &profile.contexts)?;
            in_range("releases", row, "context", site, &profile.contexts)?;
            in_range("releases", row, "location", release.location, &profile.locations)?;
            in_range("releases", row, "operation", release.operation, &profile.operations)?;
        }
    }
    Ok(())
}

/// Checks the stays of a profile of which the rest is known. That they are in order holds for all [`Stays`].
pub(crate) fn check_stays(stays: &Stays, profile: &Profile) -> Result<(), BrokenInvariant> {
    if !stays.ids().are_of(profile) {
        for (row, stay) in stays.iter().enumerate() {
            in_range("stays", row, "location", stay.location, &profile.locations)?;
            in_range("stays", row, "region", stay.region, &profile.regions)?;
        }
    }
    Ok(())
}

/// Checks the waits for partners of a profile of which the rest is known.
pub(crate) fn check_partner_waits(
    waits: &[PartnerWaitRow],
    profile: &Profile,
) -> Result<(), BrokenInvariant> {
    let mut previous = (LocationId(0), 0);
    for (row, wait) in waits.iter().enumerate() {
        in_range("partner_waits", row, "context", wait.context, &profile.contexts)?;
        in_range("partner_waits", row, "context", wait.late_context, &profile.contexts)?;
        in_range("partner_waits", row, "location", wait.location, &profile.locations)?;
        in_range("partner_waits", row, "location", wait.late, &profile.locations)?;
        in_range("partner_waits", row, "operation", wait.operation, &profile.operations)?;
        let PartnerWaitRow { begin_ns, until_ns, .. } = *wait;
        if until_ns < begin_ns {
            return Err(BrokenInvariant::PartnerWaitTimes { row, begin_ns, until_ns });
        }
        if wait.misordered_ns > until_ns - begin_ns {
            return Err(BrokenInvariant::Misordered { row, misordered_ns: wait.misordered_ns });
        }
        let key = (wait.location, begin_ns);
        if previous > key {
            let order = "by location and begin";
            return Err(BrokenInvariant::Unsorted { table: "partner_waits", row, order });
        }
        previous = key;
    }
    Ok(())
}

/// Checks the messages of calls of a profile of which the rest is known. That they are in order holds for all
/// [`Transfers`].
pub(crate) fn check_transfers(transfers: &Transfers, profile: &Profile) -> Result<(), BrokenInvariant> {
    const TABLE: &str = "transfers";
    if !transfers.ids().are_of(profile) {
        for (row, transfer) in transfers.iter().enumerate() {
            in_range(TABLE, row, "context", transfer.context, &profile.contexts)?;
            in_range(TABLE, row, "location", transfer.location, &profile.locations)?;
            in_range(TABLE, row, "operation", transfer.operation, &profile.operations)?;
        }
    }
    if let Some((row, TransferRow { begin_ns, end_ns, .. })) = transfers.contradiction() {
        return Err(BrokenInvariant::ExecutionTimes { table: TABLE, row, begin_ns, end_ns });
    }
    Ok(())
}

/// Checks the executions of a profile of which the rest is known.
pub(crate) fn check_executions(
    executions: &[ExecutionRow],
    profile: &Profile,
) -> Result<(), BrokenInvariant> {
    let mut previous = (LocationId(0), 0);
    for (row, execution) in executions.iter().enumerate() {
        in_range("executions", row, "location", execution.location, &profile.locations)?;
        interval_in_range("executions", row, execution.interval, profile.intervals.len())?;
        let ExecutionRow { begin_ns, end_ns, .. } = *execution;
        if end_ns < begin_ns {
            let table = "executions";
            return Err(BrokenInvariant::ExecutionTimes { table, row, begin_ns, end_ns });
        }
        let key = (execution.location, begin_ns);
        if previous > key {
            return Err(BrokenInvariant::Unsorted {
                table: "executions",
                row,
                order: "by location and begin",
            });
        }
        previous = key;
    }
    Ok(())
}
