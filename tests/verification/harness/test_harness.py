"""A running harness: time-outs, crashes, and no process left behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.protocol import Results, SelfCheck, Tokenize
from polybake.verification.verdict import HarnessError, Status

pytestmark = pytest.mark.slow

proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads processes from /proc")


def client(folder: Path, script: str) -> Client:
    """A client whose harness is a line of Python."""
    return Client(language="tiny", folder=folder, run=(sys.executable, "-S", "-c", script))


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def open_files() -> int:
    """How many file descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_requests_are_numbered_from_zero(tmp_path: Path) -> None:
    """Each request carries the next number, and its answer comes back."""
    echo = "import sys, json\nfor l in sys.stdin: print(json.dumps("
    echo += "{'seq': json.loads(l)['seq'], 'results': l}), flush=True)"
    harness = Harness(client(tmp_path, echo))
    for seq in range(3):
        answer = harness.ask(SelfCheck(), 60)
        assert isinstance(answer, Results)
        assert answer.results == f'{{"cmd": "self_check", "seq": {seq}}}\n'
    harness.finish(60)


def test_harness_runs_in_its_folder(tmp_path: Path) -> None:
    """The working folder is the client's, and no shell expands the arguments."""
    script = "import os, sys, json; found = [os.getcwd(), sys.argv]"
    own = client(tmp_path, f"{script}; print(json.dumps({{'seq': 0, 'results': found}}))")
    harness = Harness(own.model_copy(update={"run": (*own.run, "$HOME *")}))
    answer = harness.ask(SelfCheck(), 60)
    harness.kill()
    assert isinstance(answer, Results)
    assert answer.results == [str(tmp_path), ["-c", "$HOME *"]]


def test_harness_that_never_reads_is_caught(tmp_path: Path) -> None:
    """A request larger than a pipe's buffer cannot hold up the judge."""
    harness = Harness(client(tmp_path, "import time; time.sleep(600)"))
    begin = time.monotonic()
    with pytest.raises(HarnessError) as caught:
        harness.ask(Tokenize(texts=("x" * 1_000_000,), prompt=None), 0.5)
    assert caught.value.status is Status.TIMEOUT
    assert time.monotonic() - begin < 30


@proc
def test_whole_group_is_killed(tmp_path: Path) -> None:
    """A time-out ends the processes that the harness started, too."""
    script = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('pid').write_text(str(child.pid))\n"
        "time.sleep(600)"
    )
    harness = Harness(client(tmp_path, script))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    child = int((tmp_path / "pid").read_text())
    assert is_alive(child)
    with pytest.raises(HarnessError):
        harness.ask(SelfCheck(), 0.1)
    deadline = time.monotonic() + 30
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(child)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (  # the last three lines, without the rest
            "import sys; [print('line', i, file=sys.stderr) for i in range(5000)]; sys.exit(9)",
            "ended with exit code 9; standard error: line 4997 | line 4998 | line 4999",
        ),
        (  # the reason that stands above a stack
            "import sys; sys.exit('Error: no module x\\n at a\\n at b\\n at c\\n\\nNode 20')",
            "ended with exit code 1; standard error: Error: no module x",
        ),
        pytest.param(  # which is waited for
            "import os, time; os.close(1); time.sleep(600)",
            "closed its standard output",
            marks=pytest.mark.weekly,
        ),
    ],
)
def test_a_crash_says_why(tmp_path: Path, script: str, says: str) -> None:
    with pytest.raises(HarnessError) as caught:
        Harness(client(tmp_path, script)).ask(SelfCheck(), 60)
    assert (caught.value.status, caught.value.message) == (Status.CRASH, says)


def test_program_that_is_not_there_is_a_crash(tmp_path: Path) -> None:
    """A harness that cannot be started is named."""
    with pytest.raises(HarnessError, match="bin/none cannot be started: No such file"):
        Harness(Client(language="tiny", folder=tmp_path, run=("bin/none",)))


@proc
def test_nothing_is_left_open(tmp_path: Path) -> None:
    """A killed harness holds no file descriptor, and may be killed again."""
    before = open_files()
    for _ in range(3):
        harness = Harness(client(tmp_path, "import time; time.sleep(600)"))
        harness.kill()
        harness.kill()
    assert open_files() == before
