"""Find a digit among many: 40 images are known to show an eight, 1,757 others have not been looked at.

Whoever wants the eights looks at images in the order of a score, the best first. What people do first is to train a
classifier with all images that nobody looked at as negatives: here logistic regression and a random forest of
scikit-learn. The eights among them teach it the wrong thing. Extra trees with balanced weights and large leaves, which
an expert may know to set, find the most on these images. `fastpu.fit_forest` needs no setting: it draws small bags of
the other images, and scores every image by the trees whose bags did not hold it. How many of the first hundred are
eights is estimated as well, without a single image known to be none: from the scores of the labelled ones, and from the
knowledge that every tenth digit is an eight.

Which 40 images are labelled is drawn ten times, and the table has the means. The pictures show the draw in which the
forest found as many as on average, and the means of all draws. The images are scikit-learn's, 8 x 8 pixels; nothing is
fetched. What each image shows is used to draw the labelled ones and, at the end, to count.

    python examples/digits.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import fastpu
from fastpu.metrics import auc, precision_at_k

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

N_LABELLED = 40
BUDGET = 100  # images that somebody will look at
N_DRAWS = 10
FOREST = "fastpu.fit_forest"
INCHES, DPI = 7.0, 150  # the width of all pictures, and their pixels for an inch
INK = 16  # the darkest pixel of an image
KNOWN, UNKNOWN, WRONG = "Blues", "Greys", "Oranges"


@dataclass(frozen=True)
class Ranking:
    """The scores of all images, and the seconds that they took."""

    scores: NDArray[np.float64]
    seconds: float
    model: Any


def logistic_regression(X: NDArray[np.float64], is_labelled: NDArray[np.bool_], _: int) -> Any:
    model = LogisticRegression(max_iter=2000).fit(X / INK, is_labelled)
    return model.decision_function(X / INK), model


def random_forest(X: NDArray[np.float64], is_labelled: NDArray[np.bool_], seed: int) -> Any:
    model = RandomForestClassifier(500, oob_score=True, random_state=seed).fit(X, is_labelled)
    return model.oob_decision_function_[:, 1], model


def extra_trees(X: NDArray[np.float64], is_labelled: NDArray[np.bool_], seed: int) -> Any:
    model = ExtraTreesClassifier(
        300, min_samples_leaf=5, class_weight="balanced", bootstrap=True, oob_score=True, random_state=seed
    )
    with warnings.catch_warnings():  # bootstraps are drawn by weight, so labelled rows are in all of them
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores", UserWarning)
        model.fit(X, is_labelled)
    return model.oob_decision_function_[:, 1], model


def pu_forest(X: NDArray[np.float64], is_labelled: NDArray[np.bool_], seed: int) -> Any:
    model = fastpu.fit_forest(X, is_labelled, random_state=seed)
    return model.oob_decision_function, model


METHODS: dict[str, Callable[..., Any]] = {
    "logistic regression, the rest as negatives": logistic_regression,
    "random forest, the rest as negatives": random_forest,
    "extra trees, leaves of 5, balanced": extra_trees,
    FOREST: pu_forest,
}


def rank(method: str, X: NDArray[np.float64], is_labelled: NDArray[np.bool_], seed: int) -> Ranking:
    start = time.perf_counter()
    scores, model = METHODS[method](X, is_labelled, seed)
    return Ranking(scores, time.perf_counter() - start, model)


def draw_labels(truth: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """Label some of the positive images, drawn at random."""
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(truth), N_LABELLED, replace=False)
    return np.isin(np.arange(truth.size), chosen)


def best_first(ranking: Ranking, is_labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the images that are not labelled, those with the largest scores first."""
    unlabeled = np.flatnonzero(~is_labelled)
    return unlabeled[np.argsort(-ranking.scores[unlabeled], kind="stable")]


def expected(ranking: Ranking, is_labelled: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return how many of the first unlabelled images are positive, estimated, and the 90 % interval of that."""
    n_unlabeled = np.sum(~is_labelled)
    prior = (is_labelled.size / 10 - N_LABELLED) / n_unlabeled  # every tenth image, but for those that are labelled
    estimate = precision_at_k(is_labelled, ranking.scores, BUDGET, prior=prior, n_boot=500, random_state=0)
    return BUDGET * estimate.value, BUDGET * estimate.interval[0], BUDGET * estimate.interval[1]


# ---- The pictures ----


def show_images(part: SubFigure, title: str, X: NDArray[np.float64], colours: list[str]) -> None:
    """Draw a hundred images, ten in a line."""
    part.suptitle(title, fontsize=9)
    for axis, pixels, colour in zip(part.subplots(10, 10).ravel(), X, colours, strict=True):
        # The darkest pixel of a grey image is a mid grey: black would not be taken for grey in so small a picture.
        darkest = INK / 0.55 if colour == UNKNOWN else INK
        axis.imshow(pixels.reshape(8, 8), cmap=colour, vmin=0, vmax=darkest, interpolation="nearest")
        axis.set_axis_off()


def story(
    X: NDArray[np.float64], truth: NDArray[np.bool_], is_labelled: NDArray[np.bool_], ranking: Ranking, digit: int
) -> Figure:
    """Draw what goes in, what comes out, and what people then find: rows, a ranked list, checked rows."""
    figure = Figure(figsize=(INCHES, 2.9), layout="constrained")
    parts = figure.subfigures(1, 3, wspace=0.06)
    known, unknown = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    rows = np.concatenate([known, np.random.default_rng(0).choice(unknown, 100 - known.size, replace=False)])
    colours = [KNOWN] * known.size + [UNKNOWN] * (100 - known.size)
    show_images(
        parts[0], f"rows: {known.size} known to be {digit} (blue),\n{unknown.size:,} unknown (grey)", X[rows], colours
    )
    first = best_first(ranking, is_labelled)[:BUDGET]
    show_images(parts[1], f"a ranked list of the unknown:\nits first {BUDGET}", X[first], [UNKNOWN] * BUDGET)
    checked = [KNOWN if right else WRONG for right in truth[first]]
    value, low, high = expected(ranking, is_labelled)
    n_right = truth[first].sum()
    title = (
        f"checked: {n_right} are {digit} (blue), {BUDGET - n_right} not\n"
        f"(expected: {value:.0f}; {low:.0f} to {high:.0f})"
    )
    show_images(parts[2], title, X[first], checked)
    return figure


def found_per_hundred(counts: dict[str, NDArray[np.float64]], share: float) -> Figure:
    """Draw how many positive images are in each hundred of a list, means over draws; a random list has `share`."""
    figure = Figure(figsize=(INCHES, 3.0), layout="constrained")
    axis = figure.subplots()
    colours = ("#999999", "#56B4E9", "#E69F00", "#0072B2")
    width = 0.8 / len(counts)
    for number, (name, found) in enumerate(counts.items()):
        places = np.arange(found.size) + (number - (len(counts) - 1) / 2) * width
        bars = axis.bar(places, found, width, color=colours[number], label=name)
        axis.bar_label(bars, fmt="%.0f", fontsize=8)
    axis.axhline(100 * share, color="0.4", linestyle="--", linewidth=1, label="a list in random order")
    axis.set_xticks(range(4), ["1 to 100", "101 to 200", "201 to 300", "301 to 400"])
    axis.set(xlabel="places of the list", ylabel="found among the 100", ylim=(0, 105))
    axis.legend(fontsize=8, frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="folder of the pictures (%(default)s)")
    parser.add_argument("--digit", type=int, choices=range(10), default=8, help="what to look for (%(default)s)")
    parser.add_argument(
        "--draws", type=int, default=N_DRAWS, help="random choices of the labelled images (%(default)s)"
    )
    options = parser.parse_args()
    if options.draws < 1:
        parser.error(f"--draws must be at least 1, got {options.draws}")

    X, digits = load_digits(return_X_y=True)
    truth = digits == options.digit
    print(f"{truth.size} images, {truth.sum()} of them show an {options.digit}; {N_LABELLED} of these are labelled.")
    print(f"Means over {options.draws} draws of the labelled images:\n")
    print(f"{'':44}{'AUC':>6}{f'found in the first {BUDGET}':>24}{'seconds':>9}")
    draws = [draw_labels(truth, seed) for seed in range(options.draws)]
    rankings = {name: [rank(name, X, each, seed) for seed, each in enumerate(draws)] for name in METHODS}
    hundreds: dict[str, NDArray[np.float64]] = {}
    firsts: dict[str, NDArray[np.int_]] = {}
    for name, of_draws in rankings.items():
        orders = [best_first(ranking, is_labelled) for ranking, is_labelled in zip(of_draws, draws, strict=True)]
        area = np.mean([auc(truth[o], ranking.scores[o]) for o, ranking in zip(orders, of_draws, strict=True)])
        firsts[name] = np.array([truth[order[:BUDGET]].sum() for order in orders])
        hundreds[name] = np.mean([truth[order[:400]].reshape(4, 100).sum(axis=1) for order in orders], axis=0)
        seconds = np.mean([ranking.seconds for ranking in of_draws])
        print(f"{name:44}{area:6.3f}{firsts[name].mean():24.1f}{seconds:9.2f}")

    typical = int(np.argmin(np.abs(firsts[FOREST] - firsts[FOREST].mean())))
    estimate = expected(rankings[FOREST][typical], draws[typical])
    print(
        f"\nIn the draw of the picture {estimate[0]:.0f} of the first {BUDGET} images of fit_forest were expected to "
        f"show an {options.digit} (90 % interval: {estimate[1]:.0f} to {estimate[2]:.0f}); in truth "
        f"{firsts[FOREST][typical]} do."
    )
    options.output.mkdir(parents=True, exist_ok=True)
    share = (truth.sum() - N_LABELLED) / (truth.size - N_LABELLED)
    for name, figure in {
        "digits.png": story(X, truth, draws[typical], rankings[FOREST][typical], options.digit),
        "digits_found.png": found_per_hundred(hundreds, share),
    }.items():
        figure.savefig(options.output / name, dpi=DPI)
        print(f"picture: {options.output / name}")
    print("""
A simpler method is enough where
- a linear boundary separates the classes and labels are many: logistic regression, the rest as negatives, is as good;
- nearly all positives are labelled: then the rest are negatives, and any supervised learner will do;
- a random sample of the rows was labelled in full: train on these rows alone, and compare.""")


if __name__ == "__main__":
    main()
