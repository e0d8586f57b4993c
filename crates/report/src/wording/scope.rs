//! Notes about what a filter selects.

use proust_query::{Known, ScopeNote};

use proust_words::counted;

use super::Worded;

impl Worded for ScopeNote {
    fn text(&self) -> String {
        match self {
            ScopeNote::NoMatch { kind, value, known } => {
                format!("no {} of this run matches `{value}`{}", kind.id(), what_there_is(known))
            }
            ScopeNote::NoSuchExecution { value, most } => format!(
                "`{value}` selects nothing: no thread executed it more than {}",
                counted(*most as usize, "time")
            ),
            ScopeNote::ExecutionsUnmatched { value, least, most } => format!(
                "threads executed the interval {least} to {most} times: the executions that `{value}` \
                 selects, one of each thread, need not belong together"
            ),
            ScopeNote::ExecutionsUnnumbered { value } => format!(
                "not all executions of the interval were recorded alone: `{value}` counts only those that \
                 were"
            ),
            ScopeNote::ProcessorAtSamples { cpu_ns } => format!(
                "the processor is known at samples only: the last {:.3} s of all threads together, after \
                 their last samples, are on none",
                *cpu_ns as f64 / 1e9
            ),
            ScopeNote::TimeAtEnds {} => {
                "CPU time counts at the instant of the sample that closed it, calls of operations when they \
                 end: the borders of the range are exact to one sample and one operation per thread"
                    .into()
            }
            ScopeNote::AccountsOnAllProcessors {} => {
                "cpu selects samples: seconds by account are those on all processors".into()
            }
        }
    }
}

/// The end of a message: what there is to select.
pub(crate) fn what_there_is(known: &Known) -> String {
    if !known.alike.is_empty() {
        return format!("; did you mean {}?", known.alike.join(", "));
    }
    if known.first.is_empty() {
        return "; it has none".into();
    }
    let more = if known.more > 0 { format!(" and {} more", known.more) } else { String::new() };
    format!("; there are {}{more}", known.first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_follows_the_word_that_matched_nothing() {
        let known = |alike: &[&str], first: &[&str], more| Known {
            alike: alike.iter().map(|&name| name.to_owned()).collect(),
            first: first.iter().map(|&name| name.to_owned()).collect(),
            more,
        };
        assert_eq!(what_there_is(&known(&["worker-0"], &[], 0)), "; did you mean worker-0?");
        assert_eq!(what_there_is(&known(&[], &["app", "sh"], 0)), "; there are app, sh");
        assert_eq!(what_there_is(&known(&[], &["app", "sh"], 3)), "; there are app, sh and 3 more");
        assert_eq!(what_there_is(&known(&[], &[], 0)), "; it has none");
    }
}
