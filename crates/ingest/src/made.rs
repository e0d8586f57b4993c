//! Which files name the code that a process made at run time: its own; or of a forked child that wrote none,
//! those of the process that it is a copy of.

use proust_log::Log;
use proust_log::layout::{FileHeader, Origin};

use super::LogBytes;

/// A process image, and the names of its code.
#[derive(Clone, Copy, Debug)]
struct Maker<'a> {
    pid: u32,
    parent_pid: u32,
    start_ns: u64,
    is_copy: bool,
    names: Names<'a>,
}

/// The contents of a perf map and of a jitdump; empty: none.
pub(super) type Names<'a> = (&'a [u8], &'a [u8]);

/// The processes of a run in which any wrote such names; else none.
#[derive(Debug, Default)]
pub(super) struct Makers<'a>(Vec<Maker<'a>>);

/// Forks behind forks that are followed.
const GENERATIONS: usize = 100;

fn is_there(names: Names<'_>) -> bool {
    !names.0.is_empty() || !names.1.is_empty()
}

impl<'a> Maker<'a> {
    fn of(header: &FileHeader, names: Names<'a>) -> Maker<'a> {
        let is_copy = header.origin == Origin::Fork as u32;
        Maker { pid: header.pid, parent_pid: header.parent_pid, start_ns: header.start_ns, is_copy, names }
    }
}

impl<'a> Makers<'a> {
    pub fn of(logs: &[LogBytes<'a>]) -> Makers<'a> {
        if !logs.iter().any(|log| is_there((log.perf_map, log.jitdump))) {
            return Makers::default();
        }
        let maker = |log: &LogBytes<'a>| {
            let header = Log::parse(log.bytes.ok()?).ok()?.header;
            Some(Maker::of(&header, (log.perf_map, log.jitdump)))
        };
        Makers(logs.iter().filter_map(maker).collect())
    }

    /// The names for the process with this header, which has these of its own.
    pub fn names(&self, header: &FileHeader, own: Names<'a>) -> Names<'a> {
        self.names_for(Maker::of(header, own))
    }

    fn names_for(&self, of: Maker<'a>) -> Names<'a> {
        let mut at = of;
        for _ in 0..GENERATIONS {
            if is_there(at.names) || !at.is_copy {
                break;
            }
            // Of images with the parent's number the one that was there when it forked.
            let parents = self.0.iter().filter(|one| one.pid == at.parent_pid && one.start_ns <= at.start_ns);
            match parents.max_by_key(|one| one.start_ns) {
                Some(parent) => at = *parent,
                None => break,
            }
        }
        at.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_names_of_what_it_is_a_copy_of() {
        let maker = |pid, parent_pid, start_ns, is_copy, map: &'static str| Maker {
            pid,
            parent_pid,
            start_ns,
            is_copy,
            names: (map.as_bytes(), b""),
        };
        let all = Makers(vec![
            maker(1, 0, 10, false, "shell's"),
            maker(1, 0, 20, false, "runtime's"),
            maker(2, 1, 30, true, ""),
            maker(3, 2, 40, true, ""),
            maker(4, 1, 15, true, ""),
            maker(5, 1, 50, true, "own"),
            maker(6, 1, 50, false, ""),
            maker(7, 99, 50, true, ""),
            maker(8, 8, 60, true, ""),
        ]);
        let map = |at: usize| std::str::from_utf8(all.names_for(all.0[at]).0).unwrap();
        assert_eq!(map(1), "runtime's");
        // A child, and a child's child.
        assert_eq!((map(2), map(3)), ("runtime's", "runtime's"));
        // It was forked before the parent became another program.
        assert_eq!(map(4), "shell's");
        // It has some of its own; it is another program; its parent was not recorded; it is its own parent.
        assert_eq!((map(5), map(6), map(7), map(8)), ("own", "", "", ""));
    }
}
