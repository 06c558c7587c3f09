"""What the classifiers of SVM paths do beside calling their functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_float, check_int
from fastpu.common._warn import warn
from fastpu.estimators._base import FastpuClassifier, seed_of
from fastpu.exceptions import ConvergenceWarning
from fastpu.path._fit import precision_forgiven
from fastpu.path.svm_path_model import SVMPath
from fastpu.svm.kernel_machine import KernelMachine


class OnPath(FastpuClassifier):
    """A classifier at one point of a path, given or selected.

    The classifier is the machine at one point of the path, which `scoring` selects if `lam` does not name it.

    Parameters
    ----------
    lam : float, optional
        The point of the path to stop at. By default the best one is selected.
    scoring, prior, scenario, random_state : str or callable, float, str, int
        As in `fastpu.models.SVMPath.select`: "f1" (the default of `SVMPathClassifier`) and "error" where all labels
        are true, "puf" (the default of `PUSVMPathClassifier`) and "err_star" where the rows of the smaller label are
        unlabelled, and "end".
    n_folds : int or None, default 5
        Number of folds to select by, at most the number of rows of the smaller class; None selects by the training
        rows. A precomputed kernel allows neither: pass `lam` or ``scoring="end"``.

    Attributes
    ----------
    path_ : fastpu.models.SVMPath
        The whole path; `model_` is the machine at one point of it.
    """

    path_: SVMPath
    lam: float | None = None
    scoring: str | Callable[..., float] = "f1"
    n_folds: int | None = 5
    prior: float | None = None
    scenario: str = "case_control"
    random_state: int | np.random.Generator | np.random.RandomState | None = None

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        with precision_forgiven():  # the end of the path matters only if that point is chosen, as asked below
            path = self._named(type(self)._function(rows, codes, **arguments))
        machine = self._machine(path)
        if path.status == "precision" and float(str(machine.params["lam"])) <= path.end:
            warn(
                f"{type(self).__name__} stops at the end of the path, lam = {path.end:.6g}, below which float64 does "
                f"not show the margin; raise lam_min, or scale X",
                ConvergenceWarning,
            )
        return {"path_": path, "model_": machine}

    def _machine(self, path: SVMPath) -> KernelMachine:
        if self.lam is not None:
            return path.at(self.lam)
        folds = self.n_folds
        if folds is not None:
            fewest = min(int(np.count_nonzero(path.labels == sign)) for sign in (1, -1))
            folds = min(check_int("n_folds", folds, low=2), fewest)
        return path.select(
            self.scoring,
            prior=self.prior,
            scenario=self.scenario,
            n_folds=folds if folds is not None and folds > 1 else None,
            random_state=seed_of(self.random_state),
            n_threads=self.n_threads,
        )

    @property
    def n_iter_(self) -> int:
        """Number of breakpoints of the path, at least 1."""
        return max(1, self.path_.n_iter)


class OnPUPath(OnPath):
    """The classifier of `fit_pu_svm_path`.

    Parameters
    ----------
    C_pos : float, optional
        As in `fastpu.fit_pu_svm_path`, whose default is inf: every labelled row right at any price, by which all rows
        are called positive where the classes overlap. By default C_unl times the number of unlabelled rows for each
        labelled one: both groups weigh the same.
    """

    C_pos: float | None = None
    scoring: str | Callable[..., float] = "puf"

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments["C_pos"] is None:
            n_pos, n_unl = (int(np.count_nonzero(codes == code)) for code in (1, 0))
            weight = check_float("C_unl", arguments["C_unl"], low=0, open_low=True)
            arguments = {**arguments, "C_pos": weight * max(1, n_unl) / max(1, n_pos)}
        return super()._call(rows, codes, arguments)
