//! What a function is called in every build of a program: its name without the parts that a compiler or a
//! linker adds by chance.

use rustc_hash::FxHashMap;

/// Position of a text in a [`Texts`]; 0 is the empty text.
pub(super) type TextId = u32;

/// Texts, each once.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    all: Vec<Box<str>>,
    known: FxHashMap<Box<str>, TextId>,
}

impl Default for Texts {
    fn default() -> Texts {
        let mut texts = Texts { all: Vec::new(), known: FxHashMap::default() };
        texts.id("");
        texts
    }
}

impl Texts {
    pub fn id(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.known.get(text) {
            return id;
        }
        let id = self.all.len() as TextId;
        self.all.push(text.into());
        self.known.insert(text.into(), id);
        id
    }

    pub fn get(&self, id: TextId) -> &str {
        &self.all[id as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(AsRef::as_ref)
    }
}

/// A function's name, and what distinguishes it from others of that name within its caller.
///
/// A function without a symbol is called by its module and its offset there: the offset is another one in
/// each build, so it only orders. So does the number that a compiler gives to what it cuts out of a function
/// (`solve._omp_fn.1`).
pub(super) fn stable(name: &str) -> (&str, u64) {
    if let Some((module, offset)) = name.rsplit_once("+0x")
        && let Ok(offset) = u64::from_str_radix(offset, 16)
    {
        return (module, offset);
    }
    if let Some((rest, number)) = name.rsplit_once('.')
        && !rest.is_empty()
        && let Ok(number) = number.parse()
    {
        return (rest, number);
    }
    (name, 0)
}

/// The file's name without its folder: a build in another folder is the same source.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_compilers_and_linkers_only_order() {
        assert_eq!(stable("solve"), ("solve", 0));
        assert_eq!(stable("solve._omp_fn.1"), ("solve._omp_fn", 1));
        assert_eq!(stable("libm.so.6+0x1f40"), ("libm.so.6", 0x1f40));
        assert_eq!(stable("operator+"), ("operator+", 0));
        assert_eq!(stable(".5"), (".5", 0));
        assert_eq!(base_name("/home/me/a.c"), "a.c");
    }
}
