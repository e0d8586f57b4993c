//! Links the library against stubs of the C library, so that it imports nothing but what `imports.txt` lists,
//! in the versions listed there, whatever C library this machine has.
//!
//! The library is preloaded into programs of other roots too: containers, old trees of packages. There a
//! version that the C library lacks, or a library that is not installed, ends the program before its first
//! instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that the compiler names for every program, and of which this one needs nothing: archives without
/// members stand for them.
const EMPTY: [&str; 6] = ["gcc_s", "util", "rt", "pthread", "m", "dl"];

struct Import<'a> {
    version: &'a str,
    name: &'a str,
    is_object: bool,
}

/// What differs between the machines.
#[derive(Clone, Copy)]
struct Machine {
    name: &'static str,
    /// The file of the dynamic linker.
    linker: &'static str,
    /// The C library's first version there: what it had before is of this version. None = `imports.txt` has
    /// the versions of this machine.
    first_version: Option<&'static str>,
    /// The compiler's driver, where this is not the machine it runs on.
    driver: &'static str,
}

impl Machine {
    const ALL: [Machine; 2] = [
        Machine { name: "x86_64", linker: "ld-linux-x86-64.so.2", first_version: None, driver: "cc" },
        Machine {
            name: "aarch64",
            linker: "ld-linux-aarch64.so.1",
            first_version: Some("GLIBC_2.17"),
            driver: "aarch64-linux-gnu-gcc",
        },
    ];

    fn of(name: &str) -> Machine {
        let known = Machine::ALL.into_iter().find(|machine| machine.name == name);
        known.unwrap_or_else(|| panic!("no machine {name} under src/arch/"))
    }

    /// The driver that links for it.
    fn driver(self) -> OsString {
        let host = env::var("HOST").unwrap_or_default();
        let usual = if host.starts_with(self.name) { "cc" } else { self.driver };
        env::var_os("RUSTC_LINKER").unwrap_or_else(|| usual.into())
    }

    /// The version of an import there.
    fn version(self, version: &str) -> &str {
        match self.first_version {
            Some(first) if minor(version) < minor(first) => first,
            _ => version,
        }
    }
}

/// The number behind the point of `GLIBC_2.NUMBER`; of others, the largest there is.
fn minor(version: &str) -> u32 {
    let number = version.strip_prefix("GLIBC_2.").and_then(|rest| rest.split('.').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=imports.txt");
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=layout.ld");
    println!("cargo::rerun-if-changed=usual.ld");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    // Cargo builds it in other profiles, too, with the rest of the workspace. That library is not used; it
    // keeps what only optimisation across crates removes, and imports more than there are stubs for.
    let is_used = out.ancestors().nth(3).and_then(Path::file_name) == Some("collector".as_ref());
    let imports = if is_used { "-Wl,-z,defs" } else { "-Wl,--unresolved-symbols=ignore-all" };
    let folder = out.join("stubs");
    fs::create_dir_all(&folder).expect("the build's own folder can be written");
    let machine = Machine::of(&env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo"));
    let text = fs::read_to_string("imports.txt").expect("imports.txt lies beside this file");
    for (library, imports) in parse(&text, machine) {
        build_stub(&folder, machine, library, &imports);
    }
    for library in EMPTY {
        fs::write(folder.join(format!("lib{library}.so")), "!<arch>\n").expect("as above");
    }
    let linker = format!("-Wl,--no-as-needed,{}/ld-linux.so,--as-needed", folder.display());
    let here = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    // Where `layout.ld` finds what it includes.
    let included = format!("-L{here}");
    let layout = format!("-Wl,-T,{here}/layout.ld");
    let stubs = format!("-L{}", folder.display());
    // A program that defines a function of the C library itself, as Erlang does with `sigaction`, calls the
    // next definition, which is ours: one hook that leads to another must not come back to the program's.
    let own = "-Wl,-Bsymbolic-functions";
    for argument in ["-nostartfiles", imports, "-Wl,-z,now", own, &stubs, &linker, &included, &layout] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

fn parse<'a>(text: &'a str, machine: Machine) -> BTreeMap<&'a str, Vec<Import<'a>>> {
    let mut libraries = BTreeMap::<&str, Vec<Import<'_>>>::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (&[library, version, name] | &[library, version, name, "object" | "weak"]) = words.as_slice()
        else {
            panic!("imports.txt: `{line}` is not: library version name [object|weak]");
        };
        let library = if library == "ld-linux" { machine.linker } else { library };
        let version = machine.version(version);
        libraries.entry(library).or_default().push(Import {
            version,
            name,
            is_object: words.last() == Some(&"object"),
        });
    }
    libraries
}

/// A shared library of that name which defines the imports and does nothing.
fn build_stub(folder: &Path, machine: Machine, library: &str, imports: &[Import<'_>]) {
    let mut code = String::new();
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for Import { version, name, is_object } in imports {
        let (section, kind, body) =
            if *is_object { (".data", "object", ".8byte 0") } else { (".text", "function", "ret") };
        writeln!(
            code,
            "{section}\n.globl {name}\n.type {name},%{kind}\n{name}: {body}\n.size {name},.-{name}"
        )
        .expect("a string takes all");
        versions.entry(version).or_default().insert(name);
    }
    code.push_str(".section .note.GNU-stack,\"\",%progbits\n");
    let mut script = String::new();
    for (version, names) in versions {
        writeln!(script, "{version} {{ global: {}; }};", names.into_iter().collect::<Vec<_>>().join("; "))
            .expect("a string takes all");
    }
    let stem = library.split_once(".so").map_or(library, |(stem, _)| stem);
    // The names by which the compiler's driver and the arguments above look for them.
    let is_linker = library == machine.linker;
    let file = folder.join(if is_linker { "ld-linux.so".to_owned() } else { format!("{stem}.so") });
    let (source, map) = (folder.join(format!("{stem}.s")), folder.join(format!("{stem}.map")));
    fs::write(&source, code).expect("the build's own folder can be written");
    fs::write(&map, script).expect("as above");
    let driver = machine.driver();
    let status = Command::new(&driver)
        .args(["-shared", "-nostdlib", "-nostartfiles"])
        .arg(format!("-Wl,-soname,{library},--version-script={}", map.display()))
        .arg("-o")
        .arg(&file)
        .arg(&source)
        .status();
    let done = status.is_ok_and(|status| status.success());
    assert!(done, "{} cannot assemble and link {}", driver.display(), source.display());
}
