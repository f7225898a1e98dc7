"""The C# client: clean, packaged, installed elsewhere, run, and quiet."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import read_client
from polybake.verification.harness.protocol import Errored, Start
from support.clients.conversation import EMBED, STOP, check_protocol, lines, resident, start
from support.clients.dotnet import NO_SERVERS, RELEASE, build, dotnet, write_solution
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS, HOSTILE
from support.clients.planted import Fault, faults
from support.clients.rendered import (
    NAMES,
    OUTPUTS,
    check_task,
    run,
    write,
)
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.csharp


PROJECTS = ("src", "tests", "harness")

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits")

#: A warning of the compiler or an analyzer is an error here, and not where the client is used.
STRICT = "-p:TreatWarningsAsErrors=true"

SECONDS = 60.0

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "FullyQualifiedName~EmbedderTests|FullyQualifiedName~SelfCheckTests"
PACKAGES = os.environ.get("NUGET_PACKAGES", str(Path.home() / ".nuget/packages"))

#: An application in which ``-p:Program=NAME`` says which of its programs is built.
APPLICATION = """\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <Nullable>enable</Nullable>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
    <EnableDefaultCompileItems>false</EnableDefaultCompileItems>
    <RestoreAdditionalProjectSources>{feed}</RestoreAdditionalProjectSources>
    <RestorePackagesPath>{folder}</RestorePackagesPath>
    <RestoreFallbackFolders>{packages}</RestoreFallbackFolders>
  </PropertyGroup>
  <ItemGroup>
    <Compile Include="$(Program).cs" />
    <PackageReference Include="EveryFeed" Version="0.1.0" />
    <PackageReference Include="Microsoft.Extensions.DependencyInjection" Version="10.0.14" />
    <PackageReference Include="Tokenizers.DotNet.runtime.$(NETCoreSdkPortableRuntimeIdentifier)"
      Version="1.4.1" />
  </ItemGroup>
</Project>
"""

#: Dependency injection, which gives vector stores a generator of queries and one of documents.
SERVICES = """\
using EveryFeed;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.DependencyInjection;

var services = new ServiceCollection();
services.AddSingleton(_ => Embedder.Open("every-feed.onnx"));
services.AddSingleton(provider => provider.GetRequiredService<Embedder>().AsDocumentGenerator());
services.AddKeyedSingleton(
    "query", (provider, _) => provider.GetRequiredService<Embedder>().AsQueryGenerator());
await using var provider = services.BuildServiceProvider();
var documents = provider.GetRequiredService<IEmbeddingGenerator<string, Embedding<float>>>();
var stored = await documents.GenerateAsync(["The Rhine is a river.", "Bread is baked in an oven."]);
var queries =
    provider.GetRequiredKeyedService<IEmbeddingGenerator<string, Embedding<float>>>("query");
var query = await queries.GenerateVectorAsync("water that flows");
var tokens = stored.Usage?.InputTokenCount;
Console.WriteLine($"{stored.Count} documents, {tokens} tokens; a query of {query.Length} elements");
"""


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, built."""
    folder = write("csharp", tmp_path_factory.mktemp("client"), every_feed)
    dotnet("build", "tests", STRICT, cwd=folder)
    return prepared(folder)


def prepared(folder: Path) -> Path:
    """The client's folder, its harness made runnable as its harness.json says."""
    settings = json.loads((folder / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=folder, **settings["environment"])
    return folder


def own_tests(folder: Path, model: Path, *options: str) -> str:
    return dotnet("test", "tests", *options, cwd=folder, POLYBAKE_MODEL=str(model))


def passed(printed: str) -> int:
    summary = re.search(r"Failed: +0, Passed: +(\d+), Skipped: +0", printed)
    assert summary, printed
    return int(summary[1])


def test_every_render_is_clean(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """``dotnet format`` finds nothing to change; nor in white space, whatever is rendered.

    Style and analyzers need a build of each project, and judge lines that no name or prompt is in.
    """
    for project in PROJECTS:
        dotnet("format", project, "--verify-no-changes", "--no-restore", cwd=client)
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("csharp", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("csharp", tmp_path / kind, every_feed, contract={"output": output})
    check_white_space(tmp_path, 30)


def check_white_space(folder: Path, least: int) -> int:
    """Every file of the folder is formatted, which are more than so many; their number."""
    command = ("format", "whitespace", folder, "--folder", "--verify-no-changes")
    printed = dotnet(*command, "--verbosity", "diagnostic", cwd=folder)
    built = {"bin", "obj"}
    sources = [path for path in folder.rglob("*.cs") if not built & set(path.parts)]
    found = re.search(r"Formatted 0 of (\d+) files", printed)
    assert found, printed
    assert int(found[1]) >= len(sources) > least
    return int(found[1])


def test_the_recipes_are_formatted(repository: Path) -> None:
    """Their packages are not here, so that only their white space can be judged."""
    sources = [*(repository / "recipes").rglob("*.cs")]
    assert check_white_space(repository / "recipes", 0) == len(sources)


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """The client's tests pass on a model that takes every feed."""
    assert passed(own_tests(client, every_feed, "--no-build")) > 75


@pytest.fixture(scope="module")
def clients(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, Path]]:
    """The model and the client of each kind and of each task, and one without parts, built."""
    folder = tmp_path_factory.mktemp("clients")
    models = {kind: request.getfixturevalue(f"every_feed_{kind}") for kind in KINDS}
    models["hostile"] = write_every_feed_model(folder / "hostile.onnx", **CONTRACTS["hostile"])
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


@pytest.mark.parametrize("kind", [*KINDS, "hostile"])
def test_its_own_tests_pass_with(kind: str, clients: dict[str, tuple[Path, Path]]) -> None:
    """The same, padded on the left, with a default prompt, quantized, with hostile prompts."""
    model, client = clients[kind]
    assert passed(own_tests(client, model, "--no-build", "--filter", OF_VECTORS, *RELEASE)) > 18


def test_the_client_of_each_task_is_clean(clients: dict[str, tuple[Path, Path]]) -> None:
    """Its white space is as ``dotnet format`` has it; its build judged style and analyzers."""
    check_white_space(clients["left"][1].parent, 30)


def test_weights_beside_the_graph(clients: dict[str, tuple[Path, Path]]) -> None:
    """The client of such a file passes its tests of files and of vectors."""
    model, client = clients["beside"]
    tests = f"{OF_VECTORS}|FullyQualifiedName~ModelFileTests"
    assert passed(own_tests(client, model, "--no-build", "--filter", tests, *RELEASE)) > 25


def test_a_client_without_parts(clients: dict[str, tuple[Path, Path]]) -> None:
    """The core is clean, and passes its own tests by itself."""
    model, client = clients["core"]
    assert not [*client.rglob("Bulk*.cs"), *client.rglob("Cuda*.cs")]
    assert passed(own_tests(client, model, "--no-build", *RELEASE)) > 60


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(task: str, clients: dict[str, tuple[Path, Path]]) -> None:
    """It passes its own tests, and reproduces vectors and answers."""
    model, client = clients[task]
    assert passed(own_tests(client, model, "--no-build", *RELEASE)) > 10
    check_task(model, client)


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    done = subprocess.run(
        ["dotnet", "test", "tests", "--no-build"],
        cwd=client,
        env=environment | NO_SERVERS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_the_project_file_keeps_a_description_as_text(every_feed: Path, tmp_path: Path) -> None:
    """MSBuild expands nothing in a description; the runtime's package is the builder's choice."""
    description = f"$([System.DateTime]::Now) @(Compile) %24(A) a;b * ? {HOSTILE}"
    folder = write("csharp", tmp_path, every_feed, description=description)
    printed = dotnet(
        *("msbuild", "src", "-getProperty:Description", "-getItem:PackageReference"),
        "-p:OnnxRuntimePackage=Microsoft.ML.OnnxRuntime.Gpu",
        cwd=folder,
    )
    found = json.loads(printed)
    expected = " ".join(description.split())
    assert found["Properties"]["Description"] == "".join(c for c in expected if c.isprintable())
    packages = {item["Identity"] for item in found["Items"]["PackageReference"]}
    assert packages == {
        "Microsoft.Extensions.AI.Abstractions",
        "Microsoft.ML.OnnxRuntime.Gpu",
        "Tokenizers.DotNet",
    }


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that .NET's JSON reader refuses."""
    check_protocol(client, every_feed, "csharp")


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("csharp", tmp_path / "client", beside=beside)
    check_heads(prepared(client), tmp_path, beside=beside)


@pytest.mark.parametrize("folder", ["no such folder", "/proc"])
def test_the_tokenizer_needs_a_folder(client: Path, every_feed: Path, folder: str) -> None:
    """Where no temporary file can be written the error says so, and what to do."""
    environment = {"TMPDIR": folder, "DOTNET_EnableDiagnostics": "0"}
    harness = Harness(read_client(client).model_copy(update={"environment": environment}))
    answer = harness.ask(Start(model=str(every_feed), device="cpu"), SECONDS)
    harness.kill()
    assert isinstance(answer, Errored)
    assert answer.kind == "wrong_model"
    assert f"the tokenizer cannot be written to {folder}" in answer.message
    assert answer.message.endswith("; let TMPDIR name a folder with room for it")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and closed, a model takes at most 1.3 times the memory of once."""
    client = prepared(write("csharp", tmp_path / "client", baked_minilm))
    kilobytes = resident(client, baked_minilm, 10)
    assert kilobytes[-1] <= 1.3 * kilobytes[0], kilobytes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a fresh machine, not made yet."""
    return tmp_path / "home"


def written(home: Path) -> list[Path]:
    """The files in a home."""
    return [path for path in home.rglob("*") if path.is_file()]


def session(model: Path) -> str:
    """The requests of a user who opens a model, embeds, and ends."""
    return lines([start(model), EMBED, STOP])


def test_nothing_leaves_the_machine(
    client: Path, every_feed: Path, home: Path, tmp_path: Path
) -> None:
    """Opening, embedding and ending write nothing to the home and look up no name."""
    harness = client / "harness/bin/Release/net10.0/EveryFeed.Harness.dll"
    printed = run_silently(home, "dotnet", harness, cwd=tmp_path, text=session(every_feed))
    assert len(printed.splitlines()) == 3
    assert written(home) == []
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] in ([], ["trace"])


def test_who_wants_telemetry_is_obeyed(client: Path, every_feed: Path, home: Path) -> None:
    """With the variable at 0 ONNX Runtime writes what it writes: the test above can fail."""
    harness = client / "harness/bin/Release/net10.0/EveryFeed.Harness.dll"
    wish = {"ORT_DISABLE_TELEMETRY": "0"}
    run_cut_off(home, "dotnet", harness, cwd=home.parent, text=session(every_feed), **wish)
    assert {path.name for path in written(home)} >= {"deviceid", "onnxruntime.db"}


@pytest.fixture(scope="module")
def application(
    client: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Builds programs of a project elsewhere that takes the client's package."""
    folder = tmp_path_factory.mktemp("an empty project")
    feed = folder / "feed"
    dotnet("pack", "src", "--output", feed, cwd=client)
    assert [path.name for path in feed.iterdir()] == ["EveryFeed.0.1.0.nupkg"]
    readme = (client / "README.md").read_text(encoding="utf-8")
    lines, stream = re.findall(r"```csharp\n(.*?)```", readme, re.DOTALL)
    assert " " in str(every_feed)
    programs = {"Lines": lines, "Stream": stream, "Services": SERVICES}
    for name, code in programs.items():
        assert "every-feed.onnx" in code
        code = code.replace("every-feed.onnx", str(every_feed))
        (folder / f"{name}.cs").write_text(code, encoding="utf-8")
    packages = folder / "packages"
    project = APPLICATION.format(feed=feed, folder=packages, packages=PACKAGES)
    (folder / "App.csproj").write_text(project, encoding="utf-8")

    @functools.cache
    def build(program: str) -> Path:
        dotnet("build", f"-p:Program={program}", "--output", f"built/{program}", cwd=folder)
        return folder / "built" / program / "App.dll"

    return build


def test_the_package_works_elsewhere(application: Callable[[str], Path], tmp_path: Path) -> None:
    """The package, installed in an empty project, runs the README's three lines."""
    assert dotnet(application("Lines"), cwd=tmp_path) == "7\n"


def test_the_stream_works(application: Callable[[str], Path], tmp_path: Path) -> None:
    """A file of more lines than one window holds gives a vector a line."""
    (tmp_path / "texts.txt").write_text("a\n" * 8193, encoding="utf-8")
    assert dotnet(application("Stream"), cwd=tmp_path) == "7\n" * 8193


def test_services_are_given_generators(application: Callable[[str], Path], tmp_path: Path) -> None:
    """A container of services has the embedder by the interface of Microsoft.Extensions.AI."""
    printed = dotnet(application("Services"), cwd=tmp_path)
    assert printed == "2 documents, 32 tokens; a query of 7 elements\n"


def test_a_missing_native_library_is_named(
    application: Callable[[str], Path], tmp_path: Path
) -> None:
    """Without the tokenizer's native package an application says which one to add."""
    lines = application("Lines")
    folder = Path(shutil.copytree(lines.parent, tmp_path / "built"))
    for library in folder.rglob("*hf_tokenizers*"):
        library.unlink()
    done = subprocess.run(
        ["dotnet", folder / lines.name], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "such as Tokenizers.DotNet.runtime.linux-x64" in done.stderr


@pytest.fixture(scope="module")
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The client of a model, whose own tests pass without a fault, as the tests above say."""

    @functools.cache
    def build(model: str) -> Path:
        path: Path = request.getfixturevalue(model)
        folder = write("csharp", tmp_path_factory.mktemp(model), path)
        dotnet("restore", "tests", cwd=folder)
        return folder

    return build


@pytest.mark.planted
@faults("csharp")
def test_a_planted_fault_is_caught(
    fault: Fault, built: Callable[[str], Path], request: pytest.FixtureRequest
) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    client = built(fault.model)
    (path,) = client.glob(fault.file)
    sound = path.read_text(encoding="utf-8")
    try:
        fault.plant(client)
        dotnet("build", "tests", "--no-restore", cwd=client)
        done = subprocess.run(
            ["dotnet", "test", "tests", "--no-build"],
            cwd=client,
            env=os.environ
            | NO_SERVERS
            | {"POLYBAKE_MODEL": str(request.getfixturevalue(fault.model))},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_text(sound, encoding="utf-8")
    failed = re.findall(r"^  Failed (\S+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout
    assert failed, done.stdout
    print(fault.id, *failed)  # noqa: T201 - which tests caught it, with -s
