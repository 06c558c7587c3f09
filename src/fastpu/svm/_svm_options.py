"""The arguments of kernel machines that belong to the kernel and to the solver."""

from __future__ import annotations

from dataclasses import dataclass

from fastpu import _core
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GammaLike, KernelLike
from fastpu.kernels._kernel import KernelOptions, check_kernel

_MIB = 2**20
_LEAST_STEPS = 10**7  # default of max_iter, unless 100 for each row is more


@dataclass(frozen=True)
class SvmOptions:
    """The checked arguments that all kernel machines share.

    `max_steps` is the most pair updates that the caller allows, or None. The function calls it `max_steps_name`.
    """

    kernel: KernelOptions
    cache_bytes: int
    tol: float
    max_steps: int | None
    max_steps_name: str
    n_threads: int

    @staticmethod
    def checked(
        *,
        kernel: KernelLike,
        gamma: GammaLike,
        degree: int,
        coef0: float,
        cache_mb: float,
        tol: float,
        max_iter: int | None,
        n_threads: int | None,
        max_iter_name: str = "max_iter",
    ) -> SvmOptions:
        return SvmOptions(
            kernel=check_kernel(kernel, gamma, degree, coef0),
            cache_bytes=check_cache(cache_mb),
            tol=check_float("tol", tol, low=0, open_low=True),
            max_steps=None if max_iter is None else check_int(max_iter_name, max_iter, low=1),
            max_steps_name=max_iter_name,
            n_threads=resolve_n_threads(n_threads),
        )

    def steps_for(self, n_rows: int) -> int:
        """Return the most pair updates for a problem of so many rows."""
        return min(max(_LEAST_STEPS, 100 * n_rows) if self.max_steps is None else self.max_steps, MANY)

    def core_options(self, n_rows: int, limit: int | None = None) -> _core.SmoOptions:
        """Return what the core takes for a problem of so many rows, with this limit of steps if there is one."""
        return _core.SmoOptions(tol=self.tol, max_steps=self.steps_for(n_rows) if limit is None else limit)

    def params(self) -> dict[str, object]:
        return {**self.kernel.params(), "tol": self.tol, self.max_steps_name: self.max_steps}


def check_cache(cache_mb: object) -> int:
    """Return the bytes of a cache whose size was given in MiB."""
    cache = check_float("cache_mb", cache_mb, low=0, open_low=True)
    return int(min(cache * _MIB, float(MANY)))
