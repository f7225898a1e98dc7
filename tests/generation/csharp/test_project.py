"""The C# client in a user's project: what its README promises, services, and its project file."""

import functools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.clients.dotnet import dotnet
from support.clients.hostile import HOSTILE
from support.clients.readme import blocks
from support.clients.rendered import attempt, write

pytestmark = pytest.mark.csharp

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
def application(
    client: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Builds programs of a project elsewhere that takes the client's package."""
    folder = tmp_path_factory.mktemp("an empty project")
    feed = folder / "feed"
    dotnet("pack", "src", "--output", feed, cwd=client)
    assert [path.name for path in feed.iterdir()] == ["EveryFeed.0.1.0.nupkg"]
    services = SERVICES.replace(every_feed.name, str(every_feed))
    lines, stream = blocks(client, "csharp", every_feed)
    assert " " in str(every_feed)
    for name, code in {"Lines": lines, "Stream": stream, "Services": services}.items():
        assert str(every_feed) in code
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
    done = attempt("dotnet", folder / lines.name, cwd=tmp_path)
    assert done.returncode != 0
    assert "such as Tokenizers.DotNet.runtime.linux-x64" in done.stderr


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
