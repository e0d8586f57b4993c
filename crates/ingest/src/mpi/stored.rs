//! Endpoints of a process as numbers in a spool: the matching reads them once, in order.

use proust_messages::call::{Collective, Mode, Partner};
use proust_messages::endpoint::{End, Endpoint, Kind};
use proust_profile::{NumbersReader, NumbersWriter, Spool, SpooledNumbers, far, near};

/// The endpoints of a process, in the order in which they were started.
#[derive(Debug, Default)]
pub(super) struct StoredEndpoints(SpooledNumbers);

/// Kinds by their number.
const KINDS: [Kind; 11] = [
    Kind::Send(Mode::Standard),
    Kind::Send(Mode::Buffered),
    Kind::Receive,
    Kind::Probe,
    Kind::Collective(Collective::Barrier),
    Kind::Collective(Collective::AllToAll),
    Kind::Collective(Collective::OneToAll),
    Kind::Collective(Collective::AllToOne),
    Kind::Collective(Collective::Scan),
    Kind::Collective(Collective::Loose),
    Kind::Collective(Collective::Neighbours),
];

/// Of the first number of an endpoint: its kind, how it ended, and the how manyth prepared one it is.
const KIND_BITS: u32 = 4;
const END_BITS: u32 = 2;

impl StoredEndpoints {
    pub(super) fn of(endpoints: &[Endpoint], spool: &Spool) -> StoredEndpoints {
        let mut to = NumbersWriter::new(spool);
        let mut last = 0;
        for endpoint in endpoints {
            let kind = KINDS.iter().position(|&kind| kind == endpoint.kind).unwrap_or_default() as u64;
            let (end, by) = match endpoint.end {
                End::Open => (0, endpoint.start),
                End::Cancelled => (1, endpoint.start),
                End::Waited(call) => (2, call),
                End::Tested(call) => (3, call),
            };
            to.put(&[
                kind | end << KIND_BITS | u64::from(endpoint.series) << (KIND_BITS + END_BITS),
                endpoint.operation.into(),
                endpoint.communicator.into(),
                number_of(endpoint.partner),
                near(i64::from(endpoint.tag).cast_unsigned(), 0),
                endpoint.bytes,
                near(endpoint.start.into(), last),
                near(by.into(), endpoint.start.into()),
            ]);
            last = endpoint.start.into();
        }
        StoredEndpoints(to.finish())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Endpoint> + '_ {
        let (mut from, mut last) = (self.0.read(), 0);
        std::iter::from_fn(move || {
            let endpoint = read(&mut from, last)?;
            last = endpoint.start.into();
            Some(endpoint)
        })
    }
}

fn read(from: &mut NumbersReader<'_>, last: u64) -> Option<Endpoint> {
    let head = from.next()?;
    let low = |bits: u32| (1 << bits) - 1;
    let kind = *KINDS.get((head & low(KIND_BITS)) as usize)?;
    let (operation, communicator) = (from.next()? as u32, from.next()? as u32);
    let (partner, tag, bytes) = (partner_of(from.next()?), from.next()?, from.next()?);
    let start = far(from.next()?, last);
    let by = far(from.next()?, start) as u32;
    Some(Endpoint {
        kind,
        operation,
        communicator,
        partner,
        tag: far(tag, 0) as i32,
        bytes,
        series: (head >> (KIND_BITS + END_BITS)) as u32,
        start: start as u32,
        end: match head >> KIND_BITS & low(END_BITS) {
            0 => End::Open,
            1 => End::Cancelled,
            2 => End::Waited(by),
            _ => End::Tested(by),
        },
    })
}

/// Partners that are no ranks, by their number; ranks follow.
const NO_RANKS: [Partner; 4] = [Partner::None, Partner::Any, Partner::Nobody, Partner::Root];

/// A partner as a number.
pub(super) fn number_of(partner: Partner) -> u64 {
    match partner {
        Partner::Rank(rank) => u64::from(rank) + NO_RANKS.len() as u64,
        _ => NO_RANKS.iter().position(|&other| other == partner).unwrap_or_default() as u64,
    }
}

/// The partner that has this number.
pub(super) fn partner_of(number: u64) -> Partner {
    match NO_RANKS.get(usize::try_from(number).unwrap_or(usize::MAX)) {
        Some(&partner) => partner,
        None => Partner::Rank((number - NO_RANKS.len() as u64) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_messages::call::ANY_TAG;

    #[test]
    fn every_endpoint_comes_back() {
        let partners = NO_RANKS.into_iter().chain([0, 1, u32::MAX].map(Partner::Rank));
        let ends = |start| [End::Open, End::Cancelled, End::Waited(start + 9), End::Tested(start)];
        let mut all = Vec::new();
        for (at, partner) in partners.enumerate() {
            for kind in KINDS {
                let start = 3 * all.len() as u32;
                all.extend(ends(start).map(|end| Endpoint {
                    kind,
                    operation: at as u32,
                    communicator: 7 + at as u32,
                    partner,
                    tag: [ANY_TAG, i32::MAX, 5][at % 3],
                    bytes: [u64::MAX, 0, 8][at % 3],
                    series: [0, u32::MAX][at % 2],
                    start,
                    end,
                }));
            }
        }
        let stored = StoredEndpoints::of(&all, &Spool::default());
        assert_eq!(stored.iter().collect::<Vec<_>>(), all);
        assert_eq!(StoredEndpoints::default().iter().next(), None);
    }
}
