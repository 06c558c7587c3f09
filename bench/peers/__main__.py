"""The same work by fastpu and by other libraries, in one run: times beside quality.

    python bench/peers [AREA ...] [--data DIR] [--threads 1 2] [--repeats N] [--only MEASURE ...] [--set NAME=VALUE ...]
                       [--quick] [--neighbour] [--output DIR] [--resume]

An area is a file of this folder, whose head says what it compares; --help names them all, with their settings. Every
case runs in a process of its own, in which the contenders take turns after each has been warmed up; all have the same
number of threads, and BLAS has one where the area does not say another number. Nothing else should be at work on the
machine, except with --neighbour, which measures every case twice: alone, and beside a process that copies memory in a
loop on another core (with --threads 1 where there are two). A line of a table is a contender; its time is a median, and
is divided by that of the first line.

Prints Markdown. --output keeps it as AREA.md, with every single time in AREA.jsonl; --resume takes what an earlier run
left there, and measures the rest. --quick tries everything on a few rows. An area whose libraries are not installed is
left out with a word.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from report import report
from running import Case, Row, measure
from shared import cpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AREAS = ("stump_boost", "forest", "boosted_trees", "svm", "isvm", "knn_graph", "pual", "nnpu", "svm_path", "svm_grid",
         "objectives", "pairwise_numpy")  # fmt: skip
LONG = ("boosted_trees_quality",)  # takes many hours: measured where it is named


def _settings_of(area: str) -> str:
    settings = importlib.import_module(area).SETTINGS
    return f"{area}: " + " ".join(
        f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in settings.items()
    )


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    settings = "\n".join(["settings of the areas, whose values --set takes as JSON:", *map(_settings_of, AREAS + LONG)])
    parser = argparse.ArgumentParser(
        "peers", description=__doc__, epilog=settings, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"default: all but {', '.join(LONG)}")
    parser.add_argument("--data", type=Path, help="folder of real data sets; without it their measures are left out")
    threads = [t for t in (1, 2) if t <= cpus()]
    parser.add_argument("--threads", type=int, nargs="+", default=threads, metavar="N", help="default: %(default)s")
    parser.add_argument("--repeats", type=int, metavar="N", help="alternating runs (default: the area's, 3 or 5)")
    parser.add_argument("--only", nargs="+", metavar="MEASURE", help="functions of the areas (default: all)")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings of one area")
    parser.add_argument("--quick", action="store_true", help="try everything on a few rows; the times mean nothing")
    parser.add_argument("--neighbour", action="store_true", help="measure also beside a process that copies memory")
    parser.add_argument("--output", type=Path, help="folder for AREA.md and AREA.jsonl")
    parser.add_argument("--resume", action="store_true", help="measure only what --output does not have yet")
    options = parser.parse_args(argv)
    options.areas = options.areas or list(AREAS)
    if unknown := [area for area in options.areas if area not in AREAS + LONG]:
        parser.error(f"AREA must be among {', '.join(AREAS + LONG)}, got {', '.join(unknown)}")
    if len(options.areas) > 1 and (options.set or options.only):
        parser.error("--set and --only need one AREA")
    if options.resume and options.output is None:
        parser.error("--resume needs --output")
    return options


def _settings(area: ModuleType, options: argparse.Namespace) -> SimpleNamespace:
    """Return the settings of an area: its own, then what --quick and --set say, then the options of the command."""
    settings = {**area.SETTINGS, **(area.QUICK if options.quick else {})}
    for text in options.set:
        name, _, value = text.partition("=")
        if name not in settings:
            raise SystemExit(f"peers: --set must name one of {', '.join(settings)}, got {name!r}")
        settings[name] = json.loads(value)
    if options.repeats is not None:
        settings["repeats"] = options.repeats
    return SimpleNamespace(**settings, threads=options.threads, data=options.data and str(options.data.resolve()))


def _measured(area: ModuleType, options: argparse.Namespace) -> Iterator[tuple[Case, list[Row]]]:
    kept, have = None, {}
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        kept = options.output / f"{area.__name__}.jsonl"
        if options.resume and kept.exists():
            lines = [json.loads(line) for line in kept.read_text().splitlines()]
            have = {json.dumps([line["measure"], line["options"]]): line["rows"] for line in lines}
        else:
            kept.write_text("")
    cases = area.cases(_settings(area, options))
    if options.neighbour:
        cases = (case.beside(neighbour) for case in cases for neighbour in (False, True))
    for case in cases:
        if options.only and case.name not in options.only:
            continue
        rows = have.get(json.dumps([case.name, case.options]))
        if rows is None:
            rows = measure(case)
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps({"measure": case.name, "options": case.options, "rows": rows}) + "\n")
        yield case, rows


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    any_found = False
    for name in options.areas:
        area = importlib.import_module(name)
        if missing := [package for package in area.NEEDS if find_spec(package) is None]:
            print(f"peers: {name} is left out, install {', '.join(missing)} first", file=sys.stderr)
            continue
        start = time.perf_counter()
        found = list(_measured(area, options))
        if not found:
            print(f"peers: {name} has nothing to measure with these options", file=sys.stderr)
            continue
        any_found = True
        text = report(found)
        print(f"## {name}\n\n{text}\n", flush=True)
        if options.output is not None:
            (options.output / f"{name}.md").write_text(text + "\n")
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0 if any_found else 2


if __name__ == "__main__":
    sys.exit(main())
