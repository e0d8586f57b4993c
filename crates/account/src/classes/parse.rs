//! From text to rules.

use super::class::Class;
use super::error::{ClassError, Problem};
use super::pattern::Patterns;
use super::rule::{EVERYWHERE, Functions, Origin, Rule, Rules, SectionId, Service, Strength, Through, When};
use proust_words::nearest::nearest;

/// The word that begins a line about frames to pass.
const THROUGH: &str = "through";
/// The word that begins a line about a runtime's own threads, and the one before threads' names.
const SERVICE: &str = "service";
const NAMED: &str = "named";
/// What may follow a function.
const CLAUSES: [&str; 5] = ["in", "under", "when", "weak", "direct"];

/// Adds the rules in `text` to `rules`; in what was added before an error, rules may be missing.
pub(super) fn parse(file: &str, text: &str, origin: Origin, rules: &mut Rules) -> Result<(), ClassError> {
    let mut section = EVERYWHERE;
    for (position, line) in text.lines().enumerate() {
        read_line(without_comment(line), origin, &mut section, rules)
            .map_err(|problem| ClassError::Line { file: file.to_owned(), line: position + 1, problem })?;
    }
    Ok(())
}

/// A `#` begins a comment at the beginning of a line or after a blank: names have it inside (`{lambda()#1}`).
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').map(|(at, _)| at).find(|&at| begins(at));
    line[..comment.unwrap_or(line.len())].trim()
}

fn read_line(line: &str, origin: Origin, section: &mut SectionId, rules: &mut Rules) -> Result<(), Problem> {
    if line.starts_with('[') {
        let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::trim);
        let name = name.filter(|name| !name.is_empty() && !name.contains(['[', ']']));
        *section = rules.section(name.ok_or_else(|| Problem::Header { text: line.to_owned() })?);
        return Ok(());
    }
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else {
        return Ok(());
    };
    let class = Class::from_word(first);
    if first == SERVICE {
        rules.services.push(service(words)?);
        return Ok(());
    }
    if class.is_none() && first != THROUGH {
        let known = Class::words();
        let nearest =
            nearest(first, known.into_iter().chain([THROUGH, SERVICE]), 1).first().map(|&word| word.into());
        return Err(Problem::UnknownClass { word: first.to_owned(), nearest });
    }
    let names = words.next().ok_or_else(|| Problem::NoFunction { word: first.to_owned() })?;
    let names = patterns(names)?;
    let clauses = Clauses::read(words)?;
    match class {
        Some(class) => rules.rules.push(Rule {
            class,
            functions: Functions { names, modules: clauses.modules },
            under: clauses.under,
            when: clauses.when,
            strength: if clauses.weak { Strength::Weak } else { Strength::Final },
            direct: clauses.direct,
            section: *section,
            origin,
        }),
        None => {
            rules.through.push(Through { functions: only_in(THROUGH, names, clauses)?, section: *section });
        }
    }
    Ok(())
}

/// `service FUNCTION [in MODULE]`, or `service named THREAD [in MODULE]`.
fn service<'t>(mut words: impl Iterator<Item = &'t str>) -> Result<Service, Problem> {
    let missing = || Problem::NoFunction { word: SERVICE.to_owned() };
    let first = words.next().ok_or_else(missing)?;
    let is_named = first == NAMED;
    let names = match is_named {
        true => words.next().ok_or(Problem::Unfinished { word: NAMED, what: "a thread's name" })?,
        false => first,
    };
    let names = patterns(names)?;
    let clauses = Clauses::read(words)?;
    let of = only_in(SERVICE, names, clauses)?;
    Ok(if is_named { Service::Named(of) } else { Service::Start(of) })
}

/// Functions, or threads, of a line in which nothing but `in MODULE` may follow.
fn only_in(line: &'static str, names: Patterns, clauses: Clauses) -> Result<Functions, Problem> {
    let others = [
        ("under", clauses.under.is_some()),
        ("when", clauses.when.is_some()),
        ("weak", clauses.weak),
        ("direct", clauses.direct),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((word, _)) => Err(Problem::OnlyIn { line, word }),
        None => Ok(Functions { names, modules: clauses.modules }),
    }
}

/// What follows the function.
#[derive(Default)]
struct Clauses {
    modules: Option<Patterns>,
    under: Option<Patterns>,
    when: Option<When>,
    weak: bool,
    direct: bool,
}

impl Clauses {
    fn read<'t>(mut words: impl Iterator<Item = &'t str>) -> Result<Clauses, Problem> {
        let mut clauses = Clauses::default();
        while let Some(word) = words.next() {
            match word {
                "in" => {
                    let text = words.next().ok_or(Problem::Unfinished { word: "in", what: "a module" })?;
                    once("in", clauses.modules.replace(patterns(text)?).is_none())?;
                }
                "under" => {
                    let text =
                        words.next().ok_or(Problem::Unfinished { word: "under", what: "a function" })?;
                    once("under", clauses.under.replace(patterns(text)?).is_none())?;
                }
                "when" => {
                    let what = "'blocked', 'spinning' or a kind of operation";
                    let text = words.next().ok_or(Problem::Unfinished { word: "when", what })?;
                    once("when", clauses.when.replace(when(text)?).is_none())?;
                }
                "weak" => once("weak", !std::mem::replace(&mut clauses.weak, true))?,
                "direct" => once("direct", !std::mem::replace(&mut clauses.direct, true))?,
                other => {
                    let nearest = nearest(other, CLAUSES, 1).first().map(|&word| word.to_owned());
                    return Err(Problem::UnknownWord { word: other.to_owned(), nearest });
                }
            }
        }
        Ok(clauses)
    }
}

fn once(word: &'static str, first_time: bool) -> Result<(), Problem> {
    if first_time { Ok(()) } else { Err(Problem::Twice { word }) }
}

fn patterns(text: &str) -> Result<Patterns, Problem> {
    Patterns::new(text).ok_or_else(|| Problem::EmptyAlternative { pattern: text.to_owned() })
}

fn when(word: &str) -> Result<When, Problem> {
    When::from_word(word).ok_or_else(|| Problem::UnknownMoment { word: word.to_owned() })
}
