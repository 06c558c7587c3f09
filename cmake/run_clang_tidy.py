"""Runs clang-tidy over the C++ files of one or more build folders: run_clang_tidy.py [--jobs N] BUILD_FOLDER...

Each file of this repository is looked at once, with the command that the first folder that knows it compiles it with.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def own_sources(folders: list[Path]) -> dict[Path, Path]:
    """Map each source under cpp/ to the build folder whose command to use."""
    sources: dict[Path, Path] = {}
    for folder in folders:
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            source = (Path(entry["directory"]) / entry["file"]).resolve()
            if source.is_relative_to(ROOT / "cpp"):
                sources.setdefault(source, folder)
    return sources


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
    sources = own_sources(options.folders)
    n_bad = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for source, status, text in pool.map(lambda item: tidy(*item), sources.items()):
            if status:
                n_bad += 1
                print(f"{source.relative_to(ROOT)}\n{text}", flush=True)
    print(f"clang-tidy: {len(sources)} files, {n_bad} with findings")
    return 1 if n_bad or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
