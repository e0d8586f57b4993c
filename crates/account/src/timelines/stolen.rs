//! Time that the host of a virtual machine took from its processors.
//!
//! Linux counts it for each processor (`steal` in `/proc/stat`), not for threads, and leaves it out of the
//! threads' CPU time and of their time in the run queue. A thread that never switched between two instants
//! can only have been off its processor because it was stolen. Further stolen time goes to time off the
//! processor that nothing else explains: never more in all than was counted, and first to the locations that
//! used the processors most.

use std::ops::Range;

use proust_profile::{Ns, Profile};

use super::explained::Theft;
use super::shares::{Claim, by_room, by_weight};

/// Less is not worth a second look: the kernel counts in ticks of 10 ms on every processor.
const LEAST: Ns = Ns::new(10_000_000);

/// What may have been stolen from each location beyond what is certain; `thefts` says what is known of each
/// of a range of them. None = there was nothing.
pub(super) fn by_location(
    profile: &Profile,
    thefts: impl Fn(Range<usize>) -> Vec<Theft>,
) -> Option<Vec<u64>> {
    let stolen = profile.facts.stolen.filter(|&stolen| stolen >= LEAST)?;
    let thefts = thefts(0..profile.locations.len());
    let certain_ns = thefts.iter().fold(0, |sum: u64, theft| sum.saturating_add(theft.certain_ns));
    let mut claims: Vec<Claim> = (profile.locations.iter().zip(&thefts))
        .map(|(location, theft)| {
            let host = profile.processes.get(location.process).map(|process| &process.host);
            Claim {
                weight: location.cpu.unsigned(),
                most_ns: if host == Some(&profile.facts.host) { theft.undecided_ns } else { 0 },
                given_ns: 0,
            }
        })
        .collect();
    let left_ns = by_weight(stolen.unsigned().saturating_sub(certain_ns), &mut claims);
    by_room(left_ns, &mut claims);
    Some(claims.into_iter().map(|claim| claim.given_ns).collect())
}
