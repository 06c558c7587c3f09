"""The seed of trees, and the model that a fit goes on from."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_random_state, value_key
from fastpu.common._text import describe
from fastpu.data.binned_features import BinnedFeatures
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass(frozen=True)
class TreeSeed:
    """The seed from which the seed of every tree is derived.

    `rng` is for draws that are no part of a tree, such as folds. `random_state` is the user's number, which the
    `params` of the model show, or None.
    """

    value: int
    rng: np.random.Generator
    random_state: int | None


def tree_seed(random_state: object, init_model: TreeEnsemble | None) -> TreeSeed:
    """Return the seed that a random state stands for; a fit that goes on from a model goes on with the model's seed."""
    rng = check_random_state(random_state)
    number = int(random_state) if isinstance(random_state, numbers.Integral) else None
    if init_model is None:
        return TreeSeed(_draw_seed(rng), rng, number)
    if random_state is not None and _draw_seed(check_random_state(random_state)) != init_model.seed:
        raise ValueError(
            f"random_state must be None with init_model, whose trees go on from its own seed, or the number that the "
            f"model was fitted with, got {describe(random_state)}"
        )
    recorded = init_model.params.get("random_state")
    if number is None and isinstance(recorded, int):
        number = recorded
    return TreeSeed(init_model.seed, rng, number)


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**64, dtype=np.uint64))


def check_init_model(init_model: object, function: str) -> TreeEnsemble | None:
    """Return the model that a fit goes on from, or None."""
    if init_model is None:
        return None
    if not isinstance(init_model, TreeEnsemble):
        raise TypeError(f"init_model must be a TreeEnsemble or None, got {describe(init_model)}")
    if init_model.params.get("method") != function:
        raise ValueError(f"init_model must be a model of {function}, got one of {init_model.params.get('method')!r}")
    if init_model.divisor > 1 and init_model.oob_sum is None:
        raise ValueError("init_model must have its out-of-bag scores, got a model without them")
    return init_model


def check_same_arguments(
    init_model: TreeEnsemble | None, params: Mapping[str, object], features: BinnedFeatures, n_rows: int
) -> None:
    """Raise ValueError unless a fit with these parameters, features and number of rows can go on from the model."""
    if init_model is None:
        return
    for name, value in params.items():
        made_with = init_model.params.get(name)
        if value_key(made_with) != value_key(value):
            # Values that Python takes for equal are told apart by their types, such as 1 (int) and 1.0 (float).
            wording = describe if made_with == value else repr
            raise ValueError(f"{name} must be that of init_model, {wording(made_with)}, got {wording(value)}")
    features._check_fits("X", init_model)
    if init_model.oob_sum is not None and init_model.oob_sum.size != n_rows:
        raise ValueError(f"X must have the {init_model.oob_sum.size} rows of init_model, got {n_rows}")


def check_same_rows(init_model: TreeEnsemble | None, fingerprint: NDArray[np.uint64]) -> None:
    """Raise ValueError unless the rows with this fingerprint are those that the model was fitted to."""
    if init_model is None or init_model.fingerprint is None:
        return
    is_same = init_model.fingerprint[:3] == fingerprint[:3]
    clusters_before, clusters_now = init_model.fingerprint[3:].tolist(), fingerprint[3:].tolist()
    if clusters_before != clusters_now:
        has = "which has some" if clusters_before else "which has none"
        raise ValueError(f"groups must be those of init_model, {has}")
    # X last: other weights may move its cuts.
    for place, name, what in ((1, "y", "labels"), (2, "sample_weight", "weights"), (0, "X", "rows, or other cuts")):
        if not is_same[place]:
            raise ValueError(f"{name} must be that of init_model, in the same order of rows, got other {what}")
