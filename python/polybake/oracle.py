"""The oracle: golden vectors by sentence-transformers on PyTorch, which share no code with a bake.

``python -m polybake.oracle MODEL_FOLDER BAKED.onnx FOLDER`` writes the golden cases of a baked
file to FOLDER: the built-in ones and the lines of the ``.txt`` files in the folder ``texts``
beside it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polybake.atomic import replacing
from polybake.errors import CheckFailed, InputError, PolybakeError, RequirementMissing
from polybake.fixtures.case import (
    TOLERANCES,
    Case,
    Fixture,
    MadeBy,
    decode_vectors,
    encode_vectors,
)
from polybake.fixtures.texts import CaseText, read_texts, user_cases
from polybake.manifest import Contract
from polybake.modelfile import read_head

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

#: A Router goes by the method that is called, not by the prompt's name.
_TASKS = {"query": "query", "document": "document", "passage": "document", "corpus": "document"}

_PACKAGES = ("sentence-transformers", "transformers", "torch", "tokenizers", "numpy")


@dataclass(frozen=True)
class Agreement:
    """How far a baked file is from the oracle, over all texts and elements.

    Attributes:
        texts: Texts compared.
        ids_equal: Whether every text got the same token ids.
        max_abs: Largest absolute difference of one element.
        mean_abs: Mean absolute difference.
        one_minus_cosine: Largest 1 - cosine of two rows.
    """

    texts: int
    ids_equal: bool
    max_abs: float
    mean_abs: float
    one_minus_cosine: float


def golden(
    model_folder: Path, cases: Sequence[CaseText], contract: Contract
) -> tuple[list[Case], MadeBy]:
    """Embed every text of ``cases`` alone, in float32, on one thread of the CPU.

    Args:
        model_folder: A sentence-transformers or Hugging Face folder; nothing is downloaded and
            no code in it is run.
        cases: What to embed.
        contract: Whose prompts are used; the length limit stays the folder's own.

    Raises:
        InputError: the folder is not there.
        RequirementMissing: sentence-transformers or PyTorch is not installed.
    """
    model = _open(model_folder)
    model.prompts = dict(contract.prompts)
    model.default_prompt_name = contract.default_prompt
    return [_golden_case(model, case) for case in cases], MadeBy(
        kind="oracle", packages={name: version(name) for name in _PACKAGES}
    )


def compare(expected: Sequence[Case], found: Sequence[Case]) -> Agreement:
    """Compare two makers' golden values of the same cases.

    Args:
        expected: The oracle's cases.
        found: The same cases as a baked file gives them (`polybake.fixtures.golden.make_fixture`).
    """
    by_id = {case.id: case for case in found}
    ours = [by_id[case.id] for case in expected]
    a, b = (
        np.concatenate([decode_vectors(case.embeddings) for case in cases]).astype(np.float64)
        for cases in (expected, ours)
    )
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.divide(np.sum(a * b, axis=1), norms, out=np.ones_like(norms), where=norms > 0)
    return Agreement(
        texts=len(a),
        ids_equal=[case.input_ids for case in expected] == [case.input_ids for case in ours],
        max_abs=float(np.max(np.abs(a - b))),
        mean_abs=float(np.mean(np.abs(a - b))),
        one_minus_cosine=float(np.max(1 - cosines)),
    )


def regenerate(model_folder: Path, baked: Path, folder: Path) -> Agreement:
    """Write the oracle's fixture and the manifest of ``baked`` to ``folder``.

    Returns:
        How far ``baked`` is from what was written.

    Raises:
        InputError: a file is not there, or ``baked`` is not a model file of float32 embeddings.
        RequirementMissing: a package is not installed.
        CheckFailed: ``baked`` does not agree with the oracle; nothing is written.
    """
    from polybake.fixtures.golden import cases_for, make_fixture
    from polybake.fixtures.store import write_fixture

    manifest = read_head(baked).manifest
    if manifest.contract.output.dtype != "float32":
        raise InputError(
            f"{baked}: gives {manifest.contract.output.readable}, and the oracle float32; "
            "bake without the quantize step"
        )
    cases = cases_for(baked, user_cases(read_texts(sorted(folder.parent.glob("texts/*.txt")))))
    expected, made_by = golden(model_folder, cases, manifest.contract)
    agreement = compare(expected, make_fixture(baked, cases).cases)
    limit = TOLERANCES["cpu"]
    if not (
        agreement.ids_equal
        and agreement.max_abs <= limit.max_abs
        and agreement.one_minus_cosine <= limit.one_minus_cosine
    ):
        raise CheckFailed(
            f"{baked}: differs from sentence-transformers on {model_folder}: {asdict(agreement)}, "
            f"expected at most {limit.max_abs:g}; compare the versions in {folder}"
        )
    fixture = Fixture(
        fingerprint=manifest.fingerprint,
        made_by=made_by,
        tolerances=TOLERANCES,
        cases=tuple(expected),
    )
    write_fixture(fixture, folder)
    with replacing(folder / "manifest.json") as file:
        file.write(json.dumps(manifest.model_dump(mode="json"), indent=2).encode("ascii") + b"\n")
    return agreement


def _open(model_folder: Path) -> SentenceTransformer:
    if not model_folder.is_dir():
        raise InputError(f"{model_folder}: is not a folder; give the folder of the source model")
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f'the oracle needs the package {error.name}; pip install "polybake[oracle]"'
        ) from error
    # The order of additions, and with it the last bits, depends on the number of threads.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    return SentenceTransformer(
        str(model_folder),
        device="cpu",
        trust_remote_code=False,
        local_files_only=True,
        model_kwargs={"dtype": torch.float32, "use_safetensors": True},
    )


def _golden_case(model: SentenceTransformer, case: CaseText) -> Case:
    task = _TASKS.get(case.prompt or "")
    encode = model.encode if task is None else getattr(model, f"encode_{task}")
    vectors = [
        encode([text], prompt_name=case.prompt, show_progress_bar=False)[0] for text in case.texts
    ]
    return Case(
        id=case.id,
        why=case.why,
        flags=case.flags,
        prompt=case.prompt,
        texts=case.texts,
        input_ids=tuple(_token_ids(model, text, case.prompt) for text in case.texts),
        embeddings=encode_vectors(np.stack(vectors).astype(np.float32)),
    )


def _token_ids(model: SentenceTransformer, text: str, prompt: str | None) -> tuple[int, ...]:
    """The ids that ``encode`` makes the vector from, without padding."""
    name = model.default_prompt_name if prompt is None else prompt
    text = model.prompts[name] + text if name is not None else text
    routed = type(model[0]).__name__ == "Router"
    features = model.preprocess([text], **({"task": _TASKS.get(name or "")} if routed else {}))
    if "input_ids" not in features:  # BoW counts words at once
        return tuple(model[0].tokenizer.tokenize(text))
    ids = features["input_ids"].flatten()
    mask = features.get("attention_mask")
    return tuple((ids if mask is None else ids[mask.flatten().bool()]).tolist())


def main(arguments: list[str]) -> None:
    """Regenerate a fixture; print how far the baked file is from it."""
    try:
        model_folder, baked, folder = map(Path, arguments)
    except ValueError:
        sys.exit("usage: python -m polybake.oracle MODEL_FOLDER BAKED.onnx FOLDER")
    try:
        agreement = regenerate(model_folder, baked, folder)
    except PolybakeError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    sys.stdout.write(json.dumps(asdict(agreement)) + "\n")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"  # read by huggingface_hub when it is imported
    main(sys.argv[1:])
