"""How far a baked model is from the library that saved its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import polybake
from golden_oracle import golden
from polybake.baking.bake import bake
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.files.hub_reference import HubReference
from polybake.base.modelfile.compare import relative_difference
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, decode_vectors, encode_vectors
from polybake.config import EncoderMaker
from polybake.verification.judging.answers import compare_answers


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


def bake_source(place: HubReference | Path, out: Path, encoder: EncoderMaker = "native") -> Path:
    """Bake with the recipe of the source, or with mean pooling where it lists no modules."""
    source = open_source(place, encoder)
    listed = bool(source.recipe) or (source.folder.path / "modules.json").is_file()
    recipe = source.recipe if listed else ({"step": "pool", "mode": "mean"},)
    steps = resolve(recipe, base=source.folder.path.parent, source=source)
    return bake(source, steps, out, name="tiny").path


def agreement_with_folder(
    folder: Path,
    out: Path,
    cases: Sequence[CaseText] | None = None,
    encoder: EncoderMaker = "native",
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
    """Compare a baked file with the library's values of the same cases; ids must be equal."""
    texts = [CaseText(c.id, c.why, c.flags, c.prompt, c.texts) for c in expected]
    found = make_fixture(baked, texts).cases
    assert {c.id: c.input_ids for c in found} == {c.id: c.input_ids for c in expected}
    return _of_vectors(baked, found, expected)


def agreement_of_pairs(baked: Path, expected: Sequence[Case]) -> Agreement:
    """Compare the golden cases of a file of pairs with the library's; ids and types are equal."""
    found = read_head(baked).fixture.cases
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.id, ours.input_ids) == (theirs.id, theirs.input_ids)
        assert ours.type_ids == theirs.type_ids
        assert compare_answers(theirs.answer, ours.answer) is None
    return _of_vectors(baked, found, expected)


def agreement_with_cross_encoder(
    folder: Path, out: Path, library: Path | None = None, task: str | None = None
) -> Agreement:
    """Bake a folder and compare each golden case with the library, a pair at a time.

    ``library`` is the folder that the library opens, if it is another. ``task`` is the user's.
    """
    from sentence_transformers import CrossEncoder

    polybake.bake(folder, out, name="tiny-reranker", task=task)
    opened = CrossEncoder(str(library or folder), device="cpu")
    expected = []
    for case in read_head(out).fixture.cases:
        # As predict does: by itself an empty second text would count for none.
        encoded = [opened.tokenizer([pair], truncation=True) for pair in case.texts]
        scores = [float(opened.predict([pair])[0]) for pair in case.texts]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        types = [one.get("token_type_ids", [None])[0] for one in encoded]
        expected.append(
            case.model_copy(
                update={
                    "input_ids": tuple(tuple(one["input_ids"][0]) for one in encoded),
                    # A tokenizer of a model without types gives none.
                    "type_ids": case.type_ids if None in types else tuple(map(tuple, types)),
                    "embeddings": encode_vectors(np.array(scores, np.float32)[:, None]),
                    "answer": [{"index": place, "score": scores[place]} for place in order],
                }
            )
        )
    assert len(expected) > 10
    return agreement_of_pairs(out, expected)


def _of_vectors(baked: Path, found: Sequence[Case], expected: Sequence[Case]) -> Agreement:
    differences = [
        relative_difference(decode_vectors(mine), decode_vectors(other))
        for ours, theirs in zip(found, expected, strict=True)
        for mine, other in zip(ours.vectors, theirs.vectors, strict=True)
    ]
    return Agreement(baked, tuple(expected), float(np.max(differences)))
