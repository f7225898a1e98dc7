"""The Java client's package, as Maven makes it, works elsewhere."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.clients.readme import blocks
from support.clients.rendered import attempt, run

pytestmark = pytest.mark.java


def parse(path: Path) -> ET.Element:
    return ET.fromstring(path.read_bytes())  # noqa: S314 - tests made it


def test_the_package_works_elsewhere(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """Maven runs the tests and packs a jar with which the README's lines run, and its sources."""
    run("mvn", "-q", "-B", "package", cwd=client, POLYBAKE_MODEL=str(every_feed))
    reports = [parse(path) for path in client.glob("target/surefire-reports/*.xml")]
    assert sum(int(report.attrib["tests"]) for report in reports) >= 65
    jar = client / "target/every-feed-0.1.0.jar"
    assert jar.with_name("every-feed-0.1.0-sources.jar").exists()
    (lines,) = blocks(client, "java", every_feed)
    imports, _, code = lines.partition("\n\n")
    program = f"{imports}\nclass App {{ public static void main(String[] a) {{ {code} }} }}"
    (tmp_path / "App.java").write_text(program, encoding="utf-8")
    places = os.pathsep.join([str(jar), f"{client}/target/packages/*"])
    done = attempt("java", "-cp", places, "App.java", cwd=tmp_path)
    assert done.stdout == "7\n", done.stderr
    command = ("java", "-Djava.io.tmpdir=/proc", "-cp", places, "App.java")
    nowhere = attempt(*command, cwd=tmp_path)
    assert nowhere.returncode == 1
    assert "native libraries cannot be loaded from /proc" in nowhere.stderr
