"""Rust's tools find nothing in a client, whatever it is of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.cargo import cargo
from support.clients.hostile import CONTRACTS
from support.clients.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.rust


def test_every_render_is_formatted(every_feed: Path, tmp_path: Path) -> None:
    """``rustfmt`` finds nothing to change, whatever the name, prompts, type and task."""
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("rust", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("rust", tmp_path / kind, every_feed, contract={"output": output})
    write("rust", tmp_path / "beside", every_feed, format=2)
    for task, make in TASK_MODELS.items():
        write("rust", tmp_path / task, make(tmp_path / f"tiny-{task}.onnx"))
    sources = [*tmp_path.rglob("*.rs")]
    assert len(sources) > 400
    run("rustfmt", "--check", "--edition", "2024", *sources, cwd=tmp_path)


def test_the_linter_finds_nothing(every_feed: Path, tmp_path: Path) -> None:
    """Nor does Clippy at its strictest, in the client of each type and of each task."""
    write("rust", tmp_path / "hostile", every_feed, contract=CONTRACTS["hostile"])
    write("rust", tmp_path / "beside", every_feed, name="beside", format=2)
    for kind, output in OUTPUTS.items():
        name = f"every-{kind}"
        write("rust", tmp_path / kind, every_feed, name=name, contract={"output": output})
    for task, make in TASK_MODELS.items():
        write("rust", tmp_path / task, make(tmp_path / f"tiny-{task}.onnx"))
    members = sorted(path.parent.name for path in tmp_path.glob("*/Cargo.toml"))
    manifest = f'[workspace]\nmembers = {json.dumps(members)}\nresolver = "3"\n'
    (tmp_path / "Cargo.toml").write_text(manifest, encoding="utf-8")
    strict = ("--", "-D", "warnings", "-W", "clippy::pedantic")
    cargo("clippy", "--release", "--workspace", "--all-targets", *strict, cwd=tmp_path)
