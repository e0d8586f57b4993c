"""The manifest: which programs there are, what is true of each, and what it needs."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUITE = ROOT / "programs" / "suite"


def say(text):
    print(text, flush=True)


def processors():
    return max(2, len(os.sched_getaffinity(0)))


def python():
    """Debian's own, to which its packages belong."""
    return "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


class Program:
    """An entry of the manifest."""

    def __init__(self, entry):
        self.entry = entry
        self.name, self.kind, self.origin = entry["name"], entry["kind"], entry["origin"]
        self.command, self.truth, self.held_out = entry["command"], entry["truth"], entry["held_out"]
        self.source, self.mended = entry.get("source"), entry.get("mended")
        self.functions, self.words = entry.get("functions", []), entry.get("words", [])
        self.is_parallel = entry.get("parallel", False)

    @property
    def half(self):
        return "held-out" if self.held_out else "open"

    def marked_line(self):
        """Where the fault is, by the mark in the source."""
        lines = (SUITE / self.source).read_text().splitlines()
        marked = [number for number, line in enumerate(lines, 1) if "FAULT:" in line]
        if len(marked) != 1:
            raise SystemExit(f"{self.source}: {len(marked)} lines are marked, not one")
        return marked[0]

    def missing(self):
        """What this machine lacks, or None."""
        for need in self.entry.get("needs", []):
            need = need.format(python=python()) if need.startswith("{") else need
            if need.startswith("python:"):
                done = subprocess.run([python(), "-c", f"import {need[7:]}"], capture_output=True)
                if done.returncode != 0:
                    return f"{need[7:]} for {python()} (package {self.entry['package']})"
            elif shutil.which(need) is None:
                return f"{need} (package {self.entry['package']})"
        return None

    def key(self, executable):
        """Same key, same thing measured."""
        parts = [executable, json.dumps(self.entry, sort_keys=True)]
        for source in (self.source, self.mended, "suite.h"):
            parts.append((SUITE / source).read_text() if source else "")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def manifest():
    try:
        import tomllib
    except ImportError:
        say("SKIP: Python 3.11 or newer is needed to read the manifest")
        sys.exit(0)
    with open(SUITE / "suite.toml", "rb") as file:
        data = tomllib.load(file)
    return [Program(entry) for entry in data["program"]]
