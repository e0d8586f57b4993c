//! Merges within an amount of memory that the system enforces (RLIMIT_DATA), in a process of their own.

use std::io;
use std::path::Path;
use std::process::Command;

use proust_streams::merge::{Budget, Located, Merge, Order, Sorter};
use proust_streams::records::State;
use proust_streams::{BlockOptions, FileWriter, Key, Location, StreamBuilder, StreamFile};

/// In the environment of a child that is to merge: the folder to work in.
const MERGES: &str = "PROUST_STREAMS_TEST_MERGES";

const LOCATIONS: u32 = 40;
const EACH: u64 = 40_000;
/// All records as a vector are larger than this, KiB.
const LIMIT_KIB: usize = 48 << 10;
const BUDGET_BYTES: usize = 4 << 20;

/// Gapless; the lengths of a location's states are 500 to 1499 ns.
fn state(location: u32, at: u64) -> State {
    let begin = |at: u64| 1000 * at + (at * 7919 + u64::from(location) * 104_729) % 500;
    let key = Key { account: (at % 5) as u8, context: (at * at % 2003) as u32 };
    State { begin_ns: begin(at), end_ns: begin(at + 1), key, ..State::default() }
}

fn merge_within_the_limit(folder: &Path) -> io::Result<()> {
    let all = LOCATIONS as usize * EACH as usize;
    assert!(all * size_of::<State>() > LIMIT_KIB << 10);
    // The limit is in force: what needs no index and no file fails as well.
    assert!(Vec::<State>::new().try_reserve_exact(all).is_err(), "memory is not limited");

    let path = folder.join("shard.streams");
    let mut writer = FileWriter::create(&path)?;
    for location in 0..LOCATIONS {
        let mut stream = StreamBuilder::new(Location(location), BlockOptions::default());
        for at in 0..EACH {
            stream.push(state(location, at), &mut writer)?;
        }
        stream.finish(&mut writer)?;
    }
    writer.finish()?;

    let file = StreamFile::open(&path).unwrap();
    let locations = file.locations::<State>();
    let budget = Budget::new(BUDGET_BYTES, folder);
    for order in [Order::ByBegin, Order::ByEndBackward] {
        let mut merge = Merge::<State>::new(&file, &locations, order, &budget).unwrap();
        // What the next record of each location must be.
        let mut next: Vec<u64> = vec![if order == Order::ByBegin { 0 } else { EACH }; LOCATIONS as usize];
        let (mut count, mut last) = (0, None);
        while let Some(Located { location, record }) = merge.next().unwrap() {
            let at = &mut next[location.0 as usize];
            let (time, place) = match order {
                Order::ByBegin => {
                    *at += 1;
                    ((record.begin_ns, location.0), *at - 1)
                }
                _ => {
                    *at -= 1;
                    ((u64::MAX - record.end_ns, u32::MAX - location.0), *at)
                }
            };
            assert_eq!(record, state(location.0, place));
            assert!(last < Some(time), "out of order");
            last = Some(time);
            count += 1;
        }
        assert_eq!(count, all);
        assert_eq!(merge.runs(), 0);
    }

    let mut sorter = Sorter::new(&budget, |located: &Located<State>| u128::from(located.record.key.context));
    for &location in &locations {
        for record in file.stream::<State>(location).forward() {
            sorter.push(Located { location, record: record.unwrap() }).unwrap();
        }
    }
    let mut sorted = sorter.finish().unwrap();
    assert!(sorted.runs() > 10);
    let (mut count, mut last) = (0, (0, 0, 0));
    while let Some(Located { location, record }) = sorted.next().unwrap() {
        let order = (record.key.context, location.0, record.begin_ns);
        assert!(count == 0 || last < order, "by context, then as they came");
        last = order;
        count += 1;
    }
    assert_eq!(count, all);
    Ok(())
}

#[test]
fn more_records_than_memory_are_merged_and_sorted() {
    if let Some(folder) = std::env::var_os(MERGES) {
        return merge_within_the_limit(Path::new(&folder)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "ulimit -d {LIMIT_KIB}; exec \"$0\" --exact more_records_than_memory_are_merged_and_sorted --nocapture"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env(MERGES, folder.path());
    let child = command.output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["shard.streams"], "nothing temporary is left");
}
