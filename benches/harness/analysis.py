"""How fast logs are analysed and an analysed run is shown."""
import re
import tempfile

from .session import BUILD, TARGET, Skip, cargo, compile_program, run, summary


def build_throughput():
    cargo("build", "-p", "proust-store", "-p", "proust-compare", "--example", "ingest-throughput",
          "--example", "blame-throughput", "--example", "compare-throughput", "--example", "waits-scale")


def throughput(tool, quick):
    """The analysis's own benchmark: synthetic logs, names from a table."""
    example = TARGET / "release/examples/ingest-throughput"
    if not example.exists():
        raise Skip("the example ingest-throughput could not be built")
    ran = run([example, 400_000 if quick else 2_000_000])
    rows = []
    for line in ran.output.splitlines():
        found = re.match(r"(.+?)\s+([\d.]+) ms\s+([\d.]+) M (\w+)/s\s+\(slowest of 5: ([\d.]+)\)", line)
        if found:
            what, ms, best, unit, worst = found.groups()
            rows.append({
                "what": what.strip(), "ms": float(ms), "best_m_per_s": float(best),
                "worst_m_per_s": float(worst), "unit": unit
            })
    if not rows:
        raise Skip("the example printed no rates")
    return {"title": ran.output.splitlines()[0], "rows": rows, "peak_mb": ran.peak_kb / 1024}


def blame(tool, quick):
    """From a profile with ten million waits to the ledger and the causes of what was lost."""
    example = TARGET / "release/examples/blame-throughput"
    if not example.exists():
        raise Skip("the example blame-throughput could not be built")
    found = {"timelines_s": [], "blame_s": [], "all_s": [], "findings_s": []}
    for _ in range(5 if quick else 15):
        said = run([example, 10_000_000]).output
        waits, releases = re.search(r"(\d+) waits, (\d+) releases", said).groups()
        for key, before in (("timelines_s", "timelines"), ("blame_s", "ledger with blame"),
                            ("all_s", "to the causes:"), ("findings_s", "findings:")):
            found[key].append(float(re.search(re.escape(before) + r" ([\d.]+) s", said).group(1)))
    result = {
        "waits": int(waits), "releases": int(releases),
        **{key: summary(values)
           for key, values in found.items()}
    }
    sizes = (1_250_000, 2_500_000, 5_000_000, 10_000_000)
    result["by_size"] = [blame_of(example, waits, quick) for waits in sizes]
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        run([example, 10_000_000, folder])
        result["pages"] = {page: summary(seconds_of([tool.proust, "report", folder, page], quick))
                           for page in ("summary", "locks", "waits", "io")}
    return result


def blame_of(example, waits, quick):
    """Rate and memory of the ledger with blame for so many waits: neither should depend on them."""
    rates, peaks = [], []
    for _ in range(3 if quick else 9):
        said = run([example, waits]).output
        rate, peak = re.search(r"blame: ([\d.]+) M events/s, peak memory (\w+) KiB", said).groups()
        rates.append(float(rate))
        peaks += [int(peak)] if peak.isdigit() else []
    if not peaks:
        raise Skip("this kernel cannot reset a process's peak of memory")
    return {"waits": waits, "m_events_per_s": summary(rates), "peak_kib": summary(peaks)}


def seconds_of(command, quick):
    """How long a command takes, some times."""
    return [run(command).wall_s for _ in range(5 if quick else 15)]


def compare(tool, quick):
    """From the profiles of ten runs, 100 000 contexts each, to their joint tree, and to a comparison of
    half of them with the rest."""
    example = TARGET / "release/examples/compare-throughput"
    if not example.exists():
        raise Skip("the example compare-throughput could not be built")
    found = {"outlines_s": [], "matching_s": [], "together_s": [], "comparison_s": []}
    for _ in range(5 if quick else 15):
        said = run([example]).output
        runs, contexts, joint = re.search(r"(\d+) runs of (\d+) contexts: (\d+) joint", said).groups()
        for key, before in (("outlines_s", "outlines"), ("matching_s", "matching"),
                            ("together_s", "together"), ("comparison_s", "comparison")):
            found[key].append(float(re.search(before + r" ([\d.]+) s", said).group(1)))
    result = {
        "runs": int(runs), "contexts": int(contexts), "joint": int(joint),
        **{key: summary(values)
           for key, values in found.items()}
    }
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        run([example, runs, contexts, folder])
        folders = [f"{folder}/run{n}" for n in range(int(runs))]
        one, other = (",".join(half) for half in (folders[:len(folders) // 2], folders[len(folders) // 2:]))
        result["commands"] = {
            "proust report SWEEP scaling": summary(
                seconds_of([tool.proust, "report", folder, "scaling"], quick)),
            "proust diff of repetitions": summary(seconds_of([tool.proust, "diff", one, other], quick)),
        }
    return result


def report(tool, quick):
    """`proust report` of a run: the first time with its analysis, then again and again."""
    program = compile_program("work", cxx=True, options=["-fno-omit-frame-pointer"])
    folder, _ = tool.record([program, "shares", 4])
    first = run([tool.proust, "report", folder])
    if not first.output.strip():
        raise Skip("`proust report` printed nothing")
    result = {"first_s": first.wall_s, "pages": {}}
    for page in ("summary", "tree", "flat"):
        ran = run([tool.proust, "report", folder, page], check=False)
        if ran.code == 0:
            times = [run([tool.proust, "report", folder, page]).wall_s for _ in range(10 if quick else 30)]
            result["pages"][page] = summary(times)
    return result
