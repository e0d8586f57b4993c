//! Many runs, read from their folders on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As many runs are open at once at most: each holds the files of its analysis, and a process may have 1024.
const OPEN: usize = 24;

/// Reads each of `folders`; the results are in their order.
///
/// Not on rayon's threads: an analysis hands its work to these and waits for it, and if all of them waited so
/// there would be none left to do it.
pub fn read_side_by_side<F: Sync, R: Send>(folders: &[F], read: impl Fn(&F) -> R + Sync) -> Vec<R> {
    let readers = thread::available_parallelism().map_or(1, usize::from).min(OPEN);
    let next = AtomicUsize::new(0);
    let mut found: Vec<Option<R>> = folders.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let read_some = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(folder) = folders.get(at) else { return done };
                done.push((at, read(folder)));
            }
        };
        let readers: Vec<_> = (0..readers.min(folders.len())).map(|_| scope.spawn(read_some)).collect();
        for reader in readers {
            let done = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (at, run) in done {
                found[at] = Some(run);
            }
        }
    });
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_comes_in_the_order_of_the_folders() {
        let numbers: Vec<usize> = (0..100).collect();
        assert_eq!(read_side_by_side(&numbers, |n| n * n), numbers.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(read_side_by_side(&[0; 0], |n: &i32| *n).is_empty());
    }
}
