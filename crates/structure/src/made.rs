//! Code that a process made at run time: the names that its maker wrote beside it.
//!
//! Two formats are read, both of perf's: the map (`perf-PID.map`, a line for each function) and jitdump
//! (`jit-PID.dump`, records with times). Where both know an address, the second one counts, since memory of
//! code is used again.

use std::collections::{BTreeSet, HashMap};

use crate::names::{Names, demangle};

mod jitdump;
mod perf_map;

/// The names of code at a process's sampled addresses.
#[derive(Debug, Default)]
pub struct MadeCode {
    functions: Vec<Names>,
    /// What each address was from when on, in order; None: nothing any more.
    history: HashMap<u64, Vec<(u64, Option<u32>)>>,
    /// When an address became something else, in order.
    changes: Vec<u64>,
}

impl MadeCode {
    /// The names at `addresses` (those of the process itself, AVMAs) by the contents of both files; empty
    /// where there is none. What is damaged is left out.
    pub fn read(perf_map: &[u8], jitdump: &[u8], addresses: &BTreeSet<u64>) -> MadeCode {
        let mut made = MadeCode::default();
        if addresses.is_empty() {
            return made;
        }
        let mut functions: HashMap<String, u32> = HashMap::new();
        let mut function = |names: &mut Vec<Names>, name: String| -> u32 {
            let next = names.len() as u32;
            *functions.entry(name).or_insert_with_key(|name| {
                names.push(demangle(name).unwrap_or_else(|| Names::same(name.clone())));
                next
            })
        };
        for change in jitdump::changes(jitdump) {
            let mut named = None;
            for &address in addresses.range(change.code.clone()) {
                let now = change
                    .name
                    .map(|name| *named.get_or_insert_with(|| function(&mut made.functions, shown(name))));
                let history = made.history.entry(address).or_default();
                if change.from_ns > 0 && history.last().is_some_and(|&(_, before)| before != now) {
                    made.changes.push(change.from_ns);
                }
                history.push((change.from_ns, now));
            }
        }
        made.changes.sort_unstable();
        made.changes.dedup();
        // From its end: the last line for an address counts.
        let mut unknown: BTreeSet<u64> =
            addresses.iter().copied().filter(|address| !made.history.contains_key(address)).collect();
        for line in perf_map::lines_from_the_end(perf_map) {
            let found: Vec<u64> = unknown.range(line.code).copied().collect();
            if found.is_empty() {
                continue;
            }
            let named = function(&mut made.functions, shown(line.name));
            for address in found {
                unknown.remove(&address);
                made.history.insert(address, vec![(0, Some(named))]);
            }
            if unknown.is_empty() {
                break;
            }
        }
        made
    }

    /// Whether no address has a name.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function that had an address at a time of CLOCK_MONOTONIC; before the first one is known to be
    /// there, that one.
    pub fn at(&self, address: u64, time_ns: u64) -> Option<&Names> {
        let history = self.history.get(&address)?;
        let until = history.partition_point(|&(from_ns, _)| from_ns <= time_ns);
        let &(_, function) = history.get(until.max(1) - 1)?;
        self.functions.get(function? as usize)
    }

    /// The times at which an address became something else, in order.
    pub fn changes(&self) -> &[u64] {
        &self.changes
    }
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jitdump::tests::{close, dump, load, moved};
    use proptest::prelude::*;

    fn read(perf_map: &[u8], jitdump: &[u8], addresses: &[u64]) -> MadeCode {
        MadeCode::read(perf_map, jitdump, &addresses.iter().copied().collect())
    }

    fn name(made: &MadeCode, address: u64, time_ns: u64) -> Option<&str> {
        made.at(address, time_ns).map(|names| names.short.as_str())
    }

    #[test]
    fn a_map_names_addresses_and_its_last_line_counts() {
        let map = b"1000 20 first\n1010 10 py::f:/a b.py\n0x2000 0x8 _Z3fooi\nbad line\n3000 0 none\n1000 8";
        let made = read(map, b"", &[0x1000, 0x100f, 0x1010, 0x1020, 0x2007, 0x2008, 0x3000]);
        assert_eq!(name(&made, 0x1000, 5), Some("first"));
        assert_eq!(name(&made, 0x100f, 0), Some("first"));
        assert_eq!(name(&made, 0x1010, 0), Some("py::f:/a b.py"));
        assert_eq!(name(&made, 0x1020, 0), None);
        assert_eq!(made.at(0x2007, 0).map(|names| names.full.as_str()), Some("foo(int)"));
        assert_eq!((name(&made, 0x2008, 0), name(&made, 0x3000, 0)), (None, None));
        assert!(made.changes().is_empty());
    }

    #[test]
    fn jitdump_names_addresses_by_time() {
        let bytes = dump(
            0,
            &[
                load(10, 0x1000, 0x20, 1, "first"),
                load(20, 0x2000, 0x20, 2, "second"),
                moved(30, 0x1000, 0x3000, 0x20, 1),
                load(40, 0x1000, 0x20, 3, "third"),
                close(50),
                load(60, 0x1000, 0x20, 4, "behind the end"),
            ],
        );
        let made =
            read(b"1000 20 of the map\n5000 1 known by the map\n", &bytes, &[0x1008, 0x2008, 0x3008, 0x5000]);
        let at = |address, time_ns| name(&made, address, time_ns);
        assert_eq!([at(0x1008, 5), at(0x1008, 10), at(0x1008, 29)], [Some("first"); 3]);
        assert_eq!([at(0x1008, 30), at(0x1008, 39)], [None; 2]);
        assert_eq!([at(0x1008, 40), at(0x1008, u64::MAX)], [Some("third"); 2]);
        assert_eq!([at(0x3008, 0), at(0x3008, 30)], [Some("first"); 2]);
        assert_eq!(at(0x2008, 25), Some("second"));
        assert_eq!(at(0x5000, 25), Some("known by the map"));
        assert_eq!(made.changes(), [30, 40]);
    }

    /// Times of another clock say nothing: as in a map, the last one counts.
    #[test]
    fn with_another_clock_the_last_function_counts() {
        let records = [load(10, 0x1000, 0x20, 1, "first"), load(20, 0x1000, 0x20, 2, "second")];
        let made = read(b"", &dump(1, &records), &[0x1008]);
        assert_eq!(name(&made, 0x1008, 5), Some("second"));
        assert!(made.changes().is_empty());
    }

    #[test]
    fn a_cut_file_names_what_is_whole() {
        let records = [load(10, 0x1000, 0x20, 1, "first"), load(20, 0x2000, 0x20, 2, "second")];
        let bytes = dump(0, &records);
        for bytes in (0..bytes.len()).map(|end| &bytes[..end]) {
            let made = read(b"", bytes, &[0x1008, 0x2008]);
            assert_eq!(name(&made, 0x2008, 20), None);
        }
        let whole = read(b"", &bytes[..bytes.len() - 1], &[0x1008]);
        assert_eq!(name(&whole, 0x1008, 10), Some("first"));
    }

    proptest! {
        /// Against a search of all lines for each address.
        #[test]
        fn a_map_is_read_as_the_obvious_way_does(
            lines in proptest::collection::vec((0_u64..64, 0_u64..16, 0_usize..4), 0..20),
        ) {
            const NAMES: [&str; 4] = ["a", "b", "c d", "e"];
            let text: String =
                lines.iter().map(|(at, size, n)| format!("{at:x} {size:x} {}\n", NAMES[*n])).collect();
            let made = read(text.as_bytes(), b"", &(0..90).collect::<Vec<u64>>());
            for address in 0..90 {
                let last = lines.iter().rev().find(|(at, size, _)| (*at..at + size).contains(&address));
                prop_assert_eq!(name(&made, address, 0), last.map(|(_, _, n)| NAMES[*n]));
            }
        }

        #[test]
        fn any_bytes_are_read(
            map in proptest::collection::vec(any::<u8>(), 0..200),
            text in "[0-9a-fx \n]{0,60}",
            records in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), 0_u64..3), 0..6),
            flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let records: Vec<Vec<u8>> = records
                .iter()
                .map(|&(t, at, size, n)| match n {
                    0 => moved(t, at, size, at ^ size, n),
                    _ => load(t, at, size, n, "f"),
                })
                .collect();
            let mut bytes = dump(0, &records);
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= byte;
            }
            let addresses: Vec<u64> = vec![0, 1, 0xf, 0xff, 0x1000, u64::MAX - 1, u64::MAX];
            for (map, dump) in [(&map[..], &bytes[..]), (text.as_bytes(), &map[..])] {
                let made = read(map, dump, &addresses);
                for &address in &addresses {
                    let _ = (made.at(address, 0), made.at(address, u64::MAX));
                }
                prop_assert!(made.changes().is_sorted());
            }
        }
    }
}
