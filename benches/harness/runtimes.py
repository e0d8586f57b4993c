"""What it costs to find the runtime that a call belongs to: the same calls bare and through the hooks of a
collector that records nothing."""
import os

from .parallel import program
from .session import run, say, summary, summary_of_differences

# Hooked calls in each of what the program measures.
CALLS = {"barrier": 1, "critical": 2, "chunk": 1}


def runtimes(tool, quick):
    """One thread, in turn; the program takes the least of many batches."""
    rounds = 9 if quick else 61
    measured = program("gcc")
    bare_env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "PROUST_RUN")}
    folder, _ = tool.bare_folder()
    idle_env = dict(bare_env, LD_PRELOAD=str(folder / "libproust_collector.so"))
    pairs = []
    for _ in range(rounds):
        bare, idle = (run([measured, 1], env=env).json() for env in (bare_env, idle_env))
        pairs.append((bare, idle))
    rows = []
    for kind, calls in CALLS.items():
        both = [(bare[f"{kind}_ns"] / calls, idle[f"{kind}_ns"] / calls) for bare, idle in pairs]
        rows.append({
            "kind": kind, "runs": rounds, "bare_ns": summary([a for a, _ in both]), "hooked_ns": summary(
                [b for _, b in both]), "added_ns": summary_of_differences([b - a for a, b in both])
        })
        say(f"  {kind}: {rows[-1]['added_ns']['median']:+.1f} ns a call")
    return {"rounds": rounds, "rows": rows}
