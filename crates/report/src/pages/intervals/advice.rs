//! How the characteristics of an interval are read, in words and in JSON.
//!
//! In `dvm`: `"advice":[{"id","text"}, and the amounts that decided, in seconds]`.

use std::collections::BTreeMap;

use proust_characteristics::advice::{self, Step};
use proust_characteristics::dvm::Interval;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use crate::number::{duration, percent};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Advice {
    id: &'static str,
    pub text: String,
    #[serde(flatten)]
    amounts: BTreeMap<&'static str, f64>,
}

/// The decisions for an interval, from the first to the advice.
pub(super) fn of(interval: &Interval) -> Vec<Advice> {
    let words = |step: &Step| {
        let (text, amounts) = worded(step);
        let amounts = amounts.into_iter().map(|(name, ns)| (name, seconds(ns))).collect();
        Advice { id: step.id(), text, amounts }
    };
    advice::steps(interval).iter().map(words).collect()
}

type Amounts = Vec<(&'static str, u64)>;

fn worded(step: &Step) -> (String, Amounts) {
    let time = |ns: u64| duration(seconds(ns));
    match *step {
        Step::Little { lost_ns, total_ns } => (
            format!(
                "hardly anything is lost: {} % of Total_time",
                percent(seconds(lost_ns), seconds(total_ns))
            ),
            vec![("lost_s", lost_ns), ("total_s", total_ns)],
        ),
        Step::Largest { part, part_ns, lost_ns } => (
            format!(
                "{} is the largest part of Lost_time: {} of {}",
                part.name(),
                time(part_ns),
                time(lost_ns)
            ),
            vec![("part_s", part_ns), ("lost_s", lost_ns)],
        ),
        Step::Sequential { seq_ns, par_ns } => (
            format!(
                "most of it is in sequential parts (Seq {}, Par {}): look for a serial loop that does much, \
                 and make it parallel",
                time(seq_ns),
                time(par_ns)
            ),
            vec![("seq_s", seq_ns), ("par_s", par_ns)],
        ),
        Step::Parallel { seq_ns, par_ns } => (
            format!(
                "most of it is in parallel parts (Seq {}, Par {}): check the number of threads, and how the \
                 loops are distributed over them",
                time(seq_ns),
                time(par_ns)
            ),
            vec![("seq_s", seq_ns), ("par_s", par_ns)],
        ),
        Step::Unsynchronised { synchronization_ns, communication_ns } => (
            format!(
                "Synchronization is about as large ({}): processors arrive at operations at different times",
                time(synchronization_ns)
            ),
            vec![("synchronization_s", synchronization_ns), ("communication_s", communication_ns)],
        ),
        Step::Imbalanced { imbalance_ns, synchronization_ns } => (
            format!(
                "Load_Imbalance is about as large, too ({}): divide the work of the parallel loops evenly",
                time(imbalance_ns)
            ),
            vec![("load_imbalance_s", imbalance_ns), ("synchronization_s", synchronization_ns)],
        ),
        Step::Varied { variation_ns, synchronization_ns } => (
            format!(
                "Load_Imbalance is much smaller, and Time_variation is not ({}): processors leave operations \
                 at different times, so look at how these are carried out",
                time(variation_ns)
            ),
            vec![("time_variation_s", variation_ns), ("synchronization_s", synchronization_ns)],
        ),
        Step::Compensated { imbalance_ns, synchronization_ns } => (
            format!(
                "Load_Imbalance is much smaller ({}): imbalances of several loops make up for one another; \
                 look at the intervals inside",
                time(imbalance_ns)
            ),
            vec![("load_imbalance_s", imbalance_ns), ("synchronization_s", synchronization_ns)],
        ),
        Step::OfIo { io_ns, communication_ns } => (
            format!(
                "most of it is communication of I/O ({}): one processor reads or writes for all",
                time(io_ns)
            ),
            vec![("io_s", io_ns), ("communication_s", communication_ns)],
        ),
        Step::MostIn { operation, row_ns, count } => (
            format!(
                "most of it is in {} ({}{}): if these are many small ones, make groups of them",
                operation.name(),
                time(row_ns),
                count.map_or_else(String::new, |count| format!(", {}", counted(count, "operation")))
            ),
            vec![("row_s", row_ns)],
        ),
        Step::EarlyEnds { idle_ns, imbalance_ns } => (
            format!(
                "some processors end the interval earlier than others (Load_Imbalance {}): its work is \
                 divided unevenly",
                time(imbalance_ns)
            ),
            vec![("idle_s", idle_ns), ("load_imbalance_s", imbalance_ns)],
        ),
    }
}
