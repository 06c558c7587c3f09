"""The warning about models of a risk that call all rows the same."""

from __future__ import annotations

import numpy as np

from fastpu.common._warn import one_verdict, warn
from fastpu.exceptions import DegenerateModelWarning
from fastpu.model._model import Model
from fastpu.model._scoring import refuse_nan_scores
from fastpu.risk._risk_rows import RiskRows


def warn_of_one_class(model: Model, rows: RiskRows) -> None:
    """Warn of a model that calls all rows, or all unlabelled ones, the same."""
    if model.status == "callback":
        return
    scores = refuse_nan_scores(model._decision_function(rows.matrix, rows.options.n_threads), "X")
    is_called = scores > 0
    among = is_called[rows.labels == 0]
    n_called = int(np.count_nonzero(among))
    if n_called not in (0, among.size):
        return
    n_other = among.size * ((1 - rows.prior) if n_called else rows.prior)  # rows that should not be called that
    is_for_all = bool((is_called == is_called[0]).all())
    if not is_for_all and n_other < 1:
        return
    scores = scores if is_for_all else scores[rows.labels == 0]
    kind = "training" if is_for_all else "unlabelled"
    verdict = one_verdict(scores.size if n_called else 0, scores.size, scores.min(), scores.max(), kind)
    warn(
        f"{rows.options.function}: the model {verdict}. By the prior, {n_other:.3g} of the unlabelled rows are of the "
        f"other class. Scale the features, lower lam or train it for longer. Where the classes overlap this much, rank "
        f"by the scores, or take the threshold that fits the prior (with_threshold)",
        DegenerateModelWarning,
    )
