//! What Proust says it took itself is what a program uses more than when it runs bare, also on a busy
//! machine.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::command::run;
use crate::programs::built;
use crate::recording::{list, number, record, truth_in};

const PAIRS: usize = 5;

/// Programs that keep all processors busy, ended with the story.
struct Others(Vec<Child>);

impl Others {
    fn begin(count: usize) -> Others {
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Others((0..count).map(|_| busy().expect("a shell")).collect())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for other in &mut self.0 {
            let _ended = other.kill().and_then(|()| other.wait());
        }
    }
}

/// On a machine where others want the processors twice over, a thread loses its own in the midst of a hook
/// time and again. None of that is measuring: what is said to be lies within what paired bare runs differ by,
/// and the work stays where it was done.
#[test]
fn measuring_is_processor_time_on_a_busy_machine() {
    let Some(program) = built("small_calls") else { return };
    let _others = Others::begin(2 * std::thread::available_parallelism().map_or(2, usize::from));
    let (mut bare, mut recorded, mut said) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        bare.push(number(&truth_in(&run(Command::new(&program).arg("400000"))), "/cpu_s"));
        let run = record(&program, &["400000"]).succeeded();
        recorded.push(number(&run.truth(), "/cpu_s"));
        said.push(run.summary().quality.measurement_s);
    }
    println!("bare {bare:.3?}, recorded {recorded:.3?}, said to be measuring {said:.3?}");
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let width = |of: &[f64]| {
        of.iter().copied().fold(f64::MIN, f64::max) - of.iter().copied().fold(f64::MAX, f64::min)
    };
    let (added_s, said_s) = (mean(&recorded) - mean(&bare), mean(&said));
    let spread_s = width(&bare) + width(&recorded);
    assert!(
        (said_s - added_s).abs() <= spread_s + 0.5 * added_s.abs().max(said_s),
        "{said_s:.3} s said, {added_s:.3} s more than bare, which spreads over {spread_s:.3} s"
    );
    assert!(said_s < 0.6 * mean(&recorded), "{said:?} of {recorded:?}");
}

/// At its begin a process tries what a hook takes. A program that calls nothing has no operations by that.
#[test]
fn trying_what_a_hook_takes_leaves_no_operations() {
    let run = record("true", &[] as &[&str]).succeeded();
    let page: Value = run.page("quality", &[]);
    assert_eq!(number(&page, "/quality/events"), 0.0, "{page}");
    for operations in ["io", "waits"] {
        let page: Value = run.page(operations, &[]);
        assert!(list(&page, "/operations").is_empty(), "{page}");
    }
}
