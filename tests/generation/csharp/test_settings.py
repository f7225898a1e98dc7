"""The C# client in a repository that has settings of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.clients.dotnet import dotnet
from support.clients.rendered import write
from support.hub.hub_server import Hub, serve

pytestmark = pytest.mark.csharp

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
