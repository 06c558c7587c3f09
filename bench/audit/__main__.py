"""How often the intervals of fastpu.audit hold the truth, in simulations where it is known.

python bench/audit [--runs 1000] [--checks 200] [--parts intervals] [--jobs 2] [--output DIR]

Each run draws 20,000 rows anew, with a share of positives and scores of a kind, and a plan for each goal. Precision and
recall are those of the first k rows, as many as are positive and at least 500. An error is the root of the mean square,
over that of as many rows drawn at random.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

import intervals
from populations import KINDS, SHARES
from shared import Parser, write

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = {"intervals": intervals.report}


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("audit", __doc__)
    parser.add("--parts", "what to measure", list(PARTS), nargs="+", choices=list(PARTS))
    parser.add("--runs", "of each line", 1000)
    parser.add("--checks", "rows that are checked", 200)
    parser.add("--kinds", "of rankings", list(KINDS), nargs="+", choices=list(KINDS))
    parser.add("--shares", "of positives", list(SHARES), nargs="+", choices=list(SHARES))
    parser.add_common(jobs=True)
    options = parser.parsed(argv, "runs", "checks", "jobs")
    texts, results = [], {}
    for part in options.parts:
        text, results[part] = PARTS[part](options)
        print(text, end="\n\n", flush=True)
        texts.append(text)
    write(options.output, "\n\n".join(texts), results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
