"""From an estimate of the prior and its bootstrap to the result, with a warning where it cannot be trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning
from fastpu.model._prior import PriorEstimate
from fastpu.priors._doubts import doubts
from fastpu.priors._likelihood import ScoreShare
from fastpu.priors._sample import Sample
from fastpu.tree._leaks import FEWEST_POS, FEWEST_UNL, PERFECT

MOST_SAMPLES = 10**9  # most samples of a bootstrap: more than there is time for
_LEVEL = 0.95
_REMEDY = "pass a prior that you know, or see with priors.sensitivity what depends on it"
_TOO_PERFECT = (
    "held-out scores separate labelled from unlabelled rows nearly perfectly: either hardly any unlabelled row is "
    "positive, or a column knows the labels, and then the estimate is far too small; fastpu.fit_forest names such a "
    "column"
)


def finished_estimate(
    method: str, value: float, share: ScoreShare, samples: NDArray[np.float64], sample: Sample, trouble: str
) -> PriorEstimate:
    """Return the estimate with what held-out scores allow and the interval of the samples, if there are any.

    `trouble` is what the method itself found, for the warning.
    """
    samples.flags.writeable = False
    interval = None
    if samples.size:
        low, high = np.quantile(samples, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        interval = float(low), float(high)
    result = PriorEstimate(float(value), interval, samples, (share.low, share.high))
    per_row = sample.per_row
    is_enough = sample.pos.size * per_row.pos >= FEWEST_POS and sample.unl.size * per_row.unl >= FEWEST_UNL
    if not trouble and share.auc >= PERFECT and is_enough:
        trouble = _TOO_PERFECT
    if trouble := trouble or doubts(result, _REMEDY):
        warn(f"{method}: {trouble}", EstimateWarning)
    return result
