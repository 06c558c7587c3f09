"""AUC by squared losses of pairs in closed form: LSAUC, SAMULT and PNU-AUC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.baselines._squared_pairs import PairLoss, Solution, Term, solve_by_steps, solve_directly
from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_float, check_int, check_random_state, entries_of
from fastpu.common._sharing import marked
from fastpu.common._text import where_column
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._training_rows import TrainingRows, open_training_rows, warn_of_balancing
from fastpu.data._validate import check_matrix, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._prior import prior_among_unlabeled, take_prior_in
from fastpu.model._profile import keeps_profile
from fastpu.model._threshold import GROUP, ScoredRows
from fastpu.risk._fit import Basis, Shape, make_model
from fastpu.risk.risk_machine import RiskMachine

_MOST_DIRECT = 2000  # weights of a linear model whose matrix is made and factored


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RankMachine(RiskMachine):
    """A linear ranking in the features or in Gaussian basis functions; `predict` says +1 where f(x) > threshold.

    f(x) = coef'x, or sum_c coef[c] exp(-|x - centers[c]|^2 / (2 bandwidth^2)). There is no intercept, as it would
    cancel in every pair of rows. The threshold is the one of the best balanced accuracy on the training rows.

    Attributes
    ----------
    basis, coef, intercept, bandwidth, centers, centers_dense, centers_data, centers_indices, centers_indptr
        As in `RiskMachine`; the intercept is 0.
    n_iter : int
        Steps of the conjugate gradients; 0 for a system that was solved directly.
    status : str
        "closed_form" (the system was solved directly), "singular" (directly too, and many `coef` have the least
        objective: this is the shortest), "tol" (conjugate gradients met `tol`), "max_iter", "precision" (rounding kept
        the residual above `tol`, or above 1e-6 if the system was solved directly) or "indefinite" (the objective has no
        minimum).
    converged : bool
        Whether status is one of the first three.
    objective : ndarray of float64, shape (n_iter + 1,)
        What is minimised: at `coef`, or at 0 and after every step of the conjugate gradients.
    history : mapping
        "residual": |b - (A + lam) coef| / |b| for every entry of `objective`. For an indefinite system that was solved
        directly also "smallest_eigenvalue": that of A + lam, which is < 0.
    """


@answers_unknown_keywords
@keeps_profile
@marked(shares=("lam",))
def fit_ls_auc(
    X: object,
    y: object,
    *,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    model: str = "linear",
    n_centers: int = 200,
    centers: object = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """LSAUC: rank labelled positive above labelled negative rows, by a squared loss of pairs, in closed form.

    It is for a quick ranking, linear or by a Gaussian basis, from labelled positives and labelled negatives, however
    many pairs they form. Unlabelled rows are left out: fit it beside `fit_samult` or `fit_pnu_auc` to see whether they
    help.

    The fit minimises over w, with f(x) = w'phi(x) and means over positive (p) and negative (n) rows,

        mean_pn (1 - f(x_p) + f(x_n))^2 + lam |w|^2.

    No pair is formed: with means m and covariances S of phi in the two groups, the minimum solves

        (S_p + S_n + d d' + lam) w = d,    d = m_p - m_n.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy where every row is used. Features on one scale
        help: `lam` is the same for all.
    y : array-like of shape (n,)
        +1 positive, -1 negative, 0 unlabelled. Unlabelled rows are left out.
    lam : float, or a sequence of them, default 1e-3
        Ridge weights >= 0. A sequence gives a list of models, and means and covariances are computed once.
    model : {"linear", "gauss"}, default "linear"
        phi: the features themselves, or exp(-|x - c|^2 / (2 bandwidth^2)) for centres c.
    n_centers, centers, bandwidth, sample_weight, random_state
        As in `fastpu.fit_upu`; centres are drawn from the rows that are used.
    tol : float, default 1e-10
        > 0. With more than 2000 features the linear system is solved by conjugate gradients, which end when the norm of
        its residual is at most `tol` times that of d.
    max_iter : int, default 1000
        Most steps of the conjugate gradients.
    n_threads : int, optional
        As in `fit_svm`. Only basis functions and scores are computed by several threads.

    Returns
    -------
    RankMachine, or a list of them
        Its threshold is that of the best balanced accuracy between labelled positive and negative training rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has no positive or no negative row, or squares of features overflow. The
        message names the argument.
    MemoryError
        If there is too little memory for matrices of the basis functions; the message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If conjugate gradients do not meet `tol`.
    DegenerateModelWarning
        If the model scores every row 0, or calls no training row positive.

    Notes
    -----
    O(n k^2 + k^3) time for k basis functions or features (in CSR n times the squared entries of a row), memory O(k^2)
    beside X and the n k values of basis functions, whatever the number of pairs is. With more than 2000 features
    O(entries of X) a step, and memory O(n + d). CSR is never made dense, except for columns that more than half of the
    rows fill. Adding a constant to a feature does not change a linear model, apart from rounding. The system is made
    from rows shifted to their middle, solved on features of one scale, and for a linear f corrected by its residual on
    the rows: features of any size and offset keep their digits, and `history["residual"]` is that of the rows.

    References
    ----------
    Gao and Zhou, "On the consistency of AUC pairwise optimization", IJCAI 2015 (the squared loss).

    Examples
    --------
    >>> import fastpu
    >>> model = fastpu.baselines.fit_ls_auc([[0.0], [1.0], [2.0], [4.0]], [-1, -1, 1, 1], lam=0)
    >>> model.coef.round(6)
    array([0.333333])
    >>> model.predict([[1.4], [1.6]])
    array([-1,  1])
    """
    return _fit(_open("fit_ls_auc", (1, -1), locals()), [(1.0, 1, -1)], {})


@answers_unknown_keywords
@keeps_profile
@marked(shares=("lam",))
def fit_samult(
    X: object,
    y: object,
    *,
    gamma: float = 0.5,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    model: str = "linear",
    n_centers: int = 200,
    centers: object = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """SAMULT: semi-supervised AUC by squared losses, without a class prior.

    It is for a quick ranking, linear or by a Gaussian basis, from positive, negative and unlabelled rows whose class
    prior is not known. Without labelled negatives take `fit_pnu_auc` if the prior is known, and `fit_pnu_auc_boost` if
    not.

    The fit minimises over w, with f(x) = w'phi(x) and R_gh(f) = mean_gh (1 - f(x_g) + f(x_h))^2 over pairs of rows of
    two groups,

        gamma R_pn(f) + (1 - gamma) (R_pu(f) + R_un(f)) + lam |w|^2.

    For pairs in the wrong order (the 0-1 loss) R_pu + R_un - 1/2 estimates R_pn whatever share of the unlabelled rows
    is positive: this is why no prior is needed. With D_gh = S_g + S_h + (m_g - m_h)(m_g - m_h)', of covariances and
    means,

        (gamma D_pn + (1 - gamma) (D_pu + D_un) + lam) w = m_p - m_n.

    Errors, warnings and costs are those of `fit_ls_auc`.

    Parameters
    ----------
    X, lam
        As in `fit_ls_auc`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; there must be rows of all three.
    gamma : float, default 0.5
        In [0, 1]; 1 is `fit_ls_auc`.
    model, n_centers, centers, bandwidth, tol, max_iter, sample_weight, random_state, n_threads
        As in `fit_ls_auc`. Centres are drawn from all rows.

    Returns
    -------
    RankMachine, or a list of them
        Its threshold is that of the best balanced accuracy between labelled positive and negative training rows.

    References
    ----------
    Xie and Li, "Semi-supervised AUC optimization without guessing labels of unlabeled data", AAAI 2018.

    Examples
    --------
    >>> import fastpu
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [1.0], [3.0]], [-1, -1, 1, 1, 0, 0]
    >>> model = fastpu.baselines.fit_samult(X, y, gamma=0.5, lam=0)
    >>> model.coef.round(6)
    array([0.357143])
    """
    share = check_float("gamma", gamma, low=0, high=1)
    terms = [(share, 1, -1), (1 - share, 1, 0), (1 - share, 0, -1)]
    return _fit(_open("fit_samult", (1, 0, -1), locals()), terms, {"gamma": share})


@answers_unknown_keywords
@keeps_profile
@marked(shares=("lam",))
def fit_pnu_auc(
    X: object,
    y: object,
    *,
    prior: float,
    scenario: str = "case_control",
    eta: float = 0.0,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    model: str = "linear",
    n_centers: int = 200,
    centers: object = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """PNU-AUC: AUC by squared losses from positive, negative and unlabelled rows whose class prior is known.

    It is for a quick ranking, linear or by a Gaussian basis, where the prior is known well, and labelled rows of one
    class are few or missing: ``eta=1`` needs no negatives, and ``eta=-1`` no positives. Where the prior is a guess take
    `fit_samult`.

    The fit minimises over w, with f(x) = w'phi(x), R_gh(f) = mean_gh (1 - f(x_g) + f(x_h))^2 over pairs of rows of two
    groups, and a share pi of positives among the unlabelled rows,

        (1 - |eta|) R_pn(f) + |eta| R_x(f) + lam |w|^2,

    where R_x is an unbiased estimate of R_pn without one of the two labelled groups:

        eta > 0:  (R_pu - pi R_pp) / (1 - pi)    from positive and unlabelled rows (PU-AUC for eta = 1),
        eta < 0:  (R_un - (1 - pi) R_nn) / pi    from negative and unlabelled rows (NU-AUC for eta = -1).

    R_pp and R_nn are over all pairs of two rows of a group, a row with itself included. Errors, warnings and costs are
    those of `fit_ls_auc`, and what is said below.

    Parameters
    ----------
    X, lam
        As in `fit_ls_auc`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative. Positive and negative rows are needed for eta = 0, positive and
        unlabelled ones for eta = 1, negative and unlabelled ones for eta = -1, all three between these.
    prior, scenario
        As in `fastpu.fit_upu`: pi is the share of positives among the unlabelled rows.
    eta : float, default 0
        In [-1, 1]; 0 is `fit_ls_auc`. To be chosen on held-out rows.
    model, n_centers, centers, bandwidth, tol, max_iter, sample_weight, random_state, n_threads
        As in `fit_ls_auc`. Centres are drawn from all rows.

    Returns
    -------
    RankMachine, or a list of them
        Its threshold is that of the best balanced accuracy between labelled positive and negative training rows, or
        between unlabelled rows and those of the two that there are.

    Raises
    ------
    ValueError
        If a group of rows that `eta` asks for is missing, or if by `prior` all unlabelled rows are of the class whose
        labelled rows `eta` uses.

    Warns
    -----
    ConvergenceWarning
        If the objective has no minimum (see Notes).

    Notes
    -----
    The covariance of the positive rows has the factor 1 - eta pi / (1 - pi) for eta > 0, that of the negative rows
    1 - |eta| (1 - pi) / pi for eta < 0; all other terms are positive. So there is a minimum wherever

        eta <= (1 - pi) / pi   and   -eta <= pi / (1 - pi),

    whatever the rows are. Beyond that the matrix of the system can be indefinite, and the objective unbounded below:
    the fit checks this, and the model then has the status "indefinite" and `converged` False. It holds the point at
    which the gradient is 0, which published programs return without a warning (with more than 2000 features, the last
    step of the conjugate gradients, which notice it only if they meet a direction of negative curvature). A larger
    `lam`, an `eta` nearer 0 or fewer centres help.

    References
    ----------
    Sakai, Niu and Sugiyama, "Semi-supervised AUC optimization based on positive-unlabeled learning", Machine Learning
    107, 2018.

    Examples
    --------
    >>> import fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(400, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=40, random_state=0)
    >>> rows, y = X[split.train], split.y_train
    >>> model = fastpu.baselines.fit_pnu_auc(rows, y, prior=0.45, eta=1)
    >>> model.status
    'closed_form'
    """
    given, drawn_as = take_prior_in(scenario, prior)
    mix = check_float("eta", eta, low=-1, high=1)
    needed = tuple(g for g, is_needed in ((1, mix > -1), (0, mix != 0), (-1, mix < 1)) if is_needed)
    rows = _open("fit_pnu_auc", (1, 0, -1), locals(), needed, f" with eta = {mix:g}")
    n_pos, n_unl, n_neg = (rows.mass(g) for g in (1, 0, -1))
    share = given
    if n_unl:
        share = prior_among_unlabeled(given, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=drawn_as)
    if (mix > 0 and share == 1) or (mix < 0 and share == 0):
        left, other = ("negative", "smaller") if mix > 0 else ("positive", "larger")
        raise ValueError(
            f"prior must be {other} with eta = {mix:g}: by {given:g} and scenario={drawn_as!r} no unlabelled row is "
            f"{left}, got a share of {share:g} positives among them"
        )
    # The labelled group that R_x is made from, and its share among the unlabelled rows.
    known, present = (1, share) if mix > 0 else (-1, 1 - share)
    terms = [(1 - abs(mix), 1, -1)] if abs(mix) < 1 else []
    if mix:
        factor = abs(mix) / (1 - present)
        terms += [(factor, 1, 0) if mix > 0 else (factor, 0, -1), (-factor * present, known, known)]
    bound = min(1.0, (1 - present) / present) if present > 0 else 1.0
    advice = f"It always has one for |eta| <= {bound:.3g}: bring eta nearer 0, raise lam, or use fewer centres"
    params = {"prior": given, "scenario": drawn_as, "prior_among_unlabeled": share, "eta": mix}
    return _fit(rows, terms, params, advice)


@dataclass(frozen=True)
class _PairRows(TrainingRows):
    """The rows of the groups that a function reads, and its other arguments, checked."""

    function: str
    shape: Shape
    basis: Basis
    lams: dict[str, float]
    tol: float
    max_iter: int
    n_threads: int


def _open(
    function: str, groups: tuple[int, ...], given: Mapping[str, Any], needed: tuple[int, ...] = (), why: str = ""
) -> _PairRows:
    """Check a function's arguments, by their names, and that there are rows of the `needed` groups, or of all."""
    options: dict[str, Any] = {
        "lams": {name: check_float(name, one, low=0) for name, one in entries_of("lam", given["lam"]).items()},
        "tol": check_float("tol", given["tol"], low=0, open_low=True),
        "max_iter": min(check_int("max_iter", given["max_iter"], low=1), MANY),
        "n_threads": resolve_n_threads(given["n_threads"]),
    }
    shape, generator = Shape(given, models=("linear", "gauss")), check_random_state(given["random_state"])
    require_rows(given["X"], function)
    matrix = check_matrix(given["X"])
    rows = open_training_rows(matrix, given["y"], given["sample_weight"], function, groups=groups, is_relative=False)
    counts = dict(zip((1, 0, -1), label_counts(rows.labels), strict=True))
    needed = needed or groups
    if not all(counts[g] for g in needed):
        wanted = " and ".join(f"{GROUP[g]} ({g:+d})" if g else "unlabelled (0)" for g in needed)
        listed = ", ".join(f"{counts[g]} {GROUP[g]}" for g in counts)
        hint = "" if counts[-1] or -1 not in needed else "; if 0 means negative, pass fastpu.as_labels(y, negative=0)"
        raise ValueError(f"y must hold {wanted} rows for {function}{why}, got {listed} rows of positive weight{hint}")
    warn_of_balancing(function, rows.labels, rows.weights)
    basis = shape.basis(rows, generator, options["n_threads"], _check_room)
    return _PairRows(**vars(rows), function=function, shape=shape, basis=basis, **options)


def _fit(
    rows: _PairRows, terms: list[Term], params: dict[str, object], advice: str = ""
) -> RankMachine | list[RankMachine]:
    """Return a model for each lam, all from one quadratic; `advice` says what helps if that has no minimum."""
    is_linear = rows.shape.model == "linear"
    if not is_linear or any(rows.lams.values()):  # else the scale of columns does not matter
        warn_of_scales(rows.matrix)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        features = rows.basis.features
        loss = PairLoss(features, rows, terms)
        is_direct = not is_linear or features.n_features <= _MOST_DIRECT
        A = loss.matrix() if is_direct else np.zeros((0, 0))
        models = []
        for lam in rows.lams.values():
            _check_finite(rows, lam, loss.sizes + lam, loss.right, A)
            if is_direct:
                # Basis functions are in [0, 1], and their matrix has all digits that they have.
                solution = solve_directly(loss, A, lam, on_rows=is_linear)
            else:
                solution = solve_by_steps(loss, lam, rows.tol, rows.max_iter)
            _check_finite(rows, lam, solution.coef, np.array([*solution.residuals, *solution.objective]))
            limits = {"tol": rows.tol, "max_iter": rows.max_iter}
            known = {"method": rows.function, **params, "lam": lam, **rows.shape.params(), **limits}
            models.append(_make_model(rows, known, solution, advice))
    return models[0] if "lam" in rows.lams else models


def _check_finite(rows: _PairRows, lam: float, *arrays: NDArray[np.float64]) -> None:
    if all(np.isfinite(array).all() for array in arrays):
        return
    values = rows.matrix.entries
    at = max(int(values.argmax()), int(values.argmin()), key=lambda k: abs(float(values[k])))
    column = int(rows.matrix.indices[at]) if rows.matrix.is_sparse else at % rows.matrix.n_features
    raise ValueError(
        f"X must hold numbers whose squares can be added up for {rows.function}, with lam = {lam:g} beside them, got "
        f"the largest {values[at]:g} in {where_column(column, rows.matrix.feature_names)}; scale the features, or "
        f"lower lam"
    )


def _check_room(size: int) -> None:
    try:
        np.empty(48 * size * size, dtype=np.uint8)  # fails before the work begins
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {48 * size * size} bytes, more than there are; use fewer centres"
        ) from None


def _make_model(rows: _PairRows, params: dict[str, object], solution: Solution, advice: str) -> RankMachine:
    history = {"residual": np.array(solution.residuals)}
    if solution.smallest is not None:
        history["smallest_eigenvalue"] = np.array([solution.smallest])
    model = make_model(
        RankMachine,
        rows.matrix,
        rows.basis.centers,
        n_iter=len(solution.objective) - 1,
        converged=solution.status in ("closed_form", "singular", "tol"),
        status=solution.status,
        objective=np.array(solution.objective),
        history=history,
        params=params,
        coef=solution.coef,
        intercept=0.0,
        bandwidth=rows.basis.bandwidth,
    )
    scored = ScoredRows(rows.labels, rows.weights, lambda model: model._decision_function(rows.matrix, rows.n_threads))
    model = scored.with_threshold(model)
    n_positive = int(np.count_nonzero(scored.scores(model) > model.threshold))
    trouble = ""
    if solution.status == "indefinite":
        reason = "" if solution.smallest is None else f": the smallest eigenvalue of A + lam is {solution.smallest:.3g}"
        trouble = f"the objective has no minimum{reason}. {advice}"
    elif solution.status in ("max_iter", "precision"):
        all_steps = f"all max_iter = {rows.max_iter} steps were taken"
        trouble = (
            f"{all_steps if solution.status == 'max_iter' else 'rounding errors ended the solution'} with a relative "
            f"residual of the linear system of {solution.residuals[-1]:.3g}; raise lam, or scale the features of X"
        )
    if trouble:
        warn(f"{rows.function}: {trouble}", ConvergenceWarning)
    if not solution.coef.any() and not trouble:
        warn(
            f"{rows.function}: the model scores every row 0, as the groups that it compares have the same mean "
            f"features; more rows, or model='gauss', may tell them apart",
            DegenerateModelWarning,
        )
    elif solution.coef.any() and n_positive in (0, rows.labels.size):
        warn(
            f"{rows.function}: the model calls {n_positive} of {rows.labels.size} training rows positive, as its "
            f"scores order the groups that its threshold lies between no better than chance does",
            DegenerateModelWarning,
        )
    return model
