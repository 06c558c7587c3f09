"""nnPU: classifiers from a non-negative estimate of the risk, without labelled negatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._profile import keeps_profile
from fastpu.risk._adam import AdamOptions, fit_by_adam
from fastpu.risk._fit import RiskRound, RiskRows, Shape
from fastpu.risk.risk_machine import RiskMachine, RiskNetwork


@answers_unknown_keywords
@keeps_profile
def fit_nnpu(
    X: object,
    y: object,
    *,
    prior: float,
    scenario: str = "case_control",
    lam: float | None = None,
    loss: str = "logistic",
    model: str = "linear",
    beta: float = 0.0,
    gamma_nn: float = 1.0,
    n_centers: int = 200,
    centers: object = None,
    bandwidth: float | None = None,
    n_hidden: int = 100,
    learning_rate: float | None = None,
    batch_size: int | str | None = "auto",
    n_epochs: int | None = None,
    validation_fraction: float = 0.1,
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | str | None = "auto",
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[RiskRound], bool | None] | None = None,
    progress: bool = False,
) -> RiskMachine | RiskNetwork:
    """nnPU: train on positive and unlabelled rows, by a risk whose part for the negatives cannot fall below 0.

    It is for a classifier from positive and unlabelled rows whose class prior is known, above all for a network
    (``model="mlp"``), which would follow the labelled rows too closely in `fit_upu`. Standardise the columns.

    With pi and means as in `fit_upu`, and a loss l,

        R+ = pi mean_p l(f),    R- = mean_u l(-f) - pi mean_p l(-f),

    and R- estimates the risk of the negatives. That is not below 0, but the estimate may be if f follows the labelled
    rows too closely. nnPU minimises R+ + max(R-, -beta) by Adam: if R- < -beta in a batch, the step follows the
    gradient of -gamma_nn R- alone, back to where R- is larger; otherwise it follows that of R+ + R-, the risk of uPU.
    The losses are

        sigmoid   l(z) = 1 / (1 + e^z)        logistic  log(1 + e^-z)        squared  (1 - z)^2 / 4.

    The reference setting of the paper's authors is ``model="mlp", loss="sigmoid", learning_rate=1e-3, batch_size=None,
    n_epochs=100``, for columns of the size 1. Errors are those of `fit_upu`.

    Parameters
    ----------
    X, y, prior, scenario, n_centers, centers, bandwidth, n_threads, progress
        As in `fit_upu`.
    lam : float, optional
        >= 0, the weight of the ridge penalty; the risk that is reported does not include it. For "linear" and "gauss"
        the penalty is lam/2 |weights|^2, with the default of `fit_upu`: the intercept is free, and the weights are
        those for the rows as they are. For "mlp" it is lam/2 times the sum of the squares of all parameters,
        intercepts included, for rows divided by the size of the columns; by default 0.005, the weight decay of the
        reference setting.
    loss : {"sigmoid", "logistic", "squared"}, default "logistic"
    model : {"linear", "gauss", "mlp"}, default "linear"
        "linear" and "gauss" as in `fit_upu`; "mlp" has one hidden layer of rectified linear units.
    beta : float, default 0
        >= 0, how far R- may fall below 0. If it is larger than R- ever falls, the risk is that of uPU.
    gamma_nn : float, default 1
        In [0, 1], the length of a step back. With 0, such a step follows only the gradient of the penalty and, through
        Adam's means, those of the steps before.
    n_hidden : int, default 100
        Hidden units of "mlp".
    learning_rate : float, optional
        The learning rate of Adam, by default 0.05 for "linear", 0.02 for "gauss" and 0.01 for "mlp", for rows divided
        by the size of the columns. Adam's means decay with 0.9 and 0.999, and eps is 1e-8.
    batch_size : int, "auto" or None, default "auto"
        The number of rows of a step. They are the next ones of a random order that is drawn anew for each epoch,
        positive and unlabelled rows together, as in the reference. The last batch may be smaller, and a batch without
        rows of a group has 0 in place of their mean. None is all rows in one batch. "auto" is None for "linear" and
        "gauss"; for "mlp" it makes the most batches that have 1000 rows each, and 10 positive ones on average.
    n_epochs : int, optional
        Passes over the rows. By default training goes on until the risk stops falling (`early_stopping_rounds`), at
        most 2000 times, or for 100 epochs if there is no such rule.
    validation_fraction : float, default 0.1
        In (0, 1), the share of the positive and of the unlabelled rows that are held out, drawn by `random_state`:
        "mlp" is not trained on them, and their risk stops it, if early stopping is on and there is no `eval_set`.
        Nothing is held out if that would be fewer than 10 positive rows, whose risk is too noisy.
    eval_set : (X, y), optional
        Rows, positive and unlabelled ones, whose risk R+ + max(R-, -beta) with the same prior is computed after each
        epoch.
    early_stopping_rounds : int, "auto" or None, default "auto"
        Stop when the risk of `eval_set`, or of the rows held out, has not fallen for so many epochs, and keep the
        parameters of the best. "linear" and "gauss" are stopped, without an `eval_set`, when the risk of the training
        rows with its penalty has not fallen by a thousandth in so many epochs. "auto" is 30 where `n_epochs` is left
        out, and None, which stops nothing, where it is given.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; equal to repeating rows. Rows of weight 0 are left out. In batches a row of weight w comes as
        round(w) rows of equal weight, but at least as one; if all of them would be more than 131,072 rows, and more
        than four times those of `X`, as proportionally fewer rows of larger weight.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the centres, the start of "mlp", the order of the rows, and the rows held out.
    callback : callable, optional
        ``callback(info: RiskRound) -> bool``, called after each epoch; True ends the fit.

    Returns
    -------
    RiskMachine or RiskNetwork
        The latter for ``model="mlp"``. The threshold is 0; `history` has R+, R- and the number of steps back.

    Warns
    -----
    ConvergenceWarning
        If early stopping does not end the fit before the last epoch.
    DegenerateModelWarning
        As in `fit_upu`.

    Notes
    -----
    An epoch takes O(n d n_hidden), O(n d) for a linear model, and O(entries of X * n_hidden) for CSR; memory is
    O(batch size * n_hidden + d n_hidden) beside X, and n times as many numbers as there are centres for "gauss".
    float32 rows are trained on in float32, risks are summed in float64.

    Adam takes a copy of dense rows in which columns whose mean is further from 0 than their standard deviation are
    centred, and its steps are those for rows divided by the size of the columns (see the Notes of `fit_upu`); the
    parameters of the model are those for the rows as they were given. So a common factor of all columns changes nothing
    but the unit of the first coefficients.

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
    given = locals()
    shape = Shape(given, models=("linear", "gauss", "mlp"), losses=("sigmoid", "logistic", "squared"))
    training = AdamOptions(shape, given)
    rows = RiskRows("fit_nnpu", shape, given)
    warn_of_scales(rows.matrix)
    return fit_by_adam(rows, training, given)
