//! Suffixes by which a compiler distinguishes its copies and pieces of one function.

/// Pieces and copies whose time belongs to the function of the source. OpenMP's outlined regions
/// (`._omp_fn.0`), multi-versioned functions (`.avx2`) and resolvers are functions of their own.
const CLONE_WORDS: [&str; 12] = [
    "isra",
    "constprop",
    "part",
    "cold",
    "warm",
    "clone",
    "llvm",
    "lto_priv",
    "localalias",
    "specialized",
    "__uniq",
    "exit",
];

/// The linker symbol without the suffixes of compiler clones: `foo` for `foo.isra.0.cold`. Suffixes that make
/// another function of it stay.
pub fn without_clone_suffix(name: &str) -> &str {
    let mut rest = name;
    while let Some(shorter) = without_last_clone_suffix(rest) {
        rest = shorter;
    }
    // A number alone is how compilers keep local functions of one name apart (`inner.0`), unless a word
    // before it gives the number a meaning of its own (`._omp_fn.0`).
    match rest.rsplit_once('.') {
        Some((base, number)) if is_number(number) && is_plain(base) => base,
        _ => rest,
    }
}

fn without_last_clone_suffix(name: &str) -> Option<&str> {
    let (head, last) = name.rsplit_once('.')?;
    let base = if is_number(last) || is_hash(last) {
        let (base, word) = head.rsplit_once('.')?;
        CLONE_WORDS.contains(&word).then_some(base)?
    } else {
        CLONE_WORDS.contains(&last).then_some(head)?
    };
    (!base.is_empty()).then_some(base)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_hash(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains('.')
}
