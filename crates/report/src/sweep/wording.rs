//! Names of places in the joint tree, and advice in words.

use proust_compare::JointId;
use proust_compare::degradation::Advice;
use proust_compare::scaling::Cause;
use proust_compare::scaling::Ensemble;
use proust_profile::ContextKind;
use proust_words::count;

use crate::number::duration;
use crate::pages::place;

/// What a place is called: a function, a region, a line, or a segment that ends at a site.
pub(super) fn name(ensemble: &Ensemble<'_>, node: JointId) -> String {
    let label = ensemble.label(node);
    let at = place(label.file, label.line);
    if ensemble.is_site(node) {
        return match at {
            Some(at) if label.kind == ContextKind::Line => format!("segment up to {at}"),
            _ => format!("segment up to {}", label.name),
        };
    }
    match label.kind {
        ContextKind::Program => "the program".into(),
        ContextKind::Line => at.map_or_else(|| "a line".into(), |at| format!("line {at}")),
        _ if label.name.is_empty() => label.kind.id().to_owned(),
        _ => label.name.to_owned(),
    }
}

/// The identifier of what a place is in JSON: that of the context, or `segment`.
pub(super) fn kind(ensemble: &Ensemble<'_>, node: JointId) -> &'static str {
    if ensemble.is_site(node) {
        "segment"
    } else if ensemble.is_region(node) {
        ContextKind::Region.id()
    } else {
        ensemble.label(node).kind.id()
    }
}

/// Whether a place is how a system begins a program or a thread, which says nothing of either.
pub(super) fn is_entrance(ensemble: &Ensemble<'_>, node: JointId) -> bool {
    let name = ensemble.label(node).name;
    name == "_start" || name.starts_with("__libc_start") || name == "clone3" || name == "start_thread"
}

/// A cause in words.
pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Work => "work",
        Cause::Faults => "page faults",
        Cause::Io => "I/O",
        Cause::Preemption => "preempted by other programs",
        Cause::Oversubscription => "oversubscribed",
        Cause::Imbalance => "imbalance",
        Cause::ReleaseLatency => "release latency",
        Cause::Runtime => "fork, join, scheduling",
        Cause::Lock => "locks",
        Cause::Critical => "critical sections",
        Cause::Ordered => "ordered sections",
        Cause::Messages => "messages",
        Cause::Serial => "serial",
        Cause::Other => "other",
    }
}

/// What to do.
pub(super) fn advice(advice: &Advice) -> String {
    match advice {
        Advice::MoveOutwards { visits, work, cost } => format!(
            "The work-sharing construct is too deep in the nest of loops: each thread came here {} and \
             worked {} each time, which cost {} of waiting. Move the construct outwards, to a loop around \
             this one; where each iteration of that needs the one before, make fewer barriers: nowait, or \
             neighbouring loops joined into one.",
            times(*visits),
            duration(work.as_seconds()),
            duration(cost.as_seconds())
        ),
        Advice::OpenOnce { visits, cost } => format!(
            "The region is opened {}, which costs a thread {} each time, more than its work: open it once, \
             around the loop.",
            times(*visits),
            duration(cost.as_seconds())
        ),
        Advice::Balance => "Threads wait for those that have more to do: make the parts of equal work, \
         smaller, or hand them out while they are worked on (schedule(dynamic))."
            .into(),
        Advice::ShortenSection => "Threads queue for a section: do less inside it, divide it, or let each \
         thread collect its own and join the results at the end (reduction)."
            .into(),
        Advice::ShareLessMemory => "The same work takes more processor time with more threads: they share \
         cache lines (keep what different threads write 64 bytes or more apart) or the memory's bandwidth."
            .into(),
        Advice::TouchFirst => "Page faults grew: let the thread that uses memory touch it first, and keep \
         it instead of allocating it again."
            .into(),
        Advice::FewerThreads => "There are more threads than processors: use fewer.".into(),
        Advice::QuietMachine => "Other programs had the processors for so long that they may be the whole \
         reason: measure again on a quiet machine."
            .into(),
        Advice::MakeParallel => "Most threads have nothing to do here: divide this work among them.".into(),
        Advice::ExchangeLess => "Ranks wait for each other or exchange more: look at who is late, and send \
         less often."
            .into(),
        Advice::CoarserParts => "The runtime takes the time: hand out larger parts.".into(),
    }
}

fn times(number: u64) -> String {
    if number == 1 { "once".into() } else { format!("{} times", count(number)) }
}

#[cfg(test)]
mod tests {
    use proust_profile::Ns;

    use super::*;

    /// Around a loop whose iterations are independent there may be one in which each needs the one before, as
    /// in solvers: a construct cannot move out of that.
    #[test]
    fn a_construct_that_cannot_move_outwards_has_advice_too() {
        let text =
            advice(&Advice::MoveOutwards { visits: 1000, work: Ns::new(1000), cost: Ns::new(100_000) });
        assert!(text.contains("outwards") && text.contains("nowait"), "{text}");
    }
}
