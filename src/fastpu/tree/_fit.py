"""What the functions that grow trees share: their rows, prior and seed, and models that a fit goes on from."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._bags import AutoBags, BagRatio, bag_sizes
from fastpu.common._params import MANY, check_choice, check_float, check_int, check_random_state, value_key
from fastpu.common._text import describe
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_matrix, label_counts
from fastpu.data.binned_features import _MAX_CUTS, BinnedFeatures, binned
from fastpu.model._prior import check_scenario, take_prior_in
from fastpu.tree.tree_ensemble import TreeEnsemble, packed

MAX_BINS = 255  # the default


def check_max_bins(max_bins: object) -> int | None:
    return None if max_bins is None else check_int("max_bins", max_bins, low=1, high=_MAX_CUTS)


def open_rows(
    X: object, max_bins: object, before: TreeEnsemble | None = None, *, words: tuple[str, ...] = ()
) -> tuple[Matrix | BinnedFeatures, int | str | None]:
    """Return X, checked, and `max_bins`: the most cuts of a feature, None, or one of `words`."""
    cuts: int | str | None
    if isinstance(max_bins, str) and words:
        cuts = check_choice("max_bins", max_bins, words, f", None or an integer from 1 to {_MAX_CUTS}")
    else:
        cuts = check_max_bins(max_bins)
    if not isinstance(X, BinnedFeatures):
        return check_matrix(X, finite=False, categories="learn" if before is None else before.categories), cuts
    if cuts is not None and cuts != X.max_bins:
        raise ValueError(f"max_bins must be None (or {X.max_bins}, as in X) where X is BinnedFeatures, got {cuts!r}")
    return X, X.max_bins


def bin_rows(
    data: Matrix | BinnedFeatures, max_bins: Any, weights: NDArray[np.float64] | None, n_threads: int
) -> BinnedFeatures:
    """Return the rows that `open_rows` gave as binned features, 255 cuts of each by default."""
    return data if isinstance(data, BinnedFeatures) else binned(data, max_bins or MAX_BINS, weights, n_threads)


# ---- Bags ----


def bag_options(
    bag_ratio: BagRatio, auto: AutoBags, labels: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> dict[str, Any]:
    """Return the options of the core that say how bags are drawn from these rows."""
    n_pos, n_unl, _ = label_counts(labels, weights)  # others are in no bag
    sizes = bag_sizes(bag_ratio, n_pos, n_unl, auto)
    return {"repeats_pos": sizes.repeats_pos, "bag_unl": list(sizes.unl), "replace_unl": sizes.replace_unl}


# ---- Features that are drawn ----

_WIDE = 100  # dense features, of which more are needed than their root: on embeddings each tells little
_WIDE_SHARE = 0.2


def check_max_features(value: object, names: tuple[str, ...] = ("sqrt", "all")) -> str | int | float:
    if isinstance(value, str):
        return check_choice("max_features", value, names)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return check_float("max_features", value, low=0, high=1, open_low=True)
    try:
        return min(check_int("max_features", value, low=1), MANY)
    except TypeError as error:
        raise TypeError(
            f"max_features must be {', '.join(map(repr, names))}, a number of features or a share of them in (0, 1], "
            f"got {describe(value)}"
        ) from error


def drawn_features(max_features: str | float, n_features: int, *, is_sparse: bool = False) -> int:
    if max_features == "auto":
        max_features = _WIDE_SHARE if n_features > _WIDE and not is_sparse else "sqrt"
    if max_features == "all":
        return n_features
    if max_features == "sqrt":
        return math.isqrt(n_features)
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(int(max_features), n_features)


# ---- The class prior ----


def check_loss(
    given: Mapping[str, Any], losses: Sequence[str], with_prior: Sequence[str]
) -> tuple[str, float | None, str]:
    """Return the loss among a function's arguments, its prior, or None where it needs none, and the scenario."""
    kind, prior = check_choice("loss", given["loss"], losses), given["prior"]
    drawn_as, option = check_scenario(given["scenario"]), f"loss={kind!r}"
    if kind in with_prior:
        if prior is None:
            raise ValueError(
                f"prior must be given for {option}: the share of positives among the unlabelled rows, for example by "
                f"fastpu.priors.bbe; got None"
            )
        return kind, *take_prior_in(drawn_as, prior)
    if prior is not None:
        raise ValueError(f"prior must be None for {option}, which needs none, got {describe(prior)}")
    if drawn_as != "case_control":
        raise ValueError(f"scenario must be 'case_control' for {option}, which has no prior, got {drawn_as!r}")
    return kind, None, drawn_as


# ---- Where a fit begins ----


@dataclass(frozen=True)
class Start:
    """Where a fit of trees begins: the model `before` that it goes on from, if any, and the seed of all its draws.

    `rng` draws what is no part of a tree, such as folds, and `random_state` is what the params of the model have.
    """

    before: TreeEnsemble | None
    seed: int
    rng: np.random.Generator
    random_state: int | None

    @classmethod
    def of(cls, init_model: object, random_state: object, function: str) -> Start:
        rng = check_random_state(random_state)
        number = int(random_state) if isinstance(random_state, numbers.Integral) else None
        if init_model is None:
            return cls(None, _draw_seed(rng), rng, number)
        if not isinstance(init_model, TreeEnsemble):
            raise TypeError(f"init_model must be a TreeEnsemble or None, got {describe(init_model)}")
        if init_model.params.get("method") != function:
            raise ValueError(
                f"init_model must be a model of {function}, got one of {init_model.params.get('method')!r}"
            )
        if init_model.divisor > 1 and init_model.oob_sum is None:
            raise ValueError("init_model must have its out-of-bag scores, got a model without them")
        if random_state is not None and _draw_seed(check_random_state(random_state)) != init_model.seed:
            raise ValueError(
                f"random_state must be None with init_model, whose trees go on from its own seed, or the number that "
                f"it was made by, got {describe(random_state)}"
            )
        recorded: Any = init_model.params.get("random_state") if number is None else number
        return cls(init_model, init_model.seed, rng, recorded)

    @property
    def n_trees(self) -> int:
        return 0 if self.before is None else self.before.n_trees

    def check(self, features: BinnedFeatures, params: dict[str, object], n_rows: int) -> None:
        """Raise ValueError unless a fit to so many rows with these features and parameters can begin here."""
        before = self.before
        if before is None:
            return
        for name, value in params.items():
            made_by = before.params.get(name)
            if value_key(made_by) != value_key(value):
                # Values that Python takes for equal are told apart by their types, such as 1 (int) and 1.0 (float).
                wording = describe if made_by == value else repr
                raise ValueError(f"{name} must be that of init_model, {wording(made_by)}, got {wording(value)}")
        features._check_fits("X", before)
        if before.oob_sum is not None and before.oob_sum.size != n_rows:
            raise ValueError(f"X must have the {before.oob_sum.size} rows of init_model, got {n_rows}")

    def check_rows(self, rows: NDArray[np.uint64]) -> None:
        """Raise ValueError unless the rows with this fingerprint are those of the model that the fit goes on from."""
        if self.before is None or self.before.fingerprint is None:
            return
        is_same = self.before.fingerprint[:3] == rows[:3]
        before, given = (known[3:].tolist() for known in (self.before.fingerprint, rows))
        if before != given:
            raise ValueError(f"groups must be those of init_model, {'which has some' if before else 'which has none'}")
        # X last: other weights may move its cuts.
        for place, name, what in ((1, "y", "labels"), (2, "sample_weight", "weights"), (0, "X", "rows, or other cuts")):
            if not is_same[place]:
                raise ValueError(f"{name} must be that of init_model, in the same order of rows, got other {what}")


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**64, dtype=np.uint64))


def fingerprint_of_parts(parts: Sequence[NDArray[np.uint64]], native: _core.BinnedFeatures) -> NDArray[np.uint64]:
    """Return what training rows, in any parts, are known by: hashes of codes and cuts, of labels and of weights.

    `parts` are their own hashes, by `_core.fingerprint`, and `native` has the cuts.
    """
    cuts = hashlib.blake2b(native.cut_starts.tobytes() + native.cut_values.tobytes(), digest_size=8).digest()
    of_cuts = np.array([int.from_bytes(cuts, "little"), 0, 0], dtype=np.uint64)
    found: NDArray[np.uint64] = np.sum([*parts, of_cuts], axis=0, dtype=np.uint64)
    return found


def fingerprint_of(
    features: BinnedFeatures,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    n_threads: int,
    clusters: NDArray[np.int32] | None = None,
) -> NDArray[np.uint64]:
    """Return what training rows are known by; of clusters, where there are some, a hash more."""
    native = features._native
    whole = _core.fingerprint(native, labels, weights, first_row=0, n_threads=n_threads)
    known = fingerprint_of_parts([whole], native)
    if clusters is None:
        return known
    of_clusters = hashlib.blake2b(clusters.tobytes(), digest_size=8).digest()
    return np.append(known, np.uint64(int.from_bytes(of_clusters, "little")))


def joined(before: TreeEnsemble | None, grown: Any, n_parts: int = 1) -> dict[str, Any]:
    """Return the trees of a result of the core as fields of a model, after those of the model before.

    Of `n_parts` bags, with equally many trees in each, each bag of the result follows the same bag of the model.
    """
    nodes, starts, sets = packed(grown.nodes), grown.tree_start, grown.category_sets
    if before is not None:
        sets = np.concatenate([before.category_sets, sets])
        sources = [(before.packed_nodes, before.tree_starts), (nodes, starts)]
        pieces, sizes = [], []
        for part in range(n_parts):
            for source, begins in sources:
                each = (begins.size - 1) // n_parts
                of_part = begins[part * each : (part + 1) * each + 1]
                pieces.append(source[of_part[0] : of_part[-1]])
                sizes.append(np.diff(of_part))
        nodes = np.concatenate(pieces)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return {"packed_nodes": nodes, "tree_starts": starts, "category_sets": sets}
