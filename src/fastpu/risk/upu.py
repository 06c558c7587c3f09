"""uPU: classifiers from an unbiased estimate of the risk, without labelled negatives."""

from __future__ import annotations

from typing import Literal

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_choice, check_float, check_int, check_random_state
from fastpu.common._progress import make_report, on_round
from fastpu.common._text import columns_named
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, RoundCallback, Scenario, VectorLike
from fastpu.common._warn import warn
from fastpu.exceptions import ConvergenceWarning
from fastpu.kernels._gauss_basis import check_bandwidth
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._prior import PriorEstimate, proper_prior, take_prior_in
from fastpu.model._with_profile import with_profile
from fastpu.risk._model_form import FormName, ModelForm, check_n_centers
from fastpu.risk._one_class_warning import warn_of_one_class
from fastpu.risk._options import RiskLoss, UpuOptions, check_lam
from fastpu.risk._risk_rows import open_risk_rows
from fastpu.risk.risk_machine import RiskMachine, RiskRound


@answers_unknown_keywords
def fit_upu(
    X: MatrixLike,
    y: LabelsLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    lam: float | None = None,
    loss: Literal["logistic", "squared"] = "logistic",
    model: Literal["linear", "gauss"] = "linear",
    n_centers: int = 200,
    centers: MatrixLike | None = None,
    bandwidth: float | None = None,
    tol: float = 1e-10,
    max_iter: int = 200,
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[RiskRound] | None = None,
    progress: bool = False,
) -> RiskMachine:
    """uPU: minimise an unbiased estimate of the risk of a classifier from positive and unlabelled rows.

    It is for a classifier from positive and unlabelled rows whose class prior is known. The classifier is linear, or
    linear in Gaussian basis functions; with the default loss its scores are log odds. Standardise the columns. For a
    network, and for the sigmoid loss, take `fit_nnpu`.

    Let pi be the share of positives among the unlabelled rows, l a loss, mean_p the mean over positive rows, and mean_u
    that over unlabelled rows. The fit minimises

        R(f) = pi mean_p l(f) + [ mean_u l(-f) - pi mean_p l(-f) ]  (+ lam/2 |weights|^2),

    which estimates the risk of f on the population of the unlabelled rows. The brackets stand for the negatives, none
    of which is known. The losses are

        logistic  l(z) = log(1 + e^-z)        squared  (1 - z)^2 / 4.

    For both, l(z) - l(-z) = -z. So R is convex for a model that is linear in its weights: it is -pi mean_p f + mean_u
    log(1 + e^f) or -pi mean_p f + mean_u (1 + f)^2 / 4. Newton's method minimises it; the squared loss has a closed
    form.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Bring the features to one
        scale, for example by standardising them.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    prior : float or PriorEstimate
        pi, the share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``,
        among all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all n rows, because they are one sample and some of its positives were
        labelled. That share is converted to (prior n - n_pos) / n_unl, the share among the unlabelled rows.
    lam : float, optional
        The weight of the ridge penalty on all weights but the intercept, >= 0. Its effect depends on the scales of the
        columns. The default for "linear" is pi / sqrt(n_pos) times the square of the size of the columns (see Notes),
        and for "gauss" a twentieth of pi / sqrt(n_pos). Here n_pos is the number of positive rows, or the sum of their
        weights if that is more: the fewer there are, the less certain is their mean.
    loss : {"logistic", "squared"}, default "logistic"
        The loss l (see the formulas above).
    model : {"linear", "gauss"}, default "linear"
        The kind of function f. "linear" is f(x) = coef'x + intercept. "gauss" is linear in the basis functions exp(-|x
        - c|^2 / (2 bandwidth^2)) around centres c.
    n_centers : int, default 200
        The most centres of "gauss", >= 1. They are drawn from the rows of `X`, no two of them equal.
    centers : array-like or CSR matrix of shape (n_centers, d), optional
        The centres of "gauss". By default they are drawn from the rows of `X`.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. By default the median distance between the rows and the
        centres.
    tol : float, default 1e-10
        Newton's method ends when its decrement, about twice R - min R, is at most ``tol * |R|``. It must be > 0.
    max_iter : int, default 200
        The most steps of Newton's method, >= 1.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the centres. An int gives the same result in every call. A generator is drawn from,
        and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: RiskRound) -> bool | None``, called after each step. If it returns True, the fit ends.
    progress : bool, default False
        Whether to show a progress bar that counts steps of the solver. The bar is that of tqdm; without tqdm a line is
        printed to standard error every ten seconds.

    Returns
    -------
    RiskMachine
        The threshold is 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. They are
        also raised if R has no minimum, which happens with ``lam=0`` where rows can be separated. The message names the
        argument.
    MemoryError
        If there is too little memory; the message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If Newton's method does not meet `tol`.
    DegenerateModelWarning
        If the model calls all training rows positive or all negative, or all unlabelled ones although by the prior some
        are of the other class.

    Notes
    -----
    A step of Newton's method takes O(n d^2), and 5 to 10 steps are usual. With more than 2000 weights a step is made by
    conjugate gradients, each of which takes O(entries of X). Memory beside `X` is O(n + d^2); "gauss" holds a number
    for each row and centre.

    The size of the columns is m / sqrt(s). Here m is the median over the columns of the root mean square of their
    entries that are not 0, and s is the mean share of such entries. A column whose mean is further from 0 than its
    standard deviation counts with that deviation in place of the root mean square, and with the share 1. It is 1 for
    standardised columns, and near 1 for text whose rows have the length 1. So with the default `lam` a common factor of
    all columns only divides the coefficients by it. A `lam` of your own must be multiplied by its square to have the
    same effect.

    The scales of the columns matter to Newton's method only through `lam`. If `lam` is tiny and the rows can be
    separated, scores are so large that the logistic risk is nearly piecewise linear. The method then minimises smoothed
    risks, one after the other. `objective` has the least risk so far, and the status "tol" says that an upper bound of
    R - min R is at most ``tol * |R|``.

    A flexible model can drive the unbiased risk below 0, where it fits the labelled rows too closely. `fit_nnpu` takes
    such steps back; with a large `beta` it follows the risk of uPU.

    References
    ----------
    du Plessis, Niu and Sugiyama, "Convex formulation for learning from positive and unlabeled data", ICML 2015.

    Examples
    --------
    >>> import fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(400, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=40, random_state=0)
    >>> rows, y = X[split.train], split.y_train
    >>> model = fastpu.fit_upu(rows, y, prior=0.45)
    >>> model.status
    'tol'
    >>> model.coef.shape
    (2,)
    """
    other = " (fit_nnpu trains others)"
    form_name: FormName = check_choice("model", model, ("linear", "gauss"), other)
    loss_name: RiskLoss = check_choice("loss", loss, ("logistic", "squared"), other)
    given_prior, drawn_as = take_prior_in(scenario, prior)
    options = UpuOptions(
        prior=given_prior,
        scenario=drawn_as,
        lam=check_lam(lam),
        loss=loss_name,
        form=ModelForm(
            model=form_name,
            n_centers=check_n_centers(n_centers),
            centers=centers,
            bandwidth=check_bandwidth(form_name, centers, bandwidth),
        ),
        tol=check_float("tol", tol, low=0, open_low=True),
        max_iter=check_int("max_iter", max_iter, low=1),
        generator=check_random_state(random_state),
        n_threads=resolve_n_threads(n_threads),
    )
    rows = open_risk_rows(X, y, sample_weight, options)
    if form_name != "linear" or rows.lam > 0:  # else the scale of columns does not matter
        warn_of_scales(rows.matrix)
    # At a prior of 0 or 1 the best intercept would be infinite.
    proper_prior(options.prior, options.scenario, n_pos=rows.mass(1), n_unl=rows.mass(0))

    def record(step: int, risk: float) -> RiskRound:
        return RiskRound(step, options.max_iter, risk, None, 0)

    names = rows.matrix.feature_names if rows.basis.name == "linear" else None
    with make_report(callback, progress, total=None, description="uPU") as report, columns_named(names):
        result = _core.fit_upu(
            rows.basis.features,
            rows.labels,
            rows.weights,
            _core.UpuOptions(
                loss=options.loss,
                prior=rows.prior,
                lam=rows.lam,
                tol=options.tol,
                max_iter=min(options.max_iter, MANY),
            ),
            callback=on_round(report, record),
            n_threads=options.n_threads,
        )
    risks = result.risks
    if result.status == "unbounded":
        raise ValueError(
            f"lam must be > 0 for these rows, got 0: the {options.loss} risk has no minimum without a penalty, because "
            f"it falls for ever as the weights grow (it is {risks[-1]:.4g} after {len(risks) - 1} steps)"
        )
    kept_centers = rows.basis.center_arrays
    machine = RiskMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        basis=rows.basis.name,
        bandwidth=rows.basis.bandwidth,
        centers_dense=kept_centers.dense,
        centers_data=kept_centers.data,
        centers_indices=kept_centers.indices,
        centers_indptr=kept_centers.indptr,
        coef=result.coef,
        intercept=result.intercept,
        n_iter=len(risks) - 1,
        converged=result.status == "tol",
        status=result.status,
        objective=risks,
        history={"risk": risks},
        params=rows.params(),
    )
    if result.status in ("max_iter", "precision"):
        _warn_of_unconverged(result, options)
    warn_of_one_class(machine, rows)
    return with_profile(machine, X, y, sample_weight)


def _warn_of_unconverged(result: _core.UpuResult, options: UpuOptions) -> None:
    risk, n_steps = float(result.risks[-1]), len(result.risks) - 1
    if result.status == "max_iter":
        reason, advice = f"after max_iter = {n_steps} steps", "raise max_iter, scale the features of X, or raise lam"
    else:
        reason, advice = f"after {n_steps} steps, ended by rounding errors", "scale the features of X, or raise lam"
    warn(
        f"fit_upu: not converged {reason}: the Newton decrement {result.decrement:.3g} exceeds tol * |risk| = "
        f"{options.tol * abs(risk):.3g} (tol = {options.tol:g}); {advice}",
        ConvergenceWarning,
    )
