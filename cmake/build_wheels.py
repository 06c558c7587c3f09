"""Build a wheel with every Python of this machine and run the smallest test from each in an empty environment.

python cmake/build_wheels.py [--output dist] [PYTHON ...]

Without names, every CPython from 3.10 on that is on the path or among pyenv's versions is taken. On Linux auditwheel
says which manylinux policy a wheel keeps (its modules may ask for no newer glibc and libstdc++ than the policy's) and
gives it that name. The compiler of this machine decides how old a system may be; what release machines do for all
platforms is [tool.cibuildwheel] in pyproject.toml.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_OLDEST = (3, 10)
_ASK = (
    "import json, platform, sys, sysconfig;"
    "print(json.dumps([sys.version_info[:2], platform.python_implementation(),"
    "bool(sysconfig.get_config_var('Py_GIL_DISABLED'))]))"
)


def found_pythons() -> list[str]:
    names = [f"python3.{minor}" for minor in range(10, 30)]
    names += [f"{name}t" for name in names]
    paths = [shutil.which(name) for name in names]
    pyenv = Path.home() / ".pyenv" / "versions"
    return [path for path in paths if path] + [str(path) for path in sorted(pyenv.glob("3.*/bin/python"))]


def tag_of(python: str) -> str | None:
    """Return a name such as cp313 or cp314t, or None for what is no CPython that fastpu takes."""
    done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=False)
    if done.returncode:
        return None  # pyenv's stand-in for a version that is not chosen
    (major, minor), implementation, is_free_threaded = json.loads(done.stdout)
    if implementation != "CPython" or (major, minor) < _OLDEST:
        return None
    return f"cp{major}{minor}{'t' if is_free_threaded else ''}"


def run(*command: object, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def policy_of(wheel: Path) -> str:
    """Return the manylinux policy that the wheel keeps, and the newest symbols that it asks for."""
    shown = json.loads(run(sys.executable, "-m", "auditwheel", "show", "--json", wheel))
    newest: dict[str, list[int]] = {}
    for versions in shown["versioned_symbols"].values():
        for version in versions:  # such as GLIBC_2.35
            kind, _, number = version.rpartition("_")
            newest[kind] = max(newest.get(kind, []), [int(part) for part in number.split(".")])
    needs = [f"{kind}_{'.'.join(map(str, number))}" for kind, number in sorted(newest.items())]
    return f"{shown['overall_tag']} (needs {', '.join(needs)})"


def build(python: str, tag: str, output: Path) -> Path:
    """Build one wheel; on Linux, name it by the policy that it keeps."""
    work = ROOT / "build" / "wheels" / tag
    shutil.rmtree(work, ignore_errors=True)
    run(python, "-m", "venv", work / "venv")
    run(work / "venv/bin/python", "-m", "pip", "-q", "wheel", "--no-deps", "-w", work / "raw", ROOT)
    wheel = next((work / "raw").glob("*.whl"))
    if sys.platform == "linux":
        print(f"{tag}: {policy_of(wheel)}", flush=True)
        run(sys.executable, "-m", "auditwheel", "repair", wheel, "-w", work / "repaired")
        wheel = next((work / "repaired").glob("*.whl"))
    output.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(wheel, output))


def strangers(wheel: Path) -> list[str]:
    """Files in the wheel that are neither Python, types and modules of the package nor its metadata."""
    belongs = re.compile(
        r"fastpu/((\w+/)*\w+\.pyi?|py\.typed|_(core|blas)\.[\w-]+\.(so|pyd))|fastpu-[\w.]+\.dist-info/.+"
    )
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if not name.endswith("/") and not belongs.fullmatch(name)]


def check(wheel: Path, tag: str) -> str:
    """Look at what is in the wheel, install it with its run-time packages alone, and run the smallest test."""
    if found := strangers(wheel):
        sys.exit(f"{wheel.name} has files that do not belong in it: {', '.join(found)}")
    venv_python = ROOT / "build" / "wheels" / tag / "venv/bin/python"
    run(venv_python, "-m", "pip", "-q", "install", wheel)
    versions = "import numpy, scipy; print('NumPy', numpy.__version__, 'SciPy', scipy.__version__)"
    folder = venv_python.parent  # not where the source tree is
    return run(venv_python, ROOT / "tests/test_minimal.py", cwd=folder) + run(venv_python, "-c", versions, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    pythons: dict[str, str] = {}
    for python in options.pythons or found_pythons():
        tag = tag_of(python)
        if tag is not None:
            pythons.setdefault(tag, python)
    if not pythons:
        sys.exit("no Python >= 3.10 was found")
    for tag, python in sorted(pythons.items(), key=lambda item: (len(item[0]), item[0])):
        wheel = build(python, tag, options.output)
        print(f"{wheel.name}, {wheel.stat().st_size / 2**20:.2f} MiB\n{check(wheel, tag)}", flush=True)


if __name__ == "__main__":
    main()
