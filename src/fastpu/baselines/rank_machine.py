"""The linear models that minimise a squared loss of pairs of rows: they rank."""

from __future__ import annotations

from dataclasses import dataclass

from fastpu.risk.risk_machine import RiskMachine


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RankMachine(RiskMachine):
    """A linear ranking in the features or in Gaussian basis functions; `predict` says +1 where f(x) > threshold.

    f(x) = coef'x, or sum_c coef[c] exp(-|x - centers[c]|^2 / (2 bandwidth^2)). There is no intercept, as it would
    cancel in every pair of rows. The threshold is the one of the best balanced accuracy on the training rows.

    Attributes
    ----------
    basis, coef, intercept, bandwidth, centers, centers_dense, centers_data, centers_indices, centers_indptr
        As in `RiskMachine`; the intercept is 0.
    n_iter : int
        Steps of the conjugate gradients; 0 for a system that was solved directly.
    status : str
        "closed_form" (the system was solved directly), "singular" (directly too, and many `coef` have the least
        objective: this is the shortest), "tol" (conjugate gradients met `tol`), "max_iter", "precision" (rounding kept
        the residual above `tol`, or above 1e-6 if the system was solved directly) or "indefinite" (the objective has no
        minimum).
    converged : bool
        Whether status is one of the first three.
    objective : ndarray of float64, shape (n_iter + 1,)
        What is minimised: at `coef`, or at 0 and after every step of the conjugate gradients.
    history : mapping
        "residual": |b - (A + lam) coef| / |b| for every entry of `objective`. For an indefinite system that was solved
        directly also "smallest_eigenvalue": that of A + lam, which is < 0.
    """
