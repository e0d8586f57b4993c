//! Barriers that follow each other so closely that only some are measured: all are counted, and what is said
//! of the waits is what the program's threads measured themselves.

use serde_json::Value;

use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// What a barrier takes between the program's clocks and the collector's, at most.
const WAYS_NS: f64 = 40.0;

/// What the threads say, and the page's sites of barriers.
struct Often {
    run: Recorded,
    truth: Value,
    sites: Vec<Value>,
}

impl Often {
    /// Runs a case by each compiler.
    fn by_each(case: &str, story: impl Fn(&Often)) {
        for compiler in ["gcc", "clang"] {
            let Some(program) = built(&format!("openmp-often-{compiler}")) else { continue };
            let run = record(program, &["0.6", case]).succeeded();
            let (truth, page) = (run.truth(), run.page::<Value>("openmp", &[]));
            let all = list(&page, "/regions").iter().flat_map(|region| list(region, "/sites"));
            let sites: Vec<Value> = all.filter(|site| site["construct"] == "omp barrier").cloned().collect();
            let often = Often { run, truth, sites };
            println!(
                "{case} by {compiler}: {}; waited {:.4}, worked {:.4}, ± {:.4}, {} of {} measured",
                often.truth,
                often.waited_s(),
                often.found("work_s"),
                often.found("error_s"),
                often.found("measured"),
                often.found("executions")
            );
            story(&often);
        }
    }

    /// The sum of a field over the sites.
    fn found(&self, field: &str) -> f64 {
        self.sites.iter().map(|site| number(site, &format!("/{field}"))).sum()
    }

    fn waited_s(&self) -> f64 {
        self.found("imbalance_s") + self.found("latency_s")
    }

    /// The sum of a field over the program's threads.
    fn truth(&self, field: &str) -> f64 {
        list(&self.truth, "/threads").iter().map(|thread| number(thread, &format!("/{field}"))).sum()
    }

    /// How long threads had no processor.
    fn queued_s(&self) -> f64 {
        let ledger = self.run.summary().ledger;
        ledger.account_s("preempted") + ledger.account_s("oversubscribed")
    }

    /// All that must hold whatever the machine does meanwhile.
    fn assert_true(&self) {
        assert_eq!(self.found("executions"), self.truth("barriers"), "{:#?}", self.sites);
        let (waited_s, worked_s) = (self.truth("wait_s"), self.truth("work_s"));
        let all_s = waited_s + worked_s;
        // The program's clocks stand around the hooks, and around the runtime's way in and out: what that
        // takes is a part of its waits, and counts as work here.
        let ways_s = WAYS_NS * 1e-9 * self.truth("barriers");
        // To record a drawn visit takes some microseconds if it was a long one.
        let records_s = (15e-6 * self.found("measured")).min(0.02 * all_s);
        // Where others want the processors, a thread may lose its own between the two clocks, too: where
        // waits take a microsecond, a third of a call is the way in and out.
        let lost_s = 0.4 * self.queued_s();
        let (off_s, error_s) = (self.waited_s() - waited_s, 3.0 * self.found("error_s") + lost_s);
        let allowed = -ways_s - records_s - error_s..=0.1 * ways_s + 0.002 * all_s + error_s;
        assert!(allowed.contains(&off_s), "{off_s:.4} s off, {allowed:.4?} allowed: {:#?}", self.sites);
        // Work of the region's end is none of a barrier's.
        let found_s = self.waited_s() + self.found("work_s");
        assert!((found_s - all_s).abs() <= 0.04 * all_s, "{found_s:.4} s of {all_s:.4}: {:#?}", self.sites);
        assert!(self.found("measured") <= self.found("executions"));
        let notes = self.run.summary().quality.notes;
        assert!(!notes.iter().any(|note| note.contains("contradict")), "{notes:#?}");
        let is_said = notes.iter().any(|note| note.contains("drawn by chance"));
        assert_eq!(is_said, self.found("measured") < self.found("executions"), "{notes:#?}");
        self.run.assert_trustworthy();
    }
}

#[test]
fn threads_that_meet_very_often_wait_as_long_as_they_say() {
    for case in ["steady", "uneven"] {
        Often::by_each(case, Often::assert_true);
    }
}

/// At the same place where they meet all the time one thread waits ten milliseconds now and then.
#[test]
fn a_long_wait_among_very_many_short_ones_is_not_lost() {
    Often::by_each("phases", Often::assert_true);
}

#[test]
fn regions_with_few_barriers_each_are_counted_in_all_their_executions() {
    Often::by_each("regions", Often::assert_true);
}

/// A place that is seldom visited is measured each time, however busy the others are.
#[test]
fn a_place_that_is_seldom_visited_is_measured_each_time() {
    Often::by_each("sites", |often| {
        often.assert_true();
        let seldom =
            often.sites.iter().find(|site| site["function"] == "meet_seldom").expect("a fourth place");
        assert_eq!(number(seldom, "/measured"), number(seldom, "/executions"), "{seldom:#}");
        // The first thread waits 300 microseconds for the second there.
        let waits = number(seldom, "/executions") / 2.0;
        let waited_s = number(seldom, "/imbalance_s") + number(seldom, "/latency_s");
        assert!(waited_s > 0.8 * 300e-6 * waits, "{waits} waits: {seldom:#}");
    });
}

/// One thread has twice the work at each step: it is named as the one that the other waits for.
#[test]
fn a_thread_that_always_comes_late_is_named() {
    Often::by_each("late", |often| {
        often.assert_true();
        // Where others want the processors, who comes last is whoever does not have one.
        let rate = often.truth("barriers") / 2.0 / number(&often.truth, "/wall_s");
        if rate < 1e5 {
            return println!("SKIP: the machine is too busy: {rate:.0} barriers a second");
        }
        let page: Value = often.run.page("openmp", &[]);
        let threads = list(&page, "/regions/0/threads");
        let work = |thread: &&Value| (number(thread, "/work_s") * 1e9) as u64;
        let late = threads.iter().max_by_key(work).expect("two threads");
        for site in &often.sites {
            let of = |handle: &Value| {
                let row = list(site, "/last").iter().find(|row| row["handle"] == *handle);
                row.map_or((0.0, 0.0), |row| (number(row, "/known"), number(row, "/last")))
            };
            let (known, last) = of(&late["handle"]);
            println!("last in {last} of {known} barriers that are known");
            assert!(known >= 100.0 && last > 0.8 * known, "{site:#}");
            for other in threads.iter().filter(|thread| thread["handle"] != late["handle"]) {
                // The same barriers are known of all.
                let (of_other, last) = of(&other["handle"]);
                assert!((of_other - known).abs() <= 2.0 && last < 0.2 * of_other, "{site:#}");
            }
        }
    });
}

/// Nobody else can keep a team of one from passing a million barriers a second: few of them are measured.
#[test]
fn a_team_of_one_is_counted() {
    Often::by_each("alone", |often| {
        often.assert_true();
        assert!(often.found("measured") < 0.5 * often.found("executions"), "{:#?}", often.sites);
    });
}
