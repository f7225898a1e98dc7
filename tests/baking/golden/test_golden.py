"""Golden cases made by running a baked file, those that fit inside it, and slack near an edge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.bake import bake
from models.folders.tiny_folders import CONFIG, write_bert
from models.onnx.tiny_onnx import expected_tokens, write_encoder
from polybake.baking.bake import BakeReport
from polybake.baking.golden.edges import Edges
from polybake.baking.golden.golden import (
    LARGEST,
    LARGEST_KINDS,
    cases_for,
    embedded_cases,
    make_fixture,
)
from polybake.baking.golden.texts import CaseText
from polybake.baking.prove.proof import prove_steps
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import ascii_json, read_head
from polybake.base.modelfile.fixture import (
    Case,
    Fixture,
    MadeBy,
    decode_slack,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.manifest import UNQUANTIZED
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder
from polybake.runtime.session import open_session
from polybake.steps import Pool, Quantize, Step

PROMPTS = {"query": "query: ", "document": ""}


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    source = open_source(write_encoder(folder / "model"))
    steps = [Pool(mode="mean")]
    bake(source, steps, folder / "out.onnx", name="x", prompts=PROMPTS, default_prompt="query")
    return folder / "out.onnx"


def test_makes_ids_and_vectors(baked: Path) -> None:
    """Prompt, tokens and vectors of every text are what the model's parts give."""
    cases = [
        CaseText("default", "?", (), None, ("water",)),
        CaseText("none", "?", (), "document", ("water", "the river")),
    ]
    made = make_fixture(baked, cases)
    assert [case.input_ids for case in made.cases] == [
        ((2, 11, 13, 6, 3),),
        ((2, 6, 3), (2, 5, 7, 3)),
    ]
    assert [case.prompt for case in made.cases] == [None, "document"]
    for case in made.cases:
        rows = [expected_tokens(list(ids)).mean(axis=0) for ids in case.input_ids]
        assert decode_vectors(case.embeddings) == pytest.approx(np.stack(rows), abs=1e-5)
    assert made.fingerprint == read_head(baked).manifest.fingerprint
    assert made.made_by.kind == "reference"
    assert {"onnxruntime", "tokenizers", "numpy"} == made.made_by.packages.keys()


def test_built_in_cases_come_first(baked: Path) -> None:
    """The cases of a file are the built-in ones, those of its prompts, and then the user's own."""
    own = CaseText("mine", "?", (), None, ("x",))
    cases = cases_for(baked, [own])
    assert cases[0].id == "plain"
    assert cases[-1] == own
    assert {case.prompt for case in cases} == {None, "query", "document"}
    embedded = read_head(baked).fixture.cases
    assert [case.id for case in embedded] == [case.id for case in cases[:-1]]


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


HIDDEN = 24
LOW, WIDTH = -2.0, 0.02
RANGES = np.tile(np.float32([[LOW], [LOW + 255 * WIDTH]]), HIDDEN)
TO_INT8: list[Step] = [Pool(mode="mean"), Quantize(precision="int8", ranges=RANGES)]


def quantized(folder: Path, steps: list[Step]) -> BakeReport:
    model = write_bert(folder / "model", CONFIG | {"hidden_size": HIDDEN})
    return bake(open_source(model), steps, folder / "q.onnx", name="q")


def edges_of(report: BakeReport) -> Edges:
    edges = Edges.of(report.path, report.manifest.contract.output, TOLERANCES)
    assert edges is not None
    return edges


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> BakeReport:
    return quantized(tmp_path_factory.mktemp("edges"), TO_INT8)


def test_the_contract_says_what_is_given(int8: BakeReport) -> None:
    """The manifest has the dtype, and every proof holds without a difference."""
    output = int8.manifest.contract.output
    assert (output.dtype, output.dimension, output.dimensions) == ("int8", HIDDEN, HIDDEN)
    assert output.readable == f"{HIDDEN} dimensions, int8"
    assert int8.differences["steps"] == 0
    assert max(int8.differences.values()) < 1e-6
    assert Embedder(int8.path).self_check() == 0


@pytest.mark.parametrize(
    ("others", "away", "expected"),
    [
        (0.01, 1e-5, 1),
        (0.01, 3e-5, 0),
        (1.01, 3e-5, 1),  # of length 4.8: all that is rounded grows with it
        (1.01, 2e-4, 0),
    ],
)
def test_edges_are_where_the_formula_says(
    int8: BakeReport, others: float, away: float, expected: int
) -> None:
    """A value nearer than 2e-5 to an edge, times a length above 1, may be a step off."""
    edges = edges_of(int8)
    x = np.full((1, HIDDEN), others, np.float32)  # in the middle of a step
    for edge in (0.2 + away, 0.2 - away):
        x[0, 5] = edge
        assert edges.slack(x).values.tolist() == [[0] * 5 + [expected] + [0] * 18]


def test_what_is_clipped_has_no_edge(int8: BakeReport) -> None:
    """Values beyond the range are clipped, so none of them can be a step off."""
    edges = edges_of(int8)
    x = np.full((1, HIDDEN), LOW + 300 * WIDTH, np.float32)
    x[0, 0] = LOW - 5 * WIDTH
    assert not edges.slack(x).values.any()


def test_golden_cases_carry_their_slack(int8: BakeReport) -> None:
    """The slack of a case comes from the floats that the graph gives beside the integers."""
    session = open_session(int8.path)
    assert [one.name for one in session.get_outputs()] == ["sentence_embedding", UNQUANTIZED]
    for case in read_head(int8.path).fixture.cases:
        slack = decode_slack(case.embeddings)
        assert slack is not None
        assert slack.values.shape == decode_vectors(case.embeddings).shape
    again = make_fixture(int8.path, cases_for(int8.path))
    assert again.cases == read_head(int8.path).fixture.cases


def test_bits_are_open_around_zero(tmp_path: Path) -> None:
    """A packed bit may differ where its value is within 2e-5 of 0.

    Dimension 0 is the highest bit.
    """
    report = quantized(tmp_path, [Pool(mode="mean"), Quantize(precision="ubinary")])
    assert report.manifest.similarity == "hamming"
    edges = edges_of(report)
    x = np.full((1, HIDDEN), 0.1, np.float32)
    x[0, :3] = 1e-5, -1e-5, 3e-5
    expected = [0b11000000] + [0] * (HIDDEN // 8 - 1)
    assert edges.slack(x).values.tolist() == [expected]


def test_the_proofs_see_one_element(int8: BakeReport, tmp_path: Path) -> None:
    """Other ranges than the baked ones, and a golden element that is a step off, are faults."""
    head = read_head(int8.path)
    contract = head.manifest.contract
    model = write_bert(tmp_path / "model", CONFIG | {"hidden_size": HIDDEN})
    reference = open_source(model).encoder.reference(tmp_path)
    session = open_session(reference.path)
    golden = head.fixture.cases
    assert prove_steps(golden, contract, session, reference, TO_INT8) == 0
    ranges = RANGES.copy()
    ranges[:, 3] += WIDTH
    other = [TO_INT8[0], Quantize(precision="int8", ranges=ranges)]
    with pytest.raises(CheckFailed, match=r"differs from its source .* more than rounding in"):
        prove_steps(golden, contract, session, reference, other)
    with pytest.raises(CheckFailed, match=r"differs from its source .* more than rounding in 1"):
        prove_steps([spoiled(golden[0]), *golden[1:]], contract, session, reference, TO_INT8)


def spoiled(case: Case) -> Case:
    """The case with its last element a step off."""
    vectors = decode_vectors(case.embeddings)
    vectors[-1, -1] += 1
    embeddings = encode_vectors(vectors, decode_slack(case.embeddings))
    return case.model_copy(update={"embeddings": embeddings})
