//! Numbers for parallel regions: one for each place that opens some, on each call path that leads there.
//!
//! A region is told from others by the function that its threads run and by the depth of the stack at which
//! it is opened; the path itself is looked at again once in a while, since two paths may have the same depth.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::records::{Region, RegionOrigin};

use crate::arena::Lazily;
use crate::lane::Output;
use crate::path::tree::NodeId;

/// A path is believed for so long.
const BELIEVED_NS: u64 = 200_000;
const PLACES: usize = 16;
/// Most regions of one thread that have a number of their own. What comes later has that of a region with the
/// same construct, or none.
const MOST_REGIONS: usize = 4096;

static LAST: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    construct: u64,
    sp: u64,
    parent: u32,
    id: u32,
    looked_ns: u64,
}

/// The regions that a thread has opened.
#[derive(Debug, Default)]
pub struct Regions {
    places: Lazily<[Known; PLACES]>,
    /// By node and parent: node, parent, number.
    numbers: Vec<(NodeId, u32, u32)>,
}

impl Regions {
    #[inline]
    fn place(&mut self, construct: u64, sp: u64) -> Option<&mut Known> {
        let mixed = (construct ^ sp.rotate_left(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let places = self.places.get_or_make(|| [Known::default(); PLACES])?;
        Some(&mut places[(mixed >> 60) as usize % PLACES])
    }

    /// The number of a region, if its path need not be looked at.
    #[inline]
    pub fn known(&mut self, construct: u64, sp: u64, parent: u32, now_ns: u64) -> Option<u32> {
        let known = *self.place(construct, sp)?;
        let same = known.construct == construct && known.sp == sp && known.parent == parent;
        (same && now_ns.saturating_sub(known.looked_ns) < BELIEVED_NS).then_some(known.id)
    }

    /// The number of the region that is opened at `node`; 0 if there is none left.
    pub fn number(
        &mut self,
        (construct, sp): (u64, u64),
        (node, parent): (NodeId, u32),
        (origin, body): (RegionOrigin, NodeId),
        now_ns: u64,
        output: &mut Output,
    ) -> u32 {
        let at = self.numbers.binary_search_by_key(&(node, parent), |&(node, parent, _)| (node, parent));
        let id = match at {
            Ok(at) => self.numbers[at].2,
            Err(_) if self.numbers.len() >= MOST_REGIONS => 0,
            Err(at) => {
                let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                if !output.push(origin as u16, 0, &Region { id, node, parent, body }) {
                    return 0;
                }
                self.numbers.insert(at, (node, parent, id));
                id
            }
        };
        if let Some(place) = self.place(construct, sp) {
            *place = Known { construct, sp, parent, id, looked_ns: now_ns };
        }
        id
    }
}

/// A forked child's log is another one.
pub fn after_fork() {
    LAST.store(0, Ordering::Relaxed);
}
