"""What the classifiers do beside calling their functions: costs, priors, importances, points of a path."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import check_choice, check_float, check_int, check_random_state
from fastpu.common._warn import warn
from fastpu.data._validate import check_matrix
from fastpu.estimators._base import FastpuClassifier, seed_of
from fastpu.estimators._calibration import in_proportion
from fastpu.exceptions import ConvergenceWarning
from fastpu.model._prior import check_prior, take_prior_in
from fastpu.path._path_warnings import precision_forgiven
from fastpu.path.path_model import SVMPath
from fastpu.priors import PriorEstimate, bbe
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.tree.tree_ensemble import TreeEnsemble


class WithCosts(FastpuClassifier):
    """A classifier whose function needs two costs, which balance the groups if none are given.

    Parameters
    ----------
    C_pos, C_unl : float, optional
        Costs of a labelled positive and of an unlabelled row. By default n / (2 n_pos) and n / (2 n_unl), of weights
        where there are some, so that both groups weigh the same.
    """

    C_pos: float | None = None
    C_unl: float | None = None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments, weights = super()._arguments(rows, codes, data), data["sample_weight"]
        mass = np.ones(codes.size) if weights is None else weights
        for name, code in (("C_pos", 1), ("C_unl", 0)):
            if arguments[name] is None:
                of_group = float(mass[codes == code].sum())
                # Without any row of the group the fit function says what is missing.
                arguments[name] = float(mass.sum()) / (2 * of_group) if of_group else 1.0
        return arguments


class WithLandmarks(FastpuClassifier):
    """A classifier whose kernel may be approximated, where it is not linear.

    Parameters
    ----------
    n_components : int, optional
        Landmarks of Nystroem's method. The linear kernel needs no approximation, and is fitted without one.
    """

    kernel: str | Callable[..., object]

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, "n_components": None} if self.kernel == "linear" else arguments


class WithPrior(FastpuClassifier):
    """A classifier whose function needs a prior, which is estimated if none is given.

    Parameters
    ----------
    prior : float, PriorEstimate or "bbe", default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. "bbe" has it estimated by `fastpu.priors.bbe`
        in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to these. An
        `EstimateWarning` tells where it is an upper bound only.

    Attributes
    ----------
    prior_ : float
        The prior that was used; of an estimate the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None for a prior that was given as a number.
    """

    prior: float | str = "bbe"
    prior_: float
    prior_estimate_: PriorEstimate | None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, with a PriorEstimate as `prior` if it is to be estimated."""
        arguments = super()._arguments(rows, codes, data)
        if isinstance(self.prior, str):
            arguments["prior"] = self._estimated(rows, codes, data["sample_weight"], arguments)
        else:
            take_prior_in(arguments["scenario"], self.prior)  # warns of an estimate that is no number to go by
        return arguments

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        prior, estimate = arguments["prior"], None
        if isinstance(prior, PriorEstimate):  # whose doubts have been told
            estimate = prior
            arguments = {**arguments, "prior": prior.value, "scenario": "case_control"}
        return {**super()._call(rows, codes, arguments), "prior_": check_prior(prior), "prior_estimate_": estimate}

    def _estimated(
        self, rows: Any, codes: NDArray[np.int8], weights: Any, arguments: Mapping[str, Any]
    ) -> PriorEstimate:
        """Return the share of positives among the unlabelled rows by `fastpu.priors.bbe`.

        An estimate of 0 or 1 is moved inwards by the share of one more row.
        """
        check_choice("prior", self.prior, ("bbe",))
        chosen, seed = [], arguments["random_state"]
        for code in (1, 0):
            group = np.flatnonzero(codes == code)
            if weights is not None and group.size:
                group = group[in_proportion(weights[group], check_random_state(seed).random())]
            if group.size < 2:
                kind = "positive" if code else "unlabelled"
                raise ValueError(
                    f"prior must be a number where a group has fewer than 2 rows, for 'bbe' cannot estimate it from "
                    f"{group.size} {kind} row{'' if group.size == 1 else 's'}"
                )
            chosen.append(group)
        drawn = np.concatenate(chosen)
        X = check_matrix(rows)[drawn].table()
        estimate = bbe(X, codes[drawn], random_state=seed, n_threads=arguments["n_threads"])
        edge = 1 / (chosen[1].size + 1)
        return dataclasses.replace(estimate, value=float(min(1 - edge, max(edge, estimate.value))))


class Boosting(FastpuClassifier):
    """A classifier of stumps or trees, which has importances.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `model_`.
    """

    model_: StumpEnsemble | TreeEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature, as the model has them."""
        return self.model_.feature_importances


class Forest(Boosting):
    """A forest, or boosted trees, which may have out-of-bag scores too.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n,)
        Out-of-bag scores of the training rows minus the threshold, NaN where a row is in every bag.
    """

    model_: TreeEnsemble

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Out-of-bag scores of the training rows, as `decision_function` gives scores of others."""
        scores = self.model_.oob_decision_function
        if scores is None:
            raise AttributeError("oob_decision_function_ needs n_bags > 1, as a single booster is grown on all rows")
        return scores - self.model_.threshold


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
