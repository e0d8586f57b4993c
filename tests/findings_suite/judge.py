"""The judge: knows the truth and what was found, and runs nothing."""

import pathlib
import re
import statistics

BESIDE_LINES = 2
MOST_LIKELY_SHARE = 0.01
LEAST_RIGHT_SHARE, LEAST_IN_RANGE_SHARE = 0.9, 0.8


class Truth:
    """Where the fault of a program lies; of one without a fault all is None."""

    def __init__(self, file=None, line=None, functions=(), words=()):
        self.file, self.line = file, line
        self.functions, self.words = set(functions), words

    def holds(self, place):
        at_line = any(
            pathlib.Path(file).name == self.file and abs(line - self.line) <= BESIDE_LINES
            for file, line in lines_in(place)
        )
        names = names_in(place.get("function")) | names_in(place.get("region_in"))
        return at_line or bool(names & self.functions)


def lines_in(place):
    """The line of a place, and that of the region that it lies in: `parallel region at solve.c:34`."""
    if place.get("line") is not None:
        yield place.get("file") or "", place["line"]
    if region := re.search(r" region at (\S+):(\d+)$", place.get("function") or ""):
        yield region[1], int(region[2])


def names_in(function):
    """The function that the user wrote, of outlined bodies and closures too: with its path and without."""
    name = re.sub(r"\(.*", "", (function or "").replace("(anonymous namespace)::", "")).replace("<impl ", "")
    name = re.sub(
        r"(\._omp_fn\.\d+|\.omp_outlined.*|\.(constprop|isra|part|cold)(\.\d+)?|::\{\{closure\}\})+$",
        "",
        name,
    )
    name = re.sub(r"(\._omp_fn\.\d+|\.omp_outlined.*|::\{\{closure\}\}.*|::h[0-9a-f]{16})$", "", name)
    # C++'s lambdas: `f(int)::{lambda()#1}::operator()`, `f::(anonymous class)::operator()`.
    name = re.sub(r"::(\{lambda)?$", "", name)
    # Python's: `Class.method`, `function.<locals>.inner`; what has no name is the function's around it.
    name = re.sub(r"(\.<locals>\.<\w+>)+$", "", name)
    return {name, name.rsplit("::", 1)[-1], name.rsplit(".", 1)[-1]} - {""}


def places_of(finding):
    """The cause, and where its end is awaited or others go on; where a finding names none, those who lost."""
    cause, ends = finding.get("cause") or {}, [finding.get("awaited"), finding.get("handed_over")]
    named = [cause] if cause.get("function") or cause.get("file") else finding.get("victims") or []
    return named + [place for place in ends if place]


def is_right(truth, finding):
    is_named = any(re.search(rf"\b{re.escape(word)}\b", finding["title"]) for word in truth.words)
    return is_named or any(truth.holds(place) for place in places_of(finding))


def range_of(finding):
    """What can be saved, from and to: as stated, or two standard errors about what is stated."""
    if finding.get("low_s") is not None and finding.get("high_s") is not None:
        return finding["low_s"], finding["high_s"]
    error = finding.get("error_s") or 0
    return finding["seconds"] - 2 * error, finding["seconds"] + 2 * error


def verbatim(finding):
    place = (places_of(finding) or [{}])[0]
    file = pathlib.Path(place.get("file") or "?").name
    low, high = range_of(finding)
    where = f"{place.get('function') or '?'} ({file}:{place.get('line') or '?'})"
    return f"[{finding['sure']}, {finding['kind']}] {finding['title']}: {where}, {low:.3f} to {high:.3f} s"


def count_sure(results, sure):
    return sum(any(finding["sure"] == sure for finding in result["findings"]) for result in results)


def judge_clean(results):
    """Of the runs of a program without a fault: how many have a finding of each class, and their words."""
    return {
        "runs": len(results),
        "certain": count_sure(results, "certain"),
        "likely": count_sure(results, "likely"),
        "possible": count_sure(results, "possible"),
        "said": [verbatim(finding) for result in results for finding in result["findings"]],
    }


def judge_fault(truth, results):
    """Of the runs of a program with a fault: in how many the first finding is right, or any; other words."""
    firsts = [result["findings"][0] if result["findings"] else None for result in results]
    right = [finding is not None and is_right(truth, finding) for finding in firsts]
    anywhere = sum(any(is_right(truth, finding) for finding in result["findings"]) for result in results)
    wrong = [
        verbatim(finding) if finding else "no finding" for finding, good in zip(firsts, right) if not good
    ]
    return {
        "runs": len(results),
        "right": sum(right),
        "anywhere": anywhere,
        "is_right": 2 * sum(right) > len(results),
        "said": wrong,
    }


def judge_saved(truth, results, pairs):
    """Whether the time that the mended source saves lies in the range of most right findings."""
    ranges = [
        range_of(finding)
        for result in results
        for finding in result["findings"][:1]
        if is_right(truth, finding)
    ]
    if not pairs:
        return None
    saved = statistics.median(before - after for before, after in pairs)
    inside = sum(low <= saved <= high for low, high in ranges)
    stated = (
        (statistics.median(low for low, _ in ranges), statistics.median(high for _, high in ranges))
        if ranges
        else None
    )
    return {"saved": saved, "stated": stated, "is_inside": bool(ranges) and 2 * inside > len(ranges)}


def verdicts(clean, faults, saved):
    """The limits that hold for all programs together: (what, whether it holds)."""
    found = []
    if clean:
        runs = sum(each["runs"] for each in clean)
        certain, likely = sum(each["certain"] for each in clean), sum(each["likely"] for each in clean)
        found.append(
            (f"without a fault, runs with a certain finding: {certain} of {runs} (limit 0)", certain == 0)
        )
        found.append(
            (
                f"without a fault, runs with a likely finding: {likely} of {runs} (limit 1 %)",
                likely <= MOST_LIKELY_SHARE * runs,
            )
        )
    if faults:
        right = sum(each["is_right"] for each in faults)
        found.append(
            (
                f"with a fault, first at the right place: {right} of {len(faults)} programs (limit 9 of 10)",
                right >= LEAST_RIGHT_SHARE * len(faults),
            )
        )
    if saved:
        inside = sum(each["is_inside"] for each in saved)
        found.append(
            (
                f"mended, time saved in the stated range: {inside} of {len(saved)} programs (limit 8 of 10)",
                inside >= LEAST_IN_RANGE_SHARE * len(saved),
            )
        )
    return found


def truth_of(program):
    if program.kind == "clean":
        return Truth()
    return Truth(pathlib.Path(program.source).name, program.marked_line(), program.functions, program.words)


def judged(program, results, pairs):
    """The verdict upon one program; runs that broke are counted apart and judged as nothing found."""
    broken = [result["broken"] for result in results if "broken" in result]
    good = [result for result in results if "findings" in result]
    if program.kind == "clean":
        found = judge_clean(good)
    else:
        truth = truth_of(program)
        found = judge_fault(truth, good + [{"findings": []}] * len(broken))
        found["saved"] = judge_saved(truth, good, pairs) if program.mended else None
    found["broken"] = broken
    return found
