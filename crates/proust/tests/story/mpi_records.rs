//! What the log says of messages and communicators: ids that all members know without asking each other, and
//! each message's partner, tag and bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proust_log::operations::Operation;
use proust_log::records::{
    COMMUNICATOR_UNKNOWN, COMMUNICATOR_WORLD, Communicator, Envelope, Event, NoteCode,
};
use proust_log::{Log, Record};

use crate::mpi::Mpi;
use crate::recording::empty_folder;

/// What a rank's log has of MPI.
#[derive(Debug, Default)]
struct Rank {
    communicators: Vec<(u16, Communicator)>,
    events: Vec<(Operation, Event)>,
    untracked: u64,
}

/// By rank.
fn ranks(dir: &Path) -> BTreeMap<u32, Rank> {
    let mut ranks = BTreeMap::new();
    for log in fs::read_dir(dir.join("log")).unwrap() {
        let bytes = fs::read(log.unwrap().path()).unwrap();
        let log = Log::parse(&bytes).unwrap();
        assert!(!log.damage().any(), "{:?}", log.damage());
        let mut rank = Rank::default();
        for lane in &log.lanes {
            for record in lane.records() {
                match record {
                    Record::Communicator(flags, one) => rank.communicators.push((flags, one)),
                    Record::Event(number, _, event) => {
                        let operation = Operation::from_number(number);
                        rank.events.extend(operation.filter(|one| one.is_of_mpi()).map(|one| (one, event)));
                    }
                    Record::Note(code, note) if code == NoteCode::UntrackedRequests as u16 => {
                        rank.untracked += note.value;
                    }
                    _ => {}
                }
            }
        }
        let world = rank.communicators.iter().find(|(flags, _)| flags & COMMUNICATOR_WORLD != 0);
        if let Some((_, world)) = world {
            assert_eq!(world.size, 2);
            ranks.insert(world.rank, rank);
        }
    }
    ranks
}

/// How often each id of a communicator with so many members on all sides is there.
fn ids(rank: &Rank, members: u32) -> BTreeMap<u64, usize> {
    let mut ids = BTreeMap::new();
    for (flags, one) in &rank.communicators {
        assert_eq!(flags & COMMUNICATOR_UNKNOWN, 0, "{one:?}");
        if one.size + one.remote_size == members {
            *ids.entry(one.id).or_default() += 1;
        }
    }
    ids
}

fn members_know_a_communicator_by_one_id(mpi: Mpi) {
    let folder = empty_folder();
    let Some(run) = mpi.record("semantics", &[&folder.path().display().to_string()]) else { return };
    let run = run.succeeded();
    let ranks = ranks(&run.dir);
    let [first, second] = [&ranks[&0], &ranks[&1]];
    // Of both ranks: 300 copies, and what the cases make besides.
    let [of_first, of_second] = [first, second].map(|rank| ids(rank, 2));
    assert_eq!(of_first, of_second);
    assert!(of_first.len() > 310 && of_first.values().all(|&times| times == 1), "{}", of_first.len());
    // Of one rank: nobody else has it.
    let [of_first, of_second] = [first, second].map(|rank| ids(rank, 1));
    assert!(of_first.len() >= 2 && of_second.len() >= 2);
    assert!(of_first.keys().all(|id| !of_second.contains_key(id)));
    for rank in ranks.values() {
        let mut numbers: Vec<u32> = rank.communicators.iter().map(|(_, one)| one.number).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        for (operation, event) in &rank.events {
            let is_named = event.object == 0 || numbers.binary_search(&(event.object as u32)).is_ok();
            assert!(is_named, "{} names {}", operation.name(), event.object);
        }
        // Of 70 000 requests at once not all can be followed, which is said.
        assert!(rank.untracked > 4_000, "{}", rank.untracked);
    }
}

#[test]
fn members_know_a_communicator_of_open_mpi_by_one_id() {
    members_know_a_communicator_by_one_id(Mpi::Open);
}

#[test]
fn members_know_a_communicator_of_mpich_by_one_id() {
    members_know_a_communicator_by_one_id(Mpi::Mpich);
}

fn messages_have_partner_tag_and_bytes(mpi: Mpi) {
    let Some(run) = mpi.record("timed", &["0.1"]) else { return };
    let run = run.succeeded();
    for (rank, log) in ranks(&run.dir) {
        let world = log.communicators.iter().find(|(flags, _)| flags & COMMUNICATOR_WORLD != 0).unwrap().1;
        let of = |operation: Operation| {
            log.events.iter().filter(move |(one, _)| *one == operation).map(|(_, event)| event)
        };
        let (blocking, started) = if rank == 0 {
            (Operation::MPI_Send, Operation::MPI_Isend)
        } else {
            (Operation::MPI_Recv, Operation::MPI_Irecv)
        };
        let mut tags = Vec::new();
        for event in of(blocking).chain(of(started)) {
            let envelope = Envelope::of_word(event.object2);
            assert_eq!((envelope.partner, event.bytes), (1 - rank as i32, 4), "{event:?}");
            assert_eq!((event.object, event.error), (world.number.into(), 0), "{event:?}");
            tags.push(envelope.tag);
        }
        tags.sort_unstable();
        assert_eq!(tags, [[1; 5], [2; 5], [3; 5]].concat());
        assert!(of(blocking).all(|event| event.request == 0));
        // The requests of a wait are those that were started last before it.
        let slots: Vec<u32> = of(started).map(|event| event.request).collect();
        assert!(slots.iter().all(|&slot| slot > 0), "{slots:?}");
        for wait in of(Operation::MPI_Wait) {
            assert_eq!((wait.object2, wait.request), (1, slots[0]), "{wait:?}");
        }
        for barrier in of(Operation::MPI_Barrier) {
            let nobody = Envelope { partner: Envelope::NONE, tag: 0 };
            assert_eq!((barrier.object, barrier.object2), (world.number.into(), nobody.word()));
        }
        assert_eq!(of(Operation::MPI_Allreduce).map(|event| event.bytes).collect::<Vec<_>>(), [4; 5]);
        let gathered: Vec<u64> = of(Operation::MPI_Gather).map(|event| event.bytes).collect();
        assert_eq!(gathered, [7 * 8], "of rank {rank}");
    }
}

#[test]
fn messages_of_open_mpi_have_partner_tag_and_bytes() {
    messages_have_partner_tag_and_bytes(Mpi::Open);
}

#[test]
fn messages_of_mpich_have_partner_tag_and_bytes() {
    messages_have_partner_tag_and_bytes(Mpi::Mpich);
}
