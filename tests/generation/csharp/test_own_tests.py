"""The C# client's own tests: what passes them, and what they catch."""

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.dotnet import NO_SERVERS, RELEASE, STRICT, build, dotnet, write_solution
from support.clients.heads import check_heads, write_heads_client
from support.clients.planted import Fault, faults
from support.clients.rendered import attempt, check_task, prepare, write

pytestmark = pytest.mark.csharp

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits", "hostile")

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "FullyQualifiedName~EmbedderTests|FullyQualifiedName~SelfCheckTests"


def own_tests(folder: Path, model: Path, *options: str) -> int:
    """Run the client's own tests, which were built: how many pass, as all do."""
    command = ("test", "tests", "--no-build", *options)
    printed = dotnet(*command, cwd=folder, POLYBAKE_MODEL=str(model))
    summary = re.search(r"Failed: +0, Passed: +(\d+), Skipped: +0", printed)
    assert summary, printed
    return int(summary[1])


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """The client's tests pass on a model that takes every feed."""
    assert own_tests(client, every_feed) > 75


@pytest.fixture(scope="module")
def clients(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, Path]]:
    """The model and the client of each kind and of each task, and one without parts, built."""
    folder = tmp_path_factory.mktemp("clients")
    models = {kind: request.getfixturevalue(f"every_feed_{kind}") for kind in KINDS}
    models["beside"] = request.getfixturevalue("every_feed_beside")
    models |= {task: make(folder / f"tiny-{task}.onnx") for task, make in TASK_MODELS.items()}
    written = {kind: write("csharp", folder / kind, model) for kind, model in models.items()}
    models["core"] = request.getfixturevalue("every_feed")
    written["core"] = write("csharp", folder / "core", models["core"], parts=())
    projects = {kind: sorted(client.glob("*/*.csproj")) for kind, client in written.items()}
    others = {kind: projects.pop(kind) for kind in ("core", "beside", *TASK_MODELS)}
    build(write_solution(folder, others), STRICT, cwd=folder)
    # Analyzers have seen the client of ``every_feed``, whose lines these have.
    kinds = write_solution(folder, projects)
    build(kinds, cwd=folder, RunAnalyzers="false")
    return {kind: (model, written[kind]) for kind, model in models.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass_with(kind: str, clients: dict[str, tuple[Path, Path]]) -> None:
    """The same, padded on the left, with a default prompt, quantized, with hostile prompts."""
    model, client = clients[kind]
    assert own_tests(client, model, "--filter", OF_VECTORS, *RELEASE) > 18


def test_weights_beside_the_graph(clients: dict[str, tuple[Path, Path]]) -> None:
    """The client of such a file passes its tests of files and of vectors."""
    model, client = clients["beside"]
    tests = f"{OF_VECTORS}|FullyQualifiedName~ModelFileTests"
    assert own_tests(client, model, "--filter", tests, *RELEASE) > 25


def test_a_client_without_parts(clients: dict[str, tuple[Path, Path]]) -> None:
    """The core is clean, and passes its own tests by itself."""
    model, client = clients["core"]
    assert not [*client.rglob("Bulk*.cs"), *client.rglob("Cuda*.cs")]
    assert own_tests(client, model, *RELEASE) > 60


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(task: str, clients: dict[str, tuple[Path, Path]]) -> None:
    """It passes its own tests, and reproduces vectors and answers."""
    model, client = clients[task]
    assert own_tests(client, model, *RELEASE) > 10
    check_task(model, client)


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = attempt("dotnet", "test", "tests", "--no-build", cwd=client, **NO_SERVERS)
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


@pytest.fixture(scope="module")
def restored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """The client of a model, whose own tests pass without a fault, as the tests above say."""

    @functools.cache
    def write_client(model: Path) -> Path:
        folder = write("csharp", tmp_path_factory.mktemp("planted"), model)
        dotnet("restore", "tests", cwd=folder)
        return folder

    return write_client


@pytest.mark.planted
@faults("csharp")
def test_a_planted_fault_is_caught(
    fault: Fault, restored: Callable[[Path], Path], request: pytest.FixtureRequest
) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    client = restored(model)
    with fault.planted(client):
        dotnet("build", "tests", "--no-restore", cwd=client)
        environment = NO_SERVERS | {"POLYBAKE_MODEL": str(model)}
        done = attempt("dotnet", "test", "tests", "--no-build", cwd=client, **environment)
    failed = re.findall(r"^  Failed (\S+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout
    assert failed, done.stdout
    print(fault.id, *failed)  # noqa: T201 - which tests caught it, with -s


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("csharp", tmp_path / "client", beside=beside)
    check_heads(prepare(client), tmp_path, beside=beside)
