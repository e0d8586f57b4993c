"""The zoo: what recording costs each of its programs (programs/zoo/members), alone and recorded in turn."""
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .session import PROGRAMS, Skip, run, say, summary, summary_of_differences

MEMBERS = PROGRAMS / "zoo/members"


class Member:
    def __init__(self, name):
        self.name, self.script = name, ""
        self.group, self.needs, self.filters, self.wait_for = "", [], [], None

    def missing(self):
        """What it needs and is not here."""
        for need in self.needs:
            if need.startswith("build/"):
                subprocess.run(["make", "--silent", "-C", PROGRAMS, need], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
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
            elif key == "filter":
                member.filters.append(value)
            elif key == "wait-for":
                member.wait_for = value
    return found


@functools.cache
def path_of_programs():
    """PATH, with the Python that runs and not a script which looks for it and starts eighty shells for that."""
    python = shutil.which("python3")
    asked = python and subprocess.run([python, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=False).stdout.strip()
    return os.pathsep.join(filter(None, [asked and str(Path(asked).parent), os.environ.get("PATH")]))


def once(tool, member, script, recorded):
    """One run in an empty folder: CPU and wall seconds, processes recorded."""
    env = dict(os.environ, PROGRAMS=str(PROGRAMS / "build"), ZOO=str(PROGRAMS / "zoo"), LC_ALL="C", PATH=path_of_programs())
    with tempfile.TemporaryDirectory(prefix="zoo-", dir=tool.folder) as folder:
        command = ["bash", script]
        log = Path(tool.new_folder())
        if recorded:
            command = [tool.proust, "record", "-o", log, "--", *command]
        ran = run(command, env=env, cwd=folder, check=False)
        processes = len(list((log / "log").glob("*.plog"))) if recorded else 0
        shutil.rmtree(log, ignore_errors=True)
    return ran, processes


def zoo(tool, quick):
    rows, skipped = [], []
    script = tool.folder / "member.sh"
    for member in members():
        missing = member.missing()
        if missing:
            skipped.append(f"{member.name} needs {missing}")
            continue
        script.write_text(member.script)
        ran = {False: [], True: []}
        processes = 0
        for number in range(3 if quick else 15):
            # Who comes first takes turns, too.
            for recorded in (False, True) if number % 2 else (True, False):
                one, count = once(tool, member, script, recorded)
                ran[recorded].append(one)
                processes = max(processes, count)
        pairs = list(zip(ran[False], ran[True]))
        rows.append({
            "name": member.name, "group": member.group, "processes": processes,
            "cpu_s": summary([one.cpu_s for one in ran[False]]), "wall_s": summary([one.wall_s for one in ran[False]]),
            "added_cpu_s": summary_of_differences([after.cpu_s - before.cpu_s for before, after in pairs]),
            "added_wall_s": summary_of_differences([after.wall_s - before.wall_s for before, after in pairs]),
            "added_cpu_percent": summary_of_differences([100 * (after.cpu_s / before.cpu_s - 1) for before, after in pairs if before.cpu_s > 0]),
            "added_ms_a_process": summary_of_differences([1e3 * (after.cpu_s - before.cpu_s) / max(processes, 1) for before, after in pairs]),
        })
        row = rows[-1]
        say(f"  {member.name}: CPU {row['cpu_s']['median']:.3f} s {row['added_cpu_s']['median']:+.3f}, "
            f"wall {row['wall_s']['median']:.3f} s {row['added_wall_s']['median']:+.3f}, {processes} processes")
    if not rows:
        raise Skip("no member of the zoo can run here")
    return {"rows": rows, "skipped": skipped}
