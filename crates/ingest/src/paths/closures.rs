//! Closures and lambdas: their names contain that of the function in which they are written.

/// How compilers and demanglers write a closure behind the function's name: Rust's two forms, Clang's,
/// GCC's, that of debug information, and that of LLVM's demangler.
const CLOSURES: [&str; 7] =
    ["::{closure", "::{{closure", "::{lambda", "::<lambda", "::(anonymous class)", "::'lambda", "::$_"];

/// The function that a closure is written in, which may be a closure itself; None of any other function.
pub(super) fn written_in(name: &str) -> Option<&str> {
    let at = CLOSURES.iter().filter_map(|closure| name.rfind(closure)).max()?;
    let (owner, rest) = name.split_at(at);
    let is_of_rust = rest.starts_with("::{closure") || rest.starts_with("::{{closure");
    // Of the closure itself, not of a function in it.
    let is_itself = match is_of_rust {
        true => rest.ends_with('}'),
        false => rest.contains("::operator()"),
    };
    (is_itself && !owner.is_empty()).then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::written_in;

    #[test]
    fn a_closures_name_has_the_function_that_it_is_written_in() {
        for (name, owner) in [
            ("app::render::{{closure}}", Some("app::render")),
            ("app::render::{closure#0}", Some("app::render")),
            ("app::render::{closure#0}::{closure#1}", Some("app::render::{closure#0}")),
            ("<app::Scene as app::Draw>::draw::{{closure}}", Some("<app::Scene as app::Draw>::draw")),
            ("render::(anonymous class)::operator()", Some("render")),
            ("render::{lambda(int)#1}::operator()", Some("render")),
            ("render::<lambda(int)>::operator()", Some("render")),
            ("render<float>::{lambda(int)#1}::operator()", Some("render<float>")),
            ("render::$_0::operator()", Some("render")),
            (
                "render::{lambda()#1}::operator()::{lambda(int)#2}::operator()",
                Some("render::{lambda()#1}::operator()"),
            ),
            ("app::render::{closure#0}::inner", None),
            ("(anonymous class)::operator()", None),
            ("{closure#0}", None),
            ("Body::operator()", None),
            ("main", None),
        ] {
            assert_eq!(written_in(name), owner, "{name}");
        }
    }
}
