"""What hooks cost the measured program: locks, waits, I/O calls."""
import os
import subprocess

from .session import (BENCHES, BUILD, PROGRAMS, Skip, compile_program, needed, run, say, summary,
                      summary_of_differences)

ALONE = ("mutex", "recursive", "trylock", "rwlock-read", "rwlock-write", "spin", "signal", "semaphore",
         "once", "read", "write", "steady-2")
# A run of these falls into one of two manners, with much sleeping or with little: many short runs tell more
# than few long ones.
CONTENDED = ("contended-2", "contended-4")


def lock_speed_program():
    needed(os.environ.get("CC", "cc"))
    subprocess.run(["make", "--silent", "-C", PROGRAMS, "build/lock_speed"], check=True)
    return str(PROGRAMS / "build/lock_speed")


def rust_mutex_program():
    out = BUILD / "programs/rust_mutex"
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([needed("rustc"), "-O", "-o", out, BENCHES / "rust_mutex.rs"], check=True)
    return str(out)


def in_turn(env, rounds, measure):
    """`measure(environment)` gives figures by kind; with and without the collector in turn."""
    bare_env = dict(os.environ)
    bare_env.pop("LD_PRELOAD", None)
    figures = {"bare": {}, "proust": {}}
    for number in range(rounds):
        for name in (("bare", "proust") if number % 2 else ("proust", "bare")):
            for kind, ns in measure(env if name == "proust" else bare_env).items():
                figures[name].setdefault(kind, []).append(ns)
    return figures


def operations(tool, quick):
    """The same calls with and without the collector; the program times itself, batch by batch."""
    program = lock_speed_program()
    _, env = tool.bare_folder()
    rounds, seconds = (7, 2) if quick else (25, 4)

    def lock_speed(kinds, of_seconds):
        def measure(environment):
            said = run([program, of_seconds, *kinds], env=environment).json()
            return {row["kind"]: row["ns"] for row in said["kinds"]}
        return measure

    figures = in_turn(env, rounds, lock_speed(ALONE, seconds))
    contended = in_turn(env, 6 * rounds, lock_speed(CONTENDED, 0.4))
    for name in figures:
        figures[name].update(contended[name])
    try:
        mutex = rust_mutex_program()
        rust = in_turn(env, rounds,
                       lambda environment: {"rust-mutex": run([mutex], env=environment).json()["ns"]})
        for name in figures:
            figures[name].update(rust[name])
    except Skip as reason:
        say(f"  Rust's mutex is skipped: {reason}")
    rows = []
    for kind in figures["bare"]:
        bare, proust = figures["bare"][kind], figures["proust"][kind]
        rows.append({
            "kind": kind, "bare_ns": summary(bare), "proust_ns": summary(proust),
            "added_ns": summary_of_differences([b - a for a, b in zip(bare, proust)]),
            "added_percent": summary_of_differences([100 * (b / a - 1) for a, b in zip(bare, proust)])
        })
        say(f"  {kind}: {rows[-1]['added_ns']['median']:+.1f} ns")
    return {"rounds": rounds, "seconds": seconds, "contended_rounds": 6 * rounds, "rows": rows}


TIMES_NS = (0, 100, 300, 1000, 3000, 10000)
QUICK_NS = (0, 300, 3000)
# Kind, threads, and whether it is measured with --quick, too.
LOCKS = (("mutex", 2, True), ("mutex", 4, False), ("spin", 2, False), ("rwlock-write", 2, False))


def lock_ratios(tool, quick):
    """Locks that several threads want, at every ratio of holding to thinking. The program calls the hooks
    and the C library's own functions in turn, within one process; without the collector both are the same,
    which shows the noise."""
    program = compile_program("lock_matrix", options=["-ldl"])
    _, env = tool.bare_folder()
    bare_env = dict(os.environ)
    bare_env.pop("LD_PRELOAD", None)
    times = ",".join(map(str, QUICK_NS if quick else TIMES_NS))
    rows = []
    for kind, threads, is_quick in LOCKS:
        if quick and not is_quick:
            continue
        arguments = [program, 12 if quick else 40, kind, threads, times, times]
        hooked = run(arguments, env=env).json()
        if not hooked["hooked"]:
            raise Skip("lock_matrix does not call the collector's hooks")
        control = run([*arguments[:1], 6 if quick else 20, *arguments[2:]], env=bare_env).json()
        for cell, same in zip(hooked["cells"], control["cells"]):
            rows.append({"kind": kind, "threads": threads, **cell, "noise": same["ratio"]})
        ratios = sorted(cell["ratio"] for cell in hooked["cells"])
        say(f"  {kind}, {threads} threads: {ratios[len(ratios) // 2]:.2f}, at worst {ratios[-1]:.2f}")
    return {"rows": rows}


# Threads, and nanoseconds held and between.
RUNS = ((2, 100, 100), (2, 300, 300), (2, 1000, 1000), (2, 3000, 3000), (2, 10000, 10000), (2, 1000, 300),
        (2, 300, 1000), (4, 300, 300), (4, 1000, 3000))


def lock_runs(tool, quick):
    """The same lock for whole runs, with and without the collector in turn: threads that fall in step stay
    so, or do not."""
    program = compile_program("lock_runs")
    _, env = tool.bare_folder()
    rounds = 5 if quick else 21
    rows = []
    for threads, hold, think in RUNS:
        measure = lambda environment: {
            "ns": (said := run([program, 0.15, threads, hold, think], env=environment).json())["ns"],
            "sleeps": said["sleeps"]
        }
        figures = in_turn(env, rounds, measure)
        bare, proust = figures["bare"], figures["proust"]
        rows.append({
            "threads": threads, "hold_ns": hold, "think_ns": think, "bare_ns": summary(bare["ns"]),
            "proust_ns": summary(proust["ns"]), "ratio": summary_of_differences([
                b / a for a, b in zip(bare["ns"], proust["ns"])
            ]), "bare_sleeps": summary(bare["sleeps"]), "proust_sleeps": summary(proust["sleeps"])
        })
        say(f"  {threads} threads, {hold} and {think} ns: {rows[-1]['ratio']['median']:.2f}")
    return {"rounds": rounds, "rows": rows}
