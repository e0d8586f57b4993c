//! Functions of which a linker keeps one, since their code is the same (`--icf`), or a compiler (LLVM's
//! merging of functions): each of them executes there, so the code has all their names.

use super::names::Names;

/// So many names are written out.
const NAMED: usize = 4;
/// Between two names of one function.
const SAME: &str = " = ";

/// The names of a function, with those of the others that begin where it does.
///
/// In C, one function often has several names (`memcpy`, `__memcpy`), which says nothing. In C++ and Rust
/// they are names of different functions.
pub(crate) fn with_folded(own: Names, symbols: &[String]) -> Names {
    let is_mangled = |symbol: &&String| symbol.starts_with("_Z") || symbol.starts_with("_R");
    let mut all = vec![own];
    for symbol in symbols.iter().filter(is_mangled) {
        let names = Names::of_symbol(symbol);
        // Constructors have two symbols of one name.
        if !all.iter().any(|known| known.full == names.full) {
            all.push(names);
        }
    }
    if all.len() == 1 || !symbols.iter().any(|symbol| Names::of_symbol(symbol).full == all[0].full) {
        return all.swap_remove(0);
    }
    let full = joined(all.iter().map(|names| names.full.as_str()));
    let mut short: Vec<&str> = Vec::new();
    for names in &all {
        if !short.contains(&names.short.as_str()) {
            short.push(&names.short);
        }
    }
    Names { short: joined(short.into_iter()), full }
}

fn joined<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let mut text = names.clone().take(NAMED).collect::<Vec<_>>().join(SAME);
    if let more @ 1.. = names.count().saturating_sub(NAMED) {
        text.push_str(&format!("{SAME}{more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(symbols: &[&str]) -> Names {
        let symbols: Vec<String> = symbols.iter().map(|&symbol| symbol.to_owned()).collect();
        with_folded(Names::of_symbol(&symbols[0]), &symbols)
    }

    #[test]
    fn all_names_of_different_functions_are_there() {
        let names = folded(&["_Z10scale_rowsml", "_Z13scale_columnsml"]);
        assert_eq!(names.short, "scale_rows = scale_columns");
        assert_eq!(names.full, "scale_rows(unsigned long, long) = scale_columns(unsigned long, long)");
        let six = ["_Z1av", "_Z1bv", "_Z1cv", "_Z1dv", "_Z1ev", "_Z1fv"];
        assert_eq!(folded(&six).short, "a = b = c = d = 2 more");
    }

    #[test]
    fn other_symbols_of_the_same_function_are_no_names() {
        // Both constructors of a class, names in C, a symbol of the linker's.
        assert_eq!(folded(&["_ZN4GridC1Ev", "_ZN4GridC2Ev"]).short, "Grid::Grid");
        assert_eq!(folded(&["memcpy", "__memcpy"]).short, "memcpy");
        assert_eq!(folded(&["_Z4workv", "__start_of_text"]).short, "work");
    }
}
