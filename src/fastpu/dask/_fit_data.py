"""What a fit by rounds knows of its rows before the first round: columns, cuts, counts, and the evaluation set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.dask._binning import bin_eval_set, bin_partitions
from fastpu.dask._census import Census
from fastpu.dask._client import Client, release, wait_for
from fastpu.dask._collections import Partitions
from fastpu.dask._cuts import find_form
from fastpu.dask._spread_rows import SpreadRows
from fastpu.data.binned_features import BinnedFeatures
from fastpu.tree._binning import MAX_BINS


@dataclass(frozen=True)
class FitData:
    """The partitions of a fit and what is known of them.

    Attributes
    ----------
    client : Client
    partitions : Partitions
    census : Census
        The numbers of rows, labels and categories.
    form : BinnedFeatures
        A single row with the columns and cuts of all rows.
    eval_rows : LabelledRows, or None
        The rows of `eval_set`, which the driver has.
    n_threads : int, or None
        Most threads of each worker; None for those that Dask gave it.
    """

    client: Client
    partitions: Partitions
    census: Census
    form: BinnedFeatures
    eval_rows: LabelledRows | None
    n_threads: int | None

    @property
    def has_eval_set(self) -> bool:
        return self.eval_rows is not None

    def bin_on_workers(self) -> SpreadRows:
        """Return the binned rows on the workers, which hold them until the result is closed."""
        parts = bin_partitions(self.client, self.partitions, self.form, self.census)
        try:
            wait_for(self.client, parts, "binning")
            return SpreadRows(self.client, parts, self.census.sizes, self.n_threads)
        finally:
            release(parts)


def open_fit_data(
    client: Client,
    partitions: Partitions,
    census: Census,
    max_bins: int | BinnedFeatures | None,
    eval_set: Any,
    n_threads: int | None,
) -> FitData:
    """Find the cuts of all rows, unless `max_bins` has them, and read the evaluation set."""
    form = find_form(client, partitions, census, MAX_BINS if max_bins is None else max_bins)
    return FitData(client, partitions, census, form, bin_eval_set(client, eval_set, form), n_threads)


def require_eval_set(early_stopping_rounds: object, eval_set: object) -> None:
    """Raise ValueError if early stopping is asked for without rows to judge the rounds by."""
    if early_stopping_rounds is not None and eval_set is None:
        raise ValueError(
            "early_stopping_rounds needs an eval_set in fastpu.dask: rounds chosen by folds are for one machine"
        )
