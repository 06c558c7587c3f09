"""Estimates of the class prior: the share of positives among the unlabelled rows.

All of them assume that the labelled rows are a random sample of the positives (`scar_test` tests that), and that nearly
all rows are positive in some region: without such a region nothing can be estimated. If the classes overlap everywhere,
they estimate the largest share that the data do not contradict, which is larger than the true one.

Every estimate says how far it can be trusted: `PriorEstimate.allowed` has the shares that held-out scores do not
contradict. An `EstimateWarning` says if these reach so far down that the estimate is only an upper bound, or if the
estimate lies outside of them. Begin with `bbe`, above all where positives are rare.
"""

from fastpu.model._prior import PriorEstimate
from fastpu.priors._best_bin import bbe
from fastpu.priors._km2 import km2
from fastpu.priors._scar_test import ScarTest, scar_test
from fastpu.priors._sensitivity import Sensitivity, sensitivity

__all__ = ["PriorEstimate", "ScarTest", "Sensitivity", "bbe", "km2", "scar_test", "sensitivity"]


def __dir__() -> list[str]:
    return __all__
