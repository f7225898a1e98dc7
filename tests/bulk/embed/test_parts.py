"""The folder of parts outlives the process that made it, wherever that is killed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from polybake.base.texts.window import ObjectWindow
from polybake.bulk.embed.parts import Parts
from polybake.errors import InputError
from support.bulk import killed
from support.processes.signals import posix
from support.samples.weekly import weekly_but

JOB = {"model": {"name": "tiny", "fingerprint": "0a"}, "texts": {"sha256": "1b"}}
WINDOWS = [ObjectWindow([text], [line]) for line, text in enumerate("abc", 1)]


def write(parts: Parts, *numbers: int) -> None:
    for number in numbers:
        with parts.writing(number, WINDOWS[number]) as file:
            file.write(b"part")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A file of which two parts are there."""
    parts = Parts(tmp_path / "out.npy")
    with parts.opened(JOB):
        write(parts, 0, 1)
    return tmp_path / "out.npy"


def test_the_same_job_goes_on(out: Path) -> None:
    """Existing parts are used; then the whole file takes the place of their folder."""
    job = json.loads((out.with_name("out.npy.parts") / "job.json").read_text())
    assert "the same command goes on with them" in job["about"]
    assert job.items() >= JOB.items()
    parts = Parts(out)
    with parts.opened(JOB):
        there = [parts.has(number, window) for number, window in enumerate(WINDOWS)]
        assert there == [True, True, False]
        write(parts, 2)
        assert [path.name[:6] for path in parts.ended(3)] == ["000000", "000001", "000002"]
        with parts.whole({out.with_name("out.npy.json"): b"record"}) as file:
            file.write(b"whole")
    names = {path.name: path.read_bytes() for path in out.parent.iterdir()}
    assert names == {"out.npy": b"whole", "out.npy.json": b"record"}


def test_half_a_part_is_none(out: Path) -> None:
    """A part that a killed process left half written is thrown away."""
    folder = out.with_name("out.npy.parts")
    for name in (".000002-00.npy.x.tmp", ".job.json.x.tmp", ".whole.npy.x.tmp"):
        (folder / name).write_bytes(b"half")
    with Parts(out).opened(JOB):
        assert len([*folder.iterdir()]) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"name": "tiny", "fingerprint": "0b"}}, 'model.fingerprint was "0a", and is'),
        ({"texts": {"sha256": None}}, 'texts.sha256 was "1b", and is null'),
        ({"device": "cuda"}, 'device was null, and is "cuda"'),
    ],
)
def test_another_job_is_refused(out: Path, change: dict[str, Any], message: str) -> None:
    """The message says what differs and the parts stay; with force they are made anew."""
    with (
        pytest.raises(InputError, match=rf"parts: holds parts of another job: {message}.*--force"),
        Parts(out).opened(JOB | change),
    ):
        pass
    assert len([*out.with_name("out.npy.parts").iterdir()]) == 3
    parts = Parts(out, force=True)
    with parts.opened(JOB | change):
        assert not parts.has(0, WINDOWS[0])
        write(parts, 0)
    with Parts(out).opened(JOB | change):
        pass


def test_other_texts_are_refused(out: Path) -> None:
    """The first part of other texts is named; with force the parts before it stay."""
    parts = Parts(out)
    other = ObjectWindow(["other"], [2])
    with parts.opened(JOB):
        assert parts.has(0, WINDOWS[0])
        with pytest.raises(InputError, match="part 1 was made of other texts than line 2 and"):
            parts.has(1, other)
    parts = Parts(out, force=True)
    with parts.opened(JOB):
        assert parts.has(0, WINDOWS[0])
        assert not parts.has(1, other)
        assert len(parts) == 1


def test_fewer_texts_are_refused(out: Path) -> None:
    """A corpus with fewer texts than the parts hold is refused; with force it goes on."""
    parts = Parts(out)
    with parts.opened(JOB), pytest.raises(InputError, match="they hold more texts than there are"):
        parts.ended(1)
    parts = Parts(out, force=True)
    with parts.opened(JOB):
        assert len(parts.ended(1)) == 1


def test_a_folder_of_others_stays(tmp_path: Path) -> None:
    """A folder with files of somebody else is never touched, not even with force."""
    folder = tmp_path / "out.npy.parts"
    folder.mkdir()
    (folder / "mine.txt").touch()
    for force in (False, True):
        with (
            pytest.raises(InputError, match=r"is needed for the parts of out\.npy, and holds mine"),
            Parts(tmp_path / "out.npy", force).opened(JOB),
        ):
            pass
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_nothing_stays_of_what_was_not_begun(tmp_path: Path) -> None:
    """A run that fails before its first part leaves no folder."""
    with pytest.raises(ZeroDivisionError), Parts(tmp_path / "out.npy").opened(JOB):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_two_processes_do_not_write_one_file(out: Path) -> None:
    """The second one is refused."""
    with (
        Parts(out).opened(JOB),
        pytest.raises(InputError, match=r"out\.npy\.parts: another process works in it"),
        Parts(out).opened(JOB),
    ):
        pass


@posix
@pytest.mark.slow
@pytest.mark.parametrize("suffix", weekly_but(1, [".npy", ".parquet"]))
def test_killed_at_every_step(suffix: str, every_feed: Path, tmp_path: Path) -> None:
    """The output is there as a whole or not at all, and the same command brings it about."""
    pytest.importorskip("pyarrow")
    (tmp_path / "texts.txt").write_text("\n".join(f"text {i}" for i in range(18)))
    command = [sys.executable, killed.__file__, every_feed, tmp_path / "texts.txt", suffix]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    *deaths, last = done.stdout.splitlines()
    assert len(deaths) > 20
    assert deaths[0].endswith("not there")
    assert deaths[-1].endswith(" there")
    assert last.startswith("through")
