"""The options of the functions that boost stumps, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fastpu import _core
from fastpu.boosting._eval_set import check_patience
from fastpu.common._frozen import set_fields
from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._threads import resolve_n_threads
from fastpu.tree._binning import check_max_bins_or_word

StepName: TypeAlias = Literal["jensen", "line_search"]
MaxBins: TypeAlias = int | Literal["exact"] | None

#: The losses of the core by their names.
LOSSES = {info.name: info for info in _core.stump_losses()}
STOP_TOL = 1e-9  # the default: it is met in practice only where nothing is left to gain


@dataclass(frozen=True, kw_only=True)
class StumpOptions:
    """The options of a fit of boosted stumps, which are checked when the record is made.

    `function` and `title` name the public function and its method in messages. `own_params` are the options that are
    arguments of that function, of which the model keeps a record, beside those that all functions have. `loss` is the
    name of one of the core's losses; `unread_at` has, for values of gamma, the label whose rows it does not read there.
    """

    function: str
    title: str
    own_params: tuple[Literal["gamma", "rho", "step"], ...]
    loss: str
    gamma: float
    rho: float = 0.0
    step: StepName = "jensen"
    leaves_out_unlabeled: bool = False
    unread_at: Mapping[float, int] = field(default_factory=dict)
    n_rounds: int
    stop_tol: float
    early_stopping_rounds: int | None
    n_folds: int = 5
    max_bins: MaxBins = None
    n_threads: int | None = None
    threads: int = field(init=False)  # that a call may use

    def __post_init__(self) -> None:
        set_fields(
            self,
            gamma=check_float("gamma", self.gamma, low=0, high=1),
            rho=check_float("rho", self.rho, low=0, high=1, open_high=True),
            step=check_choice("step", self.step, ("jensen", "line_search")),
            n_rounds=check_int("n_rounds", self.n_rounds, low=1),
            stop_tol=check_float("stop_tol", self.stop_tol, low=0),
            threads=resolve_n_threads(self.n_threads),
            early_stopping_rounds=check_patience(self.early_stopping_rounds) or None,
            n_folds=check_int("n_folds", self.n_folds, low=2),
            max_bins=check_max_bins_or_word(self.max_bins, ("exact",)),
        )

    @property
    def ranks(self) -> bool:
        """Whether adding a constant to all scores changes nothing, so that 0 is no natural threshold."""
        return LOSSES[self.loss].only_ranks

    @property
    def unused_label(self) -> int | None:
        """The label of the rows that the loss does not read, or None. Such rows count as absent."""
        return 0 if self.leaves_out_unlabeled else self.unread_at.get(self.gamma)

    def for_core(self, n_rounds: int, early_stopping_rounds: int | None) -> _core.StumpBoostOptions:
        """Return the options of the core for a fit of so many rounds."""
        return _core.StumpBoostOptions(
            loss=self.loss,
            gamma=self.gamma,
            rho=self.rho,
            step=self.step,
            n_rounds=min(n_rounds, MANY),
            stop_tol=self.stop_tol,
            early_stopping_rounds=min(early_stopping_rounds or 0, MANY),
        )
