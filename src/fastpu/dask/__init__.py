"""Fits to the rows of Dask collections, which stay on their workers.

The models are those of the functions of the same name in `fastpu`, bit by bit. Needs Dask: ``pip install dask
distributed``.
"""

from __future__ import annotations

from fastpu.dask._client import WorkerLostError
from fastpu.dask.boosted_trees import fit_boosted_trees
from fastpu.dask.forest import fit_forest
from fastpu.dask.stump_boost import fit_pnu_auc_boost

__all__ = ["WorkerLostError", "fit_boosted_trees", "fit_forest", "fit_pnu_auc_boost"]


def __dir__() -> list[str]:
    return __all__
