"""How many threads a call may use."""

from __future__ import annotations

import os
from pathlib import Path

from fastpu.common._params import check_int


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
    quota = _cgroup_quota()
    cpus = _affinity_cpus()
    if quota is not None:
        cpus = min(cpus, quota)
    return max(cpus, 1)


def _affinity_cpus() -> int:
    process_cpu_count = getattr(os, "process_cpu_count", None)  # Python 3.13 and later
    if process_cpu_count is not None:
        count = process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    return int(count or 1)


def _cgroup_quota(self_cgroup: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the tightest CPU quota of the control groups of this process, or None without one.

    A limit may sit on any ancestor of the group, so all of them are read. Inside a container the
    path in /proc/self/cgroup may be the host's and not exist here; the walk then still ends at the
    mount point, which is where the container's own limit is seen.
    """
    try:
        lines = self_cgroup.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    quotas = []
    for line in lines:
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if hierarchy == "0" and not controllers:
            roots = (mount, mount / "unified")
            read = _read_quota_v2
        elif "cpu" in controllers.split(","):
            roots = (mount / controllers, mount / "cpu")
            read = _read_quota_v1
        else:
            continue
        for root in roots:
            group = root / path.lstrip("/")
            for directory in (group, *group.parents):
                quota = read(directory)
                if quota is not None:
                    quotas.append(quota)
                if directory == root:
                    break
    return min(quotas, default=None)


def _read_quota_v2(directory: Path) -> int | None:
    try:
        quota, period = (directory / "cpu.max").read_text().split()
        return None if quota == "max" else _ceil_cpus(int(quota), int(period))
    except (OSError, ValueError):
        return None


def _read_quota_v1(directory: Path) -> int | None:
    try:
        quota = int((directory / "cpu.cfs_quota_us").read_text())
        period = int((directory / "cpu.cfs_period_us").read_text())
        return _ceil_cpus(quota, period)
    except (OSError, ValueError):
        return None


def _ceil_cpus(quota: int, period: int) -> int | None:
    if quota <= 0 or period <= 0:  # -1 means no limit
        return None
    return -(-quota // period)
