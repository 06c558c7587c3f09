"""How often what fastpu says of a ranking holds, in simulations where the truth is known.

python bench/decisions [--parts intervals bounds tables leaks batches groups thresholds probabilities] [--repeats 200]
    [--draws 20] [--boot 200] [--labels 2 5 10 20 200] [--unlabelled 2000] [--apart 1 2.5 4] [--priors 0.02 0.1 0.3]
    [--labelled 20 200 400 800] [--populations normals noisy stripes claims] [--jobs 2] [--output DIR]

Scores of negative rows are N(0, 1), those of positive ones N(apart, 1). As many rows are flagged as are positive among
the unlabelled ones, and ten at least. Printed are percentages of intervals of 90 % that hold the truth, as tables of
Markdown, with a standard error of 2 for 200 repeats:

intervals   the prior is known; labelled rows are few
bounds      the prior is estimated by `fastpu.priors.bbe` from 200 labelled rows, and often known as an upper bound only
tables      the prior is estimated from a table with gaps and categories, by `fastpu.priors` on its rows or on scores
leaks       a column knows the labels: percentages of fits that tell of it, and that name it
batches     rows that are not like the training rows: known negatives called positive where a column is lost or a shop
            is new, and whether `model.check` names that column
groups      ten rows of a customer are alike: what is said of new customers, without `groups` and with them
alike       ten rows of a customer have similar scores: intervals of the metrics and what `bbe` allows, by rows and by
            groups

The last five have draws of their own, `--draws` of each cell, and other sizes, which stand in their titles. So have
four more, which print other figures; only the first two parts run by default:

thresholds     the share of fresh rows called positive where .05 is asked for, by scores of the training rows and by
               their out-of-bag scores
probabilities  the mean probability of the first rows beside the truth and `precision_at_k`, and all rows' log loss
codings        the same labels in other codings: numbers that change without an error
seconds        CPU seconds of priors, thresholds, probabilities and checks beside those of the fit

Last comes a table of the shares of wrong or missing numbers, by the way before where a part tries both.

The truth of recall, lift, average precision and AUC is that of the population. That of the precision is the share of
positives among the very rows that are flagged, and beside it that of the population.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

import alike_rows
import batches
import bounds
import codings
import customers
import intervals
import leaking_columns
import probabilities
import seconds
import tables
import thresholds
from samples import POPULATIONS
from shared import Parser, table, write

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = {
    "intervals": intervals.report,
    "bounds": bounds.report,
    "tables": tables.report,
    "leaks": leaking_columns.report,
    "batches": batches.report,
    "groups": customers.report,
    "alike": alike_rows.report,
    "thresholds": thresholds.report,
    "probabilities": probabilities.report,
    "codings": codings.report,
    "seconds": seconds.report,
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("decisions", __doc__)
    parser.add("--parts", "what to measure", ["intervals", "bounds"], nargs="+", choices=list(PARTS))
    parser.add("--repeats", "draws of each cell", 200)
    parser.add("--draws", "draws of each cell, where models are fitted", 20)
    parser.add("--labelled", "labelled rows, of thresholds and probabilities", [20, 200, 400, 800], nargs="+")
    parser.add("--populations", "rows, of probabilities", list(POPULATIONS), nargs="+", choices=list(POPULATIONS))
    parser.add("--boot", "samples of each interval", 200)
    parser.add("--labels", "labelled positive rows, of the intervals", [2, 5, 10, 20, 200], nargs="+")
    parser.add("--unlabelled", "unlabelled rows", 2000)
    parser.add("--apart", "means of the positive scores", [1.0, 2.5, 4.0], nargs="+")
    parser.add("--priors", "shares of positives", [0.02, 0.1, 0.3], nargs="+")
    parser.add_common(jobs=True)
    options = parser.parsed(argv, "repeats", "draws", "boot", "unlabelled", "jobs", shares=("priors",))
    texts, results, wrong = [], {}, []
    for part in options.parts:
        text, results[part] = PARTS[part](options)
        print(text, end="\n\n", flush=True)
        texts.append(text)
        wrong += results[part].get("wrong", [])
    if wrong:
        cells = [[what, *("" if share is None else f"{share:.3f}" for share in shares)] for what, *shares in wrong]
        texts.append(table(["", "the way before", "now"], cells, title="Shares of wrong or missing numbers"))
        print(texts[-1], flush=True)
    write(options.output, "\n\n".join(texts), results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
