"""Calls of scikit-learn's callbacks, where the installed version has them, for the rounds of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn import callback as callbacks

    CallbackSupport, with_callbacks = callbacks.CallbackSupportMixin, callbacks.with_callbacks
except ImportError:  # before scikit-learn 1.9, which has no callbacks
    CallbackSupport, with_callbacks = type("NoCallbacks", (), {}), lambda method: method

from collections.abc import Callable, Mapping


class FitTask:
    """A fit as scikit-learn's callbacks see it: one task, with a subtask for every round.

    The subtask of a round begins where that of the round before it ends. One that is open when the fit ends was for a
    round that found nothing more to do.
    """

    def __init__(self, estimator: Any, total: int | None, data: Mapping[str, Any]) -> None:
        self._estimator, self._total, self._data = estimator, total, data
        self._context: Any = None
        self._round: Any = None
        self._n_begun = 0
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=total)
            self._context.call_on_fit_task_begin(estimator=estimator, **data)

    def hook(self, callback: Any) -> Callable[[Any], bool | None] | None:
        """Return the callback for the fit function: the user's, and scikit-learn's callbacks if there are any."""
        if self._context is None or not getattr(self._estimator, "_skl_callbacks", ()):
            return callback  # type: ignore[no-any-return]  # whatever the user gave: the fit function checks it
        if callback is not None and not callable(callback):
            return callback  # type: ignore[no-any-return]  # the fit function refuses it by name
        self._begin()

        def on_round(info: Any) -> bool | None:
            stop = self._end()
            wanted = None if callback is None else callback(info)
            ends = stop or (isinstance(wanted, bool | np.bool_) and bool(wanted))
            if not ends and (self._total is None or self._n_begun < self._total):
                self._begin()
            return True if stop else wanted

        return on_round

    def finish(self, attributes: Mapping[str, Any]) -> None:
        """Say that the fit has ended, with the attributes of the fitted estimator."""
        if self._context is None:
            return
        if self._round is not None:
            self._end()
        self._context.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=lambda: attributes
        )

    def _begin(self) -> None:
        self._n_begun += 1
        self._round = self._context.subcontext(task_name="round")
        self._round.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def _end(self) -> bool:
        ended, self._round = self._round, None
        return ended is not None and bool(ended.call_on_fit_task_end(estimator=self._estimator, **self._data))
