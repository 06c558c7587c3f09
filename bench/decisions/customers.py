"""Rows of customers, which are alike: what is said of new customers, without groups and with them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from shared import run_tasks, table

import fastpu
from fastpu.estimators import ForestClassifier, PNUAUCBoostClassifier
from fastpu.metrics import auc, pu_auc
from fastpu.priors import bbe

if TYPE_CHECKING:
    from argparse import Namespace

    from numpy.typing import NDArray

    from fastpu.metrics import RankingEstimate

CUSTOMERS, ROWS, COLUMNS = 300, 10, 10
PRIOR, LABELLED = 0.3, 0.5  # of the customers, and of the positive ones
_MOST_ROUNDS, _PATIENCE = 200, 20
WITHIN = 0.1  # of an AUC
_BOOT = 200


def draw(
    n: int, n_rows: int, rng: np.random.Generator, apart: float = 2.0
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return rows of n customers, one after the other, and which customers are positive."""
    truth = rng.random(n) < PRIOR
    centre = 3.0 * rng.standard_normal((n, COLUMNS)) + apart * truth[:, None] * (np.arange(COLUMNS) == 0)
    return np.repeat(centre, n_rows, axis=0) + 0.3 * rng.standard_normal((n * n_rows, COLUMNS)), truth


def log_loss(probabilities: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    of_truth = np.where(truth, probabilities, 1 - probabilities)
    return float(-np.log(np.maximum(of_truth, 1e-15)).mean())


def _holds(
    y: NDArray[np.bool_],
    scores: NDArray[np.float64],
    prior: float,
    groups: NDArray[np.int64] | None,
    seed: int,
    truth: float,
) -> float:
    """Tell whether the interval of 90 % of `pu_auc` holds the AUC for new customers; one that is refused does not."""
    how: dict[str, Any] = {"n_boot": _BOOT, "random_state": seed}
    try:
        found = cast("RankingEstimate", pu_auc(y, scores, prior=prior, groups=groups, **how))
    except ValueError:  # chance does not explain an AUC so far above 1
        return 0.0
    low, high = found.interval
    return float(low <= truth <= high)


def measured(seed: int) -> dict[str, float]:
    """What each method says, without groups and with them, and what is true of new customers."""
    warnings.simplefilter("ignore")  # of folds that never stop, among others
    rng = np.random.default_rng(seed)
    X, truth = draw(CUSTOMERS, ROWS, rng)
    y = np.repeat(truth & (rng.random(CUSTOMERS) < LABELLED), ROWS)
    customer = np.repeat(np.arange(CUSTOMERS), ROWS)
    X_new, truth_new = draw(4000, 1, rng)
    share = float(np.repeat(truth, ROWS)[~y].mean())
    found = {"share alone": log_loss(np.full(truth_new.size, share), truth_new)}
    X_apart, truth_apart = draw(CUSTOMERS, ROWS, rng, 8.0)
    y_apart = np.repeat(truth_apart & (rng.random(CUSTOMERS) < LABELLED), ROWS)
    found["prior"] = float(np.repeat(truth_apart, ROWS)[~y_apart].mean())
    for how, groups in (("without", None), ("with", customer)):
        found[f"prior {how}"] = bbe(X_apart, y_apart, groups=groups, random_state=seed, n_threads=1).value
        forest = fastpu.fit_forest(X, y, groups=groups, random_state=seed, n_threads=1)
        bags = fastpu.fit_boosted_trees(X, y, n_bags=20, groups=groups, random_state=seed, n_threads=1)
        for name, model in (("forest", forest), ("bags", bags)):
            held = model.oob_decision_function
            is_scored = ~np.isnan(held)
            found[f"{name} {how}"] = auc(y[is_scored], held[is_scored])
            ranks_new = auc(truth_new, model.decision_function(X_new, n_threads=1))
            found[f"{name} {how}, new"] = share / 2 + (1 - share) * ranks_new  # of P against such a mixture
            found[f"{name} {how}, held"] = _holds(y, held, share, groups, seed, ranks_new)
        given: dict[str, Any] = {"calibration": "sigmoid", "calibration_prior": share, "n_threads": 1}
        for name, classifier in (
            ("forest's loss", ForestClassifier(random_state=seed, **given)),
            ("stumps' loss", PNUAUCBoostClassifier(**given)),
        ):
            probabilities = classifier.fit(X, y, groups=groups).predict_proba(X_new)[:, 1]
            found[f"{name} {how}"] = log_loss(probabilities, truth_new)
        stumps = fastpu.fit_pnu_auc_boost(
            X, y, n_rounds=_MOST_ROUNDS, early_stopping_rounds=_PATIENCE, groups=groups, random_state=seed, n_threads=1
        )
        found[f"rounds {how}"] = stumps.n_iter
        found[f"folds {how}"] = float(stumps.history["fold_auc"].max())
        ranks_new = auc(truth_new, stumps.decision_function(X_new, n_threads=1))
        found[f"folds {how}, new"] = share / 2 + (1 - share) * ranks_new
    return found


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    draws = run_tasks(measured, list(range(options.draws)), options.jobs, "groups")
    mean = {name: float(np.mean([each[name] for each in draws])) for name in draws[0]}
    rows = [
        [what, *(f"{mean[name]:.{digits}f}" if name else "" for name in names)]
        for what, digits, *names in (
            ("AUC of P against U out of bag, forest", 2, "forest without", "forest with", "forest with, new"),
            ("the same, 20 bags of boosted trees", 2, "bags without", "bags with", "bags with, new"),
            ("best AUC of the folds, boosted stumps", 2, "folds without", "folds with", "folds with, new"),
            (f"rounds that these choose, of {_MOST_ROUNDS}", 0, "rounds without", "rounds with", ""),
            ("log loss of a forest's probabilities", 2, "forest's loss without", "forest's loss with", "share alone"),
            ("prior by `bbe`, of classes that are further apart", 2, "prior without", "prior with", "prior"),
            ("log loss of the probabilities of stumps", 2, "stumps' loss without", "stumps' loss with", "share alone"),
        )
    ]
    wrong = [
        float(np.mean([abs(each[f"{name} {how}"] - each[f"{name} {how}, new"]) > WITHIN
                       for each in draws for name in ("forest", "bags", "folds")]))
        for how in ("without", "with")
    ]  # fmt: skip
    misses = [
        1 - float(np.mean([each[f"{name} {how}, held"] for each in draws for name in ("forest", "bags")]))
        for how in ("without", "with")
    ]
    title = f"{ROWS} rows of each of {CUSTOMERS} customers, means of {options.draws} draws"
    head = ["", "without groups", "with groups", "of new customers; the true prior; log loss of the share alone"]
    return table(head, rows, title=title), {
        "draws": draws,
        "wrong": [
            (f"8: AUCs of P against U that are off by more than {WITHIN:g} for new customers", *wrong),
            ("8: intervals of 90 % of `pu_auc` by out-of-bag scores that miss the AUC for new customers", *misses),
        ],
    }
