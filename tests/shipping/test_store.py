"""A store: a folder, a web server and a bucket, each a real one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.processes.commandline import polybake
from support.servers.shown import shown

pytest.importorskip("fsspec", reason="fsspec is missing: run nox -s exchange")

pytestmark = pytest.mark.slow

SETTINGS = """
[model]
name = "tiny"
source = "bert"
output = "build/tiny.onnx"
[clients.ruby]
[store]
url = "store"
"""

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose model was built, with some megabytes for a store to carry."""
    from models.folders.tiny_folders import write_bert

    folder = tmp_path_factory.mktemp("project")
    write_bert(folder / "bert")
    (folder / "polybake.toml").write_text(SETTINGS + '[[steps]]\nstep = "pool"\nmode = "mean"\n')
    polybake("build", cwd=folder)
    return folder


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "project"))


def object_of(project: Path) -> Path:
    (only,) = (project / "store").iterdir()
    return only


def name_store(project: Path, url: str) -> None:
    config = project / "polybake.toml"
    config.write_text(config.read_text().replace('url = "store"', f'url = "{url}"'))


@pytest.fixture
def served(project: Path) -> Iterator[str]:
    """The address of a web server that knows no ranges, of the folder ``store``."""
    (project / "store").mkdir()
    with shown(project / "store") as address:
        yield address


def test_a_folder(project: Path) -> None:
    """Pushed under its digest, once; pulled whole; a copy that is here is not brought again."""
    assert polybake("push", cwd=project).startswith("pushed: store/")
    before = object_of(project).stat()
    assert polybake("push", cwd=project).startswith("there already: store/")
    assert object_of(project).stat() == before
    shutil.rmtree(project / "build")
    assert "build/tiny.onnx: is not on this machine; polybake pull, or" in polybake(
        "check", cwd=project
    )
    assert polybake("pull", cwd=project).startswith("pulled: build/tiny.onnx, SHA-256 ")
    assert polybake("pull", cwd=project).startswith("here already: build/tiny.onnx")
    polybake("check", "--complete", cwd=project)


def test_what_is_pulled_can_be_checked_without_polybake(project: Path) -> None:
    """The object's name is its digest."""
    polybake("push", cwd=project)
    stored = object_of(project)
    done = subprocess.run(
        ["sha256sum", "-c"],
        input=f"{stored.name}  {stored}\n",
        text=True,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_web_server(project: Path, served: str) -> None:
    """A pull from one that knows no ranges goes on where an earlier one ended; it takes no push."""
    pytest.importorskip("aiohttp", reason="aiohttp is missing: run nox -s exchange")
    polybake("push", cwd=project)
    stored = object_of(project)
    name_store(project, served)
    shutil.rmtree(project / "build")
    (project / "build").mkdir()
    part = project / "build" / f".tiny.onnx.{stored.name[:16]}.part"
    part.write_bytes(stored.read_bytes()[:1000])
    assert polybake("pull", cwd=project).startswith("pulled: build/tiny.onnx")
    assert not part.exists()
    stored.unlink()
    shutil.rmtree(project / "build")
    assert f"{served}/{stored.name}: is not there; push it" in polybake("pull", cwd=project, code=2)


FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a byte is another": (
        lambda one: one.write_bytes(one.read_bytes()[:-1] + b"x"),
        "pull",
        "does not have the digest that it is named by; remove it there, and push it again",
    ),
    "it ends early": (
        lambda one: os.truncate(one, 1000),
        "pull",
        "ended after 1000 of ",
    ),
    "a push finds another": (
        lambda one: os.truncate(one, 1000),
        "push",
        "has 1000 bytes, expected ",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_damaged_is_refused(project: Path, fault: str) -> None:
    """Nothing of it takes the model's place, and it is never overwritten."""
    polybake("push", cwd=project)
    stored = object_of(project)
    harm, command, message = FAULTS[fault]
    harm(stored)
    left = stored.read_bytes()
    if command == "pull":
        (project / "build" / "tiny.onnx").unlink()
    assert message in polybake(command, cwd=project, code=1)
    assert stored.read_bytes() == left
    assert (project / "build" / "tiny.onnx").exists() == (command == "push")


def test_another_file_is_not_pushed(project: Path) -> None:
    """What the lock does not name would have another digest than its name."""
    (project / "build" / "tiny.onnx").write_bytes(b"other")
    assert "is not the file that was built; polybake build" in polybake("push", cwd=project, code=1)
    assert not (project / "store").exists()


def test_a_lock_does_not_choose_where_files_go(project: Path) -> None:
    """Who writes a lock in a pull request writes no file elsewhere on the machine of a reviewer."""
    polybake("push", cwd=project)
    lock = project / "polybake.lock"
    lock.write_text(lock.read_text().replace("build/tiny.onnx", "../elsewhere.onnx"))
    assert "polybake.lock: names " in polybake("pull", cwd=project, code=2)
    assert not (project.parent / "elsewhere.onnx").exists()


@pytest.mark.weekly
def test_two_at_once_and_one_that_is_killed(project: Path) -> None:
    """However a push ends, what lies under the digest is whole."""
    command = [sys.executable, "-m", "polybake.cli.main", "push"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for wait in (None, 0.4, 0.6, 0.8, None):
        both = [
            subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)
            for _ in range(2)
        ]
        if wait is not None:
            time.sleep(wait)
            both[0].send_signal(signal.SIGKILL)
        ended = [one.wait(60) for one in both]
        assert ended[1] == 0
        stored = [one for one in (project / "store").iterdir() if len(one.name) == 64]
        (only,) = stored
        assert only.read_bytes() == (project / "build" / "tiny.onnx").read_bytes()
        only.unlink()


def test_a_bucket(project: Path) -> None:
    """As with a folder; S3's own protocol is moto's."""
    server = pytest.importorskip("moto.server", reason="moto is missing: run nox -s exchange")
    s3fs = pytest.importorskip("s3fs", reason="s3fs is missing: run nox -s exchange")
    s3 = server.ThreadedMotoServer(port=0)
    s3.start()
    try:
        host, port = s3.get_host_and_port()
        address = f"http://{host}:{port}"
        s3fs.S3FileSystem(key="a", secret="b", endpoint_url=address).mkdir("bucket")
        name_store(project, "s3://bucket/models")
        keys = KEYS | {"AWS_ENDPOINT_URL": address}
        assert polybake("push", cwd=project, **keys).startswith("pushed: s3://bucket/models/")
        assert polybake("push", cwd=project, **keys).startswith("there already: ")
        shutil.rmtree(project / "build")
        assert polybake("pull", cwd=project, **keys).startswith("pulled: build/tiny.onnx")
        polybake("check", "--complete", cwd=project)
        name_store(project, "s3://nowhere/models")
    finally:
        s3.stop()
    assert "cannot be read" in polybake("push", cwd=project, code=2, **keys)


def test_without_a_store_or_a_lock(project: Path) -> None:
    """Each says what is missing, and how it comes."""
    (project / "polybake.lock").unlink()
    assert "polybake.lock: is missing" in polybake("pull", cwd=project, code=2)
    config = project / "polybake.toml"
    config.write_text(config.read_text().replace('[store]\nurl = "store"\n', ""))
    assert "says no store; add [store] with url = " in polybake("push", cwd=project, code=2)
    config.write_text(config.read_text() + '[store]\nurl = "nowhere://x"\n')
    assert "nowhere://x: " in polybake("push", cwd=project, code=2)
