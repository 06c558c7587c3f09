"""fastpu and the libraries that it is compared with, behind one interface.

All boost stumps on at most 256 bins of each feature. LightGBM and XGBoost minimise the logistic loss of the labelled
positives against all other rows, as they know no third kind of label. Nothing is imported before it is used, so that a
process holds one library where its memory is measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from workload import Rows

__all__ = ["CONTENDERS", "Contender", "Fastpu", "FastpuExact", "FastpuPositives", "LightGBM", "XGBoost"]


class Contender(ABC):
    """A library with a number of threads."""

    name: str

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    @abstractmethod
    def prepare(self, rows: Rows) -> Any:
        """Return the rows as training reads them, binned if that is done once for all fits."""

    @abstractmethod
    def train(self, prepared: Any, n_rounds: int) -> Any:
        """Return a model of so many stumps."""

    @abstractmethod
    def scores(self, model: Any, X: NDArray[np.float32]) -> Any:
        """Return the scores of rows that are not prepared."""

    def n_stumps(self, model: Any) -> int:
        """Return how many stumps a model has."""
        raise NotImplementedError


class Fastpu(Contender):
    """PNUAUCBoost on binned features."""

    name = "fastpu"

    def prepare(self, rows: Rows) -> Any:
        import fastpu  # noqa: PLC0415 (only where it is measured)

        return fastpu.bin_features(rows.X, max_bins=255, n_threads=self.n_threads), self.labels(rows)

    def labels(self, rows: Rows) -> Any:
        """Return the labels to train with."""
        return rows.y

    def train(self, prepared: Any, n_rounds: int) -> Any:
        import fastpu  # noqa: PLC0415 (only where it is measured)

        return fastpu.fit_pnu_auc_boost(*prepared, n_rounds=n_rounds, n_threads=self.n_threads)

    def scores(self, model: Any, X: NDArray[np.float32]) -> Any:
        return model.decision_function(X, n_threads=self.n_threads)

    def n_stumps(self, model: Any) -> int:
        return int(model.n_iter)


class FastpuExact(Fastpu):
    """The same over every threshold."""

    name = "fastpu, exact thresholds"

    def prepare(self, rows: Rows) -> Any:
        return rows.X, self.labels(rows)

    def train(self, prepared: Any, n_rounds: int) -> Any:
        import fastpu  # noqa: PLC0415 (only where it is measured)

        return fastpu.fit_pnu_auc_boost(*prepared, n_rounds=n_rounds, max_bins="exact", n_threads=self.n_threads)


class FastpuPositives(Fastpu):
    """PNUAUCBoost on what the others see: the labelled positives against all other rows."""

    name = "fastpu, labelled positives only"

    def labels(self, rows: Rows) -> Any:
        return rows.positive


class LightGBM(Contender):
    """Trees of two leaves."""

    name = "LightGBM"

    def __init__(self, n_threads: int) -> None:
        super().__init__(n_threads)
        self._params = {
            "objective": "binary",
            "num_leaves": 2,
            "min_data_in_leaf": 1,
            "max_bin": 255,
            "feature_pre_filter": False,
            "num_threads": n_threads,
            "verbosity": -1,
        }

    def prepare(self, rows: Rows) -> Any:
        import lightgbm  # noqa: PLC0415 (only where it is measured)

        data = lightgbm.Dataset(rows.X, label=rows.positive, params=self._params, free_raw_data=False)
        return data.construct()

    def train(self, prepared: Any, n_rounds: int) -> Any:
        import lightgbm  # noqa: PLC0415 (only where it is measured)

        return lightgbm.train(self._params, prepared, num_boost_round=n_rounds)

    def scores(self, model: Any, X: NDArray[np.float32]) -> Any:
        return model.predict(X, raw_score=True, num_threads=self.n_threads)

    def n_stumps(self, model: Any) -> int:
        return int(model.num_trees())


class XGBoost(Contender):
    """Trees of depth one by histograms."""

    name = "XGBoost"

    def __init__(self, n_threads: int) -> None:
        super().__init__(n_threads)
        self._params = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "max_depth": 1,
            "max_bin": 256,
            "nthread": n_threads,
            "verbosity": 0,
        }

    def prepare(self, rows: Rows) -> Any:
        import xgboost  # noqa: PLC0415 (only where it is measured)

        return xgboost.QuantileDMatrix(rows.X, rows.positive, max_bin=256, nthread=self.n_threads)

    def train(self, prepared: Any, n_rounds: int) -> Any:
        import xgboost  # noqa: PLC0415 (only where it is measured)

        return xgboost.train(self._params, prepared, num_boost_round=n_rounds)

    def scores(self, model: Any, X: NDArray[np.float32]) -> Any:
        return model.inplace_predict(X, predict_type="margin")

    def n_stumps(self, model: Any) -> int:
        return int(model.num_boosted_rounds())


CONTENDERS = {kind.name: kind for kind in (Fastpu, FastpuExact, FastpuPositives, LightGBM, XGBoost)}
