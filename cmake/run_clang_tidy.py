"""Runs clang-tidy over the C++ files of one or more build folders: run_clang_tidy.py [--jobs N] BUILD_FOLDER...

Each file of this repository is looked at once, with the command that the first folder that knows it compiles it with.
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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent


def single_commands(entry: dict[str, str]) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield each source that an entry compiles, with a command for it alone: a unity file includes several."""
    file = (Path(entry["directory"]) / entry["file"]).resolve()
    if not file.name.startswith("unity_"):
        yield file, entry
        return
    for name in re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE):
        command = entry["command"].replace(entry["file"], name).replace(str(file), name)
        yield Path(name), {"directory": entry["directory"], "file": name, "command": command}


def own_sources(folders: list[Path], database: Path) -> list[Path]:
    """Return the sources under cpp/, and write the command of each, of the first folder that has one, to `database`."""
    commands: dict[Path, dict[str, str]] = {}
    for folder in folders:
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            for source, command in single_commands(entry):
                if source.is_relative_to(ROOT / "cpp"):
                    commands.setdefault(source, command)
    (database / "compile_commands.json").write_text(json.dumps(list(commands.values())))
    return list(commands)


def tidy(source: Path, folder: Path) -> tuple[Path, int, str]:
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(folder), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    # The other stream only counts warnings of headers that are not ours.
    return source, result.returncode, result.stdout or (result.stderr if result.returncode else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    n_bad = 0
    with TemporaryDirectory() as database, ThreadPoolExecutor(options.jobs) as pool:
        sources = own_sources(options.folders, Path(database))
        for source, status, text in pool.map(lambda source: tidy(source, Path(database)), sources):
            if status:
                n_bad += 1
                print(f"{source.relative_to(ROOT)}\n{text}", flush=True)
    print(f"clang-tidy: {len(sources)} files, {n_bad} with findings")
    return 1 if n_bad or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
