//! What became of a run's kept analysis, on standard error.

use proust_report::Worded;
use proust_store::{Note, Outdated, Run};

/// Notes what the user of a run should know beside its pages.
pub fn print(run: &Run) {
    for note in run.notes().iter().filter(|note| is_news(note)) {
        message!("note: {}", note.text());
    }
}

/// That logs have grown is what happens while a program runs, and no news afterwards.
fn is_news(note: &Note) -> bool {
    !matches!(note, Note::MadeAgain { why: Outdated::Logs, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_logs_have_grown_is_no_news() {
        let again = |why| Note::MadeAgain { dir: "a.proust".into(), why };
        assert!(!is_news(&again(Outdated::Logs)));
        assert!(is_news(&again(Outdated::Version)) && is_news(&again(Outdated::Rules)));
        assert!(is_news(&Note::NotKept { dir: "a.proust".into(), error: "no space".into() }));
    }
}
