"""Token ids and types as one number a token."""

from __future__ import annotations

from polybake.base.modelfile.fixture import Case, Vectors
from polybake.base.modelfile.rows import packed, unpacked


def test_what_is_packed_comes_out_again() -> None:
    """Ids and types survive packing, and a row of single texts packs to its ids."""
    assert packed([0, 9, 3], [0, 1, 2], 10) == [0, 19, 23]
    assert unpacked([0, 19, 23], 10) == ((0, 9, 3), (0, 1, 2))
    assert packed([4, 5], [0, 0], 10) == [4, 5]


def test_a_case_gives_the_rows_of_its_graph() -> None:
    """The rows of a case include its token types, if it has any."""
    case = Case(
        id="a", why="", texts=(("b", "c"),), input_ids=((1, 2),), embeddings=Vectors(shape=(1, 1))
    )
    assert case.rows(10) == ((1, 2),)
    assert case.model_copy(update={"type_ids": ((0, 1),)}).rows(10) == ((1, 12),)
