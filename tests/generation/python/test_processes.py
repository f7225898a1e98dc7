"""Memory, forks, pools and servers: the processes that run the Python client."""

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from generation.python.commands import run_script
from support.clients.rendered import RETURNS_MEMORY, run, write

pytestmark = pytest.mark.python

CYCLES = """
import sys
from all_minilm_l6_v2 import Embedder
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])
after = []
for _ in range(10):
    with Embedder(sys.argv[1]) as embedder:
        embedder.embed(["a text"] * 20)
    after.append(resident())
print(after[9] / after[0])
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux counts resident pages")
def test_close_frees(python: Path, baked_minilm: Path, tmp_path: Path) -> None:
    """Resident memory after ten cycles of open and close is that after one."""
    folder = write("python", tmp_path / "client", baked_minilm)
    assert float(run_script(python, folder, CYCLES, baked_minilm, **RETURNS_MEMORY)) <= 1.3


FORKS = """
import gc, os, signal, sys, threading
from every_feed import Embedder
model, threads = sys.argv[1], min(int(sys.argv[2]), os.cpu_count())
embedder = Embedder(model, threads=threads)
garbage = [Embedder(model, threads=threads)]
garbage.append(garbage)
del garbage
texts = ["a", "b c"] * 50
expected, stop = embedder.embed(texts), threading.Event()
def work():
    while not stop.is_set():
        embedder.embed(texts)
worker = threading.Thread(target=work)
worker.start()
for _ in range(3):
    child = os.fork()
    if child == 0:
        assert abs(embedder.embed(texts) - expected).max() < 1e-5
        gc.collect()
        sys.exit()
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(30)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
worker.join()
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_fork_amid_a_call(python: Path, client: Path, every_feed: Path, threads: str) -> None:
    """Children of a process whose threads embed: they embed, collect garbage, and end.

    With TOKENIZERS_PARALLELISM a tokenizer would wait for threads that only the parent has.
    """
    for environment in ({}, {"TOKENIZERS_PARALLELISM": "true"}):
        run_script(python, client, FORKS, every_feed, threads, **environment)


POOLS = """
import multiprocessing, sys
from every_feed import Embedder, InvalidTextError
if __name__ == "__main__":
    embedder = Embedder(sys.argv[1])
    expected = embedder.embed(["a", "b"])
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            for found in pool.map(embedder.embed, [["a", "b"]] * 4):
                assert abs(found - expected).max() < 1e-5
            try:
                pool.map(embedder.embed, [["a", chr(0xD800)]])
            except InvalidTextError as error:
                print(method, error.index)
"""


def test_pools_of_processes(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
    """Pool.map takes a bound method, however processes are started, and errors come back."""
    script = tmp_path / "pools.py"
    script.write_text(POOLS)
    printed = run("timeout", "120", python, script, every_feed, cwd=client, PYTHONPATH="src")
    assert printed == "fork 1\nspawn 1\nforkserver 1\n"


APP = """
import os
from every_feed import Embedder
embedder = Embedder(os.environ["MODEL"])
embedder.embed(["warm up"])
def app(environ, start_response):
    start_response("200 OK", [])
    return [f"{os.getpid()} {embedder.embed_query('a').shape}".encode()]
"""


def ask(socket_path: Path) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(socket_path))
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return connection.makefile().read().rpartition("\n")[2]


def test_a_preloading_server(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
    """Both workers of gunicorn answer with an embedder that was opened before they were forked."""
    (tmp_path / "app.py").write_text(APP)
    environment = {"PYTHONPATH": f"{client}/src", "MODEL": str(every_feed), "HOME": str(tmp_path)}
    server = subprocess.Popen(
        [python, "-m", "gunicorn", "--preload", "--workers=2", "--bind=unix:socket", "app:app"],
        cwd=tmp_path,
        env=os.environ | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        answers: set[str] = set()
        deadline = time.monotonic() + 60
        while len(answers) < 2 and time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError, ConnectionError):
                answers.add(ask(tmp_path / "socket"))
            time.sleep(0.02)
        assert [answer.partition(" ")[2] for answer in answers] == ["(7,)"] * 2
    finally:
        server.terminate()
        _, log = server.communicate(timeout=30)
    assert server.returncode == 0
    assert "Traceback" not in log
    assert "SIGKILL" not in log
