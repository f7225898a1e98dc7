"""The Java client's files: formatted, compiled without a warning, and true to the manifest."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.generation import render_client
from support.clients.hostile import CONTRACTS, HOSTILE
from support.clients.java import Java, package
from support.clients.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.java


def check_formatted(java: Java, clients: Iterable[Path]) -> None:
    """google-java-format changes nothing; of files alike but for the package's name it has one."""
    sources = {
        path.read_text(encoding="utf-8").replace(f"{package(client)};", ";"): path
        for client in clients
        for path in client.glob("src/**/*.java")
    }
    assert len(sources) > 30
    command = ("java", "-jar", java.formatter, "--dry-run", "--set-exit-if-changed")
    assert run(*command, *sources.values(), cwd=java.built) == ""


def test_every_render_is_clean(java: Java, every_feed: Path, tmp_path: Path) -> None:
    """The formatter changes nothing, and the compiler warns of nothing, whatever is rendered."""
    renders = [
        write("java", tmp_path / f"{kind}-{name}", every_feed, name=name, contract=contract)
        for (kind, contract), name in zip(CONTRACTS.items(), (*NAMES, "zz-four"), strict=True)
    ]
    for kind, output in OUTPUTS.items():
        contract = {"output": output}
        folder = tmp_path / kind
        renders.append(write("java", folder, every_feed, name=f"of-{kind}", contract=contract))
    check_formatted(java, renders)
    java.build(*renders)


def test_each_kind_is_clean(java: Java, clients: dict[str, tuple[Path, Path]]) -> None:
    """So are the clients of all tasks; their build found nothing to warn of."""
    check_formatted(java, [client for _, client in clients.values()])


@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_the_contract_is_rendered_exactly(every_feed: Path, tmp_path: Path, contract: str) -> None:
    """contract.json has what the manifest holds, hostile prompts included, in ASCII."""
    folder = write("java", tmp_path, every_feed, contract=CONTRACTS[contract])
    (path,) = folder.glob("src/main/resources/**/contract.json")
    manifest = read_head(every_feed).manifest
    expected = manifest.contract.model_copy(update=CONTRACTS[contract])
    assert json.loads(path.read_text(encoding="ascii")) == expected.model_dump(mode="json")


def test_a_package_of_several_names(every_feed: Path) -> None:
    """A Java package of a team's own lies in folders of its names."""
    manifest = read_head(every_feed).manifest
    files = render_client(manifest, "java", module="com.acme.texts").files
    source = files["src/main/java/com/acme/texts/Embedder.java"]
    assert "\npackage com.acme.texts;\n" in source
    assert "src/main/resources/com/acme/texts/contract.json" in files


def test_the_project_file_keeps_a_description_as_text(every_feed: Path, tmp_path: Path) -> None:
    """A description is text to XML, and Maven expands nothing in it."""
    description = f"${{env.HOME}} ${{project.version}} <b>&amp; {HOSTILE}"
    folder = write("java", tmp_path, every_feed, description=description)
    project = ET.fromstring((folder / "pom.xml").read_bytes())  # noqa: S314 - tests made it
    found = project.findtext("{http://maven.apache.org/POM/4.0.0}description")
    expected = " ".join(description.split()).replace("${", "$ {")
    assert found == "".join(char for char in expected if char.isprintable())
