"""nnPU: classifiers from a non-negative estimate of the risk, without labelled negatives."""

from __future__ import annotations

from typing import Literal

import numpy as np

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_float, check_int, check_random_state
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, RoundCallback, Scenario, VectorLike
from fastpu.common._warn import warn
from fastpu.exceptions import ConvergenceWarning
from fastpu.kernels._gauss_basis import check_bandwidth
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._prior import PriorEstimate, take_prior_in
from fastpu.model._with_profile import with_profile
from fastpu.risk._model_form import FormName, ModelForm, check_n_centers, check_n_hidden
from fastpu.risk._nnpu_training import TrainingPlan, open_eval_set, plan_training, start_of_training, train
from fastpu.risk._one_class_warning import warn_of_one_class
from fastpu.risk._options import NnpuOptions, RiskLoss, check_batch_size, check_lam, check_learning_rate, check_patience
from fastpu.risk._risk_rows import RiskRows, open_risk_rows
from fastpu.risk.risk_machine import RiskMachine, RiskNetwork, RiskRound


@answers_unknown_keywords
def fit_nnpu(
    X: MatrixLike,
    y: LabelsLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    lam: float | None = None,
    loss: Literal["sigmoid", "logistic", "squared"] = "logistic",
    model: Literal["linear", "gauss", "mlp"] = "linear",
    beta: float = 0.0,
    gamma_nn: float = 1.0,
    n_centers: int = 200,
    centers: MatrixLike | None = None,
    bandwidth: float | None = None,
    n_hidden: int = 100,
    learning_rate: float | None = None,
    batch_size: int | Literal["auto"] | None = "auto",
    n_epochs: int | None = None,
    validation_fraction: float = 0.1,
    eval_set: tuple[MatrixLike, LabelsLike] | None = None,
    early_stopping_rounds: int | Literal["auto"] | None = "auto",
    sample_weight: VectorLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[RiskRound] | None = None,
    progress: bool = False,
) -> RiskMachine | RiskNetwork:
    """nnPU: train on positive and unlabelled rows, by a risk whose part for the negatives cannot fall below 0.

    It is for a classifier from positive and unlabelled rows whose class prior is known, above all for a network
    (``model="mlp"``), which `fit_upu` would fit too closely to the labelled rows. Standardise the columns.

    Let pi be the share of positives among the unlabelled rows, l a loss, mean_p the mean over positive rows, mean_u
    that over unlabelled rows, and

        R+ = pi mean_p l(f),    R- = mean_u l(-f) - pi mean_p l(-f).

    R- estimates the risk of the negatives. The true risk is never below 0, but the estimate falls below 0 if f follows
    the labelled rows too closely. nnPU minimises R+ + max(R-, -beta) by Adam. Where R- < -beta in a batch, a step
    follows the gradient of -gamma_nn R- alone, back to where R- is larger. Otherwise it follows that of R+ + R-, the
    risk of uPU. The losses are

        sigmoid   l(z) = 1 / (1 + e^z)        logistic  log(1 + e^-z)        squared  (1 - z)^2 / 4.

    The reference setting of the paper's authors is ``model="mlp", loss="sigmoid", learning_rate=1e-3, batch_size=None,
    n_epochs=100``, for columns of the size 1.

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
        The weight of the ridge penalty, >= 0. The risk that is reported does not include the penalty.

        For "linear" and "gauss" the penalty is lam/2 times the sum of the squared weights; the intercept is free. The
        default for "linear" is pi / sqrt(n_pos) times the square of the size of the columns (see Notes), and for
        "gauss" a twentieth of pi / sqrt(n_pos).

        For "mlp" the penalty is lam/2 times the sum of the squares of all parameters, intercepts included, for rows
        divided by the size of the columns. The default is 0.005, the weight decay of the reference setting.
    loss : {"sigmoid", "logistic", "squared"}, default "logistic"
        The loss l (see the formulas above).
    model : {"linear", "gauss", "mlp"}, default "linear"
        The kind of function f. "linear" is f(x) = coef'x + intercept. "gauss" is linear in the basis functions exp(-|x
        - c|^2 / (2 bandwidth^2)) around centres c. "mlp" is a network with one hidden layer of rectified linear units.
    beta : float, default 0
        How far R- may fall below 0, >= 0. If R- never falls so far, the risk is that of uPU.
    gamma_nn : float, default 1
        The length of a step back, in [0, 1], as a share of an ordinary one. With 0 a step back follows only the
        gradient of the penalty and, through Adam's means, the steps before.
    n_centers : int, default 200
        The most centres of "gauss", >= 1. They are drawn from the rows of `X`, no two of them equal.
    centers : array-like or CSR matrix of shape (n_centers, d), optional
        The centres of "gauss". By default they are drawn from the rows of `X`.
    bandwidth : float, optional
        The width of the basis functions of "gauss", > 0. By default the median distance between the rows and the
        centres.
    n_hidden : int, default 100
        The number of hidden units of "mlp", >= 1.
    learning_rate : float, optional
        The learning rate of Adam, > 0, for rows divided by the size of the columns. By default 0.05 for "linear", 0.02
        for "gauss" and 0.01 for "mlp". Adam's means decay by 0.9 and 0.999, and its eps is 1e-8.
    batch_size : int, "auto" or None, default "auto"
        The number of rows of a step, >= 1. "auto" takes all rows for "linear" and "gauss"; for "mlp" a batch has at
        least 1000 rows, and at least 10 positive ones on average. None takes all rows.

        For each epoch the rows are put in a new random order, positive and unlabelled rows together, and cut into
        batches; the last batch may be smaller. A batch without rows of a group has 0 in place of their mean.
    n_epochs : int, optional
        The number of passes over the rows, >= 1. By default training goes on until the risk stops falling (see
        `early_stopping_rounds`), for at most 2000 epochs; without such a rule it makes 100.
    validation_fraction : float, default 0.1
        The share of the positive and of the unlabelled rows that are held out, in (0, 1). Rows are held out for "mlp"
        alone, if early stopping is on and there is no `eval_set`: the network is not trained on them, and their risk
        stops it. If that would be fewer than 10 positive rows, whose risk is too noisy, none are held out, and nothing
        stops the fit early.
    eval_set : (X, y), optional
        Held-out positive and unlabelled rows, and their labels. Their risk R+ + max(R-, -beta), with the same prior, is
        computed after each epoch.
    early_stopping_rounds : int, "auto" or None, default "auto"
        Training stops when the risk of the held-out rows (of `eval_set`, or by `validation_fraction`) has not fallen
        for so many epochs; the parameters of the best epoch are kept. "linear" and "gauss" without an `eval_set` stop
        when the risk of the training rows, with its penalty, has not fallen by a thousandth in so many epochs.

        "auto" is 30 if `n_epochs` is left out, and None if it is given. With None all epochs are made.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out. In batches a
        row of weight w is there round(w) times, at least once, with equal parts of its weight. If these would be more
        than 131,072 rows and more than four times those of `X`, a row is there less often, with larger parts.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the centres, the first parameters of "mlp", the order of the rows, and the rows
        that are held out. An int gives the same result in every call. A generator is drawn from, and so advances. None
        takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: RiskRound) -> bool | None``, called after each epoch. If it returns True, the fit ends.
    progress : bool, default False
        Whether to show a progress bar that counts epochs. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    RiskMachine or RiskNetwork
        A RiskNetwork for ``model="mlp"``, and a RiskMachine otherwise. The threshold is 0. `history` has R+, R- and the
        number of steps back of each epoch.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. The message
        names the argument.
    MemoryError
        If there is too little memory. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If early stopping does not end the fit before the last epoch.
    DegenerateModelWarning
        If the model calls all training rows positive or all negative, or all unlabelled ones although by the prior some
        are of the other class.

    Notes
    -----
    An epoch takes O(n d n_hidden), or O(entries of X * n_hidden) for CSR; a linear model takes O(n d). Memory beside
    `X` is O(batch size * n_hidden + d n_hidden); "gauss" holds a number for each row and centre. float32 rows are
    trained on in float32; risks are summed in float64.

    Adam is given rows divided by the size of the columns. Dense columns whose mean is further from 0 than their
    standard deviation are centred in a copy. The parameters of the model are converted back to the rows as you gave
    them. So a common factor of all columns only changes the unit of the first coefficients.

    The size of the columns is m / sqrt(s). Here m is the median over the columns of the root mean square of their
    entries that are not 0, and s is the mean share of such entries. A column whose mean is further from 0 than its
    standard deviation counts with that deviation in place of the root mean square, and with the share 1. It is 1 for
    standardised columns.

    References
    ----------
    Kiryo, Niu, du Plessis and Sugiyama, "Positive-unlabeled learning with non-negative risk estimator", NIPS 2017,
    algorithm 1.

    Examples
    --------
    >>> import fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(400, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=40, random_state=0)
    >>> rows, y = X[split.train], split.y_train
    >>> model = fastpu.fit_nnpu(rows, y, prior=0.45, model="mlp", random_state=0)
    >>> model.status, model.n_iter  # 40 positive rows are too few to hold some out
    ('n_epochs', 100)
    >>> model.hidden_coef.shape
    (2, 100)
    """
    form_name: FormName = check_choice("model", model, ("linear", "gauss", "mlp"))
    loss_name: RiskLoss = check_choice("loss", loss, ("sigmoid", "logistic", "squared"))
    most_epochs = None if n_epochs is None else check_int("n_epochs", n_epochs, low=1)
    given_prior, drawn_as = take_prior_in(scenario, prior)
    options = NnpuOptions(
        prior=given_prior,
        scenario=drawn_as,
        lam=check_lam(lam),
        loss=loss_name,
        form=ModelForm(
            model=form_name,
            n_centers=check_n_centers(n_centers),
            centers=centers,
            bandwidth=check_bandwidth(form_name, centers, bandwidth),
            n_hidden=check_n_hidden(n_hidden),
        ),
        beta=check_float("beta", beta, low=0),
        gamma_nn=check_float("gamma_nn", gamma_nn, low=0, high=1),
        learning_rate=check_learning_rate(learning_rate, form_name),
        batch_size=check_batch_size(batch_size, form_name),
        n_epochs=most_epochs,
        validation_fraction=check_float(
            "validation_fraction", validation_fraction, low=0, high=1, open_low=True, open_high=True
        ),
        early_stopping_rounds=check_patience(early_stopping_rounds, most_epochs),
        generator=check_random_state(random_state),
        n_threads=resolve_n_threads(n_threads),
    )
    rows = open_risk_rows(X, y, sample_weight, options)
    warn_of_scales(rows.matrix)
    eval_rows = open_eval_set(eval_set, rows)
    features = rows.columns.moved(rows.basis.features)
    start = start_of_training(rows)
    seed = int(options.generator.integers(2**63))
    plan = plan_training(features, rows, options, eval_rows)
    with make_report(callback, progress, total=plan.n_epochs, description="nnPU") as report:
        training = train(features, start, rows, plan, options, seed, report)
    machine = _model_of(training, rows, plan, options)
    if plan.stops_early and machine.status == "n_epochs":
        _warn_of_last_epoch(training, plan, options)
    warn_of_one_class(machine, rows)
    return with_profile(machine, X, y, sample_weight)


def _model_of(
    training: _core.NetTraining, rows: RiskRows, plan: TrainingPlan, options: NnpuOptions
) -> RiskMachine | RiskNetwork:
    """Return the model of the trained net: a network, or without hidden units a linear model."""
    history = {
        "risk": training.risk,
        "positive_risk": training.positive,
        "negative_risk": training.negative,
        "n_reversed": training.n_reversed,
    }
    if plan.judging is not None:
        history["eval_risk"] = training.eval_risk
    params = {**rows.params(), **options.training_params(), "n_epochs": plan.n_epochs}
    # A fit that ran all its epochs is complete, unless a rule should have stopped it earlier.
    is_complete = training.status == ("early_stopping" if plan.stops_early else "n_epochs")
    objective = training.risk[: training.best_epoch]
    net = rows.columns.moved_back(training.net)
    if not net.hidden_intercept.size:
        centers = rows.basis.center_arrays
        return RiskMachine(
            n_features=rows.matrix.n_features,
            feature_names=rows.matrix.feature_names,
            threshold=0.0,
            basis=rows.basis.name,
            bandwidth=rows.basis.bandwidth,
            centers_dense=centers.dense,
            centers_data=centers.data,
            centers_indices=centers.indices,
            centers_indptr=centers.indptr,
            coef=net.coef.astype(np.float64),
            intercept=net.intercept,
            n_iter=training.best_epoch,
            converged=is_complete,
            status=training.status,
            objective=objective,
            history=history,
            params=params,
        )
    return RiskNetwork(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        hidden_coef=net.hidden_coef,
        hidden_intercept=net.hidden_intercept,
        coef=net.coef,
        intercept=net.intercept,
        n_iter=training.best_epoch,
        converged=is_complete,
        status=training.status,
        objective=objective,
        history=history,
        params=params,
    )


def _warn_of_last_epoch(training: _core.NetTraining, plan: TrainingPlan, options: NnpuOptions) -> None:
    """Warn that all epochs were run although a rule should have ended the fit earlier."""
    patience, best = options.early_stopping_rounds, training.best_epoch
    if plan.judging is None:
        state = f"the risk of the training rows still fell by a thousandth within the last {patience} epochs"
    else:
        whose = "eval_set" if plan.split.held_out is None else "the rows held out"
        state = (
            f"the risk of {whose} was least at epoch {best}, with {float(training.eval_risk[best - 1]):.4g}, and "
            f"{patience} epochs must pass without a lower one"
        )
    warn(
        f"fit_nnpu: early stopping did not end the fit within n_epochs = {plan.n_epochs} epochs: {state}; raise "
        f"n_epochs or learning_rate, or pass early_stopping_rounds=None",
        ConvergenceWarning,
    )
