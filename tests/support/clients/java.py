"""Build and test Java clients: many with one run of the compiler, and none by Maven."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from support.clients.planted import Fault
from support.clients.rendered import attempt, blocks, prepare, run
from support.clients.toolchain import Toolchain

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


class Java(Toolchain):
    language = "java"
    program = ("javac", "--version")
    of_vectors = ("ClientTest",)
    ran = r"(\d+) tests successful"
    failed = "^  JUnit Jupiter:(.+)"
    skipped = r"(\d+) tests (?:skipped|aborted)"
    suffixes = (".java",)
    small: ClassVar = {"JAVA_TOOL_OPTIONS": "-Xmx64m -XX:+UseSerialGC"}

    def fetch(self, client: Path, packages: Path) -> None:
        (packages / "pom.xml").write_text(_TOOLS, encoding="utf-8")
        run("mvn", "-q", "-B", COPY, f"-DoutputDirectory={packages}/tools", cwd=packages)
        jars = Path(shutil.copytree(prepare(client) / "target/packages", packages / "jars"))
        (console,) = packages.glob("tools/junit-platform-console-standalone-*.jar")
        shutil.move(console, jars)

    def build(self, *clients: Path, strict: bool = True) -> None:
        """Clients that lie in one folder, whose packages have different names."""
        built = clients[0].parent / "built"
        built.mkdir(exist_ok=True)
        for client in clients:
            (client / "target").mkdir()
            (client / "target/classes").symlink_to(built)
            (client / "target/packages").symlink_to(self.packages / "jars")
            _write_harness(client)
        sources = [path for client in clients for path in client.glob("src/**/*.java")]
        quick = [f"-J{option}" for option in _QUICK]
        options = (*quick, "--release", "17", "-encoding", "UTF-8")
        options += ("-Xlint:all", "-Werror") if strict else ("-nowarn",)
        places = f"{self.packages}/jars/*"
        run("javac", *options, "-cp", places, "-d", built, *sources, cwd=built)

    def java(self, client: Path) -> tuple[str, ...]:
        """The command that has the classes of a client."""
        places = os.pathsep.join([f"{client}/target/packages/*", f"{client}/target/classes"])
        return ("java", *_QUICK, "-cp", places)

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        console = "org.junit.platform.console.ConsoleLauncher"
        options = ("--disable-banner", "--details=tree", "--disable-ansi-colors")
        chosen = [f"--include-classname=.*\\.({'|'.join(names)})"] if names else []
        chosen.append(f"--select-package={package(client)}")
        command = (*self.java(client), console, "execute", *options, *chosen)
        return attempt(*command, cwd=client, **given)

    def formatted(self, folder: Path) -> int:
        (formatter,) = self.packages.glob("tools/google-java-format-*.jar")
        command = ("java", "-jar", formatter, "--dry-run", "--set-exit-if-changed")
        sources = self.sources(folder)
        assert run(*command, *sources, cwd=folder) == ""
        return len(sources)

    def run_readme(self, client: Path, model: Path) -> None:
        assert self.evaluate(client, model)

    def evaluate(self, client: Path, model: Path) -> str:
        """What the README's lines print."""
        program = write_readme(client / "target", client, model)
        return run(*self.java(client), program, cwd=client)

    def quiet(self, temporary: Path) -> dict[str, str]:
        """Java asks the system for the home, not the variable."""
        folders = f"-Duser.home={temporary.with_name('home')} -Djava.io.tmpdir={temporary}"
        return {"JAVA_TOOL_OPTIONS": f"{folders} -XX:-UsePerfData"}


def _write_harness(client: Path) -> None:
    """What Maven's profile ``harness`` makes: a jar that names the class path and the class."""
    target = client / "target"
    places = [target / "classes", *sorted((target / "packages").glob("*.jar"))]
    urls = " ".join(place.as_uri() + "/" * place.is_dir() for place in places)
    lines = f"Main-Class: {package(client)}.Harness", f"Class-Path: {urls}"
    # No line of a manifest has more than 72 bytes; the next one goes on behind a blank.
    folded = (re.sub(r"(?<!^)(.{70})", r"\1\n ", line) for line in lines)
    with zipfile.ZipFile(target / "client-harness.jar", "w") as archive:
        text = "\n".join(["Manifest-Version: 1.0", *folded, ""])
        archive.writestr("META-INF/MANIFEST.MF", text)


def write_readme(folder: Path, client: Path, model: Path) -> Path:
    """Make a program of the lines of a client's README."""
    (lines,) = blocks(client, "java", model)
    imports, _, code = lines.partition("\n\n")
    path = folder / "App.java"
    program = f"{imports}\nclass App {{ public static void main(String[] a) {{ {code} }} }}"
    path.write_text(program, encoding="utf-8")
    return path


def package(client: Path) -> str:
    """The name of the Java package of a client."""
    (harness,) = client.glob("src/test/java/**/Harness.java")
    return ".".join(harness.parent.relative_to(client / "src/test/java").parts)


@contextmanager
def compiled(client: Path, fault: Fault) -> Iterator[None]:
    """Plant a fault into a client that was built, and compile the file, for a block's length."""
    target = client / "target"
    classes = target.joinpath("classes", *package(client).split("."))
    sound = Path(shutil.copytree(classes, target / "sound"))
    with fault.planted(client):
        try:
            places = os.pathsep.join([f"{target}/packages/*", f"{target}/classes"])
            (source,) = client.glob(fault.file)
            run("javac", "-nowarn", "-cp", places, "-d", target / "classes", source, cwd=client)
            yield
        finally:
            shutil.rmtree(classes)
            sound.rename(classes)
