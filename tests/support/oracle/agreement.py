"""How far a baked model is from the library that saved its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

import polybake
from golden_oracle import golden
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.baking.sources import open_source
from polybake.base.files.model_folder import SourceSettings
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import (
    Case,
    Vectors,
    decode_slack,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.tolerance import Embeddings, relative_difference
from polybake.verification.judging.answers import compare_answers

Floats = NDArray[np.float32]

#: Vectors that the record has no room for.
UNKNOWN = Vectors(shape=(0, 0), data="")

MEAN = ({"step": "pool", "mode": "mean"},)


@dataclass(frozen=True)
class Agreement:
    """Equal token ids, and the largest difference of an element relative to its vector's length.

    Attributes:
        baked: The model file.
        expected: Its golden cases, by the library.
        difference: NaN where either holds a NaN.
    """

    baked: Path
    expected: tuple[Case, ...]
    difference: float


@dataclass(frozen=True)
class Baking:
    """How a model file was made.

    Attributes:
        folder: All that the source consists of.
        source: The folder, or an .onnx file in it.
        settings: Arguments of `polybake.bake`; paths lie in the folder.
    """

    folder: Path
    source: Path
    settings: dict[str, Any]


#: By the model file, for the record.
BAKINGS: dict[Path, Baking] = {}


def bake(source: Path | str, out: Path, *, folder: Path | None = None, **settings: Any) -> Path:
    """Bake as a user does, and note how.

    Args:
        source: A folder, an .onnx file, or a model of the hub.
        out: The model file.
        folder: All that the source consists of, where that is more than its own folder: its name
            may say what it is.
        settings: Arguments of `polybake.bake`.
    """
    if folder is None:
        folder = Path(source)
        while folder.suffix == ".onnx" or folder.name == "onnx":
            folder = folder.parent
    place = source if isinstance(source, Path) else folder
    BAKINGS[out] = Baking(folder, place, settings)
    return polybake.bake(source, out, **_with_names(settings)).path


def bake_source(
    place: Path | str,
    out: Path,
    encoder: Literal["native", "torch"] = "native",
    folder: Path | None = None,
) -> Path:
    """Bake with the recipe of the source, or with mean pooling where it lists no modules."""
    source = open_source(folder or Path(place), SourceSettings(encoder=encoder))
    listed = bool(source.recipe) or (source.folder.path / "modules.json").is_file()
    recipe = {} if listed else {"steps": MEAN}
    return bake(place, out, folder=folder, name="tiny", task="embed", encoder=encoder, **recipe)


def agreement_with_folder(
    folder: Path,
    out: Path,
    cases: Sequence[CaseText] | None = None,
    encoder: Literal["native", "torch"] = "native",
) -> Agreement:
    """Bake ``folder`` to ``out`` and compare each case with what sentence-transformers gives.

    The oracle embeds each text alone. Without ``cases`` the built-in ones are taken, among them
    the empty text, the longest one, and batches with padding.
    """
    return agreement_with_source(folder, bake_source(folder, out, encoder), cases)


def agreement_with_source(
    folder: Path, baked: Path, cases: Sequence[CaseText] | None = None
) -> Agreement:
    """Compare a file that was baked of ``folder`` with it."""
    texts = cases_for(baked) if cases is None else cases
    expected, _ = golden(folder, texts, read_head(baked).manifest.contract)
    return agreement(baked, expected)


def agreement(baked: Path, expected: Sequence[Case]) -> Agreement:
    """Compare a baked file with the library's values of the same cases."""
    return Agreement(baked, tuple(expected), difference(_found(baked, expected), expected))


def quantized(
    baked: Path, floats: Sequence[Case], quantize: Callable[[Floats], Embeddings]
) -> list[Case]:
    """Cases of the library whose vectors are quantized, with what the file says may differ."""
    found = make_fixture(baked, [_text_of(case) for case in floats]).cases
    slack = [decode_slack(case.embeddings) for case in found]
    assert np.mean([np.mean(one.values > 0) for one in slack if one]) < 0.1, "an exception"
    expected = [
        case.model_copy(
            update={"embeddings": encode_vectors(quantize(decode_vectors(case.embeddings)), one)}
        )
        for case, one in zip(floats, slack, strict=True)
    ]
    assert len({value for one in expected for value in decode_vectors(one.embeddings).flat}) > 20
    return expected


def agreement_case_by_case(baked: Path, given: Callable[[Case], dict[str, Any]]) -> Agreement:
    """Compare each golden case of a file with the library's ids, vectors and answer of it."""
    expected = [as_given(case, given(case)) for case in read_head(baked).fixture.cases]
    assert len(expected) > 10
    return agreement(baked, expected)


def as_given(case: Case, values: dict[str, Any]) -> Case:
    """A case with fields of the library's, whose vectors may be an array, a row each."""
    rows = values.get("embeddings", case.embeddings)
    vectors = rows if isinstance(rows, Vectors) else encode_vectors(np.array(rows, np.float32))
    return case.model_copy(update={**values, "embeddings": vectors})


def difference(found: Sequence[Case], expected: Sequence[Case]) -> float:
    """The largest difference; ids, their types and answers must be equal."""
    largest = [0.0]
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.id, ours.texts, ours.prompt) == (theirs.id, theirs.texts, theirs.prompt)
        assert ours.input_ids == theirs.input_ids, ours.id
        assert theirs.type_ids in (None, ours.type_ids), ours.id
        if theirs.answer is not None:
            top = cast(dict[str, Any], ours.call).get("top")
            assert compare_answers(theirs.answer, ours.answer, top=top) is None, ours.id
        if theirs.embeddings != UNKNOWN:
            largest += [_apart(*both) for both in zip(ours.vectors, theirs.vectors, strict=True)]
    return float(np.max(largest))


def agreement_with_cross_encoder(
    folder: Path, out: Path, library: Path | None = None, task: str | None = None
) -> Agreement:
    """Bake a folder and compare each golden case with the library, a pair at a time.

    ``library`` is the folder that the library opens, if it is another. ``task`` is the user's.
    """
    from sentence_transformers import CrossEncoder

    bake(folder, out, name="tiny-reranker", task=task)
    opened = CrossEncoder(str(library or folder), device="cpu")

    def given(case: Case) -> dict[str, Any]:
        # As predict does: by itself an empty second text would count for none.
        encoded = [opened.tokenizer([pair], truncation=True) for pair in case.texts]
        scores = [float(opened.predict([pair])[0]) for pair in case.texts]
        types = [one.get("token_type_ids", [None])[0] for one in encoded]
        return {
            "input_ids": tuple(tuple(one["input_ids"][0]) for one in encoded),
            # A tokenizer of a model without types gives none.
            "type_ids": case.type_ids if None in types else tuple(map(tuple, types)),
            **ranked(scores),
        }

    return agreement_case_by_case(out, given)


def ranked(scores: Sequence[float]) -> dict[str, Any]:
    """What a case of a reranker is given of its documents' scores."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    answer = [{"index": place, "score": scores[place]} for place in order]
    return {"embeddings": [[score] for score in scores], "answer": answer}


def _found(baked: Path, expected: Sequence[Case]) -> list[Case]:
    """What a file gives for these cases: of pairs its golden ones, whose texts are made anew."""
    held = {case.id: case for case in read_head(baked).fixture.cases}
    pairs = {case.id for case in expected if case.type_ids is not None and case.id in held}
    texts = [_text_of(case) for case in expected if case.id not in pairs]
    run = {case.id: case for case in make_fixture(baked, texts).cases} if texts else {}
    return [(held if case.id in pairs else run)[case.id] for case in expected]


def _text_of(case: Case) -> CaseText:
    """What a case was made of: a long text may be several, and a question is put to each."""
    call: Any = case.call or {}
    texts = call.get("contexts") or call.get("texts") or case.texts
    return CaseText(case.id, case.why, case.flags, case.prompt, tuple(texts))


def _apart(mine: Vectors, other: Vectors) -> float:
    ours, theirs = decode_vectors(mine), decode_vectors(other)
    shapes = ours.shape, theirs.shape
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), f"shapes {shapes}"
    slack = decode_slack(mine)
    if slack is not None:
        assert not slack.exceeded(theirs, ours).any()
        return 0.0
    return relative_difference(ours, theirs)


def _with_names(value: Any) -> Any:
    """Paths as text, as in polybake.toml."""
    if isinstance(value, dict):
        return {key: _with_names(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_with_names(one) for one in value]
    return str(value) if isinstance(value, Path) else value
