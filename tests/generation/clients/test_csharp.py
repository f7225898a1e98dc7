"""What only C# has: packages, and a repository with settings of its own."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from generation.clients.conftest import alone
from support.clients.dotnet import dotnet
from support.clients.hostile import HOSTILE
from support.clients.rendered import attempt, blocks, write
from support.hub.hub_server import Hub, serve

pytestmark = alone("csharp")

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
    <Compile Include="BakedGenerator.cs" Condition="'$(Program)' == 'Generator'" />
    <PackageReference Include="EveryFeed" Version="0.1.0" />
    <PackageReference Include="Microsoft.Extensions.AI.Abstractions" Version="10.11.0" />
    <PackageReference Include="Tokenizers.DotNet.runtime.$(NETCoreSdkPortableRuntimeIdentifier)"
      Version="1.4.1" />
  </ItemGroup>
</Project>
"""


#: Vectors of Microsoft.Extensions.AI's interface are those of the embedder.
GENERATOR = """\
using EveryFeed;
using Microsoft.Extensions.AI;

using var embedder = Embedder.Open(MODEL);
using var queries = BakedGenerator.OfQueries(embedder);
using var documents = BakedGenerator.OfDocuments(embedder);
var query = (await queries.GenerateAsync(["a"]))[0].Vector.ToArray();
var document = (await documents.GenerateAsync(["a"]))[0].Vector.ToArray();
Console.WriteLine(query.SequenceEqual(embedder.EmbedQuery("a")));
Console.WriteLine(document.SequenceEqual(embedder.EmbedDocuments(["a"])[0]));
Console.WriteLine(queries.GetService<EmbeddingGeneratorMetadata>()?.DefaultModelDimensions);
"""


@pytest.fixture(scope="module")
def application(
    client: Path, every_feed: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Builds programs of a project elsewhere that takes the client's package."""
    folder = tmp_path_factory.mktemp("an empty project")
    feed = folder / "feed"
    dotnet("pack", "src", "--output", feed, cwd=client)
    assert [path.name for path in feed.iterdir()] == ["EveryFeed.0.1.0.nupkg"]
    lines, stream = blocks(client, "csharp", every_feed)
    assert " " in str(every_feed)
    generator = GENERATOR.replace("MODEL", json.dumps(str(every_feed)))
    recipe = (repository / "recipes/csharp/BakedGenerator.cs").read_text(encoding="utf-8")
    own = recipe.replace("using AllMinilmL6V2;", "using EveryFeed;")
    (folder / "BakedGenerator.cs").write_text(own, encoding="utf-8")
    for name, code in {"Lines": lines, "Stream": stream, "Generator": generator}.items():
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


def test_the_recipe_of_a_generator_works(
    application: Callable[[str], Path], tmp_path: Path
) -> None:
    """It gives the vectors of queries and of documents, and says how long they are."""
    assert dotnet(application("Generator"), cwd=tmp_path) == "True\nTrue\n7\n"


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
    assert packages == {"Microsoft.ML.OnnxRuntime.Gpu", "Tokenizers.DotNet"}


CENTRAL_VERSIONS = """\
<Project>
  <PropertyGroup>
    <ManagePackageVersionsCentrally>true</ManagePackageVersionsCentrally>
  </PropertyGroup>
  <ItemGroup>
    <PackageVersion Include="Tokenizers.DotNet" Version="1.0.0" />
    <PackageVersion Include="xunit" Version="2.9.3" />
  </ItemGroup>
</Project>
"""

SETTINGS = """\
<Project>
  <PropertyGroup>
    <Company>Theirs</Company>
    <Nullable>disable</Nullable>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="xunit" PrivateAssets="all" />
  </ItemGroup>
</Project>
"""

AUDITED = """\
<configuration>
  <auditSources>
    <clear />
    <add key="advisories" value="{}/index.json" allowInsecureConnections="true" />
  </auditSources>
</configuration>
"""


class Advisories(Hub):
    """A source of packages that has an advisory on one of the client's, and no package."""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """The index, the list of pages, or the only page."""
        here = self.endpoint
        listing = {"@id": f"{here}/list.json", "@type": "VulnerabilityInfo/6.7.0"}
        page = {"@name": "all", "@id": f"{here}/all.json", "@updated": "2026-01-01T00:00:00Z"}
        advisory = {"url": "https://example.org/1", "severity": 3, "versions": "(, 99.0.0)"}
        pages = {
            "/index.json": {"version": "3.0.0", "resources": [listing]},
            "/list.json": [page],
            "/all.json": {"tokenizers.dotnet": [advisory]},
        }
        return 200, {}, json.dumps(pages[path]).encode()


def test_it_restores_beneath_central_versions(every_feed: Path, tmp_path: Path) -> None:
    """Its packages keep its own versions, and a team's settings apply where it has none."""
    (tmp_path / "Directory.Packages.props").write_text(CENTRAL_VERSIONS, encoding="utf-8")
    (tmp_path / "Directory.Build.props").write_text(SETTINGS, encoding="utf-8")
    folder = write("csharp", tmp_path / "clients/csharp", every_feed)
    dotnet("restore", "harness", cwd=folder)
    for part in ("harness", "src"):
        assets = (folder / part / "obj/project.assets.json").read_text(encoding="utf-8")
        assert {"Tokenizers.DotNet/1.4.1", "xunit/2.9.3"} <= json.loads(assets)["libraries"].keys()
    asked = ("-getProperty:Company", "-getProperty:Nullable", "-getProperty:RootNamespace")
    found = json.loads(dotnet("msbuild", "src", *asked, cwd=folder))["Properties"]
    assert found == {"Company": "Theirs", "Nullable": "enable", "RootNamespace": "EveryFeed"}


def test_an_advisory_breaks_no_build(every_feed: Path, tmp_path: Path) -> None:
    """One on a package of the client is a warning: whether it is an error, the team decides."""
    folder = write("csharp", tmp_path, every_feed)
    with serve(Advisories(models={})) as source:
        settings = AUDITED.format(source.endpoint)
        (folder / "nuget.config").write_text(settings, encoding="utf-8")
        printed = dotnet("restore", "src", cwd=folder)
    assert "warning NU1904: Package 'Tokenizers.DotNet' 1.4.1 has a known critical" in printed
