"""What forks, short processes, many threads and many mappings cost."""
import shutil

from .session import Skip, compile_program, run, say, summary, summary_of_differences

SHELL_LOOP = "for i in $(seq {count}); do grep -q root /etc/passwd; done"
WAITING = ((1000, 0), (2000, 0), (4000, 0), (8000, 0), (1000, 50000))


def in_turn(tool, rounds, command, value):
    """A command alone and recorded, in turn: what `value` makes of each run."""
    values = {"bare": [], "proust": []}
    for number in range(rounds):
        for name in (("bare", "proust") if number % 2 else ("proust", "bare")):
            if name == "bare":
                values[name].append(value(run(command)))
            else:
                # The folder stays until the end: on ext4 a new file takes longer after many others were
                # removed.
                values[name].append(value(tool.record(command)[1]))
    return values


def compared(values):
    differences = [recorded - bare for recorded, bare in zip(values["proust"], values["bare"])]
    return {
        "bare": summary(values["bare"]), "proust": summary(values["proust"]),
        "added": summary_of_differences(differences)
    }


def forks(tool, quick):
    """A child that exits at once, from fork to the end of its wait; and a shell that runs one short program
    after the other."""
    program = compile_program("forks")
    rounds = 5 if quick else 21
    values = in_turn(tool, rounds, [program, 300], lambda ran: ran.json()["median_us"])
    result = {"rounds": rounds, "children": 300, "fork_us": compared(values)}
    if shutil.which("bash"):
        count = 150
        values = in_turn(tool, rounds, ["bash", "-c", SHELL_LOOP.format(count=count)],
                         lambda ran: 1e3 * ran.wall_s / count)
        result["shell_ms"] = compared(values)
    return result


def many_waits(tool, quick):
    """Threads that wait once each: time and memory a thread must not grow with their number, nor with that
    of mappings."""
    program = compile_program("many_waits")
    rounds = 3 if quick else 9
    rows = []
    for threads, mappings in WAITING:
        try:
            values = in_turn(tool, rounds, [program, threads, mappings], lambda ran: ran.json())
        except Skip as reason:
            rows.append({"threads": threads, "mappings": mappings, "skipped": str(reason)})
            continue
        of = lambda key: compared({name: [said[key] for said in runs] for name, runs in values.items()})
        rows.append({
            "threads": threads, "mappings": mappings, "wall_us": of("wall_us"),
            "resident_kb": of("resident_kb")
        })
        added_us = rows[-1]["wall_us"]["added"]["median"]
        say(f"  {threads} threads, {mappings} mappings: {added_us:.1f} µs a thread"
            )
    return {"rounds": rounds, "rows": rows}
