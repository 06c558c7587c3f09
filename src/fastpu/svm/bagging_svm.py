"""Bagging SVM: the mean of many SVMs, each of the positive rows against some of the unlabelled ones."""

from __future__ import annotations

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_random_state
from fastpu.common._progress import make_report
from fastpu.common._text import describe
from fastpu.common._types import GammaLike, GroupsLike, KernelLike, LabelsLike, MatrixLike, RandomState, RoundCallback
from fastpu.common._warn import span_of, warn_if_alike
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels
from fastpu.kernels._check_rows import check_training_rows
from fastpu.model._with_profile import with_profile
from fastpu.svm._bag_draws import BagOptions, draw_bags
from fastpu.svm._bag_fits import BagCosts, Bags, BagSums
from fastpu.svm._kernel_solver import open_solver
from fastpu.svm._seed import seed_param
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_warnings import warn_of_worst
from fastpu.svm.bagging_machine import BaggingSVM, BagRound


@answers_unknown_keywords
def fit_bagging_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C: float = 1.0,
    n_bags: int | None = None,
    bag_ratio: float | None = 1.0,
    kernel: KernelLike = "linear",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    max_iter: int | None = None,
    sample_weight: None = None,
    groups: GroupsLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[BagRound] | None = None,
    progress: bool = False,
) -> BaggingSVM:
    """Bagging SVM (BASVM): the mean of SVMs, each of all positives against a few unlabelled rows.

    It is for few positives, many unlabelled rows, and a smooth boundary in standardised columns. For columns of several
    kinds take `fit_forest`. `BaggingSVM.oob_decision_function` ranks the unlabelled rows without a second fit.

    Each of T bags holds all n_pos positive rows and K unlabelled rows, drawn with replacement, which stand in for
    negatives. Its SVM minimises

        |w|^2 / 2 + C sum_P max(0, 1 - f_t(x_i)) + C n_pos / K sum_(bag t) max(0, 1 + f_t(x_i)),

    so that both sides weigh the same, and f = (f_1 + ... + f_T) / T. Few of the hidden positives are in any one bag,
    and the mean evens out the harm that they do.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64 in C order, and CSR, are used without a copy. Kernel values have the
        type of `X`, but float64 for "poly". With ``kernel="precomputed"``: the symmetric matrix of kernel values
        between every two rows, of shape (n, n), dense.
    y : array-like of shape (n,)
        +1 for labelled positives and 0 for unlabelled rows. Also taken: {1, 0}, bool and {1, nan}; `fastpu.as_labels`
        converts other codings.
    C : float, default 1.0
        > 0, the cost of a positive row.
    n_bags : int, optional
        T, the number of bags; by default 35 if they have up to 20 unlabelled rows, else 11.
    bag_ratio : float or None, default 1.0
        > 0. A bag has K = `bag_ratio` n_pos unlabelled rows, rounded, at least 1. None draws as many rows as are
        unlabelled (a bootstrap).
    kernel : str or callable, default "linear"
        "linear" is x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), and "sigmoid" tanh(gamma x'z +
        coef0). With "precomputed" `X` holds the kernel values. A function k(A, B) returns the kernel between the rows
        of two matrices, of shape (len(A), len(B)). It gets rows of `X`, dense or CSR as `X` is, on the calling thread.
        It must be symmetric: a sample of rows is tested before the fit. "sigmoid" is not positive definite, so that
        the dual problem is not convex: the fit then ends at one of several stationary points.
    gamma : float, "scale" or "auto", default "scale"
        Width of the kernels "rbf", "poly" and "sigmoid". "scale" is 1 / (d var(X)), with the variance of all entries
        of `X`; all bags have the same width. "auto" is 1 / d.
    degree : int, default 3
        Degree of the kernel "poly".
    coef0 : float, default 0.0
        Constant of the kernels "poly" and "sigmoid".
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB, which all bags share. It changes the time, not the model. The linear kernel
        needs none.
    tol : float, default 1e-3
        The SVM of a bag is solved when no optimality (KKT) condition is violated by more than this, as in LIBSVM.
    max_iter : int, optional
        Most updates of a pair of dual variables in a bag; by default 10^7, or 100 n if that is more.
    sample_weight : None
        Anything else is refused with a TypeError. A row that is there twice is drawn twice as often, which no weight in
        the loss makes up for. Repeat rows, or use `fit_bsvm`.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. Each bag then
        leaves some 37 % of the groups of the unlabelled rows out, and an unlabelled row is scored out of bag by the
        bags that hold no row of its group. Positive rows are in every bag, so unlabelled rows of their groups get no
        out-of-bag score.
    random_state : int >= 0, numpy.random.Generator or None
        Seed or generator that draws the bags.
    n_threads : int, optional
        Most threads to use; by default the CPUs that this process may use. The model does not depend on it.
    callback : callable, optional
        ``callback(info: BagRound) -> bool`` is called after every bag, in their order. If it returns True, the fit ends
        with the bags so far.
    progress : bool, default False
        Show a progress bar that counts bags (with tqdm if it is installed).

    Returns
    -------
    BaggingSVM
        With `oob_decision_function`, which scores the unlabelled training rows by the bags that they are not in.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is no memory for the work. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If the SVM of any bag does not meet `tol`.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    A fit makes T SVMs of n_pos + K rows, several at a time unless the kernel is linear. Then it scores the training
    rows, in O(n n_support d), or O(n d T) with the linear kernel. If the kernel is not linear, bags of at least half as
    many rows as are unlabelled start from the SVM of all rows, in which each unlabelled row counts as often as it is in
    a bag on average.

    References
    ----------
    Mordelet and Vert (2014), A bagging SVM to learn from positive and unlabeled examples.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> hidden = np.repeat([True, False], 40)
    >>> X = rng.standard_normal((80, 2)) + 2.0 * hidden[:, None]
    >>> y = hidden & (np.arange(80) < 20)
    >>> model = fastpu.fit_bagging_svm(X, y, random_state=0)
    >>> model.bags.shape
    (35, 20)
    >>> bool(np.nanmean(model.oob_decision_function[20:40]) > np.nanmean(model.oob_decision_function[40:]))
    True
    """
    if sample_weight is not None:
        raise TypeError(
            f"sample_weight must be None for fit_bagging_svm, where a repeated row is drawn more often: repeat rows, "
            f"or use fit_bsvm; got {describe(sample_weight)}"
        )
    options = BagOptions.checked(C=C, n_bags=n_bags, bag_ratio=bag_ratio)
    svm_options = SvmOptions.checked(
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        cache_mb=cache_mb,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
    )
    matrix = check_training_rows(X, svm_options.kernel, "fit_bagging_svm")
    warn_of_other_order(X, y=y, groups=groups)
    labels = check_labels(y, matrix.n_rows, pu_only="fit_bagging_svm")
    unlabelled = np.flatnonzero(labels == 0).astype(np.int64)
    shape = options.shape(labels.size - unlabelled.size, unlabelled.size)
    generator = check_random_state(random_state)
    clusters = cluster_numbers(groups, matrix.n_rows)
    bags = Bags(labels == 1, draw_bags(unlabelled, clusters, shape, generator), clusters)

    with make_report(callback, progress, total=shape[0], description="bagging SVM") as on_round:
        training = open_solver(matrix, svm_options)
        costs = BagCosts.of(options.C, bags)
        sums = BagSums(training, bags)
        sums.add_all(training, costs, on_round)
    params = {
        "method": "fit_bagging_svm",
        "C": options.C,
        "n_bags": shape[0],
        "bag_ratio": options.bag_ratio,
        **svm_options.params(),
        "random_state": seed_param(random_state),
    }
    model = sums.model(params)
    warn_of_worst("bags of fit_bagging_svm", "bag", dict(enumerate(sums.ends)), model.n_iter, training)
    if model.status in {"tol", "gap", "precision"}:
        warn_if_alike("fit_bagging_svm", span_of(sums.mean_scores()), "change the costs or the kernel")
    return with_profile(model, X, y)
