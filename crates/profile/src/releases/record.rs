//! What of a release is stored.

use proust_streams::records::Release;

use super::ReleaseRow;
use crate::by_location::{Ids, Row};
use crate::{ContextId, LocationId, OperationId};

impl Row for ReleaseRow {
    type Record = Release;
    const NAME: &'static str = "release";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> Release {
        Release {
            time_ns: self.time_ns,
            context: self.context.0,
            site: self.site.map(u32::from),
            operation: self.operation.0,
            object: self.object,
            held_ns: self.held_ns,
            weight_ns: self.weight_ns,
            since_ns: self.since_ns.map(|since_ns| self.time_ns.wrapping_sub(since_ns)),
        }
    }

    #[inline]
    fn load(location: LocationId, release: &Release) -> Option<ReleaseRow> {
        Some(ReleaseRow {
            location,
            context: ContextId(release.context),
            site: release.site.map(ContextId),
            operation: OperationId(release.operation),
            time_ns: release.time_ns,
            object: release.object,
            held_ns: release.held_ns,
            weight_ns: release.weight_ns,
            since_ns: release.since_ns.map(|ago_ns| release.time_ns.wrapping_sub(ago_ns)),
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.context(self.context);
        ids.operation(self.operation);
        if let Some(site) = self.site {
            ids.context(site);
        }
    }
}
