"""fastpu's stump boosting against LightGBM and XGBoost.

Rows: n x 50 normal float32; positive where five features, the sign of a sixth and noise sum above 0; 15 % are labelled.
All boost stumps on at most 256 bins of each feature. LightGBM and XGBoost minimise the logistic loss of the labelled
positives against all other rows, as they know no third kind of label. A round is (time of 300 rounds - time of 100
rounds) / 200 on features binned before. AUC is that on 100,000 other rows. The pairwise version of Table 3 is timed by
pairwise_numpy.py.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from running import Case, Row, Timed, alternate, peak_bytes, timed
from workload import Rows, make_rows

import fastpu

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import SimpleNamespace

NEEDS = ("lightgbm", "xgboost")
SETTINGS = {
    "n": [200_000, 1_000_000],  # rows of a round; the first also for whole fits and exact thresholds
    "memory_n": 1_000_000,
    "predict_n": 1_000_000,
    "stumps": 500,  # of whole fits and of the models that score
    "repeats": 5,
}
QUICK = {"n": [400], "memory_n": 2000, "predict_n": 500, "stumps": 20, "repeats": 1}
_TEST_ROWS = 100_000
_FEW, _MANY = 100, 300  # a round is the difference of two fits: what they do once cancels out


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n_threads in run.threads:
        shared = {"n_threads": n_threads, "repeats": run.repeats}
        for n in run.n:
            yield Case(rounds, n=n, exact=n == run.n[0], **shared)
        yield Case(whole_fit, n=run.n[0], n_rounds=run.stumps, **shared)
        yield Case(scores, n=run.predict_n, n_stumps=run.stumps, **shared)
        for name in _PEERS:
            yield Case(memory, n=run.memory_n, name=name, n_threads=n_threads)


# ---- The contenders --------------------------------------------------------------------------------------------------


class _Fastpu:
    """PNUAUCBoost on binned features, or over every threshold, or on the labels that the others see."""

    def __init__(self, n_threads: int, *, exact: bool = False, only_positives: bool = False) -> None:
        self.n_threads, self.exact, self.only_positives = n_threads, exact, only_positives

    def prepare(self, rows: Rows) -> Any:
        """Return the rows as training reads them, binned if that is done once for all fits."""
        X = rows.X if self.exact else fastpu.bin_features(rows.X, max_bins=255, n_threads=self.n_threads)
        return X, rows.positive if self.only_positives else rows.y

    def train(self, prepared: Any, n_rounds: int) -> Any:
        options: dict[str, Any] = {"max_bins": "exact"} if self.exact else {}
        return fastpu.fit_pnu_auc_boost(*prepared, n_rounds=n_rounds, n_threads=self.n_threads, **options)

    def scores(self, model: Any, X: Any) -> Any:
        return model.decision_function(X, n_threads=self.n_threads)

    def n_stumps(self, model: Any) -> int:
        return int(model.n_iter)


class _LightGBM:
    """Trees of two leaves."""

    def __init__(self, n_threads: int) -> None:
        import lightgbm  # noqa: PLC0415 (only where it is measured)

        self.library, self.n_threads = lightgbm, n_threads
        self.params = {"objective": "binary", "num_leaves": 2, "min_data_in_leaf": 1, "max_bin": 255,
                       "feature_pre_filter": False, "num_threads": n_threads, "verbosity": -1}  # fmt: skip

    def prepare(self, rows: Rows) -> Any:
        data = self.library.Dataset(rows.X, label=rows.positive, params=self.params, free_raw_data=False)
        return data.construct()

    def train(self, prepared: Any, n_rounds: int) -> Any:
        return self.library.train(self.params, prepared, num_boost_round=n_rounds)

    def scores(self, model: Any, X: Any) -> Any:
        return model.predict(X, raw_score=True, num_threads=self.n_threads)

    def n_stumps(self, model: Any) -> int:
        return int(model.num_trees())


class _XGBoost:
    """Trees of depth one by histograms."""

    def __init__(self, n_threads: int) -> None:
        import xgboost  # noqa: PLC0415 (only where it is measured)

        self.library, self.n_threads = xgboost, n_threads
        self.params = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": 1, "max_bin": 256,
                       "nthread": n_threads, "verbosity": 0}  # fmt: skip

    def prepare(self, rows: Rows) -> Any:
        return self.library.QuantileDMatrix(rows.X, rows.positive, max_bin=256, nthread=self.n_threads)

    def train(self, prepared: Any, n_rounds: int) -> Any:
        return self.library.train(self.params, prepared, num_boost_round=n_rounds)

    def scores(self, model: Any, X: Any) -> Any:
        return model.inplace_predict(X, predict_type="margin")

    def n_stumps(self, model: Any) -> int:
        return int(model.num_boosted_rounds())


_PEERS = {"fastpu": _Fastpu, "LightGBM": _LightGBM, "XGBoost": _XGBoost}


def _contenders(n_threads: int) -> dict[str, Any]:
    return {name: make(n_threads) for name, make in _PEERS.items()}


# ---- Measures --------------------------------------------------------------------------------------------------------


def _a_round(library: Any, prepared: Any) -> Timed:
    few, _ = timed(partial(library.train, prepared, _FEW))
    many, model = timed(partial(library.train, prepared, _MANY))
    if library.n_stumps(model) != _MANY:
        raise RuntimeError(f"{type(library).__name__} stopped after {library.n_stumps(model)} of {_MANY} rounds")
    return Timed((many - few) / (_MANY - _FEW), model)


def rounds(*, n: int, exact: bool, n_threads: int, repeats: int) -> list[Row]:
    """A round of boosting, and the AUC of 300 rounds on other rows."""
    rows, test = make_rows(n), make_rows(_TEST_ROWS, seed=1)
    libraries = _contenders(n_threads)
    if exact:
        libraries["fastpu, exact thresholds"] = _Fastpu(n_threads, exact=True)
    prepared = {name: library.prepare(rows) for name, library in libraries.items()}

    def auc(name: str, model: Any) -> Row:
        return {"AUC": fastpu.metrics.auc(test.truth, libraries[name].scores(model, test.X))}

    found = alternate(
        {name: partial(_a_round, library, prepared[name]) for name, library in libraries.items()},
        repeats,
        warm_up={name: partial(library.train, prepared[name], 20) for name, library in libraries.items()},
        judge=auc,
    )
    name = "fastpu, on the labels of the peers"  # for its AUC alone
    libraries[name] = own = _Fastpu(n_threads, only_positives=True)
    return [*found, {"": name, **auc(name, own.train(own.prepare(rows), _MANY))}]


def whole_fit(*, n: int, n_threads: int, repeats: int, n_rounds: int) -> list[Row]:
    """A fit from raw float32 rows, binning included."""
    rows, test = make_rows(n), make_rows(_TEST_ROWS, seed=1)
    libraries = {name: _PEERS[name](n_threads) for name in ("fastpu", "LightGBM")}

    def fit(library: Any, n_rounds: int) -> Any:
        seconds, prepared = timed(partial(library.prepare, rows))
        return seconds, library.train(prepared, n_rounds)

    def judge(name: str, result: Any) -> Row:
        auc = fastpu.metrics.auc(test.truth, libraries[name].scores(result[1], test.X))
        return {"of it binning, ms": 1000 * result[0], "AUC": auc}

    return alternate(
        {name: partial(fit, library, n_rounds) for name, library in libraries.items()},
        repeats,
        warm_up={name: partial(fit, library, 5) for name, library in libraries.items()},
        judge=judge,
    )


def scores(*, n: int, n_threads: int, repeats: int, n_stumps: int) -> list[Row]:
    """Scores of raw rows, each library by an ensemble of its own."""
    rows, test = make_rows(100_000), make_rows(n, seed=1)
    libraries = _contenders(n_threads)
    models = {name: library.train(library.prepare(rows), n_stumps) for name, library in libraries.items()}
    return alternate(
        {name: partial(library.scores, models[name], test.X) for name, library in libraries.items()},
        repeats,
        warm_up={name: partial(library.scores, models[name], test.X[:10_000]) for name, library in libraries.items()},
    )


def memory(*, n: int, name: str, n_threads: int) -> list[Row]:
    """Peak memory of 20 rounds from raw rows, these included, in MB above that of the interpreter with the library."""
    library = _PEERS[name](n_threads)
    library.train(library.prepare(make_rows(1000)), 2)
    baseline = peak_bytes()
    rows = make_rows(n)
    with_rows = peak_bytes()
    library.train(library.prepare(rows), 20)
    peak = peak_bytes() - baseline
    inputs = with_rows - baseline
    return [{"inputs": inputs / 1e6, "peak": peak / 1e6, "peak - inputs": (peak - inputs) / 1e6,
             "peak / matrix": peak / rows.X.nbytes}]  # fmt: skip
