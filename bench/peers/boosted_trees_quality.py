"""Which loss, how many leaves, how many bags? Test AUC of fit_boosted_trees, and of LightGBM with the same trees.

python bench/peers/boosted_trees_quality.py --data DIR [--splits 5] [--max-rows 2000] [--output DIR]

On the fifteen tables of bench/peers/forest.py and eight simulated ones, half of the rows (at most --max-rows) is to fit
and half to test. A share of the positive rows to fit is labelled, five at least; all others are unlabelled. Each loss
is fitted with each number of leaves and of bags, everything else at its default. LightGBM takes the unlabelled rows as
negatives, with the same leaves, rate and rounds. "upu" and "nnpu" are given the prior that `fastpu.priors.bbe`
estimates from the rows to fit; --true-prior adds both with the true one. --variant adds fit_boosted_trees with other
arguments, as JSON: --variant '{"loss": "logistic", "n_bags": 10}'.

Prints Markdown: means, mean ranks with the critical difference (Friedman, Nemenyi at 5 %, tasks as the blocks), and the
winner on every task. --output keeps it, and every finished fit as a line of boosted_trees_quality.jsonl: a run that was
stopped goes on there, split after split. One thread.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boosted_trees_quality_report import Cell, report
from boosted_trees_tasks import SIMULATED, draw_task, numbers, real_tasks

import fastpu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from boosted_trees_tasks import Problem
    from numpy.typing import NDArray

_LOSSES = ("pnu_auc", "logistic", "upu", "nnpu")
_LEAST_PRIOR, _MOST_PRIOR = 0.01, 0.99
_FILE = "boosted_trees_quality"


@dataclass(frozen=True)
class Learner:
    """A combination of arguments; `prior` is "estimated", "true" or not needed."""

    name: str
    options: dict[str, Any]
    prior: str | None = None
    is_lightgbm: bool = False


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(_FILE, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the fifteen tables; without it the simulated ones alone")
    parser.add_argument("--tasks", nargs="+", metavar="NAME", help="some of the tables (default: all)")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.05, 0.3], help="labelled (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=5, help="of each table (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=2000, help="to fit (default: %(default)s)")
    parser.add_argument("--losses", nargs="*", choices=_LOSSES, default=_LOSSES, metavar="LOSS")
    parser.add_argument("--leaves", type=int, nargs="+", default=[2, 4, 8, 31])
    parser.add_argument("--bags", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--true-prior", action="store_true", help="also upu and nnpu with the true prior")
    parser.add_argument("--variant", action="append", default=[], metavar="JSON", help="fit_boosted_trees with these")
    parser.add_argument("--output", type=Path, help=f"folder for {_FILE}.md and {_FILE}.jsonl")
    return parser.parse_args(argv)


def _learners(options: argparse.Namespace) -> list[Learner]:
    found = []
    for loss, bags, leaves in itertools.product(options.losses, options.bags, options.leaves):
        chosen = {"loss": loss, "max_leaves": leaves, "n_bags": bags}
        name = f"{loss}, {leaves} leaves" + (f", {bags} bags" if bags > 1 else "")
        needs_prior = loss in ("upu", "nnpu")
        found.append(Learner(name, chosen, "estimated" if needs_prior else None))
        if needs_prior and options.true_prior:
            found.append(Learner(f"{name}, true prior", chosen, "true"))
    for text in options.variant:
        chosen = json.loads(text)
        prior = "estimated" if chosen.get("loss") in ("upu", "nnpu") else None
        found.append(Learner(", ".join(f"{key} {value}" for key, value in chosen.items()), chosen, prior))
    found += [
        Learner(f"LightGBM, {leaves} leaves", {"num_leaves": leaves}, is_lightgbm=True) for leaves in options.leaves
    ]
    return found


def _score(learner: Learner, problem: Problem, prior: float, seed: int) -> NDArray[np.float64]:
    if learner.is_lightgbm:
        import lightgbm  # noqa: PLC0415 (only where it is wanted)

        model = lightgbm.LGBMClassifier(
            n_estimators=100, learning_rate=0.05, n_jobs=1, verbose=-1, random_state=seed, **learner.options
        )
        scores: NDArray[np.float64] = model.fit(problem.X, problem.is_labelled).predict(problem.X_test, raw_score=True)
        return scores
    options = learner.options | ({"prior": prior} if learner.prior else {})
    fitted = fastpu.fit_boosted_trees(problem.X, problem.is_labelled, random_state=seed, n_threads=1, **options)
    return fitted.decision_function(problem.X_test, n_threads=1)


def _judge(learner: Learner, problem: Problem, priors: dict[str, float], seed: int) -> tuple[float, float, float]:
    """Return AUC and average precision on the test rows, and the processor's seconds of fit and scores."""
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 (only where it is wanted)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if learner.prior == "estimated" and "estimated" not in priors:
            estimate = fastpu.priors.bbe(numbers(problem.X), problem.is_labelled, random_state=seed, n_threads=1)
            priors["estimated"] = min(max(estimate.value, _LEAST_PRIOR), _MOST_PRIOR)
        prior = priors[learner.prior] if learner.prior else 0.5
        start = time.process_time()
        scores = _score(learner, problem, prior, seed)
        seconds = time.process_time() - start
    truth = problem.truth_test
    return auc(truth, scores), float(average_precision_score(truth, scores)), seconds


def _cells(options: argparse.Namespace, learners: Sequence[Learner], finished: set[tuple[Any, ...]]) -> Iterator[Cell]:
    """Fit what is not finished yet: split after split, so that all tasks have about as many."""
    tasks = {**(real_tasks(options.data) if options.data else {}), **SIMULATED}
    names = options.tasks or list(tasks)
    rows = {name: tasks[name].rows() for name in names}
    for split, name, share in itertools.product(range(options.splits), names, options.shares):
        missing = [each for each in learners if (name, share, split, each.name) not in finished]
        if not missing:
            continue
        problem = draw_task(tasks[name], *rows[name], share=share, seed=split, max_rows=options.max_rows)
        priors = {"true": problem.prior}
        for learner in missing:
            judged = _judge(learner, problem, priors, split)
            yield Cell(name, share, split, options.max_rows, learner.name, *judged)
        print(f"split {split}, {name}, {100 * share:g} %", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    missing = [name for name in ("sklearn", "lightgbm", "pandas") if find_spec(name) is None]
    if missing:
        print(f"{_FILE}: install {', '.join(missing)} first", file=sys.stderr)
        return 2
    learners = _learners(options)
    cells: list[Cell] = []
    keep = None
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        keep = options.output / f"{_FILE}.jsonl"
        if keep.exists():
            cells = [Cell(**json.loads(line)) for line in keep.read_text().splitlines()]
            cells = [cell for cell in cells if cell.max_rows == options.max_rows]
    finished = {(cell.task, cell.share, cell.split, cell.learner) for cell in cells}
    for cell in _cells(options, learners, finished):
        cells.append(cell)
        if keep is not None:
            with keep.open("a") as file:
                file.write(json.dumps(asdict(cell)) + "\n")
    text = report(cells, [learner.name for learner in learners], options.tasks, options.splits)
    print(text)
    if options.output is not None:
        (options.output / f"{_FILE}.md").write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
