"""The files of deploy/, and the words of serve's command line in them."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"


def instructions(name: str) -> list[str]:
    """The arguments of a Containerfile's instructions of this name, in order."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    return [line.partition(" ")[2].strip() for line in lines if line.startswith(f"{name} ")]


def words(name: str) -> list[str]:
    """The words of the one instruction of this name in exec form."""
    (said,) = instructions(name)
    return list(json.loads(said))


def resources() -> dict[str, Any]:
    """The resources of kubernetes.yaml by their kind."""
    text = (DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def services() -> dict[str, Any]:
    """The services of compose.yaml by their name."""
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return dict(found["services"])


def serve_default(option: str) -> Any:
    """The default of an option of ``polybake serve``."""
    import typer.main

    from polybake.cli.main import app

    serve = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    return {param.name: param.default for param in serve.params}[option]
