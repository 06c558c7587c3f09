"""Learners on tables whose true classes are known: AUC and average precision, and who ranks first."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, timed
from shared import critical_difference, ranks, table

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from shared import Problem

    #: Takes rows, which of them are labelled, the number of threads and the seed; returns a function that scores rows.
    Learner = Callable[[Any, NDArray[np.bool_], int, int], Callable[[Any], NDArray[np.float64]]]


#: set -> the label of its positive class; all others are negative.
SETS = {
    "spambase": "spam", "pima": "positive", "ring": "0", "vehicle0": "positive", "credit-g": "bad",
    "wisconsin": "positive", "wdbc": "malignant", "monk-2": "0", "surgical": "1", "cod-rna": "1",
    "insurance_part44": "1", "letter": "A", "occupancy_train": "1", "raisin": "Besni", "heart_statlog": "presence",
}  # fmt: skip


def lightgbm_learner(**options: Any) -> Learner:
    """Return LightGBM, which takes the unlabelled rows as negatives."""

    def learn(X: Any, is_labelled: NDArray[np.bool_], n_threads: int, seed: int) -> Any:
        import lightgbm  # noqa: PLC0415 (only where it is measured)

        model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=n_threads, random_state=seed, **options)
        return partial(model.fit(X, is_labelled).predict, raw_score=True)

    return learn


def judge(learners: Mapping[str, Learner], problem: Problem, n_threads: int, seed: int) -> list[Row]:
    """Return the seconds of a fit of each learner, and how its scores rank the test rows."""
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 (only where it is measured)

    rows = []
    for name, learn in learners.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, score = timed(partial(learn, problem.X, problem.is_labelled, n_threads, seed))
            scores = score(problem.X_test)
        auc = fastpu.metrics.auc(problem.truth_test, scores)
        ap = float(average_precision_score(problem.truth_test, scores))
        rows.append({"": name, "seconds": [seconds], "AUC": auc, "AP": ap})
    return rows


def summary(found: Sequence[tuple[Case, list[Row]]]) -> str:
    """Return means and mean ranks over the tables, and the AUC on each; names of simulated tables end with *."""
    names = [row[""] for row in found[0][1]]
    splits: dict[tuple[str, float], list[list[Row]]] = {}
    for case, rows in found:
        splits.setdefault((case.options["set"], case.options["share"]), []).append(rows)
    places = list(splits)
    mean = {
        key: np.array(
            [[np.mean([rows[k][key] for rows in each]) for k in range(len(names))] for each in splits.values()]
        )
        for key in ("AUC", "AP", "seconds")
    }
    sets = list(dict.fromkeys(name for name, _ in places))
    of_set = np.array([sets.index(name) for name, _ in places])
    by_place = {key: ranks(mean[key]) for key in ("AUC", "AP")}
    by_set = {key: np.array([r[of_set == k].mean(axis=0) for k in range(len(sets))]) for key, r in by_place.items()}
    head, columns = ["learner"], []
    for kind in ("real", "simulated"):
        chosen = np.array([name.endswith("*") == (kind == "simulated") for name, _ in places])
        for key in ("AUC", "AP") if chosen.any() else ():
            head.append(f"{key}, {kind}")
            columns.append([f"{value:.4f}" for value in mean[key][chosen].mean(axis=0)])
    for key, values in by_set.items():
        head.append(f"rank by {key}")
        columns.append([f"{value:.2f}" for value in values.mean(axis=0)])
    head.append("median seconds of a fit")
    columns.append([f"{value:.3f}" for value in np.median(mean["seconds"], axis=0)])
    order = np.argsort(by_set["AUC"].mean(axis=0), kind="stable")
    counts = sorted({len(each) for each in splits.values()})
    title = f"Means over {len(sets)} tables and {len(places) // len(sets)} shares of labels, {counts[-1]} splits"
    text = table(head, [[names[k], *(column[k] for column in columns)] for k in order], title=title)
    if len(sets) > 1 and len(names) > 2:
        from scipy.stats import friedmanchisquare  # noqa: PLC0415 (only in the report)

        p = friedmanchisquare(*by_set["AUC"].T).pvalue
        text += (
            f"\n\nFriedman's test: p = {p:.1g}. Mean ranks by AUC that differ by less than "
            f"{critical_difference(len(names), len(sets)):.1f} cannot be told apart by these tables (Nemenyi, 5 %)."
        )
    each = [
        [name, f"{100 * share:g} %", *(f"{value:.3f}" for value in row)]
        for (name, share), row in zip(places, mean["AUC"], strict=True)
    ]
    return text + "\n\n" + table(["table", "labelled", *names], each, title="AUC by table (* simulated)")
