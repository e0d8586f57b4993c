//! What a process that is killed leaves behind: the contents of what it maps shared, which are the log's
//! files and the run's control page. Its other memory, its threads and its locks end with it.

use std::time::Duration;

use crate::tracer::Traced;

/// No two threads write into one page of a log but its first.
const PAGE_BYTES: usize = 4096;

/// In this time every other thread writes something, if it ever does while the traced one stands.
const OTHERS_TIME: Duration = Duration::from_millis(20);

/// The shared writable mappings of a program, as they were last seen.
#[derive(Default)]
pub struct Remains {
    ranges: Vec<(u64, u64)>,
    pages: Vec<(u64, Vec<u8>)>,
    /// Pages, by their addresses, that other threads write.
    others: Vec<u64>,
}

impl Remains {
    /// Those of a program whose thread stands.
    pub fn of(traced: &Traced) -> Remains {
        let mut remains = Remains::default();
        remains.differ(traced, true);
        let before = remains.pages.clone();
        std::thread::sleep(OTHERS_TIME);
        remains.differ(traced, false);
        let changed = before.iter().zip(&remains.pages).filter(|(before, after)| before != after);
        remains.others = changed.map(|((address, _), _)| *address).collect();
        remains
    }

    /// Looks at them again: whether a process that is killed now leaves anything else behind than one that
    /// was killed when they were looked at last. `is_mapped_anew`: a system call may have been made since.
    pub fn differ(&mut self, traced: &Traced, is_mapped_anew: bool) -> bool {
        if is_mapped_anew {
            self.ranges = traced.shared_ranges();
        }
        let mut pages = Vec::with_capacity(self.pages.len());
        for &(from, to) in &self.ranges {
            // There is less in the file than is mapped of it.
            let bytes = traced.bytes(from, (to - from) as usize);
            let addresses = (from..to).step_by(PAGE_BYTES);
            pages.extend(addresses.zip(bytes.chunks(PAGE_BYTES)).map(|(at, page)| (at, page.to_vec())));
        }
        let is_mine = |(address, _): &&(u64, Vec<u8>)| !self.others.contains(address);
        let differ = !pages.iter().filter(is_mine).eq(self.pages.iter().filter(is_mine));
        self.pages = pages;
        differ
    }
}
