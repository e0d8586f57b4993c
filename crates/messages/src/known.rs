//! A communicator and its members, as far as they were recorded.

use rustc_hash::FxHashMap;

use crate::run::Communicator;

/// A communicator as the matching knows it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) of: Communicator,
    /// Whether all of its members were recorded.
    pub(crate) is_complete: bool,
    /// Which process is the member of each rank, on both sides; [`NOT_RECORDED`] = that is not known.
    members: [Vec<u32>; 2],
    /// The same where far more ranks than were recorded would have a place.
    few: FxHashMap<(bool, u32), u32>,
    /// Its messages, and their bytes.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// Of a member: none.
const NOT_RECORDED: u32 = u32::MAX;
/// Ranks for each recorded one up to which there is a place for all.
const SPARSE: u64 = 16;

impl Known {
    /// With the side, rank and process of each member that was recorded.
    pub(crate) fn new(of: Communicator, recorded: &[(bool, u32, u32)]) -> Known {
        let mut known = Known { of, is_complete: recorded.len() as u64 >= of.members(), ..Known::default() };
        let is_sparse = of.members() > SPARSE * (recorded.len() as u64 + SPARSE);
        for &(side, rank, process) in recorded {
            let has_place = rank < if side { of.second_size } else { of.size };
            if is_sparse || !has_place {
                known.few.insert((side, rank), process);
                continue;
            }
            let members = &mut known.members[usize::from(side)];
            if members.len() <= rank as usize {
                members.resize(rank as usize + 1, NOT_RECORDED);
            }
            members[rank as usize] = process;
        }
        known
    }

    /// The process that is this member, if it was recorded.
    pub(crate) fn process(&self, side: bool, rank: u32) -> Option<u32> {
        match self.members[usize::from(side)].get(rank as usize) {
            Some(&process) if process != NOT_RECORDED => Some(process),
            _ if self.few.is_empty() => None,
            _ => self.few.get(&(side, rank)).copied(),
        }
    }
}
