//! For any text and any path: no panic, and what the rules promise.

use proptest::prelude::*;
use proust_profile::Nature;

use super::paths::read;
use crate::classes::{ClassError, Classes, STANDARD, rule};
use crate::ledger::State;

fn empty() -> Classes {
    Classes { rules: rule::Rules::default() }
}

/// Lines that look like rules.
fn line() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "lock", "barrier", "pool", "through", "in", "under", "when", "blocked", "spinning", "weak", "direct",
        "a", "b", "a|b", "*", "|", "[", "]", "[s]", "#", "queue", "work", "é",
    ]);
    prop::collection::vec(word, 0..7).prop_map(|words| words.join(" "))
}

fn rules() -> impl Strategy<Value = String> {
    let function = prop::sample::select(vec!["a", "b", "c", "d|e", "*"]);
    let rule = (
        prop::sample::select(vec!["lock", "barrier", "pool", "through", "work"]),
        function.clone(),
        prop::option::of(function),
        any::<[bool; 2]>(),
    );
    let line = rule.prop_map(|(class, function, under, [weak, direct])| {
        let mut line = format!("{class} {function}");
        if class != "through" {
            line.extend(under.map(|under| format!(" under {under}")));
            line.push_str(if weak { " weak" } else { "" });
            line.push_str(if direct { " direct" } else { "" });
        }
        line
    });
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

fn frames() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "e", "program"]), 1..8)
}

fn blocked(classes: &Classes, frames: &[&str]) -> State {
    let text = frames.iter().fold("@ path".to_owned(), |text, frame| format!("{text}\n{frame}\tapp"));
    let (profile, paths) = read(&text);
    classes.on(&profile).wait(paths[0].0, Nature::Futex)
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_its_line(text in prop_oneof![any::<String>(), "(?s).{0,200}"]) {
        if let Err(error) = empty().with("mine", &text) {
            let ClassError::Line { line, .. } = &error else { panic!("{error}") };
            prop_assert!((1..=text.lines().count()).contains(line));
            let begin = format!("mine:{line}: ");
            prop_assert!(error.to_string().starts_with(&begin));
        }
    }

    #[test]
    fn lines_of_the_right_words_are_read_or_refused(lines in prop::collection::vec(line(), 0..6)) {
        let _ = empty().with("mine", &lines.join("\n"));
    }

    /// A byte of the table is changed: it is read or refused, and with other rules the digest is another.
    #[test]
    fn the_table_with_a_flipped_byte(at in 0..STANDARD.len(), byte in any::<u8>()) {
        let mut bytes = STANDARD.as_bytes().to_vec();
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(classes) = empty().with("mine", &text) {
            let before = empty().with("mine", STANDARD).expect("the table");
            let same_rules = classes.rules.to_string() == before.rules.to_string();
            prop_assert_eq!(same_rules, classes.digest() == before.digest());
        }
    }

    /// Frames further out than a frame of the program change nothing.
    #[test]
    fn code_of_the_program_ends_the_search(
        rules in rules(), inner in frames(), one in frames(), other in frames(),
    ) {
        // A rule for `*` knows the program's functions, too.
        let rules = rules.replace('*', "a");
        let classes = empty().with("mine", &rules).expect("rules");
        let with = |outer: &[&'static str]| blocked(&classes, &[&inner[..], &["program"], outer].concat());
        prop_assert_eq!(with(&one), with(&other));
    }

    /// The search gives what the words of the guide say, read literally.
    #[test]
    fn as_the_guide_says(rules in rules(), frames in frames()) {
        let classes = empty().with("mine", &rules).expect("rules");
        prop_assert_eq!(blocked(&classes, &frames), literally(&rules, &frames));
    }
}

/// The guide's rules for rules, without sections and modules, in the most direct way.
fn literally(text: &str, frames: &[&str]) -> State {
    struct Line<'t> {
        class: &'t str,
        function: &'t str,
        under: Option<&'t str>,
        weak: bool,
        direct: bool,
    }
    let is = |pattern: &str, name: &str| pattern == "*" || pattern.split('|').any(|one| one == name);
    let lines: Vec<Line> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            Line {
                class: words[0],
                function: words[1],
                under: words.iter().position(|&word| word == "under").map(|at| words[at + 1]),
                weak: words.contains(&"weak"),
                direct: words.contains(&"direct"),
            }
        })
        .collect();
    let state =
        |line: &Line| empty().with("one", &format!("{} x", line.class)).map(|one| blocked(&one, &["x"]));
    let rules: Vec<&Line> = lines.iter().filter(|line| line.class != "through").collect();
    // Frame by frame: which rules hold there.
    let mut weak = None;
    for (at, frame) in frames.iter().enumerate() {
        let names = |line: &Line, frame: usize| {
            let anything_before =
                rules.iter().any(|rule| frames[..frame].iter().any(|inner| is(rule.function, inner)));
            is(line.function, frames[frame]) && !(line.direct && anything_before)
        };
        let holds = |line: &Line| match line.under {
            None => names(line, at),
            Some(under) => is(under, frame) && (0..at).any(|inner| names(line, inner)),
        };
        let here: Vec<&&Line> = rules.iter().filter(|line| holds(line)).collect();
        if let Some(line) = here.iter().find(|line| !line.weak) {
            return state(line).expect("a class");
        }
        if let Some(line) = here.first() {
            weak = Some(state(line).expect("a class"));
        }
        let named = rules.iter().any(|line| names(line, at)) || !here.is_empty();
        let through = lines.iter().any(|line| line.class == "through" && is(line.function, frame));
        if !named && !through {
            break;
        }
    }
    weak.unwrap_or(State::Passive(crate::ledger::PassiveReason::Futex))
}

#[test]
fn every_nature_in_a_context_without_rules_has_a_state() {
    let (profile, paths) = read("@ path\nmain\tapp");
    let classes = Classes::standard().on(&profile);
    for &nature in Nature::ALL {
        let _ = classes.wait(paths[0].0, nature);
    }
    assert_eq!(classes.spin(paths[0].0), None);
}
