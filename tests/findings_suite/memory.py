"""What is remembered of runs: as long as the same is measured, it is not measured again."""

import contextlib
import json


class Memory:
    """Runs and pairs by program, key and load: one line of JSON each, appended as they come."""

    def __init__(self, file):
        self.file, self.lines = file, []
        file.parent.mkdir(parents=True, exist_ok=True)
        for line in file.read_text().splitlines() if file.exists() else []:
            with contextlib.suppress(ValueError):
                self.lines.append(json.loads(line))

    def add(self, **line):
        self.lines.append(line)
        with open(self.file, "a") as file:
            file.write(json.dumps(line) + "\n")

    def runs(self, program, key, kind):
        return [
            line["result"]
            for line in self.lines
            if line.get("what") == "run"
            and (line["program"], line["key"], line["load"]) == (program.name, key, kind)
        ]

    def pairs(self, program, key):
        return [
            line["walls"]
            for line in self.lines
            if line.get("what") == "pair" and (line["program"], line["key"]) == (program.name, key)
        ]

    def forget(self, keys, kind):
        self.lines = [
            line for line in self.lines if line.get("key") not in keys or line.get("load", kind) != kind
        ]
        self.file.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
