"""deploy/requirements.txt: the packages of the image are those that polybake needs to serve."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from support.servers.deployment import DEPLOY

PINS = (DEPLOY / "requirements.txt").read_text(encoding="utf-8")


def test_each_requirement_is_met(repository: Path) -> None:
    """An image without a package that pyproject.toml requires would build and not start."""
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", PINS, re.MULTILINE))
    for text in project["dependencies"] + project["optional-dependencies"]["serve"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[wanted.name]), text


def test_each_has_a_digest() -> None:
    """Pip refuses a file in which one digest is missing, which only a build would show."""
    for pin in re.split(r"\n(?=\w)", PINS)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", pin.strip()), pin


def test_what_downloads_models_is_left_out() -> None:
    """The hub's client comes with tokenizers; a service opens files that are there."""
    assert "huggingface" not in PINS
