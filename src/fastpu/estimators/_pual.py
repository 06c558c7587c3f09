"""The classifiers of PUAL and GLLC, which keep neighbours on the same side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GammaLike, GroupsLike, KernelLike, LabelsLike, MatrixLike, RoundCallback
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import FastpuClassifier, Seed, one_model
from fastpu.estimators._fit_input import FitInput
from fastpu.knn.knn_graph import KNNGraph
from fastpu.model._prior import PriorEstimate
from fastpu.pual.gllc import fit_gllc
from fastpu.pual.pual import fit_pual
from fastpu.pual.pual_machine import PualMachine, PualRound

if TYPE_CHECKING:
    from typing_extensions import Self


class UsesNeighbours(FastpuClassifier):
    """A classifier with a term for neighbours, whose kernel may be approximated where it is not linear.

    Parameters
    ----------
    C_pos, C_unl : float, defaults 1.0 and 0.1
        The costs of a positive row and of an unlabelled row, in [1e-100, 1e100]. They multiply sums, not means, as in
        the paper.
    lam : float, default 1.0
        The weight of the ridge penalty |w|^2 / 2, in [1e-100, 1e100]. A larger value makes the scores vary less.
    sigma : "median" or float, default "median"
        The scale of the similarities: a squared length, in the units of `X` squared, in [1e-100, 1e100]. "median" is
        the median of the squared lengths of the graph's edges (if that is 0, of the lengths that are not 0). It has no
        influence if `graph` is a pair.
    n_components : int, optional
        The number of landmarks of Nystroem's method, >= 1, for more rows than a kernel matrix has room for. The
        landmarks are drawn from the rows. The kernel is replaced by one of that rank. The linear kernel needs no
        approximation, and is fitted without one.
    """

    kernel: KernelLike
    n_components: int | None
    model_: PualMachine

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        graph: tuple[object, object] | KNNGraph | None = None,
        groups: GroupsLike | None = None,
    ) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows of features.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one unlabelled, or -1, 0 and 1 for negative,
            unlabelled and positive. `fastpu.estimators` says how labels are read.
        graph : (W, R) or KNNGraph, optional
            The neighbours of the rows of `X`, from `fastpu.knn_similarity` or `fastpu.knn_graph`. By default they are
            searched.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. The
            folds of a calibration keep the rows of a group together. Without a calibration, groups change nothing.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, graph=graph, groups=groups)

    def _settled(self, data: FitInput) -> Self:
        settled = super()._settled(data)
        if self.kernel == "linear":
            settled.n_components = None
        return settled


@answers_unknown_keywords
@explains_parameters_of(fit_pual)
class PUALClassifier(UsesNeighbours):
    """PUAL as a scikit-learn classifier: an asymmetric loss, for positives on both sides of the negatives.

    It is for data in which some positives lie far out, neighbours tend to be of the same class, and no prior is known:
    some thousand rows with a kernel, 100,000 with a linear model. `GLLCClassifier` is quicker, and often as good.

    `fit` calls `fastpu.fit_pual` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import PUALClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> PUALClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pual)

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_unl: float = 0.1,
        lam: float = 1.0,
        sigma: float | Literal["median"] = "median",
        n_neighbors: int = 5,
        kernel: KernelLike = "linear",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-09,
        max_iter: int = 200,
        n_components: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[PualRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.lam = lam
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.n_components = n_components
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_model(self, data: FitInput) -> PualMachine:
        return one_model(
            fit_pual(
                data.X,
                data.y,
                C_pos=self.C_pos,
                C_unl=self.C_unl,
                lam=self.lam,
                sigma=self.sigma,
                n_neighbors=self.n_neighbors,
                graph=data.graph,
                kernel=self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                tol=self.tol,
                max_iter=self.max_iter,
                n_components=self.n_components,
                random_state=self._seed,
                n_threads=self.n_threads,
                callback=self.callback,
                progress=self.progress,
            )
        )


@answers_unknown_keywords
@explains_parameters_of(fit_gllc)
class GLLCClassifier(UsesNeighbours):
    """GLLC, the global and local learning classifier, for scikit-learn: squared losses and neighbours.

    It is for data that suit `PUALClassifier`, without labelled positives that lie far out. The fit is one linear
    system, without iterations.

    `fit` calls `fastpu.fit_gllc` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import GLLCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> GLLCClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_gllc)

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_unl: float = 0.1,
        lam: float = 1.0,
        sigma: float | Literal["median"] = "median",
        n_neighbors: int = 5,
        kernel: KernelLike = "linear",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[PualRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.lam = lam
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_model(self, data: FitInput) -> PualMachine:
        return one_model(
            fit_gllc(
                data.X,
                data.y,
                C_pos=self.C_pos,
                C_unl=self.C_unl,
                lam=self.lam,
                sigma=self.sigma,
                n_neighbors=self.n_neighbors,
                graph=data.graph,
                kernel=self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                n_components=self.n_components,
                random_state=self._seed,
                n_threads=self.n_threads,
                callback=self.callback,
                progress=self.progress,
            )
        )
