"""How well does a default do with 1, 5 or 20 labels? Tables of anomaly detection, beside published figures.

make few-labels ADBENCH=DIR ADGYM=DIR     # the report is in build/few
python bench/does_it_help/few_labels.py [--adbench DIR] [--adgym DIR] [--output DIR] [--again LEARNER ...]

--adbench is the folder adbench/datasets/Classical of the repository Minqi824/ADBench, --adgym a clone of
Minqi824/ADGym, of which the folders datasets and result are read. Needs the group "peers" of pyproject.toml.

ADBench: 70 % of at most 10,000 rows of a table are to fit; 1, 5, 10 and 25 % of their positive rows are labelled, all
else is unlabelled. ADGym: its own splits, drawn anew, with 5, 10 and 20 labels, beside the AUC and average precision
that it published for 17 methods; the random forest and LightGBM as shipped are run to see that the splits are the same.

--output keeps every result as it comes, in few_labels.jsonl, and a rerun goes on from there. --again runs some learners
anew, after a change of the library.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from few_labels_cases import (
    ADBENCH,
    ADGYM,
    Case,
    adbench_problem,
    adgym_problem,
    published,
    read_table,
    split_adbench,
    table_paths,
)
from few_labels_report import report
from learners import LEARNERS, Learner, Outcome, fastpu_scores, judge
from shared import Parser, progress
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy as np
    from few_labels_report import Results
    from numpy.typing import NDArray
    from problems import Problem

_FOREST, _BAGS, _EXTRA_TREES = "fit_forest", "fit_boosted_trees, 20 bags", "extra trees, set for PU"
_CATBOOST = "CatBoost, as shipped"
_CHECKS = ("random forest, as shipped", "LightGBM, as shipped")


def _catboost(problem: Problem, seed: int) -> NDArray[np.float64]:
    from catboost import CatBoostClassifier  # noqa: PLC0415 (only where it is wanted)

    model = CatBoostClassifier(random_state=seed, thread_count=1, verbose=False, allow_writing_files=False)
    scores: NDArray[np.float64] = model.fit(problem.Z, problem.is_labelled).predict_proba(problem.Z_test)[:, 1]
    return scores


#: The bags of earlier versions stand beside the defaults.
JUDGED = {
    _FOREST: LEARNERS[_FOREST],
    f"{_FOREST}, bag_ratio=2": Learner(fastpu_scores("fit_forest", bag_ratio=2.0), "bag_ratio=2", ours=True),
    _BAGS: LEARNERS[_BAGS],
    f"{_BAGS}, bag_ratio=3": Learner(
        fastpu_scores("fit_boosted_trees", n_bags=20, bag_ratio=3.0), "n_bags=20, bag_ratio=3", ours=True
    ),
    _EXTRA_TREES: LEARNERS[_EXTRA_TREES],
    _CATBOOST: Learner(_catboost, "defaults"),
    **{name: LEARNERS[name] for name in _CHECKS},
}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("few_labels", __doc__)
    parser.add("--adbench", "folder of the tables of ADBench", type=Path)
    parser.add("--adgym", "folder of a clone of ADGym", type=Path)
    parser.add("--tables", "to run and to report, by name (default: all)", nargs="+", metavar="NAME")
    parser.add("--learners", "to judge (default: all)", nargs="+", choices=JUDGED, default=list(JUDGED), metavar="NAME")
    parser.add("--again", "of which kept results are forgotten", nargs="+", choices=JUDGED, metavar="NAME")
    parser.add("--splits", "random splits of ADBench's tables", 3)
    parser.add("--jobs", "tables at a time", 2)
    parser.add("--output", "folder for the report and the results", type=Path)
    options = parser.parsed(argv, "splits", "jobs")
    if options.adbench is None and options.adgym is None:
        parser.error("--adbench or --adgym must be given")
    return options


def _learners(case: Case, names: Sequence[str]) -> list[str]:
    """Return who is judged: CatBoost on the first split alone, and what ADGym published only to compare with it."""
    if case.suite == ADGYM:
        return [name for name in names if name != _CATBOOST]
    return [name for name in names if name not in _CHECKS and (name != _CATBOOST or case.seed == 0)]


def _run_split(
    suite: str, path: Path, cases: Sequence[Case], seed: int, names: Sequence[str], known: set[tuple[Case, str]]
) -> Results:
    """Judge learners on all numbers of labels of one split of a table, but for what is known."""
    X, truth = read_table(path)
    split = split_adbench(truth, seed)
    if suite == ADBENCH:
        cases = [Case(suite, path.stem, seed, labels, share) for labels, share in split.numbers_of_labels().items()]
    found: Results = {}
    for case in cases:
        missing = [name for name in _learners(case, names) if (case, name) not in known]
        if not missing:
            continue
        if suite == ADBENCH:
            problem = adbench_problem(X, truth, split, case.labels)
        else:
            problem = adgym_problem(X, truth, seed, case.labels)
        if not 0 < problem.truth_test.sum() < problem.truth_test.size:
            continue
        found[case] = {name: judge(JUDGED[name], problem, seed) for name in missing}
    return found


def _work(options: argparse.Namespace, known: set[tuple[Case, str]]) -> list[tuple[Any, ...]]:
    """Return the arguments of `_run_split` for every split of every table."""
    work: list[tuple[Any, ...]] = []
    if options.adbench is not None:
        for path in table_paths(options.adbench).values():
            work += [(ADBENCH, path, (), seed, options.learners, known) for seed in range(options.splits)]
    if options.adgym is not None:
        paths = table_paths(options.adgym / "datasets")
        splits: dict[tuple[str, int], list[Case]] = {}
        for case in published(options.adgym):
            splits.setdefault((case.table, case.seed), []).append(case)
        work += [
            (ADGYM, paths[name], cases, seed, options.learners, known)
            for (name, seed), cases in splits.items()
            if name in paths
        ]
    return [each for each in work if options.tables is None or each[1].stem in options.tables]


def _read(path: Path | None, again: Sequence[str]) -> Results:
    """Return what earlier runs kept, but for the learners that are run again."""
    results: Results = {}
    if path is None or not path.is_file():
        return results
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["learner"] not in again]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    for line in kept:
        row = json.loads(line)
        results.setdefault(Case(**row["case"]), {})[row["learner"]] = Outcome(**row["outcome"])
    return results


def _keep(path: Path, found: Results) -> None:
    with path.open("a", encoding="utf-8") as file:
        for case, each in found.items():
            for name, outcome in each.items():
                row = {"case": vars(case), "learner": name, "outcome": vars(outcome)}
                file.write(json.dumps(row) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _options(argv)
    kept = None
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        kept = options.output / "few_labels.jsonl"
    results = _read(kept, options.again or ())
    work = _work(options, {(case, name) for case, each in results.items() for name in each})
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        waiting = [pool.submit(_run_split, *each) for each in work]
        for done, future in enumerate(as_completed(waiting), start=1):
            found = future.result()
            for case, each in found.items():
                results.setdefault(case, {}).update(each)
            if kept is not None:
                _keep(kept, found)
            progress(f"{done} of {len(waiting)}")
    wanted = {case: each for case, each in results.items() if options.tables is None or case.table in options.tables}
    text = report(wanted, JUDGED, published(options.adgym) if options.adgym is not None else {})
    print(text, end="")
    if options.output is not None:
        (options.output / "few_labels_table.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
