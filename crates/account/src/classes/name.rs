//! Names as rules see them: one form for what compilers write in several.

use std::borrow::Cow;

use proust_words::arguments::without;

/// The plain path of a function's short name.
///
/// Rust writes a method as `<std::sync::barrier::Barrier>::wait` or as `std::sync::barrier::Barrier::wait`,
/// by the mangling its crate was built with, and a trait's as `<X as Trait>::f`; here it is the path of the
/// type, or of the trait where the type is the language's own, and the function's name. A closure belongs to
/// the function it is written in. All instances of a template are one.
pub(super) fn plain(name: &str) -> Cow<'_, str> {
    let name = without(name);
    if !name.starts_with('<') && !name.contains('{') {
        return name;
    }
    Cow::Owned(without_closures(&unwrapped(&name, MAX_NESTING)))
}

/// Deeper ones are left as they are.
const MAX_NESTING: usize = 16;

fn unwrapped(name: &str, nesting: usize) -> String {
    let Some((inside, after)) = split_brackets(name).filter(|_| nesting > 0) else {
        return name.to_owned();
    };
    let (own_type, of_trait) = split_as(inside);
    let own_type = own_type.trim_start_matches(['&', '*', '(']);
    let own_type =
        ["const ", "mut ", "dyn "].iter().fold(own_type, |rest, word| rest.trim_start_matches(word));
    // Of `dyn A + B` the first says what it is.
    let own_type = own_type.split_once(" + ").map_or(own_type, |(first, _)| first);
    // `i32` belongs to no crate: the function is the trait's.
    let owner = of_trait.filter(|_| !own_type.contains("::")).unwrap_or(own_type);
    unwrapped(owner, nesting - 1) + after
}

/// What is inside the pair of angle brackets that a name begins with, and what follows it.
fn split_brackets(name: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, character) in name.strip_prefix('<')?.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if name[..=at].ends_with('-') => {} // an arrow
            '>' if depth == 0 => return Some((&name[1..=at], &name[at + 2..])),
            '>' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Type and trait of `TYPE as TRAIT`.
fn split_as(inside: &str) -> (&str, Option<&str>) {
    const AS: &str = " as ";
    let mut depth = 0_usize;
    for (at, character) in inside.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inside[at..].starts_with(AS) => {
                return (&inside[..at], Some(&inside[at + AS.len()..]));
            }
            _ => {}
        }
    }
    (inside, None)
}

/// Without `::{{closure}}`, `::{closure#0}`, `{{vtable.shim}}` and the like.
fn without_closures(name: &str) -> String {
    const MARKS: [&str; 6] = ["{{closure", "{closure", "{{vtable.shim", "{shim:", "{{shim", "{{reify"];
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = MARKS.iter().filter_map(|mark| rest.find(mark)).min() {
        plain.push_str(rest[..at].trim_end_matches("::"));
        let Some(length) = rest[at..].find('}') else {
            return name.to_owned();
        };
        rest = rest[at + length..].trim_start_matches('}');
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_manglings_of_rust_are_one() {
        let same = [
            (
                "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
                "std::sys::sync::mutex::futex::Mutex::lock_contended",
            ),
            ("<i32 as core::cmp::PartialOrd>::lt", "core::cmp::PartialOrd::lt"),
            ("std::sync::mpmc::list::Channel::recv::{{closure}}", "std::sync::mpmc::list::Channel::recv"),
            ("std::rt::lang_start_internal::{closure#0}", "std::rt::lang_start_internal"),
            ("rustwaits::main::{{closure}}::{{closure}}", "rustwaits::main"),
            (
                "<rayon_core::job::StackJob as rayon_core::job::Job>::execute",
                "rayon_core::job::StackJob::execute",
            ),
            ("<alloc::boxed::Box as core::ops::function::FnOnce>::call_once", "alloc::boxed::Box::call_once"),
            (
                "<&dyn core::ops::function::Fn + core::marker::Sync as \
                 core::ops::function::FnOnce>::call_once",
                "core::ops::function::Fn::call_once",
            ),
            (
                "<<rayon::iter::len::MaxLen as \
                 rayon::iter::IndexedParallelIterator>::with_producer::Callback as \
                 rayon::iter::plumbing::ProducerCallback>::callback",
                "rayon::iter::len::MaxLen::with_producer::Callback::callback",
            ),
            (
                "core::ops::function::FnOnce::call_once{{vtable.shim}}",
                "core::ops::function::FnOnce::call_once",
            ),
            (
                "<std::sys::thread::unix::Thread>::new::thread_start",
                "std::sys::thread::unix::Thread::new::thread_start",
            ),
            ("std::counting_semaphore<1l>::acquire", "std::counting_semaphore::acquire"),
            (
                "std::condition_variable_any::wait<std::unique_lock<std::mutex>>",
                "std::condition_variable_any::wait",
            ),
        ];
        for (written, expected) in same {
            assert_eq!(plain(written), expected);
        }
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for name in
            ["take_gil", "operator<", "operator<<", "main::{lambda()#1}::operator()", "<unfinished", "a{b"]
        {
            assert_eq!(plain(name), name);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_plain_form(name in "[<>&a {}:*#\\-é(sclosure)]{0,40}") {
            let _ = plain(&name);
        }
    }
}
