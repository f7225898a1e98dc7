"""Golden cases: vectors and rows as JSON keeps them, in a model file and in a folder."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.fixture import (
    Case,
    Fixture,
    MadeBy,
    Vectors,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.fixture_folder import read_fixture, write_fixture
from polybake.base.modelfile.rows import packed, unpacked
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.errors import InputError

SPARSE = np.array([[0, 0, 1.5, 0, 0], [0, 0, 0, 0, -2]], np.float32)


def places(*at: int) -> str:
    return base64.b64encode(np.array(at, "<i4").tobytes()).decode()


def test_zeros_are_left_out_where_most_are() -> None:
    """Storing places pays off where most elements are zero, as a place costs four bytes."""
    encoded = encode_vectors(SPARSE)
    assert encoded.places == places(2, 9)
    assert (decode_vectors(encoded) == SPARSE).all()
    half = np.array([[0, 1], [2, 0]], np.float32)
    assert encode_vectors(half).places is None
    assert (decode_vectors(encode_vectors(half)) == half).all()
    encoded = encode_vectors(np.zeros((2, 3), np.float32))
    assert (encoded.places, encoded.data) == ("", "")
    assert (decode_vectors(encoded) == 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": "!"}, "places is not base64"),
        ({"data": "!"}, "data is not base64"),
        ({"places": "AAAA"}, "places has 3 bytes, expected 4 for each"),
        ({"places": places(2)}, "expected 4 for"),
        ({"places": places(2, 10)}, "not below 10"),
        ({"places": places(2, -1)}, "not below 10"),
    ],
)
def test_damaged_vectors_are_refused(changes: dict[str, str], message: str) -> None:
    """The message says what is wrong with places or data."""
    damaged = encode_vectors(SPARSE).model_dump() | changes
    with pytest.raises(ValueError, match=message):
        decode_vectors(Vectors.model_validate(damaged))


def test_what_is_packed_comes_out_again() -> None:
    """Ids and types survive packing; the rows of a case include its token types, if it has any."""
    assert packed([0, 9, 3], [0, 1, 2], 10) == [0, 19, 23]
    assert unpacked([0, 19, 23], 10) == ((0, 9, 3), (0, 1, 2))
    none = Vectors(shape=(1, 1))
    case = Case(id="a", why="", texts=(("b", "c"),), input_ids=((1, 2),), embeddings=none)
    assert case.rows(10) == ((1, 2),)
    assert case.model_copy(update={"type_ids": ((0, 1),)}).rows(10) == ((1, 12),)


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
    damaged = fixture(7).model_dump(mode="json")
    damaged["cases"][0]["embeddings"]["data"] = "*"
    for text, shown in (
        ("{", "Invalid JSON"),
        ('{"format": 1}', "fingerprint: is missing"),
        (json.dumps(damaged), "write it again"),
    ):
        (tmp_path / "cases.json").write_text(text)
        with pytest.raises(InputError, match=rf"cases\.json: .*{shown}"):
            read_fixture(tmp_path)
