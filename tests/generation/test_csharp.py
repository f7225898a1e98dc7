"""The C# client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from models.every_feed import write_every_feed_model
from support.hostile import CONTRACTS, HOSTILE
from support.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.csharp

PROJECTS = ("src", "tests", "harness")

#: A build server would outlive the tests and hold their pipes open.
NO_SERVERS = {
    "DOTNET_CLI_USE_MSBUILD_SERVER": "0",
    "MSBUILDDISABLENODEREUSE": "1",
    "UseSharedCompilation": "false",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_NOLOGO": "1",
}
NATIVE = "Tokenizers.DotNet.runtime.$(NETCoreSdkPortableRuntimeIdentifier)"
PACKAGES = os.environ.get("NUGET_PACKAGES", str(Path.home() / ".nuget/packages"))

CONSUMER = """\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <Nullable>enable</Nullable>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
    <RestoreAdditionalProjectSources>{feed}</RestoreAdditionalProjectSources>
    <RestorePackagesPath>{folder}</RestorePackagesPath>
    <RestoreFallbackFolders>{packages}</RestoreFallbackFolders>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="EveryFeed" Version="0.1.0" />
    <PackageReference Include="{native}" Version="1.4.1" />
  </ItemGroup>
</Project>
"""


def dotnet(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    return run("dotnet", *arguments, cwd=cwd, **NO_SERVERS, **environment)


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, built."""
    folder = write("csharp", tmp_path_factory.mktemp("client"), every_feed)
    dotnet("build", "tests", cwd=folder)
    return folder


def own_tests(folder: Path, model: Path, *options: str) -> str:
    return dotnet("test", "tests", *options, cwd=folder, POLYBAKE_MODEL=str(model))


def passed(printed: str) -> int:
    summary = re.search(r"Failed: +0, Passed: +(\d+), Skipped: +0", printed)
    assert summary, printed
    return int(summary[1])


def test_every_render_is_clean(every_feed: Path, tmp_path: Path) -> None:
    """``dotnet format`` finds nothing to change, whatever the name, the prompts and the dtype."""
    solution = ["<Solution>"]
    renders = {kind: (NAMES, contract) for kind, contract in CONTRACTS.items()}
    renders |= {kind: (NAMES[:1], {"output": output}) for kind, output in OUTPUTS.items()}
    for kind, (names, contract) in renders.items():
        solution.append(f'<Folder Name="/{kind}/">')
        for name in names:
            folder = write(
                "csharp", tmp_path / kind / name, every_feed, name=name, contract=contract
            )
            # Of all files the contract's alone depends on the prompts.
            parts = PROJECTS if kind in ("short", *OUTPUTS) else ("src",)
            projects = [path for part in parts for path in (folder / part).glob("*.csproj")]
            assert len(projects) == len(parts)
            solution += [f"<Project Path={quoteattr(str(path))} />" for path in projects]
        solution.append("</Folder>")
    solution.append("</Solution>")
    (tmp_path / "All.slnx").write_text("\n".join(solution))
    dotnet("format", "All.slnx", "--verify-no-changes", cwd=tmp_path)


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """The client's tests pass on a model that takes every feed."""
    assert passed(own_tests(client, every_feed, "--no-build")) > 40


def test_its_own_tests_pass_with_left_padding(every_feed_left: Path, tmp_path: Path) -> None:
    """The same, on a model whose rows are padded on the left."""
    assert passed(own_tests(write("csharp", tmp_path, every_feed_left), every_feed_left)) > 40


@pytest.mark.parametrize("precision", ["int8", "bits"])
def test_its_own_tests_pass_with_integers(
    precision: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The same, on a model that is quantized."""
    model: Path = request.getfixturevalue(f"every_feed_{precision}")
    assert passed(own_tests(write("csharp", tmp_path, model), model)) > 40


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


def test_hostile_prompts_stay_text(tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests: its contract is exact."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    assert passed(own_tests(write("csharp", tmp_path / "client", model), model)) > 40


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
    requests = [
        {"cmd": "start", "protocol": 1, "model": str(every_feed), "device": "cuda"},
        {"cmd": "start", "protocol": 1, "model": str(every_feed), "device": "cpu"},
        {"cmd": "tokenize", "texts": ["a", '\U0001f469 \\ud800 \0"/'], "prompt": None},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed_ids", "input_ids": [[2, 3], []], "prompt": "query"},
        {"cmd": "embed", "texts": ["a"], "prompt": "é"},
        {"cmd": "dance"},
        {"cmd": "self_check"},
        {"cmd": "stop"},
    ]
    settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=client, **settings["environment"])
    done = subprocess.run(
        settings["run"],
        input="".join(json.dumps({"seq": i, **r}) + "\n" for i, r in enumerate(requests)),
        cwd=client,
        env=os.environ | settings["environment"] | {"LC_ALL": "C"},
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cuda, start, tokens, invalid, vectors, unknown, skipped, checked, stopped = map(
        json.loads, done.stdout.splitlines()
    )
    assert cuda["kind"] == "device"
    assert start["results"]["provider"]["active"] == "CPUExecutionProvider"
    assert start["results"]["client"]["language"] == "csharp"
    assert len(tokens["results"]) == 2
    assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert vectors["results"]["shape"] == [2, 7]
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "é"; choose one of: document, query'
    assert skipped["skipped"]
    assert 0 <= checked["results"] < 1e-5
    assert stopped == {"seq": 8, "results": None}


@pytest.fixture(scope="module")
def application(client: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project elsewhere that takes the client's package and runs the README's lines."""
    folder = tmp_path_factory.mktemp("an empty project")
    feed = folder / "feed"
    dotnet("pack", "--output", feed, cwd=client)
    assert [path.name for path in feed.iterdir()] == ["EveryFeed.0.1.0.nupkg"]
    block = re.search(r"```csharp\n(.*?)```", (client / "README.md").read_text(), re.DOTALL)
    assert block
    assert " " in str(every_feed)
    (folder / "Program.cs").write_text(block[1].replace("every-feed.onnx", str(every_feed)))
    (folder / "App.csproj").write_text(
        CONSUMER.format(feed=feed, folder=folder / "packages", packages=PACKAGES, native=NATIVE)
    )
    dotnet("build", "--output", folder / "built", cwd=folder)
    return folder / "built/App.dll"


def test_the_package_works_elsewhere(application: Path) -> None:
    """The package, installed in an empty project, runs the README's three lines."""
    assert dotnet(application, cwd=application.parent) == "7\n"


def test_a_missing_native_library_is_named(application: Path, tmp_path: Path) -> None:
    """Without the tokenizer's native package an application says which one to add."""
    folder = Path(shutil.copytree(application.parent, tmp_path / "built"))
    for library in folder.rglob("*hf_tokenizers*"):
        library.unlink()
    done = subprocess.run(
        ["dotnet", folder / application.name], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "such as Tokenizers.DotNet.runtime.linux-x64" in done.stderr
