//! What became of a run's kept analysis.

use proust_store::{Note, Outdated};

use super::Worded;

impl Worded for Note {
    fn text(&self) -> String {
        match self {
            Note::MadeAgain { dir, why: Outdated::Version } => {
                format!("another version of Proust had analysed {dir}: it was analysed again")
            }
            Note::MadeAgain { dir, why: Outdated::Logs } => {
                format!("the logs of {dir} have changed: it was analysed again")
            }
            Note::MadeAgain { dir, why: Outdated::Rules } => {
                format!("the rules for waits have changed: {dir} was analysed again")
            }
            Note::MadeAgain { dir, why: Outdated::Damaged { damage } } => {
                format!("the kept analysis of {dir} is damaged ({damage}): it was made again")
            }
            Note::NotKept { dir, error } => {
                format!("the analysis of {dir} could not be kept and will be done again each time ({error})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_names_the_run_and_its_reason() {
        let text = |why| Note::MadeAgain { dir: "a.proust".into(), why }.text();
        let damaged = text(Outdated::Damaged { damage: "values.parquet is damaged".into() });
        assert!(damaged.contains("a.proust") && damaged.contains("values.parquet"), "{damaged}");
        for why in [Outdated::Version, Outdated::Logs, Outdated::Rules] {
            assert!(text(why).contains("a.proust"));
        }
        let not_kept = Note::NotKept { dir: "a.proust".into(), error: "no space".into() }.text();
        assert!(not_kept.contains("a.proust") && not_kept.contains("no space"), "{not_kept}");
    }
}
