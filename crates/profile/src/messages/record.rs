//! What of a call's messages, and of its wait for a partner, is stored.

use proust_streams::records::{PartnerWait, Transfer};

use super::{PartnerWaitRow, PartnerWaits, TransferRow, WaitPattern};
use crate::by_location::{ByLocation, Ids, Row, RowsBuilder};
use crate::{ContextId, LocationId, OperationId};

impl Row for TransferRow {
    type Record = Transfer;
    const NAME: &'static str = "transfer";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> Transfer {
        Transfer {
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            context: self.context.0,
            operation: self.operation.0,
            counts: [self.sends, self.receives, self.collectives],
            bytes: [self.sent_bytes, self.received_bytes, self.collective_bytes],
        }
    }

    #[inline]
    fn load(location: LocationId, transfer: &Transfer) -> Option<TransferRow> {
        let ([sends, receives, collectives], [sent_bytes, received_bytes, collective_bytes]) =
            (transfer.counts, transfer.bytes);
        Some(TransferRow {
            location,
            context: ContextId(transfer.context),
            operation: OperationId(transfer.operation),
            begin_ns: transfer.begin_ns,
            end_ns: transfer.end_ns,
            sends,
            receives,
            sent_bytes,
            received_bytes,
            collectives,
            collective_bytes,
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.context(self.context);
        ids.operation(self.operation);
    }

    #[inline]
    fn agrees(&self) -> bool {
        self.begin_ns <= self.end_ns
    }
}

impl Row for PartnerWaitRow {
    type Record = PartnerWait;
    const NAME: &'static str = "wait for a partner";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> PartnerWait {
        PartnerWait {
            begin_ns: self.begin_ns,
            until_ns: self.until_ns,
            context: self.context.0,
            operation: self.operation.0,
            pattern: self.pattern.number(),
            late: self.late.0,
            late_context: self.late_context.0,
            misordered_ns: self.misordered_ns,
            bytes: self.bytes,
        }
    }

    #[inline]
    fn load(location: LocationId, wait: &PartnerWait) -> Option<PartnerWaitRow> {
        Some(PartnerWaitRow {
            location,
            context: ContextId(wait.context),
            operation: OperationId(wait.operation),
            begin_ns: wait.begin_ns,
            until_ns: wait.until_ns,
            pattern: WaitPattern::from_number(wait.pattern)?,
            late: LocationId(wait.late),
            late_context: ContextId(wait.late_context),
            misordered_ns: wait.misordered_ns,
            bytes: wait.bytes,
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.context(self.context);
        ids.context(self.late_context);
        ids.operation(self.operation);
    }

    #[inline]
    fn agrees(&self) -> bool {
        self.begin_ns <= self.until_ns
    }
}

/// Waits as streams, as they are stored. They are those of a profile whose invariants hold.
pub(crate) fn encoded(waits: &PartnerWaits) -> ByLocation<PartnerWaitRow> {
    let mut rows = RowsBuilder::new(&waits.spool());
    waits.iter().for_each(|wait| rows.push(wait).expect("waits are in order"));
    rows.finish()
}
