"""The page in short: the ratios that we promise to watch, out of what the parts have measured."""

import ours
import starts
from measure import number, table

LOCAL_EXECUTORS = "AG2 SystemPythonEnvironment", "AG2 VenvPythonEnvironment", "AutoGen local executor"


def newest(ways, isolation):
    """Our way with ISOLATION in WAYS: the warm one if there is one."""
    found = [name for name in ways if name.startswith(f"{ours.NAME}, {isolation}, ")]
    return found[-1] if found else None


def ratio(ours_found, others):
    """Our median as a share of the smallest of OTHERS; nothing where either was left out."""
    return number(ours_found["p50"] / min(other["p50"] for other in others)) if ours_found and others else "-"


def calls_rows(sections):
    for section in sections:
        found = section["ms"]
        local = [found[other] for other in LOCAL_EXECUTORS if other in found]
        for isolation in starts.ISOLATIONS:
            name = newest(found, isolation)
            if name:
                row, plain = found[name], found[starts.BASE]
                yield [f"{section['title']}: {name}", ratio(row, [plain]), number(row["p95"] / plain["p50"]),
                       ratio(row, [found[f"{ours.NAME}, {isolation}, cold"]]), ratio(row, local)]


def containers_rows(found):
    for kind in ("fresh container", "kept container"):
        newest_name = newest(found, kind)
        paced = f"{ours.NAME}, {kind}, warm"
        for name in [each for each in found if each.startswith(paced)] or [newest_name] * bool(newest_name):
            yield [name, *(ratio(found[name], [found[other]] if other in found else [])
                           for other in ("docker exec", "docker run --rm"))]


def throughput_rows(sections):
    for section in sections:
        for isolation in starts.ISOLATIONS:
            name = newest(section["of"], isolation)
            if name:
                yield [f"{section['title']}: {name}", number(section["of"][name])]


def lines(parts):
    """The lines about PARTS, all of the page."""
    containers = parts["environments"].get("containers", {}).get("ms", {})
    tables = [
        (["p50 of a call, as a share of", "plain", "p95 of plain's p50", "cold", "the fastest of AG2's and AutoGen's"],
         calls_rows(parts["start"]["scripts"])),
        (["in a container, as a share of", "`docker exec`", "`docker run --rm`"], containers_rows(containers)),
        (["calls per second, as a share of", "plain"], throughput_rows(parts["throughput"]["throughput"]))]
    yield from ["## In short", ""]
    for columns, rows in tables:
        rows = list(rows)
        yield from [*table(columns, rows), ""] if rows else []
