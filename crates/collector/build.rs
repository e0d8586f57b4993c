//! Links the library against stubs of the C library, so that it imports nothing but what `imports.txt` lists,
//! in the versions listed there, whatever C library this machine has.
//!
//! The library is preloaded into programs of other roots too: containers, old trees of packages. There a
//! version that the C library lacks, or a library that is not installed, ends the program before its first
//! instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
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

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=imports.txt");
    println!("cargo::rerun-if-changed=layout.ld");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("stubs");
    fs::create_dir_all(&folder).expect("the build's own folder can be written");
    let text = fs::read_to_string("imports.txt").expect("imports.txt lies beside this file");
    for (library, imports) in parse(&text) {
        build_stub(&folder, library, &imports);
    }
    for library in EMPTY {
        fs::write(folder.join(format!("lib{library}.so")), "!<arch>\n").expect("as above");
    }
    let linker = format!("-Wl,--no-as-needed,{}/ld-linux.so,--as-needed", folder.display());
    let layout = format!("-Wl,-T,{}/layout.ld", env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    for argument in
        ["-nostartfiles", "-Wl,-z,defs", "-Wl,-z,now", &format!("-L{}", folder.display()), &linker, &layout]
    {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

fn parse(text: &str) -> BTreeMap<&str, Vec<Import<'_>>> {
    let mut libraries = BTreeMap::<&str, Vec<Import<'_>>>::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (&[library, version, name] | &[library, version, name, "object" | "weak"]) = words.as_slice()
        else {
            panic!("imports.txt: `{line}` is not: library version name [object|weak]");
        };
        libraries.entry(library).or_default().push(Import {
            version,
            name,
            is_object: words.last() == Some(&"object"),
        });
    }
    libraries
}

/// A shared library of that name which defines the imports and does nothing.
fn build_stub(folder: &Path, library: &str, imports: &[Import<'_>]) {
    let mut code = String::new();
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for Import { version, name, is_object } in imports {
        let (section, kind, body) =
            if *is_object { (".data", "object", ".quad 0") } else { (".text", "function", "ret") };
        writeln!(
            code,
            "{section}\n.globl {name}\n.type {name},@{kind}\n{name}: {body}\n.size {name},.-{name}"
        )
        .expect("a string takes all");
        versions.entry(version).or_default().insert(name);
    }
    code.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    let mut script = String::new();
    for (version, names) in versions {
        writeln!(script, "{version} {{ global: {}; }};", names.into_iter().collect::<Vec<_>>().join("; "))
            .expect("a string takes all");
    }
    let stem = library.split_once(".so").map_or(library, |(stem, _)| stem);
    // The names by which the compiler's driver and the arguments above look for them.
    let file =
        folder.join(if stem == "ld-linux-x86-64" { "ld-linux.so".to_owned() } else { format!("{stem}.so") });
    let (source, map) = (folder.join(format!("{stem}.s")), folder.join(format!("{stem}.map")));
    fs::write(&source, code).expect("the build's own folder can be written");
    fs::write(&map, script).expect("as above");
    let driver = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
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
