"""How often intervals of average precision, precision and recall hold the truth, in simulations where it is known.

python bench/ranking [--repeats 400] [--boot 200] [--apart 0 1 2 3 4] [--priors 0.05 0.1 0.2 0.3]

Scores of negative rows are N(0, 1), those of positive ones N(apart, 1). The truth is that of the population. Precision
and recall are those of flagging as large a share of the unlabelled rows as is positive; the recall's interval is that
of `lift_at_k` times the share, and that of `ranking_curve` at this point. Printed are percentages of intervals of 90 %
that hold the truth, as a table of Markdown: average precision, precision and recall for each number of rows.
"""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from fastpu.metrics import average_precision, lift_at_k, precision_at_k

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Parser, line, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastpu.metrics import RankingEstimate

SIZES = ((20, 300), (50, 500), (200, 2000))  # labelled positives, unlabelled rows


def truth_of(apart: float, prior: float) -> dict[str, float]:
    """Average precision, precision and recall of the population."""
    cuts = np.linspace(-8, 8 + apart, 20_001)
    beyond = np.vectorize(lambda cut: 0.5 * math.erfc(cut / math.sqrt(2)))
    recall, false = beyond(cuts - apart), beyond(cuts)
    share = prior * recall + (1 - prior) * false
    precision = prior * recall / share
    at = float(np.interp(-prior, -share, recall))
    mean = float(np.sum((precision[1:] + precision[:-1]) / 2 * -np.diff(recall)))
    return {"AP": mean, "precision": at, "recall": at}  # precision = prior recall / share, and the share is the prior


def covered(apart: float, prior: float, n_pos: int, n_unl: int, repeats: int, n_boot: int) -> dict[str, float]:
    """The shares of intervals that hold the truth."""
    truth = truth_of(apart, prior)
    rng = np.random.default_rng([n_pos, n_unl, round(1000 * prior), round(1000 * apart)])
    boot = {"n_boot": n_boot, "random_state": rng}
    held = dict.fromkeys(truth, 0)
    for _ in range(repeats):
        is_positive = np.append(np.ones(n_pos, dtype=bool), rng.random(n_unl) < prior)
        scores = rng.normal(size=n_pos + n_unl) + apart * is_positive
        y = np.arange(n_pos + n_unl) < n_pos
        found = {
            "AP": average_precision(y, scores, prior, **boot),
            "precision": precision_at_k(y, scores, prior, prior, **boot),
            "recall": lift_at_k(y, scores, prior, **boot),
        }
        for name, estimate in found.items():
            unit = prior if name == "recall" else 1.0
            low, high = cast("RankingEstimate", estimate).interval
            held[name] += unit * low <= truth[name] <= unit * high
    return {name: count / repeats for name, count in held.items()}


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("ranking", __doc__)
    parser.add("--repeats", "samples of each line", 400)
    parser.add("--boot", "bootstrap samples", 200)
    parser.add("--apart", "means of the positive scores", [0.0, 1.0, 2.0, 3.0, 4.0], nargs="+")
    parser.add("--priors", "shares of positives", [0.05, 0.1, 0.2, 0.3], nargs="+")
    options = parser.parsed(argv, "repeats", "boot")
    warnings.simplefilter("ignore")  # of precisions above 1, in a few of the samples
    print(table(["apart", "prior", "AP", *(f"{n_pos} and {n_unl}" for n_pos, n_unl in SIZES)]))
    for apart in options.apart:
        for prior in options.priors:
            cells = [covered(apart, prior, *size, options.repeats, options.boot) for size in SIZES]
            percents = [", ".join(f"{100 * share:.0f}" for share in cell.values()) for cell in cells]
            truth = truth_of(apart, prior)["AP"]
            print(line([f"{apart:g}", f"{prior:g}", f"{truth:.2f}", *percents]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
