//! Reading and writing that takes much of a run, or of a phase.

use super::super::figure::FigureId;
use super::super::{Kind, Sure};
use super::{Builder, cause, has, near, one};
use proust_log::operations::Operation;

/// A phase of one thread, of which each system call reads a byte for so long of 20 ms.
#[test]
fn what_a_phase_spends_in_vain_comes_before_the_phase() {
    let first = |reading_ms: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main solve", (0, 400)).work(1, "worker solve", (0, 400));
        for at_ms in (400..1000).step_by(20) {
            run.work(0, "main add", (at_ms + reading_ms, at_ms + 20));
            let times = (at_ms, at_ms + reading_ms);
            run.short(0, "main add next", Operation::Read, times, (10_000, 10_000, reading_ms));
        }
        let found = run.findings();
        assert!(has(&found, Kind::SerialPhase) && has(&found, Kind::TinyIo), "{found:#?}");
        found[0].kind
    };
    assert_eq!(first(14), Kind::TinyIo);
    assert_eq!(first(5), Kind::SerialPhase);
}

#[test]
fn io_that_takes_much_of_the_run_is_possible_at_most() {
    let run = |operation: Operation, io_ms: u64| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(20) {
            run.work(0, "main make", (at_ms, at_ms + 20 - io_ms));
            // A hundred blocks of 64 KiB.
            run.short(0, "main load", operation, (at_ms + 20 - io_ms, at_ms + 20), (100, 6_553_600, io_ms));
        }
        run.findings()
    };
    let found = run(Operation::Read, 8);
    let finding = one(&found, Kind::MuchIo);
    assert_eq!((cause(finding), finding.account.as_str(), finding.sure), ("load", "io", Sure::Possible));
    near(finding.lost, 0.4);
    assert!(finding.has(FigureId::ReadInAll) && !finding.has(FigureId::WrittenInAll));
    assert!(one(&run(Operation::Write, 8), Kind::MuchIo).has(FigureId::WrittenInAll));
    assert!(!has(&run(Operation::Read, 1), Kind::MuchIo), "a twentieth of the run");
}
