"""A small model file with a fixture, and clients whose harness answers from that fixture.

The file's graph is empty: nothing here runs a model, the harnesses know the golden answers.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polybake import modelfile
from polybake.fixtures.case import TOLERANCES, Case, Fixture, MadeBy, encode_vectors
from polybake.manifest import Contract, Input, Manifest, Output, Source
from polybake.verify.harness_file import Client

DIMENSION = 8
NAME = "tiny-model"
FINGERPRINT = "f" * 64

#: By case: the prompt, and a text with its token ids for each row.
CASES = {
    "one": (None, [("a", [2, 10, 3])]),
    "two": (None, [("b", [2, 11, 3]), ("c d", [2, 12, 13, 3])]),
    "three": (None, [("e", [2, 14, 3]), ("f g h", [2, 15, 16, 17, 3]), ("", [2, 3])]),
    "query": ("query", [("a", [2, 20, 10, 3])]),
}

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class SubjectFiles:
    """A model file, its fixture, and the same as JSON for the harnesses."""

    model: Path
    fixture: Fixture
    answers: Path

    def client(self, fault: str = "none", *, language: str = "tiny", **fields) -> Client:
        """A client whose harness has the fault named: see faults.py."""
        return Client(
            language=language,
            folder=self.answers.parent,
            run=(sys.executable, "-m", "faulty", str(self.answers), fault, language),
            environment=(("PYTHONPATH", str(TESTS)),),
            **fields,
        )


def write_subject(folder: Path) -> SubjectFiles:
    """Write the model file and the harnesses' answers into a folder."""
    fixture = make_fixture()
    tail = folder / "tail.bin"
    tail.write_bytes(b"\x08\x0a" + b"\x3a\x00")  # ir_version: 10, graph: {}
    model = folder / "tiny model.onnx"
    modelfile.write(
        model, tail, modelfile.tail_digest(tail), make_manifest(), '{"version": "1.0"}', fixture
    )
    answers = folder / "answers.json"
    answers.write_text(
        json.dumps(
            {"name": NAME, "fingerprint": FINGERPRINT, "fixture": fixture.model_dump(mode="json")}
        )
    )
    return SubjectFiles(model, fixture, answers)


def make_fixture() -> Fixture:
    """Golden cases with seeded unit vectors."""
    random = np.random.default_rng(5)
    cases = []
    for case_id, (prompt, rows) in CASES.items():
        vectors = random.standard_normal((len(rows), DIMENSION))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cases.append(
            Case(
                id=case_id,
                why="shows what the judge does with it",
                prompt=prompt,
                texts=tuple(text for text, _ in rows),
                input_ids=tuple(tuple(ids) for _, ids in rows),
                embeddings=encode_vectors(vectors.astype(np.float32)),
            )
        )
    return Fixture(
        fingerprint=FINGERPRINT,
        made_by=MadeBy(kind="reference", packages={}),
        tolerances=TOLERANCES,
        cases=tuple(cases),
    )


def make_manifest() -> Manifest:
    """A manifest that fits the fixture."""
    return Manifest(
        name=NAME,
        contract=Contract(
            inputs=(Input(name="input_ids", feed="input_ids"),),
            output=Output(name="sentence_embedding", dimension=DIMENSION),
            max_length=16,
            pad_id=0,
            prompts={"query": "query: "},
        ),
        steps=(),
        encoder="onnx",
        opset=18,
        source=Source(identifier="none"),
        generator="0.1.0",
        fingerprint=FINGERPRINT,
        verified="steps",
    )
