"""Vectors compared with other vectors of the same texts, and float16 as a GPU rounds it."""

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnxscript import ir

from polybake.baking.prove.precision import (
    check_close,
    measure_deviation,
    round_at_each_node,
    rounding_tolerances,
)
from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.base.modelfile.manifest import Deviation
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.errors import CheckFailed


def case(name: str, *rows: tuple[float, float]) -> Case:
    vectors = encode_vectors(np.array(rows, np.float32))
    texts = tuple("abc"[: len(rows)])
    ids = tuple((1,) for _ in rows)
    return Case(id=name, why="", texts=texts, input_ids=ids, embeddings=vectors)


def test_each_text_is_compared_with_itself() -> None:
    """Cases are matched by name, extra ones are ignored, and a zero vector has no cosine."""
    exact = [
        case("a", (1, 0), (0, 2)),
        case("b", (3, 4)),
        case("zero", (0, 0)),
        case("more", (9, 9)),
    ]
    found = [case("zero", (0, 0)), case("b", (4, 3)), case("a", (1, 0), (0, 1))]
    deviation = measure_deviation(exact, found)
    assert deviation.max_abs == 1
    assert deviation.min_cosine == pytest.approx(24 / 25)
    assert deviation.mean_cosine == pytest.approx((1 + 1 + 24 / 25) / 3)


def test_answers_are_compared_by_their_words() -> None:
    """Scores may differ; another order, and another word, is another answer."""

    def ranked(name: str, *labels: str) -> Case:
        answer = [
            [{"label": label, "score": 1 / (2 + len(name) + n)} for n, label in enumerate(labels)]
        ]
        return case(name, (1, 0)).model_copy(update={"call": {"texts": ["a"]}, "answer": answer})

    exact = [ranked("a", "x", "y"), ranked("b", "x", "y"), ranked("c", "x", "y"), case("d", (1, 0))]
    found = [ranked("a", "x", "y"), ranked("b", "y", "x"), ranked("c", "x", "z"), case("d", (1, 0))]
    deviation = measure_deviation(exact, found)
    assert (deviation.answers, deviation.reordered) == (3, 2)


def test_there_is_room_for_other_roundings_and_never_less_than_for_float32() -> None:
    tolerances = rounding_tolerances(Deviation(max_abs=2e-3, mean_cosine=1, min_cosine=1 - 1e-4))
    assert set(tolerances) == {"cpu", "cuda"}
    assert tolerances["cpu"].max_abs == pytest.approx(6e-3)
    assert tolerances["cpu"].one_minus_cosine == pytest.approx(3e-4)
    moved = Deviation(max_abs=2e-3, mean_cosine=1, min_cosine=1 - 4e-4)
    rounded = Deviation(max_abs=7e-3, mean_cosine=1, min_cosine=1 - 1e-3)
    tolerances = rounding_tolerances(moved, rounded)
    assert tolerances["cpu"].max_abs == pytest.approx(7e-3)
    assert tolerances["cpu"].one_minus_cosine == pytest.approx(12e-4)
    same = rounding_tolerances(Deviation(max_abs=0, mean_cosine=1, min_cosine=1))
    assert same["cpu"] == TOLERANCES["cpu"]


@pytest.mark.parametrize("cosine", [0.9899, float("nan")])
def test_float16_vectors_of_another_direction_are_refused(cosine: float) -> None:
    check_close(Deviation(max_abs=1e-3, mean_cosine=0.999, min_cosine=0.99))
    with pytest.raises(CheckFailed, match=r'expected 0\.99 at least.*set precision = "float32"'):
        check_close(Deviation(max_abs=1, mean_cosine=0.999, min_cosine=cosine))


TEXT = """
    <ir_version: 8, opset_import: ["" : 18]>
    network (float16[4] x) => (float16[4] y) <float16[4] a> {
        a = Mul (x, x)
        y = Sub (a, x)
    }
"""


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found: np.ndarray = ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
    return found[0]


def test_each_result_is_rounded() -> None:
    """A product loses digits before something is taken away from it, and may overflow."""
    x = np.array([1.001, 1.1, 33.3, 300], np.float16)
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    for node in model.graph:
        node.outputs[0].dtype = ir.DataType.FLOAT16
    round_at_each_node(model.graph)
    with np.errstate(over="ignore"):
        product = (x.astype(np.float32) ** 2).astype(np.float16)
        expected = (product.astype(np.float32) - x.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(run(ir.to_proto(model), x), expected)
    assert np.isinf(expected[3])
