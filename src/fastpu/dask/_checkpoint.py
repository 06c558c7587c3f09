"""The file from which a fit of boosted trees on Dask goes on: a model of the rounds so far."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting._boosted_trees_options import FUNCTION, BoostedTreesOptions
from fastpu.dask._boosted_rounds import RoundsSoFar
from fastpu.dask._fit_data import FitData
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._load import load
from fastpu.tree._fingerprint import hash_of
from fastpu.tree._tree_arrays import tree_arrays
from fastpu.tree.tree_ensemble import TreeEnsemble


class Checkpoint:
    """The file of one fit: its `digest` tells the arguments and columns of this fit from those of others."""

    def __init__(self, path: str, digest: str) -> None:
        self._path, self._digest = path, digest
        self._fingerprint: NDArray[np.uint64] | None = None  # of the rows of the fit

    def load(self, *, n_rounds: int, n_first: int, seed: int | None) -> tuple[RoundsSoFar, int] | None:
        """Return the rounds that were saved and the seed of the fit, or None if there is no file yet.

        Raise ValueError if the file is of another fit: with other arguments, more than `n_rounds` rounds, or another
        seed, where the user has given one. The first `n_first` trees are those of `init_model`.
        """
        if not Path(self._path).exists():
            return None
        saved: Any = load(self._path)
        is_own = saved.params.get("checkpoint") == self._digest and saved.n_trees <= n_rounds
        if not is_own or seed not in (None, saved.seed):
            raise self._is_of_another_fit()
        so_far = RoundsSoFar.of_model(saved)
        so_far.n_first, so_far.eval_auc = n_first, saved.history["eval_auc"]
        so_far.status = "n_rounds" if saved.status == "callback" else saved.status
        self._fingerprint = saved.fingerprint
        return so_far, saved.seed

    def check_rows(self, fingerprint: NDArray[np.uint64]) -> None:
        """Raise ValueError unless the rows are those of the file, or of the call of this before."""
        if self._fingerprint is not None and (self._fingerprint != fingerprint).any():
            raise self._is_of_another_fit()
        self._fingerprint = fingerprint

    def save(self, so_far: RoundsSoFar, form: BinnedFeatures, seed: int) -> None:
        trees = tree_arrays(None, so_far)
        TreeEnsemble(
            n_features=form.n_features,
            feature_names=form.feature_names,
            categories=form.categories,
            threshold=0.0,
            n_iter=so_far.n_trees,
            converged=False,
            status=so_far.status,
            objective=so_far.tree_risk,
            history={"risk": so_far.risk, "eval_auc": so_far.eval_auc},
            params={"method": FUNCTION, "checkpoint": self._digest},
            packed_nodes=trees.packed_nodes,
            tree_starts=trees.tree_starts,
            category_sets=trees.category_sets,
            divisor=1,
            seed=seed,
            fingerprint=self._fingerprint,
        ).save(self._path)

    def _is_of_another_fit(self) -> ValueError:
        return ValueError(
            f"checkpoint must name a new file, or that of a fit to the same rows with the same arguments, got "
            f"{self._path!r}, which is of another fit"
        )


def checkpoint_digest(options: BoostedTreesOptions, prior: float, n_first: int, data: FitData) -> str:
    """Return a hash of the arguments, which with the fingerprint of the rows and their cuts identifies a fit."""
    like = data.census.like
    eval_labels = None if data.eval_rows is None else data.eval_rows.labels.tolist()
    columns = like.feature_names, sorted(like.categories.items())
    known: tuple[object, ...] = options.params(0), prior, n_first, options.patience, eval_labels, columns
    if data.census.clusters is not None:
        known = *known, hash_of(data.census.clusters)
    return hashlib.sha256(repr(known).encode()).hexdigest()
