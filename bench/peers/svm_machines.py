"""fastpu, scikit-learn, which solves SVMs by LIBSVM in one thread, and scikit-learn-intelex behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from svm_problems import Problem, Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Machine(ABC):
    """A library, with a number of threads and the precision of the rows that it is given."""

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self, problem: Problem) -> Problem:
        """Return the problem with rows as this one is given them."""
        return problem

    @abstractmethod
    def fit(self, problem: Problem) -> Any:
        """Return the fitted model."""

    @abstractmethod
    def scores(self, model: Any, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows."""

    @abstractmethod
    def coefficients(self, model: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the support vectors' row numbers, and their alpha."""

    def solution(self, problem: Problem, model: Any) -> Solution:
        """Return what was found."""
        alpha = np.zeros(problem.y.size)
        support, values = self.coefficients(model)
        alpha[support] = values
        return Solution(alpha)


class Fastpu(Machine):
    """fastpu with so many threads, on float64 or float32."""

    def __init__(self, name: str, n_threads: int, dtype: str) -> None:
        super().__init__(name)
        self.n_threads = n_threads
        self.dtype = dtype

    def prepare(self, problem: Problem) -> Problem:
        X, test = (rows.astype(self.dtype, copy=False) for rows in (problem.X, problem.test))
        return replace(problem, X=X, test=test)

    def fit(self, problem: Problem) -> Any:
        import fastpu  # noqa: PLC0415 (not where another library's memory is measured)

        shared = {**problem.kernel, "tol": problem.tol, "cache_mb": problem.cache_mb, "n_threads": self.n_threads}
        if problem.kind == "c_svm":
            return fastpu.baselines.fit_svm(problem.X, problem.y, C=problem.parameter, **shared)
        if problem.kind == "nu_svm":
            return fastpu.baselines.fit_nu_svm(problem.X, problem.y, nu=problem.parameter, **shared)
        return fastpu.baselines.fit_one_class_svm(problem.X, nu=problem.parameter, **shared)

    def scores(self, model: Any, X: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = model.decision_function(X, n_threads=self.n_threads)
        return found

    def coefficients(self, model: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return model.support, model.alpha


class ScikitLearn(Machine):
    """SVC, OneClassSVM and NuSVC."""

    def classes(self) -> tuple[Any, Any]:
        """Return these three."""
        from sklearn import svm  # noqa: PLC0415 (only where it is measured)

        return svm.SVC, svm.OneClassSVM, svm.NuSVC

    def fit(self, problem: Problem) -> Any:
        shared = {**problem.kernel, "tol": problem.tol, "cache_size": problem.cache_mb}
        svc, one_class, nu_svc = self.classes()
        if problem.kind == "c_svm":
            return svc(C=problem.parameter, **shared).fit(problem.X, problem.y)
        if problem.kind == "nu_svm":
            return nu_svc(nu=problem.parameter, **shared).fit(problem.X, problem.y)
        return one_class(nu=problem.parameter, **shared).fit(problem.X)

    def scores(self, model: Any, X: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = model.decision_function(X)
        return found

    def coefficients(self, model: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        coef = model.dual_coef_  # sparse where the rows are
        return model.support_, np.abs(coef.toarray() if issparse(coef) else coef).ravel()


class Intelex(ScikitLearn):
    """The first of these as oneDAL solves it, with so many threads."""

    def __init__(self, name: str, n_threads: int) -> None:
        super().__init__(name)
        self.n_threads = n_threads

    def classes(self) -> tuple[Any, Any]:
        from sklearnex import svm  # noqa: PLC0415 (only where it is measured)

        return partial(svm.SVC, n_jobs=self.n_threads), None, None


def machine(name: str) -> Machine:
    """Return the library of a name: "scikit-learn", or "fastpu float64 2", the number of threads at the end."""
    if name == "scikit-learn":
        return ScikitLearn(name)
    library, *dtype, n_threads = name.split()
    return Fastpu(name, int(n_threads), *dtype) if library == "fastpu" else Intelex(name, int(n_threads))
