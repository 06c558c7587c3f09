"""Mapping convergence from positive and unlabelled rows: SMC and SVMC."""

from __future__ import annotations

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_random_state
from fastpu.common._progress import make_report
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RandomState, RoundCallback
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels
from fastpu.kernels._check_rows import check_training_rows
from fastpu.mapping._boundaries import SvmStages
from fastpu.mapping._mapping_loop import converge
from fastpu.mapping._mapping_model import make_model
from fastpu.mapping._mapping_options import MappingOptions, split_rows
from fastpu.mapping._mapping_warnings import warn_of_outcome
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.mapping.mapping_round import MappingRound
from fastpu.model._with_profile import with_profile
from fastpu.svm._kernel_solver import open_solver
from fastpu.svm._seed import seed_param
from fastpu.svm._svm_options import SvmOptions


@answers_unknown_keywords
def fit_smc(
    X: MatrixLike,
    y: LabelsLike,
    *,
    nu_map: float = 0.01,
    C: float = 1.0,
    nu: float | None = None,
    max_iter: int = 100,
    max_pos_reject: float | None = None,
    hold_out: float | None = None,
    kernel: KernelLike = "rbf",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    solver_max_iter: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[MappingRound] | None = None,
    progress: bool = False,
) -> MappingMachine:
    """SMC, mapping convergence: fit an SVM to P against the rejected rows of U, until it rejects no more.

    It is for positives that are a class of their own among many, with a gap around it, such as one letter of 26. Where
    classes overlap it rejects nearly all rows in the end: take another method there. With many unlabelled rows
    `fit_svmc` is faster.

    A boundary h calls rows with h < 0 negative, and rows with h >= 0 positive. N is the set of rejected rows of U:

        h_0 = one-class SVM of P,  N = {x in U: h_0(x) < 0},  P_0 = U without N                (mapping)
        h_i = SVM of P against N,  N_i = {x in P_(i-1): h_i(x) < 0},  P_i = P_(i-1) without N_i,
        N = N and N_i,     i = 1, 2, ... until N_i is empty                                   (convergence)

    The last h_i is the result: the SVM of P against all rejected rows of U. The threshold of the one-class SVM is
    lowered until all of P is inside. The SVM of P against N is the C-SVM, which minimises |w|^2 / 2 + C sum max(0, 1 -
    y f(x)), or the nu-SVM if `nu` is given.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    nu_map : float, default 0.01
        The nu of the one-class SVM, in (0, 1]: the largest share of P that may lie outside before its threshold is
        lowered. It is raised to 1 / (number of positives) if it is smaller.
    C : float, default 1.0
        The cost of every row in the C-SVM, > 0. With too small a `C` the boundary rejects labelled positives, and
        hidden positives of U with them. These then count as negatives and push the next boundary further into P. So
        scale `X`, and prefer a large `C`.
    nu : float, optional
        In (0, 1]. If it is given, the SVMs of P against N are nu-SVMs, and `C` is not used. A nu above 0.999 of the
        largest one that has a solution, 2 min(|P|, |N|) / (|P| + |N|), is lowered to that.
    max_iter : int, default 100
        The most SVMs of P against N, >= 1.
    max_pos_reject : float, optional
        In [0, 1). Stop when a boundary rejects a larger share of the held-out positives, and keep the boundary before
        it. By default there is no such limit.
    hold_out : float, optional
        The share of the labelled positives, in (0, 1), that are held out, and by which each boundary is judged. By
        default 0.2 if `max_pos_reject` is given. Otherwise none are held out, and boundaries are judged by the
        positives that they were fitted to.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
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
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`; all SVMs have the
        same width. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. All SVMs share it. It changes the time, not the model. The linear
        kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which an SVM counts as solved. It is that of
        LIBSVM.
    solver_max_iter : int, optional
        The most steps of the solver in each SVM, >= 1. A step changes a pair of dual variables. By default 10^7, or 100
        n if that is more.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the held-out positives. Nothing else is random. An int gives the same result in
        every call. A generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: MappingRound) -> bool | None``, called after each SVM of P against N. If it returns True, the
        fit ends, and the model is this SVM.
    progress : bool, default False
        Whether to show a progress bar that counts the SVMs of P against N. The bar is that of tqdm; without tqdm a line
        is printed to standard error every ten seconds.

    Returns
    -------
    MappingMachine
        The model, with the boundary of every iteration (`staged_decision_function`, `at`), the set that each row of U
        ended in (`unlabeled_set`), and the numbers of each iteration (`history`). `predict` gives +1 where the last h
        is > 0.

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
        If `max_iter` is reached, or an SVM does not meet `tol`.
    DegenerateModelWarning
        - If the mapping rejects no row of U, or all of them. N then begins with the 5 % of U that have the lowest
          scores.
        - If the boundary that is kept rejects more than 20 % of the labelled positives, or calls all rows positive.
        - If all unlabelled rows were rejected.
        - If only the mapping is kept because of `max_pos_reject`.

    Notes
    -----
    Every fit is an SVM on P and N, and N grows up to |U|. A step of its solver costs O(n) and, unless they are cached,
    two kernel rows of O(n d). A C-SVM starts from the solution before it. Scoring the rest of U then takes |P_i|
    n_support kernel values. P_i shrinks with every fit, so there are at most |P_0| + 1 fits. Memory: `cache_mb`, about
    100 bytes a row, and the support vectors of all boundaries, each once. There is no `sample_weight`, because nu, the
    fallback of 5 % and the shares above depend on numbers of rows, which weights do not change.

    References
    ----------
    Yu (2003), SVMC: single-class classification with support vector machines; sections 3 and 4.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 2))
    >>> inside = np.linalg.norm(X, axis=1) < 1
    >>> y = inside & (rng.random(500) < 0.5)  # half of what lies in the circle is labelled
    >>> model = fastpu.fit_smc(X, y, C=100)
    >>> model.status
    'converged'
    >>> model.predict([[0.0, 0.0], [1.5, 0.0]])
    array([ 1, -1])
    """
    options = MappingOptions.checked(
        keeps_all=True,
        nu_map=nu_map,
        C=C,
        nu=nu,
        max_iter=max_iter,
        max_pos_reject=max_pos_reject,
        hold_out=hold_out,
        repair=False,
    )
    svm_options = SvmOptions.checked(
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        cache_mb=cache_mb,
        tol=tol,
        max_iter=solver_max_iter,
        max_iter_name="solver_max_iter",  # max_iter is the limit of the loop
        n_threads=n_threads,
    )
    generator = check_random_state(random_state)
    matrix = check_training_rows(X, svm_options.kernel, "fit_smc")
    warn_of_other_order(X, y=y)
    labels = check_labels(y, matrix.n_rows, pu_only="fit_smc")
    pu_rows = split_rows(labels, options.hold_out, generator)
    with make_report(callback, progress, total=options.max_iter, description="SMC") as on_round:
        training = open_solver(matrix, svm_options)
        outcome = converge(pu_rows, SvmStages(training, options), options, on_round)
    params = {"method": "fit_smc", **options.params(), **svm_options.params(), "random_state": seed_param(random_state)}
    model = make_model(outcome, pu_rows, training, options, params)
    warn_of_outcome("fit_smc", outcome, options, training)
    return with_profile(model, X, y)


@answers_unknown_keywords
def fit_svmc(
    X: MatrixLike,
    y: LabelsLike,
    *,
    nu_map: float = 0.01,
    C: float = 1.0,
    nu: float | None = None,
    repair: bool = True,
    max_iter: int = 100,
    max_pos_reject: float | None = None,
    hold_out: float | None = None,
    kernel: KernelLike = "rbf",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    solver_max_iter: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[MappingRound] | None = None,
    progress: bool = False,
) -> MappingMachine:
    """SVMC: mapping convergence in which only the support vectors of the last boundary stay in N.

    It is for positives that are a class of their own among many, with a gap around it, such as one letter of 26, and
    for many unlabelled rows. Where classes overlap it rejects nearly all rows in the end: take another method there.

    A boundary h calls rows with h < 0 negative, and rows with h >= 0 positive. N is the set of rejected rows of U that
    the next SVM is fitted to:

        h_0 = one-class SVM of P,  N = {x in U: h_0(x) < 0},  P_0 = U without N                (mapping)
        h_i = SVM of P against N,  N_i = {x in P_(i-1): h_i(x) < 0},  P_i = P_(i-1) without N_i,
        N = SV(h_i) and N_i,  i = 1, 2, ... until N_i is empty                                (convergence)

    The last h_i is the result. The threshold of the one-class SVM is lowered until all of P is inside. The SVM of P
    against N is the C-SVM, or the nu-SVM if `nu` is given. SV(h_i) are the support vectors of h_i among N (alpha > 0).

    N stays small, which is much faster than `fit_smc` if U is large. But a later boundary may call rows positive that
    were dropped from N, because it was not fitted to them. When no new rows are rejected, `repair` puts such rows back
    into N, and goes on without dropping rows until there are none.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    nu_map : float, default 0.01
        The nu of the one-class SVM, in (0, 1]: the largest share of P that may lie outside before its threshold is
        lowered. It is raised to 1 / (number of positives) if it is smaller.
    C : float, default 1.0
        The cost of every row in the C-SVM, > 0. With too small a `C` the boundary rejects labelled positives, and
        hidden positives of U with them. These then count as negatives and push the next boundary further into P. So
        scale `X`, and prefer a large `C`.
    nu : float, optional
        In (0, 1]. If it is given, the SVMs of P against N are nu-SVMs, and `C` is not used. A nu above 0.999 of the
        largest one that has a solution, 2 min(|P|, |N|) / (|P| + |N|), is lowered to that. nu is a share of the |P| +
        |N| rows, so its meaning changes as N shrinks: prefer `C`.
    repair : bool, default True
        Whether dropped rows that the last boundary calls positive are put back into N. False is the algorithm of the
        paper.
    max_iter : int, default 100
        The most SVMs of P against N, >= 1.
    max_pos_reject : float, optional
        In [0, 1). Stop when a boundary rejects a larger share of the held-out positives, and keep the boundary before
        it. By default there is no such limit.
    hold_out : float, optional
        The share of the labelled positives, in (0, 1), that are held out, and by which each boundary is judged. By
        default 0.2 if `max_pos_reject` is given. Otherwise none are held out, and boundaries are judged by the
        positives that they were fitted to.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
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
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`; all SVMs have the
        same width. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. All SVMs share it. It changes the time, not the model. The linear
        kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which an SVM counts as solved. It is that of
        LIBSVM.
    solver_max_iter : int, optional
        The most steps of the solver in each SVM, >= 1. A step changes a pair of dual variables. By default 10^7, or 100
        n if that is more.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the held-out positives. Nothing else is random. An int gives the same result in
        every call. A generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: MappingRound) -> bool | None``, called after each SVM of P against N. If it returns True, the
        fit ends, and the model is this SVM.
    progress : bool, default False
        Whether to show a progress bar that counts the SVMs of P against N. The bar is that of tqdm; without tqdm a line
        is printed to standard error every ten seconds.

    Returns
    -------
    MappingMachine
        The model, with the boundary of every iteration (`staged_decision_function`, `at`), the set that each row of U
        ended in (`unlabeled_set`), and the numbers of each iteration (`history`). `predict` gives +1 where the last h
        is > 0. With `repair` no rejected row outside the last N has a score >= 0.

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
        If `max_iter` is reached, or an SVM does not meet `tol`.
    DegenerateModelWarning
        - If the mapping rejects no row of U, or all of them. N then begins with the 5 % of U that have the lowest
          scores.
        - If the boundary that is kept rejects more than 20 % of the labelled positives, or calls all rows positive.
        - If all unlabelled rows were rejected.
        - If only the mapping is kept because of `max_pos_reject`.

    Notes
    -----
    The first fit is an SVM on |P| + |N_0| rows, later ones on |P| + |SV(h_i)| + |N_i| rows, and each takes |P_i|
    n_support kernel values for scores. The repair adds those of the rejected rows and a few small fits. There is no
    `sample_weight`, because nu, the fallback of 5 % and the shares above depend on numbers of rows, which weights do
    not change.

    The paper claims that the support vectors and N_i are all that h_(i+1) needs. That does not hold in general. With a
    very local kernel (Letter recognition, gamma = 1 on [0, 1]) ``repair=False`` loses a third of the F1 of SMC or more,
    and ``repair=True`` gets it back.

    References
    ----------
    Yu (2003), SVMC: single-class classification with support vector machines; section 4.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 2))
    >>> inside = np.linalg.norm(X, axis=1) < 1
    >>> y = inside & (rng.random(500) < 0.5)  # half of what lies in the circle is labelled
    >>> model = fastpu.fit_svmc(X, y, C=100)
    >>> bool(np.mean((model.unlabeled_set == 1) == inside[model.unlabeled_rows]) > 0.98)
    True
    >>> n_neg = model.history["n_neg"]  # of the mapping, and of each fit
    >>> bool(n_neg[1] > 300), bool(n_neg[2] < 50)
    (True, True)
    """
    options = MappingOptions.checked(
        keeps_all=False,
        nu_map=nu_map,
        C=C,
        nu=nu,
        max_iter=max_iter,
        max_pos_reject=max_pos_reject,
        hold_out=hold_out,
        repair=repair,
    )
    svm_options = SvmOptions.checked(
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        cache_mb=cache_mb,
        tol=tol,
        max_iter=solver_max_iter,
        max_iter_name="solver_max_iter",  # max_iter is the limit of the loop
        n_threads=n_threads,
    )
    generator = check_random_state(random_state)
    matrix = check_training_rows(X, svm_options.kernel, "fit_svmc")
    warn_of_other_order(X, y=y)
    labels = check_labels(y, matrix.n_rows, pu_only="fit_svmc")
    pu_rows = split_rows(labels, options.hold_out, generator)
    with make_report(callback, progress, total=options.max_iter, description="SVMC") as on_round:
        training = open_solver(matrix, svm_options)
        outcome = converge(pu_rows, SvmStages(training, options), options, on_round)
    params = {
        "method": "fit_svmc",
        **options.params(),
        **svm_options.params(),
        "random_state": seed_param(random_state),
    }
    model = make_model(outcome, pu_rows, training, options, params)
    warn_of_outcome("fit_svmc", outcome, options, training)
    return with_profile(model, X, y)
