"""The cases that fit inside a model file."""

from __future__ import annotations

import numpy as np

from polybake.baking.golden.embedded import LARGEST, LARGEST_KINDS, embedded_cases
from polybake.base.modelfile.container import ascii_json
from polybake.base.modelfile.fixture import TOLERANCES, Case, Fixture, MadeBy, encode_vectors


def case(name: str, dimension: int, rows: int = 1, flags: tuple[str, ...] = ("unicode",)) -> Case:
    return Case(
        id=name,
        why="It has a size.",
        flags=flags,
        texts=("\U0001f30a",) * rows,
        input_ids=((1, 2, 3),) * rows,
        embeddings=encode_vectors(np.full((rows, dimension), np.pi, np.float32)),
    )


def test_keeps_the_order_while_there_is_room() -> None:
    """Cases are taken in order; one that is too large is passed over for smaller ones."""
    cases = [case("a", 384), case("huge", 384, rows=200), case("b", 384)]
    assert [kept.id for kept in embedded_cases(cases)] == ["a", "b"]


def test_stays_below_the_limit() -> None:
    """However many cases there are, the whole fixture's ASCII JSON stays within 200 KB."""
    kept = embedded_cases(case(f"case-{number}", 1024) for number in range(100))
    fixture = Fixture(
        fingerprint="f" * 64,
        made_by=MadeBy(kind="reference", packages={"onnxruntime": "1", "tokenizers": "2"}),
        tolerances=TOLERANCES,
        cases=kept,
    )
    size = len(ascii_json(fixture.model_dump(mode="json", exclude_none=True)))
    assert LARGEST == 200_000
    assert LARGEST - 8_000 < size <= LARGEST


#: As wide as a vocabulary: one row of full float32 takes 163 KB.
WIDE = 30_522


def test_every_kind_is_there_whatever_its_size() -> None:
    """One case of each kind is kept even where vectors are wide; its further cases are not."""
    cases = [
        case("plain", WIDE, flags=()),
        case("empty", WIDE, flags=()),
        case("batch-of-seven", WIDE, rows=7, flags=("batch",)),
        case("max-length", WIDE, flags=("truncation",)),
        case("one-over", WIDE, flags=("truncation",)),
        case("prompt-1", WIDE, flags=("prompt",)),
        case("prompt-2", WIDE, flags=("prompt",)),
        case("prompt-truncates", WIDE, flags=("prompt", "truncation")),
        case("composed", WIDE, rows=2),
        case("emoji", WIDE, rows=3),
        case("small", 16),
    ]
    assert [kept.id for kept in embedded_cases(cases)] == [
        *("plain", "empty", "batch-of-seven", "max-length", "one-over"),
        *("prompt-1", "prompt-truncates", "composed", "small"),
    ]


def test_what_fits_needs_no_kind() -> None:
    """A large case takes no room from the small ones behind it."""
    many = [case(f"case-{number}", 1024) for number in range(100)]
    huge = case("huge", WIDE, rows=3, flags=("batch",))
    assert embedded_cases([huge, *many]) == (huge, *embedded_cases(many))


def test_kinds_have_a_limit() -> None:
    """Vectors of 16,384 tokens would take longer to read than anybody waits for a file to open."""
    cases = [case(name, WIDE, rows=12, flags=(name,)) for name in ("batch", "truncation", "other")]
    kept = embedded_cases(cases)
    assert [one.id for one in kept] == ["batch", "truncation"]
    size = len(ascii_json([one.model_dump(mode="json", exclude_none=True) for one in kept]))
    assert size <= LARGEST_KINDS
