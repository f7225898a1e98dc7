"""The golden cases against a user's own service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import polybake.testing
from faulty.subject import CASES, SubjectFiles
from polybake.base.modelfile.fixture_folder import write_fixture
from polybake.errors import InputError
from polybake.verification.testing.cases import ServiceCase, found_vectors
from support.processes.inner_pytest import inner_pytest

SERVICE = """
import pytest
import polybake.testing

CASES = polybake.testing.golden_cases({model!r})
ANSWERS = {{str(case): case.golden.vectors.tolist() for case in CASES}}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_our_service(case):
    case.check([[x * {factor} for x in row] for row in ANSWERS[str(case)]])
"""


def test_a_case_says_what_to_ask(subject: SubjectFiles, tmp_path: Path) -> None:
    """It has a name, texts, a prompt and a reason; a fixture folder may have the cases."""
    cases = {str(case): case for case in polybake.testing.golden_cases(subject.model)}
    assert list(cases) == list(CASES)
    assert (cases["query"].texts, cases["query"].prompt) == (["a"], "query")
    assert (cases["two"].texts, cases["two"].prompt) == (["b", "c d"], None)
    assert cases["two"].why == "shows what the judge does with it"
    fixture = subject.fixture.model_copy(update={"cases": subject.fixture.cases[:1]})
    write_fixture(fixture, tmp_path)
    (case,) = polybake.testing.golden_cases(subject.model, fixture=tmp_path)
    assert str(case) == "one"


@pytest.mark.parametrize("as_given", [np.asarray, np.ndarray.tolist, list, np.float64])
def test_the_right_vectors_pass(subject: SubjectFiles, as_given) -> None:
    """Vectors may be an array of any float, rows, or the numbers of a JSON answer."""
    for case in polybake.testing.golden_cases(subject.model):
        case.check(as_given(case.golden.vectors))


def test_a_wrong_vector_is_told(subject: SubjectFiles) -> None:
    """The message has row, element, difference, limit, and the likely cause."""
    case = polybake.testing.golden_cases(subject.model)[1]
    found = np.array(case.golden.vectors)
    found[1, 3] += 0.5
    with pytest.raises(AssertionError) as raised:
        case.check(found)
    assert str(raised.value) == (
        "case two, stage embed: row 1, element 3: difference 0.5 exceeds 1e-05; compare token ids "
        "first (check_ids): where they are equal, it is the graph or what follows"
    )


def test_ids_are_equal_or_wrong(subject: SubjectFiles) -> None:
    """Ids tell a fault of the tokenizer from later ones."""
    case = polybake.testing.golden_cases(subject.model)[1]
    case.check_ids([[2, 11, 3], [2, 12, 13, 3]])
    case.check_ids([np.array([2, 11, 3]), np.array([2, 12, 13, 3])])
    message = "case two, stage tokenize: row 1, position 2: id 14, expected 13"
    with pytest.raises(AssertionError, match=message):
        case.check_ids([[2, 11, 3], [2, 12, 14, 3]])


def test_the_limit_is_the_device_s(subject: SubjectFiles) -> None:
    """A vector that is too far off on a CPU may be near enough on CUDA."""
    [on_cpu, *_] = polybake.testing.golden_cases(subject.model)
    [on_cuda, *_] = polybake.testing.golden_cases(subject.model, device="cuda")
    found = np.array(on_cpu.golden.vectors)
    found[0, 0] += 1.5e-5
    on_cuda.check(found)
    with pytest.raises(AssertionError, match="element 0: difference"):
        on_cpu.check(found)
    with pytest.raises(InputError, match="device 'gpu': choose among: cpu, cuda"):
        polybake.testing.golden_cases(subject.model, device="gpu")  # type: ignore[arg-type]


def test_several_vectors_a_text_may_come_text_by_text(tiny_multi_vector: Path) -> None:
    """Vectors may be grouped by text, as a client of such a model gives them."""
    for case in polybake.testing.golden_cases(tiny_multi_vector):
        ends = np.cumsum([len(ids) for ids in case.golden.case.input_ids])
        if ends[-1] == len(case.golden.vectors):  # a vector a token
            case.check(np.split(case.golden.vectors, ends[:-1]))
            with pytest.raises(AssertionError, match=f"vectors, expected {ends[-1]}"):
                case.check(np.split(case.golden.vectors, ends[:-1])[:-1])
            break
    else:
        pytest.fail("the model has no case with a vector a token")


@pytest.fixture
def cases(subject: SubjectFiles) -> dict[str, ServiceCase]:
    return {str(case): case for case in polybake.testing.golden_cases(subject.model)}


IDS_FIRST = "compare token ids first (check_ids)"


@pytest.mark.parametrize(
    ("case", "change", "says"),
    [
        ("two", lambda v, _: 3.5 * v, "the direction is right, but the vector is 3.5 long, expect"),
        ("two", lambda v, _: np.round(v, 3), "it is nearly right: is it rounded"),
        ("two", lambda v, _: v.astype(np.float16), "it is nearly right: is it rounded"),
        ("three", lambda v, _: v[[0, 2, 1]], "it is the vector of row 2: "),
        ("query", lambda _, one: one, "it is the vector with prompt None, expected that with 'qu"),
        ("two", lambda v, _: np.where(v == v[1, 2], np.inf, v), "look at the graph's output"),
        ("two", lambda v, _: 0 * v, IDS_FIRST),
        ("two", lambda v, _: v[:, ::-1], IDS_FIRST),
        ("two", lambda v, one: np.concatenate([one, v[1:]]), IDS_FIRST),
    ],
)
def test_the_likely_cause_is_said(
    cases: dict[str, ServiceCase],
    case: str,
    change: Callable[[np.ndarray, np.ndarray], np.ndarray],
    says: str,
) -> None:
    """It stands behind the difference."""
    wrong = change(cases[case].golden.vectors, cases["one"].golden.vectors)
    with pytest.raises(AssertionError) as raised:
        cases[case].check(wrong)
    assert str(raised.value).partition("; ")[2].startswith(says)


GOLDEN = np.zeros((2, 3), np.float32)
INTEGERS = np.zeros((2, 3), np.int8)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (None, "got NoneType, expected vectors, one for each text"),
        ([[1, 2, 3]], "1 vectors, expected 2"),
        ([[1, 2, 3], [1, 2]], r"row 1: shape \[2\], expected \[3\]"),
        ([1.0, 2.0], r"row 0: shape \[\], expected \[3\]"),
        ([[1, 2, 3], [1, 2, None]], "row 1: elements are object, expected numbers"),
        ([[1, 2, 3], ["1", "2", "3"]], "row 1: elements are <U1, expected numbers"),
        ({"data": 1, "model": 2}, r"row 0: shape \[\], expected \[3\]"),
        ([[1, 2, 3], [[1], [2, 3]]], "the vectors of a text are no array"),
    ],
)
def test_what_is_no_vector_is_named(vectors, message: str) -> None:
    """The message says what was found and what was expected."""
    with pytest.raises(ValueError, match=message):
        found_vectors(vectors, GOLDEN, several=False)


def test_a_call_that_was_not_awaited_is_named() -> None:
    """A forgotten await is the most common mistake in a test of an async service."""

    async def embed() -> None: ...

    call = embed()
    with pytest.raises(ValueError, match="got coroutine, expected vectors"):
        found_vectors(call, GOLDEN, several=False)  # type: ignore[arg-type]
    call.close()


def test_floats_keep_all_their_digits() -> None:
    """They are not rounded to float32, where a difference could vanish; a text may have none."""
    found = found_vectors([[1 + 1e-12, 0, 0], [0, 0, 0]], GOLDEN, several=False)
    assert found[0, 0] - 1 == pytest.approx(1e-12, rel=1e-3, abs=0)
    found = found_vectors([[[1, 2, 3], [4, 5, 6]], []], GOLDEN, several=True)
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_integers_are_the_model_s_own() -> None:
    """JSON has no int8, so numbers outside of its range are named."""
    found = found_vectors([[1, -128, 3.0], [0, 0, 127]], INTEGERS, several=False)
    assert (found.dtype, found.tolist()) == (np.int8, [[1, -128, 3], [0, 0, 127]])
    for wrong in (128, 0.5, float("nan")):
        with pytest.raises(ValueError, match=r"row 1, element 2: .*, expected a whole number from"):
            found_vectors([[0, 0, 0], [0, 0, wrong]], INTEGERS, several=False)


@pytest.mark.slow
def test_it_is_a_test_of_pytest(subject: SubjectFiles, tmp_path: Path) -> None:
    """A failing test is named by its case, and shows none of polybake's own lines."""
    for name, factor in (("right", 1), ("wrong", 2)):
        code = SERVICE.format(model=str(subject.model), factor=factor)
        (tmp_path / f"test_{name}.py").write_text(code)
    _, printed = inner_pytest(tmp_path, "-v")
    assert f"{len(CASES)} failed, {len(CASES)} passed" in printed
    assert "test_right.py::test_our_service[query] PASSED" in printed
    assert "test_wrong.py::test_our_service[query] FAILED" in printed
    assert "2 long, expected 1: is it normalized" in printed
    assert "cases.py" not in printed


@pytest.mark.slow
def test_it_needs_neither_pytest_nor_onnx() -> None:
    """Golden cases can be used from other test runners, too."""
    hidden = "sys.modules.update(dict.fromkeys(['pytest', 'onnx', 'onnxruntime', 'tokenizers']))"
    code = f"import sys; {hidden}; from polybake.testing import golden_cases"
    subprocess.run([sys.executable, "-c", code], check=True)
