"""Whole programs under several tools, in turn: what the user sees, noise included."""
import re
import shutil
import subprocess
import sys

from .session import BENCHES, BUILD, Skip, cargo, compile_program, needed, run, say, size_on_disk, summary


def samples_of_perf(file):
    text = subprocess.run(["perf", "report", "-i", file, "--stats", "--stdio"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"SAMPLE events:\s+(\d+)", text)
    return int(found.group(1)) if found else None


def seconds_of_gprofng(experiment):
    text = subprocess.run(["gprofng", "display", "text", "-limit", "3", "-functions", str(experiment)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"^\s*([\d.]+)\s.*<Total>", text, re.MULTILINE)
    return float(found.group(1)) if found else None


# Samples a second of CPU time that Proust and perf are asked for.
RATE = "200"


class Proust:
    name = "proust record"

    def __init__(self, tool):
        self.tool = tool

    def run(self, command):
        self.folder, ran = self.tool.record(command, "--rate", RATE)
        return ran

    def facts(self):
        logs = self.tool.logs(self.folder)
        return {"disk_bytes": size_on_disk(self.folder / "log"),
                "samples": sum(log["kinds"].get("sample", {"count": 0})["count"] for log in logs),
                "seen_cpu_s": sum(log["cpu_ns"] for log in logs) * 1e-9}


class Perf:
    def __init__(self, tool, call_graph):
        needed("perf")
        self.name = f"perf record, {call_graph}"
        self.call_graph = call_graph
        self.file = str(tool.folder / f"perf-{call_graph}.data")
        self.run(["/bin/true"])

    def run(self, command):
        return run(
            ["perf", "record", "-q", "-F", RATE, "--call-graph", self.call_graph, "-o", self.file, *command])

    def facts(self):
        samples = samples_of_perf(self.file)
        return {"disk_bytes": size_on_disk(self.file), "samples": samples,
                "seen_cpu_s": None if samples is None else samples / int(RATE)}


class Gprofng:
    name = "gprofng collect app"

    def __init__(self, tool):
        needed("gprofng")
        self.folder = tool.folder / "gprofng.er"
        self.run(["/bin/true"])

    def run(self, command):
        shutil.rmtree(self.folder, ignore_errors=True)
        return run(["gprofng", "collect", "app", "-o", self.folder, *command])

    def facts(self):
        return {
            "disk_bytes": size_on_disk(self.folder), "samples": None,
            "seen_cpu_s": seconds_of_gprofng(self.folder)
        }


class Bare:
    name = "bare"

    def run(self, command):
        return run(command)

    def facts(self):
        return {"disk_bytes": 0, "samples": 0, "seen_cpu_s": None}


def build_rayon():
    target = BUILD / "rayon-work"
    cargo("build", manifest=BENCHES / "rayon-work/Cargo.toml", target=target)
    return str(target / "release/rayon-work")


def side_by_side(tool, quick):
    """CPU time of program and tool, wall time, size and samples, in one interleaved session."""
    amount, rounds = (0.4, 3) if quick else (1.0, 7)
    # With frame pointers, as `perf record --call-graph fp` needs them: the same program for all tools.
    work = compile_program("work", cxx=True, options=["-fno-omit-frame-pointer"])
    programs = {"shares (2 threads)": [work, "shares", amount], "exceptions": [work, "exceptions", amount],
                "recursion, 1000 deep": [work, "recursion", amount],
                "Python": [sys.executable, str(BENCHES / "work.py"), amount]}
    notes = []
    try:
        programs["rayon"] = [build_rayon(), amount]
    except Skip as reason:
        notes.append(f"rayon: {reason}")
    if quick:
        programs = {name: programs[name] for name in ("shares (2 threads)", "exceptions", "Python")}
    tools = [Bare(), Proust(tool)]
    for make in (lambda: Perf(tool, "fp"), lambda: Perf(tool, "dwarf"), lambda: Gprofng(tool)):
        try:
            tools.append(make())
        except Skip as reason:
            notes.append(str(reason))
    measured = {name: {each.name: {"cpu_s": [], "wall_s": []} for each in tools} for name in programs}
    facts = {name: {} for name in programs}
    for number in range(rounds):
        say(f"  round {number + 1} of {rounds}")
        for name, command in programs.items():
            for turn in range(len(tools)):
                each = tools[(turn + number) % len(tools)]
                ran = each.run(command)
                measured[name][each.name]["cpu_s"].append(ran.cpu_s)
                measured[name][each.name]["wall_s"].append(ran.wall_s)
                if number == rounds - 1:
                    facts[name][each.name] = dict(each.facts(), own_cpu_s=own_cpu(ran))
    rows = []
    for name in programs:
        bare = measured[name]["bare"]
        for each in tools:
            values = measured[name][each.name]
            row = {
                "program": name, "tool": each.name, "cpu_s": summary(values["cpu_s"]),
                "wall_s": summary(values["wall_s"])
            }
            row.update(facts[name][each.name])
            row["added_cpu_percent"] = summary(
                [100 * (a / b - 1) for a, b in zip(values["cpu_s"], bare["cpu_s"])])
            rows.append(row)
    return {"amount": amount, "rounds": rounds, "rows": rows, "notes": notes}


def own_cpu(ran):
    """What the program said of its own CPU time, if it does."""
    try:
        return ran.json()["cpu_s"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
