"""The Go client: clean, tested, used elsewhere, and quiet."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.files.templates import templates_folder
from support.clients.conversation import EMBED, STOP, ask, check_protocol, lines, resident, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import (
    NAMES,
    OUTPUTS,
    check_task,
    onnxruntime,
    rebuild,
    run,
    write,
)
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.go

#: Of models whose clients pass the same tests: fixtures of these names.
MODELS = ("every_feed_left", "every_feed_default", "every_feed_int8", "every_feed_bits")

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "GoldenCases|Neighbours|Feeds|Prompts|SelfCheck|Limits|Texts"

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

TASKS = [task for task in TASK_MODELS if (templates_folder() / "go" / task).is_dir()]


@pytest.fixture(scope="module", autouse=True)
def library() -> str:
    """The shared library of ONNX Runtime in this environment, which all clients here load."""
    path = str(onnxruntime())
    os.environ["ONNXRUNTIME_LIBRARY_PATH"] = path
    return path


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its harness built."""
    return rebuild(write("go", tmp_path_factory.mktemp("client"), every_feed))


def own_tests(client: Path, model: Path, names: str = ".", *options: str) -> int:
    """Vet the client and run its own tests of these names; how many passed."""
    run("go", "vet", "./...", cwd=client)
    command = ("go", "test", "-p=1", "-v", f"-run={names}", *options, "./...")
    printed = run(*command, cwd=client, POLYBAKE_MODEL=str(model))
    assert "--- SKIP" not in printed
    return len(re.findall(r"^--- PASS: ", printed, re.MULTILINE))


def test_every_render_is_clean(every_feed: Path, tmp_path: Path) -> None:
    """Gofmt finds nothing to change, whatever the name, the prompts and the dtype."""
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("go", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("go", tmp_path / kind, every_feed, contract={"output": output})
    assert len(list(tmp_path.rglob("*.go"))) > 12 * 16
    assert run("gofmt", "-l", "-s", tmp_path, cwd=tmp_path) == ""


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """They pass on a model that takes every feed, with the race detector, and lint is silent."""
    assert own_tests(client, every_feed, ".", "-race") > 20
    run("go", "run", STATICCHECK, "-checks=all", "./...", cwd=client)  # fails if it finds anything


@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass_with(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The same, padded on the left, with a default prompt, and quantized."""
    path: Path = request.getfixturevalue(model)
    assert own_tests(write("go", tmp_path, path), path, OF_VECTORS) > 6


def test_weights_beside_the_graph(every_feed_beside: Path, tmp_path: Path) -> None:
    """The client of such a file is formatted, and all its tests pass."""
    folder = write("go", tmp_path, every_feed_beside)
    assert run("gofmt", "-l", "-s", folder, cwd=folder) == ""
    assert own_tests(folder, every_feed_beside) > 20


def test_hostile_prompts_stay_text(tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    assert own_tests(write("go", tmp_path / "client", model), model, OF_VECTORS) > 6


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_its_client(task: str, tmp_path: Path) -> None:
    """It is formatted, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("go", tmp_path / "client", model)
    assert run("gofmt", "-l", "-s", folder, cwd=folder) == ""
    assert own_tests(folder, model) > 5
    check_task(model, rebuild(folder))


@pytest.mark.planted
@faults("go")
def test_its_own_tests_catch(fault: Fault, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("go", tmp_path, model)
    fault.plant(folder)
    run("go", "vet", "./...", cwd=folder)
    done = subprocess.run(
        ["go", "test", "-p=1", "."],
        cwd=folder,
        env=os.environ | {"POLYBAKE_MODEL": str(model)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "--- FAIL: " in done.stdout, done.stdout


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    done = subprocess.run(
        ["go", "test", "-p=1", "-run=GoldenCases", "."],
        cwd=client,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that Go's JSON reader would mend."""
    cuda, _ = check_protocol(client, every_feed, "go")
    assert "name the GPU build of ONNX Runtime" in cuda["message"]


def test_a_library_that_is_not_there(client: Path, every_feed: Path) -> None:
    """The error says what is missing, and what names it."""
    (answer,) = ask(client, start(every_feed), ONNXRUNTIME_LIBRARY_PATH="/no/libonnxruntime.so")
    assert answer["kind"] == "device"
    assert answer["message"].startswith("ONNX Runtime cannot be loaded (")
    assert answer["message"].endswith("name the library of version 1.24 or newer")


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("go", tmp_path / "client", beside=beside)
    check_heads(rebuild(client), tmp_path, beside=beside)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(client: Path, every_feed: Path) -> None:
    """Thirty times opened, used and closed, a model takes hardly more memory than three times."""
    kilobytes = resident(client, every_feed, 30)
    assert kilobytes[-1] <= 1.3 * kilobytes[2], kilobytes


@pytest.fixture
def quiet(client: Path, every_feed: Path, library: str, tmp_path: Path) -> Callable[..., Path]:
    """Runs a user's session with a home of its own, and gives that home."""

    def run_in(runs: Callable[..., str], **variables: str) -> Path:
        home = tmp_path / "home"
        given = {"ONNXRUNTIME_LIBRARY_PATH": library, **variables}
        asked = lines([start(every_feed), EMBED, STOP])
        printed = runs(home, client / "build/harness", cwd=tmp_path, text=asked, **given)
        assert printed.count('"results"') == 3, printed
        return home

    return run_in


@pytest.mark.parametrize("variable", [{}, {"ORT_DISABLE_TELEMETRY": ""}])
def test_nothing_leaves_the_machine(quiet: Callable[..., Path], variable: dict[str, str]) -> None:
    """Opening, embedding and ending write nothing to the home and look up no name."""
    home = quiet(run_silently, **variable)
    assert not any(home.iterdir())
    assert {path.name for path in home.parent.iterdir()} <= {"home", "trace"}


def test_who_wants_telemetry_is_obeyed(quiet: Callable[..., Path]) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home = quiet(run_cut_off, ORT_DISABLE_TELEMETRY="0")
    assert {path.name for path in home.rglob("*")} >= {"deviceid", "onnxruntime.db"}


def test_the_readme_works_in_an_empty_project(
    client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """Its two commands and its program, in a module elsewhere."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(go mod edit .*?)```", readme, re.DOTALL)
    (program,) = re.findall(r"```go\n(.*?)```", readme, re.DOTALL)
    run("go", "mod", "init", "example.org/app", cwd=tmp_path)
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients/go").symlink_to(client)
    for command in commands.splitlines():
        run(*command.split(), cwd=tmp_path)
    assert "every-feed.onnx" in program
    program = program.replace("every-feed.onnx", str(every_feed))
    (tmp_path / "main.go").write_text(program, encoding="utf-8")
    assert run("gofmt", "-l", "main.go", cwd=tmp_path) == ""
    run("go", "vet", ".", cwd=tmp_path)
    assert run("go", "run", ".", cwd=tmp_path) == "7\n"
