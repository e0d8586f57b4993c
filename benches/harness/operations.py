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


