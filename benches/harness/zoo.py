"""The zoo: what recording costs each of its programs (programs/zoo/members), alone and recorded in turn.

PROUST_ZOO="NAME …" in the environment measures these alone.
"""
import functools
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .session import PROGRAMS, Skip, load, run, say, slow_from, summary, summary_of_differences

MEMBERS = PROGRAMS / "zoo/members"
# Rounds over all members, and the seconds after which no further one begins that would not end in time.
FULL, QUICK = (15, 3600), (5, 400)


class Member:
    def __init__(self, name):
        self.name, self.script = name, ""
        self.group, self.needs = "", []
        # How much work the script is given; 0 for what does little but start processes.
        self.work = 1

    def missing(self):
        """What it needs and is not here."""
        for need in self.needs:
            if need.startswith("build/"):
                subprocess.run(["make", "--silent", "-C", PROGRAMS, need],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL,
                               check=False)
                there = (PROGRAMS / need).exists()
            else:
                there = Path(need).exists() if "/" in need else shutil.which(need)
            if not there:
                return need
        return None


def members():
    """The table, as programs/zoo/members explains it."""
    found, in_script = [], False
    for line in MEMBERS.read_text().splitlines():
        begin = re.fullmatch(r"\[([\w+-]+)\]", line)
        if begin:
            found.append(Member(begin[1]))
            in_script = False
        elif not found:
            continue
        elif in_script:
            found[-1].script += line + "\n"
        elif not line:
            in_script = True
        else:
            key, _, value = line.partition(": ")
            value = value.split("  # ")[0]
            member = found[-1]
            if key == "group":
                member.group = value
            elif key == "needs":
                member.needs += value.split()
            elif key == "cost":
                member.work = int(value.removeprefix("cpu ")) if value != "process" else 0
    return found


@functools.cache
def path_of_programs():
    """PATH, with the Python that runs and not a script which looks for it and starts eighty shells for
    that."""
    python = shutil.which("python3")
    asked = python and subprocess.run(
        [python, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True,
        check=False).stdout.strip()
    return os.pathsep.join(filter(None, [asked and str(Path(asked).parent), os.environ.get("PATH")]))


def once(tool, member, recorded):
    """One run in an empty folder: CPU and wall seconds, processes recorded."""
    env = dict(os.environ, PROGRAMS=str(PROGRAMS / "build"), ZOO=str(PROGRAMS / "zoo"), LC_ALL="C",
               WORK=str(max(member.work, 1)), PATH=path_of_programs())
    with tempfile.TemporaryDirectory(prefix="zoo-", dir=tool.folder) as folder:
        # Beside the folder that it runs in, which is empty.
        script = tool.folder / "member.sh"
        script.write_text(member.script)
        command = ["bash", script]
        log = Path(tool.new_folder())
        if recorded:
            command = [tool.proust, "record", "-o", log, "--", *command]
        ran = run(command, env=env, cwd=folder, check=False)
        processes = len(list((log / "log").glob("*.plog"))) if recorded else 0
        shutil.rmtree(log, ignore_errors=True)
    return ran, processes


def rounds(tool, here, quick):
    """Pairs of runs, alone and recorded, by member. Each round runs all of them: what else the machine does
    hits all alike."""
    most, seconds = QUICK if quick else FULL
    measured = {member.name: [] for member in here}
    begin = time.monotonic()
    for number in range(most):
        since = time.monotonic()
        if number and 2 * since - begin_of_last - begin > seconds:
            break
        begin_of_last = since
        for member in here:
            pair = {}
            # Who comes first takes turns, too.
            for recorded in (False, True) if number % 2 else (True, False):
                pair[recorded], processes = once(tool, member, recorded)
                pair["processes"] = max(pair.get("processes", 0), processes)
            measured[member.name].append({
                "alone": pair[False], "recorded": pair[True], "processes": pair["processes"],
                "load": load()[0]
            })
        say(f"  round {number + 1}: {time.monotonic() - since:.0f} s, load average {load()[0]}")
    return measured


def row(member, pairs):
    """What its pairs tell. `record` itself is one more process. A pair whose runs met two different
    machines (see `slow_from`) is left out."""
    slow = slow_from([pair["alone"].cpu_s for pair in pairs], 1.25)
    if slow is not None:
        alike = [pair for pair in pairs if (pair["alone"].cpu_s >= slow) == (pair["recorded"].cpu_s >= slow)]
        pairs = alike if len(alike) > len(pairs) // 3 else pairs
    added = [pair["recorded"].cpu_s - pair["alone"].cpu_s for pair in pairs]
    processes = 1 + max(pair["processes"] for pair in pairs)
    return {
        "name": member.name,
        "group": member.group,
        "judged_by_process": member.work == 0,
        "processes": processes,
        "cpu_s": summary([pair["alone"].cpu_s for pair in pairs]),
        "wall_s": summary([pair["alone"].wall_s for pair in pairs]),
        "added_cpu_s": summary_of_differences(added),
        "added_wall_s": summary_of_differences(
            [pair["recorded"].wall_s - pair["alone"].wall_s for pair in pairs]),
        "added_cpu_percent": summary_of_differences(
            [100 * more / max(pair["alone"].cpu_s, 1e-6) for more, pair in zip(added, pairs)]),
        "added_ms_a_process": summary_of_differences([1e3 * more / processes for more in added]),
        "load": max(pair["load"] for pair in pairs),
    }


def zoo(tool, quick):
    here, skipped = [], []
    for member in members():
        missing = member.missing()
        if missing:
            skipped.append(f"{member.name} needs {missing}")
        else:
            here.append(member)
    chosen = os.environ.get("PROUST_ZOO", "").split()
    here = [member for member in here if not chosen or member.name in chosen]
    if not here:
        raise Skip("no member of the zoo can run here")
    measured = rounds(tool, here, quick)
    return {"rows": [row(member, measured[member.name]) for member in here], "not_run": skipped}
