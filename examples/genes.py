"""More features than rows: 62 tumours, 4,026 genes, and a third of one class labelled.

With --data the lymphomas of Alizadeh et al. (2000): 42 diffuse large B-cell lymphomas against 20 others; otherwise the
leukemias of Golub et al. (1999) from OpenML, 72 rows and 7,129 genes, ALL against AML.

Any linear machine separates so few rows in so many dimensions, so everything depends on the regularisation.
fit_pu_svm_path follows the SVM through all of them at once and chooses by PUF over folds, a criterion that needs
neither true labels nor a prior. No method here is told a prior. Scikit-learn's logistic regression is shown with its
default C and with the one that GridSearchCV chooses, which takes unlabelled rows for negatives as well.

    python examples/genes.py --data DIR
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import _common as common
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastpu
from fastpu.datasets import split_single_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE = "lymphoma_62x4026"
COSTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
NO_PRIOR = float("nan")


def load_tasks(options: Any) -> list[common.Task]:
    if options.data:
        X, classes = common.read_csv(options.data, FILE)
        positive = "DLBCL"
    else:
        X, classes = common.read_openml("leukemia", file=f"{FILE}.csv.gz")
        positive = "ALL"
    truth = np.where(classes == positive, 1, -1)
    tasks = []
    for seed in range(options.splits):
        split = split_single_set(truth, labeled=options.labeled, random_state=seed)
        scaler = StandardScaler().fit(X[split.train])
        train, test = scaler.transform(X[split.train]), scaler.transform(X[split.test])
        tasks.append(common.Task(train, split.y_train, test, truth[split.test], NO_PRIOR))
    y = tasks[0].y
    print(f"{positive}: {np.sum(truth == 1)} of {truth.size} rows, {X.shape[1]:,} genes; training rows: ", end="")
    print(f"{np.sum(y == 1)} labelled, {np.sum(y == 0)} unlabelled; means over {len(tasks)} splits\n")
    return tasks


# ---- The methods ----


def logistic_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(max_iter=1000, class_weight="balanced").fit(X, y)


def chosen_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    regression = LogisticRegression(max_iter=1000, class_weight="balanced")
    return GridSearchCV(regression, {"C": COSTS}, scoring="balanced_accuracy", cv=3).fit(X, y)


def svc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return SVC(kernel="linear", class_weight="balanced").fit(X, y)


def path(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_pu_svm_path(X, y).select("puf", n_folds=3, random_state=0)


def selected(X: Any, y: NDArray[np.int8]) -> fastpu.models.Selection:
    return fastpu.select(fastpu.fit_isvm, X, y, {"C": COSTS}, cv=3, random_state=0)


def large_margin(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return selected(X, y).model


def bagging(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_bagging_svm(X, y, C=1e-3, kernel="linear", random_state=0)


def forest(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_forest(X, y, random_state=0)


METHODS = (
    common.Method("logistic regression, balanced", logistic_regression),
    common.Method("  C by folds, labelled or not", chosen_regression),
    common.Method("SVC linear, balanced", svc),
    common.Method("fit_pu_svm_path, lam by folds and PUF", path),
    common.Method("fit_isvm, C by folds and PUF", large_margin),
    common.Method("fit_bagging_svm linear", bagging),
    common.Method("fit_forest", forest),
)


def main() -> None:
    parser = common.options(__doc__, splits=10, data=f"{FILE}.csv.gz")
    parser.add_argument("--labeled", type=float, default=0.3, help="share of the positives labelled (%(default)s)")
    options = parser.parse_args()
    tasks = load_tasks(options)
    common.print_table(METHODS, tasks)
    print()
    X, y = tasks[0].X, tasks[0].y
    common.save(fastpu.plot.selection(selected(X, y)), options.output, "genes_costs.png")


if __name__ == "__main__":
    main()
