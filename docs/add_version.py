"""Put built documentation beside that of other versions, for any host of plain files. `make site` calls it.

SITE/latest, SITE/0.1, SITE/0.2    one version each
SITE/stable                        a copy of the newest numbered one
SITE/versions.json                 what the menu in the sidebar reads
SITE/index.html                    leads to stable, or to latest while there is no numbered one
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def replace(built: Path, folder: Path) -> None:
    """Copy to a new folder first, so that readers never see half of a version."""
    new = folder.with_name(f".new-{folder.name}")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(built, new)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def main() -> None:
    built, site, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if not re.fullmatch(r"latest|\d+(\.\d+)*", version):
        sys.exit(f"VERSION must be latest or a number such as 0.1, got {version}")
    replace(built, site / version)
    numbered = sorted((path.name for path in site.iterdir() if re.fullmatch(r"\d+(\.\d+)*", path.name)), key=number)
    if numbered and version == numbered[-1]:
        replace(built, site / "stable")
    names = [name for name in ("latest", "stable") if (site / name).is_dir()] + numbered[::-1]
    (site / "versions.json").write_text(json.dumps(names) + "\n", encoding="utf-8")
    first = "stable" if numbered else "latest"
    (site / "index.html").write_text(f'<meta http-equiv="refresh" content="0; url={first}/">\n', encoding="utf-8")
    print(f"{site}: {', '.join(names)}")


if __name__ == "__main__":
    main()
