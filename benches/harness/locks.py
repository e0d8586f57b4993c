"""What the collector adds to locks that several threads want."""
import os
import textwrap

from .cells import of, sure, table, verdict
from .operations import in_turn
from .session import Skip, compile_program, run, say, summary, summary_of_differences

# Columns of the document.
WIDTH = 110
TIMES_NS = (0, 100, 300, 1000, 3000, 10000)
QUICK_NS = (0, 300, 3000)
# Kind, threads, and whether it is measured with --quick, too.
LOCKS = (("mutex", 2, True), ("mutex", 4, False), ("spin", 2, False), ("rwlock-write", 2, False))


def ratios(tool, quick):
    """At every ratio of holding to thinking. The program calls the hooks, the C library's own functions, ones
    that do nothing but call them, and ones that time waits and nothing else, in turn, within one process;
    without the collector the first two are the same, which shows the noise."""
    program = compile_program("lock_matrix", options=["-ldl"])
    _, env = tool.bare_folder()
    bare_env = dict(os.environ)
    bare_env.pop("LD_PRELOAD", None)
    times = ",".join(map(str, QUICK_NS if quick else TIMES_NS))
    rows = []
    for kind, threads, is_quick in LOCKS:
        if quick and not is_quick:
            continue
        arguments = [program, 16 if quick else 54, kind, threads, times, times]
        hooked = run(arguments, env=env).json()
        if not hooked["hooked"]:
            raise Skip("lock_matrix does not call the collector's hooks")
        control = run([*arguments[:1], 8 if quick else 27, *arguments[2:]], env=bare_env).json()
        for cell, same in zip(hooked["cells"], control["cells"]):
            rows.append({"kind": kind, "threads": threads, **cell, "noise": same["ratio"]})
        ratios = sorted(cell["ratio"] for cell in hooked["cells"])
        say(f"  {kind}, {threads} threads: {ratios[len(ratios) // 2]:.2f}, at worst {ratios[-1]:.2f}")
    return {"rows": rows}


# Threads, and nanoseconds held and between.
RUNS = ((2, 100, 100), (2, 300, 300), (2, 1000, 1000), (2, 3000, 3000), (2, 10000, 10000), (2, 1000, 300),
        (2, 300, 1000), (4, 300, 300), (4, 1000, 3000))


def runs(tool, quick):
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


def ratios_shown(result):
    """One matrix for each kind of lock: a row for each time of holding, a column for each of thinking."""
    parts = []
    for kind, threads in dict.fromkeys((row["kind"], row["threads"]) for row in result["rows"]):
        cells = {(row["hold_ns"], row["think_ns"]): row
                 for row in result["rows"] if (row["kind"], row["threads"]) == (kind, threads)}
        thinks = sorted({think for _, think in cells})
        rows = []
        for hold in sorted({hold for hold, _ in cells}):
            of_row = [cells[hold, think] for think in thinks]
            rows.append([
                f"{hold / 1000:g}", *(f"{c['ratio']:.2f} ({c['low']:.2f} … {c['high']:.2f})" for c in of_row)
            ])
        ratios, noise = [c["ratio"] for c in cells.values()], [c["noise"] for c in cells.values()]
        met = sum(ratio <= 1.1 for ratio in ratios)
        missed = "; ".join(
            f"{c['hold_ns'] / 1000:g} and {c['think_ns'] / 1000:g}: {c['wrapped_ratio']:.2f} "
            f"({c['wrapped_low']:.2f} … {c['wrapped_high']:.2f}), {c['timed_ratio']:.2f} "
            f"({c['timed_low']:.2f} … {c['timed_high']:.2f})"
            for c in cells.values() if c["ratio"] > 1.1)
        text = (f"{met} of {len(ratios)} at most 1.1 times as long, {max(ratios):.2f} at worst; the same "
                f"functions twice: {min(noise):.2f} to {max(noise):.2f}.")
        if missed:
            text += (" Where it is more, functions that only call the real ones, and ones that read the "
                     f"processor's counter before and after each wait: {missed}.")
        parts.append(
            table([
                f"{kind}, {threads} threads: held, µs", *(f"{think / 1000:g} µs between" for think in thinks)
            ], rows) + "\n\n" + textwrap.fill(text, WIDTH))
    return "\n\n".join(parts)


def runs_shown(result):
    rows = [[
        row["threads"], f"{row['hold_ns'] / 1000:g}", f"{row['think_ns'] / 1000:g}",
        of(row["bare_ns"], 0),
        of(row["proust_ns"], 0),
        sure(row["ratio"], 2),
        verdict(row["ratio"], 1.1), f"{row['bare_sleeps']['median']:.0f}",
        f"{row['proust_sleeps']['median']:.0f}"
    ] for row in result["rows"]]
    return table([
        "threads", "held, µs", "between, µs", "bare, ns an acquisition", "recorded, ns",
        "ratio of pairs [95 %]", "≤ 1.1", "sleeps of 1000, bare", "recorded"
    ], rows) + f"\n\n{result['rounds']} pairs of runs of 0.15 s, in turn."
