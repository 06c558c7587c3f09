"""What the fits have in common whose rows stay on the workers between rounds."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastpu.common._params import check_int
from fastpu.common._warn import warn
from fastpu.dask._binning import bin_partitions
from fastpu.dask._workers import WorkerLostError, Workers
from fastpu.model._model import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client

    from fastpu.boosting._folds import LabelledRows
    from fastpu.dask._binning import Census
    from fastpu.dask._collections import Rows
    from fastpu.data.binned_features import BinnedFeatures


_MOST_LOSSES = 3  # workers that may be lost in a row without a round saved between them
_Result = TypeVar("_Result")


def check_patience(early_stopping_rounds: object, eval_set: object) -> int:
    """Return the rounds without a better AUC after which a fit stops, 0 where it does not stop early."""
    if early_stopping_rounds is None:
        return 0
    patience = check_int("early_stopping_rounds", early_stopping_rounds, low=1)
    if eval_set is None:
        raise ValueError(
            "early_stopping_rounds needs an eval_set in fastpu.dask: rounds chosen by folds are for one machine"
        )
    return patience


@dataclass(frozen=True)
class FitData:
    """The rows of a fit and what is known of them.

    Attributes
    ----------
    client : Client
    rows : Rows
        The partitions.
    census : Census
        Their sizes and groups.
    form : BinnedFeatures
        A single row binned as all rows are, from which the core reads the cuts and the form of the codes.
    held : LabelledRows, or None
        The rows of `eval_set`.
    patience : int
        As `check_patience` returns it.
    n_threads : int, or None
        Most threads of each worker; None for those that Dask gave it.
    """

    client: Client
    rows: Rows
    census: Census
    form: BinnedFeatures
    held: LabelledRows | None
    patience: int
    n_threads: int | None


class SharedFit(ABC):
    """One fit: how its rows are brought to workers, again where one is lost, and what identifies its checkpoint."""

    def __init__(self, data: FitData) -> None:
        self._data = data

    @property
    @abstractmethod
    def n_made(self) -> int:
        """The rounds that need not be made again when a worker is lost."""

    def _retried(self, fit: Callable[[Workers], _Result], path: str | None) -> _Result:
        """Return what `fit` returns; with a path, call it again where workers are lost.

        It is called a few times at most without a round saved in between: where rows need more memory than there is,
        workers would be lost and replaced for ever.
        """
        n_losses = 0
        while True:
            n_made = self.n_made
            try:
                with self._place_rows() as workers:
                    return fit(workers)
            except WorkerLostError as error:
                n_losses = n_losses + 1 if self.n_made == n_made else 0
                if path is None or n_losses > _MOST_LOSSES or (n_losses and not self._data.client.nthreads()):
                    raise
                warn(f"{error}; the fit goes on from round {self.n_made} with the workers left", RuntimeWarning)

    def _place_rows(self) -> Workers:
        """Bin the partitions and keep them on workers."""
        data = self._data
        futures = bin_partitions(data.client, data.rows, data.form, data.census)
        try:
            present = {number: future for number, future in enumerate(futures) if data.census.sizes[number]}
            workers = Workers(data.client, present, data.n_threads)
        finally:
            for future in futures:
                future.release()
        return workers

    def _digest(self, *settings: object) -> str:
        """Return a hash of the settings and of the counts and cuts of the rows, which identifies this fit."""
        census, held, cuts = self._data.census, self._data.held, self._data.form._native
        plain = [
            *settings,
            census.n_rows,
            census.all_groups,
            census.mass,
            census.feature_names,
            {column: list(map(repr, values)) for column, values in sorted(census.categories.items())},
            self._data.patience,
            None if held is None else held.labels.tolist(),
        ]
        digest = hashlib.sha256(json.dumps(plain).encode())
        for array in (cuts.cut_starts, cuts.cut_values, cuts.bin_values):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def _saved(self, path: str, digest: str) -> Any:
        """Return the model in a checkpoint, or None if there is no file; raise ValueError if it is of another fit."""
        if not Path(path).exists():
            return None
        saved = load(path)
        if saved.params.get("checkpoint") != digest:
            raise self._of_another_fit(path)
        return saved

    def _of_another_fit(self, path: str) -> ValueError:
        return ValueError(
            f"checkpoint must name a new file, or that of a fit to the same rows with the same arguments, "
            f"got {path!r}, which is of another fit"
        )
