"""The Java client: clean, packaged, run elsewhere, and quiet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.generation import render_client
from support.clients.conversation import EMBED, check_protocol, lines, resident, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS, HOSTILE
from support.clients.java import Java, fetch, package, passed, write_readme
from support.clients.planted import Fault, faults
from support.clients.rendered import NAMES, OUTPUTS, check_task, run, write
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.java

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits")

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("EmbedderTest", "FixtureTest", "BatchesTest", "HarnessTest")


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, prepared by Maven as its harness.json says."""
    folder = write("java", tmp_path_factory.mktemp("client"), every_feed)
    settings = json.loads((folder / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def java(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Java:
    """The packages of that client, beside which others are built."""
    return fetch(tmp_path_factory.mktemp("java"), client)


@pytest.fixture(scope="module")
def built(
    java: Java, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, Path]]:
    """The model and the client of each kind and of each task, with no warning of the compiler."""
    folder = tmp_path_factory.mktemp("clients")
    models = {kind: request.getfixturevalue(f"every_feed_{kind}") for kind in KINDS}
    models |= {name: request.getfixturevalue(name) for name in ("every_feed", "every_feed_beside")}
    models |= {task: make(folder / f"tiny-{task}.onnx") for task, make in TASK_MODELS.items()}
    clients = {
        kind: write("java", folder / kind, model, name=f"of-{kind.replace('_', '-')}")
        for kind, model in models.items()
    }
    for kind, client in clients.items():
        write_readme(client, models[kind])
    java.build(*clients.values())
    return {kind: (model, clients[kind]) for kind, model in models.items()}


def parse(path: Path) -> ET.Element:
    return ET.fromstring(path.read_bytes())  # noqa: S314 - tests made it


def check_formatted(java: Java, clients: Iterable[Path]) -> None:
    """google-java-format changes nothing; of files alike but for the package's name it has one."""
    sources = {
        path.read_text(encoding="utf-8").replace(f"{package(client)};", ";"): path
        for client in clients
        for path in client.glob("src/**/*.java")
    }
    assert len(sources) > 30
    command = ("java", "-jar", java.formatter, "--dry-run", "--set-exit-if-changed")
    assert run(*command, *sources.values(), cwd=java.built) == ""


def test_every_render_is_clean(java: Java, every_feed: Path, tmp_path: Path) -> None:
    """The formatter changes nothing, and the compiler warns of nothing, whatever is rendered."""
    renders = [
        write("java", tmp_path / f"{kind}-{name}", every_feed, name=name, contract=contract)
        for (kind, contract), name in zip(CONTRACTS.items(), (*NAMES, "zz-four"), strict=True)
    ]
    for kind, output in OUTPUTS.items():
        contract = {"output": output}
        folder = tmp_path / kind
        renders.append(write("java", folder, every_feed, name=f"of-{kind}", contract=contract))
    check_formatted(java, renders)
    java.build(*renders)


def test_each_kind_is_clean(java: Java, built: dict[str, tuple[Path, Path]]) -> None:
    """So are the clients of all tasks; their build found nothing to warn of."""
    check_formatted(java, [client for _, client in built.values()])


@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_the_contract_is_rendered_exactly(every_feed: Path, tmp_path: Path, contract: str) -> None:
    """contract.json has what the manifest holds, hostile prompts included, in ASCII."""
    folder = write("java", tmp_path, every_feed, contract=CONTRACTS[contract])
    (path,) = folder.glob("src/main/resources/**/contract.json")
    manifest = read_head(every_feed).manifest
    expected = manifest.contract.model_copy(update=CONTRACTS[contract])
    assert json.loads(path.read_text(encoding="ascii")) == expected.model_dump(mode="json")


@pytest.mark.parametrize("kind", ["every_feed", *KINDS])
def test_its_own_tests_pass(java: Java, kind: str, built: dict[str, tuple[Path, Path]]) -> None:
    """The client's tests pass with every feed, padded on either side, and quantized."""
    model, client = built[kind]
    names, least = ((), 55) if kind == "every_feed" else (OF_VECTORS, 25)
    assert passed(java.test(client, model, *names)) >= least


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(
    java: Java, task: str, built: dict[str, tuple[Path, Path]]
) -> None:
    """It passes its own tests, runs its README's lines, and reproduces vectors and answers."""
    model, client = built[task]
    assert passed(java.test(client, model)) > 3
    java.run_readme(client)
    check_task(model, client)


def test_hostile_prompts_stay_text(java: Java, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    client = write("java", tmp_path / "client", model, name="hostile")
    java.build(client)
    assert passed(java.test(client, model, *OF_VECTORS)) >= 25


def test_weights_beside_the_graph(java: Java, built: dict[str, tuple[Path, Path]]) -> None:
    """The client of such a file passes its tests of files and of vectors."""
    model, client = built["every_feed_beside"]
    assert passed(java.test(client, model, "ModelFileTest", *OF_VECTORS)) >= 35


def test_its_tests_need_a_model(java: Java, built: dict[str, tuple[Path, Path]]) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = java.test(built["every_feed"][1], None, "EmbedderTest")
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_the_package_works_elsewhere(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """Maven runs the tests and packs a jar with which the README's lines run, and its sources."""
    run("mvn", "-q", "-B", "package", cwd=client, POLYBAKE_MODEL=str(every_feed))
    reports = [parse(path) for path in client.glob("target/surefire-reports/*.xml")]
    assert sum(int(report.attrib["tests"]) for report in reports) >= 55
    jar = client / "target/every-feed-0.1.0.jar"
    assert jar.with_name("every-feed-0.1.0-sources.jar").exists()
    readme = (client / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```java\n(.*?)```", readme, re.DOTALL)
    imports, _, code = lines.replace("every-feed.onnx", str(every_feed)).partition("\n\n")
    program = f"{imports}\nclass App {{ public static void main(String[] a) {{ {code} }} }}"
    (tmp_path / "App.java").write_text(program, encoding="utf-8")
    places = os.pathsep.join([str(jar), f"{client}/target/packages/*"])
    done = subprocess.run(
        ["java", "-cp", places, "App.java"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.stdout == b"7\n", done.stderr
    command = ("java", "-Djava.io.tmpdir=/proc", "-cp", places, "App.java")
    nowhere = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert nowhere.returncode == 1
    assert "native libraries cannot be loaded from /proc" in nowhere.stderr


def test_the_project_file_keeps_a_description_as_text(every_feed: Path, tmp_path: Path) -> None:
    """A description is text to XML, and Maven expands nothing in it."""
    description = f"${{env.HOME}} ${{project.version}} <b>&amp; {HOSTILE}"
    folder = write("java", tmp_path, every_feed, description=description)
    project = parse(folder / "pom.xml")
    found = project.findtext("{http://maven.apache.org/POM/4.0.0}description")
    expected = " ".join(description.split()).replace("${", "$ {")
    assert found == "".join(char for char in expected if char.isprintable())


def test_a_package_of_several_names(every_feed: Path) -> None:
    """A Java package of a team's own lies in folders of its names."""
    manifest = read_head(every_feed).manifest
    files = render_client(manifest, "java", module="com.acme.texts").files
    source = files["src/main/java/com/acme/texts/Embedder.java"]
    assert "\npackage com.acme.texts;\n" in source
    assert "src/main/resources/com/acme/texts/contract.json" in files


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that is not valid Unicode."""
    check_protocol(client, every_feed, "java")


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(java: Java, beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("java", tmp_path / "client", beside=beside)
    java.build(client)
    check_heads(client, tmp_path, beside=beside)


@pytest.mark.parametrize("wish", [{}, {"ORT_DISABLE_TELEMETRY": ""}])
def test_nothing_leaves_the_machine(
    client: Path, every_feed: Path, tmp_path: Path, wish: dict[str, str]
) -> None:
    """Opening, embedding and ending write nothing that stays, and look up no name.

    Java itself opens sockets, to see whether there is IPv6.
    """
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    asked = lines([start(every_feed), EMBED])
    printed = run_silently(
        home, *harness(client, home, temporary), cwd=client, text=asked, probing=True, **wish
    )
    assert len(re.findall('"results"', printed)) == 2
    assert not [*home.rglob("*")]
    assert [path for path in temporary.rglob("*") if path.is_file()] == []


def test_who_wants_telemetry_is_obeyed(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    home, wish = tmp_path / "home", {"ORT_DISABLE_TELEMETRY": "0"}
    asked = lines([start(every_feed)])
    run_cut_off(home, *harness(client, home, tmp_path), cwd=client, text=asked, **wish)
    names = {path.name for path in home.rglob("*") if path.is_file()}
    assert names == {"deviceid", "onnxruntime.db"}


def harness(client: Path, home: Path, temporary: Path) -> tuple[str | Path, ...]:
    """The harness with folders of its own; Java asks the system for the home, not the variable."""
    folders = (f"-Duser.home={home}", f"-Djava.io.tmpdir={temporary}", "-XX:-UsePerfData")
    return "java", *folders, "-jar", client / "target/client-harness.jar"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(java: Java, baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and closed, a model takes at most 1.3 times the memory of twice."""
    client = write("java", tmp_path / "client", baked_minilm)
    java.build(client)
    command = ("java", "-Xmx64m", "-XX:+UseSerialGC", "-jar", "target/client-harness.jar")
    kilobytes = resident(client, baked_minilm, 10, command)
    assert kilobytes[-1] <= 1.3 * kilobytes[1], kilobytes


@pytest.mark.planted
@faults("java")
def test_a_planted_fault_is_caught(
    fault: Fault, java: Java, built: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    """The file compiles with the fault, and one of the client's own tests fails."""
    model, client = built[fault.model]
    with fault.planted(client):
        java.compile(*client.glob(fault.file), into=tmp_path)
    done = java.test(client, model, instead=[tmp_path])
    failed = re.findall(r"^  JUnit Jupiter:(.+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout
    assert failed, done.stdout
    print(fault.id, *failed)  # noqa: T201 - which tests caught it, with -s
