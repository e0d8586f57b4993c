//! Why nothing is found.

use proust_account::ledger::{Account, Class, Ledger};

use crate::number::duration;
use crate::style::Style;
use crate::wrap::wrapped;

/// The facts of a run that explain why nothing is found.
#[derive(Debug)]
pub(in crate::pages) struct Circumstances {
    pub(in crate::pages) total_s: f64,
    /// The time for which other processes had the processors, s.
    pub(in crate::pages) preempted_s: f64,
    /// The largest account on which threads wait: its identifier, and s.
    pub(in crate::pages) waited: Option<(&'static str, f64)>,
}

impl Circumstances {
    /// Parts of the total from which on the machine was busy, and waiting is much.
    const MUCH: f64 = 0.1;

    pub(in crate::pages) fn of(ledger: &Ledger) -> Circumstances {
        let seconds = |account: Account| ledger.accounts[account] as f64 / 1e9;
        let waits = Account::ALL.iter().copied().filter(|account| account.class() == Class::Waiting);
        let most = waits.max_by_key(|&account| ledger.accounts[account]);
        Circumstances {
            total_s: ledger.total_ns as f64 / 1e9,
            preempted_s: seconds(Account::Preempted),
            waited: most.map(|account| (account.id(), seconds(account))),
        }
    }

    /// That there is none, and why.
    pub(super) fn none_text(&self, of_a_part: bool, style: &Style) -> String {
        let why = match of_a_part {
            true => "none of the findings of the run concerns this part".to_owned(),
            false => self.why_none(),
        };
        wrapped(&why, 1, style.width)
    }

    fn why_none(&self) -> String {
        let much_s = Circumstances::MUCH * self.total_s;
        let waited = self.waited.filter(|(_, s)| *s >= much_s);
        match waited {
            _ if self.preempted_s >= much_s => {
                let of = waited.map_or_else(String::new, |(account, s)| {
                    format!(" {} of {account} cannot be separated from what that caused;", duration(s))
                });
                format!(
                    "none that is sure: other programs had the processors for {};{of} measure again on a \
                     quiet machine",
                    duration(self.preempted_s)
                )
            }
            Some((account, s)) => format!(
                "none of a known kind: threads waited for {} ({account}), and no cause could be \
                 established",
                duration(s)
            ),
            None => "none: nothing that is worth 1 % of the total stands out".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a run of 10 s: others had the processors, and threads waited, for so long.
    fn why_none(preempted_s: f64, barrier_s: f64) -> String {
        let mut ledger = Ledger { total_ns: 10_000_000_000, ..Ledger::default() };
        ledger.accounts[Account::Preempted] = (preempted_s * 1e9) as u64;
        ledger.accounts[Account::Barrier] = (barrier_s * 1e9) as u64;
        Circumstances::of(&ledger).why_none()
    }

    #[test]
    fn a_queue_beyond_the_processors_is_no_time_of_others() {
        let mut ledger = Ledger { total_ns: 10_000_000_000, ..Ledger::default() };
        ledger.beyond[Account::Preempted] = 50_000_000_000;
        assert!(Circumstances::of(&ledger).why_none().contains("nothing that is worth"));
    }

    #[test]
    fn nothing_stands_out_only_where_that_is_so() {
        let nothing = why_none(0.2, 0.3);
        assert!(nothing.contains("nothing that is worth 1 %"), "{nothing}");
        let busy = why_none(2.0, 5.0);
        assert!(busy.contains("other programs") && busy.contains("2.000 s"), "{busy}");
        assert!(busy.contains("5.000 s of barrier") && busy.contains("measure again"), "{busy}");
        let waits = why_none(0.2, 5.0);
        assert!(waits.contains("5.000 s (barrier)") && !waits.contains("other programs"), "{waits}");
        for text in [busy, waits] {
            assert!(!text.contains("nothing"), "{text}");
        }
    }
}
