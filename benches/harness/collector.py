"""What the collector costs inside the measured program."""
import os
import statistics
import subprocess
import time

from .session import (PROGRAMS, Skip, compile_program, handler_cost_program, needed, percentiles, run, say,
                      size_on_disk, summary, summary_of_differences)

DEPTHS = (6, 16, 60, 206, 1000)
PATHS = ("same", "leaf", "caller", "root")


def handler_run(tool, program, rate, seconds, depth, path, source, modes, portion_ms):
    """One recorded run of handler_cost: its portions, and all samples with their own time."""
    folder, ran = tool.record([program, seconds, depth, path, source, ",".join(modes), portion_ms], "--rate",
                              str(rate))
    said = ran.json()
    if not said["recorded"] or said["timer"] < 0:
        raise Skip("handler_cost found no control page or no timer of the collector")
    samples = sorted(tuple(sample) for log in tool.logs(folder) for lane in log["lanes"] for sample in lane)
    return said, samples


def inside(samples, begin, end):
    return [sample for sample in samples if begin <= sample[0] <= end]


def pairs(said, samples, first, second):
    """Per round: CPU time of a `second` portion over that of the `first` one, per delivered sample."""
    modes = len({portion[0] for portion in said["portions"]})
    differences = []
    delivered_all = []
    for begin in range(0, len(said["portions"]), modes):
        of_round = {portion[0]: portion for portion in said["portions"][begin:begin + modes]}
        if first not in of_round or second not in of_round:
            continue
        _, since, until, cpu, sent = of_round[second]
        delivered = sent or len(inside(samples, since, until))
        delivered_all.append(delivered)
        differences.append((cpu - of_round[first][3], delivered))
    delivered = statistics.mean(delivered_all) if delivered_all else 0
    if not delivered:
        return None
    return summary_of_differences([difference / delivered for difference, _ in differences])


def own_times(said, samples, mode):
    chosen = [sample for portion in said["portions"] if portion[0] == mode
              for sample in inside(samples, portion[1], portion[2])]
    depth = statistics.median(sample[2] for sample in chosen) if chosen else None
    return percentiles([sample[3] for sample in chosen if sample[3] is not None]), depth


def handler(tool, quick):
    """Cost of a sample by depth, from samples the program sends itself: resolves tens of nanoseconds."""
    program = handler_cost_program()
    rounds = 10 if quick else 50
    rows = []
    for depth in DEPTHS:
        for path in PATHS:
            modes = ("empty", "full", "nomemo")
            said, samples = handler_run(tool, program, 1000,
                                        rounds * len(modes) * 0.01, depth, path, "self", modes, 10)
            own, found = own_times(said, samples, "full")
            own_without, _ = own_times(said, samples, "nomemo")
            rows.append({"depth": depth, "found_depth": found, "path": path,
                         "signals_a_portion": said["portions"][0][4],
                         "full_ns": pairs(said, samples, "empty", "full"),
                         "nomemo_ns": pairs(said, samples, "empty", "nomemo"),
                         "own_ns": own, "own_nomemo_ns": own_without})
            say(f"  depth {depth}, {path}: {rows[-1]['full_ns']['median']:.0f} ns")
    return {"rounds": rounds, "rows": rows}


def handler_at_timer_rate(tool, quick):
    """The same with the collector's own timer (at most one sample a tick): cold caches, and far fewer
    samples."""
    program = handler_cost_program()
    rounds = 6 if quick else 35
    rows = []
    for depth in DEPTHS:
        for path in PATHS:
            modes = ("empty", "full") if path == "same" else ("full",)
            seconds = rounds * 0.2 if path == "same" else (0.3 if quick else 2)
            said, samples = handler_run(tool, program, 1000, seconds, depth, path, "timer", modes, 100)
            own, found = own_times(said, samples, "full")
            row = {"depth": depth, "found_depth": found, "path": path, "own_ns": own}
            if path == "same":
                row["full_ns"] = pairs(said, samples, "empty", "full")
            full = [portion for portion in said["portions"] if portion[0] == "full"]
            cpu_s = sum(portion[3] for portion in full) * 1e-9
            row["delivered_a_second"] = sum(len(inside(samples, p[1], p[2])) for p in full) / cpu_s
            rows.append(row)
    return {"rounds": rounds, "rows": rows}


# Samples a second by default, and the rate that HPCToolkit's authors give their figures for.
DEFAULT_RATE, COMPARED_RATE = 100, 200
# Portions are short, since a host's speed drifts within a second. What the handler does twice a second, or
# once, by the wall's clock falls into portions with timers only: in every second portion it would seem to be
# twice as frequent. So one portion in so many is without timers.
PORTION_MS, ONE_WITHOUT_IN = 100, 5


def differences_from_neighbours(portions):
    """How many per cent more the portions took that stand before and after one without timers than that."""
    differences = []
    for before, without, after in zip(portions, portions[1:], portions[2:]):
        beside = [portion[3] for portion in (before, after) if portion[0] != "off"]
        if without[0] == "off" and beside:
            differences.append(100 * (statistics.mean(beside) / without[3] - 1))
    return differences


def portions_beside_none(tool, path, mode, runs, rounds, rate, one_in=ONE_WITHOUT_IN):
    """Several recorded runs of handler_cost at one rate, in `mode` but for one portion in so many without
    timers: how many per cent more the former took; samples a CPU second; the time in each handler, ns; all
    CPU time, ns."""
    program = handler_cost_program()
    modes = ["off"] + [mode] * (one_in - 1)
    differences, own_times_ns, cpu_ns = [], [], 0
    for _ in range(runs):
        seconds = rounds * len(modes) * PORTION_MS * 1e-3
        said, samples = handler_run(tool, program, rate, seconds, 16, path, "timer", modes, PORTION_MS)
        differences += differences_from_neighbours(said["portions"])
        for portion in said["portions"]:
            if portion[0] != "off":
                own_times_ns += [sample[3] or 0 for sample in inside(samples, portion[1], portion[2])]
                cpu_ns += portion[3]
    return differences, len(own_times_ns) / (cpu_ns * 1e-9), own_times_ns, cpu_ns


def cpu_added(tool, quick):
    """CPU time that sampling adds at the default rate and at twice that: portions with the timers armed and
    disarmed; with an empty handler; and with a timer of the program's own that expires as often, which only
    sets it again."""
    runs, rounds = 1 if quick else 6, 20 if quick else 50
    rows = []
    for asked in (DEFAULT_RATE, COMPARED_RATE):
        row = {"asked": asked}
        for mode, one_in in (("bare", 2), ("empty", 2), ("full", ONE_WITHOUT_IN)):
            more, rate, own_ns, cpu_ns = portions_beside_none(tool, "leaf", mode, runs, rounds, asked, one_in)
            row[f"{mode}_percent"] = summary_of_differences(more)
        row |= {"delivered_a_second": rate, "own_ns": percentiles(own_ns),
                "own_percent": 100 * sum(own_ns) / cpu_ns}
        rows.append(row)
        say(f"  {asked} a second: {row['full_percent']['median']:.3f} %")
    return {"rounds": runs * rounds, "portion_s": PORTION_MS * 1e-3, "one_in": ONE_WITHOUT_IN, "rows": rows}


# Microseconds of work between two reads.
READ_DISTANCES = (20, 100, 400, 1000, 4000)


def alarm(tool, quick):
    """What disarming and arming the timer between ticks takes in hooks: work with reads that do not block,
    with the timers armed and disarmed. The read itself, and its being followed, is in both."""
    runs, rounds = 1 if quick else 3, 20 if quick else 40
    rows = []
    for distance_us in (0, *READ_DISTANCES):
        path = f"read{distance_us // 20}" if distance_us else "same"
        more, rate, _, _ = portions_beside_none(tool, path, "full", runs, rounds, DEFAULT_RATE)
        rows.append({"distance_us": distance_us, "delivered_a_second": rate,
                     "percent": summary_of_differences(more),
                     "us_a_sample": summary_of_differences([1e4 * share / rate for share in more])})
        say(f"  {distance_us} us between reads: {rows[-1]['percent']['median']:.2f} %")
    return {"rounds": runs * rounds, "portion_s": PORTION_MS * 1e-3, "one_in": ONE_WITHOUT_IN, "rows": rows}


def spawn(program, env):
    begin = time.perf_counter_ns()
    child = os.posix_spawn(program, [program], env)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter_ns() - begin
    if status != 0:
        raise Skip(f"a trivial program ended with status {status}")
    return wall * 1e-6, (usage.ru_utime + usage.ru_stime) * 1e3


def start_up(tool, quick):
    """A trivial program with and without the collector, in turn; and whole commands."""
    program = compile_program("true")
    folder, env = tool.bare_folder()
    bare_env = dict(os.environ)
    bare_env.pop("LD_PRELOAD", None)
    rounds = 300 if quick else 600
    for _ in range(10):
        spawn(program, env), spawn(program, bare_env)
    walls, cpus = {"bare": [], "proust": []}, {"bare": [], "proust": []}
    for number in range(rounds):
        for name in (("bare", "proust") if number % 2 else ("proust", "bare")):
            wall, cpu = spawn(program, bare_env if name == "bare" else env)
            walls[name].append(wall)
            cpus[name].append(cpu)
    logs = tool.logs(folder)
    differences = lambda of: summary_of_differences([a - b for a, b in zip(of["proust"], of["bare"])])
    result = {
        "rounds": rounds,
        "wall_ms": {name: summary(values) for name, values in walls.items()},
        "cpu_ms": {name: summary(values) for name, values in cpus.items()},
        "added_wall_ms": differences(walls),
        "added_cpu_ms": differences(cpus),
        "startup_ms": summary([log["startup_ns"] * 1e-6 for log in logs]),
        "log_disk_bytes": size_on_disk(folder / "log") / max(1, len(logs)),
    }
    commands = {
        "bare": lambda: [program],
        "proust record": lambda: [tool.proust, "record", "-o",
                                  tool.new_folder(), "--", program]
    }
    for peer, command in (("perf", lambda: ["perf", "record", "-q", "-o", "/dev/null", program]), (
            "gprofng", lambda: ["gprofng", "collect", "app", "-o",
                                str(tool.new_folder()) + ".er", program])):
        try:
            needed(peer)
            run(command())
            commands[{"perf": "perf record", "gprofng": "gprofng collect app"}[peer]] = command
        except Skip as reason:
            result.setdefault("notes", []).append(f"{peer}: {reason}")
    times = {name: [] for name in commands}
    for _ in range(3 if quick else 15):
        for name, command in commands.items():
            times[name].append(1e3 * run(command()).wall_s)
    result["whole_command_ms"] = {name: summary(values) for name, values in times.items()}
    return result


def threads(tool, quick):
    """Threads created and joined one after another; the program times itself."""
    program = compile_program("threads")
    _, env = tool.bare_folder()
    bare_env = dict(os.environ)
    bare_env.pop("LD_PRELOAD", None)
    count = 3000
    ways = {
        "bare": lambda: run([program, count], env=bare_env), "proust": lambda: run([program, count], env=env)
    }
    try:
        needed("perf")
        perf = lambda: run(
            ["perf", "record", "-q", "-F", "200", "--call-graph", "fp", "-o", "/dev/null", program, count])
        perf()
        ways["perf record"] = perf
    except Skip:
        pass
    rounds = 5 if quick else 21
    cpus, walls = ({name: [] for name in ways} for _ in range(2))
    for _ in range(rounds):
        for name, way in ways.items():
            said = way().json()
            cpus[name].append(said["cpu_us"])
            walls[name].append(said["wall_us"])
    result = {"threads": count, "rounds": rounds, "cpu_us": {k: summary(v) for k, v in cpus.items()},
              "wall_us": {k: summary(v) for k, v in walls.items()}, "added_cpu_us": {}, "added_wall_us": {}}
    for name in ways:
        if name != "bare":
            for key, of in (("added_cpu_us", cpus), ("added_wall_us", walls)):
                result[key][name] = summary_of_differences([a - b for a, b in zip(of[name], of["bare"])])
    return result


def live_threads(tool, quick):
    """Thousands of threads at once, which all wait: what they take with and without the collector."""
    needed(os.environ.get("CC", "cc"))
    subprocess.run(["make", "--silent", "-C", PROGRAMS, "build/hostile_limits"], check=True)
    program = str(PROGRAMS / "build/hostile_limits")
    rows = []
    for count in (1000, 10000):
        ways = {"bare": [], "proust": []}
        log_bytes = []
        for _ in range(3 if quick else 7):
            ways["bare"].append(run([program, "live", count]).json())
            folder, ran = tool.record([program, "live", count])
            ways["proust"].append(ran.json())
            log_bytes.append(size_on_disk(folder / "log"))
        if any(said["threads"] < count for said in ways["bare"]):
            raise Skip(f"{count} threads are more than this machine has room for")
        added = {field: [a[field] - b[field] for a, b in zip(ways["proust"], ways["bare"])]
                 for field in ("resident_kib", "mappings", "create_s", "end_s")}
        rows.append({
            "threads": count, "made": min(said["threads"] for said in ways["proust"]),
            "log_bytes": statistics.median(log_bytes), "bare": {
                field: summary([said[field] for said in ways["bare"]])
                for field in ("create_s", "end_s")
            }, "added": {field: summary_of_differences(values)
                         for field, values in added.items()}
        })
    return {"rows": rows}


def log_size(tool, quick):
    """Bytes a sample takes, and what a minute of a thread takes."""
    rows = []
    programs = [("two threads, few paths", [
        compile_program("work", cxx=True, options=["-fno-omit-frame-pointer"]), "shares", 2 if quick else 12
    ])]
    programs += [(f"one thread, {depth} frames, {path} path", [
        handler_cost_program(), 1.5 if quick else 8, depth, path, "timer", "full", 100
    ]) for depth, path in ((16, "leaf"), (1000, "root"))]
    for name, command in programs:
        folder, _ = tool.record(command)
        logs = tool.logs(folder)
        kinds = {}
        for log in logs:
            for kind, amounts in log["kinds"].items():
                entry = kinds.setdefault(kind, {"count": 0, "bytes": 0})
                entry["count"] += amounts["count"]
                entry["bytes"] += amounts["bytes"]
        cpu_s = sum(log["cpu_ns"] for log in logs) * 1e-9
        samples = kinds.get("sample", {"count": 0, "bytes": 0})
        if not samples["count"]:
            raise Skip("no samples were recorded")
        running = sum(kinds.get(kind, {"bytes": 0})["bytes"] for kind in ("sample", "sched_stat"))
        everything = sum(amounts["bytes"] for amounts in kinds.values())
        rows.append({
            "program": name, "cpu_s": cpu_s, "samples": samples["count"], "nodes": kinds.get(
                "node", {"count": 0})["count"], "sample_record_bytes": samples["bytes"] / samples["count"],
            "bytes_a_sample": everything / samples["count"],
            "running_bytes_a_sample": running / samples["count"],
            "bytes_a_thread_minute": 60 * running / cpu_s, "node_bytes": kinds.get(
                "node", {"bytes": 0})["bytes"], "disk_bytes": size_on_disk(folder / "log"), "file_bytes": sum(
                    log["file_bytes"] for log in logs)
        })
    return {"rows": rows}


def memory(tool, quick):
    """Resident memory with all threads alive, with and without the collector."""
    program = compile_program("resident")
    fields = ("VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem")
    rows = []
    for count in (1, 2, 16):
        values = {"bare": [], "proust": []}
        arenas = []
        for _ in range(3 if quick else 7):
            values["bare"].append(run([program, count, 0.15]).json())
            folder, ran = tool.record([program, count, 0.15])
            values["proust"].append(ran.json())
            arenas += [log["arena_bytes"] / 1024 for log in tool.logs(folder)]
        median = {name: {field: statistics.median(said[field] for said in runs) for field in fields}
                  for name, runs in values.items()}
        rows.append({
            "threads": count, "bare_kb": median["bare"], "proust_kb": median["proust"],
            "added_kb": {field: median["proust"][field] - median["bare"][field]
                         for field in fields}, "spread_kb": {
                             field: [
                                 min(a[field] - median["bare"][field] for a in values["proust"]),
                                 max(a[field] - median["bare"][field] for a in values["proust"])
                             ]
                             for field in fields
                         }, "arena_kb": statistics.median(arenas)
        })
    return {"rows": rows}
