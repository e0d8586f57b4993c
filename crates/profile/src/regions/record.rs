//! What of a stay is stored.

use proust_streams::records::Stay;

use super::StayRow;
use crate::by_location::{Ids, Row};
use crate::{LocationId, RegionId};

impl Row for StayRow {
    type Record = Stay;
    const NAME: &'static str = "stay";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> Stay {
        Stay {
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            fork_ns: self.fork_ns,
            region: self.region.0,
            number: self.number,
            team: self.team,
        }
    }

    #[inline]
    fn load(location: LocationId, stay: &Stay) -> Option<StayRow> {
        Some(StayRow {
            location,
            region: RegionId(stay.region),
            fork_ns: stay.fork_ns,
            begin_ns: stay.begin_ns,
            end_ns: stay.end_ns,
            number: stay.number,
            team: stay.team,
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.region(self.region);
    }
}
