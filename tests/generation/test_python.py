"""The Python client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile import container
from polybake.base.modelfile.container import read_head
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import NAMES, OUTPUTS, RETURNS_MEMORY, check_task, run, write
from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.python

MODELS = ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the client's packages, its checkers, and those of its README."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    python = folder / "bin/python"
    packages = ["numpy", "tokenizers<0.24", "onnxruntime", "gunicorn", "fastapi", "httpx"]
    tools = ["pytest", "mypy>=2", "ruff>=0.17"]
    run(python, "-m", "pip", "install", "--quiet", *packages, *tools, cwd=folder)
    return python


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of ``every_feed``, written once."""
    return write("python", tmp_path_factory.mktemp("client"), every_feed)


def run_script(
    python: Path, client: Path, script: str, *arguments: str | Path, **environment: str
) -> str:
    """Run a script beside the client's package, two minutes at most; everything that it prints."""
    command = ["timeout", "--kill-after=5", "120", python, "-c", script, *arguments]
    return run(*command, cwd=client, PYTHONPATH="src", **environment)


def check_style(python: Path, client: Path) -> None:
    run(python, "-m", "ruff", "format", "--check", ".", cwd=client)
    run(python, "-m", "ruff", "check", ".", cwd=client)


def check_types(python: Path, client: Path) -> None:
    cache = f"--cache-dir={python.parent}/mypy-cache"
    run(python, "-m", "mypy", cache, "src", "harness", cwd=client)


#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("tests/test_embedder.py", "tests/test_session.py", "tests/test_self_check.py")


def run_its_tests(python: Path, client: Path, model: Path, *tests: str) -> str:
    environment = {"POLYBAKE_MODEL": str(model), "PYTHONPATH": "src"}
    return run(python, "-m", "pytest", "-q", "-x", *(tests or ["tests"]), cwd=client, **environment)


def blocks(client: Path) -> list[str]:
    """The Python code of the README."""
    return re.findall(r"```python\n(.*?)```", (client / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    python: Path, every_feed: Path, tmp_path: Path, name: str, contract: str
) -> None:
    """Ruff has nothing to change and mypy nothing to say, whatever the name and the prompts."""
    folder = write(
        "python", tmp_path / "client", every_feed, name=name, contract=CONTRACTS[contract]
    )
    check_style(python, folder)
    if contract == "hostile":
        check_types(python, folder)


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(python: Path, every_feed: Path, tmp_path: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings."""
    folder = write("python", tmp_path, every_feed, contract={"output": OUTPUTS[output]})
    check_style(python, folder)
    check_types(python, folder)


@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass(
    python: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    tests, least = ((), 100) if model == MODELS[0] else (OF_VECTORS, 20)
    printed = run_its_tests(python, write("python", tmp_path / "client", path), path, *tests)
    found = re.search(r"\b(\d+) passed", printed)
    assert found, printed
    assert int(found[1]) >= least


def test_a_client_without_parts(python: Path, every_feed: Path, tmp_path: Path) -> None:
    """The core is clean, and passes its own tests by itself."""
    folder = write("python", tmp_path / "client", every_feed, parts=())
    assert not list(folder.rglob("bulk.py"))
    check_style(python, folder)
    check_types(python, folder)
    assert re.search(r"\b\d\d+ passed", run_its_tests(python, folder, every_feed))


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(
    python: Path, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("python", tmp_path / "client", model)
    check_style(python, folder)
    check_types(python, folder)
    run_its_tests(python, folder, model)
    for example in blocks(folder):
        run_script(python, folder, example.replace(model.name, str(model)))
    (folder / ".venv").symlink_to(python.parents[1])
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    check_task(model, folder)


def test_its_tests_need_a_model(python: Path, client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-x", "tests"],
        cwd=client,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_hostile_prompts_stay_text(python: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts compiles and passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    run_its_tests(python, write("python", tmp_path / "client", model), model, *OF_VECTORS)


@pytest.mark.planted
@faults("python")
def test_its_tests_catch(
    python: Path, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A fault that is planted into the client fails the client's own tests."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("python", tmp_path / "client", model)
    fault.plant(folder)
    with pytest.raises(AssertionError, match=r"\b1 failed"):
        run_its_tests(python, folder, model, f"tests/test_{fault.tests}.py")


@pytest.mark.parametrize("beside", [False, True])
def test_damaged_heads(
    python: Path, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file of fixtures/heads gets the very words of the specification."""
    folder = write_heads_client("python", tmp_path / "client", beside=beside)
    (folder / ".venv").symlink_to(python.parents[1])
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    check_heads(folder, tmp_path, beside=beside)


def test_weights_beside_the_graph(python: Path, every_feed_beside: Path, tmp_path: Path) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = write("python", tmp_path / "client", every_feed_beside)
    check_style(python, folder)
    check_types(python, folder)
    run_its_tests(python, folder, every_feed_beside, "tests/test_modelfile.py", *OF_VECTORS)


def test_the_package_works_elsewhere(
    python: Path, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """The wheel, installed in an empty project, runs the README's three lines."""
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ".", cwd=client)
    (built,) = tmp_path.glob("every_feed-0.1.0-*.whl")
    project = tmp_path / "an empty project"
    project.mkdir()
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", "packages"]
    run(python, *install, built, cwd=project)
    (metadata,) = project.glob("packages/*.dist-info/METADATA")
    assert "Classifier: Private :: Do Not Upload" in metadata.read_text()
    lines = blocks(client)[0].replace("every-feed.onnx", str(every_feed))
    assert " " in str(every_feed)
    assert run(python, "-c", lines, cwd=project, PYTHONPATH="packages") == "(1, 7)\n"


SERVED = """
from fastapi.testclient import TestClient
print(len(TestClient(app).post("/embed", json=["a", "b c"]).json()))
"""


def test_the_service_answers(python: Path, client: Path, every_feed: Path) -> None:
    """The README's web service gives a vector for each text."""
    service = blocks(client)[1].replace("every-feed.onnx", str(every_feed))
    assert run_script(python, client, service + SERVED) == "2\n"


def test_the_stream_works(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A file's lines are embedded one after another."""
    (tmp_path / "texts.txt").write_text("a\nb c\n\n")
    example = blocks(client)[2].replace("every-feed.onnx", str(every_feed))
    example = example.replace("texts.txt", str(tmp_path / "texts.txt"))
    assert len(run_script(python, client, example).splitlines()) == 3


def test_the_recipe_for_bits_runs(python: Path, every_feed_bits: Path, tmp_path: Path) -> None:
    """Packed bits are compared by their Hamming distance."""
    folder = write("python", tmp_path / "client", every_feed_bits)
    recipe = blocks(folder)[2].replace("every-feed-bits.onnx", str(every_feed_bits))
    assert run_script(python, folder, recipe).strip() in recipe


def test_a_users_types(python: Path, client: Path) -> None:
    """A program that gives generators and arrays passes mypy, which sees what it gets back."""
    program = """
from collections.abc import Iterator
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from every_feed import Embedder
from every_feed.bulk import each

def lines() -> Iterator[str]:
    yield "a"

with Embedder(Path("m.onnx"), device="cpu", threads=1) as embedder:
    vectors: NDArray[np.float32] = embedder.embed(lines(), prompt="query")
    vectors = embedder.embed_documents(text for text in ("a", "b"))
    for vector in each(embedder.embed, lines()):
        assert vector.ndim == 1
    vectors = embedder.embed_ids(np.array([[1, 2]]))
    vectors = embedder.embed_ids([np.array([1, 2]), np.array([3])])
    vectors = embedder.embed_ids(embedder.tokenize(["a"]))
"""
    (client / "program.py").write_text(program)
    environment = {"MYPYPATH": "src"}
    cache = f"--cache-dir={python.parent}/mypy-cache"
    run(python, "-m", "mypy", cache, "program.py", cwd=client, **environment)
    (client / "program.py").unlink()


WITHOUT_RUNTIME = """
import sys
sys.modules["onnxruntime"] = None
import every_feed
"""


def test_it_says_which_extra_is_missing(python: Path, client: Path) -> None:
    """Without onnxruntime the import fails with what brings it, from the client's own folder."""
    with pytest.raises(AssertionError, match=r'ImportError: every_feed needs .*"\.\[cpu\]"'):
        run_script(python, client, WITHOUT_RUNTIME)


USE = """
import sys
from every_feed import Embedder
with Embedder(sys.argv[1]) as embedder:
    print(embedder.embed(["a"]).shape, embedder.self_check() >= 0)
"""


def test_nothing_leaves_the_machine(
    python: Path, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """Opening, embedding and ending leave an empty home empty, and look up no name."""
    home = tmp_path / "home"
    printed = run_silently(home, python, "-c", USE, every_feed, cwd=client, PYTHONPATH="src")
    assert printed == "(1, 7) True\n"
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(("given", "kept"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_who_wants_telemetry_is_obeyed(
    python: Path, client: Path, tmp_path: Path, given: dict[str, str], kept: str
) -> None:
    """The variable is set for C code, and stays where it has a value; here is no onnxruntime."""
    (tmp_path / "onnxruntime.py").write_text("import os; os.system('echo $ORT_DISABLE_TELEMETRY')")
    environment = given | {"PYTHONPATH": f"{tmp_path}:src"}
    command = [python, "-c", "import every_feed"]
    assert run_silently(tmp_path, *command, cwd=client, **environment) == f"{kept}\n"


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


def test_a_panic_is_an_error(python: Path, client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A pattern that its engine gives up on is no PanicException, which nobody catches."""
    head = read_head(every_feed)
    tokenizer = json.loads(head.tokenizer)
    pattern = {"type": "Split", "behavior": "Isolated", "invert": False}
    tokenizer["pre_tokenizer"] = pattern | {"pattern": {"Regex": "(x+x+)+y"}}
    tail, model = tmp_path / "tail", tmp_path / "m.onnx"
    tail.write_bytes(every_feed.read_bytes()[head.tail_offset :])
    words = json.dumps(tokenizer)
    container.write(model, tail, head.digests.tail, head.manifest, words, head.fixture)
    script = """
import sys
from every_feed import Embedder, Error
try:
    Embedder(sys.argv[1]).embed(["x" * 40])
except Error as error:
    print(type(error.__cause__).__name__, error)
"""
    printed = run_script(python, client, script, model)
    assert "PanicException tokenizers cannot tokenize the texts: " in printed
