"""GLLC: squared losses on positives and unlabelled rows, and a penalty for neighbours whose scores differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, overload

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._sharing import shares_work
from fastpu.graph._arguments import check_points, check_pual_options
from fastpu.graph._fit import fit_points
from fastpu.graph._least_squares import solve_least_squares
from fastpu.graph._neighbours import check_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from typing_extensions import Unpack

    from fastpu.graph._arguments import LocalArguments, PualRound, Sigmas, Values
    from fastpu.graph.pual_machine import PualMachine


@overload
def fit_gllc(
    X: object,
    y: object,
    *,
    C_pos: float = ...,
    C_unl: float = ...,
    lam: float = ...,
    sigma: float | str = ...,
    **options: Unpack[LocalArguments],
) -> PualMachine: ...


@overload
def fit_gllc(
    X: object,
    y: object,
    *,
    C_pos: Values = ...,
    C_unl: Values = ...,
    lam: Values = ...,
    sigma: Sigmas = ...,
    **options: Unpack[LocalArguments],
) -> PualMachine | list[PualMachine]: ...


@answers_unknown_keywords
@shares_work("C_pos", "C_unl", "lam", "sigma", together=True)
def fit_gllc(
    X: object,
    y: object,
    *,
    C_pos: Values = 1.0,
    C_unl: Values = 0.1,
    lam: Values = 1.0,
    sigma: Sigmas = "median",
    n_neighbors: int = 5,
    graph: object = None,
    kernel: str | Callable[..., object] = "linear",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    n_components: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[PualRound], bool | None] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """GLLC, the global and local learning classifier: `fit_pual` with the squared loss on the positives too.

    It is for data that suit `fit_pual`, without labelled positives that lie far out. The fit is one linear system,
    without iterations.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b and f'Rf as in `fit_pual`,

        lam/2 |w|^2 + C_pos sum_P (1 - f(x_i))^2 + C_unl sum_U (1 + f(x_i))^2 + f'Rf

    in closed form.

    Parameters
    ----------
    X, y, C_pos, C_unl, lam, sigma, n_neighbors, graph, kernel, gamma, degree, coef0
        As in `fit_pual`.
    n_components, random_state, n_threads
        As in `fit_pual`.
    callback : callable, optional
        ``callback(info: PualRound) -> bool`` after every model; True ends the fit, and later models are left out.
    progress : bool, default False
        Show a progress bar (tqdm if installed) that counts the models.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence
        Its `gap` is what rounding errors leave of the gradient, and its `alpha` is None.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_pual`.

    Warns
    -----
    ConvergenceWarning, DegenerateModelWarning, ScaleWarning
        As in `fit_pual`.

    Notes
    -----
    Costs as in `fit_pual`, without the steps; for each (C_pos, C_unl, lam, sigma) one Cholesky factor.

    References
    ----------
    Ke, Jing, Lv, Zhang and Hu (2018), Global and local learning from positive and unlabeled examples, as (4) of Wang,
    Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data".

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> model = fastpu.fit_gllc(X, [0, 0, 1, 1, 0, 0], lam=0.01, n_neighbors=1)
    >>> model.predict(X)
    array([-1, -1,  1,  1, -1,  1])
    """
    points, is_one = check_points({"C_pos": C_pos, "C_unl": C_unl, "lam": lam, "sigma": sigma})
    options = check_pual_options(
        "fit_gllc",
        "GLLC",
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        n_components=n_components,
        random_state=random_state,
        n_threads=n_threads,
    )
    checked = check_graph(graph, n_neighbors)
    return fit_points(
        X,
        y,
        points,
        is_one=is_one,
        options=replace(options, values={"n_neighbors": checked.n_neighbors, **options.values}),
        graph=checked,
        solver=solve_least_squares,
        callback=callback,
        progress=progress,
    )
