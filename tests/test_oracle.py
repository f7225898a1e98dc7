from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from agreement import Agreement
from polybake.errors import CheckFailed, InputError, RequirementMissing
from polybake.fixtures.case import Case, Fixture, decode_vectors, encode_vectors
from polybake.fixtures.store import read_fixture
from polybake.fixtures.texts import CaseText
from polybake.manifest import Manifest
from polybake.modelfile import read_head
from polybake.oracle import compare, golden, main, regenerate
from proven import Proven

LIMIT = 1e-5

needs_oracle = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason='sentence-transformers is not installed: pip install "polybake[oracle]"',
)


def case_of(vectors: Sequence[Sequence[float]], ids: Sequence[int] = (101, 102)) -> Case:
    array = np.array(vectors, np.float32)
    return Case(
        id="a",
        why="Shows the comparison.",
        texts=("text",) * len(array),
        input_ids=(tuple(ids),) * len(array),
        embeddings=encode_vectors(array),
    )


def test_comparison_finds_the_largest_difference() -> None:
    """One shifted element of one row shows in full, and in the cosine."""
    found = compare([case_of([[1, 0], [0, 1]])], [case_of([[1, 0], [0.5, 1]])])
    assert found.texts == 2
    assert found.ids_equal
    assert found.max_abs == 0.5
    assert found.mean_abs == 0.125
    assert found.one_minus_cosine == pytest.approx(1 - 1 / np.sqrt(1.25))


def test_comparison_finds_one_flipped_id() -> None:
    """Equal vectors do not hide a different token."""
    assert not compare([case_of([[1, 0]])], [case_of([[1, 0]], ids=(101, 103))]).ids_equal


def test_comparison_does_not_hide_nan() -> None:
    """A vector that is no number is no agreement."""
    assert not compare([case_of([[1, 0]])], [case_of([[np.nan, 0]])]).max_abs <= 1


def test_a_missing_package_is_named(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without PyTorch the remedy is an installation."""
    monkeypatch.setitem(sys.modules, "torch", None)
    contract = read_head(every_feed).manifest.contract
    with pytest.raises(RequirementMissing, match=r'pip install "polybake\[oracle\]"'):
        golden(tmp_path, [], contract)


def test_a_missing_folder_is_named(every_feed: Path, tmp_path: Path) -> None:
    """A name that is no folder is not looked up anywhere else."""
    contract = read_head(every_feed).manifest.contract
    with pytest.raises(InputError, match="nowhere: is not a folder"):
        golden(tmp_path / "nowhere", [], contract)


def test_command_line_wants_three_paths() -> None:
    """Too few arguments print how it is used."""
    with pytest.raises(SystemExit, match=r"usage: .*MODEL_FOLDER BAKED.onnx FOLDER"):
        main(["model"])


# From here on sentence-transformers runs.


@pytest.fixture(scope="module")
def baked(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from polybake.bake import bake
    from polybake.recipe import resolve
    from polybake.sources import open_source

    source = open_source(minilm)
    steps = resolve(source.recipe, base=minilm, source=source)
    path = tmp_path_factory.mktemp("oracle") / "minilm.onnx"
    return bake(source, steps, path, name="all-minilm-l6-v2").path


@pytest.fixture(scope="module")
def committed(repository: Path) -> Fixture:
    return read_fixture(repository / "fixtures" / "all-minilm-l6-v2")


@pytest.fixture(scope="module")
def fresh(minilm: Path, baked: Path, committed: Fixture) -> list[Case]:
    """What sentence-transformers gives now for the committed cases."""
    texts = [CaseText(c.id, c.why, c.flags, c.prompt, c.texts) for c in committed.cases]
    return golden(minilm, texts, read_head(baked).manifest.contract)[0]


def run(baked: Path, batches: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """The baked file's vector of each text, each batch in one run."""
    from polybake.fixtures.golden import make_fixture

    cases = [
        CaseText(f"batch-{number}", "", (), None, tuple(batch))
        for number, batch in enumerate(batches)
    ]
    return {
        text: vector
        for case in make_fixture(baked, cases).cases
        for text, vector in zip(case.texts, decode_vectors(case.embeddings), strict=True)
    }


@needs_oracle
@pytest.mark.oracle
def test_baked_minilm_agrees_with_sentence_transformers(
    baked: Path, fresh: list[Case], proven: Proven
) -> None:
    """Over all committed texts the ids are equal and no element differs by more than 1e-5."""
    from polybake.fixtures.golden import make_fixture

    texts = [CaseText(c.id, c.why, c.flags, c.prompt, c.texts) for c in fresh]
    agreement = compare(fresh, make_fixture(baked, texts).cases)
    print(f"\nbaked file against sentence-transformers: {asdict(agreement)}")  # noqa: T201
    assert agreement.texts >= 240
    assert agreement.ids_equal
    assert agreement.max_abs <= LIMIT
    assert agreement.one_minus_cosine <= 1e-6
    proven("all-MiniLM-L6-v2", Agreement(baked, tuple(fresh), agreement.max_abs))


@needs_oracle
@pytest.mark.oracle
def test_committed_vectors_are_still_what_the_oracle_gives(
    fresh: list[Case], committed: Fixture
) -> None:
    """The versions installed now give the ids and, to rounding, the vectors of those recorded."""
    agreement = compare(fresh, committed.cases)
    print(f"\ncommitted vectors against sentence-transformers: {asdict(agreement)}")  # noqa: T201
    assert agreement.ids_equal
    assert agreement.max_abs <= 1e-6


@needs_oracle
@pytest.mark.oracle
@pytest.mark.parametrize("way", ["alone", "batch of 7", "among long texts", "shuffled"])
def test_a_text_has_the_oracles_vector_in_any_company(
    baked: Path, fresh: list[Case], way: str
) -> None:
    """Neighbours, padding and order change no vector of the baked file by more than 1e-5."""
    expected = {
        text: vector
        for case in fresh
        for text, vector in zip(case.texts, decode_vectors(case.embeddings), strict=True)
    }
    texts = sorted(text for text in expected if text)[::4]
    longest = sorted(expected, key=len)[-2:]
    shuffled = [texts[index] for index in np.random.default_rng(5).permutation(len(texts))]
    batches = {
        "alone": [[text] for text in texts],
        "batch of 7": [texts[start : start + 7] for start in range(0, len(texts), 7)],
        "among long texts": [[longest[0], text, longest[1]] for text in texts[::3]],
        "shuffled": [shuffled[start : start + 16] for start in range(0, len(shuffled), 16)],
    }
    found = run(baked, batches[way])
    worst = max(float(np.max(np.abs(found[text] - expected[text]))) for text in found)
    print(f"\n{way}: largest difference {worst:.2e} over {len(found)} texts")  # noqa: T201
    assert worst <= LIMIT


@needs_oracle
@pytest.mark.oracle
def test_prompts_of_the_contract_are_used(minilm: Path, baked: Path) -> None:
    """A named prompt and the default stand before the text, in ids and in vectors."""
    contract = read_head(baked).manifest.contract.model_copy(
        update={"prompts": {"query": "query: ", "passage": "passage: "}, "default_prompt": "query"}
    )
    texts = ("river", "query: river", "passage: river")
    named = golden(minilm, [CaseText("a", "", (), "passage", texts[:1])], contract)[0][0]
    default = golden(minilm, [CaseText("a", "", (), None, texts[:1])], contract)[0][0]
    bare = contract.model_copy(update={"default_prompt": None})
    whole = golden(minilm, [CaseText("a", "", (), None, texts[1:])], bare)[0][0]
    assert (*default.input_ids, *named.input_ids) == whole.input_ids
    vectors = [decode_vectors(case.embeddings) for case in (default, named)]
    np.testing.assert_array_equal(np.concatenate(vectors), decode_vectors(whole.embeddings))


@needs_oracle
@pytest.mark.oracle
def test_a_disagreeing_file_is_not_written(minilm: Path, baked: Path, tmp_path: Path) -> None:
    """A model folder of another length limit than the baked file's leaves no fixture."""
    folder = tmp_path / "model"
    folder.mkdir()
    for path in minilm.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "sentence_bert_config.json").unlink()
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}', encoding="utf-8")
    out = tmp_path / "fixtures" / "minilm"
    with pytest.raises(CheckFailed, match="differs from sentence-transformers"):
        regenerate(folder, baked, out)
    assert not out.exists()


@needs_oracle
@pytest.mark.oracle
def test_regenerate_writes_fixture_and_manifest(minilm: Path, baked: Path, tmp_path: Path) -> None:
    """One command writes golden cases of the built-in and the given texts, and the manifest."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "own.txt").write_text("A line of my own.\n", encoding="utf-8")
    main([str(minilm), str(baked), str(tmp_path / "minilm")])
    fixture = read_fixture(tmp_path / "minilm")
    manifest = read_head(baked).manifest
    assert fixture.made_by.kind == "oracle"
    assert fixture.fingerprint == manifest.fingerprint
    assert fixture.cases[-1].texts == ("A line of my own.",)
    written = json.loads((tmp_path / "minilm" / "manifest.json").read_text("ascii"))
    assert Manifest.model_validate(written) == manifest


def test_a_quantized_file_has_no_oracle(every_feed_int8: Path, tmp_path: Path) -> None:
    """sentence-transformers' floats cannot be golden for integers."""
    with pytest.raises(InputError, match="gives 7 dimensions, int8, and the oracle float32"):
        regenerate(tmp_path, every_feed_int8, tmp_path / "out")
    assert not (tmp_path / "out").exists()
