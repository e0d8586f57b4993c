//! Whether a program that is about to be executed can load the collector.
//!
//! A dynamic linker that cannot load what `LD_PRELOAD` names says so on the program's standard error, and one
//! of another C library ends the program. So the file is read first: which interpreter it names, and whether
//! the collector lies where that interpreter will look. The calling process is in the root in which the
//! program will run.

use core::ffi::{CStr, c_char};

use crate::arch::elf;
use crate::arena;
use crate::raw;

/// How an executed program will treat the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It loads it, or ignores it in silence (a static program). Also of what cannot be looked into.
    Loads,
    /// It is for another machine or word size.
    OtherMachine,
    /// Its dynamic linker is not the GNU C library's.
    OtherLibrary,
    /// The collector's file is not to be found, or not readable, in this root.
    OtherRoot,
}

impl Verdict {
    /// The value of [`proust_log::records::NoteCode::Unloadable`]; 0 where it loads.
    pub fn number(self) -> u64 {
        self as u64
    }
}

/// How the exec functions name a program.
#[derive(Clone, Copy, Debug)]
pub enum Program<'a> {
    /// A path, relative to a folder's descriptor or [`libc::AT_FDCWD`].
    At(i32, &'a CStr),
    /// A name that is searched for in the folders of PATH, if it has no slash.
    Searched(&'a CStr),
    /// An open file.
    Open(i32),
}

/// Most interpreters of interpreters that the kernel follows.
const MOST_INTERPRETERS: u32 = 5;

/// The kernel's own limit for the first line of a script.
const LINE_BYTES: usize = 256;

/// How the program will treat the collector in the file `collector`.
pub fn verdict(program: Program<'_>, collector: &CStr) -> Verdict {
    let descriptor = match program {
        Program::At(folder, path) => open_at(folder, path),
        Program::Searched(name) => search(name),
        Program::Open(file) => duplicate(file),
    };
    let Some(descriptor) = descriptor else { return Verdict::Loads };
    let verdict = of_file(descriptor, collector, MOST_INTERPRETERS);
    raw::close(descriptor);
    verdict
}

fn of_file(file: i32, collector: &CStr, most_interpreters: u32) -> Verdict {
    let mut start = [0; LINE_BYTES];
    let got = usize::try_from(raw::pread(file, &mut start, 0)).unwrap_or(0);
    let start = &start[..got.min(LINE_BYTES)];
    if let Some(line) = start.strip_prefix(b"#!") {
        let mut path = [0; LINE_BYTES];
        let end = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
        let mut words =
            line[..end].split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        let Some(interpreter) = words.next() else { return Verdict::Loads };
        path[..interpreter.len()].copy_from_slice(interpreter);
        let next = CStr::from_bytes_until_nul(&path).ok().filter(|_| most_interpreters > 0);
        let Some(next) = next.and_then(|path| open_at(libc::AT_FDCWD, path)) else { return Verdict::Loads };
        let verdict = of_file(next, collector, most_interpreters - 1);
        raw::close(next);
        return verdict;
    }
    match read_elf(file, start) {
        Some(Elf::Foreign) => Verdict::OtherMachine,
        Some(Elf::Interpreted { is_glibc: false }) => Verdict::OtherLibrary,
        Some(Elf::Interpreted { is_glibc: true }) if !is_readable(collector) => Verdict::OtherRoot,
        _ => Verdict::Loads,
    }
}

/// An ELF file, as far as it matters here.
enum Elf {
    Foreign,
    Interpreted { is_glibc: bool },
}

/// None of what is no ELF program, is static, or is damaged: the kernel decides about these.
fn read_elf(file: i32, start: &[u8]) -> Option<Elf> {
    const CLASS: usize = 4;
    const CLASS_64: u8 = 2;
    const MACHINE: usize = 18;
    const PROGRAM_HEADERS: usize = 32;
    const HEADER_BYTES: usize = 54;
    const HEADER_COUNT: usize = 56;
    const MOST_HEADERS: u64 = 512;
    const ENTRY_BYTES: usize = 56;
    const INTERPRETER: u32 = 3;
    if !start.starts_with(b"\x7fELF") {
        return None;
    }
    if *start.get(CLASS)? != CLASS_64 || half(start, MACHINE)? != elf::MACHINE {
        return Some(Elf::Foreign);
    }
    let at = word(start, PROGRAM_HEADERS)?;
    let step = u64::from(half(start, HEADER_BYTES)?);
    for index in 0..u64::from(half(start, HEADER_COUNT)?).min(MOST_HEADERS) {
        let mut entry = [0; ENTRY_BYTES];
        let place = at.checked_add(index * step)?;
        if raw::pread(file, &mut entry, place) != ENTRY_BYTES as isize {
            return None;
        }
        if u32::from_le_bytes(entry[..4].try_into().ok()?) == INTERPRETER {
            let mut path = [0; LINE_BYTES];
            let bytes = usize::try_from(word(&entry, 32)?).ok()?.min(LINE_BYTES);
            let got = usize::try_from(raw::pread(file, &mut path[..bytes], word(&entry, 8)?)).ok()?;
            let path = CStr::from_bytes_until_nul(&path[..got]).ok()?.to_bytes();
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
            return Some(Elf::Interpreted {
                is_glibc: name.starts_with(b"ld-linux") || name.starts_with(b"ld-2"),
            });
        }
    }
    None
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn open_at(folder: i32, path: &CStr) -> Option<i32> {
    let opened = raw::open_at(folder, path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY);
    (!raw::failed(opened)).then_some(opened as i32)
}

/// The file behind a descriptor, which may have been opened for nothing but being executed.
fn duplicate(file: i32) -> Option<i32> {
    const FOLDER: &[u8] = b"/proc/self/fd/";
    let mut digits = [0; 20];
    let mut path = [0_u8; FOLDER.len() + 21];
    let digits = crate::logfile::digits(u64::try_from(file).ok()?, &mut digits);
    path[..FOLDER.len()].copy_from_slice(FOLDER);
    path[FOLDER.len()..FOLDER.len() + digits.len()].copy_from_slice(digits);
    open_at(libc::AT_FDCWD, CStr::from_bytes_until_nul(&path).ok()?)
}

/// The folders that are searched where PATH is not set.
const USUAL_FOLDERS: &[u8] = b"/bin:/usr/bin";

/// The first file of that name that may be executed in the folders of PATH.
fn search(name: &CStr) -> Option<i32> {
    const PATH_BYTES: usize = 4096;
    if name.to_bytes().contains(&b'/') {
        return open_at(libc::AT_FDCWD, name);
    }
    // Not on the stack: the caller may be on a small one.
    let memory = arena::pages(PATH_BYTES);
    if memory.is_null() {
        return None;
    }
    // SAFETY: mapped just now with this size, and given back below.
    let path = unsafe { core::slice::from_raw_parts_mut(memory, PATH_BYTES) };
    let folders = variable(c"PATH").unwrap_or(USUAL_FOLDERS);
    let found = folders.split(|&byte| byte == b':').find_map(|folder| {
        let folder = if folder.is_empty() { b"." } else { folder };
        let text = [folder, b"/", name.to_bytes_with_nul()];
        if text.iter().map(|part| part.len()).sum::<usize>() > path.len() {
            return None;
        }
        for (place, byte) in path.iter_mut().zip(text.into_iter().flatten()) {
            *place = *byte;
        }
        let path = CStr::from_bytes_until_nul(path).ok()?;
        raw::may(path, libc::X_OK).then(|| open_at(libc::AT_FDCWD, path)).flatten()
    });
    // SAFETY: see above.
    unsafe { arena::give_back(memory, PATH_BYTES) };
    found
}

/// A variable of the calling process's environment, which is what the search goes by.
fn variable(name: &CStr) -> Option<&'static [u8]> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library's list, as its own exec functions read it.
    let entries = unsafe { crate::life::Strings::new(environ) };
    let mut values = entries.filter_map(|entry| entry.strip_prefix(name.to_bytes())?.strip_prefix(b"="));
    values.next()
}

/// By opening it, as the dynamic linker will: a process may have other rights than its user, and folders on
/// the way, too, may be closed to it.
fn is_readable(path: &CStr) -> bool {
    path.is_empty()
        || open_at(libc::AT_FDCWD, path).is_some_and(|file| {
            raw::close(file);
            true
        })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::{env, fs};

    use super::*;

    const HERE: &CStr = c"/proc/self/exe";

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = env::temp_dir().join(format!("proust-loadable-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn file(folder: &Path, name: &str, bytes: &[u8]) -> CString {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        CString::new(path.to_str().unwrap()).unwrap()
    }

    /// This test's own file with another interpreter of the same length.
    fn interpreted_by(name: &[u8]) -> Vec<u8> {
        let mut bytes = fs::read(env::current_exe().unwrap()).unwrap();
        let usual = elf::INTERPRETER;
        let at = bytes.windows(usual.len()).position(|window| window == usual).unwrap();
        bytes[at..at + usual.len()].fill(0);
        bytes[at..at + name.len()].copy_from_slice(name);
        bytes
    }

    fn of(path: &CStr) -> Verdict {
        verdict(Program::At(libc::AT_FDCWD, path), HERE)
    }

    #[test]
    fn what_loads_it_and_what_does_not() {
        let folder = folder("kinds");
        let musl = file(&folder, "musl", &interpreted_by(elf::MUSL_INTERPRETER));
        let cases = [
            (HERE.to_owned(), Verdict::Loads),
            (c"/no/such/file".to_owned(), Verdict::Loads),
            (file(&folder, "empty", b""), Verdict::Loads),
            (file(&folder, "short", b"\x7fELF"), Verdict::Loads),
            (file(&folder, "32", b"\x7fELF\x01\x01\x01"), Verdict::OtherMachine),
            (
                file(&folder, "arm", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0"),
                Verdict::OtherMachine,
            ),
            (file(&folder, "script", b"#!/proc/self/exe -x\n"), Verdict::Loads),
            (
                file(&folder, "musl-script", &[b"#! ", musl.as_bytes(), b" -e\n"].concat()),
                Verdict::OtherLibrary,
            ),
            (file(&folder, "glibc-2.17", &interpreted_by(b"/opt/old/lib/ld-2.17.so")), Verdict::Loads),
            (musl, Verdict::OtherLibrary),
        ];
        for (path, expected) in &cases {
            assert_eq!(of(path), *expected, "{path:?}");
        }
        let looping = folder.join("looping");
        let looping = file(&folder, "looping", format!("#!{}\n", looping.display()).as_bytes());
        assert_eq!(of(&looping), Verdict::Loads);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_root_without_the_collector_is_another_one() {
        assert_eq!(verdict(Program::At(libc::AT_FDCWD, HERE), c"/no/such/collector.so"), Verdict::OtherRoot);
    }

    #[test]
    fn programs_are_found_however_they_are_named() {
        let folder = folder("names");
        let musl = file(&folder, "proust-loadable-musl", &interpreted_by(elf::MUSL_INTERPRETER));
        let open = fs::File::open(musl.to_str().unwrap()).unwrap();
        let above = fs::File::open(&folder).unwrap();
        for program in [
            Program::Open(open.as_raw_fd()),
            Program::At(above.as_raw_fd(), c"proust-loadable-musl"),
            Program::Searched(&musl),
        ] {
            assert_eq!(verdict(program, HERE), Verdict::OtherLibrary, "{program:?}");
        }
        assert_eq!(verdict(Program::Searched(c"sh"), HERE), Verdict::Loads);
        assert_eq!(verdict(Program::Searched(c"proust-loadable-nowhere"), HERE), Verdict::Loads);
        fs::remove_dir_all(folder).unwrap();
    }
}
