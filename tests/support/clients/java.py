"""Build and test Java clients: many with one run of the compiler, and none by Maven."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.clients.planted import Fault
from support.clients.rendered import run

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits")

COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies"

#: The jars that tests need beside a client's own packages.
_TOOLS = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tools</groupId>
  <artifactId>tools</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.junit.platform</groupId>
      <artifactId>junit-platform-console-standalone</artifactId>
      <version>1.13.4</version>
    </dependency>
    <dependency>
      <groupId>com.google.googlejavaformat</groupId>
      <artifactId>google-java-format</artifactId>
      <version>1.28.0</version>
      <classifier>all-deps</classifier>
    </dependency>
  </dependencies>
</project>
"""

#: A test's process is small, and lives shortly.
_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@dataclass(frozen=True)
class Java:
    """Where the packages of clients are, with JUnit's console, and where clients are built."""

    packages: Path
    formatter: Path
    built: Path

    def build(self, *clients: Path, options: Iterable[str] = ("-Xlint:all", "-Werror")) -> None:
        """Compile clients whose packages have different names, and make each one's harness."""
        for client in clients:
            shutil.copytree(client / "src/main/resources", self.built, dirs_exist_ok=True)
            self._write_harness(client)
        self.compile(*(path for one in clients for path in one.rglob("*.java")), options=options)

    def compile(
        self, *sources: Path, options: Iterable[str] = (), into: Path | None = None
    ) -> None:
        """Compile sources into a folder, by default to where the clients are built."""
        places = os.pathsep.join([f"{self.packages}/*", str(self.built)])
        command = ("javac", *(f"-J{option}" for option in _QUICK), "--release", "17", *options)
        folder = into or self.built
        run(*command, "-encoding", "UTF-8", "-cp", places, "-d", folder, *sources, cwd=folder)

    def _write_harness(self, client: Path) -> None:
        """What Maven's profile ``harness`` makes: a jar that names the class path and the class."""
        places = [self.built, *sorted(self.packages.glob("*.jar"))]
        urls = " ".join(place.as_uri() + "/" * place.is_dir() for place in places)
        lines = f"Main-Class: {package(client)}.Harness", f"Class-Path: {urls}"
        # No line of a manifest has more than 72 bytes; the next one goes on behind a blank.
        folded = (re.sub(r"(?<!^)(.{70})", r"\1\n ", line) for line in lines)
        settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
        jar = client / settings["run"][-1]
        jar.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(jar, "w") as archive:
            text = "\n".join(["Manifest-Version: 1.0", *folded, ""])
            archive.writestr("META-INF/MANIFEST.MF", text)

    def test(
        self, client: Path, model: Path | None, *names: str, instead: Sequence[Path] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run the client's own tests, or those of the classes of these names.

        Args:
            client: Was built.
            model: The model file that it is for.
            names: Of classes.
            instead: Folders of classes that take the place of built ones.
        """
        places = os.pathsep.join([*map(str, instead), f"{self.packages}/*", str(self.built)])
        chosen = [f"--include-classname=.*\\.({'|'.join(names)})"] if names else []
        given = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
        command = ("java", *_QUICK, "-cp", places, "org.junit.platform.console.ConsoleLauncher")
        options = ("execute", "--disable-banner", "--details=tree", "--disable-ansi-colors")
        return subprocess.run(
            [*command, *options, f"--select-package={package(client)}", *chosen],
            cwd=client,
            env=given | ({"POLYBAKE_MODEL": str(model)} if model else {}),
            capture_output=True,
            text=True,
            check=False,
        )

    def run_readme(self, client: Path) -> str:
        """What the lines of a client's README print, which `write_readme` made a program of."""
        places = os.pathsep.join([f"{self.packages}/*", str(self.built)])
        return run("java", *_QUICK, "-cp", places, f"{package(client)}.Readme", cwd=client)


def write_readme(client: Path, model: Path) -> None:
    """Make a program of the lines of a client's README, beside its sources."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```java\n(.*?)```", readme, re.DOTALL)
    imports, _, code = lines.partition("\n\n")
    code = re.sub(r'Path\.of\(".*?\.onnx"\)', f"Path.of({json.dumps(str(model))})", code)
    program = f"final class Readme {{ public static void main(String[] none) {{ {code} }} }}\n"
    text = f"package {package(client)};\n{imports}\n{program}"
    (client / "Readme.java").write_text(text, encoding="utf-8")


def package(client: Path) -> str:
    """The name of the Java package of a client."""
    (harness,) = client.glob("src/test/java/**/Harness.java")
    return ".".join(harness.parent.relative_to(client / "src/test/java").parts)


def passed(done: subprocess.CompletedProcess[str]) -> int:
    """How many tests passed, where none failed and none was skipped."""
    found = {word: int(number) for number, word in re.findall(r"(\d+) tests (\w+)", done.stdout)}
    assert done.returncode == 0, done.stdout + done.stderr
    assert found["failed"] == found["skipped"] == found["aborted"] == 0, done.stdout
    return found["successful"]


def fetch(folder: Path, client: Path) -> Java:
    """Bring what Java clients need, by Maven: the packages of one that is prepared, and the tools.

    Args:
        folder: An empty one.
        client: Was prepared as its harness.json says.
    """
    (folder / "pom.xml").write_text(_TOOLS, encoding="utf-8")
    run("mvn", "-q", "-B", COPY, f"-DoutputDirectory={folder}/tools", cwd=folder)
    packages = Path(shutil.copytree(client / "target/packages", folder / "packages"))
    (console,) = folder.glob("tools/junit-platform-console-standalone-*.jar")
    (formatter,) = folder.glob("tools/google-java-format-*.jar")
    shutil.move(console, packages)
    built = folder / "built"
    built.mkdir()
    return Java(packages, formatter, built)


@contextmanager
def compiled(client: Path, fault: Fault) -> Iterator[None]:
    """Plant a fault into a client that was prepared, and compile the file, for a block's length."""
    target = client / "target"
    sound = Path(shutil.copytree(target / "classes", target / "sound"))
    with fault.planted(client):
        try:
            places = os.pathsep.join([f"{target}/packages/*", f"{target}/classes"])
            (source,) = client.glob(fault.file)
            run("javac", "-nowarn", "-cp", places, "-d", target / "classes", source, cwd=client)
            yield
        finally:
            shutil.rmtree(target / "classes")
            sound.rename(target / "classes")
