//! What kind of program a command is, and whether the collector can be loaded into it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef, elf};
use rustix::fs::{Access, getxattr_query};
use rustix::process::{getgid, getuid};

/// Why a command cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No such file, or none in the folders of PATH.
    #[error("{name} was not found{}", if *.searched { " in the folders of PATH" } else { "" })]
    NotFound {
        /// The command as given.
        name: String,
        /// Whether PATH was searched.
        searched: bool,
    },
    /// It is there but may not be executed.
    #[error("{} cannot be executed: {why}", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// The reason in words.
        why: String,
    },
}

impl FindError {
    /// Whether the command does not exist at all.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FindError::NotFound { .. })
    }
}

/// The file that a command names, as a shell would find it.
///
/// # Errors
/// [`FindError`] if there is none or it cannot be executed.
pub fn find(name: &OsStr) -> Result<PathBuf, FindError> {
    if name.as_bytes().contains(&b'/') {
        return check(PathBuf::from(name)).map_err(|error| match error {
            Some(why) => FindError::NotExecutable { path: PathBuf::from(name), why },
            None => FindError::NotFound { name: name.to_string_lossy().into_owned(), searched: false },
        });
    }
    let mut refused = None;
    for folder in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        let path = if folder.as_os_str().is_empty() { Path::new(".").join(name) } else { folder.join(name) };
        match check(path.clone()) {
            Ok(path) => return Ok(path),
            Err(Some(why)) => {
                refused.get_or_insert((path, why));
            }
            Err(None) => {}
        }
    }
    Err(match refused {
        Some((path, why)) => FindError::NotExecutable { path, why },
        None => FindError::NotFound { name: name.to_string_lossy().into_owned(), searched: true },
    })
}

/// Ok if the file can be executed; the reason if not, None if it does not exist.
fn check(path: PathBuf) -> Result<PathBuf, Option<String>> {
    let metadata = match std::fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(None);
        }
        Err(error) => return Err(Some(error.to_string())),
    };
    if metadata.is_dir() {
        return Err(Some("it is a folder".to_owned()));
    }
    match rustix::fs::access(&path, Access::EXEC_OK) {
        Ok(()) => Ok(path),
        Err(error) => Err(Some(io::Error::from(error).to_string())),
    }
}

/// What a program file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit ELF for this machine that the dynamic linker loads.
    Dynamic {
        /// The dynamic linker's path.
        linker: String,
    },
    /// The dynamic linker itself, which loads the program that is its argument.
    Linker,
    /// Linked statically, at a fixed address or not (static-pie).
    Static {
        /// Whether it is position independent.
        position_independent: bool,
    },
    /// ELF of another word size or machine.
    Foreign {
        /// What it is for.
        machine: String,
    },
    /// A script; the interpreter runs.
    Script {
        /// The interpreter, inspected likewise.
        interpreter: Box<Program>,
    },
    /// None of these; perhaps a script without `#!`, which a shell runs.
    Unknown,
    /// It could not be read, only executed.
    Unreadable,
}

/// A program file, inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Whether it gets rights that its user does not have (set-id bits or file capabilities).
    pub gains_rights: bool,
}

/// Why the collector cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    path: PathBuf,
    reason: &'static str,
    advice: &'static str,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Obstacle { path, reason, advice } = self;
        write!(f, "{} cannot be recorded: {reason}. {advice}", path.display())
    }
}

/// Looks into a program file.
pub fn inspect(path: &Path) -> Program {
    inspect_nested(path, 0)
}

/// Scripts may name scripts as interpreters; the kernel follows a few levels.
const MAX_INTERPRETERS: u32 = 4;

fn inspect_nested(path: &Path, level: u32) -> Program {
    let kind = match File::open(path) {
        Ok(file) => kind_of(file, level),
        Err(_) => Kind::Unreadable,
    };
    Program { path: path.to_path_buf(), kind, gains_rights: gains_rights(path) }
}

fn kind_of(mut file: File, level: u32) -> Kind {
    let mut start = [0; 256];
    let length = file.read(&mut start).unwrap_or(0);
    let start = &start[..length];
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or(line);
        let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let Some(interpreter) = words.next().filter(|_| level < MAX_INTERPRETERS) else {
            return Kind::Unknown;
        };
        let mut interpreter = PathBuf::from(OsStr::from_bytes(interpreter));
        // `#!/usr/bin/env NAME`: NAME is the program that runs.
        if interpreter.file_name() == Some(OsStr::new("env"))
            && let Some(name) = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))
            && let Ok(found) = find(OsStr::from_bytes(name))
        {
            interpreter = found;
        }
        return Kind::Script { interpreter: Box::new(inspect_nested(&interpreter, level + 1)) };
    }
    if !start.starts_with(&elf::ELFMAG) {
        return Kind::Unknown;
    }
    if start.get(4) != Some(&elf::ELFCLASS64.0) {
        return Kind::Foreign { machine: "a 32-bit machine".to_owned() };
    }
    elf_kind(&ReadCache::new(BufReader::new(file))).unwrap_or(Kind::Unknown)
}

fn elf_kind<'data>(data: impl ReadRef<'data>) -> Option<Kind> {
    let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != elf::EM_X86_64 {
        return Some(Kind::Foreign {
            machine: format!("another machine (ELF machine {})", header.e_machine(endian).0),
        });
    }
    let segments = header.program_headers(endian, data).ok()?;
    let linker = segments.iter().find_map(|segment| segment.interpreter(endian, data).ok().flatten());
    if let Some(linker) = linker {
        return Some(Kind::Dynamic { linker: String::from_utf8_lossy(linker).into_owned() });
    }
    let dynamic = segments.iter().find_map(|segment| segment.dynamic(endian, data).ok().flatten());
    if dynamic.is_some_and(|entries| entries.iter().any(|entry| entry.d_tag(endian) == elf::DT_SONAME)) {
        return Some(Kind::Linker);
    }
    Some(Kind::Static { position_independent: dynamic.is_some() })
}

fn gains_rights(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let sets_user = metadata.mode() & libc::S_ISUID != 0 && metadata.uid() != user;
    let sets_group = metadata.mode() & libc::S_ISGID != 0 && metadata.gid() != group;
    sets_user || sets_group || (user != 0 && has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    getxattr_query(path, c"security.capability").is_ok_and(|bytes| bytes > 0)
}

impl Program {
    /// Why it cannot be recorded, if it cannot.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let obstacle = |reason, advice| Some(Obstacle { path: self.path.clone(), reason, advice });
        if self.gains_rights {
            return obstacle(
                "it is a setuid or setgid program, or has file capabilities, and the system loads no \
                 foreign library into such programs",
                "Record it as the user whose rights it takes, or record a copy without them.",
            );
        }
        match &self.kind {
            Kind::Static { position_independent } => obstacle(
                if *position_independent {
                    "it is a static-pie program: linked statically, it loads no libraries and so no collector"
                } else {
                    "it is a static program: it loads no libraries and so no collector"
                },
                "Link it dynamically (without -static).",
            ),
            Kind::Foreign { .. } => obstacle(
                "it is not a 64-bit program for this machine, and the collector is",
                "Build it for 64-bit x86.",
            ),
            Kind::Dynamic { linker } if linker.contains("musl") => obstacle(
                "it uses the musl C library, and the collector is made for glibc",
                "Build it for glibc (for example the target x86_64-unknown-linux-gnu).",
            ),
            Kind::Script { interpreter } => interpreter.obstacle(),
            _ => None,
        }
    }

    /// The program file that runs in the end: itself, or a script's interpreter.
    pub fn what_runs(&self) -> &Program {
        match &self.kind {
            Kind::Script { interpreter } => interpreter.what_runs(),
            _ => self,
        }
    }

    /// What it is, in a few words.
    pub fn description(&self) -> String {
        match &self.kind {
            Kind::Dynamic { linker } => format!("dynamically linked, loaded by {linker}"),
            Kind::Linker => "a dynamic linker, which loads the program it is given".into(),
            Kind::Static { position_independent: false } => "statically linked".into(),
            Kind::Static { position_independent: true } => "statically linked (static-pie)".into(),
            Kind::Foreign { machine } => format!("for {machine}"),
            Kind::Script { interpreter } => {
                format!("a script for {}, which is {}", interpreter.path.display(), interpreter.description())
            }
            Kind::Unknown => "no program file; a shell may run it as a script".into(),
            Kind::Unreadable => "not readable, so that nothing is known of it".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(dir: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = dir.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn this_test_is_a_dynamic_program() {
        let program = inspect(&std::env::current_exe().unwrap());
        assert!(matches!(program.kind, Kind::Dynamic { .. }), "{program:?}");
        assert_eq!(program.obstacle(), None);
    }

    #[test]
    fn scripts_are_what_their_interpreters_are() {
        let dir = tempfile::tempdir().unwrap();
        let interpreter = |path: &Path| match inspect(path).kind {
            Kind::Script { interpreter } => interpreter.path,
            other => panic!("{other:?}"),
        };
        let script = file(dir.path(), "script", b"#! /bin/sh -e\nexit 0\n", 0o755);
        assert_eq!(interpreter(&script), Path::new("/bin/sh"));
        let through_env = file(dir.path(), "through-env", b"#!/usr/bin/env -S sh\n", 0o755);
        assert!(interpreter(&through_env).ends_with("sh"));
        let plain = file(dir.path(), "plain", b"exit 0\n", 0o755);
        assert_eq!(inspect(&plain).kind, Kind::Unknown);
        assert_eq!(inspect(&plain).obstacle(), None);
        let itself = dir.path().join("itself");
        fs::write(&itself, format!("#!{}\n", itself.display())).unwrap();
        assert_eq!(inspect(&itself).obstacle(), None);
    }

    #[test]
    fn any_beginning_of_a_program_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        let mut header = vec![0u8; 64];
        header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        header[16] = 2;
        header[18] = 62;
        header[52] = 64;
        let path = file(dir.path(), "program", &header, 0o755);
        assert_eq!(inspect(&path).kind, Kind::Static { position_independent: false });
        let obstacle = inspect(&path).obstacle().unwrap().to_string();
        assert!(obstacle.ends_with("so no collector. Link it dynamically (without -static)."), "{obstacle}");
        for length in 0..header.len() {
            let _ = inspect(&file(dir.path(), "program", &header[..length], 0o755)).obstacle();
        }
        header[4] = 1;
        let path = file(dir.path(), "program", &header, 0o755);
        assert!(matches!(inspect(&path).kind, Kind::Foreign { .. }));
    }

    #[test]
    fn what_cannot_be_run_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        // Root may execute any file with an execute bit, so this has none.
        let text = file(dir.path(), "text", b"", 0o644);
        assert!(!find(text.as_os_str()).unwrap_err().is_not_found());
        assert!(!find(dir.path().as_os_str()).unwrap_err().is_not_found());
        assert!(find(OsStr::new("no-such-command-anywhere")).unwrap_err().is_not_found());
        assert!(find(OsStr::new("./no/such/file")).unwrap_err().is_not_found());
        assert!(find(OsStr::new("sh")).is_ok());
        assert_eq!(inspect(Path::new("/no/such/file")).kind, Kind::Unreadable);
    }
}
