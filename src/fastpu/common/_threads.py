"""How many threads a call may use."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path

from fastpu.common._params import MANY, check_int


def resolve_n_threads(n_threads: object) -> int:
    """Return the number of threads that a call may use: by default the CPUs that this process may use.

    Larger requests than 16 and four times that number bring nothing and cost memory, and are cut.
    """
    if n_threads is None:
        return available_cpus()
    requested = check_int("n_threads", n_threads, low=1)
    if requested <= 16:
        return requested
    return min(requested, max(16, 4 * available_cpus()))


def available_cpus() -> int:
    """Return how many CPUs this process may use by its CPU affinity and its cgroup quota (rounded up)."""
    return max(1, min(_affinity_cpus(), _quota_within(int(time.monotonic()))))


def _affinity_cpus() -> int:
    process_cpu_count = getattr(os, "process_cpu_count", None)  # Python 3.13 and later
    if process_cpu_count is not None:
        count = process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    return int(count or 1)


@lru_cache(maxsize=1)
def _quota_within(_second: int) -> int:
    """Return the quota as read in this second of the clock: its files take ten times as long as scoring a row."""
    return _cgroup_quota()


def _cgroup_quota(self_cgroup: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the tightest CPU quota of the control groups of this process, or MANY without one.

    A limit may sit on any ancestor of the group, so all of them are read. Inside a container the path in
    /proc/self/cgroup may be the host's and not exist here; the walk then still ends at the mount point, which is where
    the container's own limit is seen.
    """
    try:
        lines = self_cgroup.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return MANY
    tightest = MANY
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        for root in (mount / controllers, mount / "cpu") if controllers else (mount, mount / "unified"):
            group = root / path.lstrip("/")
            for directory in (group, *group.parents):
                tightest = min(tightest, _read_quota(directory))
                if directory == root:
                    break
    return tightest


def _read_quota(directory: Path) -> int:
    """Return the quota of one control group, from the file of cgroup v2 or the two files of v1; MANY without one."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            quota, period = map(int, " ".join((directory / name).read_text() for name in names).split())
        except (OSError, ValueError):  # there is no such file, or it holds "max", which is no limit
            continue
        if quota > 0 and period > 0:  # -1 means no limit
            return -(-quota // period)
    return MANY
