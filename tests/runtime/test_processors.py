"""The processors that a process may use, in a container and out of it, and their name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polybake.runtime import processors as module
from polybake.runtime.processor_name import processor_name
from polybake.runtime.processors import limited, processors

MANY = 64
PERIOD = {"cpu/cpu.cfs_period_us": "100000"}
QUOTAS = {"a": "300000", "a/b": "500000", "other": "100000"}
GROUPS = {f"{group}/cpu.max": f"{quota} 100000" for group, quota in QUOTAS.items()}


@pytest.mark.parametrize(
    ("files", "affinity", "expected"),
    [
        ({}, MANY, (MANY, False)),
        ({"cpu.max": "max 100000"}, MANY, (MANY, False)),
        ({"cpu.max": "150000 100000"}, MANY, (2, True)),
        (GROUPS, MANY, (3, True)),
        (PERIOD | {"cpu/cpu.cfs_quota_us": "-1"}, MANY, (MANY, False)),
        (PERIOD | {"cpu/cpu.cfs_quota_us": "250000"}, MANY, (3, True)),
        ({}, 2, (2, True)),
    ],
    ids=["none", "no quota", "rounded up", "the smallest", "-1", "version 1", "affinity"],
)
def test_the_smallest_limit_counts(
    files: dict[str, str],
    affinity: int,
    expected: tuple[int, bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Parts of a processor are work for a thread; parent groups count, and siblings do not."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    read = Path.read_text
    own = {Path("/proc/self/cgroup"): "0::/a/b\n"}
    monkeypatch.setattr(Path, "read_text", lambda p, **k: own.get(p) or read(p, **k))
    monkeypatch.setattr(module, "_CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(affinity)))
    monkeypatch.setattr(os, "cpu_count", lambda: MANY)
    assert (processors(), limited()) == expected


def test_what_the_processor_calls_itself(tmp_path: Path) -> None:
    """The first name in the file counts; if there is none, Python's own is taken."""
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz \nmodel name\t: B\n")
    assert processor_name(file) == "A CPU @ 2 GHz"
    file.write_text("CPU implementer\t: 0x41\n")
    assert processor_name(file) == processor_name(tmp_path / "none")
