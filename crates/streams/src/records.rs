//! The kinds of records. Counters can follow: a type that implements [`Record`](crate::Record), with a number
//! of its own.

mod event;
mod partner_wait;
mod release;
mod sample;
mod state;
mod stay;
mod synchronisation;
mod transfer;

pub use event::Event;
pub use partner_wait::PartnerWait;
pub use release::Release;
pub use sample::Sample;
pub use state::{PART_ACCOUNTS, State};
pub use stay::Stay;
pub use synchronisation::Synchronisation;
pub use transfer::Transfer;

/// An optional number, as a number: most are known, and none is the largest.
#[inline]
fn optional(value: Option<u64>) -> u64 {
    value.map_or(0, |value| value.saturating_add(1))
}

#[inline]
fn from_optional(value: u64) -> Option<u64> {
    value.checked_sub(1)
}

#[inline]
fn narrow<T: TryFrom<u64>>(value: u64) -> Option<T> {
    T::try_from(value).ok()
}

#[cfg(test)]
mod tests;
