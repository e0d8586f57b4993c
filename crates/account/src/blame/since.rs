//! Since when two locations can be compared: the last instant at which both went on together.
//!
//! Two locations synchronise when one waits for the other, and when both wait for the same third one, since
//! all of these go on at one instant; the first time is when both had begun MPI.

use std::collections::VecDeque;

use proust_profile::{Array, ContextId, Nature, Profile};

/// How many synchronisations of a location are looked back at for one that another was a part of, too.
const LOOKED_AT: usize = 512;

/// The last instant, before a wait, at which the waiting location and the late one went on together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// When, no later than the wait's begin.
    pub time_ns: u64,
    /// Where was waited then; None = they began.
    pub site: Option<ContextId>,
}

/// An instant at which several locations went on.
#[derive(Clone, Copy, Debug)]
struct Synchronised {
    number: usize,
    time_ns: u64,
    site: ContextId,
}

/// The last synchronisations of a location, in order.
#[derive(Clone, Debug, Default)]
struct History {
    last: VecDeque<Synchronised>,
    /// There were others before.
    is_cut: bool,
}

impl History {
    fn push(&mut self, one: Synchronised) {
        if self.last.len() == LOOKED_AT {
            self.last.pop_front();
            self.is_cut = true;
        }
        self.last.push_back(one);
    }

    /// From when on all of them are known.
    fn known_since_ns(&self, first_ns: u64) -> u64 {
        let first = self.last.front().filter(|_| self.is_cut);
        first.map_or(first_ns, |first| first.time_ns.max(first_ns))
    }
}

/// Calls `each` with the position of each wait for a partner, in the order of the waits' ends.
pub fn each_since(profile: &Profile, mut each: impl FnMut(usize, Since)) {
    let rows = &profile.partner_waits[..];
    if rows.is_empty() {
        return;
    }
    let mut order: Array<u32> = Array::new(&profile.partner_waits.spool());
    order.extend((0..).take(rows.len()));
    let key = |at: u32| {
        let row = &rows[at as usize];
        (row.until_ns, row.late, row.location)
    };
    order.sort_unstable_by_key(|&at| key(at));
    let mut history: Vec<History> = vec![History::default(); profile.locations.len()];
    let begins_ns = begins_ns(profile);
    let same = |a: &u32, b: &u32| (key(*a).0, key(*a).1) == (key(*b).0, key(*b).1);
    for (number, group) in order.chunk_by(same).enumerate() {
        let (time_ns, late, _) = key(group[0]);
        for &at in group {
            let row = &rows[at as usize];
            let first_ns = begins_ns[row.location.index()].max(begins_ns[late.index()]);
            let since = common(&history[row.location.index()], &history[late.index()], first_ns);
            each(at as usize, Since { time_ns: since.time_ns.min(row.begin_ns), ..since });
        }
        let site = group.iter().map(|&at| rows[at as usize].context).min().unwrap_or(ContextId::PROGRAM);
        let synchronised = Synchronised { number, time_ns, site };
        history[late.index()].push(synchronised);
        let waited = group.iter().map(|&at| rows[at as usize].location);
        waited.for_each(|location| history[location.index()].push(synchronised));
    }
}

/// The last synchronisation that both were a part of. Without one `first_ns`, or where there are too many to
/// look at all of them the first of these: any instant will do, as long as it is the same for both.
fn common(one: &History, other: &History, first_ns: u64) -> Since {
    let none =
        Since { time_ns: one.known_since_ns(first_ns).max(other.known_since_ns(first_ns)), site: None };
    let (mut a, mut b) = (one.last.iter().rev(), other.last.iter().rev());
    let (Some(mut of_one), Some(mut of_other)) = (a.next(), b.next()) else { return none };
    loop {
        let next = match of_one.number.cmp(&of_other.number) {
            std::cmp::Ordering::Equal => {
                return Since { time_ns: of_one.time_ns, site: Some(of_one.site) };
            }
            std::cmp::Ordering::Greater => a.next().map(|next| of_one = next),
            std::cmp::Ordering::Less => b.next().map(|next| of_other = next),
        };
        if next.is_none() {
            return none;
        }
    }
}

/// When each location had begun MPI: the end of its first call of the runtime's own, 0 where it made none.
fn begins_ns(profile: &Profile) -> Vec<u64> {
    let mut begins_ns = vec![0; profile.locations.len()];
    for location in profile.events.locations() {
        let begin = profile.events.of(location).find(|event| {
            let kind = profile.operations.get(event.operation).and_then(|info| info.kind);
            kind.is_some_and(|kind| kind.is_of_mpi() && kind.nature == Nature::Runtime)
        });
        if let Some(begin) = begin {
            begins_ns[location.index()] = begin.end_ns;
        }
    }
    begins_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(numbers: impl IntoIterator<Item = usize>) -> History {
        let mut history = History::default();
        for number in numbers {
            let (time_ns, site) = (10 * number as u64, ContextId(number as u32));
            history.push(Synchronised { number, time_ns, site });
        }
        history
    }

    fn found(one: History, other: History) -> (u64, Option<ContextId>) {
        let since = common(&one, &other, 4);
        (since.time_ns, since.site)
    }

    #[test]
    fn the_last_common_one_is_found() {
        assert_eq!(found(at([1, 3, 5, 8]), at([2, 3, 6, 7])), (30, Some(ContextId(3))));
        assert_eq!(found(at([1, 3]), at([2, 4])), (4, None));
        assert_eq!(found(at([]), at([2, 4])), (4, None));
        // Too far back to be looked at.
        let many = at((0..2 * LOOKED_AT).map(|n| 2 * n));
        assert_eq!(found(many, at([0])), (20 * LOOKED_AT as u64, None));
    }
}
