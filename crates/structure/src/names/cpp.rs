//! C++ names, shortened along the structure the demangler reports rather than by looking for brackets.

use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleNodeType, DemangleOptions, DemangleWrite, Symbol};

use super::Names;

/// A few bytes of a mangled name can expand to megabytes.
const LONGEST_NAME_BYTES: usize = 64 * 1024;

pub(super) fn demangle(mangled: &str) -> Option<Names> {
    let symbol = Symbol::new(mangled.as_bytes()).ok()?;
    let mut full = FullName::default();
    symbol.structured_demangle(&mut full, &DemangleOptions::new()).ok()?;
    let short = short(&symbol).filter(|short| !short.is_empty()).unwrap_or_else(|| full.text.clone());
    Some(Names { short, full: full.text })
}

fn short(symbol: &BorrowedSymbol<'_>) -> Option<String> {
    let mut short = ShortName::default();
    symbol.structured_demangle(&mut short, &DemangleOptions::new().no_params().no_return_type()).ok()?;
    Some(without_enclosing_parameters(&short.text))
}

#[derive(Default)]
struct FullName {
    text: String,
}

impl DemangleWrite for FullName {
    fn write_string(&mut self, piece: &str) -> fmt::Result {
        if self.text.len() + piece.len() > LONGEST_NAME_BYTES {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

/// Leaves out template arguments, except where they are part of an unqualified name itself: the target type
/// of a conversion operator, the parameters that identify a lambda.
#[derive(Default)]
struct ShortName {
    text: String,
    written_bytes: usize,
    nodes: Vec<DemangleNodeType>,
    /// Depth of `nodes` at which the arguments being left out began.
    leaving_out_from: Option<usize>,
    closing_bracket_follows: bool,
}

impl DemangleWrite for ShortName {
    fn push_demangle_node(&mut self, node: DemangleNodeType) {
        if node == DemangleNodeType::TemplateArgs
            && self.leaving_out_from.is_none()
            && !self.nodes.contains(&DemangleNodeType::UnqualifiedName)
        {
            // The demangler opens the bracket before it announces what is in it, with a space after
            // `operator<`.
            if self.text.ends_with('<') {
                self.text.pop();
            }
            if self.text.ends_with(' ') {
                self.text.pop();
            }
            self.leaving_out_from = Some(self.nodes.len());
        }
        self.nodes.push(node);
    }

    fn write_string(&mut self, piece: &str) -> fmt::Result {
        self.written_bytes += piece.len();
        if self.written_bytes > LONGEST_NAME_BYTES {
            return Err(fmt::Error);
        }
        if self.leaving_out_from.is_some() {
            return Ok(());
        }
        let mut piece = piece;
        if std::mem::take(&mut self.closing_bracket_follows) {
            piece = piece.strip_prefix('>').unwrap_or(piece);
        }
        self.text.push_str(piece);
        Ok(())
    }

    fn pop_demangle_node(&mut self) {
        self.nodes.pop();
        if self.leaving_out_from == Some(self.nodes.len()) {
            self.leaving_out_from = None;
            self.closing_bracket_follows = true;
        }
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
