//! Files on a real disk: whole or not there, also where the disk is full or the writer is killed.

use std::path::Path;
use std::process::Command;

use proust_streams::records::State;
use proust_streams::{BlockOptions, FileWriter, Key, Location, Note, StreamBuilder, StreamFile};

/// In the environment of a child that is to write a file: its path.
const WRITES: &str = "PROUST_STREAMS_TEST_WRITES";

const RECORDS: u64 = 200_000;

fn state(at: u64) -> State {
    let key = Key { account: (at % 3) as u8, context: (at * at % 1009) as u32 };
    State { begin_ns: 1000 * at, end_ns: 1000 * at + 900 + at % 100, key, ..State::default() }
}

fn write(path: &Path) -> std::io::Result<FileWriter> {
    let mut file = FileWriter::create(path)?;
    let mut stream = StreamBuilder::new(Location(1), BlockOptions::default());
    for at in 0..RECORDS {
        stream.push(state(at), &mut file)?;
    }
    stream.finish(&mut file)?;
    Ok(file)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_has_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.streams");
    let file = write(&path).unwrap();
    assert_eq!(names_in(folder.path()), ["shard.streams.part"]);
    let busy = FileWriter::create(&path).err().unwrap();
    assert_eq!(busy.kind(), std::io::ErrorKind::WouldBlock);
    file.finish().unwrap();
    assert_eq!(names_in(folder.path()), ["shard.streams"]);

    let file = StreamFile::open(&path).unwrap();
    assert_eq!(file.notes(), []);
    let states = file.stream::<State>(Location(1));
    assert!(states.forward().map(Result::unwrap).eq((0..RECORDS).map(state)));
    // Many readers at once.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(states.backward().map(Result::unwrap).eq((0..RECORDS).rev().map(state))));
        }
    });

    // A writer that gives up leaves the file as it was.
    drop(write(&path).unwrap());
    assert_eq!(names_in(folder.path()), ["shard.streams"]);
    assert_eq!(StreamFile::open(&path).unwrap().stream::<State>(Location(1)).count(), RECORDS);
}

#[test]
fn a_writer_that_is_killed_leaves_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.streams");
    let mut file = write(&path).unwrap();
    file.flush().unwrap();
    let part = folder.path().join("shard.streams.part");
    // What a killed process leaves: the bytes, and no lock.
    let left = std::fs::read(&part).unwrap();
    drop(file);
    std::fs::write(&part, &left[..left.len() - 1000]).unwrap();

    let read = StreamFile::open(&part).unwrap();
    assert!(read.notes().contains(&Note::Unfinished));
    let states: Vec<State> = read.stream(Location(1)).forward().map(Result::unwrap).collect();
    assert!(states.len() as u64 > RECORDS / 2 && (states.len() as u64) < RECORDS);
    assert!(states.iter().copied().eq((0..states.len() as u64).map(state)));

    write(&path).unwrap().finish().unwrap();
    assert_eq!(names_in(folder.path()), ["shard.streams"]);
}

#[test]
fn a_full_disk_leaves_nothing_half() {
    if let Some(path) = std::env::var_os(WRITES) {
        match write(Path::new(&path)).and_then(FileWriter::finish) {
            Ok(()) => std::process::exit(0),
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(3)
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.streams");
    // A limit to the length of files fails as a full disk does: at a write or at the end, wherever it falls.
    let child = |limit: &str| {
        let script =
            format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" --exact a_full_disk_leaves_nothing_half");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env(WRITES, &path);
        command.output().unwrap()
    };
    let whole = child("unlimited");
    assert_eq!(whole.status.code(), Some(0), "{}", String::from_utf8_lossy(&whole.stderr));
    let blocks = std::fs::metadata(&path).unwrap().len() / 512;
    std::fs::remove_file(&path).unwrap();
    for limit in [0, 1, blocks / 3, blocks - 1] {
        let full = child(&limit.to_string());
        assert_eq!(full.status.code(), Some(3), "limit {limit}: {}", String::from_utf8_lossy(&full.stderr));
        assert!(names_in(folder.path()).is_empty(), "limit {limit}");
    }
}
