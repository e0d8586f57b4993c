//! A phase of a thread in a function in which others work, too: equal parts that did not end together.

use proust_log::operations::Operation;

use super::super::{Kind, Sure};
use super::{Builder, near, one};

#[test]
fn equal_work_that_one_thread_ended_late_once_is_no_certain_phase() {
    // The main thread has a part of its own, and is late once, or each time.
    for (ends_ms, sure) in [(&[1000][..], Sure::Likely), (&[300, 600, 1000], Sure::Certain)] {
        let mut run = Builder::new(2, 1000);
        let mut begin_ms = 0;
        for &end_ms in ends_ms {
            let early_ms = end_ms - 300 / ends_ms.len() as u64;
            run.work(0, "main solve", (begin_ms, end_ms));
            run.work(1, "worker solve", (begin_ms, early_ms));
            run.during(1, "worker", Operation::ConditionWait, (early_ms, end_ms));
            begin_ms = end_ms;
        }
        let finding = one(&run.findings(), Kind::SerialPhase).clone();
        assert_eq!(finding.sure, sure);
        near(finding.lost, 0.3);
    }
}
