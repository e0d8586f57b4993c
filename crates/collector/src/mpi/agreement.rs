//! Which ranks compare the clocks of their hosts: an agreement in the run's folder.
//!
//! Comparing takes messages, and a rank that is not recorded would never answer one. So no message is sent
//! before those that take part have agreed on each other, and that takes none: where the launcher's variables
//! say that a job has several hosts, the first rank of each host marks its place in a file of the run's
//! folder. Rank 0 writes down whom it found there, and links that file under the name of the agreement.
//! Whoever waits too long for it links an empty one there. A name can be linked once: so all read the same,
//! and whom the agreement names has read it, or will.
//!
//! Without such variables, and where hosts do not share the folder, there is no agreement.

use core::ffi::{CStr, c_int};

use super::communicators::Numbers;
use crate::{arena, clock, logfile, raw};

/// How long rank 0 waits for others, at most.
const MOST_GATHERING_NS: u64 = 200_000_000;
/// No further rank has arrived for so long: there are no more.
const QUIET_NS: u64 = 20_000_000;
/// How long the others wait for rank 0.
const MOST_WAITING_NS: u64 = 400_000_000;
/// Between two looks.
const PAUSE_NS: u64 = 1_000_000;
/// Ranks of a job, at most.
const MOST_RANKS: u32 = 1 << 20;

const MODE: u32 = 0o600;

/// The first rank of a host, in a job that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    job: u64,
    rank: u32,
}

/// What the launcher says of this process; None = it is not the first rank of one of several hosts.
pub fn candidate() -> Option<Candidate> {
    candidate_by(|name| {
        // SAFETY: a C string; what is found is read before anything could change it.
        let text = unsafe { libc::getenv(name.as_ptr()) };
        // SAFETY: as above.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
    })
}

fn candidate_by<'t>(value: impl Fn(&CStr) -> Option<&'t [u8]>) -> Option<Candidate> {
    let number = |name: &CStr| crate::path::maps::number(value(name)?, 10).map(|number| number as u32);
    if let Some(rank) = number(c"OMPI_COMM_WORLD_RANK") {
        let is_first = number(c"OMPI_COMM_WORLD_LOCAL_RANK")? == 0;
        let are_several = number(c"OMPI_COMM_WORLD_LOCAL_SIZE")? < number(c"OMPI_COMM_WORLD_SIZE")?;
        let job = value(c"PMIX_NAMESPACE").or_else(|| value(c"OMPI_MCA_ess_base_jobid"))?;
        return (is_first && are_several).then(|| Candidate { job: hash(&[job]), rank });
    }
    let rank = number(c"SLURM_PROCID")?;
    // A launcher that Slurm has started gives its ranks Slurm's variables of itself.
    let is_rank = number(c"PMI_RANK").or_else(|| number(c"PMIX_RANK")) == Some(rank);
    let is_first = number(c"SLURM_LOCALID")? == 0;
    let are_several = number(c"SLURM_STEP_NUM_NODES").or_else(|| number(c"SLURM_NNODES"))? > 1;
    let (job, step) = (value(c"SLURM_JOB_ID")?, value(c"SLURM_STEP_ID")?);
    (is_rank && is_first && are_several).then(|| Candidate { job: hash(&[job, step]), rank })
}

fn hash(texts: &[&[u8]]) -> u64 {
    let with = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    texts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, text| {
        text.iter().fold(with(hash, b'/'), |hash, &byte| with(hash, byte))
    })
}

impl Candidate {
    /// Whether it has this number.
    pub fn is_rank(self, rank: u32) -> bool {
        self.rank == rank
    }

    /// The ranks that have agreed, this one among them, in order. `is_it`: MPI knows this process as that
    /// rank, in a world of so many.
    pub fn agree(self, folder: &CStr, is_it: bool, size: u32) -> Option<Numbers> {
        if !is_it {
            // Whoever waits for this rank need not.
            self.settle(folder, &[]);
            return None;
        }
        if size > MOST_RANKS || !self.announce(folder) {
            return None;
        }
        let mut found = Places::new(size as usize)?;
        if self.rank == 0 {
            self.gather(folder, &mut found);
            let is_alone = found.count() < 2;
            self.settle(folder, if is_alone { &[] } else { found.slice() });
        } else {
            self.wait(folder);
        }
        let count = read(self.path(folder, b"agreed", None)?, found.slice())?;
        found.slice()[count..].fill(0);
        if found.count() < 2 || found.slice().get(self.rank as usize) != Some(&1) {
            return None;
        }
        let mut ranks = Numbers::new(found.count())?;
        let places = found.slice().iter().zip(0_i32..).filter(|(place, _)| **place == 1);
        for (rank, (_, number)) in ranks.slice().iter_mut().zip(places) {
            *rank = number as c_int;
        }
        Some(ranks)
    }

    /// All have read the agreement.
    pub fn clear(self, folder: &CStr) {
        for name in [&b"ready"[..], b"agreed"] {
            if let Some(path) = self.path(folder, name, None) {
                raw::unlink(path);
            }
        }
    }

    fn path(self, folder: &CStr, name: &[u8], rank: Option<u32>) -> Option<&'static CStr> {
        let (mut job, mut own) = ([0; 20], [0; 20]);
        let job = logfile::digits(self.job, &mut job);
        let own = rank.map_or(&b""[..], |rank| logfile::digits(rank.into(), &mut own));
        logfile::join(folder, &[b"/clocks-", job, b"-", name, own])
    }

    fn announce(self, folder: &CStr) -> bool {
        let Some(path) = self.path(folder, b"ready", None) else { return false };
        let file = raw::open_in_run(path, libc::O_RDWR | libc::O_CREAT | libc::O_NOFOLLOW, MODE);
        if raw::failed(file) {
            return false;
        }
        let written = raw::pwrite(file as i32, &[1], self.rank.into());
        raw::close(file as i32);
        written == 1
    }

    /// Waits until no more ranks arrive.
    fn gather(self, folder: &CStr, found: &mut Places) {
        let Some(path) = self.path(folder, b"ready", None) else { return };
        let begin_ns = clock::now_ns();
        let (mut known, mut since_ns) = (0, begin_ns);
        loop {
            let count = read(path, found.slice()).unwrap_or(0);
            found.slice()[count..].fill(0);
            let now_ns = clock::now_ns();
            if found.count() != known {
                (known, since_ns) = (found.count(), now_ns);
            }
            let is_quiet = known > 1 && now_ns.saturating_sub(since_ns) >= QUIET_NS;
            if is_quiet || now_ns.saturating_sub(begin_ns) >= MOST_GATHERING_NS {
                return;
            }
            raw::sleep_ns(PAUSE_NS);
        }
    }

    /// Waits for the agreement; makes an empty one if that takes too long.
    fn wait(self, folder: &CStr) {
        let Some(path) = self.path(folder, b"agreed", None) else { return };
        let begin_ns = clock::now_ns();
        while raw::stat(path).is_none() {
            if clock::now_ns().saturating_sub(begin_ns) >= MOST_WAITING_NS {
                return self.settle(folder, &[]);
            }
            raw::sleep_ns(PAUSE_NS);
        }
    }

    /// Makes this the agreement, unless there is one.
    fn settle(self, folder: &CStr, places: &[u8]) {
        let (Some(draft), Some(agreed)) =
            (self.path(folder, b"draft-", Some(self.rank)), self.path(folder, b"agreed", None))
        else {
            return;
        };
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_NOFOLLOW;
        let file = raw::open_in_run(draft, flags, MODE);
        if raw::failed(file) {
            return;
        }
        let is_whole = raw::pwrite(file as i32, places, 0) == places.len() as isize;
        raw::close(file as i32);
        if is_whole {
            raw::link(draft, agreed);
        }
        raw::unlink(draft);
    }
}

/// What a file holds, as far as there is room; how much that is.
fn read(path: &CStr, buffer: &mut [u8]) -> Option<usize> {
    let file = raw::open_in_run(path, libc::O_RDONLY | libc::O_NOFOLLOW, 0);
    if raw::failed(file) {
        return None;
    }
    let count = raw::pread(file as i32, buffer, 0);
    raw::close(file as i32);
    (!raw::failed(count)).then_some(count as usize)
}

/// A byte for each rank, in the collector's own memory; 1 = it takes part.
struct Places {
    memory: *mut u8,
    count: usize,
}

impl Places {
    fn new(count: usize) -> Option<Places> {
        let memory = arena::pages(count.max(1));
        (!memory.is_null()).then_some(Places { memory, count })
    }

    fn slice(&mut self) -> &mut [u8] {
        // SAFETY: zeroed memory of so many bytes, this one's alone.
        unsafe { core::slice::from_raw_parts_mut(self.memory, self.count) }
    }

    fn count(&mut self) -> usize {
        self.slice().iter().filter(|place| **place == 1).count()
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // SAFETY: taken in `new` with this size.
        unsafe { arena::give_back(self.memory, self.count.max(1)) };
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn by(variables: &[(&CStr, &'static str)]) -> Option<u32> {
        let value = |name: &CStr| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
        };
        candidate_by(value).map(|candidate| candidate.rank)
    }

    #[test]
    fn first_ranks_of_several_hosts_are_candidates() {
        let open = |local: &'static str, size: &'static str| {
            by(&[
                (c"OMPI_COMM_WORLD_RANK", "4"),
                (c"OMPI_COMM_WORLD_LOCAL_RANK", local),
                (c"OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
                (c"OMPI_COMM_WORLD_SIZE", size),
                (c"PMIX_NAMESPACE", "77@1"),
            ])
        };
        assert_eq!((open("0", "8"), open("1", "8"), open("0", "4")), (Some(4), None, None));
        let slurm = |rank: &'static str, pmi: &'static str, nodes: &'static str| {
            by(&[
                (c"SLURM_PROCID", rank),
                (c"PMI_RANK", pmi),
                (c"SLURM_LOCALID", "0"),
                (c"SLURM_STEP_NUM_NODES", nodes),
                (c"SLURM_JOB_ID", "9"),
                (c"SLURM_STEP_ID", "0"),
            ])
        };
        assert_eq!(slurm("2", "2", "2"), Some(2));
        // One host; a rank of a launcher that is itself Slurm's rank 1.
        assert_eq!((slurm("2", "2", "1"), slurm("1", "5", "2")), (None, None));
        assert_eq!(by(&[]), None);
        assert_ne!(hash(&[b"12", b"3"]), hash(&[b"1", b"23"]));
    }

    fn folder(name: &str) -> (PathBuf, &'static CStr) {
        let dir = std::env::temp_dir().join(format!("proust-{name}-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        let path = logfile::join(c"", &[dir.canonicalize().unwrap().as_os_str().as_encoded_bytes()]);
        (dir, path.unwrap())
    }

    fn ranks(numbers: Option<Numbers>) -> Option<Vec<c_int>> {
        numbers.map(|mut numbers| numbers.slice().to_vec())
    }

    #[test]
    fn all_that_announce_themselves_agree() {
        let (dir, path) = folder("agreed");
        let agree =
            |rank: u32| std::thread::spawn(move || ranks(Candidate { job: 7, rank }.agree(path, true, 10)));
        let threads = [agree(4), agree(8), agree(0)];
        let found = threads.map(|thread| thread.join().unwrap());
        // On a loaded machine some may have arrived too late: then they agree without them.
        let agreed = found.iter().flatten().next();
        assert!(found.iter().flatten().all(|ranks| Some(ranks) == agreed), "{found:?}");
        if let Some(agreed) = agreed {
            let took_part = [4, 8, 0].iter().zip(&found).filter(|(_, found)| found.is_some());
            let mut own: Vec<c_int> = took_part.map(|(rank, _)| *rank).collect();
            own.sort_unstable();
            assert_eq!(agreed, &own);
        }
        Candidate { job: 7, rank: 0 }.clear(path);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
        std::fs::remove_dir(dir).unwrap();
    }

    #[test]
    fn nobody_waits_for_one_that_does_not_come() {
        let (dir, path) = folder("not-agreed");
        // Rank 0 is not recorded.
        assert_eq!(ranks(Candidate { job: 7, rank: 4 }.agree(path, true, 10)), None);
        // It arrives too late.
        assert_eq!(ranks(Candidate { job: 7, rank: 0 }.agree(path, true, 10)), None);
        // Nobody but rank 0 is.
        assert_eq!(ranks(Candidate { job: 8, rank: 0 }.agree(path, true, 10)), None);
        assert_eq!(ranks(Candidate { job: 8, rank: 3 }.agree(path, true, 10)), None);
        // Rank 0 is another one than its variables say.
        assert_eq!(ranks(Candidate { job: 9, rank: 0 }.agree(path, false, 1)), None);
        assert_eq!(ranks(Candidate { job: 9, rank: 3 }.agree(path, true, 10)), None);
        // Without a folder.
        assert_eq!(ranks(Candidate { job: 9, rank: 3 }.agree(c"/proc/nothing", true, 10)), None);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
