"""Find a digit among many: 40 images are known to show an eight, 1,757 others have not been looked at.

Whoever wants the eights looks at images in the order of a score, the best first. What people do first is to train a
classifier with all images that nobody looked at as negatives: here logistic regression and a random forest of
scikit-learn. The eights among them teach it the wrong thing. Who knows this sets extra trees for it, with balanced
weights and large leaves; on these images they find the most. `fastpu.fit_forest` needs no setting: it draws small bags
of the other images, and scores every image by the trees whose bags did not hold it. How many of the first hundred are
eights is estimated as well, without a single image known to be none: from the scores of the labelled ones, and from the
knowledge that every tenth digit is an eight.

The images are scikit-learn's, 8 x 8 pixels; nothing is fetched. What each image shows is used to draw the labelled ones
and, at the end, to count.

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

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

N_LABELLED = 40
BUDGET = 100  # images that somebody will look at
N_DRAWS = 10
NAIVE, FOREST = "logistic regression, the rest as negatives", "fastpu.fit_forest"


@dataclass(frozen=True)
class Ranking:
    """The scores of all images, and the seconds that they took."""

    scores: NDArray[np.float64]
    seconds: float
    model: Any


def logistic_regression(X: NDArray[np.float64], is_labelled: NDArray[np.bool_], _: int) -> Any:
    model = LogisticRegression(max_iter=2000).fit(X / 16, is_labelled)
    return model.decision_function(X / 16), model


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
    NAIVE: logistic_regression,
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


# ---- The picture ----


def show_images(part: SubFigure, title: str, X: NDArray[np.float64], is_right: NDArray[np.bool_]) -> None:
    """Draw a hundred images in the order in which they would be looked at; those that are no eight are red."""
    part.suptitle(title, fontsize=11)
    for axis, pixels, right in zip(part.subplots(10, 10).ravel(), X, is_right, strict=True):
        axis.imshow(pixels.reshape(8, 8), cmap="Greys" if right else "Reds", interpolation="nearest")
        axis.set_axis_off()


def show_counts(axis: Axes, found: dict[str, NDArray[np.intp]], estimate: tuple[float, float, float]) -> None:
    """Draw how many eights have been found after so many images."""
    colours = {NAIVE: "#8d99a6", FOREST: "#c0392b"}
    for name, counts in found.items():
        axis.plot(np.arange(1, counts.size + 1), counts, color=colours[name], linewidth=2, label=name)
    value, low, high = estimate
    axis.errorbar(
        BUDGET, value, [[value - low], [high - value]], fmt="o", color="black", capsize=4, zorder=3,
        label="fit_forest, expected before looking (90 % interval)",
    )  # fmt: skip
    axis.axvline(BUDGET, color="0.7", linewidth=0.8)
    axis.set(xlabel="images looked at, the best first", ylabel="eights among them", xlim=(0, 400), ylim=(0, 165))
    axis.set_title("eights found on the way down each list", fontsize=11)
    axis.legend(loc="lower right", fontsize=9)


def show_importances(axis: Axes, model: Any) -> None:
    image = axis.imshow(100 * model.feature_importances.reshape(8, 8), cmap="viridis")
    axis.set_title("pixels that the forest relies on\n(share of the gain of all splits, %)", fontsize=11)
    axis.set_axis_off()
    axis.figure.colorbar(image, ax=axis, shrink=0.8)


def picture(
    X: NDArray[np.float64], truth: NDArray[np.bool_], is_labelled: NDArray[np.bool_], results: dict[str, Ranking],
    estimate: tuple[float, float, float],
) -> Figure:  # fmt: skip
    orders = {name: best_first(results[name], is_labelled) for name in (NAIVE, FOREST)}
    figure = Figure(figsize=(12, 9.5), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.35, 1])
    for part, (name, order) in zip(upper.subfigures(1, 2, wspace=0.06), orders.items(), strict=True):
        first = order[:BUDGET]
        title = f"{name}:\n{truth[first].sum()} of the first {BUDGET} images are eights (red: others)"
        show_images(part, title, X[first], truth[first])
    left, right = lower.subplots(1, 2, width_ratios=[1.7, 1])
    show_counts(left, {name: np.cumsum(truth[order]) for name, order in orders.items()}, estimate)
    show_importances(right, results[FOREST].model)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="folder of the picture (%(default)s)")
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
    shown: dict[str, Ranking] = {}
    for name in METHODS:
        rows = []
        for seed, is_labelled in enumerate(draws):
            ranking = rank(name, X, is_labelled, seed)
            shown.setdefault(name, ranking)
            order = best_first(ranking, is_labelled)
            rows.append([auc(truth[order], ranking.scores[order]), truth[order[:BUDGET]].sum(), ranking.seconds])
        score, count, seconds = np.mean(rows, axis=0)
        print(f"{name:44}{score:6.3f}{count:24.1f}{seconds:9.2f}")

    is_labelled = draws[0]
    estimate = expected(shown[FOREST], is_labelled)
    count = truth[best_first(shown[FOREST], is_labelled)[:BUDGET]].sum()
    print(
        f"\nIn the first draw {estimate[0]:.0f} of the first {BUDGET} images of fit_forest were expected to show an "
        f"{options.digit} (90 % interval: {estimate[1]:.0f} to {estimate[2]:.0f}); in truth {count} do."
    )
    path = options.output / "digits.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(X, truth, is_labelled, shown, estimate).savefig(path, dpi=110)
    print(f"picture: {path}")
    print("""
A simpler method is enough where
- a linear boundary separates the classes and labels are many: logistic regression, the rest as negatives, is as good;
- nearly all positives are labelled: then the rest are negatives, and any supervised learner will do;
- a random sample of the rows was labelled in full: train on these rows alone, and compare.""")


if __name__ == "__main__":
    main()
