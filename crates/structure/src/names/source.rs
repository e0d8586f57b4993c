//! Names as debug information writes them: one component for each entry.

use proust_words::arguments::without;

use super::Names;
use super::defaults::without_default_arguments;

/// How a language's short names treat arguments of functions and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// Two instances of a template are two functions.
    Kept,
    /// Rust's are left out, as they are of linker symbols.
    LeftOut,
}

impl Names {
    /// Of a function by the components of its path, outermost first.
    pub(crate) fn of_components(components: &[&str], arguments: Arguments) -> Names {
        let joined = |written: &dyn Fn(&str) -> String| {
            let components: Vec<String> = components.iter().map(|component| written(component)).collect();
            components.join("::")
        };
        let full = joined(&lambda_as_linkers_write_it);
        let short = match arguments {
            Arguments::Kept => without_default_arguments(&full),
            Arguments::LeftOut => joined(&|component| without(component).into_owned()),
        };
        Names { short, full }
    }
}

/// GCC's debug information writes `<lambda(int)>` where a linker symbol says `{lambda(int)#1}`.
fn lambda_as_linkers_write_it(name: &str) -> String {
    match name.strip_prefix("<lambda").and_then(|rest| rest.strip_suffix('>')) {
        Some(parameters) => format!("{{lambda{parameters}}}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_a_program_chose_stay() {
        for (components, short) in [
            (&["geometry", "Box<int>", "scaled<double>"][..], "geometry::Box<int>::scaled<double>"),
            (&["std", "vector<int, std::allocator<int> >", "push_back"], "std::vector<int>::push_back"),
            (
                &[
                    "std",
                    "__cxx11",
                    "basic_string<char, std::char_traits<char>, std::allocator<char> >",
                    "size",
                ],
                "std::string::size",
            ),
            (&["std", "set<int, Less, std::allocator<int> >", "find"], "std::set<int, Less>::find"),
            (&["my", "vector<int, std::allocator<int> >", "at"], "my::vector<int, std::allocator<int>>::at"),
            (&["main", "<lambda(int)>", "operator()<int>"], "main::{lambda(int)}::operator()<int>"),
        ] {
            assert_eq!(Names::of_components(components, Arguments::Kept).short, short);
        }
        let rust = Names::of_components(&["core", "mem", "drop<u8>"], Arguments::LeftOut);
        assert_eq!((rust.short.as_str(), rust.full.as_str()), ("core::mem::drop", "core::mem::drop<u8>"));
    }
}
