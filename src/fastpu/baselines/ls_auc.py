"""AUC by squared losses of pairs in closed form: LSAUC, SAMULT and PNU-AUC."""

from __future__ import annotations

from fastpu.baselines._pair_options import (
    ModelName,
    PairOptions,
    Ridges,
    check_pair_groups,
    make_basis,
    read_pair_rows,
)
from fastpu.baselines._rank_models import make_rank_models, solve_pairs
from fastpu.baselines._squared_pairs import PairTerm
from fastpu.baselines.rank_machine import RankMachine
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_random_state
from fastpu.common._sharing import marked
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, Scenario, VectorLike
from fastpu.model._prior import PriorEstimate, prior_among_unlabeled, take_prior_in
from fastpu.model._with_profile import with_profiles


@answers_unknown_keywords
@marked(shares=("lam",))
def fit_ls_auc(
    X: MatrixLike,
    y: LabelsLike,
    *,
    lam: Ridges = 1e-3,
    model: ModelName = "linear",
    n_centers: int = 200,
    centers: MatrixLike | None = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """LSAUC: rank labelled positive above labelled negative rows, by a squared loss of pairs, in closed form.

    It is for a quick ranking, linear or by a Gaussian basis, from labelled positives and labelled negatives, for any
    number of pairs. Unlabelled rows are left out. Fit it beside `fit_samult` or `fit_pnu_auc` to see whether unlabelled
    rows help.

    The fit minimises over w, with f(x) = w'phi(x) and means over positive (p) and negative (n) rows,

        mean_pn (1 - f(x_p) + f(x_n))^2 + lam |w|^2.

    No pair is formed: with means m and covariances S of phi in the two groups, the minimum solves

        (S_p + S_n + d d' + lam) w = d,    d = m_p - m_n.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy if every row is used. Bring
        the features to one scale, because `lam` is the same for all.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, -1 for labelled negative rows, 0 for unlabelled rows, which are left out.
    lam : float, or a sequence of them, default 1e-3
        The weight of the ridge penalty, >= 0. A sequence gives a list with a model for each entry; means and
        covariances are computed once for all.
    model : {"linear", "gauss"}, default "linear"
        The kind of function f. "linear" is linear in the features. "gauss" is linear in the basis functions exp(-|x -
        c|^2 / (2 bandwidth^2)) around centres c.
    n_centers : int, default 200
        The number of centres of "gauss", >= 1, if `centers` is left out. The rows, in their order, are cut into parts
        of equal weight, and one row is drawn from each. Equal rows count as one.
    centers : array-like or CSR matrix of shape (k, d), optional
        The centres of "gauss". By default they are drawn from the rows.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. By default the median distance between the rows and the
        centres.
    tol : float, default 1e-10
        With more than 2000 features the linear system is solved by conjugate gradients. They end when the norm of the
        residual is at most `tol` times that of the right side. It must be > 0.
    max_iter : int, default 1000
        The most steps of the conjugate gradients, >= 1.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the centres. An int gives the same result in every call. A generator is drawn from,
        and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. Only basis functions and
        scores are computed by several threads. With another BLAS the last digits of the model may differ.

    Returns
    -------
    RankMachine, or a list of them
        The model, or one for each `lam`. Its threshold has the best balanced accuracy between positive and negative
        training rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has no positive or no negative row, or squares of features overflow. The
        message names the argument.
    MemoryError
        If there is too little memory for the matrices of the basis functions. The message says how many bytes were
        needed.

    Warns
    -----
    ConvergenceWarning
        If conjugate gradients do not meet `tol`.
    DegenerateModelWarning
        If the model scores every row 0, or calls no training row positive, or all of them.
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    O(n k^2 + k^3) time for k basis functions or features (in CSR n times the squared number of entries of a row), and
    O(k^2) memory beside X and the n k values of basis functions, for any number of pairs. With more than 2000 features
    it is O(entries of X) a step, and O(n + d) memory. CSR is never made dense, except for columns that more than half
    of the rows fill. Adding a constant to a feature does not change a linear model, apart from rounding.
    The system is made from rows that are shifted to their middle, solved on features of one scale, and for a linear f
    corrected by its residual on the rows. So features of any size and offset keep their digits, and
    `history["residual"]` is that of the rows.

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
    options = PairOptions(
        function="fit_ls_auc",
        lam=lam,
        model=model,
        n_centers=n_centers,
        centers=centers,
        bandwidth=bandwidth,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
    )
    generator = check_random_state(random_state)
    rows = read_pair_rows(X, y, sample_weight, options, labels=(1, -1))
    check_pair_groups(rows, options, needed=(1, -1))
    basis = make_basis(rows, options, generator)
    solutions = solve_pairs(options, rows, basis, [PairTerm(1.0, 1, -1)])
    models = make_rank_models(options, rows, basis, solutions, own_params={})
    models = with_profiles(models, X, y, sample_weight)
    return models[0] if options.is_one else models


@answers_unknown_keywords
@marked(shares=("lam",))
def fit_samult(
    X: MatrixLike,
    y: LabelsLike,
    *,
    gamma: float = 0.5,
    lam: Ridges = 1e-3,
    model: ModelName = "linear",
    n_centers: int = 200,
    centers: MatrixLike | None = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """SAMULT: semi-supervised AUC by squared losses, without a class prior.

    It is for a quick ranking, linear or by a Gaussian basis, from positive, negative and unlabelled rows whose class
    prior is not known. Without labelled negatives take `fit_pnu_auc` if the prior is known, and
    `fastpu.fit_pnu_auc_boost` if it is not.

    The fit minimises over w, with f(x) = w'phi(x) and R_gh(f) = mean_gh (1 - f(x_g) + f(x_h))^2 over pairs of rows of
    two groups,

        gamma R_pn(f) + (1 - gamma) (R_pu(f) + R_un(f)) + lam |w|^2.

    For the share of pairs in the wrong order (the 0-1 loss), R_pu + R_un - 1/2 estimates R_pn whatever share of the
    unlabelled rows is positive. That is why no prior is needed. With D_gh = S_g + S_h + (m_g - m_h)(m_g - m_h)', made
    of covariances and means, the minimum solves

        (gamma D_pn + (1 - gamma) (D_pu + D_un) + lam) w = m_p - m_n.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy if every row is used. Bring
        the features to one scale, because `lam` is the same for all.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative rows. There must be rows
        of all three.
    gamma : float, default 0.5
        The weight of the labelled pairs, in [0, 1]. With 1 the objective is that of `fit_ls_auc`.
    lam : float, or a sequence of them, default 1e-3
        The weight of the ridge penalty, >= 0. A sequence gives a list with a model for each entry; means and
        covariances are computed once for all.
    model : {"linear", "gauss"}, default "linear"
        The kind of function f. "linear" is linear in the features. "gauss" is linear in the basis functions exp(-|x -
        c|^2 / (2 bandwidth^2)) around centres c.
    n_centers : int, default 200
        The number of centres of "gauss", >= 1, if `centers` is left out. The rows, in their order, are cut into parts
        of equal weight, and one row is drawn from each. Equal rows count as one.
    centers : array-like or CSR matrix of shape (k, d), optional
        The centres of "gauss". By default they are drawn from the rows.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. By default the median distance between the rows and the
        centres.
    tol : float, default 1e-10
        With more than 2000 features the linear system is solved by conjugate gradients. They end when the norm of the
        residual is at most `tol` times that of the right side. It must be > 0.
    max_iter : int, default 1000
        The most steps of the conjugate gradients, >= 1.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the centres. An int gives the same result in every call. A generator is drawn from,
        and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. Only basis functions and
        scores are computed by several threads. With another BLAS the last digits of the model may differ.

    Returns
    -------
    RankMachine, or a list of them
        The model, or one for each `lam`. Its threshold has the best balanced accuracy between positive and negative
        training rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has no row of one of the three groups, or squares of features overflow.
        The message names the argument.
    MemoryError
        If there is too little memory for the matrices of the basis functions. The message says how many bytes were
        needed.

    Warns
    -----
    ConvergenceWarning
        If conjugate gradients do not meet `tol`.
    DegenerateModelWarning
        If the model scores every row 0, or calls no training row positive, or all of them.
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    O(n k^2 + k^3) time for k basis functions or features (in CSR n times the squared number of entries of a row), and
    O(k^2) memory beside X and the n k values of basis functions, for any number of pairs. With more than 2000 features
    it is O(entries of X) a step, and O(n + d) memory. CSR is never made dense, except for columns that more than half
    of the rows fill. Adding a constant to a feature does not change a linear model, apart from rounding.

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
    options = PairOptions(
        function="fit_samult",
        lam=lam,
        model=model,
        n_centers=n_centers,
        centers=centers,
        bandwidth=bandwidth,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
    )
    generator = check_random_state(random_state)
    rows = read_pair_rows(X, y, sample_weight, options, labels=(1, 0, -1))
    check_pair_groups(rows, options, needed=(1, 0, -1))
    basis = make_basis(rows, options, generator)
    terms = [PairTerm(share, 1, -1), PairTerm(1 - share, 1, 0), PairTerm(1 - share, 0, -1)]
    solutions = solve_pairs(options, rows, basis, terms)
    models = make_rank_models(options, rows, basis, solutions, own_params={"gamma": share})
    models = with_profiles(models, X, y, sample_weight)
    return models[0] if options.is_one else models


@answers_unknown_keywords
@marked(shares=("lam",))
def fit_pnu_auc(
    X: MatrixLike,
    y: LabelsLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    eta: float = 0.0,
    lam: Ridges = 1e-3,
    model: ModelName = "linear",
    n_centers: int = 200,
    centers: MatrixLike | None = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> RankMachine | list[RankMachine]:
    """PNU-AUC: AUC by squared losses from positive, negative and unlabelled rows whose class prior is known.

    It is for a quick ranking, linear or by a Gaussian basis, if the prior is known well and labelled rows of one class
    are few or missing. ``eta=1`` needs no negatives, and ``eta=-1`` no positives. If the prior is a guess, take
    `fit_samult`.

    The fit minimises over w, with f(x) = w'phi(x), R_gh(f) = mean_gh (1 - f(x_g) + f(x_h))^2 over pairs of rows of two
    groups, and a share pi of positives among the unlabelled rows,

        (1 - |eta|) R_pn(f) + |eta| R_x(f) + lam |w|^2,

    where R_x is an unbiased estimate of R_pn without one of the two labelled groups:

        eta > 0:  (R_pu - pi R_pp) / (1 - pi)    from positive and unlabelled rows (PU-AUC for eta = 1),
        eta < 0:  (R_un - (1 - pi) R_nn) / pi    from negative and unlabelled rows (NU-AUC for eta = -1).

    R_pp and R_nn are means over all pairs of two rows of a group, a row with itself included.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy if every row is used. Bring
        the features to one scale, because `lam` is the same for all.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative rows. ``eta=0`` needs
        positive and negative rows, ``eta=1`` positive and unlabelled ones, ``eta=-1`` negative and unlabelled ones, and
        any other `eta` all three.
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all n rows, because they are one sample and some of its positives were
        labelled. That share is converted to (prior n - n_pos) / n_unl, the share among the unlabelled rows.
    eta : float, default 0
        The weight of the unlabelled rows, in [-1, 1]. 0 is `fit_ls_auc`. Choose it on held-out rows.
    lam : float, or a sequence of them, default 1e-3
        The weight of the ridge penalty, >= 0. A sequence gives a list with a model for each entry; means and
        covariances are computed once for all.
    model : {"linear", "gauss"}, default "linear"
        The kind of function f. "linear" is linear in the features. "gauss" is linear in the basis functions exp(-|x -
        c|^2 / (2 bandwidth^2)) around centres c.
    n_centers : int, default 200
        The number of centres of "gauss", >= 1, if `centers` is left out. The rows, in their order, are cut into parts
        of equal weight, and one row is drawn from each. Equal rows count as one.
    centers : array-like or CSR matrix of shape (k, d), optional
        The centres of "gauss". By default they are drawn from the rows.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. By default the median distance between the rows and the
        centres.
    tol : float, default 1e-10
        With more than 2000 features the linear system is solved by conjugate gradients. They end when the norm of the
        residual is at most `tol` times that of the right side. It must be > 0.
    max_iter : int, default 1000
        The most steps of the conjugate gradients, >= 1.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the centres. An int gives the same result in every call. A generator is drawn from,
        and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. Only basis functions and
        scores are computed by several threads. With another BLAS the last digits of the model may differ.

    Returns
    -------
    RankMachine, or a list of them
        The model, or one for each `lam`. Its threshold has the best balanced accuracy between positive and negative
        training rows. If one of the two groups has no rows, the unlabelled rows take its place.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has no row of a group that `eta` needs, by `prior` all unlabelled
        rows are of the class whose labelled rows `eta` uses, or squares of features overflow. The message names the
        argument.
    MemoryError
        If there is too little memory for the matrices of the basis functions. The message says how many bytes were
        needed.

    Warns
    -----
    ConvergenceWarning
        If conjugate gradients do not meet `tol`, or the objective has no minimum (see Notes).
    DegenerateModelWarning
        If the model scores every row 0, or calls no training row positive, or all of them.
    LabelWarning
        If `sample_weight` is one number for each label, which changes nothing.

    Notes
    -----
    The covariance of the positive rows has the factor 1 - eta pi / (1 - pi) for eta > 0, and that of the negative rows
    has 1 - |eta| (1 - pi) / pi for eta < 0. All other terms are positive. So there is always a minimum if

        eta <= (1 - pi) / pi   and   -eta <= pi / (1 - pi).

    Otherwise the matrix of the system can be indefinite, and the objective unbounded below. The fit checks this: the
    model then has the status "indefinite", and `converged` is False. It holds the point at which the gradient is 0,
    which published programs return without a warning. With more than 2000 features it holds the last step of the
    conjugate gradients, which notice the lack of a minimum only if they meet a direction of negative curvature. A
    larger `lam`, an `eta` nearer 0 or fewer centres help.

    O(n k^2 + k^3) time for k basis functions or features (in CSR n times the squared number of entries of a row), and
    O(k^2) memory beside X and the n k values of basis functions, for any number of pairs. With more than 2000 features
    it is O(entries of X) a step, and O(n + d) memory. CSR is never made dense, except for columns that more than half
    of the rows fill. Adding a constant to a feature does not change a linear model, apart from rounding.

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
    known_prior, drawn_as = take_prior_in(scenario, prior)
    mix = check_float("eta", eta, low=-1, high=1)
    needed = tuple(g for g, is_needed in ((1, mix > -1), (0, mix != 0), (-1, mix < 1)) if is_needed)
    options = PairOptions(
        function="fit_pnu_auc",
        lam=lam,
        model=model,
        n_centers=n_centers,
        centers=centers,
        bandwidth=bandwidth,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
    )
    generator = check_random_state(random_state)
    rows = read_pair_rows(X, y, sample_weight, options, labels=(1, 0, -1))
    check_pair_groups(rows, options, needed, f" with eta = {mix:g}")
    basis = make_basis(rows, options, generator)
    n_pos, n_unl, n_neg = (rows.mass(g) for g in (1, 0, -1))
    share = known_prior
    if n_unl:
        share = prior_among_unlabeled(known_prior, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=drawn_as)
    if (mix > 0 and share == 1) or (mix < 0 and share == 0):
        left, other = ("negative", "smaller") if mix > 0 else ("positive", "larger")
        raise ValueError(
            f"prior must be {other} with eta = {mix:g}: by {known_prior:g} and scenario={drawn_as!r} no unlabelled "
            f"row is {left}, got a share of {share:g} positives among them"
        )
    # The labelled group that R_x is made from, and its share among the unlabelled rows.
    own_label, present = (1, share) if mix > 0 else (-1, 1 - share)
    terms = [PairTerm(1 - abs(mix), 1, -1)] if abs(mix) < 1 else []
    if mix:
        factor = abs(mix) / (1 - present)
        terms.append(PairTerm(factor, 1, 0) if mix > 0 else PairTerm(factor, 0, -1))
        terms.append(PairTerm(-factor * present, own_label, own_label))
    bound = min(1.0, (1 - present) / present) if present > 0 else 1.0
    advice = f"It always has one for |eta| <= {bound:.3g}: bring eta nearer 0, raise lam, or use fewer centres"
    own_params: dict[str, object] = {
        "prior": known_prior,
        "scenario": drawn_as,
        "prior_among_unlabeled": share,
        "eta": mix,
    }
    solutions = solve_pairs(options, rows, basis, terms)
    models = make_rank_models(options, rows, basis, solutions, own_params, advice)
    models = with_profiles(models, X, y, sample_weight)
    return models[0] if options.is_one else models
