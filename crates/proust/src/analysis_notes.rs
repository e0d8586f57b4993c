//! What became of a run's kept analysis, in words on standard error.

use proust_store::{Note, Outdated, Run};

/// Notes what the user of a run should know beside its pages.
pub fn print(run: &Run) {
    let dir = run.dir().display().to_string();
    for text in run.notes().iter().filter_map(|note| worded(&dir, note)) {
        eprintln!("proust: note: {text}");
    }
}

fn worded(dir: &str, note: &Note) -> Option<String> {
    match note {
        // It is what happens while a program runs, and no news afterwards.
        Note::MadeAgain(Outdated::Logs) => None,
        Note::MadeAgain(Outdated::Version) => {
            Some(format!("another version of Proust had analysed {dir}: it was analysed again"))
        }
        Note::MadeAgain(Outdated::Rules) => {
            Some(format!("the rules for waits have changed: {dir} was analysed again"))
        }
        Note::MadeAgain(Outdated::Damaged(what)) => {
            Some(format!("the kept analysis of {dir} is damaged ({what}): it was made again"))
        }
        Note::NotKept(why) => {
            Some(format!("the analysis of {dir} could not be kept and will be done again each time ({why})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_names_the_run_and_its_reason() {
        let damaged = Note::MadeAgain(Outdated::Damaged("values.parquet is damaged".into()));
        assert!(worded("a.proust", &damaged).unwrap().contains("values.parquet"));
        assert!(worded("a.proust", &Note::NotKept("no space".into())).unwrap().contains("no space"));
        for note in [Note::MadeAgain(Outdated::Version), Note::MadeAgain(Outdated::Rules)] {
            assert!(worded("a.proust", &note).unwrap().contains("a.proust"));
        }
        assert_eq!(worded("a.proust", &Note::MadeAgain(Outdated::Logs)), None);
    }
}
