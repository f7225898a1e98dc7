"""Fixtures on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.fixture import (
    TOLERANCES,
    Case,
    Fixture,
    MadeBy,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.fixture_folder import read_fixture, write_fixture
from polybake.errors import InputError


def fixture(dimension: int, cases: int = 2) -> Fixture:
    random = np.random.default_rng(9)
    return Fixture(
        fingerprint="f" * 64,
        made_by=MadeBy(kind="oracle", packages={"torch": "2"}),
        tolerances=TOLERANCES,
        cases=tuple(
            Case(
                id=f"case-{number}",
                why="Two rows and \U0001f30a.",
                texts=("a", "\U0001f30a"),
                input_ids=((1, 2), (3,)),
                embeddings=encode_vectors(random.normal(size=(2, dimension)).astype(np.float32)),
            )
            for number in range(cases)
        ),
    )


def test_small_vectors_stay_inline(tmp_path: Path) -> None:
    """A small fixture is one ASCII file and comes back equal."""
    write_fixture(fixture(7), tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["cases.json"]
    assert (tmp_path / "new" / "cases.json").read_bytes().isascii()
    assert read_fixture(tmp_path / "new") == fixture(7)


def test_large_vectors_lie_beside(tmp_path: Path) -> None:
    """Vectors above 1 MB lie in vectors.f32, exactly, and come back inline."""
    large = fixture(70_000)
    write_fixture(large, tmp_path)
    raw = np.frombuffer((tmp_path / "vectors.f32").read_bytes(), "<f4").reshape(4, 70_000)
    expected = np.concatenate([decode_vectors(case.embeddings) for case in large.cases])
    assert (raw == expected).all()
    stored = json.loads((tmp_path / "cases.json").read_text())["cases"]
    assert [case["embeddings"]["offset"] for case in stored] == [0, 560_000]
    assert read_fixture(tmp_path) == large
    write_fixture(fixture(7), tmp_path)
    assert not (tmp_path / "vectors.f32").exists()


def test_names_what_is_wrong(tmp_path: Path) -> None:
    """A missing, damaged or short fixture is one line with the remedy."""
    with pytest.raises(InputError, match=r"cases\.json: cannot be read .*polybake fixtures"):
        read_fixture(tmp_path / "nothing")
    write_fixture(fixture(70_000), tmp_path)
    (tmp_path / "vectors.f32").write_bytes(b"\0" * 1_000_000)
    with pytest.raises(InputError, match="case case-1: its vectors lie beyond the end"):
        read_fixture(tmp_path)
    (tmp_path / "vectors.f32").unlink()
    with pytest.raises(InputError, match=r"vectors\.f32: cannot be read"):
        read_fixture(tmp_path)
    for text, shown in (
        ("{", r"cases\.json: : Invalid JSON|cases\.json"),
        ('{"format": 1}', "fingerprint: is missing"),
    ):
        (tmp_path / "cases.json").write_text(text)
        with pytest.raises(InputError, match=shown):
            read_fixture(tmp_path)
    damaged = fixture(7).model_dump(mode="json")
    damaged["cases"][0]["embeddings"]["data"] = "*"
    (tmp_path / "cases.json").write_text(json.dumps(damaged))
    with pytest.raises(InputError, match=r"cases\.json: .*write it again"):
        read_fixture(tmp_path)


def test_needs_no_runtime() -> None:
    """Reading a fixture imports neither onnx nor onnxruntime: a judge without them can do it."""
    script = (
        "import sys, polybake.base.modelfile.fixture_folder;"
        "print({'onnx', 'onnxruntime'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
