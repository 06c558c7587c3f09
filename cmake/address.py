"""The address of the repository stands in one place, `repository` in pyproject.toml; all that shows it is made here.

python cmake/address.py [--check]

writes it into README.md (badges) and CITATION.cff (`make address`); with --check it only says what would change. When
the package is built, `dynamic_metadata` is asked for the links on the index's page, and for the README that stands
there, in which relative links would lead nowhere. The documentation takes the address from that metadata, as installed.
As long as there is no address, nothing shows one, and everything else works.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent


def repository() -> str:
    """Return the address, or "" as long as there is none."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^repository = "(.*)"', text, re.MULTILINE)
    if found is None:
        sys.exit("pyproject.toml has no line `repository = ...` any more")
    return found[1].rstrip("/")


def links(address: str) -> dict[str, str]:
    """Return what an index shows beside the text."""
    if not address:
        return {}
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/main/docs/index.md",
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }


def with_badges(readme: str, address: str) -> str:
    """Return the README with the badges of this address, and no others, below its title."""
    title, _, rest = readme.partition("\n\n")
    while rest.startswith("[!["):
        rest = rest.partition("\n")[2].lstrip("\n")
    workflows = [f"{address}/actions/workflows/{name}.yml" for name in ("test", "docs")] if address else []
    badges = [f"[![{Path(each).stem}]({each}/badge.svg)]({each})" for each in workflows]
    return "\n\n".join([title, *(["\n".join(badges)] if badges else []), rest])


def relative_links(readme: str) -> list[str]:
    """Return the links and pictures that only a reader of the repository can follow."""
    return re.findall(r"\]\((?!\w+:|#)([^)\s]+)\)", readme)


def readme_for_index(readme: str, address: str, version: str) -> str:
    """Return the README whose links and pictures lead to the files of this version."""
    if not address:
        return readme

    def absolute(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        return f"{picture}[{text}]({address}/{'raw' if picture else 'blob'}/v{version}/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)", absolute, with_badges(readme, address))


def with_citation(citation: str, address: str) -> str:
    """Return CITATION.cff with this address, and no other."""
    kept = re.sub(r"^(repository-code|url): .*\n", "", citation, flags=re.MULTILINE)
    return kept + (f'repository-code: "{address}"\nurl: "{address}"\n' if address else "")


def dynamic_metadata(settings: Mapping[str, str], project: Mapping[str, str]) -> dict[str, object]:
    """Return the metadata that depends on the address; scikit-build-core calls this in the project's folder."""
    address = settings["repository"].rstrip("/")
    readme = Path("README.md").read_text(encoding="utf-8")
    text = readme_for_index(readme, address, project["version"])
    return {"readme": {"content-type": "text/markdown", "text": text}, "urls": links(address)}


def stale() -> dict[Path, str]:
    """Return the files that do not show the address that pyproject.toml has, with what they should have."""
    files = {ROOT / "README.md": with_badges, ROOT / "CITATION.cff": with_citation}
    wanted = {path: change(path.read_text(encoding="utf-8"), repository()) for path, change in files.items()}
    return {path: text for path, text in wanted.items() if text != path.read_text(encoding="utf-8")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say what would change, and change nothing")
    is_check = parser.parse_args().check
    for path, text in stale().items():
        print(f"{path.name} {'does not show' if is_check else 'now shows'} the address of pyproject.toml")
        if not is_check:
            path.write_text(text, encoding="utf-8")
    if not repository():
        print("there is no address yet: set `repository` in pyproject.toml")


if __name__ == "__main__":
    main()
