"""Builds a program of the suite, runs it alone or recorded, with or without a load beside it."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from .manifest import ROOT, SUITE, processors, python, say

FOLDER = ROOT / "target" / "findings-suite"
SEED = 20261123
TIMEOUT_S = {"none": 120, "busy": 400}
CLANGS = ["clang", *(f"clang-{version}" for version in range(22, 13, -1))]
COMPILERS = {
    "c": (["cc", "gcc"], ["-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-pthread"], ["-lm"]),
    "c-openmp": (["gcc"], ["-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-fopenmp"], ["-lm"]),
    "clang-openmp": (CLANGS, ["-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-fopenmp"], ["-lm"]),
    "c++": (["c++", "g++"], ["-D_GNU_SOURCE", "-O2", "-g", "-std=c++20", "-Wall", "-Wextra", "-pthread"], []),
    "fortran-openmp": (["gfortran"], ["-O2", "-g", "-Wall", "-fopenmp"], []),
    "mpi-c": (["mpicc.openmpi"], ["-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra"], ["-lm"]),
    "mpi-fortran": (["mpifort.openmpi"], ["-O2", "-g", "-Wall"], []),
    "rust": (["rustc"], ["--edition=2021", "-O", "-g"], []),
}


def compiled(program, source):
    """Path of the executable, built if the source is newer; None and a reason if it cannot be."""
    names, flags, libraries = COMPILERS[program.entry["build"]]
    compiler = next((name for name in names if shutil.which(name)), None)
    if compiler is None:
        return None, f"{names[0]}"
    path, target = SUITE / source, ROOT / "programs" / "build" / "suite" / pathlib.Path(source).stem
    target.parent.mkdir(parents=True, exist_ok=True)
    newest = max(file.stat().st_mtime for file in (path, SUITE / "suite.h", SUITE / "suite.toml"))
    if not target.exists() or target.stat().st_mtime < newest:
        done = subprocess.run(
            [compiler, *flags, "-o", target, path, *libraries],
            capture_output=True,
            text=True,
            cwd=target.parent,
        )
        if done.returncode != 0:
            raise SystemExit(f"{compiler} does not compile {source}:\n{done.stderr.strip()}")
        if done.stderr.strip():
            say(done.stderr.strip())
    return target, None


class Stage:
    """A program that can be run here: what stands for the placeholders of its command."""

    def __init__(self, program, inputs):
        self.program, self.inputs, self.why_not = program, inputs, program.missing()
        self.built, self.built_mended = None, None
        if self.why_not is None and program.entry.get("build"):
            self.built, self.why_not = compiled(program, program.source)
        if self.why_not is None and program.mended and program.entry.get("build"):
            self.built_mended, self.why_not = compiled(program, program.mended)
        if self.why_not is None and program.name == "serial_parse":
            samples = self.inputs / "samples"
            if not samples.exists():
                subprocess.run([self.built, "0", samples.with_suffix(".new"), "write"], check=True)
                samples.with_suffix(".new").rename(samples)

    def command(self, folder, threads=None, mended=False):
        values = {
            "n": threads or processors(),
            "jobs": 48 * processors(),
            "in": self.inputs,
            "tmp": folder,
            "bin": self.built_mended if mended else self.built,
            "source": SUITE / ((self.program.mended if mended else self.program.source) or ""),
            "python": python(),
        }
        # Braces of shell and Perl stay as they are: only these names are replaced.
        return [
            re.sub(r"\{(\w+)\}", lambda m: str(values.get(m[1], m[0])), word) for word in self.program.command
        ]

    def run(self, before=(), threads=None, mended=False, limit_s=TIMEOUT_S["busy"]):
        """Runs it in an empty folder: exit code (None: too late), wall and CPU seconds, what it printed."""
        folder = FOLDER / "tmp"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        cpu = os.times()
        begin = time.monotonic()
        process = subprocess.Popen(
            [*before, *self.command(folder, threads, mended)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # In the load's session: Linux shares processors among sessions first, and may then run hardly one
            # of two ranks that spin, recorded or not.
            preexec_fn=os.setpgrp,
        )
        code, digest, kept = None, hashlib.sha256(), b""
        try:
            deadline = begin + limit_s
            os.set_blocking(process.stdout.fileno(), False)
            while True:
                chunk = process.stdout.read(1 << 20)
                if chunk:
                    digest.update(chunk)
                    kept = kept or chunk[:200]
                elif chunk == b"":
                    break
                elif time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(self.program.name, limit_s)
                else:
                    time.sleep(0.002)
            code = process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
        wall, after = time.monotonic() - begin, os.times()
        cpu_s = after.children_user + after.children_system - cpu.children_user - cpu.children_system
        return (
            code,
            wall,
            cpu_s,
            kept.decode(errors="replace").strip() if len(kept) < 200 else digest.hexdigest(),
        )


BUSY = "import sys,time\nend=time.monotonic()+float(sys.argv[1])\nwhile time.monotonic()<end: pass"
BURSTY = """import random,sys,time
chance, end = random.Random(int(sys.argv[2])), time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    stop = time.monotonic() + chance.uniform(0.005, 0.08)
    while time.monotonic() < stop: pass
    time.sleep(chance.uniform(0.005, 0.12))
"""


@contextlib.contextmanager
def load(kind, limit_s):
    """Two busy loops a processor and one that is busy by bursts; they also end by themselves."""
    if kind == "none":
        yield
        return
    python_of_load = [python(), "-c"]
    loops = [subprocess.Popen([*python_of_load, BUSY, str(limit_s)]) for _ in range(2 * processors())]
    loops.append(subprocess.Popen([*python_of_load, BURSTY, str(limit_s), str(SEED)]))
    try:
        time.sleep(0.3)
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def record(stage, proust, kind):
    """One recorded run: what the report finds, or what went wrong."""
    run = FOLDER / "run"
    shutil.rmtree(run, ignore_errors=True)
    limit_s = TIMEOUT_S[kind]
    with load(kind, limit_s + 60):
        code, wall, _, _ = stage.run(before=[proust, "record", "-o", run, "--"], limit_s=limit_s)
    result = {"wall_s": round(wall, 3)}
    if code != 0:
        result["broken"] = "no end in time" if code is None else f"exit code {code}"
        return result
    report = subprocess.run([proust, "report", run, "--format", "json"], capture_output=True, text=True)
    if report.returncode != 0:
        result["broken"] = f"no report: {report.stderr.strip()[:300]}"
        return result
    result["findings"] = [kept_of(finding) for finding in json.loads(report.stdout)["findings"]]
    shutil.rmtree(run, ignore_errors=True)
    return result


def kept_of(finding):
    of_loss = ("kind", "sure", "title", "seconds", "low_s", "high_s", "error_s")
    kept = {key: finding.get(key) for key in (*of_loss, "cause", "awaited", "handed_over")}
    kept["victims"] = [
        {key: victim.get(key) for key in ("function", "file", "line")}
        for victim in (finding.get("victims") or [])[:3]
    ]
    return kept
