"""The Rust client: clean, run, used by another crate, and quiet."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import read_client
from polybake.verification.harness.protocol import Errored, Start
from polybake.verification.verify import verify
from support.clients.cargo import cargo, prepare
from support.clients.conversation import EMBED, STOP, check_protocol, lines, resident, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS, HOSTILE
from support.clients.planted import Fault, faults
from support.clients.rendered import NAMES, OUTPUTS, check_task, onnxruntime, run, write
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.rust

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits", "beside")

SECONDS = 60.0


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its harness built."""
    return prepare(write("rust", tmp_path_factory.mktemp("client"), every_feed))


def own_tests(folder: Path, model: Path, *options: str) -> int:
    """How many of the client's own tests pass; none fails."""
    printed = cargo(
        *("test", "--release", *options), cwd=folder, POLYBAKE_MODEL=str(model.resolve())
    )
    return sum(map(int, re.findall(r"test result: ok\. (\d+) passed; 0 failed; 0 ign", printed)))


def test_every_render_is_formatted(every_feed: Path, tmp_path: Path) -> None:
    """``rustfmt`` finds nothing to change, whatever the name, prompts, type and task."""
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("rust", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("rust", tmp_path / kind, every_feed, contract={"output": output})
    write("rust", tmp_path / "beside", every_feed, format=2)
    for task, make in TASK_MODELS.items():
        write("rust", tmp_path / task, make(tmp_path / f"tiny-{task}.onnx"))
    sources = [*tmp_path.rglob("*.rs")]
    assert len(sources) > 400
    run("rustfmt", "--check", "--edition", "2024", *sources, cwd=tmp_path)


def test_the_linter_finds_nothing(every_feed: Path, tmp_path: Path) -> None:
    """Nor does Clippy at its strictest, in the client of each type and of each task."""
    write("rust", tmp_path / "hostile", every_feed, contract=CONTRACTS["hostile"])
    write("rust", tmp_path / "beside", every_feed, name="beside", format=2)
    for kind, output in OUTPUTS.items():
        name = f"every-{kind}"
        write("rust", tmp_path / kind, every_feed, name=name, contract={"output": output})
    for task, make in TASK_MODELS.items():
        write("rust", tmp_path / task, make(tmp_path / f"tiny-{task}.onnx"))
    members = sorted(path.parent.name for path in tmp_path.glob("*/Cargo.toml"))
    manifest = f'[workspace]\nmembers = {json.dumps(members)}\nresolver = "3"\n'
    (tmp_path / "Cargo.toml").write_text(manifest, encoding="utf-8")
    strict = ("--", "-D", "warnings", "-W", "clippy::pedantic")
    cargo("clippy", "--release", "--workspace", "--all-targets", *strict, cwd=tmp_path)


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """The client's tests pass on a model that takes every feed."""
    assert own_tests(client, every_feed) > 30


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_model(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """They pass also where it is padded on the left, quantized, or has its weights beside it."""
    model: Path = request.getfixturevalue(f"every_feed_{kind}")
    folder = prepare(write("rust", tmp_path, model, name=f"every-feed-{kind}"))
    assert own_tests(folder, model, "--lib") > 28
    assert verify(model, folder).failures == ()


def test_hostile_prompts(tmp_path: Path) -> None:
    """What stands in prompts is text, and reaches the tokenizer as it is."""
    model = write_every_feed_model(tmp_path / "hostile.onnx", **CONTRACTS["hostile"])
    changes = {"name": "hostile", "description": HOSTILE}
    folder = prepare(write("rust", tmp_path / "client", model, **changes))
    assert own_tests(folder, model, "--lib", "embedder") > 8
    assert verify(model, folder).failures == ()
    metadata = cargo("metadata", "--no-deps", "--format-version", "1", cwd=folder)
    found = json.loads(metadata)["packages"][0]["description"]
    assert found == " ".join(HOSTILE.split())


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(task: str, tmp_path: Path) -> None:
    """It passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = prepare(write("rust", tmp_path / "client", model))
    assert own_tests(folder, model, "--lib") > 1
    check_task(model, folder)


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    command = ("cargo", "test", "--release", "--lib", "embedder")
    done = subprocess.run(
        command, cwd=client, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that is no Unicode."""
    _, started = check_protocol(client, every_feed, "rust")
    for name in ("runtime_version", "tokenizer_version"):
        assert re.match(r"\d+\.\d+\.\d+", started["results"]["client"][name])


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("rust", tmp_path / "client", beside=beside)
    check_heads(prepare(client), tmp_path, beside=beside)


@pytest.mark.parametrize("library", ["no such library", "README.md"])
def test_the_runtime_must_be_there(client: Path, every_feed: Path, library: str) -> None:
    """Without ONNX Runtime's library the error says what is needed, and how to name it."""
    path = str(client / library)
    harness = Harness(
        read_client(client).model_copy(update={"environment": {"ORT_DYLIB_PATH": path}})
    )
    answer = harness.ask(Start(model=str(every_feed), device="cpu"), SECONDS)
    harness.kill()
    assert isinstance(answer, Errored)
    assert answer.message.startswith(f"{path} cannot be loaded (")
    remedy = "1.24 or newer is needed; name its library by ORT_DYLIB_PATH or in the options"
    assert answer.message.endswith(remedy)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_dropping_frees(baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and dropped, a model takes at most 1.3 times the memory of once."""
    client = prepare(write("rust", tmp_path / "client", baked_minilm))
    kilobytes = resident(client, baked_minilm, 10)
    assert kilobytes[-1] <= 1.3 * kilobytes[0], kilobytes


def written(home: Path) -> list[Path]:
    """The files in a home."""
    return [path for path in home.rglob("*") if path.is_file()]


@pytest.fixture
def harness(client: Path) -> Callable[..., str]:
    """Runs the harness on a fresh machine, where nothing but the runtime's library is named."""
    program = client / "target/release/examples/harness"

    def run_in(runs: Callable[..., str], home: Path, model: Path, **variables: str) -> str:
        variables |= {"ORT_DYLIB_PATH": str(onnxruntime())}
        return runs(
            home, program, cwd=home.parent, text=lines([start(model), EMBED, STOP]), **variables
        )

    return run_in


def test_nothing_leaves_the_machine(
    harness: Callable[..., str], every_feed: Path, tmp_path: Path
) -> None:
    """Opening, embedding and ending write nothing and look up no name."""
    home = tmp_path / "home"
    assert len(harness(run_silently, home, every_feed).splitlines()) == 3
    assert written(home) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "trace"}


def test_who_wants_telemetry_is_obeyed(
    harness: Callable[..., str], every_feed: Path, tmp_path: Path
) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home = tmp_path / "home"
    harness(run_cut_off, home, every_feed, ORT_DISABLE_TELEMETRY="0")
    assert {path.name for path in written(home)} >= {"deviceid", "onnxruntime.db"}


def test_another_crate_takes_it(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A new crate that depends on the client's runs the program of its README."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```rust,no_run\n(.*?)```", readme, re.DOTALL)
    assert "every-feed.onnx" in program
    cargo("new", "--vcs", "none", "application", cwd=tmp_path)
    application = tmp_path / "application"
    cargo("add", "--path", client, cwd=application)
    code = program.replace("every-feed.onnx", str(every_feed))
    (application / "src/main.rs").write_text(code, encoding="utf-8")
    assert cargo("run", "--release", cwd=application) == "7\n"


@pytest.mark.planted
@faults("rust")
def test_a_planted_fault_is_caught(
    fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    client = write("rust", tmp_path, model, name="planted")
    fault.plant(client)
    environment = {"POLYBAKE_MODEL": str(model), "ORT_DYLIB_PATH": str(onnxruntime())}
    cargo("test", "--release", "--no-run", cwd=client)
    command = ("cargo", "test", "--release", "--no-fail-fast")
    done = subprocess.run(
        command,
        cwd=client,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0, done.stdout
    assert re.findall(r"^---- (\S+) stdout ----$", done.stdout, re.MULTILINE), done.stdout
