"""Are the right rows called positive, and are probabilities right? Learners as they come, and told the prior.

python bench/does_it_help/calls.py --packages build/packages [--tables NAME ...] [--jobs 2] [--output DIR]

--packages is the folder of the wheels that `make help-table` fetches. The first task of every table, one split, with 20
labels and with 30 % of the positive rows labelled. Rows to test on are like the unlabelled ones: of their positive rows
as large a share is left out at random as is labelled among those to fit.

"As it comes" is what `predict` says. "True prior" is told the share of positives among the unlabelled rows to fit,
and "prior by bbe" what `fastpu.priors.bbe` estimates it to be. Models of this library turn it into a threshold by
`with_threshold` and into probabilities by `with_probabilities`. Of all others that share of the rows to test on is
called positive, those with the largest scores. Their probabilities are corrected by the share of positives that are
labelled (Elkan and Noto), but for those with balanced weights. --output keeps every result as it comes, in calls.jsonl,
and a rerun goes on from there.
"""

from __future__ import annotations

import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from lightgbm import LGBMClassifier
from problems import Problem, Task, draw
from shared import Parser, progress, table
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from tasks import tasks
from threadpoolctl import threadpool_limits

import fastpu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LABELS = (20.0, 0.3)
COMES, TRUE, ESTIMATED = "as it comes", "true prior", "prior by bbe"
_OURS = {
    "fit_forest": ("fit_forest", {}),
    "fit_boosted_trees, 20 bags": ("fit_boosted_trees", {"n_bags": 20}),
    "fit_isvm": ("fit_isvm", {}),
}
_OTHERS = (
    *("logistic regression, as shipped", "logistic regression, balanced", "LightGBM, as shipped"),
    "extra trees, set for PU",
)
_BALANCED = (_OTHERS[1], _OTHERS[3])
_EDGE = 0.001  # probabilities are cut off there, so that one sure mistake does not decide


@dataclass(frozen=True)
class Called:
    """What one learner called positive on one problem; `loss` is NaN where there are no probabilities."""

    table: str
    labels: float
    learner: str
    how: str
    f1: float
    called: float
    loss: float


def _judged(problem: Problem, calls: NDArray[np.bool_], chances: NDArray[np.float64] | None) -> dict[str, float]:
    """Return F1, rows called positive for each positive row, and the log loss."""
    truth = problem.truth_test
    loss = np.nan
    if chances is not None:
        loss = float(log_loss(truth, np.clip(chances, _EDGE, 1 - _EDGE), labels=[False, True]))
    return {"f1": float(f1_score(truth, calls)), "called": float(calls.sum() / truth.sum()), "loss": loss}


def _ours(name: str, problem: Problem, priors: dict[str, float]) -> dict[str, dict[str, float]]:
    fit, options = _OURS[name]
    is_tree = fit != "fit_isvm"
    X, X_test = (problem.X, problem.X_test) if is_tree else (problem.Z, problem.Z_test)
    drawn = {"random_state": 0} if is_tree else {}
    model = getattr(fastpu, fit)(X, problem.is_labelled, n_threads=1, **drawn, **options)
    found = {COMES: _judged(problem, model.predict(X_test) == 1, None)}
    for how, prior in priors.items():
        told = model.with_threshold(prior=prior, **({} if is_tree else {"X_unl": X_test}))
        chances = None
        if is_tree:
            chances = model.with_probabilities(prior=prior, y=problem.is_labelled).predict_proba(X_test)[:, 1]
        found[how] = _judged(problem, told.predict(X_test) == 1, chances)
    return found


def _others(name: str, problem: Problem, priors: dict[str, float]) -> dict[str, dict[str, float]]:
    X, X_test = (problem.X, problem.X_test) if name.startswith("LightGBM") else (problem.Z, problem.Z_test)
    made: dict[str, Any] = {
        _OTHERS[0]: LogisticRegression(max_iter=1000),
        _OTHERS[1]: LogisticRegression(max_iter=1000, class_weight="balanced"),
        _OTHERS[2]: LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
        _OTHERS[3]: ExtraTreesClassifier(
            300, min_samples_leaf=5, class_weight="balanced", bootstrap=True, n_jobs=1, random_state=0
        ),
    }
    chances = made[name].fit(X, problem.is_labelled).predict_proba(X_test)[:, 1]
    found = {COMES: _judged(problem, chances > 0.5, chances)}
    order = np.argsort(-chances, kind="stable")
    n_labelled, n_unlabelled = int(problem.is_labelled.sum()), int((~problem.is_labelled).sum())
    for how, prior in priors.items():
        calls = np.zeros(chances.size, dtype=np.bool_)
        calls[order[: round(prior * chances.size)]] = True
        share = n_labelled / (n_labelled + prior * n_unlabelled)
        # e = p / c is the chance to be positive; a row without a label is so with the odds of it less the label.
        without = np.clip((chances / share - chances) / np.maximum(1 - chances, 1e-9), 0.0, 1.0)
        # Balanced weights have changed the chances already, so that this does not hold for them.
        found[how] = _judged(problem, calls, None if name in _BALANCED else without)
    return found


def _like_unlabelled(problem: Problem) -> Problem:
    """Return the problem with as large a share of the positive rows to test on left out as is labelled."""
    rng = np.random.default_rng(0)
    share = problem.is_labelled.sum() / problem.truth.sum()
    positive = np.flatnonzero(problem.truth_test)
    kept = np.ones(problem.truth_test.size, dtype=np.bool_)
    kept[rng.permutation(positive)[: round(share * positive.size)]] = False
    return replace(
        problem,
        X_test=problem.X_test[kept],
        Z_test=problem.Z_test[kept],
        truth_test=problem.truth_test[kept],
    )


def run(folder: Path, task: Task) -> list[Called]:
    """Judge all learners on one task."""
    warnings.simplefilter("ignore")
    X, truth = task.rows(folder)
    found: list[Called] = []
    for labels in LABELS:
        problem = draw(task, X, truth, labels=labels, seed=0)
        if problem is None:
            continue
        problem = _like_unlabelled(problem)
        true = float(problem.truth[~problem.is_labelled].mean())
        estimate = fastpu.priors.bbe(problem.Z, problem.is_labelled, random_state=0).value
        priors = {TRUE: true, ESTIMATED: min(max(float(estimate), 0.001), 0.999)}
        for learner in (*_OURS, *_OTHERS):
            each = (_ours if learner in _OURS else _others)(learner, problem, priors)
            found += [Called(task.table, labels, learner, how, **figures) for how, figures in each.items()]
        constant = np.full(problem.truth_test.size, true)
        figures = _judged(problem, constant > 1, constant)
        found.append(Called(task.table, labels, "everybody the prior", TRUE, **figures))
    return found


def report(every: Sequence[Called]) -> str:
    """Return means over tables as Markdown."""
    parts = []
    for labels in LABELS:
        part = [each for each in every if each.labels == labels]
        rows = []
        for learner in dict.fromkeys(each.learner for each in part):
            cells = []
            for measure in ("f1", "called", "loss"):
                for how in (COMES, TRUE, ESTIMATED):
                    values = [getattr(each, measure) for each in part if (each.learner, each.how) == (learner, how)]
                    # A few tables where nearly all rows are called would decide a mean, so the median is shown.
                    middle = np.median if measure == "called" else np.mean
                    cells.append(f"{middle(values):.3f}" if values and not np.isnan(values).any() else "-")
            rows.append([learner, *cells])
        head = ["learner", *(f"{words}, {how}" for words in ("F1", "called", "log loss")
                             for how in (COMES, TRUE, ESTIMATED))]  # fmt: skip
        words = "20 labels" if labels >= 1 else f"{100 * labels:g} %"
        title = f"Calls with {words}: {len({each.table for each in part})} tables"
        parts.append(table(head, rows, title=title) + "\n")
    note = (
        'F1 and log loss are means over tables; "called" is the median of rows called positive for each positive row.'
    )
    return "\n".join([*parts, note]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = Parser("calls", __doc__)
    parser.add("--packages", "folder of the wheels that hold tables", type=Path, required=True)
    parser.add("--tables", "by name (default: all)", nargs="+", metavar="NAME")
    parser.add("--jobs", "tables at a time", 2)
    parser.add("--output", "folder for the report and the results", type=Path)
    options = parser.parsed(argv, "jobs")
    first = {task.table: task for task in reversed(tasks(options.packages, None)) if task.kind.startswith("table")}
    kept = options.output / "calls.jsonl" if options.output is not None else None
    found: list[Called] = []
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        if kept.is_file():
            found = [Called(**json.loads(line)) for line in kept.read_text(encoding="utf-8").splitlines()]
    known = {each.table for each in found}
    wanted = [first[name] for name in sorted(first) if name not in known and name in (options.tables or first)]
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        waiting = [pool.submit(run, options.packages, name) for name in wanted]
        for done, future in enumerate(as_completed(waiting), start=1):
            found += future.result()
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(vars(each)) + "\n" for each in future.result())
            progress(f"{done} of {len(waiting)}")
    text = report(found)
    print(text, end="")
    if options.output is not None:
        (options.output / "calls_table.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
