"""Is every figure on the pages the one of the table that it comes from?

python bench/does_it_help/check_figures.py        # from anywhere in a clone; prints what is wrong, and is 1 then

docs/claims.txt lists what the pages say: a line `PAGE: words as they stand there`, and below it, indented, where each
number in these words comes from, in their order:

    README.md: its mean AUC is .845 with 5 labels
        does_it_help_table.md > Over tables > fit_forest > AUC, 5 labels
        -

That is a table of docs/ by its title, the first cell of a row, and the head of a column; `[1]` behind it takes the
second number of a cell. `in examples.md` is a page of docs/ on which the number must stand. `-` is a number that is no
figure. A number on a page may have fewer digits than the table, if it is rounded right. On `COVERED` pages every figure
like .85 or .845 outside code has to be in a claim.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = Path("docs/claims.txt")
COVERED = ("README.md", "docs/choosing.md", "docs/does_it_help.md", "docs/few_labels.md", "docs/start.md")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d))(?![\w])")
_FIGURE = re.compile(r"(?<![\w.,])\.\d{2,3}(?!\w)")


@dataclass(frozen=True)
class Claim:
    """Words of a page, and where each number in them comes from; `line` is that of the list."""

    page: str
    words: str
    sources: tuple[str, ...]
    line: int


def claims(text: str) -> list[Claim]:
    """Return the claims of a list."""
    found: list[Claim] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    "):
            last = found.pop()
            found.append(Claim(last.page, last.words, (*last.sources, line.strip()), last.line))
        else:
            page, words = line.split(": ", maxsplit=1)
            found.append(Claim(page, words.strip(), (), number))
    return found


def flaws_of(claim: Claim, root: Path) -> list[str]:
    """Return what is wrong with a claim, in words."""
    if claim.words not in prose(_page(root, claim.page)):
        return [f"{claim.page} does not say: {claim.words}"]
    numbers = _NUMBER.findall(claim.words)
    if len(numbers) != len(claim.sources):
        return [f"{len(numbers)} numbers and {len(claim.sources)} sources: {claim.words} {numbers}"]
    flaws = []
    for number, source in zip(numbers, claim.sources, strict=True):
        if source == "-":
            continue
        if source.startswith("in "):
            if not re.search(rf"(?<![\w.]){re.escape(number)}(?!\w)", _page(root, source[3:])):
                flaws.append(f"{number} is not {source}: {claim.words}")
            continue
        try:
            known = cell(root, source)
        except LookupError as error:
            flaws.append(f"{error}: {claim.words}")
            continue
        if not agree(number, known):
            flaws.append(f"{number} is {known} in {source}: {claim.words}")
    return flaws


def agree(number: str, known: float) -> bool:
    """Return whether a number as it is written is `known`, rounded to its digits; a sign may be left out."""
    digits = len(number.partition(".")[2])
    value = float(number.replace(",", ""))
    off = abs(value - known) if number[0] in "+-" else abs(abs(value) - abs(known))
    return off <= 0.5 * 10.0**-digits + 1e-9


def cell(root: Path, source: str) -> float:
    """Return the number in a cell of a table, by `file > title > row > column`."""
    path, title, row, column = (part.strip() for part in source.split(" > "))
    which = re.fullmatch(r"(.*?)\s*\[(\d+)\]", column)
    column, place = (which[1], int(which[2])) if which else (column, 0)
    for found, lines in _tables(_page(root, path)):
        if not found.startswith(title):
            continue
        head, _, *body = lines
        for cells in body:
            if cells[0] == row and column in head:
                return float(_NUMBER.findall(cells[head.index(column)])[place].replace(",", ""))
    raise LookupError(f"there is no {source}")


@cache
def _page(root: Path, name: str) -> str:
    path = root / name if (root / name).is_file() else root / "docs" / name
    return path.read_text(encoding="utf-8")


def _tables(text: str) -> list[tuple[str, list[list[str]]]]:
    """Return the titles and the cells of all tables below headings of a page."""
    found: list[tuple[str, list[list[str]]]] = []
    title, is_open = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        if line.startswith("|"):
            if not is_open:
                found.append((title, []))
            found[-1][1].append([part.strip().strip("*") for part in line.strip()[1:-1].split(" | ")])
        is_open = line.startswith("|")
    return found


def prose(text: str) -> str:
    """Return a page without code, in one line."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    return " ".join(" ".join(lines).split())


def unclaimed(root: Path, every: list[Claim], page: str) -> list[str]:
    """Return the figures of a page that no claim covers, with the words around them."""
    text = prose(_page(root, page))
    name = Path(page).name
    covered = set()
    for claim in every:
        if claim.page == name:
            start = text.find(claim.words)
            covered.update(range(start, start + len(claim.words)) if start >= 0 else ())
    return [
        f"{name}: no claim covers {figure[0]} in: ... {text[max(0, figure.start() - 60) : figure.end() + 20]} ..."
        for figure in _FIGURE.finditer(text)
        if figure.start() not in covered
    ]


def flaws(root: Path = ROOT) -> list[str]:
    """Return everything that is wrong."""
    every = claims((root / CLAIMS).read_text(encoding="utf-8"))
    found = [f"{CLAIMS}:{claim.line}: {flaw}" for claim in every for flaw in flaws_of(claim, root)]
    return found + [flaw for page in COVERED for flaw in unclaimed(root, every, page)]


if __name__ == "__main__":
    wrong = flaws()
    print("\n".join(wrong) or "every figure is that of its table")
    sys.exit(bool(wrong))
