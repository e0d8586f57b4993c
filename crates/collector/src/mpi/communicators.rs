//! Communicators: by which number the log names each, and by which id all of its members know it.
//!
//! Ids are the same on all members without any communication. All members of a communicator make new ones
//! from it in the same order, so the new one's id is a hash of its parent's id, of how many were made from
//! that before, and of the world rank of the new one's first member, which distinguishes the parts of a
//! split. Where only some members of a parent take part, the order says nothing: then the members themselves,
//! and how often they have made one, take its place.
//!
//! Windows and files have a group of processes of their own: for them a communicator is recorded, too, by
//! which their collective calls are matched.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::records::{
    COMMUNICATOR_SECOND_SIDE, COMMUNICATOR_UNKNOWN, COMMUNICATOR_WORLD, Communicator, Envelope, Subject,
};

use super::handles::Handles;
use super::library::Library;
use crate::operation::exact::Facts;
use crate::{arena, clock, lane};

/// By handle: the id; the number; how many communicators were made of it.
static BY_HANDLE: Handles = Handles::new();
/// The same for windows and files, whose handles may have the same values.
static GROUPS: Handles = Handles::new();
/// By a hash of members: in the second word how often they made a communicator.
static BY_MEMBERS: Handles = Handles::new();
/// The last number that was given.
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// Communicators of which nothing is known, so far.
static UNKNOWN: AtomicU64 = AtomicU64::new(0);

const ID: usize = 0;
const OF_IT: usize = 2;

/// `MPI_COMM_WORLD`, whose members know it by this id in every run.
const WORLD_ID: u64 = 1;

/// Members whose world ranks are recorded, at most.
const MOST_MEMBERS: u32 = 1 << 20;

/// In a forked child: there are none.
pub fn forget() {
    for table in [&BY_HANDLE, &GROUPS, &BY_MEMBERS] {
        table.clear();
    }
}

/// How a communicator was made, as far as its id depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// By all members of this one.
    Of(usize),
    /// By its own members alone.
    ByMembers,
    /// In a way that leaves no common id.
    Unknown,
}

fn mix(hash: u64, word: u64) -> u64 {
    // Turned, so that the order of the two counts.
    let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ mixed >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

/// Numbers in the collector's own memory, given back at the end.
pub struct Numbers {
    memory: *mut c_int,
    count: usize,
}

impl Numbers {
    /// So many zeros; None without memory.
    pub fn new(count: usize) -> Option<Numbers> {
        let memory = arena::pages(count.max(1) * size_of::<c_int>()).cast::<c_int>();
        (!memory.is_null()).then_some(Numbers { memory, count })
    }

    /// The numbers.
    pub fn slice(&mut self) -> &mut [c_int] {
        // SAFETY: memory of so many numbers, this one's alone.
        unsafe { core::slice::from_raw_parts_mut(self.memory, self.count) }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: taken in `new` with this size.
        unsafe { arena::give_back(self.memory.cast(), self.count.max(1) * size_of::<c_int>()) };
    }
}

/// World ranks of all members of one side, in order.
fn members(library: &Library, communicator: usize, is_remote: bool, size: u32) -> Option<Numbers> {
    if size > MOST_MEMBERS {
        return None;
    }
    let (mut ranks, mut world) = (Numbers::new(size as usize)?, Numbers::new(size as usize)?);
    for (place, rank) in ranks.slice().iter_mut().zip(0..) {
        *place = rank;
    }
    library.world_ranks(communicator, is_remote, ranks.slice(), world.slice()).then_some(world)
}

/// The world rank of a side's first member.
fn first_member(library: &Library, communicator: usize, is_remote: bool) -> Option<u32> {
    let mut world = [-1];
    let is_known = library.world_ranks(communicator, is_remote, &[0], &mut world);
    if is_known { u32::try_from(world[0]).ok() } else { None }
}

/// The library has started.
pub fn begin(library: &Library) {
    library.begin_world();
    for (handle, id, flags) in [(library.comm_world, WORLD_ID, COMMUNICATOR_WORLD), (library.comm_self, 0, 0)]
    {
        let (Some(rank), Some(size)) = (library.rank(handle), library.size(handle)) else { continue };
        let id = if id == 0 {
            let own = library.rank(library.comm_world).unwrap_or_default();
            mix(mix(WORLD_ID, 2), own.into())
        } else {
            id
        };
        define(library, &BY_HANDLE, handle, id, flags, (rank, size, 0));
    }
}

/// Records a communicator, and keeps its number by its handle.
fn define(
    library: &Library,
    table: &Handles,
    handle: usize,
    id: u64,
    flags: u16,
    (rank, size, remote_size): (u32, u32, u32),
) -> u32 {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    table.put(handle, [id, number.into(), 0]);
    let is_communicator = core::ptr::eq(table, &raw const BY_HANDLE);
    // The first member writes down who the others are.
    let mut all = if is_communicator && rank == 0 && size > 1 && flags & COMMUNICATOR_UNKNOWN == 0 {
        members(library, handle, false, size)
    } else {
        None
    };
    let communicator = Communicator { time_ns: clock::now_ns(), id, number, rank, size, remote_size };
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            record.output.push(flags, 0, &communicator);
            if let Some(all) = &mut all {
                let ranks = all.slice();
                // SAFETY: the bytes of these numbers.
                let bytes =
                    unsafe { core::slice::from_raw_parts(ranks.as_ptr().cast::<u8>(), size_of_val(ranks)) };
                record.output.push_text(Subject::Members, number, bytes);
            }
        });
    }
    number
}

/// Keeps in mind that all members of `parent` are making a communicator of it; how many did before.
pub fn count(parent: usize) -> u64 {
    BY_HANDLE.change(parent, OF_IT, |count| count + 1).unwrap_or_default()
}

/// A communicator was made: the `nth` of its parent, if it has one. `like` is the communicator whose members
/// it has, where the new one cannot be used yet.
pub fn made(library: &Library, handle: usize, how: Made, nth: u64, like: Option<usize>) -> u32 {
    let asked = like.unwrap_or(handle);
    if handle == library.comm_null {
        return 0;
    }
    let (Some(rank), Some(size)) = (library.rank(asked), library.size(asked)) else { return 0 };
    let remote_size = library.remote_size(asked);
    let first = first_member(library, asked, false);
    let other = if remote_size > 0 { first_member(library, asked, true) } else { first };
    let known = first.zip(other);
    let is_second = remote_size > 0 && known.is_some_and(|(first, other)| first > other);
    let id = known.and_then(|(first, other)| match how {
        Made::Of(parent) => {
            let parent = BY_HANDLE.get(parent)?[ID];
            Some(mix(mix(mix(parent, nth + 1), first.min(other).into()), 3))
        }
        Made::ByMembers => by_members(library, asked, (size, remote_size), is_second),
        Made::Unknown => None,
    });
    let side = if is_second { COMMUNICATOR_SECOND_SIDE } else { 0 };
    let (id, flags) = match id {
        Some(id) => (id, side),
        None => (mix(u64::MAX, UNKNOWN.fetch_add(1, Ordering::Relaxed)), side | COMMUNICATOR_UNKNOWN),
    };
    define(library, &BY_HANDLE, handle, id, flags, (rank, size, remote_size))
}

/// The id of a communicator that its members alone made.
fn by_members(
    library: &Library,
    communicator: usize,
    (size, remote_size): (u32, u32),
    is_second: bool,
) -> Option<u64> {
    let hash_of = |is_remote: bool, size: u32| -> Option<u64> {
        let mut all = members(library, communicator, is_remote, size)?;
        Some(all.slice().iter().fold(mix(5, size.into()), |hash, &rank| mix(hash, rank as u64)))
    };
    let own = hash_of(false, size)?;
    let other = if remote_size > 0 { hash_of(true, remote_size)? } else { 0 };
    let (one, two) = if is_second { (other, own) } else { (own, other) };
    let hash = mix(mix(7, one), two);
    // Its least bits are free: the lowest values are codes.
    let key = (hash | 1 << 8) as usize;
    let nth = match BY_MEMBERS.change(key, 1, |count| count + 1) {
        Some(before) => before,
        None => {
            BY_MEMBERS.put(key, [0, 1, 0]);
            0
        }
    };
    Some(mix(hash, nth))
}

/// A window or file was made by all members of a communicator: its own number.
pub fn group_made(library: &Library, handle: usize, parent: usize, nth: u64) -> u32 {
    let Some([id, ..]) = BY_HANDLE.get(parent) else { return 0 };
    let (Some(rank), Some(size)) = (library.rank(parent), library.size(parent)) else { return 0 };
    define(library, &GROUPS, handle, mix(mix(id, nth + 1), 11), 0, (rank, size, 0))
}

/// The number of a window or file; 0 = it is not known.
pub fn group_number(handle: usize) -> u32 {
    GROUPS.get(handle).map_or(0, |[_, number, _]| number as u32)
}

/// A window or file is gone.
pub fn group_freed(handle: usize) {
    GROUPS.take(handle);
}

/// The number by which the log names a communicator.
#[inline]
pub fn number(library: &Library, handle: usize) -> u32 {
    let handle = library.abi.passed(handle);
    match BY_HANDLE.get(handle) {
        Some([_, number, _]) => number as u32,
        None => unknown(library, handle),
    }
}

/// The same of a handle that a call did not accept: nothing is asked about it. 0 = it is not known.
pub fn known_number(library: &Library, handle: usize) -> u32 {
    BY_HANDLE.get(library.abi.passed(handle)).map_or(0, |[_, number, _]| number as u32)
}

/// A communicator was made behind our back.
#[cold]
#[inline(never)]
fn unknown(library: &Library, handle: usize) -> u32 {
    if handle == library.comm_world || handle == library.comm_self {
        begin(library);
        if let Some([_, number, _]) = BY_HANDLE.get(handle) {
            return number as u32;
        }
    }
    made(library, handle, Made::Unknown, 0, None)
}

/// A collective of the members that this number represents.
pub fn facts_of(number: u32) -> Facts {
    let nobody = Envelope { partner: Envelope::NONE, tag: 0 };
    Facts { object: number.into(), object2: nobody.word(), ..Facts::default() }
}

/// A communicator is gone: another one may get its handle.
pub fn freed(handle: usize) {
    BY_HANDLE.take(handle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_every_part() {
        let ids =
            [mix(mix(1, 2), 3), mix(mix(1, 3), 2), mix(mix(2, 1), 3), mix(mix(1, 2), 4), mix(mix(1, 1), 3)];
        for (at, id) in ids.iter().enumerate() {
            assert!(!ids[..at].contains(id));
        }
    }
}
