"""What OpenMP's constructs cost with the collector: regions, barriers, tasks, critical sections, requests for iterations."""
import os
import subprocess

from .operations import in_turn
from .session import BENCHES, BUILD, Skip, run, say, summary, summary_of_differences

# Not every Clang that is installed has a runtime.
COMPILERS = {"gcc": ("gcc",), "clang": ("clang", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14")}
THREADS = (1, 2)


def program(compiler):
    out = BUILD / f"programs/openmp-{compiler}"
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in COMPILERS[compiler]:
        try:
            subprocess.run([name, "-O2", "-g", "-fopenmp", "-o", out, BENCHES / "openmp.c"], check=True, stderr=subprocess.DEVNULL)
            return str(out)
        except (OSError, subprocess.CalledProcessError):
            continue
    raise Skip(f"no {compiler} here has a runtime of OpenMP")


def parallel(tool, quick):
    """The same constructs with and without the collector; the program takes the least of many batches."""
    rounds = 9 if quick else 61
    rows = []
    for compiler in COMPILERS:
        try:
            measured = program(compiler)
        except Skip as reason:
            say(f"  {reason}")
            continue
        for threads in THREADS:
            if threads > (os.cpu_count() or 1):
                continue
            _, env = tool.bare_folder()

            def least(environment, measured=measured, threads=threads):
                said = run([measured, threads], env=environment).json()
                return {kind[:-3]: ns for kind, ns in said.items() if kind.endswith("_ns")}

            figures = in_turn(env, rounds, least)
            for kind in figures["bare"]:
                bare, proust = figures["bare"][kind], figures["proust"][kind]
                rows.append({"compiler": compiler, "threads": threads, "kind": kind, "bare_ns": summary(bare), "proust_ns": summary(proust),
                             "added_ns": summary_of_differences([b - a for a, b in zip(bare, proust)]),
                             "added_percent": summary_of_differences([100 * (b / a - 1) for a, b in zip(bare, proust)])})
                say(f"  {compiler}, {threads} threads, {kind}: {rows[-1]['added_ns']['median']:+.1f} ns")
    if not rows:
        raise Skip("no compiler here has a runtime of OpenMP")
    return {"rounds": rounds, "rows": rows}
