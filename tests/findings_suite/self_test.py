"""The judge on findings made up, and the manifest against its own rules."""

from .judge import Truth, is_right, judge_clean, judge_fault, judge_saved, range_of, verdicts
from .manifest import SUITE, manifest, say


def self_test(six):
    """The exit code: 0 if all is as it has to be. `six`: the programs of continuous integration."""
    made = {"kind": "made-up", "title": "made up", "seconds": 1.0, "error_s": 0.1}
    at = lambda function, file, line, sure="certain", **more: {
        **made,
        "sure": sure,
        "cause": {"function": function, "file": file, "line": line},
        "victims": [],
        **more,
    }
    truth = Truth("lock.c", 20, ["hold"])
    said = lambda *findings: {"findings": list(findings)}
    checks = {
        "the line": is_right(truth, at("main", "/src/lock.c", 20)),
        "beside the line": is_right(truth, at("main", "lock.c", 22)),
        "too far": not is_right(truth, at("main", "lock.c", 23)),
        "another file's line": not is_right(truth, at("main", "block.c", 20)),
        "the region's line": is_right(truth, at("parallel region at lock.c:21", "lock.c", 3)),
        "a region too far": not is_right(truth, at("parallel region at lock.c:23", "lock.c", 3)),
        "the function": is_right(truth, at("hold", None, None)),
        "an outlined body": is_right(truth, at("hold._omp_fn.0", "lock.c", 99)),
        "Clang's outlined body": is_right(truth, at("hold.omp_outlined_debug__", "lock.c", 99)),
        "a method with arguments": is_right(truth, at("cache::hold(int, std::pair<a, b>)", "x.h", 1)),
        "a closure": is_right(truth, at("lib::hold::{{closure}}", "x.rs", 1)),
        "a region in a function": is_right(
            truth,
            at(None, None, None, cause={"function": "parallel region at x.c:90", "region_in": "hold"}),
        ),
        "a function of no named namespace": is_right(truth, at("(anonymous namespace)::hold", "x.cpp", 1)),
        "a generator in a function": is_right(truth, at("hold.<locals>.<genexpr>", "x.py", 1)),
        "a lambda of GCC": is_right(truth, at("hold::{lambda()#1}::operator()", "x.c", 1)),
        "a lambda of Clang": is_right(truth, at("hold::(anonymous class)::operator()", "x.c", 1)),
        "a name that begins alike": not is_right(truth, at("hold_on", "x.c", 1)),
        "no place": not is_right(truth, {**made, "sure": "certain", "cause": None, "victims": []}),
        "victims where there is no cause": is_right(
            truth,
            {
                **made,
                "sure": "likely",
                "cause": {},
                "victims": [{"function": "hold", "file": None, "line": None}],
            },
        ),
        "where its end is awaited": is_right(
            truth, at("other", "x.c", 1, awaited={"function": "hold", "file": "x.c", "line": 2})
        ),
        "no victims where there is a cause": not is_right(
            truth, at("other", "x.c", 1, victims=[{"function": "hold", "file": "lock.c", "line": 20}])
        ),
        "a stated range": range_of(at("f", "x", 1, low_s=0.5, high_s=2.0)) == (0.5, 2.0),
        "a library's lock by its words": is_right(
            Truth(words=["GIL"]), {**at("?", None, None), "title": "the GIL is held"}
        ),
        "words inside of others": not is_right(
            Truth(words=["GIL"]), {**at("?", None, None), "title": "AGILE"}
        ),
        "a range by error": range_of(at("f", "x", 1)) == (0.8, 1.2),
    }
    clean = judge_clean(
        [said(), said(at("f", "x.c", 1, "likely"), at("g", "x.c", 2, "likely")), said(at("f", "x.c", 1))]
    )
    checks["classes of clean runs"] = (clean["certain"], clean["likely"], clean["possible"]) == (1, 1, 0)
    checks["their words"] = len(clean["said"]) == 3 and "x.c:2" in clean["said"][1]
    right, wrong = at("hold", "lock.c", 3), at("other", "x.c", 1)
    most = judge_fault(truth, [said(right, wrong), said(right), said(wrong, right)])
    checks["most runs"] = (
        most["is_right"] and (most["right"], most["anywhere"]) == (2, 3) and len(most["said"]) == 1
    )
    checks["half of the runs"] = not judge_fault(truth, [said(right), said()])["is_right"]
    checks["nothing found"] = judge_fault(truth, [said()])["said"] == ["no finding"]
    inside = judge_saved(truth, [said(right), said(right), said(wrong)], [(3.0, 2.1), (3.2, 2.1), (9.0, 1.0)])
    checks["saved by the median"] = inside["is_inside"] and abs(inside["saved"] - 1.1) < 1e-9
    checks["saved beyond"] = not judge_saved(truth, [said(right)], [(3.0, 1.5)])["is_inside"]
    checks["saved, but nothing right"] = not judge_saved(truth, [said(wrong)], [(3.0, 2.0)])["is_inside"]
    checks["nothing saved, nothing judged"] = judge_saved(truth, [said(right)], []) is None
    good = {"runs": 100, "certain": 0, "likely": 1}
    checks["limits that hold"] = all(
        holds for _, holds in verdicts([good], [{"is_right": True}] * 9 + [{"is_right": False}], [])
    )
    checks["one certain"] = not verdicts([{**good, "certain": 1}], [], [])[0][1]
    checks["two likely of a hundred"] = not verdicts([{**good, "likely": 2}], [], [])[1][1]
    checks["eight right of ten"] = not verdicts([], [{"is_right": True}] * 8 + [{"is_right": False}] * 2, [])[
        0
    ][1]
    checks["seven in range of ten"] = not verdicts(
        [], [], [{"is_inside": True}] * 7 + [{"is_inside": False}] * 3
    )[0][1]
    programs = manifest()
    by_name = {program.name: program for program in programs}
    checks["names are unique"] = len(by_name) == len(programs)
    held = [program for program in programs if program.held_out]
    clean = lambda of: [program for program in of if program.kind == "clean"]
    real = lambda of: [program for program in clean(of) if program.origin != "ours"]
    faults = lambda of: [program for program in of if program.kind == "fault"]
    mended = lambda of: [program for program in of if program.mended]
    numbers = lambda of: [len(some(of)) for some in (clean, real, faults, mended)]
    at_least = lambda has, wants: all(number >= least for number, least in zip(has, wants, strict=True))
    checks["enough in all"] = at_least(numbers(programs), (30, 15, 30, 10))
    # Between the opening of one held-out set and the next one there is none.
    checks["enough held out, or none"] = not held or at_least(numbers(held), (15, 8, 15, 5))
    checks["only faults are mended"] = mended(programs) == mended(faults(programs))
    checks["six of the open half"] = all(not by_name[name].held_out for name in six)
    for program in programs:
        if program.kind == "fault":
            program.marked_line()
            source = (SUITE / program.source).read_text()
            checks[f"{program.name}: a function of the source"] = any(
                name in source for name in program.functions
            )
        if program.mended:
            checks[f"{program.name}: mended"] = "FAULT" not in (SUITE / program.mended).read_text()
        sources = [SUITE / source for source in (program.source, program.mended) if source]
        checks[f"{program.name}: sources"] = all(source.exists() for source in sources)
    failed = [name for name, holds in checks.items() if not holds]
    for name in failed:
        say(f"wrong: {name}")
    say(f"{len(checks)} checks, {len(failed)} failed")
    return 1 if failed else 0
