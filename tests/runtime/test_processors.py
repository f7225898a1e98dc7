"""The processors that a process may use, in a container and out of it, and their name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polybake.runtime import processors as module
from polybake.runtime.processor_name import processor_name
from polybake.runtime.processors import limited, processors

MANY = 64


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree of control groups, on a machine of 64 processors."""
    monkeypatch.setattr(module, "_CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(MANY)))
    monkeypatch.setattr(os, "cpu_count", lambda: MANY)
    return tmp_path


def own_group(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    read = Path.read_text
    text = f"0::/{place}\n"
    monkeypatch.setattr(
        Path, "read_text", lambda p, **k: text if p == Path("/proc/self/cgroup") else read(p, **k)
    )


def test_without_limits_all_are_there(groups: Path) -> None:
    """A group without a quota says max, or nothing."""
    assert (processors(), limited()) == (MANY, False)
    (groups / "cpu.max").write_text("max 100000\n")
    assert processors() == MANY


def test_a_quota_is_rounded_up(groups: Path) -> None:
    """A quota of one and a half processors is work for two threads."""
    (groups / "cpu.max").write_text("150000 100000\n")
    assert (processors(), limited()) == (2, True)


def test_the_smallest_quota_of_the_own_groups_counts(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parent groups limit their children; siblings limit nobody."""
    for place, quota in (("a", "300000"), ("a/b", "500000"), ("other", "100000")):
        (groups / place).mkdir(parents=True)
        (groups / place / "cpu.max").write_text(f"{quota} 100000\n")
    own_group(monkeypatch, "a/b")
    assert processors() == 3


def test_version_1_has_two_files(groups: Path) -> None:
    """A quota of -1 is none."""
    (groups / "cpu").mkdir()
    (groups / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert processors() == MANY
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("250000\n")
    assert processors() == 3


def test_an_affinity_mask_counts(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process limited by taskset has fewer processors."""
    assert groups.is_dir()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 5})
    assert (processors(), limited()) == (2, True)


def test_what_the_processor_calls_itself(tmp_path: Path) -> None:
    """The first name in the file counts; if there is none, Python's own is taken."""
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz \nmodel name\t: B\n")
    assert processor_name(file) == "A CPU @ 2 GHz"
    file.write_text("CPU implementer\t: 0x41\n")
    assert processor_name(file) == processor_name(tmp_path / "none")
