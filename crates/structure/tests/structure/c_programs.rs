use proust_structure::ModuleNote;

use crate::build::{addresses_of, build, chain, resolve, symbols, tool, truth};

/// Three levels of inlining in `work`, a call that stays a call, and a static clone.
pub(crate) const CHAIN: &str = r#"#include <stdlib.h>
volatile double sink;
static inline __attribute__((always_inline)) double innermost(double x) {
    for (int i = 0; i < 100; i++)
        x = x * 1.0001 + sink;
    return x;
}
static inline __attribute__((always_inline)) double middle(double x) {
    sink = x;
    return innermost(x + 1.0) + 1.0;
}
static inline __attribute__((always_inline)) double outer(double x) {
    return middle(x * 2.0);
}
__attribute__((noinline)) double work(double x) {
    double y = outer(x);
    sink = y;
    return y;
}
int main(int argc, char **argv) {
    return (int)work(argc) == 42;
}
"#;

#[test]
fn inlined_chains_agree_with_binutils_in_dwarf_4_and_5() {
    for dwarf in ["-gdwarf-4", "-gdwarf-5"] {
        for optimisation in ["-O0", "-O2"] {
            let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-g", dwarf, optimisation]) else {
                return;
            };
            let symbols = symbols(&program.binary);
            let addresses = [addresses_of(symbols["work"], 1), addresses_of(symbols["main"], 1)].concat();
            let Some(truth) = truth(&program.binary, &addresses) else { return };
            let structure = resolve(&program.binary, &addresses);
            let mut deepest = 0;
            for &address in &addresses {
                let chain = chain(&structure, address);
                assert_eq!(chain, truth[&address], "{dwarf} {optimisation} {address:#x}");
                deepest = deepest.max(chain.len());
            }
            assert!(deepest == 4 || optimisation == "-O0", "no chain of three inlined calls: {deepest}");
        }
    }
}

/// `append` ends in a jump to a function of another module, `twice` in one to `append`; `plain` returns.
const TAIL_CALLS: &str = r#"#include <unistd.h>
volatile int sink;
__attribute__((noinline)) int append(int file) { sink = file; return fsync(file); }
__attribute__((noinline)) int twice(int file) { sink = 2; return append(file); }
__attribute__((noinline)) int plain(int file) { sink = file; return sink + getpid(); }
int main(int argc, char **argv) {
    int (*volatile indirect)(int) = plain;
    return append(argc) + twice(argc) + plain(argc) + indirect(argc) + getppid();
}
"#;

#[test]
fn a_call_names_the_function_that_it_goes_to_if_that_is_of_the_module() {
    let Some(program) = build("cc", &[("tail.c", TAIL_CALLS)], &["-g", "-O2"]) else { return };
    let Some(code) = tool("objdump", &["-d", "--no-show-raw-insn", &program.binary.to_string_lossy()]) else {
        return;
    };
    // Of `main`: the address behind each call, and what binutils find there.
    let mut calls: Vec<(u64, String)> = Vec::new();
    let mut lines = code.lines().skip_while(|line| !line.ends_with("<main>:")).skip(1).peekable();
    while let Some(line) = lines.next().filter(|line| !line.is_empty()) {
        let next = lines.peek().and_then(|next| next.split(':').next()).map(str::trim);
        let next = next.and_then(|next| u64::from_str_radix(next, 16).ok());
        if let (Some((_, called)), Some(next)) = (line.split_once("call"), next) {
            calls.push((next - 1, called.trim().to_owned()));
        }
    }
    if cfg!(not(target_arch = "x86_64")) {
        eprintln!("SKIP: calls are read on x86-64 only");
        return;
    }
    assert_eq!(calls.len(), 5, "{calls:?}");
    let addresses: Vec<u64> = calls.iter().map(|(address, _)| *address).collect();
    let structure = resolve(&program.binary, &addresses);
    for (address, called) in &calls {
        let named = structure.addresses[address].calls.map(|id| &*structure.functions[id as usize].name);
        let expected = ["append", "twice", "plain"].into_iter().find(|f| called.ends_with(&format!("<{f}>")));
        assert_eq!(named, expected, "{called}");
        assert_eq!(chain(&structure, *address)[0].0, "main");
    }
    assert_eq!(structure.addresses.values().filter(|address| address.calls.is_some()).count(), 3);
}

#[test]
fn functions_carry_their_declaration_and_extent() {
    let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-g", "-O2"]) else { return };
    let (start, size) = symbols(&program.binary)["work"];
    let structure = resolve(&program.binary, &addresses_of((start, size), 1));
    let find = |name: &str| structure.functions.iter().find(|f| f.name == name).expect(name);
    let work = find("work");
    assert_eq!((work.address, work.size_bytes, work.line), (start, size, Some(15)));
    assert_eq!(work.linkage_name.as_deref(), Some("work"));
    let file = program.folder.path().join("chain.c");
    assert_eq!(work.file.as_deref().map(std::path::Path::new), Some(&*file.canonicalize().expect("a file")));
    let innermost = find("innermost");
    assert_eq!((innermost.address, innermost.line), (0, Some(3)));
    assert_eq!(structure.functions.iter().filter(|f| f.name == "innermost").count(), 1);
}

#[test]
fn without_debug_information_symbols_name_functions() {
    let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-O2"]) else { return };
    let symbols = symbols(&program.binary);
    let addresses = [symbols["work"].0 + 3, symbols["_start"].0, symbols["_start"].0 + 5];
    let structure = resolve(&program.binary, &addresses);
    let names: Vec<String> = addresses.iter().map(|&a| chain(&structure, a)[0].0.clone()).collect();
    assert_eq!(names, ["work", "_start", "_start"]);
    assert!(structure.notes.iter().any(|note| matches!(note, ModuleNote::NoDebugInfo { .. })));
}

#[test]
fn assembler_symbols_without_a_size_reach_to_the_next_symbol() {
    let assembler = r#"
        .text
        .globl bare_one
    bare_one:
        nop
        nop
        nop
    bare_two:
        nop
        nop
        ret
        .globl main
        .type main, @function
    main:
        ret
        .size main, .-main
        .section .note.GNU-stack,"",@progbits
    "#;
    let Some(program) = build("cc", &[("bare.s", assembler)], &[]) else { return };
    let symbols = symbols(&program.binary);
    let one = symbols["bare_one"].0;
    let structure = resolve(&program.binary, &[one, one + 2, one + 3, one + 5, one + 6]);
    let names: Vec<_> = structure.addresses.keys().map(|&a| chain(&structure, a)[0].0.clone()).collect();
    assert_eq!(names, ["bare_one", "bare_one", "bare_two", "bare_two", "main"]);
    assert_eq!(structure.functions[0].size_bytes, 3);
}

#[test]
fn cold_parts_and_clones_keep_the_functions_name() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
volatile int sink;
__attribute__((cold, noinline)) void complain(int code) { printf("%d\n", code); sink = code; }
__attribute__((noinline)) static int picky(int x, int unused) {
    if (__builtin_expect(x < 0, 0)) { complain(x); complain(x + 1); complain(sink); abort(); }
    sink = x;
    return x * 3 + sink;
}
int main(int argc, char **argv) { return picky(argc, 7) + picky(argc + 1, 7); }
"#;
    for flags in [&["-O2"][..], &["-O2", "-g"]] {
        let Some(program) = build("cc", &[("cold.c", source)], flags) else { return };
        let symbols = symbols(&program.binary);
        let parts: Vec<_> = symbols.iter().filter(|(name, _)| name.starts_with("picky")).collect();
        assert!(!parts.is_empty());
        for (symbol, &(address, size)) in parts {
            let structure = resolve(&program.binary, &[address + size / 2]);
            let function = &structure.functions[0];
            assert_eq!(function.name, "picky", "{symbol} {flags:?}");
            let linkage = function.linkage_name.as_deref().expect("a linker name");
            // With debug information the parts are one function, known by the name of its entry.
            assert!(
                linkage == symbol || (flags.contains(&"-g") && linkage.starts_with("picky")),
                "{linkage}"
            );
        }
    }
}

#[test]
fn linker_stubs_are_named_after_what_they_call() {
    for flags in [&["-O1"][..], &["-O1", "-Wl,-z,now"], &["-O1", "-fcf-protection=none"], &["-O1", "-no-pie"]]
    {
        let Some(program) = build(
            "cc",
            &[(
                "stub.c",
                "#include <stdio.h>\n#include <time.h>\nint main(void) { return puts(\"a\") + clock(); }\n",
            )],
            flags,
        ) else {
            return;
        };
        if !cfg!(target_arch = "x86_64") {
            return;
        }
        use object::{Object, ObjectSection};
        let bytes = std::fs::read(&program.binary).expect("a binary");
        let file = object::File::parse(&*bytes).expect("an object file");
        let section = file.section_by_name(".plt.sec").or_else(|| file.section_by_name(".plt"));
        let Some(section) = section else { continue };
        let addresses: Vec<u64> = (section.address()..section.address() + section.size()).collect();
        let structure = resolve(&program.binary, &addresses);
        let names: Vec<&str> = structure.functions.iter().map(|f| f.name.as_str()).collect();
        assert!(names.contains(&"puts@plt") && names.contains(&"clock@plt"), "{flags:?} {names:?}");
    }
}

#[test]
fn split_debug_information_is_found_and_missed() {
    for dwarf in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = ["-g", dwarf, "-O2", "-gsplit-dwarf"];
        let Some(program) = build("cc", &[("chain.c", CHAIN)], &flags) else { return };
        let (start, size) = symbols(&program.binary)["work"];
        let addresses = addresses_of((start, size), 1);
        let structure = resolve(&program.binary, &addresses);
        assert!(structure.addresses.values().any(|a| a.frames.len() == 4), "{dwarf} {:?}", structure.notes);
        let work = structure.functions.iter().find(|f| f.name == "work").expect("work");
        assert_eq!(work.line, Some(15), "{dwarf}");
        assert!(work.file.as_deref().is_some_and(|file| file.ends_with("chain.c")), "{dwarf} {work:?}");

        for entry in std::fs::read_dir(program.folder.path()).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "dwo") {
                std::fs::remove_file(path).expect("a file to remove");
            }
        }
        let structure = resolve(&program.binary, &addresses);
        assert!(structure.addresses.values().all(|a| structure.function(&a.frames[0]).name == "work"));
        assert!(structure.notes.iter().any(|n| matches!(n, ModuleNote::SplitDebugInfoMissing { .. })));
    }
}
