//! The hooks as text, one line each, in the section `.proust.hooks` of the built library.
//!
//! A line's fields are separated by tabs: name, family (the module that declares it), how the real function
//! is found (`next`, `optional`, `caller`) with the version that this needs after a space, what is returned
//! where there is none, the result's type, and the arguments: `name: type as grammar(parameter …);` for each.
//! Types are those of Rust's `libc`. Lines are in the linker's order. The section is read from the file:
//! nothing in the library uses it.

/// Puts the text made of these pieces into the section.
macro_rules! line {
    ($($piece:expr),* $(,)?) => {
        const TEXT: &[u8] = concat!($($piece),*).as_bytes();
        #[used]
        #[unsafe(link_section = ".proust.hooks")]
        static LINE: [u8; $crate::interpose::registry::tidy_bytes(TEXT)] =
            $crate::interpose::registry::tidy(TEXT);
    };
}
pub(crate) use line;

/// The field *found*.
macro_rules! found {
    () => {
        "next"
    };
    (since($version:literal)) => {
        concat!("optional GLIBC_", $version)
    };
    (caller) => {
        "caller"
    };
    (caller($version:literal)) => {
        concat!("caller ", $version)
    };
}
pub(crate) use found;

/// Whether the byte there is a space that only the compiler's way of writing types down has put in.
const fn is_stray(text: &[u8], at: usize) -> bool {
    text[at] == b' '
        && (at + 1 < text.len() && matches!(text[at + 1], b')' | b',' | b'\t' | b'\n' | b' ')
            || at > 0 && matches!(text[at - 1], b'*' | b'-' | b'&' | b'(' | b'\t'))
}

/// Bytes of [`tidy`].
pub const fn tidy_bytes(text: &[u8]) -> usize {
    let (mut at, mut bytes) = (0, 0);
    while at < text.len() {
        if !is_stray(text, at) {
            bytes += 1;
        }
        at += 1;
    }
    bytes
}

/// The text without spaces that mean nothing: how many the compiler puts into a type depends on the macros it
/// passed through.
pub const fn tidy<const BYTES: usize>(text: &[u8]) -> [u8; BYTES] {
    let mut tidied = [0; BYTES];
    let (mut at, mut bytes) = (0, 0);
    while at < text.len() {
        if !is_stray(text, at) {
            tidied[bytes] = text[at];
            bytes += 1;
        }
        at += 1;
    }
    tidied
}
