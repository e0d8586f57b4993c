//! Numbers for parallel regions: one for each place that opens some, on each call path that leads there.
//!
//! A region is distinguished from others by its construct, by the marked interval in which it is opened, and
//! by the whole call path that leads there: a construct may be inlined in several places of one function, or
//! be called from several at the same depth of the stack. Each time the path is verified by the words of the
//! stack that it depends on ([`KnownPaths`]); only one that is not known is unwound.
//!
//! [`KnownPaths`]: crate::operation::known_paths::KnownPaths

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::records::{Region, RegionOrigin};

use crate::arena::Lazily;
use crate::lane::Output;
use crate::path::tree::NodeId;

const PLACES: usize = 16;
/// Most regions of one thread that have a number of their own. Later ones get that of a region with the same
/// construct, or none.
const MOST_REGIONS: usize = 4096;

static LAST: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    node: NodeId,
    parent: u32,
    interval: u32,
    id: u32,
}

/// The regions that a thread has opened.
#[derive(Debug, Default)]
pub struct Regions {
    places: Lazily<[Known; PLACES]>,
    /// By node, parent and interval.
    numbers: Vec<Known>,
}

impl Regions {
    #[inline]
    fn place(&mut self, node: NodeId, parent: u32) -> Option<&mut Known> {
        let places = self.places.get_or_make(|| [Known::default(); PLACES])?;
        Some(&mut places[(node ^ parent.rotate_left(2)) as usize % PLACES])
    }

    /// The number of the region that is opened at `node`, if it is one of the newest.
    #[inline]
    pub fn known(&mut self, node: NodeId, parent: u32, interval: u32) -> Option<u32> {
        let known = *self.place(node, parent)?;
        (node != 0 && (known.node, known.parent, known.interval) == (node, parent, interval))
            .then_some(known.id)
    }

    /// The number of the region that is opened at `node`; 0 if there is none left.
    pub fn number(
        &mut self,
        (node, parent, interval): (NodeId, u32, u32),
        (origin, body): (RegionOrigin, NodeId),
        output: &mut Output,
    ) -> u32 {
        let wanted = (node, parent, interval);
        let at =
            self.numbers.binary_search_by_key(&wanted, |known| (known.node, known.parent, known.interval));
        let id = match at {
            Ok(at) => self.numbers[at].id,
            Err(_) if self.numbers.len() >= MOST_REGIONS => 0,
            Err(at) => {
                let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                if !output.push(origin as u16, 0, &Region { id, node, parent, body, interval, reserved: 0 }) {
                    return 0;
                }
                self.numbers.insert(at, Known { node, parent, interval, id });
                id
            }
        };
        if let Some(place) = self.place(node, parent) {
            *place = Known { node, parent, interval, id };
        }
        id
    }
}

/// A forked child's log is another one.
pub fn after_fork() {
    LAST.store(0, Ordering::Relaxed);
}
