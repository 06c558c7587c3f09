"""nnPU: classifiers from a non-negative estimate of the risk, without labelled negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.kernels._scales import warn_of_scales
from fastpu.risk._arguments import RiskRound, Rule, check_shape, check_training
from fastpu.risk._fit import fit_by_adam, open_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from fastpu.risk.risk_machine import RiskMachine
    from fastpu.risk.risk_network import RiskNetwork


@answers_unknown_keywords
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
    weight_decay: float | None = None,
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

    With pi, l and means as in `fit_upu`,

        R+ = pi mean_p l(f),    R- = mean_u l(-f) - pi mean_p l(-f),

    and R- estimates the risk of the negatives. That is not below 0, but the estimate may be if f follows the labelled
    rows too closely. nnPU minimises R+ + max(R-, -beta) by Adam: if R- < -beta in a batch, the step follows the
    gradient of -gamma_nn R- alone, back to where R- is larger; otherwise it follows that of R+ + R-.

    The reference setting of the paper's authors is ``model="mlp", loss="sigmoid", learning_rate=1e-3, batch_size=None,
    n_epochs=100``, for columns of the size 1.

    Parameters
    ----------
    X, y, prior, scenario, lam, loss, model, n_centers, centers, bandwidth, n_hidden, learning_rate, weight_decay, \
batch_size, n_epochs, validation_fraction, eval_set, early_stopping_rounds, sample_weight, random_state, n_threads, \
callback, progress
        As in `fit_upu`. The risk of `eval_set` is R+ + max(R-, -beta).
    beta : float, default 0
        >= 0, how far R- may fall below 0.
    gamma_nn : float, default 1
        In [0, 1], the length of a step back. With 0, such a step follows only the gradients of `lam` and `weight_decay`
        and, through Adam's means, those of the steps before.

    Returns
    -------
    RiskMachine or RiskNetwork
        The latter for ``model="mlp"``. The threshold is 0; `history` has R+, R- and the number of steps back.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As in `fit_upu`.

    Warns
    -----
    ConvergenceWarning
        If early stopping does not end the fit before the last epoch.
    DegenerateModelWarning
        If the model calls all training rows positive or all negative, or all unlabelled ones although by the prior some
        are of the other class.

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
    shape = check_shape(
        model=model, loss=loss, n_hidden=n_hidden, n_centers=n_centers, centers=centers, bandwidth=bandwidth
    )
    training = check_training(
        shape,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        batch_size=batch_size,
        n_epochs=n_epochs,
        validation_fraction=validation_fraction,
        early_stopping_rounds=early_stopping_rounds,
    )
    rule = Rule(
        non_negative=True,
        beta=check_float("beta", beta, low=0),
        gamma_nn=check_float("gamma_nn", gamma_nn, low=0, high=1),
    )
    rows = open_rows(
        X,
        y,
        function="fit_nnpu",
        prior=prior,
        scenario=scenario,
        lam=lam,
        shape=shape,
        sample_weight=sample_weight,
        random_state=random_state,
        n_threads=n_threads,
    )
    warn_of_scales(rows.matrix)
    return fit_by_adam(
        rows, shape, training, title="nnPU", rule=rule, eval_set=eval_set, callback=callback, progress=progress
    )
