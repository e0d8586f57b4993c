//! Arguments of templates and generic functions in names: `<float>` of `solve<float>`.
//!
//! Brackets also belong to operators (`operator<`), types (`<u8 as Clone>::clone`), lambdas and expressions
//! in parentheses; none of these are arguments.

use std::borrow::Cow;
use std::ops::Range;

/// Where the outermost argument lists of a name are, with their brackets. None in a name whose brackets do
/// not match: it is not understood.
pub fn lists(name: &str) -> Vec<Range<usize>> {
    let mut lists = Vec::new();
    let mut at = 0;
    // Brackets that are a part of the name itself, as those of `<u8 as Clone>`.
    let mut open = 0_usize;
    while at < name.len() {
        let Some(token) = token(name, at) else { return Vec::new() };
        match token {
            Token::Open if follows_a_name(name, at) => {
                let Some(end) = end_of_list(name, at) else { return Vec::new() };
                lists.push(at..end);
                at = end;
                continue;
            }
            Token::Open => open += 1,
            Token::Close if open == 0 => return Vec::new(),
            Token::Close => open -= 1,
            Token::Comma | Token::Text(_) => {}
        }
        at += token.bytes();
    }
    if open == 0 { lists } else { Vec::new() }
}

/// The name of all instances: `grid::solve` for `grid::solve<float>`, `operator<<` for `operator<< <char>`.
pub fn without(name: &str) -> Cow<'_, str> {
    if !name.contains('<') {
        return Cow::Borrowed(name);
    }
    let lists = lists(name);
    if lists.is_empty() {
        return Cow::Borrowed(name);
    }
    let mut bare = String::with_capacity(name.len());
    let mut from = 0;
    for list in lists {
        let before = &name[from..list.start];
        // Compilers keep a bracket off that of an operator by a blank.
        bare.push_str(before.strip_suffix("::").unwrap_or(before).trim_end_matches(' '));
        from = list.end;
    }
    bare.push_str(&name[from..]);
    Cow::Owned(bare)
}

/// The last part of a path, with its arguments: `solve<a::B>` of `grid::solve<a::B>`.
pub fn last_part(name: &str) -> &str {
    &name[parts(name).last().copied().unwrap_or(0)..]
}

/// A function's own name, without namespaces: `solve<a::B>` of `grid::solve<a::B>`. What has no name of its
/// own keeps the part before: `render::{closure}` of `app::render::{closure}`.
pub fn own_name(name: &str) -> &str {
    let is_name = |from: &&usize| {
        let part = &name[**from..];
        let is_word = part.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '~');
        is_word && !part.starts_with(OPERATOR)
    };
    &name[parts(name).iter().rev().find(is_name).copied().unwrap_or(0)..]
}

/// Where the parts of a path begin, the first excepted: behind each `::` that is in no brackets and opens
/// none.
fn parts(name: &str) -> Vec<usize> {
    let (mut begins, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    while at < name.len() {
        let Some(token) = token(name, at) else { return Vec::new() };
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => return Vec::new(),
            Token::Close => depth -= 1,
            Token::Comma | Token::Text(_) => {}
        }
        let rest = &name[at..];
        if depth == 0 && rest.starts_with("::") {
            at += "::".len();
            if !(name[at..].starts_with('<') && follows_a_name(name, at)) {
                begins.push(at);
            }
            continue;
        }
        at += token.bytes();
    }
    // A bracket that does not close is not understood.
    if depth == 0 { begins } else { Vec::new() }
}

/// The arguments of a list that [`lists`] found, without the blanks around them.
pub fn split(list: &str) -> Vec<&str> {
    let inside = list.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(list);
    let mut arguments = Vec::new();
    let (mut from, mut at, mut depth) = (0, 0, 0_usize);
    while at < inside.len() {
        let Some(token) = token(inside, at) else { break };
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                arguments.push(inside[from..at].trim());
                from = at + 1;
            }
            Token::Comma | Token::Text(_) => {}
        }
        at += token.bytes();
    }
    let last = inside[from..].trim();
    if !last.is_empty() || !arguments.is_empty() {
        arguments.push(last);
    }
    arguments
}

/// The comma that ends the name of a function at the begin of `text`: those between its arguments do not.
pub fn comma_behind(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    // Brackets that are not closed are those of an operator.
    text.find(',').filter(|_| depth > 0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Comma,
    /// So many bytes in which no bracket counts.
    Text(usize),
}

impl Token {
    fn bytes(self) -> usize {
        match self {
            Token::Open | Token::Close | Token::Comma => 1,
            Token::Text(bytes) => bytes,
        }
    }
}

/// What is at `at`. None in a group that does not end.
fn token(name: &str, at: usize) -> Option<Token> {
    let rest = &name[at..];
    Some(match rest.as_bytes()[0] {
        b'<' => Token::Open,
        b'>' => Token::Close,
        b',' => Token::Comma,
        b'-' if rest.starts_with("->") => Token::Text(2),
        // Parameters, expressions, `{lambda(int)#1}`, `[abi:cxx11]`.
        b'(' => Token::Text(group(rest, b'(', b')')?),
        b'{' => Token::Text(group(rest, b'{', b'}')?),
        b'[' => Token::Text(group(rest, b'[', b']')?),
        b'o' if rest.starts_with(OPERATOR) && !name[..at].ends_with(is_of_a_word) => {
            Token::Text(OPERATOR.len() + signs(&rest[OPERATOR.len()..]))
        }
        _ => Token::Text(rest.chars().next().map_or(1, char::len_utf8)),
    })
}

const OPERATOR: &str = "operator";

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Bytes of the signs behind `operator`.
fn signs(text: &str) -> usize {
    const WITH_BRACKETS: [&str; 11] = ["<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->"];
    match WITH_BRACKETS.iter().find(|known| text.starts_with(**known)) {
        // `operator<<int>` is `operator<` with an argument: otherwise a bracket closes that was not opened.
        Some(&"<<") if is_closed_once(&text[2..]) => 1,
        Some(known) => known.len(),
        None => usize::from(text.starts_with(['<', '>'])),
    }
}

/// Whether a bracket closes that was not opened.
fn is_closed_once(text: &str) -> bool {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 0 => return true,
            b'>' => depth -= 1,
            _ => {}
        }
    }
    false
}

fn group(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Whether a bracket at `at` opens a list: `name<`, `name::<`, `operator< <`.
fn follows_a_name(name: &str, at: usize) -> bool {
    /// How GCC writes types that have no name.
    const NAMELESS: [&str; 3] = ["<lambda", "<unnamed", "<anonymous"];
    let before = &name[..at];
    let is_word = before.ends_with(|c: char| is_of_a_word(c) || "})]".contains(c));
    let is_operator = || {
        let word = before.trim_end_matches(' ').trim_end_matches(|c: char| "<>=+-*/%^&|~!,".contains(c));
        word.len() < before.len() && word.ends_with(OPERATOR)
    };
    let is_turbofish =
        || before.ends_with("::") && !NAMELESS.iter().any(|nameless| name[at..].starts_with(nameless));
    is_word || is_operator() || is_turbofish()
}

/// Behind the bracket that closes the one at `at`.
fn end_of_list(name: &str, at: usize) -> Option<usize> {
    let (mut end, mut depth) = (at, 0_usize);
    while end < name.len() {
        let token = token(name, end)?;
        end += token.bytes();
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Comma | Token::Text(_) => {}
        }
        if depth == 0 {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instances_have_one_bare_name() {
        for (name, bare) in [
            ("solve<float>", "solve"),
            ("grid::solve<float, 3>", "grid::solve"),
            ("Grid<std::vector<int>>::solve<float>", "Grid::solve"),
            ("std::map<int, std::less<int> >::find", "std::map::find"),
            ("operator<", "operator<"),
            ("A::operator< <int>", "A::operator<"),
            ("operator<<int>", "operator<"),
            ("operator<< <char>", "operator<<"),
            ("operator<<<char>", "operator<<"),
            ("operator-><int>", "operator->"),
            ("operator>>", "operator>>"),
            ("operator<=><int>", "operator<=>"),
            ("F<int>::operator()<int>", "F::operator()"),
            ("operators<int>", "operators"),
            ("apply<&A::operator< >", "apply"),
            ("f<(1>2)>", "f"),
            ("f<((1)<(2))>::g", "f::g"),
            ("to_string[abi:cxx11]<int>", "to_string[abi:cxx11]"),
            (
                "main::{lambda(std::vector<int>)#1}::operator()",
                "main::{lambda(std::vector<int>)#1}::operator()",
            ),
            ("run<main::{lambda(auto:1)#1}>", "run"),
            ("(anonymous namespace)::f<int>", "(anonymous namespace)::f"),
            ("call<void (*)(std::vector<int>)>", "call"),
            ("core::mem::drop::<u8>", "core::mem::drop"),
            ("{closure#0}<(&u8, &u8), usize>", "{closure#0}"),
            ("<alloc::vec::Vec<u8> as Trait<u8>>::f", "<alloc::vec::Vec as Trait>::f"),
            ("apply::<fn(u8) -> Vec<u8>>", "apply"),
            ("main::<lambda(int)>", "main::<lambda(int)>"),
            ("<u64>::wrapping_add", "<u64>::wrapping_add"),
            ("broken<a", "broken<a"),
            ("broken>a", "broken>a"),
            ("f<(a>", "f<(a>"),
            ("main", "main"),
            ("", ""),
        ] {
            assert_eq!(without(name), bare, "{name}");
        }
    }

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        for (list, arguments) in [
            ("<int>", vec!["int"]),
            ("<int, std::pair<a, b> , f(c, d)>", vec!["int", "std::pair<a, b>", "f(c, d)"]),
            ("<>", vec![]),
            ("<A<operator,>, b>", vec!["A<operator,>", "b"]),
        ] {
            assert_eq!(split(list), arguments, "{list}");
        }
    }

    #[test]
    fn the_last_part_of_a_path_is_not_in_an_argument() {
        for (name, last) in [
            ("grid::solve<a::B>", "solve<a::B>"),
            ("Grid<a::B>::solve", "solve"),
            ("core::mem::drop::<u8>", "drop::<u8>"),
            ("main::{lambda(std::vector<int>)#1}::operator()", "operator()"),
            ("main::{lambda(std::vector<int>)#1}", "{lambda(std::vector<int>)#1}"),
            ("main", "main"),
        ] {
            assert_eq!(last_part(name), last);
        }
    }

    #[test]
    fn a_function_has_a_name_of_its_own() {
        for (long, short) in [
            ("std::sys::pal::unix::futex_wait", "futex_wait"),
            ("picture::(anonymous class)::operator()", "picture::(anonymous class)::operator()"),
            ("a::b::picture::{closure#1}::{closure#0}", "picture::{closure#1}::{closure#0}"),
            (
                "a::main::{lambda(std::vector<int>)#1}::operator()",
                "main::{lambda(std::vector<int>)#1}::operator()",
            ),
            ("<a::Long as b::Trait>::call", "call"),
            ("std::vector<a::b, c::d>::push_back", "push_back"),
            ("core::mem::drop::<u8>", "drop::<u8>"),
            ("std::operator<<", "std::operator<<"),
            ("a::Solver::~Solver", "~Solver"),
            ("a::broken<b::c", "a::broken<b::c"),
            ("line a.c:7", "line a.c:7"),
        ] {
            assert_eq!(own_name(long), short);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_left(name in "[<>a(){}\\[\\], :é-]{0,30}|operator[<>= a-]{0,9}") {
            let lists = lists(&name);
            for list in &lists {
                prop_assert!(name[list.clone()].starts_with('<') && name[list.clone()].ends_with('>'));
                let _ = split(&name[list.clone()]);
            }
            prop_assert!(lists.is_sorted_by(|a, b| a.end <= b.start));
            prop_assert!(without(&name).len() <= name.len() && last_part(&name).len() <= name.len());
            prop_assert!(own_name(&name).len() >= last_part(&name).len());
        }
    }
}
