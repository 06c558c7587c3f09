"""What the fits have in common whose rows stay on workers between rounds."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastpu.common._warnings import warn
from fastpu.dask._binning import bin_partitions
from fastpu.dask._workers import WorkerLostError, Workers
from fastpu.model._model import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastpu.boosting._folds import LabelledRows
    from fastpu.dask._binning import Census
    from fastpu.dask._client import Client
    from fastpu.dask._collections import Rows
    from fastpu.data._cuts import CutsOfFeatures
    from fastpu.data.binned_features import BinnedFeatures

__all__ = ["SharedFit"]

_MOST_VAIN = 3  # workers lost one after the other, without a round saved between them
_Made = TypeVar("_Made")


class SharedFit(ABC):
    """One fit: its rows, how they are brought to workers, and what its checkpoint is known by."""

    def __init__(
        self,
        client: Client,
        rows: Rows,
        census: Census,
        cuts: CutsOfFeatures,
        form: BinnedFeatures,
        held: LabelledRows | None,
        patience: int,
        n_threads: int | None,
    ) -> None:
        self._client, self._rows, self._census, self._cuts, self._form = client, rows, census, cuts, form
        self._held, self._patience, self._n_threads = held, patience, n_threads

    @property
    @abstractmethod
    def n_made(self) -> int:
        """The rounds that need not be made again when a worker is lost."""

    def _retried(self, make: Callable[[Workers], _Made], path: str | None) -> _Made:
        """Return what `make` returns; with a path, call it again where workers are lost.

        Workers that come back and are lost again without a round that is saved, as where rows need more memory than
        there is, would go on for ever.
        """
        n_vain = 0
        while True:
            n_made = self.n_made
            try:
                with self._open() as workers:
                    return make(workers)
            except WorkerLostError as error:
                n_vain = n_vain + 1 if self.n_made == n_made else 0
                if path is None or n_vain > _MOST_VAIN or (n_vain and not self._client.nthreads()):
                    raise
                warn(f"{error}; the fit goes on from round {self.n_made} with what is left", RuntimeWarning)

    def _open(self) -> Workers:
        """Bring the rows to the workers."""
        sizes = self._census.sizes
        futures = bin_partitions(self._client, self._rows, self._cuts)
        try:
            present = {number: future for number, future in enumerate(futures) if sizes[number]}
            workers = Workers(self._client, present, self._n_threads)
        finally:
            for future in futures:
                future.release()
        return workers

    def _digest(self, *settings: object) -> str:
        """Return what is the same for the same fit only: the rows by their cuts and counts, and all settings."""
        census, cuts = self._census, self._cuts
        plain = [
            *settings,
            census.n_rows,
            census.all_groups,
            census.mass,
            census.feature_names,
            {column: list(map(repr, values)) for column, values in sorted(census.categories.items())},
            self._patience,
            None if self._held is None else self._held.labels.tolist(),
        ]
        digest = hashlib.sha256(json.dumps(plain).encode())
        for array in (cuts.starts, cuts.values, cuts.bin_values):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def _saved(self, path: str, digest: str) -> Any:
        """Return what the file of a checkpoint has, or None if there is none; raise ValueError if it is another's."""
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
