"""Rows on the boundary of a one-class SVM are inside."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.baselines import fit_one_class_svm


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_at_most_a_share_nu_of_the_training_rows_is_called_an_outlier(dtype):
    rng = np.random.default_rng(0)
    for n_rows in range(2, 40):
        X = rng.standard_normal((n_rows, 2)).round(1).astype(dtype)
        for nu in (0.02, 0.3):
            single, (of_grid, _) = fit_one_class_svm(X, nu=nu), fit_one_class_svm(X, nu=[nu, 0.9])
            for model in (single, of_grid):
                assert np.count_nonzero(model.predict(X) < 0) <= nu * n_rows
                assert -1.1e-3 <= model.threshold <= 0
