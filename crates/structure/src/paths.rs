//! Source paths as people write them.

/// Joins what debug information gives in pieces (compilation directory, include directory, file); an absolute
/// piece replaces the pieces before it. The result is cleaned.
pub(crate) fn join(pieces: &[&str]) -> String {
    let mut path = String::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        if piece.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(piece);
    }
    clean(&path)
}

/// Removes `//`, `/./` and `a/../` by their letters alone: the files need not exist on this machine.
pub(crate) fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// A cleaned path, or nothing for the names that compilers give to code without a file (`<artificial>`,
/// `<built-in>`).
pub(crate) fn source_file(path: &str) -> Option<String> {
    let cleaned = clean(path);
    let name = cleaned.rsplit('/').next().unwrap_or_default();
    let invented = name.starts_with('<') && name.ends_with('>');
    (!cleaned.is_empty() && cleaned != "/" && !invented && name != "??").then_some(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_cleaned() {
        for (pieces, expected) in [
            (&["/home/u/build", "../src", "main.c"][..], "/home/u/src/main.c"),
            (&["/home/u", "./src/./a.c"], "/home/u/src/a.c"),
            (&["/home/u", "/usr/include", "stdio.h"], "/usr/include/stdio.h"),
            (
                &["/rustc/59807616e1fa/", "library/core/src/iter/range.rs"],
                "/rustc/59807616e1fa/library/core/src/iter/range.rs",
            ),
            (&["", "a//b.c"], "a/b.c"),
            (&["/", "../../x.c"], "/x.c"),
            (&["a", "../../x.c"], "../x.c"),
        ] {
            assert_eq!(join(pieces), expected);
        }
    }

    #[test]
    fn invented_files_are_no_files() {
        assert_eq!(source_file("/build/<artificial>"), None);
        assert_eq!(source_file("<built-in>"), None);
        assert_eq!(source_file("??"), None);
        assert_eq!(source_file(""), None);
        assert_eq!(source_file("/a/./b.f90"), Some("/a/b.f90".into()));
    }
}
