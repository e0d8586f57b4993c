//! All that knows the processor.
//!
//! Each machine has a folder with the same files and the same names in them; the rest of the collector uses
//! these names and never asks which machine it is on. No other file contains an instruction, the name of a
//! register or of a machine: a test below sees to that.
//!
//! | file | knows |
//! |---|---|
//! | `system` | which system calls only some machines have, and how the program's code makes one |
//! | `registers` | the registers of the function one is in, and the thread's own words |
//! | `context` | where the kernel keeps an interrupted thread's registers, and what it leaves on the stack |
//! | `counter` | the counter that runs evenly |
//! | `cache` | getting a line of memory before it is needed |
//! | `unwinding` | where a frame keeps what its caller needs |
//! | `stacks` | going to another stack, and back out of a handler |
//! | `thunks` | the first instructions of hooks that look at the call itself |
//! | `routes` | the first instructions of OpenMP's hooks |
//! | `linker` | calling the dynamic linker in another's name |
//! | `stubs` | functions that other C libraries keep elsewhere, or not at all |
//! | `elf` | numbers and names of this machine's ELF files |
//!
//! Two properties hold on both machines and are used everywhere: a pointer-sized aligned load or store is one
//! access, and a killed thread has made all its stores up to some instruction and none after it, so what
//! other processes find in shared memory is what the program order says. Data that threads share are ordered
//! by acquire and release, never by what one processor happens to keep in order.
//!
//! On AArch64 a system call that a signal interrupted cannot be made again, since its first argument is gone.
//! So samples are taken at ticks only there, never by the timer on the wall's clock.
//!
//! Plain data of a foreign machine (encodings, layouts, rules) are compiled into the tests of every machine.

#[cfg(any(test, target_arch = "aarch64"))]
pub mod aarch64;
#[cfg(target_arch = "x86_64")]
pub mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("Proust's collector supports Linux on x86-64 and AArch64 only");

/// Bytes of a page. Files and memory are laid out by it at compile time; where the kernel has larger pages
/// the collector does not begin ([`has_expected_pages`]).
pub const PAGE_BYTES: usize = 4096;

/// Whether the kernel's pages are as large as [`PAGE_BYTES`] says.
pub fn has_expected_pages() -> bool {
    // SAFETY: reads a word that the kernel gave to the process.
    unsafe { libc::getauxval(libc::AT_PAGESZ) == PAGE_BYTES as u64 }
}

/// Puts an entry of three distances, each from itself, into a section: to a C string, to a function, and to a
/// variable. Distances are the same wherever the library is loaded, so nothing has to be relocated. The
/// linker keeps the section though nothing refers to it.
macro_rules! distances {
    ($section:literal, $name:ident, $text:expr, $function:path, $variable:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .rodata.", $section, "_names,\"a\",@progbits"),
            concat!(".L", $section, "_", stringify!($name), ":"),
            concat!(".asciz \"", $text, "\""),
            ".popsection",
            concat!(".pushsection ", $section, ",\"aR\",@progbits"),
            ".p2align 2",
            concat!(".long .L", $section, "_", stringify!($name), " - ."),
            ".long {function} - .",
            ".long {variable} - .",
            ".popsection",
            function = sym $function,
            variable = sym $variable,
        );
    };
}
pub(crate) use distances;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// Words of one machine, and of those that only a folder of `arch` may use.
    const OF_MACHINES: [&str; 7] =
        ["asm!", "naked_asm", "target_arch", "core::arch::", "REG_R", ".gregs", "x86_64::"];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    fn source_root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
    }

    #[test]
    fn nothing_outside_of_this_folder_knows_the_processor() {
        let mut files = Vec::new();
        sources(&source_root(), &mut files);
        let of_arch = source_root().join("arch");
        let (inside, outside): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.starts_with(&of_arch));
        assert!(inside.len() > 20 && outside.len() > 100, "{} {}", inside.len(), outside.len());
        let mut found = Vec::new();
        for file in outside {
            let text = std::fs::read_to_string(file).expect("a source file");
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or(line);
                if let Some(word) = OF_MACHINES.iter().find(|word| code.contains(**word)) {
                    found.push(format!("{}:{}: {word}", file.display(), number + 1));
                }
            }
        }
        assert!(found.is_empty(), "move to src/arch/:\n{}", found.join("\n"));
    }

    #[test]
    fn the_machines_folders_mirror_each_other() {
        let names = |machine: &str| {
            let mut names: Vec<_> = std::fs::read_dir(source_root().join("arch").join(machine))
                .expect("a folder for each machine")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names("x86_64"), names("aarch64"));
    }

    #[test]
    fn pages_are_as_the_layouts_take_them_to_be() {
        assert!(super::has_expected_pages());
    }
}
