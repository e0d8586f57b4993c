//! Marks that programs carry for other tools: ranges of NVTX, tasks of ITT, regions of Kokkos.
//!
//! Each interface looks for its tool's library by a variable of the environment, which `proust record` points
//! to the collector's own file: it is loaded already, so the loader only finds it. A variable that the user
//! has set stays as it is.
//!
//! - [`nvtx`], [`itt`], [`kokkos`]: the interfaces
//! - [`itt_names`]: domains and names of ITT
//! - [`text`]: what they pass as names

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::records::{IntervalKind, IntervalOrigin, NO_NUMBER};

use super::mark::{self, Key, Mark};
use crate::path::memo::State;

pub mod itt;
pub mod itt_names;
pub mod kokkos;
pub mod nvtx;
pub mod text;

/// An interval begins by one of these interfaces.
#[inline]
fn begin(origin: IntervalOrigin, (domain, name): (&[u8], &[u8]), kind: IntervalKind, key: Key, state: State) {
    mark::begin(&Mark {
        domain,
        name,
        number: NO_NUMBER,
        file: &[],
        line: 0,
        kind,
        degree: 0,
        origin,
        key,
        state,
    });
}

/// The interval of that key ends. `call` is what the report names where there is none.
#[inline]
fn end(origin: IntervalOrigin, call: &[u8], key: Key, state: State) {
    mark::end(&Mark {
        domain: &[],
        name: call,
        number: NO_NUMBER,
        file: &[],
        line: 0,
        kind: IntervalKind::Plain,
        degree: 0,
        origin,
        key,
        state,
    });
}

/// A number for a single interval of these interfaces: never 0, which represents none in some.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
