"""Rare positives of which few are known, as in fraud: one letter among 26, a tenth of its rows labelled.

Of the 20,000 letters of the UCI set 3.9 % are an A. With --set creditcard the same is done for the 284,807 card
transactions of OpenML, of which 0.17 % are fraud (there is no such file for --data unless you make one).

What users do otherwise is to learn labelled rows against all others. That ranks well, but 0.5 is no threshold for the
probability of being *labelled*, so that next to nothing is called positive. "Cut at the prior" moves the threshold of a
method, ours or scikit-learn's, so that as many test rows lie above it as are estimated to be positive: by priors.bbe
from the training rows; the true prior among the unlabelled ones is printed beside it. The costs of fit_bsvm were not
tuned.

    python examples/rare_positives.py --data DIR
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import _common as common
import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastpu
from fastpu.datasets import split_single_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS = 50_000  # for SVMs with a kernel on all rows to end within a minute
SETS = {"letter": "A", "creditcard": "1"}  # OpenML's names, and the class that is positive


def load_tasks(options: Any) -> list[common.Task]:
    name = options.set
    file = f"{name}.csv.gz"
    X, classes = common.read_csv(options.data, name) if options.data else common.read_openml(name, file=file)
    truth = np.where(classes == SETS[name], 1, -1)
    tasks = []
    for seed in range(options.splits):
        split = split_single_set(truth, labeled=options.labeled, random_state=seed)
        scaler = StandardScaler().fit(X[split.train])
        train, test = scaler.transform(X[split.train]), scaler.transform(X[split.test])
        true = common.true_prior(split.y_train, truth[split.train])
        estimate, words = common.estimated_prior(train, split.y_train, seed, true)
        tasks.append(common.Task(train, split.y_train, test, truth[split.test], estimate))
        n_pos, n_unl = np.sum(split.y_train == 1), np.sum(split.y_train == 0)
        print(f"split {seed}: {n_pos} labelled, {n_unl} unlabelled rows; {words}")
    return tasks


# ---- The methods: each takes rows, labels, and an estimate of the prior ----


def logistic_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(max_iter=1000).fit(X, y)


def balanced_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(max_iter=1000, class_weight="balanced").fit(X, y)


def trees(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


def svc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return SVC(class_weight="balanced").fit(X, y)


def boosting(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_pnu_auc_boost(X, y, n_rounds=100)


def bagging(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_bagging_svm(X, y, kernel="rbf", random_state=0)


def biased_svm(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_bsvm(X, y, C_pos=10.0, C_unl=0.1, kernel="rbf")


BOOSTING = common.Method("fit_pnu_auc_boost", boosting, cut=True)
BAGGING = common.Method("fit_bagging_svm rbf", bagging, cut=True)
METHODS = (
    common.Method("logistic regression, balanced", balanced_regression),
    common.Method("logistic regression", logistic_regression, cut=True),
    common.Method("HistGradientBoosting", trees, cut=True),
    BOOSTING,
    BAGGING,
)
# With kernels of all rows: for sets up to MOST_ROWS.
MACHINES = (
    common.Method("SVC rbf, balanced", svc, cut=True),
    common.Method("fit_bsvm rbf", biased_svm, cut=True),
)


def draw(task: common.Task) -> Figure:
    """Draw the scores of labelled and unlabelled training rows, which is what a user can see as well."""
    figure = Figure(figsize=(common.INCHES, 3.4), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, method in zip(axes, (BOOSTING, BAGGING), strict=True):
        model = common.cut_at_prior(method.fit(task.X, task.y, task.prior), task)
        fastpu.plot.score_histogram(model, task.X, task.y, ax=ax)
        above = [np.mean(model.decision_function(task.X[task.y == k]) > model.threshold) for k in (0, 1)]
        ax.set_title(f"{method.name}\nabove: {above[0]:.1%} of unlabelled, {above[1]:.0%} of labelled", fontsize=8)
        ax.set_yscale("log")  # the positives among the unlabelled rows are few
        lines, _ = ax.get_legend_handles_labels()
        ax.get_legend().remove()  # one for both, above the axes
    axes[1].set_ylabel("")
    names = [f"unlabelled ({np.sum(task.y == 0):,})", f"labelled ({np.sum(task.y == 1)})", "threshold"]
    figure.legend(lines, names, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return figure


def main() -> None:
    parser = common.options(__doc__, splits=3, data="letter.csv.gz")
    parser.add_argument("--set", choices=SETS, default="letter", help="data set (%(default)s)")
    parser.add_argument("--labeled", type=float, default=0.1, help="share of the positives labelled (%(default)s)")
    options = parser.parse_args()
    tasks = load_tasks(options)
    share = np.mean(tasks[0].truth == 1)
    print(
        f"\n{options.set}, class {SETS[options.set]}: test rows {share:.2%} positive, means over {len(tasks)} splits\n"
    )
    few = tasks[0].y.size <= MOST_ROWS
    common.print_table(METHODS + MACHINES if few else METHODS, tasks)
    if not few:
        print(f"(more than {MOST_ROWS:,} training rows: without SVC and fit_bsvm)")
    print()
    common.save(draw(tasks[0]), options.output, "rare_positives.png")


if __name__ == "__main__":
    main()
