"""How many processors this process may use."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def processors() -> int:
    """Count the processors in the affinity mask, limited by the quotas of control groups.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst, ``cpu.max``.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quotas = [math.ceil(quota / period) for quota, period in _quotas(_CGROUPS)]
    return max(1, min([usable or 1, *quotas]))


def limited() -> bool:
    """Return whether this process may use fewer processors than the machine has."""
    return processors() < (os.cpu_count() or 1)


def _quotas(root: Path) -> Iterator[tuple[int, int]]:
    """Yield each group's quota and period in microseconds, if the group has a limit."""
    own = Path("/proc/self/cgroup").read_text().splitlines() if root.is_dir() else []
    group = next((line[3:].strip("/") for line in own if line.startswith("0::")), "")
    for folder in (root / group, *(root / group).parents):
        words = _words(folder / "cpu.max")
        if len(words) == 2 and words[0].isdigit():
            yield int(words[0]), int(words[1])
        if folder == root:
            break
    first = root / "cpu"  # version 1
    quota, period = _words(first / "cpu.cfs_quota_us"), _words(first / "cpu.cfs_period_us")
    if quota and period and quota[0].isdigit():
        yield int(quota[0]), int(period[0])


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except OSError:
        return []
