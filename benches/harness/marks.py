"""What marks cost the program that has them."""
from .cells import of, sure, table, verdict
from .operations import in_turn
from .session import MARKS, compile_program, run, say, summary, summary_of_differences


def marks(tool, quick):
    """A begin and an end of an interval, by the header of marks; with and without the collector in turn."""
    rounds = 9 if quick else 31
    program = compile_program("marks", options=(f"-I{MARKS}",))
    _, env = tool.bare_folder()
    figures = in_turn(env, rounds, lambda environment: run([program], env=environment).json())
    rows = [{
        "kind": kind[:-3], "bare_ns": summary(figures["bare"][kind]), "proust_ns": summary(
            figures["proust"][kind]), "added_ns": summary_of_differences(
                [b - a for a, b in zip(figures["bare"][kind], figures["proust"][kind])])
    } for kind in figures["bare"]]
    for row in rows:
        say(f"  {row['kind']}: {row['added_ns']['median']:+.1f} ns a pair")
    return {"rounds": rounds, "rows": rows}


def shown(result):
    """The table of them."""
    kinds = {
        "frequent": "a few hundred nanoseconds apart: most are summed up",
        "rare": "20 µs apart: each is recorded"
    }
    rows = [[
        kinds[row["kind"]],
        of(row["bare_ns"], 1),
        of(row["proust_ns"], 1),
        sure(row["added_ns"], 1), "≤ 120 ns",
        verdict(row["added_ns"], 120.0)
    ] for row in result["rows"]]
    heads = [
        "pairs of marks", "bare, ns a pair", "with the collector, ns", "added, ns [95 %]", "target", ""
    ]
    return table(heads, rows) + f"\n\n{result['rounds']} runs, with and without in turn."
