"""The number of threads honours what this process may use."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from fastpu.common import _threads
from fastpu.common._params import MANY
from fastpu.common._threads import available_cpus, resolve_n_threads


@pytest.fixture
def machine(monkeypatch):
    """Pretend that the process may use so many CPUs, under such a quota."""

    def pretend(cpus, quota=MANY):
        monkeypatch.setattr(_threads, "_affinity_cpus", lambda: cpus)
        monkeypatch.setattr(_threads, "_quota_within", lambda second: quota)

    return pretend


def test_none_means_the_cpus_that_may_be_used(machine):
    machine(8)
    assert resolve_n_threads(None) == 8
    machine(8, quota=3)
    assert resolve_n_threads(None) == available_cpus() == 3
    machine(2, quota=3)
    assert resolve_n_threads(None) == 2
    machine(0)
    assert resolve_n_threads(None) == 1


def test_numbers_are_taken_as_given_up_to_a_sane_maximum(machine):
    machine(2)
    for n in (1, 7, 16, np.int64(3)):
        assert resolve_n_threads(n) == n
        assert type(resolve_n_threads(n)) is int
    assert resolve_n_threads(10**9) == 16
    machine(64)
    assert resolve_n_threads(200) == 200
    assert resolve_n_threads(10**9) == 256


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="CPU affinity is Linux's")
def test_affinity_is_honoured():
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from fastpu.common._threads import available_cpus; print(available_cpus())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def quota(tmp_path, cgroup):
    listing = tmp_path / "cgroup"
    listing.write_text(cgroup)
    return _threads._cgroup_quota(listing, tmp_path / "mount")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000", MANY),
        ("150000 100000\n", 2),
        ("200000 100000", 2),
        ("1000 100000", 1),
        ("garbage", MANY),
        ("", MANY),
        ("5 0", MANY),
    ],
)
def test_quota_of_cgroup_v2(tmp_path, text, expected):
    group = tmp_path / "mount" / "a" / "b"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text(text)
    assert quota(tmp_path, "0::/a/b\n") == expected


def test_the_tightest_quota_on_the_way_up_counts(tmp_path):
    group = tmp_path / "mount" / "a" / "b"
    group.mkdir(parents=True)
    for directory, limit in (
        (group, "400000 100000"),
        (group.parent, "250000 100000"),
        (tmp_path / "mount", "max 100000"),
    ):
        (directory / "cpu.max").write_text(limit)
    # A file above the mount point must not be read.
    (tmp_path / "cpu.max").write_text("1 100000")
    assert quota(tmp_path, "0::/a/b\n") == 3
    # In a container the path is the host's; the limit is seen at the mount point.
    (tmp_path / "mount" / "cpu.max").write_text("100000 100000")
    assert quota(tmp_path, "0::/host/path/unknown\n") == 1


def test_quota_of_cgroup_v1(tmp_path):
    group = tmp_path / "mount" / "cpu,cpuacct" / "docker"
    group.mkdir(parents=True)
    (group / "cpu.cfs_quota_us").write_text("350000")
    (group / "cpu.cfs_period_us").write_text("100000")
    assert quota(tmp_path, "5:memory:/docker\n4:cpu,cpuacct:/docker\n1:name=systemd:/\n") == 4
    (group / "cpu.cfs_quota_us").write_text("-1")
    assert quota(tmp_path, "4:cpu,cpuacct:/docker\n") == MANY
    assert quota(tmp_path, "5:cpuset:/docker\n") == MANY


def test_no_control_groups(tmp_path):
    assert _threads._cgroup_quota(tmp_path / "absent", tmp_path) == MANY
    assert quota(tmp_path, "nonsense\n\n::\n") == MANY
    assert available_cpus() >= 1


def test_the_quota_is_read_once_a_second(monkeypatch):
    """Its files take 0.3 ms, in which a model scores ten single rows."""
    n_reads, now = 0, 100.2

    def read() -> int:
        nonlocal n_reads
        n_reads += 1
        return n_reads

    monkeypatch.setattr(_threads, "_affinity_cpus", lambda: 8)
    monkeypatch.setattr(_threads, "_cgroup_quota", read)
    monkeypatch.setattr(_threads.time, "monotonic", lambda: now)
    _threads._quota_within.cache_clear()
    assert [available_cpus() for _ in range(3)] == [1, 1, 1]
    now = 101.1
    assert [available_cpus() for _ in range(3)] == [2, 2, 2]
    monkeypatch.undo()
    _threads._quota_within.cache_clear()


def test_cpus_are_counted_by_the_best_that_python_and_the_system_have(monkeypatch):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 5, raising=False)
    assert _threads._affinity_cpus() == 5
    monkeypatch.delattr(os, "process_cpu_count")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert _threads._affinity_cpus() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert _threads._affinity_cpus() == 1
