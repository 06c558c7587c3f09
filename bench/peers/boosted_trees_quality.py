"""Which loss, how many leaves, how many bags? Test AUC of fit_boosted_trees, and of LightGBM with the same trees.

On the fifteen tables of forest.py, in the folder of --data, and eight simulated ones, half of the rows (at most
max_rows) is to fit and half to test. A share of the positive rows to fit is labelled, five at least; all others are
unlabelled. Each loss is fitted with each number of leaves and of bags, everything else at its default. LightGBM takes
the unlabelled rows as negatives, with the same leaves, rate and rounds. "upu" is given the prior that
`fastpu.priors.bbe` estimates from the rows to fit. `variants` adds fit_boosted_trees with other arguments:
--set 'variants=[{"loss": "logistic", "n_bags": 10}]'. One thread.
Splits come one after the other, so that all tables have about as many where a run is stopped.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

from boosted_trees_tasks import draw_task, numbers, tasks
from quality import judge, lightgbm_learner, summary
from running import Case, Row

import fastpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import SimpleNamespace

    import numpy as np
    from numpy.typing import NDArray
    from quality import Learner
    from shared import Problem

NEEDS = ("sklearn", "lightgbm", "pandas")
SETTINGS = {
    "sets": None,  # names of tables; all by default
    "shares": [0.05, 0.3],
    "splits": 5,
    "max_rows": 2000,
    "losses": ["pnu_auc", "logistic", "upu"],
    "leaves": [2, 4, 8, 31],
    "bags": [1, 20],
    "variants": [],
}
QUICK = {"sets": ["rare*"], "splits": 1, "max_rows": 300, "losses": ["logistic", "upu"], "leaves": [2, 4], "bags": [1]}
_LEAST_PRIOR, _MOST_PRIOR = 0.01, 0.99


def cases(run: SimpleNamespace) -> Iterator[Case]:
    names = run.sets or list(tasks(run.data))
    options = [
        {"loss": loss, "max_leaves": leaves, "n_bags": bags}
        for loss, bags, leaves in itertools.product(run.losses, run.bags, run.leaves)
    ]
    for split, name, share in itertools.product(range(run.splits), names, run.shares):
        yield Case(quality, set=name, share=share, split=split, max_rows=run.max_rows, ours=[*options, *run.variants],
                   leaves=run.leaves, data=run.data, summary=summary)  # fmt: skip


def _name(options: Mapping[str, Any]) -> str:
    values = dict(options)
    loss, leaves, bags = (values.pop(key, None) for key in ("loss", "max_leaves", "n_bags"))
    parts = [loss, leaves and f"{leaves} leaves", bags and bags > 1 and f"{bags} bags"]
    return ", ".join([*(part for part in parts if part), *(f"{key} {value}" for key, value in values.items())])


def _booster(options: Mapping[str, Any]) -> Learner:
    def learn(X: Any, is_labelled: NDArray[np.bool_], n_threads: int, seed: int) -> Any:
        model = fastpu.fit_boosted_trees(X, is_labelled, random_state=seed, n_threads=n_threads, **options)
        return partial(model.decision_function, n_threads=n_threads)

    return learn


def _estimated_prior(problem: Problem, seed: int) -> float:
    estimate = fastpu.priors.bbe(numbers(problem.X), problem.is_labelled, random_state=seed, n_threads=1)
    return min(max(float(estimate.value), _LEAST_PRIOR), _MOST_PRIOR)


def quality(
    *, set: str, share: float, split: int, max_rows: int, ours: Sequence[Mapping[str, Any]],  # noqa: A002
    leaves: Sequence[int], data: str | None,
) -> list[Row]:  # fmt: skip
    """How each learner ranks the test rows of a split of a table."""
    task = tasks(data)[set]
    problem = draw_task(task, *task.rows(), share=share, seed=split, max_rows=max_rows)
    learners: dict[str, Learner] = {}
    estimated = None
    for options in ours:
        name = _name(options)
        if options.get("loss") != "upu":
            learners[name] = _booster(options)
            continue
        estimated = _estimated_prior(problem, split) if estimated is None else estimated
        learners[name] = _booster({"prior": estimated, **options})
    for n_leaves in leaves:
        options = {"n_estimators": 100, "learning_rate": 0.05, "num_leaves": n_leaves}
        learners[f"LightGBM, {n_leaves} leaves"] = lightgbm_learner(**options)
    return judge(learners, problem, 1, split)
