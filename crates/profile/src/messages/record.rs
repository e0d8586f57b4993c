//! What of a call's messages is stored.

use proust_streams::records::Transfer;

use super::TransferRow;
use crate::by_location::{Ids, Row};
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
