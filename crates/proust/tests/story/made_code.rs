//! Code made at run time: its names from perf's map and from jitdump, with the shares that the program
//! measured, and from runtimes that are installed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::chance::{Share, assert_shares};
use crate::programs::{built, has};
use crate::recording::{Recorded, empty_folder, list, number, record, report};

const SECONDS: &str = "2";
const ONCE: &str = "made_once";
const THRICE: &str = "made thrice, with blanks";
const LATE: &str = "made_late";
const OUTSIDE: &str = "[code outside all modules]";
const MADE: &str = "[made at run time]";

/// A recording of the program with names in this form; what it left in /tmp is removed.
fn recorded(program: PathBuf, form: &str, folder: &Path) -> Recorded {
    let folder = folder.to_str().expect("a path in UTF-8");
    let run = record(program, &[SECONDS, form, folder]).succeeded();
    let _ = fs::remove_file(format!("/tmp/perf-{}.map", number(&run.truth(), "/pid")));
    run
}

/// What is noted of code that has no names: samples in it, of how many.
fn noted_unnamed(run: &Recorded) -> Option<(f64, f64)> {
    let page: serde_json::Value = run.page("quality", &[]);
    let note = list(&page, "/quality/noted").iter().find(|note| note["id"] == "unnamed-code")?;
    Some((number(note, "/samples"), number(note, "/of")))
}

/// Each function has the share that the program measured, and is shown as made at run time.
fn assert_functions(run: &Recorded, names: &[&str]) {
    let (truth, flat) = (run.truth(), run.flat());
    let seconds = |name: &str| truth["functions"][name].as_f64().expect("seconds");
    let of = |name: &str| {
        let rows: Vec<_> = flat.functions.iter().filter(|row| row.function == name).collect();
        let all: Vec<&str> = flat.functions.iter().map(|row| row.function.as_str()).collect();
        assert_eq!(rows.len(), 1, "{name} in {all:?}");
        assert_eq!(rows[0].module.as_deref(), Some(MADE), "{name}");
        rows[0].amount("cpu_s").exclusive
    };
    let (true_total, total): (f64, f64) =
        (names.iter().map(|name| seconds(name)).sum(), names.iter().map(|name| of(name)).sum());
    let shares: Vec<Share> = names
        .iter()
        .map(|name| Share {
            name: (*name).to_owned(),
            found: of(name) / total,
            truth: seconds(name) / true_total,
        })
        .collect();
    assert_shares("code made at run time", &shares, flat.total("samples"));
    assert!(total > 0.9 * flat.total("cpu_s"), "{total} of {}", flat.total("cpu_s"));
    // As a caller it may be there: of a function without a frame the unwinder guesses its caller.
    let outside = flat.functions.iter().filter(|row| row.function == OUTSIDE);
    let outside: f64 = outside.map(|row| row.amount("cpu_s").exclusive).sum();
    assert!(outside == 0.0, "{OUTSIDE} has {outside} s");
    assert_eq!(noted_unnamed(run), None);
}

#[test]
fn a_perf_map_names_code_made_at_run_time() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "map", folder.path());
    assert_functions(&run, &[ONCE, THRICE]);
    // The copy is the run's own: the file itself is gone by now. The tree has the names, too.
    let tree = run.tree();
    assert!(tree.contexts.iter().any(|context| context.name == THRICE));
}

#[test]
fn the_last_function_at_an_address_counts() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "reused", folder.path());
    assert_functions(&run, &[ONCE, THRICE]);
    assert!(run.flat().functions.iter().all(|row| !row.function.starts_with("gone_before")));
}

/// What a process has made, its forked children execute, too.
#[test]
fn a_forked_child_without_a_map_has_its_parents_names() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "forked", folder.path());
    assert_functions(&run, &[ONCE, THRICE]);
}

#[test]
fn without_names_it_is_code_outside_all_modules() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "none", folder.path());
    let flat = run.flat();
    let outside: f64 = (flat.functions.iter().filter(|row| row.function == OUTSIDE))
        .map(|row| row.amount("cpu_s").exclusive)
        .sum();
    assert!(outside > 0.9 * flat.total("cpu_s"), "{outside} of {}", flat.total("cpu_s"));
    let (samples, of) = noted_unnamed(&run).expect("a note");
    assert!(samples > 0.8 * of && of == run.summary().quality.samples as f64, "{samples} of {of}");
}

#[test]
fn a_jitdump_names_code_made_at_run_time() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "dump", folder.path());
    // Before the first report: the run has a copy.
    drop(folder);
    assert_functions(&run, &[ONCE, THRICE]);
}

/// Half of the time one function has an address, and then another one; and one has two addresses.
#[test]
fn a_jitdump_tells_by_time_what_an_address_was() {
    let (Some(program), folder) = (built("made_code"), empty_folder()) else { return };
    let run = recorded(program, "moved", folder.path());
    assert_functions(&run, &[ONCE, THRICE, LATE]);
}

/// What a program's map says that somebody else wrote, or that is older than the run, is not believed.
#[test]
fn a_map_of_an_earlier_process_names_nothing() {
    let Some(program) = built("made_code") else { return };
    let folder = empty_folder();
    // The shell becomes the program, with its number: its map is from before the run, for all that it says.
    let script = "echo '0 ffffffffffffffff not_mine' > /tmp/perf-$$.map; \
                  touch -d '1 hour ago' /tmp/perf-$$.map; \
                  exec \"$0\" \"$@\"";
    let program = program.to_str().expect("a path in UTF-8");
    let folder = folder.path().to_str().expect("a path in UTF-8");
    let run = record("/bin/sh", &["-c", script, program, "0.5", "none", folder]).succeeded();
    let _ = fs::remove_file(format!("/tmp/perf-{}.map", number(&run.truth(), "/pid")));
    assert!(run.flat().functions.iter().all(|row| row.function != "not_mine"));
}

/// Whether a command ends well without Proust; its map is removed.
fn runs(command: &mut Command) -> bool {
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { return false };
    let ended = child.wait();
    let _ = fs::remove_file(format!("/tmp/perf-{}.map", child.id()));
    ended.is_ok_and(|status| status.success())
}

/// The newest Python here that can write a perf map.
fn python() -> Option<PathBuf> {
    let mut known = vec![PathBuf::from("python3")];
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    for version in fs::read_dir(home?.join("versions")).into_iter().flatten().flatten() {
        known.push(version.path().join("bin/python3"));
    }
    known.into_iter().rev().find(|python| {
        let ask = "import sys; sys.activate_stack_trampoline('perf'); sys.deactivate_stack_trampoline()";
        runs(Command::new(python).args(["-c", ask]))
    })
}

/// Share of the CPU time that is spent in and below such functions, of which none calls another. What the
/// runtime left in /tmp is removed.
fn share(run: &Recorded, is_one: impl Fn(&str) -> bool) -> f64 {
    for location in run.threads().locations {
        let _ = fs::remove_file(format!("/tmp/perf-{}.map", location.process));
    }
    let flat = run.flat();
    let functions = flat.functions.iter().filter(|row| is_one(&row.function));
    functions.map(|row| row.amount("cpu_s").inclusive).sum::<f64>() / flat.total("cpu_s")
}

#[test]
fn functions_of_python_have_names() {
    let Some(python) = python() else {
        println!("SKIP: no Python here writes a perf map: 3.12 is the first");
        return;
    };
    let script = "\
def hot(n):
    x = 1
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x
for _ in range(40):
    hot(50000)
";
    let run = record(python, &["-X", "perf", "-c", script]).succeeded();
    let share = share(&run, |name| name.starts_with("py::hot:"));
    assert!(
        share > 0.5 && share < 1.000_001,
        "{share}: {}",
        report(&run.dir, "flat", &["--limit", "9"]).printed()
    );
}

#[test]
fn functions_of_node_have_names() {
    if !has("node") {
        println!("SKIP: node is not installed");
        return;
    }
    let script = "\
function hot(n) {
    let x = 1;
    for (let i = 0; i < n; i++) x = (x * 1103515245 + 12345) % 2147483648;
    return x;
}
let sum = 0; for (let i = 0; i < 80; i++) sum += hot(1000000); console.log(sum);";
    for option in ["--perf-basic-prof", "--perf-prof"] {
        // It writes its files where it is.
        let folder = empty_folder();
        let shell = "cd \"$0\" && exec node \"$1\" -e \"$2\"";
        let folder = folder.path().to_str().expect("a path in UTF-8");
        let run = record("/bin/sh", &["-c", shell, folder, option, script]).succeeded();
        let share = share(&run, |name| name.contains("hot"));
        assert!(share > 0.5, "{option}, {share}: {}", report(&run.dir, "flat", &["--limit", "9"]).printed());
    }
}

#[test]
fn methods_of_java_have_names() {
    let source = "\
public class Hot {
    static long hot(int n) {
        long x = 1;
        for (int i = 0; i < n; i++) x = (x * 1103515245L + 12345L) % 2147483648L;
        return x;
    }
    public static void main(String[] arguments) {
        long sum = 0;
        for (int i = 0; i < 600; i++) sum += hot(1000000);
        System.out.println(sum);
    }
}
";
    let folder = empty_folder();
    let file = folder.path().join("Hot.java");
    fs::write(&file, source).expect("a file");
    let options = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"];
    let arguments = [options[0], options[1], file.to_str().expect("a path in UTF-8")];
    // Without Proust: a JVM may lack the option, or a compiler.
    if !runs(Command::new("java").args(arguments)) {
        println!("SKIP: no JVM here compiles a source and writes a perf map: 17 is the first");
        return;
    }
    let run = record("java", &arguments).succeeded();
    let share = share(&run, |name| name.contains("Hot.hot"));
    assert!(share > 0.3, "{share}: {}", report(&run.dir, "flat", &["--limit", "9"]).printed());
}
