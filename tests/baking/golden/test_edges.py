"""Values near an edge of two steps, and the golden cases of quantized models that mark them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, write_bert
from polybake.baking.bake import BakeReport, bake
from polybake.baking.golden.edges import Edges
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.prove.proof import prove_steps
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import (
    TOLERANCES,
    Case,
    decode_slack,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.manifest import UNQUANTIZED, Output
from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder
from polybake.runtime.session import open_session
from polybake.steps import Pool, Quantize, Step

HIDDEN = 24
LOW, WIDTH = -2.0, 0.02
RANGES = np.tile(np.float32([[LOW], [LOW + 255 * WIDTH]]), HIDDEN)
TO_INT8: list[Step] = [Pool(mode="mean"), Quantize(precision="int8", ranges=RANGES)]


def baked(folder: Path, steps: list[Step]) -> BakeReport:
    model = write_bert(folder / "model", CONFIG | {"hidden_size": HIDDEN})
    return bake(open_source(model), steps, folder / "q.onnx", name="q")


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> BakeReport:
    return baked(tmp_path_factory.mktemp("edges"), TO_INT8)


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
    edges = Edges.of(int8.path, int8.manifest.contract.output, TOLERANCES)
    assert edges is not None
    x = np.full((1, HIDDEN), others, np.float32)  # in the middle of a step
    for edge in (0.2 + away, 0.2 - away):
        x[0, 5] = edge
        assert edges.slack(x).values.tolist() == [[0] * 5 + [expected] + [0] * 18]


def test_what_is_clipped_has_no_edge(int8: BakeReport) -> None:
    """Values beyond the range are clipped, so none of them can be a step off."""
    edges = Edges.of(int8.path, int8.manifest.contract.output, TOLERANCES)
    assert edges is not None
    x = np.full((1, HIDDEN), LOW + 300 * WIDTH, np.float32)
    x[0, 0] = LOW - 5 * WIDTH
    assert not edges.slack(x).values.any()


def test_golden_cases_carry_their_slack(int8: BakeReport) -> None:
    """The slack of a case comes from the floats that the graph gives beside the integers."""
    session = open_session(int8.path)
    assert [one.name for one in session.get_outputs()] == ["sentence_embedding", UNQUANTIZED]
    edges = Edges.of(int8.path, int8.manifest.contract.output, TOLERANCES)
    assert edges is not None
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
    report = baked(tmp_path, [Pool(mode="mean"), Quantize(precision="ubinary")])
    assert report.manifest.similarity == "hamming"
    edges = Edges.of(report.path, report.manifest.contract.output, TOLERANCES)
    assert edges is not None
    x = np.full((1, HIDDEN), 0.1, np.float32)
    x[0, :3] = 1e-5, -1e-5, 3e-5
    expected = [0b11000000] + [0] * (HIDDEN // 8 - 1)
    assert edges.slack(x).values.tolist() == [expected]


def test_floats_have_no_edges(tmp_path: Path) -> None:
    """A file that gives float32 has no quantization to cut out."""
    output = Output(name="x", dimension=3)
    assert Edges.of(tmp_path / "none.onnx", output, TOLERANCES) is None


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
