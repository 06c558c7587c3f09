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

    Each of T bags holds all n_pos positive rows and K unlabelled rows, which are drawn with replacement and stand in
    for negatives. Its SVM minimises

        |w|^2 / 2 + C sum_P max(0, 1 - f_t(x_i)) + C n_pos / K sum_(bag t) max(0, 1 + f_t(x_i)),

    so that positive and unlabelled rows have the same total cost. The model is f = (f_1 + ... + f_T) / T. Few of the
    hidden positives are in any one bag, and the mean evens out the harm that they do.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C : float, default 1.0
        The cost of an error on a positive row, > 0. A larger value makes the boundary follow the training rows more
        closely.
    n_bags : int, optional
        T, the number of bags, >= 1. By default 35 if a bag has at most 20 unlabelled rows, and 11 if it has more.
    bag_ratio : float or None, default 1.0
        The number of unlabelled rows in a bag for each positive row, > 0: K = `bag_ratio` n_pos, rounded, and at least
        1. None draws as many rows as are unlabelled (a bootstrap).
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "linear"
        The kernel K(x, z) of two rows:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is not positive definite, so the problem is not convex, and the fit
          ends at one of several stationary points.
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows, dense or CSR as `X` is, and returns their kernel values as a
          matrix of shape (len(A), len(B)). It must be symmetric, which is tested on a sample of rows before the fit. It
          runs on the calling thread.
    gamma : float, "scale" or "auto", default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`; all bags have the
        same width. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. All bags share it. It changes the time, not the model. The linear
        kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which the SVM of a bag counts as solved. It is
        that of LIBSVM.
    max_iter : int, optional
        The most steps of the solver in a bag, >= 1. A step changes a pair of dual variables. By default 10^7, or 100 n
        if that is more.
    sample_weight : None
        Weights are refused with a TypeError: a repeated row is drawn more often, which no weight in the loss imitates.
        Repeat rows, or use `fit_bsvm`.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Each bag
        then leaves out some 37 % of the groups of the unlabelled rows, and an unlabelled row is scored out of bag by
        the bags that hold no row of its group. Positive rows are in every bag, so unlabelled rows of their groups get
        no out-of-bag score.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the bags. An int gives the same result in every call. A generator is drawn from,
        and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: BagRound) -> bool | None``, called after every bag, in their order. If it returns True, the fit
        ends, and the model has the bags so far.
    progress : bool, default False
        Whether to show a progress bar that counts bags. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    BaggingSVM
        The model. Its `oob_decision_function` scores each unlabelled training row by the bags that do not hold it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the SVM of any bag does not meet `tol`.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    A fit makes T SVMs of n_pos + K rows, several at a time unless the kernel is linear. Then it scores the training
    rows, in O(n n_support d), or O(n d T) with the linear kernel. If the kernel is not linear and K is at least half
    the number of unlabelled rows, the SVM of all rows is solved first, and each bag starts from it.

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
