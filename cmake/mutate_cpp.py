"""Mutation testing of one C++ source: a changed sign, comparison or constant must fail its C++ test.

python cmake/mutate_cpp.py BUILD SOURCE TEST [--sample 30] [--seed 0] [--seconds 1e9]

BUILD is a configured build folder in which the TEST program has been built (make mutants-cpp makes it). Each mutant
is one changed place of SOURCE; it is compiled as the build compiles it, linked in front of the library, and run. What
survives is printed as the changed line: a test is missing, Python's tests alone notice, or the change means the same.
The last are listed with the reason in tests/equivalent_mutants.txt, and left out. Ends with 1 if there are survivors.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EQUIVALENT = Path(__file__).resolve().parent.parent / "tests" / "equivalent_mutants.txt"

_CHANGES = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r"(?<=[ (\[])0(?=[;,)\] ])", "1"),
    (r"(?<=[ (\[])1(?=[;,)\] ])", "2"),
    (r"(?<=[(, ])-(?=[a-z])", ""),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"std::min\(", "std::max("),
    (r"std::max\(", "std::min("),
]


def changed_lines(text: str) -> list[tuple[int, str]]:
    """Return (number, changed line) for every place of code that can be changed."""
    found = []
    for number, line in enumerate(text.splitlines()):
        code = line.split("//")[0]
        if code.lstrip().startswith(("#", "template", "static_assert", "assert")) or '"' in code:
            continue
        for pattern, replacement in _CHANGES:
            matches = re.finditer(pattern, code)
            found += [(number, line[: match.start()] + replacement + line[match.end() :]) for match in matches]
    return found


def equivalent(file: Path = EQUIVALENT) -> set[str]:
    """Return the mutants that are known to mean the same: lines `source.cpp: changed line`, each below its reason."""
    return {line for line in file.read_text().splitlines() if line and not line.startswith("#")}


def compile_command(build: Path, source: Path) -> list[str]:
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if Path(entry["file"]).resolve() == source:
            words = shlex.split(entry["command"])
            del words[words.index("-o") : words.index("-o") + 2]
            return [word for word in words if Path(word).resolve() != source or word.startswith("-")]
    sys.exit(f"{source} is not in {build / 'compile_commands.json'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("test")
    parser.add_argument("--sample", type=int, default=30, help="how many mutants, 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    options = parser.parse_args()
    build, source = options.build.resolve(), options.source.resolve()
    compiler = compile_command(build, source)
    # A launcher (ccache) may stand before the compiler's name.
    linker = next(word for word, option in itertools.pairwise(compiler) if option.startswith("-"))
    folder = build / "cpp/tests"
    objects = [next(folder.glob(f"CMakeFiles/{options.test}.dir/*/*.o")), build / "libfastpu_core.a"]
    began = time.monotonic()
    subprocess.run([folder / options.test], check=True, stdout=subprocess.DEVNULL)
    allowed = 10 + 5 * (time.monotonic() - began)
    text = source.read_text()
    known = equivalent()
    everything = changed_lines(text)
    n_places = len(everything)
    everything = [(number, line) for number, line in everything if f"{source.name}: {line.strip()}" not in known]
    random.Random(options.seed).shuffle(everything)  # noqa: S311 - a sample, not a secret
    start = time.monotonic()
    counts = {"failed a test": 0, "did not compile": 0, "ran too long": 0, "survived": 0}
    with tempfile.TemporaryDirectory() as name:
        mutated, made, program = Path(name) / source.name, Path(name) / "mutant.o", Path(name) / options.test
        for number, line in everything[: options.sample or None]:
            if time.monotonic() - start > options.seconds:
                break
            lines = text.splitlines()
            lines[number] = line
            mutated.write_text("\n".join(lines) + "\n")
            command = [*compiler, f"-I{source.parent}", "-w", "-O1", "-o", made, "-c", mutated]
            if subprocess.run(command, check=False, capture_output=True, cwd=build).returncode:
                counts["did not compile"] += 1
                continue
            link = [linker, objects[0], made, objects[1], "-pthread", "-ldl", "-o", program]
            wrapped = ["-Wl,--wrap=_Znwm"] if sys.platform == "linux" else []
            subprocess.run([*link, *wrapped], check=True)
            try:
                done = subprocess.run([program], check=False, capture_output=True, timeout=allowed, cwd=folder)
                outcome = "failed a test" if done.returncode else "survived"
            except subprocess.TimeoutExpired:
                outcome = "ran too long"
            counts[outcome] += 1
            if outcome == "survived":
                print(f"SURVIVED line {number + 1} of {source.name}: {line.strip()}", flush=True)
    print(
        f"{sum(counts.values())} of {n_places} mutants: {', '.join(f'{n} {what}' for what, n in counts.items())}; "
        f"{n_places - len(everything)} that mean the same were left out"
    )
    return int(counts["survived"] > 0)


if __name__ == "__main__":
    sys.exit(main())
