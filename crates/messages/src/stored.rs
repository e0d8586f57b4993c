//! Endpoints as numbers in a spool: those of a process, which the matching reads in order, and those that are
//! far ahead of their partners.

use proust_streams::Spool;
use proust_streams::numbers::{NumbersReader, NumbersWriter, SpooledNumbers, far, near};

use crate::call::{Collective, Mode, Partner};
use crate::endpoint::{End, Endpoint, Kind};
use crate::line::Stored;
use crate::under_way::Under;
use crate::waits::Times;

/// The endpoints of a process, in the order in which they were started.
#[derive(Debug, Default)]
pub struct StoredEndpoints(SpooledNumbers);

/// Kinds by their number.
const KINDS: [Kind; 4 + Collective::ALL.len()] = {
    let mut kinds = [Kind::Probe; 4 + Collective::ALL.len()];
    kinds[0] = Kind::Send(Mode::Standard);
    kinds[1] = Kind::Send(Mode::Buffered);
    kinds[2] = Kind::Receive;
    let mut at = 0;
    while at < Collective::ALL.len() {
        kinds[4 + at] = Kind::Collective(Collective::ALL[at]);
        at += 1;
    }
    kinds
};

/// Of the first number of an endpoint: its kind, how it ended, and the how manyth prepared one it is.
const KIND_BITS: u32 = 4;
const END_BITS: u32 = 2;

/// What was written, or read, before: the next endpoint is near to it.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    start: u64,
    begin_ns: u64,
}

impl StoredEndpoints {
    /// Of these, in this order.
    pub fn of(endpoints: &[Endpoint], spool: &Spool) -> StoredEndpoints {
        let (mut to, mut last) = (NumbersWriter::new(spool), Last::default());
        endpoints.iter().for_each(|endpoint| write(endpoint, &mut to, &mut last));
        StoredEndpoints(to.finish())
    }

    /// All of them, as they were given.
    pub fn iter(&self) -> impl Iterator<Item = Endpoint> + '_ {
        let (mut from, mut last) = (self.0.read(), Last::default());
        std::iter::from_fn(move || read(&mut from, &mut last))
    }
}

impl Stored for Under {
    fn store(&self, to: &mut NumbersWriter) {
        to.put(&[self.process.into()]);
        write(&self.endpoint, to, &mut Last::default());
    }

    fn load(from: &mut NumbersReader<'_>) -> Option<Under> {
        let process = from.next()? as u32;
        Some(Under { process, endpoint: read(from, &mut Last::default())? })
    }
}

fn write(endpoint: &Endpoint, to: &mut NumbersWriter, last: &mut Last) {
    let kind = KINDS.iter().position(|&kind| kind == endpoint.kind).unwrap_or_default() as u64;
    let (end, by) = match endpoint.end {
        End::Open => (0, endpoint.start),
        End::Cancelled => (1, endpoint.start),
        End::Waited(call) => (2, call),
        End::Tested(call) => (3, call),
    };
    let (started, ended) = (endpoint.started, endpoint.ended);
    let mut numbers = [
        kind | end << KIND_BITS | u64::from(endpoint.series) << (KIND_BITS + END_BITS),
        endpoint.operation.into(),
        endpoint.communicator.into(),
        number_of(endpoint.partner),
        near(i64::from(endpoint.tag).cast_unsigned(), 0),
        endpoint.bytes,
        endpoint.site.into(),
        near(endpoint.start.into(), last.start),
        near(started.begin_ns, last.begin_ns),
        near(started.end_ns, started.begin_ns),
        near(by.into(), endpoint.start.into()),
        0,
        0,
    ];
    // Most are completed by the call that began them.
    let used = if by == endpoint.start && ended == started {
        numbers[10] <<= 1;
        11
    } else {
        numbers[10] = numbers[10] << 1 | 1;
        numbers[11] = near(ended.begin_ns, started.end_ns);
        numbers[12] = near(ended.end_ns, ended.begin_ns);
        13
    };
    to.put(&numbers[..used]);
    *last = Last { start: endpoint.start.into(), begin_ns: started.begin_ns };
}

fn read(from: &mut NumbersReader<'_>, last: &mut Last) -> Option<Endpoint> {
    let head = from.next()?;
    let low = |bits: u32| (1 << bits) - 1;
    let kind = *KINDS.get((head & low(KIND_BITS)) as usize)?;
    let (operation, communicator) = (from.next()? as u32, from.next()? as u32);
    let (partner, tag, bytes) = (partner_of(from.next()?), from.next()?, from.next()?);
    let site = from.next()? as u32;
    let start = far(from.next()?, last.start);
    let begin_ns = far(from.next()?, last.begin_ns);
    let started = Times { begin_ns, end_ns: far(from.next()?, begin_ns) };
    let by = from.next()?;
    let ended = if by & 1 == 0 {
        started
    } else {
        let begin_ns = far(from.next()?, started.end_ns);
        Times { begin_ns, end_ns: far(from.next()?, begin_ns) }
    };
    let by = far(by >> 1, start) as u32;
    *last = Last { start, begin_ns };
    Some(Endpoint {
        kind,
        operation,
        communicator,
        partner,
        tag: far(tag, 0) as i32,
        bytes,
        series: (head >> (KIND_BITS + END_BITS)) as u32,
        start: start as u32,
        started,
        site,
        end: match head >> KIND_BITS & low(END_BITS) {
            0 => End::Open,
            1 => End::Cancelled,
            2 => End::Waited(by),
            _ => End::Tested(by),
        },
        ended,
    })
}

/// Partners that are no ranks, by their number; ranks follow.
const NO_RANKS: [Partner; 4] = [Partner::None, Partner::Any, Partner::Nobody, Partner::Root];

/// A partner as a number.
pub fn number_of(partner: Partner) -> u64 {
    match partner {
        Partner::Rank(rank) => u64::from(rank) + NO_RANKS.len() as u64,
        _ => NO_RANKS.iter().position(|&other| other == partner).unwrap_or_default() as u64,
    }
}

/// The partner that has this number.
pub fn partner_of(number: u64) -> Partner {
    match NO_RANKS.get(usize::try_from(number).unwrap_or(usize::MAX)) {
        Some(&partner) => partner,
        None => Partner::Rank((number - NO_RANKS.len() as u64) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ANY_TAG;

    #[test]
    fn every_endpoint_comes_back() {
        let partners = NO_RANKS.into_iter().chain([0, 1, u32::MAX].map(Partner::Rank));
        let ends = |start| [End::Open, End::Cancelled, End::Waited(start + 9), End::Tested(start)];
        let mut all = Vec::new();
        for (at, partner) in partners.enumerate() {
            for kind in KINDS {
                let start = 3 * all.len() as u32;
                let started = Times { begin_ns: u64::MAX / (at as u64 + 1), end_ns: 7 };
                let ended = |end| match end {
                    End::Waited(_) => Times { begin_ns: 8, end_ns: u64::MAX },
                    _ => started,
                };
                all.extend(ends(start).map(|end| Endpoint {
                    kind,
                    operation: at as u32,
                    communicator: 7 + at as u32,
                    partner,
                    tag: [ANY_TAG, i32::MAX, 5][at % 3],
                    bytes: [u64::MAX, 0, 8][at % 3],
                    series: [0, u32::MAX][at % 2],
                    start,
                    started,
                    site: [0, u32::MAX][at % 2],
                    end,
                    ended: ended(end),
                }));
            }
        }
        let stored = StoredEndpoints::of(&all, &Spool::default());
        assert_eq!(stored.iter().collect::<Vec<_>>(), all);
        assert_eq!(StoredEndpoints::default().iter().next(), None);
        let mut one_by_one = NumbersWriter::new(&Spool::default());
        let under = |endpoint: &Endpoint| Under { process: u32::MAX, endpoint: *endpoint };
        all.iter().for_each(|endpoint| under(endpoint).store(&mut one_by_one));
        let mut from = one_by_one.finish().into_reader();
        let read: Vec<Under> = std::iter::from_fn(|| Under::load(&mut from)).collect();
        assert_eq!(read, all.iter().map(under).collect::<Vec<_>>());
    }
}
