"""What OpenMP's constructs cost with the collector: regions, barriers, tasks, critical sections, requests
for iterations."""
import os
import subprocess

from .session import BENCHES, BUILD, Skip, run, say, slow_from, summary, summary_of_differences

# Not every Clang that is installed has a runtime.
COMPILERS = {
    "gcc": ("gcc", ),
    "clang": ("clang", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14")
}
THREADS = (1, 2)
# Fewer runs of a kind say nothing.
FEWEST = 5


def program(compiler, source="openmp", libraries=()):
    """A program of benches/ by GCC on its runtime or by Clang on LLVM's."""
    out = BUILD / f"programs/{source}-{compiler}"
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in COMPILERS[compiler]:
        try:
            command = [name, "-O2", "-g", "-fopenmp", "-o", out, BENCHES / f"{source}.c", *libraries]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            return str(out)
        except (OSError, subprocess.CalledProcessError):
            continue
    raise Skip(f"no {compiler} here has a runtime of OpenMP")


def builds(source="openmp", libraries=()):
    """Compiler, program and number of threads, for all that this machine can run; what it cannot is said."""
    for compiler in COMPILERS:
        try:
            measured = program(compiler, source, libraries)
        except Skip as reason:
            say(f"  {reason}")
            continue
        for threads in THREADS:
            if threads <= (os.cpu_count() or 1):
                yield compiler, measured, threads


def parallel(tool, quick):
    """The same constructs with and without the collector, in turn; the program takes the least of many
    batches. A run is compared with the mean of the bare ones before and after it; where the machine was
    another one before than after, it is left out."""
    rounds = 9 if quick else 61
    rows = []
    for compiler, measured, threads in builds():
        _, env = tool.bare_folder()
        bare_env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

        def least(environment, measured=measured, threads=threads):
            said = run([measured, threads], env=environment).json()
            return {kind[:-3]: ns for kind, ns in said.items() if kind.endswith("_ns")}

        bare, proust = [least(bare_env)], []
        for _ in range(rounds):
            proust.append(least(env))
            bare.append(least(bare_env))
        slow = slow_from([figures["region"] for figures in bare], 1.5) if threads > 1 else None
        groups = {None: []} if slow is None else {"a cache": [], "none": []}
        for before, with_it, after in zip(bare, proust, bare[1:]):
            kinds = {
                None if slow is None else "none" if figures["region"] >= slow else "a cache"
                for figures in (before, after)
            }
            if len(kinds) == 1:
                groups[kinds.pop()].append(({kind: (before[kind] + after[kind]) / 2
                                             for kind in before}, with_it))
        for shared, pairs in groups.items():
            if len(pairs) < FEWEST:
                continue
            for kind in proust[0]:
                both = [(without[kind], with_it[kind]) for without, with_it in pairs]
                rows.append({
                    "compiler": compiler, "threads": threads, "processors_share": shared, "kind": kind,
                    "runs": len(pairs), "bare_ns": summary([a for a, _ in both]), "proust_ns": summary(
                        [b for _, b in both]), "added_ns": summary_of_differences([b - a for a, b in both]),
                    "added_percent": summary_of_differences([100 * (b / a - 1) for a, b in both])
                })
                sharing = f", sharing {shared}" if shared else ""
                added_ns = rows[-1]["added_ns"]["median"]
                say(f"  {compiler}, {threads} threads{sharing}, {kind}: {added_ns:+.1f} ns")
    if not rows:
        raise Skip("no compiler here has a runtime of OpenMP")
    return {"rounds": rounds, "rows": rows}
