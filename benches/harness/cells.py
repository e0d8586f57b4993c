"""Cells and rows of Markdown tables: how a summary of measurements is shown."""


def of(value, digits=2, scale=1.0):
    """median (q1 … q3; min) of a summary."""
    if not value or not value.get("n"):
        return "–"
    show = lambda x: f"{x * scale:.{digits}f}"
    return f"{show(value['median'])} ({show(value['q1'])} … {show(value['q3'])}; min {show(value['min'])})"


def sure(value, digits=2, scale=1.0):
    """median with the interval that holds it with 95 %."""
    if not value or not value.get("n"):
        return "–"
    show = lambda x: f"{x * scale:.{digits}f}"
    if "low95" not in value:
        return show(value["median"])
    return f"{show(value['median'])} [{show(value['low95'])}, {show(value['high95'])}]"


def middle(value, digits=2, scale=1.0):
    return "–" if not value or not value.get("n") else f"{value['median'] * scale:.{digits}f}"


def three(value, digits=1, scale=1e-3):
    return "–" if not value else " / ".join(
        f"{value[key] * scale:.{digits}f}" for key in ("p10", "p50", "p90"))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def verdict(value, limit):
    """Met only if the whole interval is; the noise decides nothing."""
    if not value or not value.get("n"):
        return "–"
    low, high = value.get("low95", value["median"]), value.get("high95", value["median"])
    return "met" if high <= limit else "missed" if low > limit else "not decided"
