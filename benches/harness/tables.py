"""The result as Markdown tables, for the terminal and for docs/benchmarks.md."""
import re

from . import locks, marks, waits
from .cells import middle, of, sure, table, three, verdict


def handler(result):
    rows = []
    for row in result["rows"]:
        limit = 2.0 if row["depth"] <= 60 else 3.0 if row["depth"] == 1000 else None
        rows.append([
            row["depth"], row["path"],
            sure(row["full_ns"], 2, 1e-3), f"≤ {limit:.0f}" if limit else "",
            verdict(row["full_ns"], limit * 1e3) if limit else "",
            sure(row["nomemo_ns"], 2, 1e-3),
            three(row["own_ns"], 2)
        ])
    return table([
        "depth", "path changes at", "µs a sample above an empty handler", "target", "", "without memo, µs",
        "own time p10 / p50 / p90, µs"
    ], rows)


def handler_at_timer_rate(result):
    mean = lambda own: f"{own['mean'] * 1e-3:.1f}" if own and "mean" in own else "–"
    rows = [[
        row["depth"], row["path"],
        three(row["own_ns"]),
        mean(row["own_ns"]), row["own_ns"]["n"] if row["own_ns"] else 0,
        sure(row.get("full_ns"), 1, 1e-3), f"{row['delivered_a_second']:.0f}"
    ] for row in result["rows"]]
    return table([
        "depth", "path changes at", "own time p10 / p50 / p90, µs", "mean, µs", "samples",
        "on/off pairs, µs a sample", "samples delivered a CPU second"
    ], rows)


def without_timers(result):
    return (f"{result['rounds']} portions of {result['portion_s']} s without timers in each cell, one in "
            f"{result['one_in']}, against those before and after.")


def cpu_added(result):
    rows = []
    for row in result["rows"]:
        full, empty, bare = row["full_percent"], row["empty_percent"], row["bare_percent"]
        rows.append([
            f"{row['asked']}",
            sure(full, 3), f"{full['q1']:.2f} … {full['q3']:.2f}",
            verdict(full, 0.5),
            sure(bare, 3), sure(empty, 3), f"{row['own_percent']:.3f}", f"{three(row['own_ns'])}",
            f"{row['delivered_a_second']:.0f}"
        ])
    return table([
        "asked, a second", "% of CPU time, median [95 %]", "quartiles", "≤ 0.5 %",
        "a timer of the program's own, %", "empty handler, %",
        "inside the handler, %", "p10 / p50 / p90, µs", "delivered, a second"
    ], rows) + f"\n\n{without_timers(result)}"


def alarm(result):
    rows = []
    for row in result["rows"]:
        what = f"a read after {row['distance_us']} µs of work" if row["distance_us"] else "no reads"
        rows.append(
            [what,
             sure(row["percent"], 2),
             sure(row["us_a_sample"], 1), f"{row['delivered_a_second']:.0f}"])
    heads = [
        "work", "% of CPU time, timers armed against disarmed", "µs a sample",
        "samples delivered a CPU second"
    ]
    return table(heads, rows) + f"\n\n{without_timers(result)}"


def start_up(result):
    added = result["added_wall_ms"]
    lines = table(["a process that does nothing", "median (quartiles; min)", "target", ""], [
        [
            "wall time added, ms",
            sure(added, 2) + f"; quartiles {added['q1']:.2f} … {added['q3']:.2f}", "≤ 3 ms",
            verdict(added, 3.0)
        ],
        ["CPU time added, ms", sure(result["added_cpu_ms"], 2), "", ""],
        ["bare, wall ms", of(result["wall_ms"]["bare"]), "", ""],
        ["with the collector, wall ms",
         of(result["wall_ms"]["proust"]), "", ""],
        ["the collector's own account of its start, ms",
         of(result["startup_ms"]), "", ""],
        ["log of such a process on disk, KiB", f"{result['log_disk_bytes'] / 1024:.0f}", "", ""],
    ])
    return lines + "\n\n" + table(["whole command around it", "wall ms, median (quartiles; min)"],
                                  [[name, of(value, 1)]
                                   for name, value in result["whole_command_ms"].items()])


def threads(result):
    rows = [["bare", of(result["cpu_us"]["bare"], 1), of(result["wall_us"]["bare"], 1), "", "", "", ""]]
    for name in result["added_cpu_us"]:
        own = name == "proust"
        rows.append([
            name,
            of(result["cpu_us"][name], 1),
            of(result["wall_us"][name], 1),
            sure(result["added_cpu_us"][name], 1),
            sure(result["added_wall_us"][name], 1), "≤ 10 µs" if own else "",
            verdict(result["added_cpu_us"][name], 10.0) if own else ""
        ])
    return table([
        "create and join", "CPU µs a thread", "wall µs a thread", "CPU added, µs [95 %]",
        "wall added, µs [95 %]", "target", ""
    ], rows)


def forks(result):
    rows = []
    for name, key, target in (("fork, exit and wait, µs a child", "fork_us", 300.0),
                              ("a shell's loop of a short program, ms a turn", "shell_ms", None)):
        if key in result:
            row = result[key]
            rows.append([
                name,
                of(row["bare"], 2),
                of(row["proust"], 2),
                sure(row["added"], 2), f"≤ {target:.0f} µs" if target else "",
                verdict(row["added"], target) if target else ""
            ])
    return table(["", "bare", "recorded", "added [95 %]", "target", ""], rows)


def many_waits(result):
    rows = []
    for row in result["rows"]:
        if "skipped" in row:
            rows.append([row["threads"], row["mappings"], f"skipped: {row['skipped']}", "", "", "", ""])
            continue
        wall, memory = row["wall_us"], row["resident_kb"]
        rows.append([
            row["threads"], row["mappings"],
            of(wall["bare"], 1),
            of(wall["proust"], 1),
            sure(wall["added"], 1),
            middle(memory["bare"], 0),
            middle(memory["proust"], 0)
        ])
    return table([
        "threads", "other mappings", "bare, µs a thread", "recorded, µs a thread", "added, µs [95 %]",
        "resident, bare, KiB", "resident, recorded, KiB"
    ], rows)


def live_threads(result):
    rows = []
    for row in result["rows"]:
        added, count = row["added"], row["threads"]
        limit = 80e6 / 1024 * count / 10000
        # Where threads are few, what the process takes once is a large part.
        target = (f"≤ {limit:.0f}", verdict(added["resident_kib"], limit)) if count >= 10000 else ("", "")
        rows.append([
            count,
            sure(added["resident_kib"], 0), f"{added['resident_kib']['median'] / count:.1f}", *target,
            f"{row['log_bytes'] / 1024 / count:.1f}", f"{added['mappings']['median']:.0f}",
            f"{1e6 * row['bare']['create_s']['median'] / count:.1f}",
            f"{1e6 * added['create_s']['median'] / count:.1f}",
            f"{1e6 * row['bare']['end_s']['median'] / count:.1f}",
            f"{1e6 * added['end_s']['median'] / count:.1f}"
        ])
    return table([
        "threads at once", "resident memory added, KiB [95 %]", "KiB a thread", "target", "", "of it log",
        "mappings added", "creating one, bare, µs", "added, µs", "waking and ending one, bare, µs",
        "added, µs"
    ], rows)


def log_size(result):
    rows = [[
        row["program"], row["samples"], row["nodes"], f"{row['sample_record_bytes']:.0f}",
        f"{row['running_bytes_a_sample']:.0f}", f"{row['bytes_a_sample']:.0f}",
        f"{row['bytes_a_thread_minute'] / 1e3:.0f}", f"{row['node_bytes'] / 1e3:.1f}",
        f"{row['disk_bytes'] / 1e3:.0f}"
    ] for row in result["rows"]]
    return table([
        "program", "samples", "contexts", "bytes: a sample's record", "with scheduler records",
        "all records, a sample", "kB a minute and thread", "kB of contexts, once", "kB on disk"
    ], rows)


def memory(result):
    rows = []
    for row in result["rows"]:
        added, limit = row["added_kb"], 1024 + 64 * row["threads"]
        spread = row["spread_kb"]["VmHWM"]
        rows.append([
            row["threads"], f"{added['VmHWM']:.0f} ({spread[0]:.0f} … {spread[1]:.0f})", f"≤ {limit}",
            "met" if spread[1] <= limit else "missed" if spread[0] > limit else "not decided",
            f"{added['RssAnon']:.0f}", f"{added['RssFile'] + added['RssShmem']:.0f}", f"{row['arena_kb']:.0f}"
        ])
    return table([
        "threads", "peak resident memory added, KiB (min … max)", "target", "", "of it anonymous",
        "of it files (library, log)", "handed out by the collector's arena"
    ], rows)


OPERATION_TARGETS = {
    "mutex": ("≤ 12 ns", "added_ns", 12.0), "rust-mutex": ("0", "added_ns", 0.2),
    "read": ("≤ 120 ns", "added_ns", 120.0), "write": ("≤ 120 ns", "added_ns", 120.0),
    "contended-2": ("within 10 %", "added_percent", 10.0),
    "contended-4": ("within 10 %", "added_percent", 10.0), "steady-2": ("≤ 5 %", "added_percent", 5.0)
}


def operations(result):
    rows = []
    for row in result["rows"]:
        text, of_which, limit = OPERATION_TARGETS.get(row["kind"], ("", None, None))
        rows.append([
            row["kind"],
            of(row["bare_ns"], 1),
            of(row["proust_ns"], 1),
            sure(row["added_ns"], 1),
            sure(row["added_percent"], 1), text,
            verdict(row[of_which], limit) if of_which else ""
        ])
    heads = [
        "operation", "bare, ns", "with the collector, ns", "added, ns [95 %]", "added, % [95 %]", "target", ""
    ]
    return table(heads, rows) + \
        f"\n\n{result['rounds']} runs of {result['seconds']} s each, with and without in turn; " \
        "of the contended ones " \
        f"{result.get('contended_rounds', result['rounds'])} shorter ones."


PARALLEL_TARGETS = {
    "barrier": ("≤ 130 ns", "added_ns", 130.0), "region": ("≤ 350 ns", "added_ns", 350.0),
    "task": ("≤ 150 ns", "added_ns", 150.0), "critical": ("≤ 60 ns", "added_ns", 60.0),
    "steady": ("≤ 5 %", "added_percent", 5.0)
}


def parallel(result):
    rows = []
    for row in result["rows"]:
        text, of_which, limit = PARALLEL_TARGETS.get(row["kind"], ("", None, None))
        threads = f"{row['threads']}, sharing {row['processors_share']}" if row.get(
            "processors_share") else row["threads"]
        rows.append([
            row["compiler"], threads, row["kind"], row["runs"],
            of(row["bare_ns"], 0),
            of(row["proust_ns"], 0),
            sure(row["added_ns"], 0),
            sure(row["added_percent"], 1), text,
            verdict(row[of_which], limit) if of_which else ""
        ])
    heads = [
        "compiler", "threads", "construct", "runs", "bare, ns", "with the collector, ns", "added, ns [95 %]",
        "added, % [95 %]", "target", ""
    ]
    return table(heads, rows) + \
        f"\n\n{result['rounds']} runs, with and without in turn; of each the least of 400 batches. " \
        "Where bare regions of two threads fell into two groups, the processors shared a cache in some " \
        "runs and none in others; runs between two of different groups are left out."


def barriers(result):
    rows = []
    for row in result["rows"]:
        threads = f"{row['threads']}, sharing {row['processors_share']}" if row.get(
            "processors_share") else row["threads"]
        rows.append([
            row["compiler"], threads, row["runs"],
            of(row["bare_ns"], 0),
            of(row["proust_ns"], 0),
            sure(row["added_ns"], 1),
            sure(row["beyond_it_ns"], 1) if "beyond_it_ns" in row else "",
            "≤ 15 ns" if row["threads"] == 1 else "",
            verdict(row["added_ns"], 15.0) if row["threads"] == 1 else "",
            sure(row["added_percent"], 1), "≤ 5 %",
            verdict(row["added_percent"], 5.0)
        ])
    heads = [
        "compiler", "threads", "runs", "a loop with its barrier, ns", "with the collector, ns",
        "added, ns [95 %]", "of it beyond a tool that does nothing", "target", "", "added, % [95 %]",
        "target", ""
    ]
    return table(heads, rows) + \
        f"\n\n{result['rounds']} runs, with and without in turn; of each the median of its batches. " \
        "What is added in ns is found within one process by GCC."


def nested(result):
    rows = [[
        row["kind"],
        of(row["bare_ns"], 0),
        of(row["proust_ns"], 0),
        sure(row["added_ns"], 0), "≤ 60 ns",
        verdict(row["added_ns"], 60.0)
    ] for row in result["rows"]]
    return table(
        ["inside another operation", "bare, ns", "with the collector, ns", "added, ns [95 %]", "target", ""],
        rows)


def runtimes(result):
    rows = [[
        row["kind"], row["runs"],
        of(row["bare_ns"], 1),
        of(row["hooked_ns"], 1),
        sure(row["added_ns"], 1)
    ] for row in result["rows"]]
    return table([
        "construct of GCC's runtime", "runs", "bare, ns a call", "hooked, nothing recorded, ns",
        "added, ns [95 %]"
    ], rows)


def throughput(result):
    rows = [[
        row["what"], f"{row['best_m_per_s']:.1f} ({row['worst_m_per_s']:.1f})", f"M {row['unit']}/s",
        "≥ 10 M/s a core" if row["what"].startswith("logs to profile, 1 ") else "",
        ("met" if row["worst_m_per_s"] >= 10 else "missed" if row["best_m_per_s"] < 10 else "not decided")
        if row["what"].startswith("logs to profile, 1 ") else ""
    ] for row in result["rows"]]
    return f"{result['title']}; peak memory {result['peak_mb']:.0f} MB.\n\n" + table(
        ["step", "best of 5 (slowest)", "unit", "target", ""], rows)


def blame(result):
    judged = ("all_s", "findings_s")
    rows = [[
        what,
        of(result[key], 2), "≤ 5 s" if key in judged else "",
        verdict(result[key], 5.0) if key in judged else ""
    ] for what, key in (("timelines", "timelines_s"), ("processors, ledger and causes",
                                                       "blame_s"), ("both: what a page needs", "all_s"),
                        ("both, and the findings: once, when a run is analysed", "findings_s"))]
    rows += [[f"`report {page}` of such a run, the whole command", of(value, 3), "≤ 1 s", verdict(value, 1.0)]
             for page, value in result.get("pages", {}).items()]
    said = f"{result['waits']} waits, {result['releases']} releases.\n\n" + table(
        ["step", "seconds, median (quartiles; min)", "target", ""], rows)
    sizes = [[size["waits"], of(size["m_events_per_s"], 2),
              of(size["peak_kib"], 0)] for size in result.get("by_size", [])]
    if sizes:
        said += "\n\nProcessors, ledger and causes, by the number of waits:\n\n" + table(
            ["waits", "M events/s", "peak of memory beyond the profile and its timelines, KiB"], sizes)
    return said


def compare(result):
    judged = ("together_s", "comparison_s")
    rows = [[
        what,
        of(result[key], 2), "≤ 2 s" if key in judged else "",
        verdict(result[key], 2.0) if key in judged else ""
    ] for what, key in (("outlines of all runs", "outlines_s"), ("laying them over each other", "matching_s"),
                        ("both, and the amounts of each run",
                         "together_s"), ("all of a comparison, but reading the profiles", "comparison_s"))]
    rows += [[f"`{command}`, the whole command",
              of(value, 2), "≤ 2 s",
              verdict(value, 2.0)] for command, value in result.get("commands", {}).items()]
    return (
        f"{result['runs']} runs of {result['contexts']} contexts, {result['joint']} of the joint tree.\n\n" +
        table(["step", "seconds, median (quartiles; min)", "target", ""], rows))


def report(result):
    rows = [["first report, with the analysis", f"{result['first_s']:.3f}", "", ""]]
    rows += [[
        f"`report {page}` of an analysed run",
        of(value, 3), "≤ 0.3 s",
        "met" if value["q3"] <= 0.3 else "missed" if value["q1"] > 0.3 else "not decided"
    ] for page, value in result["pages"].items()]
    return table(["what", "seconds, median (quartiles; min)", "target", ""], rows)


def side_by_side(result):
    rows = []
    for row in result["rows"]:
        seen, own = row.get("seen_cpu_s"), row.get("own_cpu_s")
        share = f"{100 * seen / own:.2f} %" if seen is not None and own else (
            "–" if seen is None else f"{seen:.3f} s")
        added = row["added_cpu_percent"]
        rows.append([
            row["program"], row["tool"],
            of(row["cpu_s"], 3), ""
            if row["tool"] == "bare" else f"{added['median']:+.1f} ({added['q1']:+.1f} … {added['q3']:+.1f})",
            middle(row["wall_s"], 3), row["samples"] if row["samples"] is not None else "–",
            f"{row['disk_bytes'] / 1e3:.0f}", "" if row["tool"] == "bare" else share
        ])
    text = table([
        "program", "tool", "CPU s of program and tool, median (quartiles; min)",
        "% more than bare (quartiles)", "wall s", "samples", "kB on disk", "of the program's CPU time seen"
    ], rows)
    return text + "".join(f"\n\nNot run: {note}." for note in result["notes"])


def zoo(result):
    """What only starts processes is judged by a process, everything else by its CPU time."""
    rows, met = [], 0
    for row in result["rows"]:
        target, reached = (("≤ 3 ms a process",
                            verdict(row["added_ms_a_process"], 3.0)) if row["judged_by_process"] else
                           ("≤ 5 %", verdict(row["added_cpu_percent"], 5.0)))
        met += reached == "met"
        rows.append([
            row["name"], row["processes"],
            middle(row["cpu_s"], 3),
            sure(row["added_cpu_percent"], 1),
            sure(row["added_ms_a_process"], 2),
            sure(row["added_wall_s"], 3), row["load"], target, reached
        ])
    fewest, most = (limit(row["cpu_s"]["n"] for row in result["rows"]) for limit in (min, max))
    pairs = most if fewest == most else f"{fewest} to {most}"
    skipped = "".join(f"\n\nNot run: {note}." for note in result["not_run"])
    return (
        f"{met} of {len(rows)} meet their target, in {pairs} alternated pairs of runs each; "
        "pairs of which one run met a slower machine than the other are left out.\n\n"
        + table([
            "program", "processes", "CPU s alone", "CPU added, % [95 %]", "CPU added, ms a process [95 %]",
            "wall added, s [95 %]", "load average", "target", ""
        ], rows) + skipped)


def setting(result):
    facts = result["machine"]
    kind = "virtual machine" if facts["virtual"] else "machine"
    return (
        f"{result['date']}, {'quick' if result['quick'] else 'full'} session of {result['seconds']:.0f} s: "
        f"{facts['processor']}, {facts['processors']}-processor {kind}, Linux {facts['kernel']}, "
        f"tick {facts['tick_ns'] / 1e6:g} ms, {facts['libc']}, "
        f"{facts['compiler']}, {facts['rustc']}; {facts['perf']}; {facts['gprofng']}. "
        "Load average at the beginning "
        f"{result['load_before'][0]}, at the end {result['load_after'][0]}.")


TABLES = {
    "handler": handler, "handler_at_timer_rate": handler_at_timer_rate, "cpu_added": cpu_added,
    "alarm": alarm, "start_up": start_up, "threads": threads, "forks": forks, "many_waits": many_waits,
    "live_threads": live_threads, "log_size": log_size, "memory": memory, "operations": operations,
    "lock_ratios": locks.ratios_shown, "lock_runs": locks.runs_shown,
    "parallel": parallel, "runtimes": runtimes,
    "barriers": barriers, "nested": nested, "marks": marks.shown, "throughput": throughput, "blame": blame,
    "waits": waits.shown, "compare": compare, "report": report, "side_by_side": side_by_side, "zoo": zoo
}


def all_tables(result):
    tables = {"setting": setting(result)}
    for name, measured in result["measurements"].items():
        tables[name] = f"Skipped: {measured['skipped']}." if "skipped" in measured else TABLES[name](measured)
    return tables


def into_document(text, tables):
    """Replaces what stands between the marks of each table that was measured."""
    for name, content in tables.items():
        pattern = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text = pattern.sub(lambda found, content=content: found.group(1) + content + "\n" + found.group(2),
                           text)
    return text
