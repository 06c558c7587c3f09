"""Simulated data of the papers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int, check_random_state
from fastpu.common._types import RandomState

_MOST_ROWS = 2**40  # more rows than any memory has room for
# make_trifurcate: the variance of the three clusters, the covariance of the negatives' two features, and both
# coordinates of the centre of the near positives.
_VARIANCE, _COVARIANCE, _NEAR = 50.0, 0.2, 15.0
# make_four_normals: the centres of the clusters lie on a circle of this radius, from this angle on.
_RADIUS, _PHASE = 3.0, math.pi / 8


@answers_unknown_keywords
def make_two_normals(
    n: int = 1000, *, random_state: RandomState = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    r"""Draw two normal classes in the plane: Example 1 of the ISVM paper.

    .. math:: \Pr(Y = \pm 1) = \tfrac12, \quad X_1 \mid Y \sim N(Y, 1), \quad X_2 \sim N(0, 1)

    The second feature is noise. The best rule is the sign of the first one; its error rate is
    :math:`\Phi(-1) = 0.1587`, which is the Bayes error that the paper prints.

    Parameters
    ----------
    n : int, default 1000
        The number of rows, >= 1.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    X : ndarray of float64, shape (n, 2)
    y : ndarray of int8, shape (n,)
        True labels, +1 and -1. `split_single_set` and `split_case_control` hide them.

    Notes
    -----
    The paper (Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples",
    section 5.1) only cites Wang and Shen (2007) for the definition. This is our reading of it, which the Bayes error
    supports.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.datasets import make_two_normals
    >>> X, y = make_two_normals(100_000, random_state=0)
    >>> round(float(np.mean(np.sign(X[:, 0]) != y)), 2)
    0.16
    """
    n, rng = check_int("n", n, low=1, high=_MOST_ROWS), check_random_state(random_state)
    positive = rng.random(n) < 0.5
    X = rng.standard_normal((n, 2))
    X[:, 0] += np.where(positive, 1.0, -1.0)
    return X, np.where(positive, np.int8(1), np.int8(-1))


@answers_unknown_keywords
def make_four_normals(
    n: int = 1000, *, variance: float = 3.0792, random_state: RandomState = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    r"""Draw four normal clusters in the plane, two of each class: in place of Example 2 of the ISVM paper.

    .. math:: k \sim U\{1, 2, 3, 4\}, \quad X_1 \mid k \sim N(3 \cos(k \pi / 2 + \pi / 8), 1), \quad
        X_2 \mid k \sim N(3 \sin(k \pi / 2 + \pi / 8), \sigma^2), \quad Y = 1 \Longleftrightarrow k \in \{1, 4\}

    Parameters
    ----------
    n : int, default 1000
        The number of rows, >= 1.
    variance : float, default 3.0792
        :math:`\sigma^2` > 0, the variance of the second feature within a cluster.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    X : ndarray of float64, shape (n, 2)
    y : ndarray of int8, shape (n,)
        True labels, +1 and -1. `split_single_set` and `split_case_control` hide them.

    Notes
    -----
    This is not Example 2 of the ISVM paper (Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive
    and unlabeled examples"), whose definition could not be confirmed: section 5.1 only cites Wang and Shen (2007), and
    prints a Bayes error of 0.089. The clusters above with a variance of 4 resemble the cited example, but their Bayes
    error is 0.1105. The default variance makes it 0.0890, so the problem is as hard as the paper's; figures on it need
    not be the paper's.

    Examples
    --------
    >>> from fastpu.datasets import make_four_normals
    >>> X, y = make_four_normals(4, random_state=0)
    >>> X.shape, sorted(set(y.tolist())) in ([-1], [1], [-1, 1])
    ((4, 2), True)
    """
    n, rng = check_int("n", n, low=1, high=_MOST_ROWS), check_random_state(random_state)
    deviation = math.sqrt(check_float("variance", variance, low=0, open_low=True))
    k = rng.integers(1, 5, size=n)
    y = np.where((k == 1) | (k == 4), np.int8(1), np.int8(-1))
    X = rng.standard_normal((n, 2))
    X[:, 1] *= deviation
    angle = k * (np.pi / 2) + _PHASE
    part = np.cos(angle)  # in place, as not every platform reuses the memory of parts of a formula
    part *= _RADIUS
    X[:, 0] += part
    np.sin(angle, out=part)
    part *= _RADIUS
    X[:, 1] += part
    return X, y


@answers_unknown_keywords
def make_trifurcate(
    n: int = 800, *, mean: float = 50.0, random_state: RandomState = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    r"""Draw positives near the negatives and positives far beyond them: the simulated sets of the PUAL paper.

    .. math:: X \mid Y = 1 \sim N(c, 50 I), \; c = (15, 15) \text{ or } (\text{mean}, \text{mean}), \quad
        X \mid Y = -1 \sim N\left(0, \begin{pmatrix} 50 & 0.2 \\ 0.2 & 50 \end{pmatrix}\right)

    The first n // 4 rows are near positives, those up to n // 2 far ones, and the others negative.

    Parameters
    ----------
    n : int, default 800
        The number of rows, >= 4.
    mean : float, default 50.0
        Both coordinates of the centre of the far positives. The paper has 50, 100, 200, 500 and 1000.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    X : ndarray of float64, shape (n, 2)
    y : ndarray of int8, shape (n,)
        True labels, +1 and -1. `split_single_set` and `split_case_control` hide them.

    Notes
    -----
    Source: Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", section 4.1.1.

    Examples
    --------
    >>> from fastpu.datasets import make_trifurcate
    >>> X, y = make_trifurcate(mean=200.0, random_state=0)
    >>> X.shape, int((y == 1).sum()), bool((X[200:400] > 150).all())
    ((800, 2), 400, True)
    """
    n, rng = check_int("n", n, low=4, high=_MOST_ROWS), check_random_state(random_state)
    centre = check_float("mean", mean)
    n_near, n_pos = n // 4, n // 2
    X = math.sqrt(_VARIANCE) * rng.standard_normal((n, 2))
    X[:n_near] += _NEAR
    X[n_near:n_pos] += centre
    slope = _COVARIANCE / _VARIANCE
    X[n_pos:, 1] = slope * X[n_pos:, 0] + math.sqrt(1 - slope**2) * X[n_pos:, 1]
    return X, np.where(np.arange(n) < n_pos, np.int8(1), np.int8(-1))


@answers_unknown_keywords
def make_pu_toy1(n: int = 200, *, random_state: RandomState = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    r"""Draw two normal classes in the plane: PU_toy1 of the PU-SvmPath paper.

    .. math:: X \mid Y = 1 \sim N((2, 2), 2 I), \quad X \mid Y = -1 \sim N((-2, -2), 2 I)

    Parameters
    ----------
    n : int, default 200
        The number of rows, >= 2. Half of them, rounded up, are positive and come first.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    X : ndarray of float64, shape (n, 2)
    y : ndarray of int8, shape (n,)
        True labels, +1 and -1. `split_single_set` and `split_case_control` hide them.

    References
    ----------
    Yao, Tang and Li, "The entire solution path for support vector machine in positive and unlabeled classification",
    section 4.1.1.

    Examples
    --------
    >>> from fastpu.datasets import make_pu_toy1
    >>> X, y = make_pu_toy1(random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 2), 0)
    """
    return _two_clusters(n, (2.0, 2.0), (-2.0, -2.0), random_state)


@answers_unknown_keywords
def make_pu_toy2(n: int = 400, *, random_state: RandomState = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    r"""Draw two normal classes in the plane: PU_toy2 of the PU-SvmPath paper.

    .. math:: X \mid Y = 1 \sim N((2, -3), 2 I), \quad X \mid Y = -1 \sim N((-3, 2), 2 I)

    Parameters
    ----------
    n : int, default 400
        The number of rows, >= 2. Half of them, rounded up, are positive and come first.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    X : ndarray of float64, shape (n, 2)
    y : ndarray of int8, shape (n,)
        True labels, +1 and -1. `split_single_set` and `split_case_control` hide them.

    References
    ----------
    Yao, Tang and Li, "The entire solution path for support vector machine in positive and unlabeled classification",
    section 4.1.1.

    Examples
    --------
    >>> from fastpu.datasets import make_pu_toy2
    >>> X, y = make_pu_toy2(random_state=0)
    >>> X.shape, int(y.sum())
    ((400, 2), 0)
    """
    return _two_clusters(n, (2.0, -3.0), (-3.0, 2.0), random_state)


def _two_clusters(
    n: object, positive: tuple[float, float], negative: tuple[float, float], random_state: RandomState
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    n_rows, rng = check_int("n", n, low=2, high=_MOST_ROWS), check_random_state(random_state)
    n_pos = (n_rows + 1) // 2
    X = rng.standard_normal((n_rows, 2))
    X *= math.sqrt(2.0)
    X[:n_pos] += positive
    X[n_pos:] += negative
    y: NDArray[np.int8] = np.ones(n_rows, dtype=np.int8)
    y[n_pos:] = -1
    return X, y
