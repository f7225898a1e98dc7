"""The golden cases against a service of somebody's own, by the test runner of each language."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import polybake
from models.files.search_model import PROMPTS, write_search_model
from polybake.base.modelfile import fixture_folder
from support.clients.programs import GEMFILE, MODEL, RECIPES, call
from support.clients.rendered import run
from support.processes import commandline

pytestmark = pytest.mark.slow

#: Wrappers, each of which opens the file beside it.
SERVICES = {
    "node": """
import { Embedder } from "all-minilm-l6-v2";

const embedder = await Embedder.open(new URL("../all-minilm-l6-v2.onnx", import.meta.url));

export const embed = (texts, prompt) => embedder.embed(texts, { prompt: prompt ?? undefined });
""",
    "ruby": """
require "all_minilm_l6_v2"

module Service
  EMBEDDER = AllMinilmL6V2::Embedder.new(File.expand_path("../all-minilm-l6-v2.onnx", __dir__))

  def self.embed(texts, prompt)
    EMBEDDER.embed(texts, prompt:)
  end
end
""",
    "csharp": """
using AllMinilmL6V2;

internal static class Service
{
    private static readonly Embedder Embedder = Embedder.Open("PROJECT/all-minilm-l6-v2.onnx");

    public static float[][] Embed(string[] texts, string? prompt) => Embedder.Embed(texts, prompt);
}
""",
}

NAME = Path(MODEL).stem

PACKAGE = """
{"private": true, "type": "module", "scripts": {"test": "node --test tests/*.test.js"}}
"""

RAKEFILE = """
require "minitest/test_task"

Minitest::TestTask.create { |task| task.test_globs = ["test/**/*_test.rb"] }
task default: :test
"""

TESTS = """
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
    <Nullable>enable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Microsoft.NET.Test.Sdk" Version="18.0.1" />
    <PackageReference Include="Tokenizers.DotNet.runtime.$(NETCoreSdkPortableRuntimeIdentifier)" Version="1.4.1" />
    <PackageReference Include="xunit" Version="2.9.3" />
    <PackageReference Include="xunit.runner.visualstudio" Version="3.1.5" />
    <ProjectReference Include="../clients/csharp/src/AllMinilmL6V2.csproj" />
    CONTENT
  </ItemGroup>
</Project>
"""  # noqa: E501

Command = list[str]


def write_node(project: Path) -> Command:
    """`npm test`, the packages installed."""
    write(project / "src/service.js", SERVICES["node"])
    write(project / "package.json", PACKAGE)
    copy("node/golden_cases.test.js", project / "tests")
    install = ("npm", "install", "--no-audit", "--no-fund", "./clients/node")
    run(*install, cwd=project, ONNXRUNTIME_NODE_INSTALL="skip")
    return ["npm", "test"]


def write_ruby(project: Path) -> Command:
    """`bundle exec rake`, the gems installed."""
    write(project / "lib/service.rb", SERVICES["ruby"])
    write(project / "Gemfile", f'{GEMFILE}gem "minitest", "~> 5.20"\ngem "rake", "~> 13.0"\n')
    write(project / "Rakefile", RAKEFILE)
    copy("ruby/golden_cases_test.rb", project / "test")
    done = call(project, "bundle", "install", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    return ["bundle", "exec", "rake"]


def write_csharp(project: Path) -> Command:
    """`dotnet test` of the built tests, whose project has the line that the recipe names."""
    recipe = (RECIPES / "csharp/GoldenCasesTests.cs").read_text(encoding="utf-8")
    content = recipe.partition("<Content")[2].partition("\n")[0]
    write(project / "tests/Tests.csproj", TESTS.replace("CONTENT", f"<Content{content}"))
    write(project / "tests/Service.cs", SERVICES["csharp"].replace("PROJECT", str(project)))
    copy("csharp/GoldenCasesTests.cs", project / "tests")
    # Analyzers have seen every line of the client in its own tests.
    build = ("dotnet", "build", "tests", "--output", "built", "-p:RunAnalyzers=false")
    done = call(project, *build)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "built/fixtures/cases.json").is_file()
    return ["dotnet", "test", "tests", "--no-build", "--output", "built"]


WRITERS: dict[str, Callable[[Path], Command]] = {
    "node": write_node,
    "ruby": write_ruby,
    "csharp": write_csharp,
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.lstrip(), encoding="utf-8")


def copy(recipe: str, folder: Path) -> None:
    """As people copy it, whatever stands in it."""
    folder.mkdir(exist_ok=True)
    shutil.copy(RECIPES / recipe, folder)


@pytest.fixture(
    scope="module", params=[pytest.param(n, marks=getattr(pytest.mark, n)) for n in WRITERS]
)
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a client, a service around it, the recipe, and golden cases."""
    project = tmp_path_factory.mktemp("a project")
    write_search_model(project / MODEL)
    polybake.generate(project / MODEL, project / "clients", languages=[request.param])
    commandline.polybake("inspect", MODEL, "--extract", f"fixtures/{NAME}", cwd=project)
    command = WRITERS[request.param](project)
    (project / "command").write_text("\n".join(command))
    return project


def outcome(project: Path) -> subprocess.CompletedProcess[str]:
    """The service's tests, run."""
    fixtures, built = project / "fixtures" / NAME, project / "built/fixtures"
    if built.exists():
        shutil.rmtree(built)
        shutil.copytree(fixtures, built)
    return call(project, *(project / "command").read_text().splitlines())


def test_a_right_service_passes(service: Path) -> None:
    """Prompts are passed on, and the cases are really run."""
    done = outcome(service)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = fixture_folder.read_fixture(service / "fixtures" / NAME).cases
    assert {case.prompt for case in cases} >= set(PROMPTS)
    # The numbers of node:test, minitest and dotnet.
    assert re.search(rf"(pass |, |^|Passed: +){len(cases)}( runs|,|$)", done.stdout, re.MULTILINE)


def test_a_service_that_does_not_normalize_fails(service: Path) -> None:
    """Each message has row, element, difference, limit, and the lengths that tell the fault."""
    right = (service / MODEL).read_bytes()
    steps = [{"step": "pool", "mode": "mean"}]
    source = service / NAME  # which write_search_model leaves there
    polybake.bake(source, service / MODEL, name=NAME, steps=steps, prompts=PROMPTS)
    done = outcome(service)
    (service / MODEL).write_bytes(right)
    printed = done.stdout + done.stderr
    assert done.returncode == 1, printed
    number = r"([\d.eE+-]+)"
    place = r"row \d+, element \d+: difference"
    told = f"{place} {number} exceeds {number}; the vector is {number} long, expected {number}"
    found = [[float(each) for each in one] for one in re.findall(told, printed)]
    assert found, printed
    for difference, limit, length, expected in found:
        assert (limit, expected) == pytest.approx((1e-5, 1))
        assert difference > limit
        assert abs(length - 1) > 0.1


def test_many_vectors_lie_beside(service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large fixture has a file of floats."""
    folder = service / "fixtures" / NAME
    monkeypatch.setattr(fixture_folder, "_LARGEST_INLINE", 0)
    fixture_folder.write_fixture(fixture_folder.read_fixture(folder), folder)
    assert (folder / "vectors.f32").exists()
    done = outcome(service)
    assert done.returncode == 0, done.stdout + done.stderr
