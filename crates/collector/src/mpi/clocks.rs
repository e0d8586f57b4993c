//! Clocks of several hosts, compared by messages at the end of `MPI_Init` and the begin of `MPI_Finalize`.
//!
//! Only between ranks that have agreed on it ([`agreement`]), one of each host, in a communicator that only
//! they make. Rank 0 asks each of the others for its time, again and again, until five answers took
//! no longer than twice the fastest, or the time for it is used up. Half of the fastest round trip is the
//! error of the comparison. Each rank records its own; nothing is corrected here.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use proust_log::records::{CLOCK_AT_END, CLOCK_REFERENCE, ClockOffset};
use proust_mpi_abi::abi::SUCCESS;

use super::agreement;
use super::communicators::Numbers;
use super::library::{self, Library};
use crate::{clock, lane, life};

/// The communicator, while there is one; 0 = there is none.
static COMMUNICATOR: AtomicUsize = AtomicUsize::new(0);
/// Its members, and this rank's place among them.
static MEMBERS: AtomicU32 = AtomicU32::new(0);
static PLACE: AtomicU32 = AtomicU32::new(0);

/// Questions to a host, at most, and how long that may take; of all hosts together.
const MOST_QUESTIONS: usize = 100;
const MOST_NS: u64 = 20_000_000;
const MOST_OF_ALL_NS: u64 = 1_000_000_000;
/// So many answers that took no longer than twice the fastest are enough.
const ENOUGH: usize = 5;

const TAG: usize = 4711;
/// In the first word of a message: a question, or that there are no more.
const QUESTION: u64 = 1;
const RESULT: u64 = 2;

type Message = [u64; 4];

/// In a forked child: it must not use MPI.
pub fn forget() {
    COMMUNICATOR.store(0, Ordering::Release);
}

/// MPI has begun.
#[cold]
#[inline(never)]
pub fn begin() {
    let (Some(library), Some(life)) = (library::get(), life::recording()) else { return };
    let Some(candidate) = agreement::candidate() else { return };
    let (Some(functions), Some(rank), Some(size)) =
        (Functions::find(), library.rank(library.comm_world), library.size(library.comm_world))
    else {
        return;
    };
    let is_it = candidate.is_rank(rank) && size > 1;
    let Some(mut ranks) = candidate.agree(life.options.folder, is_it, size) else { return };
    let place = ranks.slice().iter().position(|&one| one == rank as c_int);
    let (Some(place), Some(communicator)) = (place, functions.communicator(library, &mut ranks)) else {
        return;
    };
    MEMBERS.store(ranks.slice().len() as u32, Ordering::Relaxed);
    PLACE.store(place as u32, Ordering::Relaxed);
    COMMUNICATOR.store(communicator, Ordering::Release);
    functions.compare(library, communicator, 0);
    if rank == 0 {
        candidate.clear(life.options.folder);
    }
}

/// MPI is about to end.
#[inline]
pub fn end() {
    let communicator = COMMUNICATOR.swap(0, Ordering::AcqRel);
    if communicator != 0 {
        end_of(communicator);
    }
}

#[cold]
#[inline(never)]
fn end_of(communicator: usize) {
    let (Some(library), Some(functions)) = (library::get(), Functions::find()) else { return };
    functions.compare(library, communicator, CLOCK_AT_END);
    functions.free(communicator);
}

/// The library's functions that comparing takes, under the names that no tool stands behind.
struct Functions {
    group: usize,
    include: usize,
    free_group: usize,
    create: usize,
    free: usize,
    send: usize,
    receive: usize,
}

impl Functions {
    fn find() -> Option<Functions> {
        let find = |name: &'static CStr| Some(library::function(name)).filter(|&address| address != 0);
        Some(Functions {
            group: find(c"PMPI_Comm_group")?,
            include: find(c"PMPI_Group_incl")?,
            free_group: find(c"PMPI_Group_free")?,
            create: find(c"PMPI_Comm_create_group")?,
            free: find(c"PMPI_Comm_free")?,
            send: find(c"PMPI_Send")?,
            receive: find(c"PMPI_Recv")?,
        })
    }

    /// A communicator of these ranks, which only they make.
    fn communicator(&self, library: &Library, ranks: &mut Numbers) -> Option<usize> {
        type Group = unsafe extern "C" fn(usize, *mut usize) -> c_int;
        type Include = unsafe extern "C" fn(usize, c_int, *const c_int, *mut usize) -> c_int;
        type Create = unsafe extern "C" fn(usize, usize, c_int, *mut usize) -> c_int;
        type Free = unsafe extern "C" fn(*mut usize) -> c_int;
        let (mut world, mut group, mut made) = (0, 0, 0);
        // SAFETY: the functions of these names, with valid handles and places for theirs, which take at most
        // a word each.
        unsafe {
            let ask = core::mem::transmute::<usize, Group>(self.group);
            if ask(library.comm_world, &raw mut world) != SUCCESS {
                return None;
            }
            let ranks = ranks.slice();
            let include = core::mem::transmute::<usize, Include>(self.include);
            let of = include(library.abi.passed(world), ranks.len() as c_int, ranks.as_ptr(), &raw mut group);
            let create = core::mem::transmute::<usize, Create>(self.create);
            let result = match of {
                SUCCESS => create(library.comm_world, library.abi.passed(group), TAG as c_int, &raw mut made),
                _ => of,
            };
            let free = core::mem::transmute::<usize, Free>(self.free_group);
            free(&raw mut world);
            if of == SUCCESS {
                free(&raw mut group);
            }
            (result == SUCCESS).then(|| library.abi.passed(made)).filter(|&made| made != library.comm_null)
        }
    }

    fn free(&self, mut communicator: usize) {
        type Free = unsafe extern "C" fn(*mut usize) -> c_int;
        // SAFETY: the communicator that was made here; all its members give it up.
        unsafe { core::mem::transmute::<usize, Free>(self.free)(&raw mut communicator) };
    }

    fn send(&self, library: &Library, communicator: usize, to: u32, message: &Message) -> bool {
        type Send = unsafe extern "C" fn(*const u64, usize, usize, usize, usize, usize) -> c_int;
        // SAFETY: the function of this name; the message has so many bytes.
        let result = unsafe {
            core::mem::transmute::<usize, Send>(self.send)(
                message.as_ptr(),
                size_of::<Message>(),
                library.byte(),
                to as usize,
                TAG,
                communicator,
            )
        };
        result == SUCCESS
    }

    fn receive(&self, library: &Library, communicator: usize, from: u32) -> Option<Message> {
        type Receive = unsafe extern "C" fn(*mut u64, usize, usize, usize, usize, usize, usize) -> c_int;
        let mut message = Message::default();
        // SAFETY: as above; the status is not wanted.
        let result = unsafe {
            core::mem::transmute::<usize, Receive>(self.receive)(
                message.as_mut_ptr(),
                size_of::<Message>(),
                library.byte(),
                from as usize,
                TAG,
                communicator,
                library.abi.status_ignore,
            )
        };
        (result == SUCCESS).then_some(message)
    }

    /// Compares all members' clocks with the first one's.
    fn compare(&self, library: &Library, communicator: usize, flags: u16) {
        let (members, place) = (MEMBERS.load(Ordering::Relaxed), PLACE.load(Ordering::Relaxed));
        if place > 0 {
            return self.answer(library, communicator, flags);
        }
        let own_ns = clock::now_ns();
        let reference = ClockOffset { own_ns, reference_ns: own_ns, round_trip_ns: 0 };
        record(flags | CLOCK_REFERENCE, &reference);
        let most_ns = MOST_NS.min(MOST_OF_ALL_NS / u64::from(members.max(1)));
        for member in 1..members {
            if !self.ask(library, communicator, member, most_ns) {
                return;
            }
        }
    }

    fn ask(&self, library: &Library, communicator: usize, member: u32, most_ns: u64) -> bool {
        let mut asked = Asked::new();
        let begin_ns = clock::now_ns();
        loop {
            let sent_ns = clock::now_ns();
            if !self.send(library, communicator, member, &[QUESTION, 0, 0, 0]) {
                return false;
            }
            let Some([_, own_ns, ..]) = self.receive(library, communicator, member) else { return false };
            let got_ns = clock::now_ns();
            asked.add(sent_ns, own_ns, got_ns);
            if asked.is_enough() || got_ns.saturating_sub(begin_ns) >= most_ns {
                break;
            }
        }
        let ClockOffset { own_ns, reference_ns, round_trip_ns } = asked.best;
        self.send(library, communicator, member, &[RESULT, own_ns, reference_ns, round_trip_ns])
    }

    fn answer(&self, library: &Library, communicator: usize, flags: u16) {
        while let Some([code, own_ns, reference_ns, round_trip_ns]) = self.receive(library, communicator, 0) {
            if code != QUESTION {
                return record(flags, &ClockOffset { own_ns, reference_ns, round_trip_ns });
            }
            if !self.send(library, communicator, 0, &[0, clock::now_ns(), 0, 0]) {
                return;
            }
        }
    }
}

fn record(flags: u16, offset: &ClockOffset) {
    if let Some(lane) = lane::current() {
        lane.with_record(|record| record.output.push(flags, 0, offset));
    }
}

/// The answers of a host.
struct Asked {
    round_trips_ns: [u64; MOST_QUESTIONS],
    count: usize,
    best: ClockOffset,
}

impl Asked {
    fn new() -> Asked {
        Asked { round_trips_ns: [0; MOST_QUESTIONS], count: 0, best: ClockOffset::default() }
    }

    fn add(&mut self, sent_ns: u64, own_ns: u64, got_ns: u64) {
        let round_trip_ns = got_ns.saturating_sub(sent_ns);
        if self.count == 0 || round_trip_ns < self.best.round_trip_ns {
            self.best = ClockOffset { own_ns, reference_ns: sent_ns + round_trip_ns / 2, round_trip_ns };
        }
        if let Some(place) = self.round_trips_ns.get_mut(self.count) {
            *place = round_trip_ns;
            self.count += 1;
        }
    }

    fn is_enough(&self) -> bool {
        let near_ns = self.best.round_trip_ns.saturating_mul(2);
        let near = self.round_trips_ns[..self.count].iter().filter(|ns| **ns <= near_ns).count();
        near >= ENOUGH || self.count == MOST_QUESTIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_answer_counts_and_five_near_it_are_enough() {
        let mut asked = Asked::new();
        // The first one sets up a connection; the other clock is 1000 ahead.
        for (sent_ns, length_ns) in [(0, 900), (1000, 100), (1200, 40), (1300, 70), (1400, 81), (1500, 80)] {
            asked.add(sent_ns, sent_ns + length_ns / 2 + 1000, sent_ns + length_ns);
            assert!(!asked.is_enough());
        }
        assert_eq!(asked.best, ClockOffset { own_ns: 2220, reference_ns: 1220, round_trip_ns: 40 });
        for sent_ns in [1600, 1700] {
            asked.add(sent_ns, 0, sent_ns + 60);
        }
        assert!(asked.is_enough());
        let mut slow = Asked::new();
        for number in 0..MOST_QUESTIONS as u64 {
            assert!(!slow.is_enough());
            slow.add(0, 0, if number == 0 { 10 } else { 1000 });
        }
        assert!(slow.is_enough());
    }
}
