"""Mapping convergence written plainly over scikit-learn: one-class mapping, then SVMs until nothing is rejected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.svm import SVC, NuSVC, OneClassSVM

#: LIBSVM's stopping tolerance: the sets of support vectors are then those of the exact solution, ties aside.
SOLVER_TOL = 1e-9
#: nu stays below its bound by this factor, so that the nu-SVM has a solution.
NU_SHARE = 0.999
#: Of U, if the mapping rejects none of it or all of it.
FALLBACK_SHARE = 0.05


@dataclass
class Run:
    """What the loop did; rows are numbers of rows of X."""

    mapping: Any = None  # h_0(rows of features) -> scores
    found: list[np.ndarray] = field(default_factory=list)  # N_0, N_1, ...
    trained_on: list[np.ndarray] = field(default_factory=list)  # N of each fit
    support: list[np.ndarray] = field(default_factory=list)  # its negative support vectors
    fits: list[Any] = field(default_factory=list)  # the SVMs, in order
    kinds: list[int] = field(default_factory=list)  # 1 convergence, 2 repair
    left: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # of U, never rejected

    @property
    def n_iter(self) -> int:
        return len(self.fits)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return self.fits[-1].decision_function(X)

    @property
    def rejected(self) -> np.ndarray:
        return np.sort(np.concatenate(self.found))


def one_class_mapping(P: np.ndarray, nu_map: float, **kernel: Any) -> Any:
    """h_0: the one-class SVM of P, its threshold lowered until all of P is inside."""
    machine = OneClassSVM(nu=max(nu_map, 1 / P.shape[0]), **kernel).fit(P)
    least = machine.decision_function(P).min()
    return lambda X: machine.decision_function(X) - least


def supervised(X: np.ndarray, P: np.ndarray, N: np.ndarray, *, C: float, nu: float | None, **kernel: Any) -> Any:
    """The C-SVM (nu-SVM where nu is given) of P against N."""
    rows = np.concatenate([P, N])
    labels = np.repeat([1, -1], [P.size, N.size])
    if nu is None:
        return SVC(C=C, **kernel).fit(X[rows], labels)
    bound = 2 * min(P.size, N.size) / rows.size
    return NuSVC(nu=min(nu, NU_SHARE * bound), **kernel).fit(X[rows], labels)


def negative_support(machine: Any, N: np.ndarray, n_pos: int) -> np.ndarray:
    """The rows of N that are support vectors, in the order of N."""
    numbers = machine.support_
    return N[np.sort(numbers[numbers >= n_pos]) - n_pos]


def mapping_convergence(
    X: np.ndarray,
    y: np.ndarray,
    *,
    reset: bool,
    repair: bool = False,
    nu_map: float = 0.01,
    C: float = 1.0,
    nu: float | None = None,
    max_iter: int = 100,
    tol: float = SOLVER_TOL,
    **kernel: Any,
) -> Run:
    """SMC, or with `reset` SVMC: section 1 of the specification, with its repair (3a).

    Any `kernel` is passed on to scikit-learn: the peer in bench/peers/svm.py is this loop with LIBSVM's own tolerance.
    """
    kernel = {"tol": tol, **kernel}
    run = Run()
    P, U = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    run.mapping = one_class_mapping(X[P], nu_map, **kernel)
    h0 = run.mapping(X[U])
    rejects = h0 < 0
    if rejects.all() or not rejects.any():
        rejects = np.zeros(U.size, bool)
        rejects[np.argsort(h0, kind="stable")[: int(np.ceil(FALLBACK_SHARE * U.size))]] = True
    new, left = U[rejects], U[~rejects]
    run.found.append(new)
    N = np.empty(0, np.int64)
    kind = 1
    while True:
        N = np.concatenate([N, new])
        h = supervised(X, P, N, C=C, nu=nu, **kernel)
        rejects = h.decision_function(X[left]) < 0 if left.size else np.zeros(0, bool)
        run.fits.append(h)
        run.kinds.append(kind)
        run.trained_on.append(N)
        run.support.append(negative_support(h, N, P.size))
        new, left = left[rejects], left[~rejects]
        run.found.append(new)
        if reset and kind == 1:
            N = run.support[-1]
        if not new.size and reset and repair:
            forgotten = np.setdiff1d(run.rejected, N)
            if forgotten.size:
                new = forgotten[h.decision_function(X[forgotten]) >= 0]
                kind = 2 if new.size else kind
        if not new.size or len(run.fits) == max_iter:
            break
    run.left = left
    return run
