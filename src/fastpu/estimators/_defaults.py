"""What the classifiers do beside calling their functions: costs, priors, importances and out-of-bag scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import check_choice, check_random_state
from fastpu.data._validate import check_matrix
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._calibration import in_proportion
from fastpu.model._prior import check_prior
from fastpu.priors import PriorEstimate, bbe
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

    C_pos: float
    C_unl: float
    lam: float
    sigma: float | str
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
        prior: Any = self.prior
        if isinstance(prior, str):
            prior = self._estimated(rows, codes, data["sample_weight"], arguments)
        check_prior(prior)
        if isinstance(prior, PriorEstimate):  # of the unlabelled rows, whatever the scenario
            arguments |= {"prior": prior, "scenario": "case_control"}
        return arguments

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        prior = arguments["prior"]
        estimate = prior if isinstance(prior, PriorEstimate) else None
        value = prior if estimate is None else estimate.value
        fitted = super()._call(rows, codes, {**arguments, "prior": value})
        return {**fitted, "prior_": float(value), "prior_estimate_": estimate}

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
                raise ValueError(
                    f"prior must be a number where a group has fewer than 2 rows, for 'bbe' cannot estimate it from "
                    f"{group.size} {'positive' if code else 'unlabelled'} rows"
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
