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
from support.clients.programs import GEMFILE, GO_MODULE, MODEL, RECIPES, call
from support.clients.rendered import onnxruntime, run
from support.processes import commandline

pytestmark = pytest.mark.slow

#: Wrappers, each of which opens the file beside it.
SERVICES = {
    "js": """
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
    "java": """
import allminilml6v2.Embedder;
import java.nio.file.Path;
import java.util.List;

final class Service {
  private static final Embedder EMBEDDER = Embedder.open(Path.of("../all-minilm-l6-v2.onnx"));

  static List<float[]> embed(List<String> texts, String prompt) {
    return EMBEDDER.embed(texts, prompt);
  }
}
""",
    "go": """
package service

import (
	"context"

	allminilml6v2 "all-minilm-l6-v2"
)

func Embed(texts []string, prompt string) ([][]float32, error) {
	embedder, err := allminilml6v2.Open("../all-minilm-l6-v2.onnx", nil)
	if err != nil {
		return nil, err
	}
	defer embedder.Close()
	return embedder.Embed(context.Background(), texts, &allminilml6v2.EmbedOptions{Prompt: prompt})
}
""",
    "rust": """
pub fn embed(texts: &[&str], prompt: Option<&str>) -> Vec<Vec<f32>> {
    let embedder = all_minilm_l6_v2::Embedder::open("all-minilm-l6-v2.onnx").unwrap();
    embedder.embed(texts, prompt).unwrap()
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

REACTOR = """
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>project</groupId>
  <artifactId>project</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
    <module>clients/java</module>
    <module>service</module>
  </modules>
</project>
"""

POM = """
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>service</groupId>
  <artifactId>service</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>allminilml6v2</groupId>
      <artifactId>all-minilm-l6-v2</artifactId>
      <version>0.1.0</version>
    </dependency>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.13.4</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>com.fasterxml.jackson.core</groupId>
      <artifactId>jackson-databind</artifactId>
      <version>2.19.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.14.1</version>
      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.5.4</version>
      </plugin>
    </plugins>
  </build>
</project>
"""

CRATE = """
[package]
name = "service"
version = "0.1.0"
edition = "2024"

[lib]
path = "src/service.rs"

[dependencies]
all-minilm-l6-v2 = { path = "clients/rust" }

[dev-dependencies]
base64 = "0.22"
serde_json = "1"
"""

Command = list[str]


def write_node(project: Path) -> Command:
    """`npm test`, the packages installed."""
    write(project / "src/service.js", SERVICES["js"])
    write(project / "package.json", PACKAGE)
    copy("node/golden_cases.test.js", project / "tests")
    install = ("npm", "install", "--no-audit", "--no-fund", "./clients/node")
    run(*install, cwd=project, ONNXRUNTIME_NODE_INSTALL="skip")
    return ["npm", "test"]


def write_browser(project: Path) -> Command:
    """`vitest run` in the Chromium of this machine."""
    write(project / "src/service.js", SERVICES["js"])
    write(project / "package.json", '{"private": true, "type": "module"}')
    shutil.copy(RECIPES / "browser/vitest.config.js", project)
    copy("browser/golden_cases.test.js", project / "tests")
    run("npm", "config", "set", "install-links=true", "--location=project", cwd=project)
    packages = ("./clients/browser", "vitest@3", "@vitest/browser@3", "playwright")
    run(
        *("npm", "install", "--no-audit", "--no-fund", *packages),
        cwd=project,
        PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD="1",
    )
    chromium = f"CHROME_PATH={shutil.which('chromium')}"
    return ["env", chromium, "NO_COLOR=1", "npx", "vitest", "run"]


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


def write_java(project: Path) -> Command:
    """`mvn test`, of the service and the client that it has."""
    write(project / "pom.xml", REACTOR)
    write(project / "service/pom.xml", POM)
    for folder, text in (("main", SERVICES["java"]), ("test", "")):
        (project / "service/src" / folder / "java").mkdir(parents=True)
        if text:
            write(project / "service/src" / folder / "java/Service.java", text)
    copy("java/GoldenCasesTest.java", project / "service/src/test/java")
    (project / "service/fixtures").symlink_to("../fixtures")
    chosen = ("-Dtest=GoldenCasesTest", "-Dsurefire.failIfNoSpecifiedTests=false")
    return ["mvn", "--quiet", "--batch-mode", "test", *chosen]


def write_go(project: Path) -> Command:
    """`go test`, with ONNX Runtime's library of this environment."""
    write(project / "service/service.go", SERVICES["go"])
    write(project / "go.mod", GO_MODULE)
    copy("go/golden_cases_test.go", project / "service")
    run("go", "mod", "tidy", cwd=project)
    return ["env", f"ONNXRUNTIME_LIBRARY_PATH={onnxruntime()}", "go", "test", "-v", "./service"]


def write_rust(project: Path) -> Command:
    """`cargo test`, with the same library."""
    write(project / "src/service.rs", SERVICES["rust"])
    write(project / "Cargo.toml", CRATE)
    copy("rust/golden_cases.rs", project / "tests")
    library = f"ORT_DYLIB_PATH={onnxruntime()}"
    return ["env", library, "cargo", "test", "--release", "--test", "*", "--", "--nocapture"]


WRITERS: dict[str, Callable[[Path], Command]] = {
    "node": write_node,
    "browser": write_browser,
    "ruby": write_ruby,
    "csharp": write_csharp,
    "java": write_java,
    "go": write_go,
    "rust": write_rust,
}

#: The exit codes of tests that fail.
FAILED = {"rust": 101}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.lstrip(), encoding="utf-8")


def copy(recipe: str, folder: Path) -> None:
    """As people copy it, whatever stands in it."""
    folder.mkdir(exist_ok=True)
    shutil.copy(RECIPES / recipe, folder)


def marks(language: str) -> list[pytest.MarkDecorator]:
    """Those of the quick ones run at every change."""
    often = language in ("node", "ruby", "go")
    return [getattr(pytest.mark, language), *([] if often else [pytest.mark.weekly])]


@pytest.fixture(scope="module", params=[pytest.param(n, marks=marks(n)) for n in WRITERS])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a client, a service around it, the recipe, and golden cases."""
    project = tmp_path_factory.mktemp("a project")
    write_search_model(project / MODEL)
    polybake.generate(project / MODEL, project / "clients", languages=[request.param])
    commandline.polybake("inspect", MODEL, "--extract", f"fixtures/{NAME}", cwd=project)
    command = WRITERS[request.param](project)
    (project / "command").write_text("\n".join(command))
    (project / "language").write_text(request.param)
    return project


def outcome(project: Path) -> subprocess.CompletedProcess[str]:
    """The service's tests, run."""
    fixtures, built = project / "fixtures" / NAME, project / "built/fixtures"
    if built.exists():
        shutil.rmtree(built)
        shutil.copytree(fixtures, built)
    return call(project, *(project / "command").read_text().splitlines())


def test_a_right_service_passes(service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts are passed on, and the cases are really run, by vectors in a file of floats.

    Those of many cases lie so; in the test below they are inside cases.json.
    """
    folder = service / "fixtures" / NAME
    inline = fixture_folder.read_fixture(folder)
    with monkeypatch.context() as patch:
        patch.setattr(fixture_folder, "_LARGEST_INLINE", 0)
        fixture_folder.write_fixture(inline, folder)
    assert (folder / "vectors.f32").exists()
    done = outcome(service)
    fixture_folder.write_fixture(inline, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = inline.cases
    assert {case.prompt for case in cases} >= set(PROMPTS)
    # Numbers of node:test, Vitest, minitest, dotnet and the recipe in Rust; Surefire's; Go's lines.
    number = rf"(pass |, |^|Passed: +|Tests +){len(cases)}( runs|,| cases passed| passed|$)"
    reports = [*service.glob("service/target/surefire-reports/*.txt")]
    printed = "\n".join([done.stdout, *(one.read_text("utf-8") for one in reports)])
    in_go = printed.count("--- PASS: TestGoldenCases/") == len(cases)
    in_java = f"Tests run: {len(cases)}, Failures: 0" in printed
    assert in_go or in_java or re.search(number, printed, re.MULTILINE), printed


def test_a_service_that_does_not_normalize_fails(service: Path) -> None:
    """Each message has row, element, difference, limit, and the lengths that tell the fault."""
    steps = [{"step": "pool", "mode": "mean"}]
    source = service / NAME  # which write_search_model leaves there
    polybake.bake(source, service / MODEL, name=NAME, steps=steps, prompts=PROMPTS)
    done = outcome(service)
    printed = done.stdout + done.stderr
    assert done.returncode == FAILED.get((service / "language").read_text(), 1), printed
    number = r"([\d.eE+-]+)"
    place = r"row \d+, element \d+: difference"
    told = f"{place} {number} exceeds {number}; the vector is {number} long, expected {number}"
    found = [[float(each) for each in one] for one in re.findall(told, printed)]
    assert found, printed
    for difference, limit, length, expected in found:
        assert (limit, expected) == pytest.approx((1e-5, 1))
        assert difference > limit
        assert abs(length - 1) > 0.1
