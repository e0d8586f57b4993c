"""What all measurements share: where things are, how programs are built and run, and statistics."""
import json
import os
import platform
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"
PROGRAMS = ROOT / "programs"
MARKS = ROOT / "marks"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
BUILD = TARGET / "benchmarks"


class Skip(Exception):
    """A measurement that cannot be made here, and why."""


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- statistics

def summary(values):
    """min, quartiles, median, max of `values`."""
    values = sorted(values)
    if not values:
        return {"n": 0}
    if len(values) == 1:
        q1 = q3 = values[0]
    else:
        q1, _, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return {"n": len(values), "min": values[0], "q1": q1, "median": statistics.median(values), "q3": q3,
            "max": values[-1]}


def summary_of_differences(values):
    """Like summary, with the interval that holds the true median with 95 % (bootstrap)."""
    result = summary(values)
    if len(values) > 1:
        chance = random.Random(1)
        medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(1000))
        result["low95"], result["high95"] = medians[25], medians[974]
    return result


def slow_from(figures, gap):
    """Whether processors share a cache is for a virtual machine's host to choose, and changes while it
    runs: what several threads do together takes some times as long then. Where the figures of bare runs
    fall into two groups that are `gap` apart, from which one on they are of the slow one; None where they
    do not."""
    figures = sorted(figures)
    widest, at = max(((b / max(a, 1e-9), b) for a, b in zip(figures, figures[1:])), default=(1, 0))
    return at if widest >= gap else None


def percentiles(values):
    """p10, p50, p90, and the mean, which is what counts in the end but is mostly made by a few samples."""
    values = sorted(values)
    if not values:
        return None
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return {"n": len(values), "p10": at(0.1), "p50": at(0.5), "p90": at(0.9),
            "mean": statistics.mean(values)}


# ---------------------------------------------------------------- building

def needed(name):
    if shutil.which(name) is None:
        raise Skip(f"{name} is not installed")
    return name


def compile_program(name, *, cxx=False, options=()):
    """A measured program of this folder."""
    compiler = needed(os.environ.get("CXX", "c++") if cxx else os.environ.get("CC", "cc"))
    source = BENCHES / f"{name}.{'cpp' if cxx else 'c'}"
    out = BUILD / "programs" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [compiler, "-O2", "-g", "-Wall", "-Wextra", "-pthread", f"-I{PROGRAMS}", *options, "-o", out, source],
        check=True)
    return str(out)


def handler_cost_program():
    needed(os.environ.get("CC", "cc"))
    subprocess.run(["make", "--silent", "-C", PROGRAMS, "build/handler_cost"], check=True)
    return str(PROGRAMS / "build/handler_cost")


def cargo(*arguments, manifest=None, target=None):
    command = [needed("cargo"), *arguments, "--quiet", "--release", "--target-dir", str(target or TARGET)]
    if manifest:
        command += ["--locked", "--manifest-path", str(manifest)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")]
        raise Skip("`" + " ".join(command[:6]) + "` failed: " + (lines or ["no message"])[0])


# ---------------------------------------------------------------- running

class Ran:
    def __init__(self, code, wall_s, usage, output, errors):
        self.code, self.wall_s, self.output, self.errors = code, wall_s, output, errors
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_kb = usage.ru_maxrss

    def json(self):
        return json.loads(self.output.strip().splitlines()[-1])


def run(command, env=None, cwd=None, check=True):
    """Runs to the end; CPU time is that of the process and all children it waited for."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.monotonic()
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=errors, env=env, cwd=cwd)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        ran = Ran(child.returncode, wall, usage, output.read(), errors.read())
    if check and ran.code != 0:
        last = (ran.errors.strip().splitlines() or ["no message"])[-1]
        raise Skip(
            f"`{Path(str(command[0])).name} {' '.join(map(str, command[1:3]))} …` "
            f"ended with {ran.code}: {last}"
        )
    return ran


class Tool:
    """The measured build of Proust."""

    def __init__(self, proust):
        self.proust = proust
        self.own_time = str(TARGET / "release/examples/own_time")
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=BUILD))
        self.number = 0

    def new_folder(self):
        self.number += 1
        return self.folder / f"{self.number}.proust"

    def record(self, command, *options):
        folder = self.new_folder()
        ran = run([self.proust, "record", *options, "-o", folder, "--", *command])
        return folder, ran

    def logs(self, folder):
        """What the logs of a run say, one dictionary a process."""
        files = sorted(str(file) for file in (Path(folder) / "log").glob("*.plog"))
        logs = []
        for begin in range(0, len(files), 200):
            text = subprocess.run([self.own_time, *files[begin:begin + 200]],
                                  check=True,
                                  stdout=subprocess.PIPE,
                                  text=True).stdout
            logs += [json.loads(line) for line in text.splitlines()]
        return logs

    def bare_folder(self):
        """A run's folder to preload the collector into by hand, and the environment that does so."""
        source, _ = self.record(["/bin/true"])
        folder = self.new_folder()
        (folder / "log").mkdir(parents=True)
        for name in ("control", "libproust_collector.so"):
            try:
                shutil.copy2(source / name, folder / name)
            except FileNotFoundError as missing:
                raise Skip(f"a recorded run keeps no {name}") from missing
        env = dict(os.environ, PROUST_RUN=str(folder), LD_PRELOAD=str(folder / "libproust_collector.so"))
        return folder, env

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def size_on_disk(path):
    """Bytes of storage blocks below `path`."""
    path = Path(path)
    files = [path] if path.is_file() else [
        file for file in path.rglob("*") if file.is_file() and not file.is_symlink()
    ]
    return sum(file.stat().st_blocks * 512 for file in files)


# ---------------------------------------------------------------- the machine

def machine():
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    virtual = "hypervisor" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else False
    version = lambda *command: (subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines() or [""])[
            0] if shutil.which(command[0]) else "not installed"
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "virtual": virtual,
        "kernel": ".".join(platform.release().split("-")[0].split(".")[:2]),
        "tick_ns": round(time.clock_getres(6) * 1e9),  # CLOCK_MONOTONIC_COARSE
        "libc": " ".join(platform.libc_ver()),
        "compiler": version(os.environ.get("CC", "cc"), "--version"),
        "rustc": version("rustc", "--version"),
        "perf": version("perf", "--version"),
        "gprofng": version("gprofng", "--version"),
        "python": platform.python_version(),
    }


def load():
    return [round(value, 2) for value in os.getloadavg()]
