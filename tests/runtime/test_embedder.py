"""A baked model file, opened, and the choice of its prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polybake.base.modelfile.fixture import encode_vectors
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt


def test_reads_as_its_user_expects(every_feed: Path) -> None:
    """Facts, ids and vectors are given for any iterable of texts."""
    embedder = Embedder(str(every_feed))
    assert (embedder.dimension, list(embedder.prompts)) == (7, ["query", "document"])
    assert len(embedder.tokenize(["a"], prompt="query")[0]) > len(embedder.tokenize(["a"])[0])
    texts = (text for text in ("a", "b"))
    assert embedder.embed(texts).shape == (2, 7)
    assert embedder.embed([]).shape == (0, 7)
    assert embedder.embed_ids([[1, 2]]).dtype == np.float32
    assert repr(embedder) == "Embedder(every-feed, 7 dimensions, float32)"


def test_one_text_is_no_list(every_feed: Path) -> None:
    """A single string is refused, as its letters would be embedded one by one."""
    with pytest.raises(InputError, match="got one text; put it into a list"):
        Embedder(every_feed).embed("abc")


@pytest.mark.parametrize(
    "model", ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]
)
def test_golden_cases_are_reproduced(model: str, request: pytest.FixtureRequest) -> None:
    """Models with every feed, padding on either side and every dtype pass their own check."""
    assert Embedder(request.getfixturevalue(model)).self_check() < 2


def test_each_device_has_its_tolerance(every_feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference that a GPU may have is too large for a CPU."""
    embedder = Embedder(every_feed)
    case = embedder.head.fixture.cases[0]
    moved = encode_vectors(embedder.embed(case.texts) + np.float32(1.5e-5))
    cases = (case.model_copy(update={"embeddings": moved}),)
    fixture = embedder.head.fixture.model_copy(update={"cases": cases})
    monkeypatch.setitem(vars(embedder.head), "fixture", fixture)
    with pytest.raises(CheckFailed):
        embedder.self_check()
    embedder.device = "cuda"
    assert embedder.self_check() == pytest.approx(1.5e-5, rel=0.1)


@pytest.mark.parametrize("fault", ["ids", "vector"])
def test_a_case_that_differs_is_named(
    every_feed: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the case, whether its ids or one element differ."""
    embedder = Embedder(every_feed)
    case = embedder.head.fixture.cases[0]
    ids, vectors = case.input_ids, embedder.embed(case.texts)
    changes = (
        {"input_ids": ((*ids[0], 5),)}
        if fault == "ids"
        else {"embeddings": encode_vectors(vectors + np.float32(3e-5))}
    )
    fixture = embedder.head.fixture.model_copy(update={"cases": (case.model_copy(update=changes),)})
    monkeypatch.setitem(vars(embedder.head), "fixture", fixture)
    with pytest.raises(CheckFailed, match=rf"{every_feed}: case plain: row 0.*bake it again"):
        embedder.self_check()


def chosen(prompt: Prompt, *names: str, default: str | None = None) -> str | None:
    contract = Contract(
        inputs=(Input(name="input_ids", feed="input_ids"),),
        output=Output(name="out", dimension=1),
        vocab_size=1,
        max_length=1,
        pad_id=0,
        prompts=dict.fromkeys(names, "x"),
        default_prompt=default,
    )
    return prompt.contract(contract).default_prompt


def test_a_name_and_the_default() -> None:
    """A call that names no prompt takes the model's default, if there is one."""
    assert chosen(Prompt(), "query") is None
    assert chosen(Prompt(), "query", default="query") == "query"
    assert chosen(Prompt("other"), "query", "other", default="query") == "other"


def test_roles_are_those_of_the_clients() -> None:
    """A role without a prompt takes none, not even the default."""
    query, document = Prompt(role="query"), Prompt(role="document")
    assert chosen(query, "document", "query", default="document") == "query"
    assert chosen(query, "document", default="document") is None
    assert chosen(document, "corpus", "passage", "query") == "passage"
    assert chosen(document, "query", default="query") is None


@pytest.mark.parametrize(
    ("prompt", "names", "shown"),
    [
        ({"name": "x"}, ("query", "doc"), "unknown prompt 'x'; choose one of: query, doc"),
        ({"name": "x"}, (), "unknown prompt 'x'; leave it out"),
        ({"name": "x", "role": "query"}, (), "prompt 'x' and role 'query' exclude each other"),
        ({"role": "queries"}, (), "unknown role 'queries'; choose one of: query, document"),
    ],
)
def test_what_would_be_ignored_is_refused(
    prompt: dict[str, Any], names: tuple[str, ...], shown: str
) -> None:
    """The choices are listed if there are any."""
    with pytest.raises(InputError, match=shown):
        chosen(Prompt(**prompt), *names)
