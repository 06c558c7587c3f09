"""Error and time of the estimates of the class prior, on a folder of data sets with true labels.

python bench/priors --data DIR [--sets pima wdbc ...] [--splits 10] [--prior 0.3] [--output FILE]

The folder holds NAME.csv.gz: a header, numeric columns without missing entries, the last column `label` with two kinds,
of which the rarer one is positive. Of each set, for each split: a random half of the positive rows is labelled, and
the unlabelled rows are as many of the others as give a share `--prior` of positives. At most --max-rows rows are drawn
before. Features are divided by their standard deviation, or left as they are (--raw).

Printed are the mean absolute error and, in brackets, the mean error (estimate - truth) and the standard deviation of
the errors, and the seconds of one estimate. "allowed" is the share of splits in which the truth is within what bbe says
is allowed, and "bound" that in which it calls its estimate an upper bound only.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import fastpu
from fastpu import priors

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import DataError, Parser, line, read_labelled, standardised, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

METHODS = {"bbe": priors.bbe, "km2": priors.km2}
_FEWEST = 10  # rows of a group


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("priors", __doc__)
    parser.add("--data", "folder of NAME.csv.gz", type=Path, required=True)
    parser.add("--sets", "sets to run (default: all that can be used)", nargs="+", metavar="NAME")
    parser.add("--splits", "random splits", 10)
    parser.add("--prior", "true share", 0.3)
    parser.add("--max-rows", "of a set", 5000)
    parser.add("--raw", "leave features as they are", action="store_true")
    parser.add("--output", "file for the raw results, JSON (default: none written)", type=Path)
    return parser.parsed(argv, "splits", shares=("prior",))


def load(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return the features of a set and which rows are positive, or None if it is no set of two kinds."""
    try:
        X, labels = read_labelled(path)
    except (DataError, ValueError):  # no column of labels, or a blank entry
        return None
    names, counts = np.unique(labels, return_counts=True)
    if names.size != 2:
        return None
    return X, labels == names[np.argmin(counts)]


def split(
    truth: NDArray[np.bool_], prior: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return numbers of labelled and of unlabelled rows, or None where a group would have too few."""
    pos, neg = (rng.permutation(np.flatnonzero(truth == kind)) for kind in (True, False))
    labeled, hidden = pos[: pos.size // 2], pos[pos.size // 2 :]
    n_unl = int(min(hidden.size / prior, neg.size / (1 - prior)))
    n_hidden = round(prior * n_unl)
    unlabeled = np.concatenate([hidden[:n_hidden], neg[: n_unl - n_hidden]])
    return (labeled, unlabeled) if min(labeled.size, n_hidden, n_unl - n_hidden) >= _FEWEST else None


def measure(
    X: NDArray[np.float64], truth: NDArray[np.bool_], options: argparse.Namespace
) -> dict[str, dict[str, list[float]]] | None:
    """Return the errors and the seconds of each method over the splits, and whether what it allows holds the truth."""
    measured = ("error", "seconds", "allowed", "bound")
    found: dict[str, dict[str, list[float]]] = {name: {what: [] for what in measured} for name in METHODS}
    if not options.raw:
        X = standardised(X, X)
    for seed in range(options.splits):
        rng = np.random.default_rng(seed)
        some = rng.permutation(truth.size)[: options.max_rows]
        groups = split(truth[some], options.prior, rng)
        if groups is None:
            return None
        rows, y = X[some[np.concatenate(groups)]], np.repeat([1, 0], [group.size for group in groups])
        actual = float(truth[some[groups[1]]].mean())
        for name, method in METHODS.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fastpu.exceptions.EstimateWarning)  # its error shows
                estimate = method(rows, y, random_state=seed, n_threads=1)
            low, high = estimate.allowed or (0.0, 1.0)
            values = (
                estimate.value - actual,
                time.perf_counter() - start,
                low <= actual <= high,
                estimate.only_upper_bound,
            )
            for what, value in zip(measured, values, strict=True):
                found[name][what].append(float(value))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    paths = sorted(options.data.glob("*.csv.gz"))
    if options.sets:
        missing = sorted(set(options.sets) - {path.name.removesuffix(".csv.gz") for path in paths})
        if missing:
            print(f"no file in {options.data} for: {', '.join(missing)}", file=sys.stderr)
            return 2
        paths = [path for path in paths if path.name.removesuffix(".csv.gz") in options.sets]
    print(table(["set", "n x d", *(f"{name}: error, s" for name in METHODS), "allowed", "bound"]))
    results = {}
    for path in paths:
        name = path.name.removesuffix(".csv.gz")
        data = load(path)
        found = None if data is None else measure(*data, options)
        if data is None or found is None:
            print(
                f"{name}: left out, it has other than two kinds, blanks, or too few rows of one kind", file=sys.stderr
            )
            continue
        results[name] = found
        cells = []
        for values in found.values():
            errors = np.array(values["error"])
            seconds = np.mean(values["seconds"])
            cells.append(f"{np.abs(errors).mean():.3f} ({errors.mean():+.3f}, {errors.std():.3f}), {seconds:.2f}")
        cells += [f"{np.mean(found['bbe'][what]):.2f}" for what in ("allowed", "bound")]
        print(line([name, f"{data[0].shape[0]} x {data[0].shape[1]}", *cells]), flush=True)
    if results:
        means = [
            np.mean([np.abs(found[name]["error"]).mean() for found in results.values()]).item() for name in METHODS
        ]
        told = [
            np.mean([np.mean(found["bbe"][what]) for found in results.values()]).item() for what in ("allowed", "bound")
        ]
        print(
            line(
                ["mean", f"{len(results)} sets", *(f"{mean:.3f}" for mean in means), *(f"{mean:.2f}" for mean in told)]
            )
        )
    if options.output is not None:
        options.output.write_text(json.dumps({"prior": options.prior, "sets": results}, indent=1) + "\n")
    return 0 if results else 2


if __name__ == "__main__":
    sys.exit(main())
