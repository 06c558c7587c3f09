"""The losses that boosted stumps minimise: their names in the core, and what Python has to know about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Loss:
    """A loss of the core.

    `gain` is what messages call the gain of a stump. If the loss `ranks`, adding a constant to all scores changes
    nothing for it, and the threshold of the model is that of the best balanced accuracy on the training rows; otherwise
    the threshold is 0. `unused_group` maps values of gamma to the label whose rows do not enter the loss at that gamma.
    """

    name: str
    gain: str
    ranks: bool
    unused_group: Mapping[float, int] = field(default_factory=dict)


_AUC = Loss("auc", gain="Delta", ranks=True)
#: By the name of the function that minimises it.
LOSSES = {
    "fit_pnu_auc_boost": _AUC,
    "fit_rankboost_auc": _AUC,
    "fit_pnu_adaboost": Loss("ada", gain="edge", ranks=False, unused_group={0.0: -1, 1.0: 1}),
}


@dataclass(frozen=True)
class LossOptions:
    """The parameters of a loss, as the core takes them: see the losses in `cpp/src/boosting`."""

    gamma: float
    rho: float = 0.0
    step: str = "jensen"
