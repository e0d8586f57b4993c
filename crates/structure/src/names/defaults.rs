//! Template arguments as people write them: without those of the standard library that nobody chose.
//!
//! `std::map<int, std::string>::find` for `std::map<int, std::__cxx11::basic_string<char,
//! std::char_traits<char>, std::allocator<char> >, std::less<int>, std::allocator<…> >::find`. What is left
//! out follows from what stays, so two instances keep two names.

use proust_words::arguments::{lists, split};

/// Arguments nested deeper are left as they are.
const MAX_NESTING: usize = 64;

/// Templates of the standard library that take a default made of their first argument.
const OF_THE_FIRST: [&str; 5] =
    ["std::char_traits", "std::less", "std::hash", "std::equal_to", "std::default_delete"];

/// The name with its argument lists shortened.
pub(super) fn without_default_arguments(name: &str) -> String {
    shortened(name, MAX_NESTING)
}

/// The name as `change` makes it of what is around its argument lists, which stay as they are.
pub(super) fn around_lists(name: &str, change: impl Fn(&str) -> String) -> String {
    /// Stands for a list; it is in no name.
    const ASIDE: char = '\u{1}';
    let lists = lists(name);
    if lists.is_empty() || name.contains(ASIDE) {
        return change(name);
    }
    let mut aside = String::with_capacity(name.len());
    let mut from = 0;
    for list in &lists {
        aside.push_str(&name[from..list.start]);
        aside.push(ASIDE);
        from = list.end;
    }
    aside.push_str(&name[from..]);
    let changed = change(&aside);
    let mut lists = lists.into_iter();
    let mut whole = String::with_capacity(name.len());
    for character in changed.chars() {
        match character {
            ASIDE => whole.push_str(lists.next().map_or("", |list| &name[list])),
            _ => whole.push(character),
        }
    }
    whole
}

fn shortened(name: &str, nesting: usize) -> String {
    let lists = lists(name);
    if lists.is_empty() || nesting == 0 {
        return name.to_owned();
    }
    let mut short = String::with_capacity(name.len());
    let mut from = 0;
    for list in lists {
        short.push_str(&name[from..list.start]);
        from = list.end;
        let mut arguments: Vec<String> =
            split(&name[list]).into_iter().map(|argument| shortened(argument, nesting - 1)).collect();
        if is_of_the_standard_library(&short) {
            while let Some((last, others)) = arguments.split_last()
                && is_default(last, others)
            {
                arguments.pop();
            }
        }
        if let [character] = arguments.as_slice()
            && let Some(string) = string_of(character, &short)
        {
            short = string;
            continue;
        }
        short.push('<');
        short.push_str(&arguments.join(", "));
        short.push('>');
    }
    short.push_str(&name[from..]);
    short
}

/// Of a name up to a list.
fn is_of_the_standard_library(before: &str) -> bool {
    // `void std::sort`: of the full name the last word.
    let word = before.rfind([' ', '&', '*']).map_or(before, |at| &before[at + 1..]);
    word.starts_with("std::") || word.starts_with("__gnu_cxx::")
}

/// Whether an argument is what the library takes where a program gives none.
fn is_default(argument: &str, others: &[String]) -> bool {
    let Some(first) = others.first() else { return false };
    // Containers must allocate by an allocator of their own elements, so of what is no question.
    if argument.starts_with("std::allocator<") && argument.ends_with('>') {
        return true;
    }
    OF_THE_FIRST.iter().any(|template| {
        argument
            .strip_prefix(template)
            .and_then(|rest| rest.strip_prefix('<'))
            .and_then(|rest| rest.strip_suffix('>'))
            .is_some_and(|of| of == first)
    })
}

/// The name up to a list with one argument, where the list makes it a string.
fn string_of(character: &str, before: &str) -> Option<String> {
    let string = match character {
        "char" => "string",
        "wchar_t" => "wstring",
        _ => return None,
    };
    for library in ["std::__cxx11::basic_string", "std::basic_string", "std::__1::basic_string"] {
        if let Some(front) = before.strip_suffix(library)
            && !front.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        {
            return Some(format!("{front}std::{string}"));
        }
    }
    None
}
