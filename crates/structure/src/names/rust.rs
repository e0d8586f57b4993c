//! Rust names, shortened: `<alloc::vec::Vec as core::clone::Clone>::clone` for
//! `<alloc::vec::Vec<u8> as core::clone::Clone>::clone`.

use super::Names;

pub(super) fn demangle(mangled: &str) -> Option<Names> {
    let full = format!("{:#}", rustc_demangle::try_demangle(mangled).ok()?);
    Some(Names { short: without_generic_arguments(&full), full })
}

/// The name without generic arguments. Brackets at the begin of a path name a type or an implementation
/// (`<T as Trait>::f`) and stay; those behind a name are its arguments and go, with the `::` before them.
pub(crate) fn without_generic_arguments(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut skipped_depth = 0_u32;
    let mut previous = ' ';
    for c in name.chars() {
        let is_arrow = c == '>' && previous == '-';
        previous = c;
        if skipped_depth > 0 {
            match c {
                '<' => skipped_depth += 1,
                '>' if !is_arrow => skipped_depth -= 1,
                _ => {}
            }
            continue;
        }
        let follows_name = short.ends_with(|c: char| c.is_alphanumeric() || "_})]".contains(c));
        if c == '<' && (follows_name || short.ends_with("::")) {
            if short.ends_with("::") {
                short.truncate(short.len() - 2);
            }
            skipped_depth = 1;
            continue;
        }
        short.push(c);
    }
    if skipped_depth > 0 {
        // Brackets that do not close: not a name that this function understands.
        return name.to_owned();
    }
    short
}

#[cfg(test)]
mod tests {
    use super::without_generic_arguments;

    #[test]
    fn arguments_go_and_types_stay() {
        for (full, short) in [
            ("core::mem::drop::<alloc::vec::Vec<u8>>", "core::mem::drop"),
            ("core::mem::drop<alloc::vec::Vec<u8>>", "core::mem::drop"),
            ("<alloc::vec::Vec<T> as FromIter<T,I>>::from_iter", "<alloc::vec::Vec as FromIter>::from_iter"),
            ("<alloc::boxed::Box<dyn Fn<()> + Send>>::call", "<alloc::boxed::Box>::call"),
            ("<&mut F as core::ops::FnOnce<(A,)>>::call_once", "<&mut F as core::ops::FnOnce>::call_once"),
            ("<fn(u8) -> u8 as Trait<u8>>::f", "<fn(u8) -> u8 as Trait>::f"),
            ("{closure#0}<(&u8, &u8), usize>", "{closure#0}"),
            ("a::b::{closure#1}::<u8>::c", "a::b::{closure#1}::c"),
            ("<u64>::wrapping_add", "<u64>::wrapping_add"),
            ("<[T]>::sort::<F>", "<[T]>::sort"),
            ("apply::<fn(u8) -> Vec<u8>>", "apply"),
            ("FnOnce::call_once{{vtable.shim}}", "FnOnce::call_once{{vtable.shim}}"),
            ("broken<a", "broken<a"),
            ("main", "main"),
            ("", ""),
        ] {
            assert_eq!(without_generic_arguments(full), short, "{full}");
        }
    }
}
