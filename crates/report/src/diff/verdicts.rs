//! Why rows are not called changed, and limits, in words.

use proust_compare::diff::Exceeded;
use proust_statistics::{Outcome, Why};
use proust_words::counted;

use super::change::signed;
use crate::number::{Scale, duration, fixed};

/// Why a difference is not called a change, in words; None if it is one, or there is none.
pub(super) fn why_unchanged(why: Why) -> Option<&'static str> {
    Some(match why {
        Why::Small => "too little to matter",
        Why::Samples => "undecided: too few samples",
        Why::Spread => "undecided: runs of one side differ as much",
        Why::Single => "undecided: single runs may differ as much (10 %)",
        Why::Disturbed => "undecided: a busy machine may cause as much",
        Why::Places => "undecided: one of as many rows may differ so much by chance",
        Why::Significant | Why::Equal => return None,
    })
}

/// A limit that is exceeded, in words.
pub fn limit_text(exceeded: &Exceeded) -> String {
    let change = &exceeded.change;
    let is_ratio = exceeded.limit.trim_start().starts_with("efficiency");
    let show = |amount: f64| if is_ratio { fixed(amount, 3) } else { duration(amount) };
    let found = if exceeded.is_share {
        let sign = if exceeded.found > 0.0 && exceeded.limit.contains('+') { "+" } else { "" };
        if exceeded.found.is_infinite() {
            "from nothing".into()
        } else {
            format!("{sign}{} %", fixed(exceeded.found * 100.0, 1))
        }
    } else if exceeded.limit.contains(['+', '-']) && !is_ratio {
        let scale = Scale::seconds([change.delta]);
        format!("{} {}", signed(&scale, change.delta), scale.unit)
    } else {
        show(exceeded.found)
    };
    let half = change.half_of_limits;
    let noise = match (exceeded.outcome, change.more_runs) {
        (Outcome::Exceeded, _) => String::new(),
        (_, Some(runs)) => format!(
            "; undecided, ± {}: {} of each side would probably tell",
            show(half),
            counted(runs as usize, "more run")
        ),
        (_, None) => format!("; undecided, ± {}", show(half)),
    };
    format!("{}: {found}, from {} to {}{noise}", exceeded.limit, show(change.a.mean), show(change.b.mean))
}
