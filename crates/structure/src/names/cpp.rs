//! C++ names. The short one keeps template arguments, since two instances are two functions.

use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite, Symbol};

use super::Names;
use super::defaults::{around_lists, without_default_arguments};

/// A few bytes of a mangled name can expand to megabytes.
const LONGEST_NAME_BYTES: usize = 64 * 1024;

pub(super) fn demangle(mangled: &str) -> Option<Names> {
    let symbol = Symbol::new(mangled.as_bytes()).ok()?;
    let mut full = Name::default();
    symbol.structured_demangle(&mut full, &DemangleOptions::new()).ok()?;
    let short = short(&symbol).filter(|short| !short.is_empty()).unwrap_or_else(|| full.text.clone());
    Some(Names { short, full: full.text })
}

fn short(symbol: &BorrowedSymbol<'_>) -> Option<String> {
    let mut short = Name::default();
    symbol.structured_demangle(&mut short, &DemangleOptions::new().no_params().no_return_type()).ok()?;
    Some(without_default_arguments(&around_lists(&short.text, without_enclosing_parameters)))
}

#[derive(Default)]
struct Name {
    text: String,
}

impl DemangleWrite for Name {
    fn write_string(&mut self, piece: &str) -> fmt::Result {
        if self.text.len() + piece.len() > LONGEST_NAME_BYTES {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

/// Removes the parameters that the demangler always writes for a function that encloses a local name, as in
/// `solve(int)::{lambda()#1}::operator()() const`. `operator()`, `(anonymous namespace)` and everything in
/// braces stay.
fn without_enclosing_parameters(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    let mut braces = 0usize;
    while let Some(c) = rest.chars().next() {
        match c {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '(' if braces == 0 => {
                let Some(group) = balanced_group(rest) else { break };
                let after = &rest[group.len()..];
                let opens_a_component = kept.is_empty() || kept.ends_with([':', ' ']);
                let is_call_operator = group == "()" && ends_with_word(&kept, "operator");
                if opens_a_component || is_call_operator {
                    kept.push_str(group);
                }
                rest = if opens_a_component { after } else { without_qualifiers(after) };
                continue;
            }
            _ => {}
        }
        kept.push(c);
        rest = &rest[c.len_utf8()..];
    }
    kept.push_str(rest);
    if !kept.contains("operator ") {
        let bare = trailing_qualifiers_removed(&kept).len();
        kept.truncate(bare);
    }
    kept
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with(':'))
}

/// The text from its opening parenthesis to the matching one.
fn balanced_group(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

const QUALIFIERS: [&str; 4] = [" const", " volatile", " &&", " &"];

/// Skips the qualifiers of a member function, which follow its parameters and end its component.
fn without_qualifiers(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = QUALIFIERS.iter().find_map(|q| rest.strip_prefix(q)) {
        rest = shorter;
    }
    if rest.is_empty() || rest.starts_with("::") { rest } else { text }
}

fn trailing_qualifiers_removed(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = QUALIFIERS.iter().find_map(|q| rest.strip_suffix(q)) {
        rest = shorter;
    }
    rest
}
