use std::collections::BTreeSet;

use proust_structure::demangle;

use crate::build::{addresses_of, build, chain, resolve, symbols, truth};

const SHAPES: &str = r#"#include <algorithm>
#include <map>
#include <string>
#include <vector>
volatile int sink;
namespace {
__attribute__((noinline)) int hidden(int x) { sink = x; return x + sink; }
struct Local { __attribute__((noinline)) int run(int x) const { sink = x; return sink; } };
}
namespace geometry {
template <typename T> struct Box {
    T low, high;
    __attribute__((noinline)) bool operator<(const Box &other) const { sink = 1; return low < other.low; }
    __attribute__((noinline)) T operator()(T x) const { sink = 2; return x * low; }
    __attribute__((noinline)) const Box *operator->() const { sink = 3; return this; }
    __attribute__((noinline)) explicit operator std::vector<T>() const { sink = 4; return {low, high}; }
    template <typename U> __attribute__((noinline)) U scaled(U by) const;
};
template <typename T> template <typename U> U Box<T>::scaled(U by) const { sink = 5; return by * low; }
}
static __attribute__((noinline)) int sorted(std::vector<int> &v) {
    std::sort(v.begin(), v.end(), [](int a, int b) { sink = a; return a > b; });
    auto apply = [&](int x) __attribute__((noinline)) { sink = x; return x + v[0]; };
    return apply(3);
}
int main(int argc, char **) {
    geometry::Box<int> a{argc, 2}, b{3, 4};
    std::vector<int> v{3, 1, argc};
    std::map<std::string, int> m;
    m["x"] = a < b;
    return hidden(argc) + Local{}.run(argc) + a(3) + a->low + std::vector<int>(a)[0] + a.scaled(2.0)
        + sorted(v) + m.size();
}
"#;

#[test]
fn every_function_of_a_program_agrees_with_binutils() {
    for flags in [["-g", "-gdwarf-4", "-O2"], ["-g", "-gdwarf-5", "-O2"], ["-g", "-gdwarf-5", "-O0"]] {
        let Some(program) = build("c++", &[("shapes.cc", SHAPES)], &flags) else { return };
        let addresses: BTreeSet<u64> = symbols(&program.binary)
            .iter()
            .filter(|(name, symbol)| name.starts_with("_Z") && symbol.1 > 0 || *name == "main")
            .flat_map(|(_, &symbol)| addresses_of(symbol, 7))
            .collect();
        let addresses: Vec<u64> = addresses.into_iter().collect();
        let Some(truth) = truth(&program.binary, &addresses) else { return };
        let structure = resolve(&program.binary, &addresses);
        let mut compared = 0;
        for &address in &addresses {
            let ours = chain(&structure, address);
            let theirs = &truth[&address];
            if theirs.iter().any(|(name, file, _)| name == "??" || file == "??") {
                continue;
            }
            let chain_length = ours.len();
            assert_eq!(chain_length, theirs.len(), "{flags:?} {address:#x} {ours:?} {theirs:?}");
            for (depth, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                // Some binutils confuse the first files of DWARF 5, which shows in lines the program lacks.
                let possible = theirs.1 != "shapes.cc" || theirs.2 as usize <= SHAPES.lines().count();
                if possible {
                    assert_eq!((&ours.1, ours.2), (&theirs.1, theirs.2), "{flags:?} {address:#x}");
                }
                // binutils gives an innermost call without a linker name that of the function around it.
                let trusted = depth == 0 || depth + 1 < chain_length;
                if let Some(names) = demangle(&theirs.0).filter(|_| trusted) {
                    assert_eq!(ours.0, names.short, "{flags:?} {address:#x}");
                }
            }
            compared += 1;
        }
        assert!(compared > 100, "{compared}");
    }
}

#[test]
fn names_are_the_same_with_and_without_debug_information() {
    let expected = [
        "(anonymous namespace)::hidden",
        "(anonymous namespace)::Local::run",
        "geometry::Box<int>::operator<",
        "geometry::Box<int>::operator()",
        "geometry::Box<int>::operator->",
        "geometry::Box<int>::operator std::vector<int>",
        "geometry::Box<int>::scaled<double>",
        "main",
    ];
    for flags in [&["-g", "-O1"][..], &["-O1"]] {
        let Some(program) = build("c++", &[("shapes.cc", SHAPES)], flags) else { return };
        let middles: Vec<u64> = symbols(&program.binary).values().map(|&(a, size)| a + size / 2).collect();
        let structure = resolve(&program.binary, &middles);
        let names: BTreeSet<&str> = structure.functions.iter().map(|f| f.name.as_str()).collect();
        for name in expected {
            assert!(names.contains(name), "{flags:?}: no {name} in {names:#?}");
        }
        assert!(
            names.iter().any(|n| n.starts_with("sorted::{lambda(int)") && n.ends_with("::operator()")),
            "{names:#?}"
        );
    }
}

#[test]
fn inlined_functions_without_a_linkage_name_are_qualified() {
    let source = r#"volatile int sink;
namespace { namespace deep {
template <typename T> inline __attribute__((always_inline)) T twice(T x) { sink = x; return x * 2 + sink; }
struct Box { inline __attribute__((always_inline)) int take(int x) { sink = x; return x + sink; } };
} }
int main(int argc, char **) { deep::Box box; return deep::twice(argc) + box.take(argc); }
"#;
    let Some(program) = build("c++", &[("deep.cc", source)], &["-g", "-O2"]) else { return };
    let structure = resolve(&program.binary, &addresses_of(symbols(&program.binary)["main"], 1));
    let names: BTreeSet<&str> = structure.functions.iter().map(|f| f.name.as_str()).collect();
    for name in ["(anonymous namespace)::deep::twice<int>", "(anonymous namespace)::deep::Box::take"] {
        assert!(names.contains(name), "no {name} in {names:#?}");
    }
}

#[test]
fn link_time_optimisation_keeps_chains_across_units() {
    let callee = "volatile int sink;\nint callee(int x) {\n    sink = x;\n    return x + sink;\n}\n";
    let caller = "int callee(int);\nint main(int argc, char **) {\n    return callee(argc);\n}\n";
    let sources = [("callee.cc", callee), ("caller.cc", caller)];
    let Some(program) = build("c++", &sources, &["-g", "-O2", "-flto"]) else { return };
    let addresses = addresses_of(symbols(&program.binary)["main"], 1);
    let structure = resolve(&program.binary, &addresses);
    let inlined = addresses.iter().map(|&a| chain(&structure, a)).find(|chain| chain.len() == 2);
    let chain = inlined.expect("callee inlined into main");
    assert_eq!(chain[0], ("main".into(), "caller.cc".into(), 3));
    assert_eq!((chain[1].0.as_str(), chain[1].1.as_str()), ("callee", "callee.cc"));
}

const TWICE: &str = r#"
__attribute__((noinline, noclone)) long scale_rows(long x, long n) {
    for (long i = 0; i < n; i++) x = x * 25214903917 + 11;
    return x;
}
__attribute__((noinline, noclone)) long scale_columns(long x, long n) {
    for (long i = 0; i < n; i++) x = x * 25214903917 + 11;
    return x;
}
int main(int argc, char **) { return scale_rows(argc, 3) == scale_columns(argc, 4); }
"#;

/// The linker keeps one of two functions with the same code: it has both names, whatever is known of them.
#[test]
fn functions_that_the_linker_made_one_have_both_names() {
    if std::process::Command::new("ld.gold").arg("--version").output().is_err() {
        eprintln!("SKIP: no ld.gold");
        return;
    }
    for debug in ["-g", "-g0"] {
        let flags = [debug, "-O2", "-fno-ipa-icf", "-ffunction-sections", "-fuse-ld=gold", "-Wl,--icf=all"];
        let Some(program) = build("c++", &[("twice.cc", TWICE)], &flags) else { return };
        let symbols = symbols(&program.binary);
        let (rows, columns) = (symbols["_Z10scale_rowsll"], symbols["_Z13scale_columnsll"]);
        assert_eq!(rows, columns, "the linker folds them");
        let structure = resolve(&program.binary, &[rows.0]);
        let name = chain(&structure, rows.0)[0].0.clone();
        let mut names: Vec<&str> = name.split(" = ").collect();
        names.sort_unstable();
        assert_eq!(names, ["scale_columns", "scale_rows"], "{debug}");
    }
}
