"""What barriers cost that follow each other as closely as solvers have them, and calls inside other
operations."""
from .parallel import builds
from .session import Skip, compile_program, run, say, slow_from, summary, summary_of_differences

SECONDS = 0.3
# Where the search begins for a grid whose loops take a microsecond with their barrier, and its bounds.
COLUMNS = {("gcc", 1): 600, ("gcc", 2): 1024, ("clang", 1): 2000, ("clang", 2): 2600}
FEWEST_COLUMNS, MOST_COLUMNS = 512, 8192
WANTED_NS = 1000


def columns_for(measured, threads, columns, env):
    """So many columns that a loop with its barrier takes about a microsecond on this machine today. What a
    barrier takes is for the machine's host to choose; the rest is the loop's, and grows with the columns."""
    took = {}
    for _ in range(4):
        took[columns] = run([measured, threads, SECONDS / 2, columns], env=env).json()["by_name_ns"]
        if abs(took[columns] / WANTED_NS - 1) < 0.05:
            break
        columns = int(min(max(columns * WANTED_NS / took[columns], FEWEST_COLUMNS), MOST_COLUMNS))
    return min(took, key=lambda columns: abs(took[columns] - WANTED_NS))


def barriers(tool, quick):
    """A loop of about a microsecond with a barrier behind it, with and without the collector in turn: the
    median of a run's batches, against the mean of the bare runs before and after. By GCC also within one
    process: each batch with the hook against the one without. LLVM's runtime takes some time itself to tell
    a tool: a tool that does nothing takes turns with them."""
    rounds = 9 if quick else 31
    rows = []
    empty_tool = compile_program("empty_tool", options=("-shared", "-fPIC"))
    for compiler, measured, threads in builds("barriers", ["-ldl"]):
        _, env = tool.bare_folder()
        env = dict(env, OMP_PROC_BIND="true")
        bare_env = {name: value for name, value in env.items() if name != "LD_PRELOAD"}
        columns = columns_for(measured, threads, COLUMNS[compiler, threads], bare_env)
        command = [measured, threads, SECONDS, columns]
        bare, proust, empty = [run(command, env=bare_env).json()], [], []
        for _ in range(rounds):
            proust.append(run(command, env=env).json())
            if compiler == "clang":
                empty.append(run(command, env=dict(bare_env, LD_PRELOAD=empty_tool)).json())
            bare.append(run(command, env=bare_env).json())
        slow = slow_from([figures["by_name_ns"] for figures in bare], 1.3) if threads > 1 else None
        groups = {None: []} if slow is None else {"a cache": [], "none": []}
        for before, with_it, without_effect, after in zip(bare, proust, empty or [None] * rounds, bare[1:]):
            kinds = {
                None if slow is None else "none" if figures["by_name_ns"] >= slow else "a cache"
                for figures in (before, after)
            }
            if len(kinds) == 1:
                groups[kinds.pop()].append(
                    ((before["by_name_ns"] + after["by_name_ns"]) / 2, with_it, without_effect))
        for shared, triples in groups.items():
            if len(triples) < 5:
                continue
            pairs = [(a, b) for a, b, _ in triples]
            of_empty_tool = {}
            if empty:
                of_empty_tool = {
                    "empty_tool_ns": summary_of_differences([c["by_name_ns"] - a for a, _, c in triples]),
                    "beyond_it_ns": summary_of_differences(
                        [b["by_name_ns"] - c["by_name_ns"] for _, b, c in triples]),
                }
            rows.append({
                "compiler": compiler, "threads": threads, "processors_share": shared, "runs": len(pairs),
                "columns": columns, "bare_ns": summary([a for a, _ in pairs]), "proust_ns": summary(
                    [b["by_name_ns"] for _, b in pairs]), "added_percent": summary_of_differences([
                        100 * (b["by_name_ns"] / a - 1) for a, b in pairs
                    ]), "added_ns": summary_of_differences([
                        b["added_ns"] if b["own_ns"] else b["by_name_ns"] - a for a, b in pairs
                    ]), **of_empty_tool
            })
            sharing = f", sharing {shared}" if shared else ""
            say(f"  {compiler}, {threads} threads{sharing}: {rows[-1]['added_percent']['median']:+.1f} %, "
                f"{rows[-1]['added_ns']['median']:+.1f} ns")
    if not rows:
        raise Skip("no compiler here has a runtime of OpenMP")
    return {"rounds": rounds, "rows": rows}


def nested(tool, quick):
    """Calls in a signal handler that runs inside another operation of the thread, with and without the
    collector in turn."""
    rounds = 5 if quick else 21
    measured = compile_program("nested")
    _, env = tool.bare_folder()
    bare_env = {name: value for name, value in env.items() if name != "LD_PRELOAD"}
    pairs = [(run([measured], env=bare_env).json(), run([measured], env=env).json()) for _ in range(rounds)]
    rows = [{
        "kind": kind[:-3], "bare_ns": summary([a[kind] for a, _ in pairs]), "proust_ns": summary(
            [b[kind]
             for _, b in pairs]), "added_ns": summary_of_differences([b[kind] - a[kind] for a, b in pairs])
    } for kind in pairs[0][0]]
    for row in rows:
        say(f"  {row['kind']}: {row['added_ns']['median']:+.1f} ns")
    return {"rounds": rounds, "rows": rows}
