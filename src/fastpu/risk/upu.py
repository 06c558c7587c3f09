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
from fastpu.model._profile import keeps_profile
from fastpu.risk._model_form import ModelForm, check_n_centers
from fastpu.risk._one_class_warning import warn_of_one_class
from fastpu.risk._options import UpuOptions, check_lam
from fastpu.risk._risk_rows import open_risk_rows
from fastpu.risk.risk_machine import RiskMachine, RiskRound


@answers_unknown_keywords
@keeps_profile
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

    It is for a classifier from positive and unlabelled rows whose class prior is known, linear or by a Gaussian basis;
    with the default loss its scores are log odds. Standardise the columns. For a network, and for the sigmoid loss,
    take `fit_nnpu`.

    With the share pi of positives among unlabelled rows, a loss l, and means over positive (p) and unlabelled (u) rows,

        R(f) = pi mean_p l(f) + [ mean_u l(-f) - pi mean_p l(-f) ]  (+ lam/2 |weights|^2)

    is the risk of f on the population of the unlabelled rows. What is in brackets stands for the negatives, none of
    which is known. The losses are

        logistic  l(z) = log(1 + e^-z)        squared  (1 - z)^2 / 4.

    For these l(z) - l(-z) = -z, and R is convex for a model that is linear in its weights,
    -pi mean_p f + mean_u log(1 + e^f) or -pi mean_p f + mean_u (1 + f)^2 / 4: it is minimised by Newton's method, the
    squared loss in closed form.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy. Features on one scale help.
    y : array-like of shape (n,)
        +1 for labelled positives, 0 for unlabelled rows; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    prior : float or PriorEstimate
        pi, the share P(Y = 1) of positives among the unlabelled rows, in (0, 1). With ``scenario="single_set"`` it is
        the share among all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": positives and unlabelled rows apart. "single_set": all together, of
        which some positives were then labelled; `prior` is converted to (prior n - n_pos) / n_unl.
    lam : float, optional
        The weight of the ridge penalty on all weights but the intercept, >= 0. Its effect depends on the scales of the
        columns. The default for "linear" is pi / sqrt(n_pos) times the square of the size of the columns (see Notes),
        and for "gauss" a twentieth of pi / sqrt(n_pos). Here n_pos is the number of positive rows, or the sum of their
        weights if that is more: the fewer there are, the less certain is their mean.
    loss : {"logistic", "squared"}, default "logistic"
        The loss l.
    model : {"linear", "gauss"}, default "linear"
        "linear" is f(x) = coef'x + intercept. "gauss" is the same in exp(-|x - c|^2 / (2 bandwidth^2)) for centres c.
    n_centers : int, default 200
        The most centres of "gauss". They are drawn from the rows of `X` by `random_state`, no two of them equal.
    centers : array-like or CSR matrix of shape (n_centers, d), optional
        The centres of "gauss", in place of drawn ones.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. The default is the median distance between the rows and the
        centres.
    tol : float, default 1e-10
        Newton's method ends when its decrement, about twice R - min R, is at most ``tol * |R|``.
    max_iter : int, default 200
        The most steps of Newton's method.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1; equal to repeating rows. Rows of weight 0 are left out.
    random_state : int, numpy.random.Generator or None
        Draws the centres.
    n_threads : int, optional
        The most threads to use; by default the CPUs that this process may use. The model is bitwise the same for all.
    callback : callable, optional
        ``callback(info: RiskRound) -> bool``, called after each step. True ends the fit.
    progress : bool, default False
        Show a progress bar (tqdm if installed) that counts the steps.

    Returns
    -------
    RiskMachine
        The threshold is 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. Also if R
        has no minimum, which happens with ``lam=0`` where rows can be separated. The message names the argument.
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
    A step of Newton's method takes O(n d^2), some 5 to 10 of them are usual; with more than 2000 weights O(entries of
    X) for each product of the conjugate gradients in it. Memory beside X: O(n + d^2). "gauss" holds n times as many
    numbers as there are centres.

    The size of the columns is the median of the root mean squares of their entries that are not 0, divided by the root
    of the share of such entries; of a column whose mean is further from 0 than its standard deviation that deviation
    counts, with a share of 1. It is 1 for standardised columns, and near 1 for text whose rows have the length 1. So a
    common factor of all columns changes nothing but the units of the coefficients and of `lam`, which must be divided
    by it and multiplied by its square.

    Scales of columns matter to Newton's method only through `lam`. If `lam` is tiny beside the squares of rows that can
    be separated, scores are so large that the logistic risk is nearly piecewise linear. The method then minimises
    smoothed risks, one after the other; `objective` has the least risk so far, and "tol" says that an upper bound of
    R - min R is at most ``tol * |R|``.

    The unbiased risk of a flexible model can be driven below 0, where it fits the labelled rows too closely;
    `fit_nnpu` takes such steps back, or with a large `beta` follows this risk.

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
    form_name = check_choice("model", model, ("linear", "gauss"), other)
    loss_name = check_choice("loss", loss, ("logistic", "squared"), other)
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
            f"lam = 0 leaves the {options.loss} risk without a minimum on these rows, as positive rows can be moved "
            f"away from unlabelled ones for ever: it is {risks[-1]:.4g} after {len(risks) - 1} steps; pass lam > 0"
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
    return machine


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
