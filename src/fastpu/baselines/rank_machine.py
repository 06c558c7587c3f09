"""The model of AUC by squared losses: a linear ranking in the features or in Gaussian basis functions."""

from __future__ import annotations

from dataclasses import dataclass

from fastpu.risk.risk_machine import RiskMachine


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RankMachine(RiskMachine):
    """A linear ranking in the features or in Gaussian basis functions; `predict` gives +1 where f(x) > threshold.

    f(x) = coef'x, or sum_c coef[c] exp(-|x - centers[c]|^2 / (2 bandwidth^2)). There is no intercept, as it would
    cancel in every pair of rows. The threshold is the one of the best balanced accuracy on the training rows.

    Attributes
    ----------
    basis : str
        "linear" or "gauss".
    coef : ndarray of float64
        One weight for each feature, or for each centre.
    intercept : float
        Always 0.
    bandwidth : float, or None
        The bandwidth of the basis functions, or None for a linear model.
    centers : ndarray or CSR matrix, or None
        The centres of the basis functions, or None for a linear model. They are stored in `centers_dense`, or in
        `centers_data`, `centers_indices` and `centers_indptr`.
    n_iter : int
        The number of steps of the conjugate gradients. It is 0 if the system was solved directly.
    status : str
        "closed_form": the system was solved directly. "singular": it was solved directly, many `coef` have the least
        objective, and this is the shortest. "tol": conjugate gradients met `tol`. "max_iter": they did not.
        "precision": rounding kept the residual above `tol`, or above 1e-6 if the system was solved directly.
        "indefinite": the objective has no minimum.
    converged : bool
        Whether status is "closed_form", "singular" or "tol".
    objective : ndarray of float64, shape (n_iter + 1,)
        The objective at `coef`, or at 0 and after every step of the conjugate gradients.
    history : mapping
        "residual" is |b - (A + lam) coef| / |b| for every entry of `objective`. An indefinite system that was solved
        directly also has "smallest_eigenvalue", that of A + lam, which is < 0.
    """
