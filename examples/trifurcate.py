"""Trifurcate data: some positives lie near the negatives, others far beyond them, and few are labelled.

Without options the data are simulated, as in the paper on PUAL (make_trifurcate): there the true classes are known and
two features can be drawn. With --ecoli they are the proteins of the UCI set Ecoli as that paper groups them (positive:
inner membrane and periplasm; negative: cytoplasm and outer membrane), from --data DIR or OpenML.

A hinge loss on all unlabelled rows lets the far positives among them pull a linear border away; PUAL takes a squared
loss for these and asks neighbours to agree. Each method's costs are chosen by folds and PUF, which needs no prior; no
method is told one. Scikit-learn's are shown with their defaults, balanced.

    python examples/trifurcate.py
    python examples/trifurcate.py --ecoli --data DIR
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import _common as common
import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastpu
from fastpu.datasets import make_trifurcate, split_single_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

POSITIVE = ("im", "imU", "imS", "imL", "pp")
NEGATIVE = ("cp", "om", "omL")
GRID = {"C_pos": [0.1, 1.0, 10.0], "C_unl": [0.01, 0.1, 0.5], "lam": [0.01, 0.1, 1.0]}
NO_PRIOR = float("nan")


def load_rows(options: Any) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    if not options.ecoli:
        X, truth = make_trifurcate(800, random_state=0)
        return X, truth.astype(int)
    if options.data:
        X, classes = common.read_csv(options.data, "ecoli")
    else:
        X, classes = common.read_openml("ecoli", file="ecoli.csv.gz")
    known = np.isin(classes, POSITIVE + NEGATIVE)
    return X[known], np.where(np.isin(classes[known], POSITIVE), 1, -1)


def load_tasks(options: Any) -> list[common.Task]:
    X, truth = load_rows(options)
    tasks = []
    for seed in range(options.splits):
        split = split_single_set(truth, labeled=options.labeled, random_state=seed)
        scaler = StandardScaler().fit(X[split.train])
        train, test = scaler.transform(X[split.train]), scaler.transform(X[split.test])
        tasks.append(common.Task(train, split.y_train, test, truth[split.test], NO_PRIOR))
    y, name = tasks[0].y, "Ecoli" if options.ecoli else "simulated"
    print(f"{name}: {X.shape[0]} x {X.shape[1]}, {np.sum(truth == 1)} positive; training rows: ", end="")
    print(f"{np.sum(y == 1)} labelled, {np.sum(y == 0)} unlabelled; means over {len(tasks)} splits\n")
    return tasks


# ---- The methods: each takes rows, labels, and a prior that none of these needs ----


def logistic_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(class_weight="balanced").fit(X, y)


def svc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return SVC(kernel="linear", class_weight="balanced").fit(X, y)


def kernel_svc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return SVC(class_weight="balanced").fit(X, y)


def pual(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.select(fastpu.fit_pual, X, y, GRID, random_state=0).model


def kernel_pual(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.select(fastpu.fit_pual, X, y, GRID, kernel="rbf", random_state=0).model


def gllc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.select(fastpu.fit_gllc, X, y, GRID, random_state=0).model


def kernel_biased_svm(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    grid = {name: GRID[name] for name in ("C_pos", "C_unl")}
    return fastpu.select(fastpu.fit_bsvm, X, y, grid, kernel="rbf", random_state=0).model


LINEAR = (common.Method("SVC linear, balanced", svc), common.Method("fit_pual linear", pual))
METHODS = (
    common.Method("logistic regression, balanced", logistic_regression),
    LINEAR[0],
    common.Method("fit_gllc linear", gllc),
    LINEAR[1],
    common.Method("SVC rbf, balanced", kernel_svc),
    common.Method("fit_pual rbf", kernel_pual),
    common.Method("fit_bsvm rbf", kernel_biased_svm),
)


def draw(task: common.Task) -> Figure:
    """Draw the borders of the two linear machines of LINEAR, with the rows as these have seen them."""
    figure = Figure(figsize=(common.INCHES, 3.4), layout="constrained")
    for ax, method in zip(figure.subplots(1, 2), LINEAR, strict=True):
        fastpu.plot.decision_regions(method.fit(task.X, task.y, task.prior), task.X, task.y, ax=ax)
        ax.set_title(method.name, fontsize=9)
        ax.get_legend().remove()  # one for both, beside the axes, where it hides nothing
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=7, frameon=False)
    return figure


def main() -> None:
    parser = common.options(__doc__, splits=5, data="ecoli.csv.gz")
    parser.add_argument("--ecoli", action="store_true", help="real data in place of simulated ones")
    parser.add_argument("--labeled", type=float, default=0.25, help="share of the positives labelled (%(default)s)")
    options = parser.parse_args()
    if options.data and not options.ecoli:
        parser.error("--data is for --ecoli: without it the data are simulated")
    tasks = load_tasks(options)
    common.print_table(METHODS, tasks)
    if tasks[0].X.shape[1] == 2:
        print()
        common.save(draw(tasks[0]), options.output, "trifurcate.png")


if __name__ == "__main__":
    main()
