"""How whole analyses grow with waits, functions and the memory that they may have."""
import re

from .cells import table
from .session import TARGET, Skip, run

# Waits, functions, and the memory that the analysis may have, MB (0: any).
WAITS = ((1_000_000, 2_000, 0), (10_000_000, 2_000, 0), (10_000_000, 2_000, 500), (30_000_000, 2_000, 2_000),
         (1_000_000, 200_000, 0))


def waits(tool, quick):
    """From logs whose answer is known to all that is kept of a run, each in a process of its own: time in
    proportion to the waits, and bounded memory. The example compares the answer."""
    example = TARGET / "release/examples/waits-scale"
    if not example.exists():
        raise Skip("the example waits-scale could not be built")
    return {"rows": [waits_of(example, *size) for size in (WAITS[:1] if quick else WAITS)]}


def waits_of(example, waits, functions, allowed_mb):
    said = run([example, waits, functions, allowed_mb]).output
    row = {"waits": waits, "functions": functions, "allowed_mb": allowed_mb}
    row["log_bytes"] = float(re.search(r"([\d.]+) bytes of log a wait", said).group(1))
    if "as expected" not in said:
        return row
    in_all = re.search(r"in all ([\d.]+) s of processors, ([\d.]+) s, (\d+) MB", said).groups()
    row["processor_s"], row["wall_s"], row["peak_mb"] = map(float, in_all)
    row["profile_bytes"] = float(re.search(r"([\d.]+) bytes of profile a wait", said).group(1))
    return row


def shown(result):
    def row_of(row):
        size = [row["waits"], row["functions"], row["allowed_mb"] or "any", f"{row['log_bytes']:.1f}"]
        if "wall_s" not in row:
            return size + ["", "", "", "", "not enough memory"]
        rate = row["waits"] / row["processor_s"] / 1e6
        return size + [f"{row['profile_bytes']:.1f}", f"{row['peak_mb']:.0f}", f"{row['processor_s']:.1f}",
                       f"{rate:.2f}", "missed" if rate < 5 else "met"]
    return table(
        ["waits", "functions", "memory allowed, MB", "bytes of log a wait", "bytes kept a wait",
         "peak of memory, MB", "processor time, s", "M waits/s and processor", "target: 5 M/s"],
        [row_of(row) for row in result["rows"]])
