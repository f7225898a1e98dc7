"""Workers get a reference to the model, and each process opens the file once."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.bulk.embed.model_file import ModelFile, OneCore
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt


def arrived(travelling: bytes) -> ModelFile:
    found = pickle.loads(travelling)  # noqa: S301 - made here
    assert isinstance(found, ModelFile)
    return found


def test_the_model_is_opened_once_in_a_process(every_feed: Path, tmp_path: Path) -> None:
    """The reference may arrive any number of times; the file is not read again."""
    model = Path(shutil.copy(every_feed, tmp_path / "model.onnx"))
    travelling = pickle.dumps(ModelFile.read(model, Prompt("query")))
    session = arrived(travelling).runner().session
    assert OneCore().open(model).runner.session is session
    assert session.get_session_options().intra_op_num_threads == 1
    model.unlink()
    found = arrived(travelling).runner()
    assert found.session is session
    assert found.contract.default_prompt == "query"


def test_a_worker_with_another_file_says_so(
    every_feed: Path, every_feed_default: Path, tmp_path: Path
) -> None:
    """Another file of that name is refused with both fingerprints, even if a right one was open."""
    model = Path(shutil.copy(every_feed, tmp_path / "model.onnx"))
    travelling = pickle.dumps(ModelFile.read(model, Prompt()))
    shutil.copy(every_feed_default, model)
    one, other = (read_head(path).manifest.fingerprint for path in (every_feed, every_feed_default))
    with pytest.raises(InputError, match=f"has the fingerprint {other} here, expected {one}"):
        arrived(travelling).runner()
    ModelFile.read(model, Prompt()).runner()
    shutil.copy(every_feed, model)
    arrived(travelling).runner()


def test_a_wrong_model_or_prompt_is_refused_on_the_driver(
    every_feed: Path, tiny_rerank: Path
) -> None:
    """The driver finds the mistake at once, instead of a worker hours later."""
    with pytest.raises(InputError, match="unknown prompt 'x'; choose one of: query, document"):
        ModelFile.read(every_feed, Prompt("x"))
    with pytest.raises(InputError, match="is made for the task 'rerank', expected 'embed'"):
        ModelFile.read(tiny_rerank, Prompt())
