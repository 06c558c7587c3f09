"""AUC by squared loss in closed form: LSAUC, SAMULT and PNU-AUC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from fastpu.auc._arguments import check_basis, check_lams
from fastpu.auc._fit import Point, fit_points, open_rows, require_groups
from fastpu.auc._moments import Form
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._sharing import shares_work
from fastpu.model._prior import check_prior, check_scenario, prior_among_unlabeled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import TypedDict, Unpack  # in typing from Python 3.11

    from fastpu.auc.rank_machine import RankMachine

    class RankArguments(TypedDict, total=False):
        """The arguments that the three functions share."""

        basis: str
        n_centers: int
        centers: object
        bandwidth: float | None
        tol: float
        max_iter: int
        sample_weight: object
        random_state: int | np.random.Generator | None
        n_threads: int | None


@overload
def fit_ls_auc(X: object, y: object, *, lam: float = ..., **options: Unpack[RankArguments]) -> RankMachine: ...


@overload
def fit_ls_auc(
    X: object, y: object, *, lam: Sequence[float] | NDArray[Any], **options: Unpack[RankArguments]
) -> list[RankMachine]: ...


@answers_unknown_keywords
@shares_work("lam")
def fit_ls_auc(
    X: object,
    y: object,
    *,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    basis: str = "linear",
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
    basis : {"linear", "gauss"}, default "linear"
        phi: the features themselves, or exp(-|x - c|^2 / (2 bandwidth^2)) for centres c.
    n_centers : int, default 200
        Most centres, drawn from the rows that are used by `random_state`, no two of them equal.
    centers : array-like or CSR matrix of shape (n_centers, d), optional
        The centres, in place of drawn ones.
    bandwidth : float, optional
        > 0; by default the median distance between the rows and the centres.
    tol : float, default 1e-10
        > 0. With more than 2000 features the linear system is solved by conjugate gradients, which end when the norm of
        its residual is at most `tol` times that of d.
    max_iter : int, default 1000
        Most steps of the conjugate gradients.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; equal to repeating rows. Rows of weight 0 are left out.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the centres.
    n_threads : int, optional
        Most threads to use; by default the CPUs this process may use. The model is bitwise the same for all. Only basis
        functions and scores are computed by several threads.

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
    beside X, whatever the number of pairs is. With more than 2000 features O(entries of X) a step, and memory O(n + d).
    CSR is never made dense, except for columns that more than half of the rows fill. Adding a constant to a feature
    does not change a linear model, apart from rounding. The system is made from rows shifted to their middle, solved on
    features of one scale, and for a linear f corrected by its residual on the rows: features of any size and offset
    keep their digits, and `history["residual"]` is that of the rows.

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
    lams, single = check_lams(lam)
    features = check_basis(
        basis=basis, n_centers=n_centers, centers=centers, bandwidth=bandwidth, tol=tol, max_iter=max_iter
    )
    rows = open_rows(
        X,
        y,
        function="fit_ls_auc",
        groups=(1, -1),
        sample_weight=sample_weight,
        random_state=random_state,
        n_threads=n_threads,
    )
    require_groups(rows, (1, -1))
    points = [Point(_pn_form(), value, (1, -1), {}) for value in lams]
    models = fit_points(rows, features, points)
    return models[0] if single else models


@overload
def fit_samult(
    X: object, y: object, *, gamma: float = ..., lam: float = ..., **options: Unpack[RankArguments]
) -> RankMachine: ...


@overload
def fit_samult(
    X: object,
    y: object,
    *,
    gamma: float = ...,
    lam: Sequence[float] | NDArray[Any],
    **options: Unpack[RankArguments],
) -> list[RankMachine]: ...


@answers_unknown_keywords
@shares_work("lam")
def fit_samult(
    X: object,
    y: object,
    *,
    gamma: float = 0.5,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    basis: str = "linear",
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

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        As in `fit_ls_auc`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative; there must be rows of all three.
    gamma : float, default 0.5
        In [0, 1]; 1 is `fit_ls_auc`.
    lam : float, or a sequence of them, default 1e-3
        Ridge weights >= 0. A sequence gives a list of models.
    basis, n_centers, centers, bandwidth, tol, max_iter, sample_weight, random_state, n_threads
        As in `fit_ls_auc`. Centres are drawn from all rows.

    Returns
    -------
    RankMachine, or a list of them
        Its threshold is that of the best balanced accuracy between labelled positive and negative training rows.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_ls_auc`; also if `y` has no unlabelled row.

    Warns
    -----
    ConvergenceWarning, DegenerateModelWarning
        As in `fit_ls_auc`.

    Notes
    -----
    Costs as in `fit_ls_auc`.

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
    lams, single = check_lams(lam)
    features = check_basis(
        basis=basis, n_centers=n_centers, centers=centers, bandwidth=bandwidth, tol=tol, max_iter=max_iter
    )
    rows = open_rows(
        X,
        y,
        function="fit_samult",
        groups=(1, 0, -1),
        sample_weight=sample_weight,
        random_state=random_state,
        n_threads=n_threads,
    )
    require_groups(rows, (1, 0, -1))
    points = [Point(_samult_form(share), value, (1, -1), {"gamma": share}) for value in lams]
    models = fit_points(rows, features, points)
    return models[0] if single else models


@overload
def fit_pnu_auc(
    X: object,
    y: object,
    *,
    prior: float,
    scenario: str = ...,
    eta: float = ...,
    lam: float = ...,
    **options: Unpack[RankArguments],
) -> RankMachine: ...


@overload
def fit_pnu_auc(
    X: object,
    y: object,
    *,
    prior: float,
    scenario: str = ...,
    eta: float = ...,
    lam: Sequence[float] | NDArray[Any],
    **options: Unpack[RankArguments],
) -> list[RankMachine]: ...


@answers_unknown_keywords
@shares_work("lam")
def fit_pnu_auc(
    X: object,
    y: object,
    *,
    prior: float,
    scenario: str = "case_control",
    eta: float = 0.0,
    lam: float | Sequence[float] | NDArray[Any] = 1e-3,
    basis: str = "linear",
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

    R_pp and R_nn are over all pairs of two rows of a group, a row with itself included.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        As in `fit_ls_auc`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled, -1 negative. Positive and negative rows are needed for eta = 0, positive and
        unlabelled ones for eta = 1, negative and unlabelled ones for eta = -1, all three between these.
    prior : float
        pi, P(Y = 1) among the unlabelled rows, in (0, 1); among all rows with ``scenario="single_set"``.
    scenario : {"case_control", "single_set"}, default "case_control"
        How rows were drawn: labelled and unlabelled rows apart, or all together, of which some were then labelled.
        `prior` is then converted, (prior n - n_pos) / n_unl.
    eta : float, default 0
        In [-1, 1]; 0 is `fit_ls_auc`. To be chosen on held-out rows.
    lam : float, or a sequence of them, default 1e-3
        Ridge weights >= 0. A sequence gives a list of models.
    basis, n_centers, centers, bandwidth, tol, max_iter, sample_weight, random_state, n_threads
        As in `fit_ls_auc`. Centres are drawn from all rows.

    Returns
    -------
    RankMachine, or a list of them
        Its threshold is that of the best balanced accuracy between labelled positive and negative training rows, or
        between unlabelled rows and those of the two that there are.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_ls_auc`; also if a group of rows that `eta` asks for is missing, or if by `prior` all unlabelled rows
        are of the class whose labelled rows `eta` uses.

    Warns
    -----
    ConvergenceWarning
        If the objective has no minimum (see Notes), or conjugate gradients do not meet `tol`.
    DegenerateModelWarning
        As in `fit_ls_auc`.

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

    Costs as in `fit_ls_auc`.

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
    >>> len(fastpu.baselines.fit_pnu_auc(rows, y, prior=0.45, eta=1, lam=[0.01, 0.1, 1]))
    3
    """
    given, drawn_as = check_prior(prior), check_scenario(scenario)
    mix = check_float("eta", eta, low=-1, high=1)
    lams, single = check_lams(lam)
    features = check_basis(
        basis=basis, n_centers=n_centers, centers=centers, bandwidth=bandwidth, tol=tol, max_iter=max_iter
    )
    rows = open_rows(
        X,
        y,
        function="fit_pnu_auc",
        groups=(1, 0, -1),
        sample_weight=sample_weight,
        random_state=random_state,
        n_threads=n_threads,
    )
    needed = tuple(g for g, is_needed in ((1, mix > -1), (0, mix != 0), (-1, mix < 1)) if is_needed)
    require_groups(rows, needed, f" with eta = {mix:g}")
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
    form = _pnu_form(mix, share)
    absent, present = (1 - share, share) if mix > 0 else (share, 1 - share)
    bound = min(1.0, absent / present) if present > 0 else 1.0
    advice = f"It always has one for |eta| <= {bound:.3g}: bring eta nearer 0, raise lam, or use fewer centres"
    sides = (1 if n_pos else 0, -1 if n_neg else 0)
    params = {"prior": given, "scenario": drawn_as, "prior_among_unlabeled": share, "eta": mix}
    models = fit_points(rows, features, [Point(form, value, sides, params, advice) for value in lams])
    return models[0] if single else models


def _pn_form() -> Form:
    return Form(1.0, {1: 1.0, -1: 1.0}, {(1, -1): 1.0}, {(1, -1): 1.0})


def _samult_form(gamma: float) -> Form:
    rest = 1 - gamma
    return Form(
        gamma + 2 * rest,
        {1: 1.0, 0: 2 * rest, -1: 1.0},
        {(1, -1): gamma, (1, 0): rest, (0, -1): rest},
        {(1, -1): 1.0},
    )


def _pnu_form(eta: float, prior: float) -> Form:
    labelled, known = 1 - abs(eta), 1 if eta > 0 else -1
    if eta == 0:
        return _pn_form()
    # The labelled group that R_x is made from, and its share among the unlabelled rows.
    share = prior if eta > 0 else 1 - prior
    factor = abs(eta) / (1 - share)
    pair = (1, 0) if eta > 0 else (0, -1)
    spread = {known: labelled + factor * (1 - 2 * share), 0: factor}
    between = {pair: factor}
    slope = {pair: factor}
    if labelled:
        spread[-known] = labelled
        between[1, -1] = slope[1, -1] = labelled
    return Form(1.0, spread, between, slope)
