"""A million rows: boosted stumps for the AUC, where one positive in a hundred is labelled.

Without options a million rows of 20 features are simulated (scikit-learn's make_classification, a tenth positive). With
--data DIR they are the 504,973 sales of Online Retail, of which 1.9 % went to Germany; a quarter of the values of one
column are missing, which boosting takes as they are. With --covtype they are the 581,012 patches of forest that
scikit-learn fetches; positive: spruce.

The rows are binned once (bin_features) for any number of fits. Early stopping needs no true labels: held-out labelled
rows against unlabelled ones. "Cut at the prior" calls as many test rows positive as priors.bbe estimates from 20,000
training rows; the true prior among the unlabelled rows is printed beside it.

    python examples/million_rows.py
    python examples/million_rows.py --data DIR
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import _common as common
import numpy as np
from sklearn.datasets import fetch_covtype, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from fastpu.datasets import split_single_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FILE = "online_retail"
FOR_PRIOR = 20_000  # rows that the prior is estimated from
HELD_OUT = 0.2  # share of the training rows that early stopping judges by


def load_rows(options: Any) -> tuple[str, NDArray[np.float32], NDArray[np.int_]]:
    if options.covtype:
        found = common.fetch(fetch_covtype, "the forests", f"{FILE}.csv.gz, other data")
        return "Covertype, spruce", found.data.astype(np.float32), np.where(found.target == 1, 1, -1)
    if options.data:
        X, classes = common.read_csv(options.data, FILE)
        return "Online Retail, Germany", X.astype(np.float32), np.where(classes == "Germany", 1, -1)
    X, classes = make_classification(
        options.rows, 20, n_informative=10, weights=[0.9], flip_y=0.02, class_sep=0.8, random_state=0
    )
    return "simulated", X.astype(np.float32), np.where(classes == 1, 1, -1)


def load_task(options: Any) -> common.Task:
    name, X, truth = load_rows(options)
    split = split_single_set(truth, labeled=options.labeled, random_state=0)
    y = split.y_train
    train = X[split.train]
    n_pos, n_unl = int(np.sum(y == 1)), int(np.sum(y == 0))
    print(f"{name}: {X.shape[0]:,} x {X.shape[1]}; training rows: {n_pos:,} labelled, {n_unl:,} unlabelled")
    rng = np.random.default_rng(0)
    some = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:FOR_PRIOR] for k in (1, 0)])
    scaled = make_pipeline(SimpleImputer(), StandardScaler()).fit_transform(train[some])
    estimate, words = common.estimated_prior(scaled, y[some], 0, common.true_prior(y, truth[split.train]))
    print(f"{words}\n")
    return common.Task(train, y, X[split.test], truth[split.test], estimate)


# ---- The methods: each takes rows, labels, and an estimate of the prior ----


def boosting(X: Any, y: NDArray[np.int8], _prior: float) -> fastpu.models.StumpEnsemble:
    is_held = np.random.default_rng(1).random(y.size) < HELD_OUT
    binned = fastpu.bin_features(X)
    valid = (binned[np.flatnonzero(is_held)], y[is_held])
    return fastpu.fit_pnu_auc_boost(
        binned[np.flatnonzero(~is_held)], y[~is_held], n_rounds=300, eval_set=valid, early_stopping_rounds=30
    )


def trees(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


def logistic_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(X, y)


METHODS = (
    common.Method("logistic regression", logistic_regression, cut=True),
    common.Method("HistGradientBoosting", trees, cut=True),
    common.Method("fit_pnu_auc_boost", boosting, cut=True),
)


def draw(model: fastpu.models.StumpEnsemble, task: common.Task) -> Figure:
    """Draw the objective and the AUCs after each round; the axis of the AUCs is for the rounds after the twelfth."""
    figure = fastpu.plot.boosting_curves(model, task.X_test, task.truth)
    below = figure.axes[1]
    curves = [line for line in below.lines if ": best" in str(line.get_label())]
    for line, name in zip(
        curves, ("held-out rows, labelled against unlabelled", "test rows, true labels"), strict=True
    ):
        line.set_label(f"{name}{str(line.get_label())[str(line.get_label()).index(': best') :]}")
    below.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=8, frameon=False)
    late = np.concatenate([np.asarray(line.get_ydata(), dtype=float)[12:] for line in curves])
    if late.size:
        margin = 0.1 * (late.max() - late.min()) + 1e-4
        below.set_ylim(late.min() - margin, late.max() + margin)
    return figure


def main() -> None:
    parser = common.options(__doc__, splits=1, data=f"{FILE}.csv.gz")
    parser.add_argument("--covtype", action="store_true", help="the forests that scikit-learn fetches")
    parser.add_argument("--rows", type=int, default=1_000_000, help="simulated rows (%(default)s)")
    parser.add_argument("--labeled", type=float, default=0.01, help="share of the positives labelled (%(default)s)")
    options = parser.parse_args()
    if options.splits != 1:
        parser.error("--splits must be 1 for so many rows")
    start = time.perf_counter()
    task = load_task(options)
    common.print_table(METHODS, [task])
    model = boosting(task.X, task.y, task.prior)
    print(f"\n{model.n_iter} rounds kept ({model.status}); all in {time.perf_counter() - start:.0f} s")
    common.save(draw(model, task), options.output, "million_rows.png")


if __name__ == "__main__":
    main()
