//! One path for each library of a run. What a process has loaded at its start is named by the dynamic linker,
//! as a rule through a symbolic link (`libmpi.so.40`), and what is found later by the kernel, which knows the
//! file (`libmpi.so.40.30.4`).

use rustc_hash::FxHashMap;

/// The paths by build-id and by the name up to its version.
#[derive(Debug, Default)]
pub(super) struct LibraryPaths {
    shortest: FxHashMap<(Vec<u8>, String), String>,
}

impl LibraryPaths {
    /// Adds a path that a process has of a library.
    pub(super) fn add(&mut self, path: &str, build_id: &[u8]) {
        let Some(key) = key(path, build_id) else { return };
        let known = self.shortest.entry(key).or_insert_with(|| path.to_owned());
        if (path.len(), path) < (known.len(), known) {
            *known = path.to_owned();
        }
    }

    /// The one path of the library of this path, which is the path itself for anything but a library.
    pub(super) fn one(&self, path: String, build_id: &[u8]) -> String {
        key(&path, build_id).and_then(|key| self.shortest.get(&key).cloned()).unwrap_or(path)
    }
}

/// Programs may be copied under another name, and are told apart by it; and so are libraries that another
/// name begins for, as those that are packed with a module of Python.
fn key(path: &str, build_id: &[u8]) -> Option<(Vec<u8>, String)> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let (name, version) = file.split_once(".so")?;
    let is_version = version.chars().all(|sign| sign == '.' || sign.is_ascii_digit());
    (is_version && !build_id.is_empty()).then(|| (build_id.to_vec(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "/lib/x86_64-linux-gnu/libmpi.so.40";
    const FILE: &str = "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so.40.30.4";

    fn one(paths: [(&str, &[u8]); 2]) -> [String; 2] {
        let mut known = LibraryPaths::default();
        for (path, build_id) in paths {
            known.add(path, build_id);
        }
        paths.map(|(path, build_id)| known.one(path.to_owned(), build_id))
    }

    #[test]
    fn a_library_has_one_path_whichever_is_first() {
        assert_eq!(one([(LINK, &[1; 20]), (FILE, &[1; 20])]), [LINK, LINK]);
        assert_eq!(one([(FILE, &[1; 20]), (LINK, &[1; 20])]), [LINK, LINK]);
    }

    #[test]
    fn other_builds_other_names_and_programs_keep_theirs() {
        assert_eq!(one([(LINK, &[1; 20]), (FILE, &[2; 20])]), [LINK, FILE]);
        assert_eq!(one([(LINK, &[]), (FILE, &[])]), [LINK, FILE]);
        let wheel = "/home/me/site-packages/scipy.libs/libmpi-3fa1.so.40";
        assert_eq!(one([(LINK, &[1; 20]), (wheel, &[1; 20])]), [LINK, wheel]);
        assert_eq!(
            one([("/bin/solve", &[1; 20]), ("/home/me/solve-2", &[1; 20])]),
            ["/bin/solve", "/home/me/solve-2"]
        );
        let ending = "/home/me/libmpi.solution";
        assert_eq!(one([(LINK, &[1; 20]), (ending, &[1; 20])]), [LINK, ending]);
    }
}
