"""Runs clang-tidy over the C++ files of one or more build folders: run_clang_tidy.py [--jobs N] BUILD_FOLDER...

Each file of this repository is looked at with the commands that the first folder that knows it compiles it with: one,
or one for each instruction-set level where it asks for the level; the highest stands for the others elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent


def own_units(folders: list[Path], database: Path) -> list[Path]:
    """Return what is compiled of cpp/, the longest first, and write its commands to `database`.

    That is the sources, and the files that a unity build makes, each of which includes several sources. These are
    copied: clang's analyzer follows the paths of what a file includes only if that file is called UnifiedSource.
    """
    commands: dict[Path, list[dict[str, str]]] = {}
    lengths: dict[Path, int] = {}
    known: set[Path] = set()
    for folder in folders:
        here: set[Path] = set()
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            file = (Path(entry["directory"]) / entry["file"]).resolve()
            unit, sources = file, [file]
            if file.name.startswith("unity_"):
                text = file.read_text()
                sources = [Path(name) for name in re.findall(r'^#include "(.+)"$', text, re.MULTILINE)]
                unit = file.with_name(file.name.replace("unity_", "UnifiedSource_"))
                unit.write_text(text)
            if known.isdisjoint(sources) and all(source.is_relative_to(ROOT / "cpp") for source in sources):
                here.update(sources)
                command = entry["command"].replace(str(file), str(unit))
                commands.setdefault(unit, []).append({**entry, "file": str(unit), "command": command})
                lengths[unit] = sum(source.stat().st_size for source in sources)
        known |= here
    levels = {unit: 0 if "__AVX" in unit.read_text() else -1 for unit in commands}
    entries = [entry for unit, first in levels.items() for entry in commands[unit][first:]]
    (database / "compile_commands.json").write_text(json.dumps(entries))
    return sorted(commands, key=lambda unit: -lengths[unit])


def tidy(unit: Path, folder: Path) -> tuple[Path, int, str]:
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(folder), str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    # The other stream only counts warnings of headers that are not ours.
    return unit, result.returncode, result.stdout or (result.stderr if result.returncode else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    n_bad = 0
    with TemporaryDirectory() as database, ThreadPoolExecutor(options.jobs) as pool:
        units = own_units(options.folders, Path(database))
        for unit, status, text in pool.map(lambda unit: tidy(unit, Path(database)), units):
            if status:
                n_bad += 1
                print(f"{unit.relative_to(ROOT)}\n{text}", flush=True)
    print(f"clang-tidy: {len(units)} files, {n_bad} with findings")
    return 1 if n_bad or not units else 0


if __name__ == "__main__":
    sys.exit(main())
