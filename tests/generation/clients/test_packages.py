"""The packages of Java, Go and Rust work in a project elsewhere, as their READMEs say."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from generation.clients.conftest import only
from polybake.base.modelfile.container import read_head
from polybake.generation import render_client
from support.clients.cargo import cargo
from support.clients.hostile import HOSTILE
from support.clients.java import write_readme
from support.clients.rendered import attempt, blocks, onnxruntime, run, write


@pytest.mark.parametrize("language", only("java"), indirect=True)
def test_a_jar(language: str, every_feed: Path, tmp_path: Path) -> None:
    """Maven runs the tests and packs a jar with which the README's lines run, and its sources."""
    client = write(language, tmp_path / "client", every_feed)
    goals = ("-Pharness", "package")
    run("mvn", "-q", "-B", *goals, cwd=client, POLYBAKE_MODEL=str(every_feed))
    reports = [ET.fromstring(path.read_bytes()) for path in client.glob("target/*reports/*.xml")]  # noqa: S314
    assert sum(int(report.attrib["tests"]) for report in reports) > 0
    jar = client / "target/every-feed-0.1.0.jar"
    assert jar.with_name("every-feed-0.1.0-sources.jar").exists()
    program = write_readme(tmp_path, client, every_feed)
    places = os.pathsep.join([str(jar), f"{client}/target/packages/*"])
    assert attempt("java", "-cp", places, program, cwd=tmp_path).stdout == "7\n"
    command = ("java", "-Djava.io.tmpdir=/proc", "-cp", places, program)
    nowhere = attempt(*command, cwd=tmp_path)
    assert nowhere.returncode == 1
    assert "native libraries cannot be loaded from /proc" in nowhere.stderr


def test_a_java_package_of_several_names(every_feed: Path) -> None:
    """A package of a team's own lies in folders of its names."""
    manifest = read_head(every_feed).manifest
    files = render_client(manifest, "java", module="com.acme.texts").files
    source = files["src/main/java/com/acme/texts/Embedder.java"]
    assert "\npackage com.acme.texts;\n" in source


@pytest.mark.parametrize("language", only("go"), indirect=True)
def test_a_module(language: str, every_feed: Path, tmp_path: Path) -> None:
    """The README's two commands and its program, in a module elsewhere."""
    client = write(language, tmp_path / "clients/go", every_feed)
    (commands,) = (block for block in blocks(client, "sh") if block.startswith("go mod edit"))
    (program,) = blocks(client, "go", every_feed)
    run("go", "mod", "init", "example.org/app", cwd=tmp_path)
    for command in commands.splitlines():
        run(*command.split(), cwd=tmp_path)
    (tmp_path / "main.go").write_text(program, encoding="utf-8")
    assert run("gofmt", "-l", "main.go", cwd=tmp_path) == ""
    run("go", "vet", ".", cwd=tmp_path)
    library = {"ONNXRUNTIME_LIBRARY_PATH": str(onnxruntime())}
    assert run("go", "run", ".", cwd=tmp_path, **library) == "7\n"


@pytest.mark.parametrize("language", only("rust"), indirect=True)
def test_a_crate(language: str, every_feed: Path, tmp_path: Path) -> None:
    """A new crate that depends on the client's runs its README's program; its text is a text."""
    changes = {"name": "in-a-crate", "description": HOSTILE}
    client = write(language, tmp_path / "client", every_feed, **changes)
    (program,) = blocks(client, "rust,no_run", every_feed)
    cargo("new", "--vcs", "none", "application", cwd=tmp_path)
    application = tmp_path / "application"
    cargo("add", "--path", client, cwd=application)
    (application / "src/main.rs").write_text(program, encoding="utf-8")
    assert cargo("run", "--release", cwd=application) == "7\n"
    metadata = cargo("metadata", "--no-deps", "--format-version", "1", cwd=client)
    (found,) = json.loads(metadata)["packages"]
    assert found["description"] == " ".join(HOSTILE.split())
