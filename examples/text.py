"""Text in a sparse matrix: one newsgroup among eight, 30 % of its postings labelled, TF-IDF, linear methods.

TF-IDF is scikit-learn's and stays sparse (CSR) from there to the last score. The headers of the postings are taken
off, since they name the group. The positives are sci.crypt; the others are the groups of computers, cars, sports and
religion that the paper on SvmPath uses.

Logistic regression of labelled against unlabelled postings already ranks well; what it lacks is a threshold, since it
takes the unlabelled positives for negatives. "Cut at the prior" moves the threshold of a method, ours or
scikit-learn's, so that as many test postings lie above it as are estimated to be positive: by priors.bbe from the
training rows; the true prior among the unlabelled ones is printed beside it. (Training rows would not do to cut at: in
so many dimensions their scores are not like those of other rows.)

    python examples/text.py --data DIR
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import _common as common
import numpy as np
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import fastpu
from fastpu.datasets import split_single_set

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FILE = "newsgroups8_mini"  # 100 postings of each group
POSITIVE = "sci.crypt"
GROUPS = (
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "misc.forsale",
    "rec.autos",
    "rec.sport.hockey",
    POSITIVE,
    "soc.religion.christian",
)


def read_postings(folder: Path | None) -> tuple[list[str], NDArray[np.str_]]:
    """Return the texts below the headers, and the group of each."""
    if folder:
        texts, groups = common.read_texts(folder, FILE)
        return [text.partition("\n\n")[2] for text in texts], groups
    found = common.fetch(
        lambda: fetch_20newsgroups(subset="all", categories=list(GROUPS), remove=("headers",)),
        "20 newsgroups",
        f"{FILE}.jsonl.gz",
    )
    return list(found.data), np.array(found.target_names)[found.target]


def load_tasks(options: Any) -> list[common.Task]:
    texts, groups = read_postings(options.data)
    truth = np.where(groups == POSITIVE, 1, -1)
    tasks = []
    for seed in range(options.splits):
        split = split_single_set(truth, labeled=options.labeled, random_state=seed)
        words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2)
        train = words.fit_transform([texts[i] for i in split.train])
        test = words.transform([texts[i] for i in split.test])
        true = common.true_prior(split.y_train, truth[split.train])
        estimate, said = common.estimated_prior(train, split.y_train, seed, true)
        tasks.append(common.Task(train, split.y_train, test, truth[split.test], estimate))
        n_pos, n_unl = np.sum(split.y_train == 1), np.sum(split.y_train == 0)
        print(f"split {seed}: {n_pos} labelled, {n_unl} unlabelled postings, {train.shape[1]:,} words; ", end="")
        print(said)
    return tasks


# ---- The methods: each takes rows, labels, and an estimate of the prior ----


def logistic_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(max_iter=1000).fit(X, y)


def balanced_regression(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LogisticRegression(max_iter=1000, class_weight="balanced").fit(X, y)


def balanced_svc(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return LinearSVC(class_weight="balanced").fit(X, y)


def large_margin(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_isvm(X, y, C=1.0)


def bagging(X: Any, y: NDArray[np.int8], _prior: float) -> Any:
    return fastpu.fit_bagging_svm(X, y, kernel="linear", random_state=0)


def unbiased_risk(X: Any, y: NDArray[np.int8], prior: float) -> Any:
    return fastpu.fit_upu(X, y, prior=prior, loss="logistic", lam=1e-3)


BAGGING = common.Method("fit_bagging_svm linear", bagging, cut=True)
METHODS = (
    common.Method("logistic regression, balanced", balanced_regression),
    common.Method("logistic regression", logistic_regression, cut=True),
    common.Method("LinearSVC, balanced", balanced_svc, cut=True),
    common.Method("fit_isvm", large_margin, cut=True),
    BAGGING,
    common.Method("fit_upu logistic, told the prior", unbiased_risk),
)


def draw(task: common.Task) -> Figure:
    """Draw the scores of test postings, with their true labels."""
    model = common.cut_at_prior(bagging(task.X, task.y, task.prior), task)
    figure = fastpu.plot.score_histogram(model, task.X_test, task.truth, bins=30)
    figure.suptitle(f"{BAGGING.name}, cut at the prior: test postings with their true labels", fontsize=10)
    return figure


def main() -> None:
    parser = common.options(__doc__, splits=10, data=f"{FILE}.jsonl.gz")
    parser.add_argument("--labeled", type=float, default=0.3, help="share of the positives labelled (%(default)s)")
    options = parser.parse_args()
    tasks = load_tasks(options)
    print(f"\n{POSITIVE} against 7 other groups, means over {len(tasks)} splits\n")
    common.print_table(METHODS, tasks)
    print()
    common.save(draw(tasks[0]), options.output, "text.png")


if __name__ == "__main__":
    main()
